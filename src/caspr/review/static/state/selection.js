/** Where the reader is: the current mention, the mentions selected, and a stretch of tokens chosen. */

export class Spot {
  #listeners = [];

  constructor() {
    this.mention = null;
    this.selected = new Set();
    /** Tokens chosen for a new mention, as `{anchor, head}`, or null. */
    this.range = null;
  }

  subscribe(listener) {
    this.#listeners.push(listener);
  }

  /** Go to a mention; `focus` moves the keyboard there, `show` scrolls to it. */
  go(id, { focus = false, show = true } = {}) {
    if (this.range) this.choose(null);
    const before = this.mention;
    this.mention = id;
    this.#tell({ moved: true, before, focus, show });
  }

  /** Select a mention, or no longer. */
  toggle(id) {
    if (!this.selected.delete(id)) this.selected.add(id);
    this.#tell({ chosen: [id] });
  }

  /** Select exactly these. */
  select(ids) {
    const touched = new Set([...this.selected, ...ids]);
    this.selected = new Set(ids);
    this.#tell({ chosen: [...touched] });
  }

  /** Choose a stretch of tokens, or none. */
  choose(range) {
    const before = this.range;
    this.range = range;
    this.#tell({ ranged: true, before });
  }

  /** The chosen tokens as `{start, end}`, or null. */
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

  /** Forget mentions that are no more. */
  keepOnly(known) {
    const gone = [...this.selected].filter((id) => !known(id));
    if (gone.length) this.select([...this.selected].filter(known));
    if (this.mention && !known(this.mention)) this.mention = null;
  }

  #tell(what) {
    for (const listener of this.#listeners) listener(what);
  }
}
