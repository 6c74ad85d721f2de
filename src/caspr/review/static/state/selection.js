/** Where the reader is: the current mention, the selected mentions, and a range of tokens. */
/** @import { MentionId } from "./types.js" */

/**
 * A range of tokens, from where it began to where it was extended to.
 * @typedef {{ anchor: number, head: number }} TokenRange
 */

/**
 * What a listener receives. `moved`: the current mention is another one than `previous`, and `focus` moves the
 * keyboard there, `show` scrolls to it. `toggled`: mentions that may have been selected or deselected.
 * `ranged`: the range is another one.
 * @typedef {object} SelectionChange
 * @property {boolean} [moved]
 * @property {MentionId | null} [previous]
 * @property {boolean} [focus]
 * @property {boolean} [show]
 * @property {MentionId[]} [toggled]
 * @property {boolean} [ranged]
 */

export class Selection {
  /** @type {((change: SelectionChange) => void)[]} */
  #listeners = [];

  constructor() {
    /** @type {MentionId | null} */
    this.mention = null;
    /** @type {Set<MentionId>} */
    this.selected = new Set();
    /**
     * The tokens chosen for a new mention.
     * @type {TokenRange | null}
     */
    this.range = null;
  }

  /** @param {(change: SelectionChange) => void} listener */
  subscribe(listener) {
    this.#listeners.push(listener);
  }

  /**
   * Go to a mention, or to none; `focus` moves the keyboard there, `show` scrolls to it.
   * @param {MentionId | null} id
   */
  goTo(id, { focus = false, show = true } = {}) {
    if (this.range) this.setRange(null);
    const previous = this.mention;
    this.mention = id;
    this.#notify({ moved: true, previous, focus, show });
  }

  /**
   * Select a mention, or deselect it.
   * @param {MentionId} id
   */
  toggle(id) {
    if (!this.selected.delete(id)) this.selected.add(id);
    this.#notify({ toggled: [id] });
  }

  /**
   * Select exactly these mentions.
   * @param {MentionId[]} ids
   */
  select(ids) {
    const toggled = [...new Set([...this.selected, ...ids])];
    this.selected = new Set(ids);
    this.#notify({ toggled });
  }

  /**
   * Choose a range of tokens, or none.
   * @param {TokenRange | null} range
   */
  setRange(range) {
    this.range = range;
    this.#notify({ ranged: true });
  }

  /** Deselect all mentions and tokens. */
  clear() {
    this.select([]);
    this.setRange(null);
    getSelection()?.removeAllRanges();
  }

  /** The first and last token of the range, if there is one. */
  get span() {
    if (!this.range) return null;
    const { anchor, head } = this.range;
    return { start: Math.min(anchor, head), end: Math.max(anchor, head) };
  }

  /** What an operation is about: the selected mentions, else the current one. */
  get targets() {
    if (this.selected.size) return [...this.selected];
    return this.mention ? [this.mention] : [];
  }

  /**
   * Drop mentions that are no longer known.
   * @param {(id: MentionId) => boolean} isKnown
   */
  keepOnly(isKnown) {
    const kept = [...this.selected].filter(isKnown);
    if (kept.length < this.selected.size) this.select(kept);
    if (this.mention && !isKnown(this.mention)) this.mention = null;
  }

  /** @param {SelectionChange} change */
  #notify(change) {
    for (const listener of this.#listeners) listener(change);
  }
}
