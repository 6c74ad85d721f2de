/**
 * The text with its mentions. A change restyles only the pieces of the mentions that changed, and rebuilds only
 * the lines where a mention appeared, disappeared, entered a chain or left one. Lines far from the view have no
 * elements: what is asked for by `element` and `token` is there or not, and what is marked is kept until they have.
 */
import { spanOf } from "../state/tokens.js";
import { make } from "../ui/dom.js";
import { Chunks } from "./chunks.js";
import { LineBuilder, MentionStyle, Pieces, lineAt, linesOf, mentionsByLine } from "./lines.js";
/** @import { Selection, SelectionChange } from "../state/selection.js" */
/** @import { Store, StoreChange } from "../state/store.js" */
/** @import { Span } from "../state/tokens.js" */
/** @import { ChainId, MentionId, State } from "../state/types.js" */
/** @import { LineMention } from "./lines.js" */

const MARGIN_ABOVE = 24;
const MARGIN_BELOW = 40;

export class TextView {
  /** @type {Span[]} */
  #lines = [];
  /**
   * The mentions that touch each line, in text order.
   * @type {LineMention[][]}
   */
  #mentions = [];
  /**
   * The element of each line that has one.
   * @type {(HTMLElement | undefined)[]}
   */
  #rows = [];
  #pieces = new Pieces();
  /**
   * The spans whose tokens have a class.
   * @type {Map<string, Span[]>}
   */
  #marks = new Map();
  #style;
  #builder;
  #chunks;
  /**
   * The one mention that the tab key leads to.
   * @type {HTMLElement | null}
   */
  #tabStop = null;

  /**
   * @param {HTMLElement} root
   * @param {Store} store
   * @param {Selection} selection
   */
  constructor(root, store, selection) {
    this.root = root;
    this.store = store;
    this.selection = selection;
    this.#style = new MentionStyle(store, selection);
    this.#builder = new LineBuilder(store, this.#style, this.#pieces);
    this.#chunks = new Chunks(root, { build: this.#build, empty: this.#empty, settle: this.#settle });
    this.render();
  }

  /** Show another text. */
  render() {
    const { tokens, breaks } = this.store.state;
    this.#lines = linesOf(tokens, breaks);
    this.#assignMentions();
    this.#pieces.clear();
    this.#builder.tokens = [];
    this.#rows = [];
    this.#chunks.render(this.#lines);
    if (!this.#lines.length) this.root.append(make("p", { class: "soft" }, "This document is empty."));
    this.#updateTabStop();
  }

  /**
   * Build some lines, and show in them what is marked.
   * @param {number} first
   * @param {number} last
   */
  #build = (first, last) => {
    const rows = [];
    for (let number = first; number <= last; number += 1) {
      const row = this.#builder.build(this.#lines[number], this.#mentions[number], number + 1);
      this.#rows[number] = row;
      rows.push(row);
    }
    for (const [name, spans] of this.#marks) this.#addMark(name, spans, first, last);
    return rows;
  };

  /**
   * Forget the elements of some lines.
   * @param {number} first
   * @param {number} last
   */
  #empty = (first, last) => {
    for (let number = first; number <= last; number += 1) {
      const row = this.#rows[number];
      if (row) this.#forget(number, row);
      this.#rows[number] = undefined;
    }
  };

