/** Move through mentions and tokens, and select them, by keys. */
import { phrase, spanOf } from "../state/tokens.js";
import { counted } from "../ui/labels.js";
/** @import { App } from "../app.js" */
/** @import { Span } from "../state/tokens.js" */
/** @import { MentionId } from "../state/types.js" */

/** @typedef {1 | -1} Direction forwards or backwards */

const PAUSE = 600;

export const NO_MENTION = "Go to a mention first: click one, or use the arrow keys.";

export class Navigation {
  /**
   * The boundary that a mention is about to get.
   * @type {(Span & { mention: MentionId }) | null}
   */
  #boundary = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer = undefined;

  /** @param {App} app */
  constructor(app) {
    this.app = app;
  }

  /**
   * Go to the next or previous mention of all.
   * @param {Direction} direction
   */
  toMention(direction) {
    this.#walk(this.#visibleMentions, direction);
  }

  /**
   * Go to the next or previous mention of the same chain.
   * @param {Direction} direction
   */
  toMentionOfChain(direction) {
    this.#walk(this.#chain?.mentions ?? this.#visibleMentions, direction);
  }

  /** Select the current mention, or deselect it. */
  toggle() {
    const { selection, say } = this.app;
    if (!selection.mention) {
      say(NO_MENTION);
      return;
    }
    selection.toggle(selection.mention);
    this.#saySelected();
  }

  /** Select the whole chain of the current mention. */
  selectChain() {
    const chain = this.#chain;
    if (!chain) return;
    this.app.selection.select(chain.mentions);
    this.#saySelected();
  }

  /** Start a range of tokens where the reader is. */
  startRange() {
    const { store, selection, text } = this.app;
    this.#setRange(null, store.mention(selection.mention)?.start ?? text.firstVisibleToken);
  }

  /**
   * Move the range by a token, or with `extend` only its end.
   * @param {Direction} direction
   * @param {boolean} extend
   */
  moveByToken(direction, extend) {
    const { range } = this.app.selection;
    if (range) this.#setRange(extend ? range.anchor : null, range.head + direction);
  }

  /**
   * Move the range by a line, or with `extend` only its end.
   * @param {Direction} direction
   * @param {boolean} extend
   */
  moveByLine(direction, extend) {
    const { text, selection } = this.app;
    const { range } = selection;
    const line = range && text.line(text.lineOf(range.head) + direction);
    if (line) this.#setRange(extend ? range.anchor : null, line.start);
  }

  /**
   * Move an end of the current mention by a token. It is moved for good once no key follows for a moment, so that
   * several tokens are one step.
   * @param {"start" | "end"} edge
   * @param {Direction} direction
   */
  moveBoundary(edge, direction) {
    const { store, selection, say } = this.app;
    const { mention } = selection;
    if (!mention) {
      say(NO_MENTION);
      return;
    }
    const { start, end } = this.#boundary?.mention === mention ? this.#boundary : spanOf(mention);
    const moved = { start, end };
    moved[edge] += direction;
    if (moved.start < 1 || moved.end > store.state.tokens.length || moved.start > moved.end) return;
    this.tryBoundary(mention, moved);
    say(phrase(store.state.tokens, moved.start, moved.end, 80), { quiet: true });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.commitBoundary(), PAUSE);
  }

  /** Whether a boundary is shown that is not moved yet. */
  get isMovingBoundary() {
    return this.#boundary !== null;
  }

  /**
   * Show the boundary that a mention would have.
   * @param {MentionId} mention
   * @param {Span} span
   */
  tryBoundary(mention, span) {
    this.#boundary = { mention, ...span };
    this.app.text.showBoundary(span);
  }

  /** Move the boundary to where it was shown; the mention keeps its entity and all decisions about it. */
  async commitBoundary() {
    const shown = this.#boundary;
    if (!this.leaveBoundary() || !shown) return;
    const { mention, start, end } = shown;
    const id = `${start}-${end}`;
    if (id === mention) return;
    const isHere = this.app.selection.mention === mention;
    if ((await this.app.act({ do: "move", mention, start, end })) && isHere) this.app.goTo(id);
  }

  /** Give up a boundary that was only shown; return whether there was one. */
  leaveBoundary() {
    clearTimeout(this.#timer);
    const shown = this.#boundary !== null;
    this.#boundary = null;
    this.app.text.showBoundary(null);
    return shown;
  }

  /** Give up the range; the keyboard returns to the current mention. */
  leaveRange() {
    const { selection } = this.app;
    getSelection()?.removeAllRanges();
    selection.setRange(null);
    if (selection.mention) this.app.goTo(selection.mention);
  }

  /**
   * Go to the first mention that ends at or after a token.
   * @param {number} token
   */
  toToken(token) {
    const { store } = this.app;
    const id = store.order.find((mention) => spanOf(mention).end >= token);
    if (id) this.app.goTo(id);
    else this.#setRange(null, token);
  }

  /** The chain of the current mention. */
  get #chain() {
    const { store, selection } = this.app;
    return store.chain(store.mention(selection.mention)?.chain);
  }

  get #visibleMentions() {
    const { store, selection } = this.app;
    const showsAll = this.app.showsLeftOut();
    return store.order.filter(
      (id) => showsAll || store.state.mentions[id].chain !== null || selection.mention === id,
    );
  }

  /** The first mention in view, else the last one. */
  get #start() {
    const { store, text } = this.app;
    const top = text.firstVisibleToken;
    return store.order.find((id) => store.state.mentions[id].start >= top) ?? store.order.at(-1) ?? null;
  }

  /**
   * @param {MentionId[]} ids
   * @param {Direction} direction
   */
  #walk(ids, direction) {
    const here = ids.indexOf(this.app.selection.mention ?? "");
    const next = here < 0 ? this.#start : (ids[here + direction] ?? null);
    if (next !== null) this.app.goTo(next);
    else this.app.say(direction > 0 ? "That was the last one." : "That was the first one.", { quiet: true });
  }

  /**
   * Choose the tokens from an anchor (or only the head) to a head, and read them out.
   * @param {number | null} anchor
   * @param {number} head
   */
  #setRange(anchor, head) {
    const { store, selection, text, say } = this.app;
    const { tokens } = store.state;
    const last = Math.min(Math.max(head, 1), tokens.length);
    const first = anchor ?? last;
    selection.setRange({ anchor: first, head: last });
    text.focusToken(last);
    const [start, end] = [Math.min(first, last), Math.max(first, last)];
    say(`${counted(end - start + 1, "token")} chosen: ${phrase(tokens, start, end, 80)}`, { quiet: true });
  }

  #saySelected() {
    this.app.say(`${counted(this.app.selection.selected.size, "mention")} selected`, { quiet: true });
  }
}