  /**
   * @param {number} number
   * @param {HTMLElement} row
   */
  #forget(number, row) {
    const { start, end } = this.#lines[number];
    for (let t = start; t <= end; t += 1) this.#builder.tokens[t] = undefined;
    this.#pieces.removeBelow(row);
  }

  /**
   * Find the first piece of each mention of some lines again, once their elements are on the page or have left it.
   * @param {number} first
   * @param {number} last
   */
  #settle = (first, last) => {
    for (let number = first; number <= last; number += 1) {
      for (const { id } of this.#mentions[number]) this.#pieces.sort(id);
    }
    this.#updateTabStop();
  };

  /**
   * Show what changed in the store.
   * @param {StoreChange} change
   * @param {State} old
   */
  update(change, old) {
    /** @type {Set<number>} */
    const outdated = new Set();
    const notes = [...old.notes, ...this.store.state.notes];
    const noted = notes.map((note) => note.mention).filter((id) => id !== null);
    for (const id of new Set([...change.mentions, ...noted])) this.#refresh(id, outdated);
    if (outdated.size) this.#assignMentions(outdated);
    for (const number of outdated) this.#rebuild(number);
    this.#showEdges();
    this.#mark(
      "closed",
      this.store.state.closed.map((token) => ({ start: token, end: token })),
    );
    this.#updateTabStop();
  }

  /**
   * Show which mentions the last step changed, and the chain each was in.
   * @param {Map<MentionId, ChainId | null>} changed
   */
  showChanged(changed) {
    const before = this.#style.changed;
    this.#style.changed = changed;
    this.#restyle([...before.keys(), ...changed.keys()]);
  }

  /**
   * Show which mentions the current question is about.
   * @param {MentionId[]} ids
   */
  showAsked(ids) {
    const before = this.#style.asked;
    this.#style.asked = ids;
    this.#restyle([...before, ...ids]);
  }

  /**
   * Highlight the mentions of a chain, or of none.
   * @param {ChainId | null} chain
   */
  highlight(chain) {
    const before = this.#style.highlighted;
    this.#style.highlighted = new Set(this.store.chain(chain)?.mentions ?? []);
    this.#restyle([...before, ...this.#style.highlighted]);
  }

  /**
   * Show the current mention, the selected mentions and the range of tokens.
   * @param {SelectionChange} change
   */
  onSelection(change) {
    if (change.moved) {
      const { mention } = this.selection;
      this.#restyle([change.previous, mention].filter((id) => id != null));
      this.#updateTabStop();
      this.#showEdges();
      if (mention) this.reveal(mention, change);
    }
    this.#restyle(change.toggled ?? []);
    if (change.ranged) this.#showRange();
  }

  /**
   * Scroll to a mention unless it is in view; `focus` also moves the keyboard there.
   * @param {MentionId} id
   */
  reveal(id, { focus = false, show = true } = {}) {
    this.#chunks.ensure(this.lineOf(spanOf(id).start));
    const element = this.element(id);
    if (!element) return;
    if (show) this.#scrollTo(element);
    if (focus) {
      element.setAttribute("aria-label", this.#style.describe(id));
      element.focus({ preventScroll: true });
    }
  }

  /**
   * Move the keyboard to a token.
   * @param {number} token
   */
  focusToken(token) {
    this.#chunks.ensure(this.lineOf(token));
    const element = this.#builder.tokens[token];
    if (!element) return;
    element.tabIndex = -1;
    element.focus({ preventScroll: true });
    this.#scrollTo(element);
  }

  /**
   * Scroll to a token unless it is in view; the keyboard stays where it is.
   * @param {number} token
   */
  scrollToToken(token) {
    this.#chunks.ensure(this.lineOf(token));
    const element = this.#builder.tokens[token];
    if (element) this.#scrollTo(element);
  }

  /**
   * Return the element of a token, if it is near the view.
   * @param {number} token
   */
  token(token) {
    return this.#builder.tokens[token] ?? null;
  }

  /**
   * Mark the tokens that a search found, and the match that the reader is at.
   * @param {Span[]} matches
   * @param {Span | null} current
   */
  showMatches(matches, current) {
    this.#mark("found", matches);
    this.#mark("found-here", current ? [current] : []);
  }

  /**
   * Show the boundary that a mention is about to get, or none.
   * @param {Span | null} span
   */
  showBoundary(span) {
    this.#mark("boundary", span ? [span] : []);
  }

  /**
   * Give a class to the tokens of some spans, and to no others.
   * @param {string} name
   * @param {Span[]} spans
   */
  #mark(name, spans) {
    for (const element of this.root.querySelectorAll(`.t.${name}`)) element.classList.remove(name);
    this.#marks.set(name, spans);
    this.#addMark(name, spans, 0, this.#lines.length - 1);
  }

  /**
   * Give a class to the tokens of some spans as far as they are in some lines.
   * @param {string} name
   * @param {Span[]} spans
   * @param {number} first
   * @param {number} last
   */
  #addMark(name, spans, first, last) {
    if (last < first) return;
    const [from, to] = [this.#lines[first].start, this.#lines[last].end];
    for (const { start, end } of spans) {
      for (let t = Math.max(start, from); t <= Math.min(end, to); t += 1) {
        this.#builder.tokens[t]?.classList.add(name);
      }
    }
  }

  /** Mark the two ends of the current mention, which can be dragged. */
  #showEdges() {
    const span = this.selection.mention ? spanOf(this.selection.mention) : null;
    this.#mark("edge-start", span ? [{ start: span.start, end: span.start }] : []);
    this.#mark("edge-end", span ? [{ start: span.end, end: span.end }] : []);
  }

  /**
   * Keep a pressed pointer from moving the focus; see `#updateTabStop`.
   * @param {boolean} pressed
   */
  onPointer(pressed) {
    if (!pressed) this.#updateTabStop();
    else if (this.#tabStop !== document.activeElement) this.#tabStop?.removeAttribute("tabindex");
  }

  /**
   * Return the element that stands for a mention, if it is near the view: its first piece.
   * @param {MentionId} id
   */
  element(id) {
    return this.#pieces.head(id);
  }

  /**
   * Return the number of the line of a token.
   * @param {number} token
   */
  lineOf(token) {
    return lineAt(this.#lines, token);
  }

  /**
   * Return the first and last token of a line, if there is such a line.
   * @param {number} number
   */
  line(number) {
    return this.#lines[number] ?? null;
  }

  /** How many lines there are. */
  get lineCount() {
    return this.#lines.length;
  }

  /** The first token in view. Only the rows of the chunk in view are measured: others need not be laid out. */
  get firstVisibleToken() {
    const edge = this.root.getBoundingClientRect().top + 20;
    /** @param {Element} element */
    const isBelow = (element) => element.getBoundingClientRect().bottom > edge;
    const chunk = this.#chunks.find(isBelow);
    const row = [...(chunk?.element.children ?? [])].find(isBelow);
    const line = row ? Number(row.getAttribute("data-n")) - 1 : (chunk?.first ?? 0);
    return this.#lines[line]?.start ?? 1;
  }

  /**
   * Find the mentions of each line, or only of some lines.
   * @param {Set<number> | null} some
   */
  #assignMentions(some = null) {
    const { order, state } = this.store;
    const mentions = order.map((id) => ({ id, ...state.mentions[id] }));
    const byLine = mentionsByLine(this.#lines, mentions, some);
    if (!some) this.#mentions = byLine;
    else for (const number of some) this.#mentions[number] = byLine[number];
  }

  /**
   * Restyle a changed mention where that is enough; otherwise its lines are outdated.
   * @param {MentionId} id
   * @param {Set<number>} outdated
   */
  #refresh(id, outdated) {
    const mention = this.store.mention(id);
    const element = this.element(id);
    if (mention && element && element.classList.contains("left-out") === (mention.chain === null)) {
      this.#restyle([id]);
      return;
    }
    const { start, end } = spanOf(id);
    for (let n = this.lineOf(start); n <= this.lineOf(end); n += 1) outdated.add(n);
  }

  /**
   * Build a line again if it is built; the focus stays on its mention or token.
   * @param {number} number
   */
  #rebuild(number) {
    const old = this.#rows[number];
    if (!old) return;
    this.#forget(number, old);
    const focused = document.activeElement;
    const kept = focused instanceof HTMLElement && old.contains(focused) ? focused.dataset : {};
    const [row] = this.#build(number, number);
    old.replaceWith(row);
    this.#settle(number, number);
    if (kept.m) {
      this.#updateTabStop();
      this.element(kept.m)?.focus({ preventScroll: true });
    }
    if (kept.t) this.focusToken(Number(kept.t));
  }

  /** @param {Iterable<MentionId>} ids */
  #restyle(ids) {
    for (const id of new Set(ids)) for (const piece of this.#pieces.of(id)) this.#style.apply(piece, id);
  }

  /** Mark the tokens of the range. */
  #showRange() {
    this.#mark("in-range", this.selection.span ? [this.selection.span] : []);
  }

  /**
   * Let the tab key lead to one mention: the current one, else the first. All others cannot be focused: a
   * press on one would move the focus, and browsers then end the selection that a drag began at its edge.
   */
  #updateTabStop() {
    const { mention } = this.selection;
    const first = this.store.order.find((id) => this.element(id));
    const next = (mention && this.element(mention)) || (first ? this.element(first) : null);
    if (this.#tabStop !== next) this.#tabStop?.removeAttribute("tabindex");
    if (next) next.tabIndex = 0;
    this.#tabStop = next;
  }

  /** @param {HTMLElement} element */
  #scrollTo(element) {
    const view = this.root.getBoundingClientRect();
    const isInView = () => {
      const box = element.getBoundingClientRect();
      return box.height > 0 && box.top >= view.top + MARGIN_ABOVE && box.bottom <= view.bottom - MARGIN_BELOW;
    };
    const center = () => {
      const box = element.getBoundingClientRect();
      this.root.scrollTop += (box.top + box.bottom - view.top - view.bottom) / 2;
    };
    if (isInView()) return;
    center();
    // Chunks that were never drawn have a guessed height; scroll again once they are drawn.
    requestAnimationFrame(() => isInView() || center());
  }
}
