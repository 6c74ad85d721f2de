/**
 * Lines of the text: cut from the tokens, each laid out as a tree of mentions and tokens, and built as elements.
 *
 * Mentions may nest and cross, and may run over line ends; elements can only nest. So a mention is shown as
 * one or more pieces: where one ends inside another, the inner one is closed and opened again after it. The first
 * piece of a mention in the text is its head, which takes the focus and is read out.
 */
import { changesDirection, lastStart, spaceBefore, visible } from "../state/tokens.js";
import { make } from "../ui/dom.js";
import { colour, inChain, lineLabel } from "../ui/labels.js";
/** @import { Selection } from "../state/selection.js" */
/** @import { Store } from "../state/store.js" */
/** @import { Span } from "../state/tokens.js" */
/** @import { ChainId, Mention, MentionId } from "../state/types.js" */

/** @typedef {Span & { id: MentionId }} LineMention */

/**
 * A piece of a mention. `first` and `last` tell whether the mention begins and ends in this piece, `height` how
 * many levels of underlines lie inside it.
 * @typedef {object} Piece
 * @property {MentionId} id
 * @property {LineMention} mention
 * @property {boolean} first
 * @property {boolean} last
 * @property {number} height
 * @property {LineNode[]} children
 */

/** @typedef {Piece | number} LineNode a piece or the number of a token */
/** @typedef {{ id: null, children: LineNode[], height: number }} LineTree */

const LONG = 120;
const FULL_STOP = /[.!?…。؟।]["'”’»)\]]*$/;
const HEAD_ATTRIBUTES = ["tabindex", "role", "aria-roledescription", "aria-label"];

/**
 * Return the lines: those of the document, and long ones cut after a full stop.
 * @param {string[]} tokens
 * @param {number[]} breaks the tokens at which a line begins
 */
export function linesOf(tokens, breaks) {
  /** @type {Span[]} */
  const lines = [];
  const starts = breaks.length && breaks[0] === 1 ? breaks : [1, ...breaks];
  starts.forEach((first, i) => {
    const last = (starts[i + 1] ?? tokens.length + 1) - 1;
    let start = first;
    for (let t = first; t < last; t += 1) {
      const length = t - start + 1;
      if ((length >= LONG / 2 && FULL_STOP.test(tokens[t - 1])) || length >= LONG) {
        lines.push({ start, end: t });
        start = t + 1;
      }
    }
    if (start <= last) lines.push({ start, end: last });
  });
  return lines;
}

/**
 * Return the index of the line of a token.
 * @param {Span[]} lines
 * @param {number} token
 */
export const lineAt = (lines, token) => lastStart(lines.length, (i) => lines[i].start, token);

/**
 * Return the mentions that touch each line, or only some of the lines.
 * @param {Span[]} lines
 * @param {LineMention[]} mentions in text order
 * @param {Set<number> | null} some
 */
export function mentionsByLine(lines, mentions, some = null) {
  /** @type {LineMention[][]} */
  const byLine = lines.map(() => []);
  for (const { id, start, end } of mentions) {
    for (let n = lineAt(lines, start); n < lines.length && lines[n].start <= end; n += 1) {
      if (!some || some.has(n)) byLine[n].push({ id, start, end });
    }
  }
  return byLine;
}

/**
 * Return the tree of one line.
 * @param {Span} line
 * @param {LineMention[]} mentions
 * @param {(mention: LineMention) => number} levels how many levels of underlines a mention adds
 * @returns {LineTree}
 */
export function treeOf(line, mentions, levels) {
  /** @type {LineTree} */
  const root = { id: null, children: [], height: 0 };
  /** @type {Piece[]} */
  const stack = [];
  const top = () => stack.at(-1) ?? root;
  const opening = Map.groupBy(mentions, (mention) => Math.max(mention.start, line.start));
  /** @type {(mention: LineMention, first: boolean) => void} */
  const open = (mention, first) => {
    /** @type {Piece} */
    const piece = { id: mention.id, mention, first, last: false, children: [], height: 0 };
    top().children.push(piece);
    stack.push(piece);
  };
  const close = () => {
    const piece = /** @type {Piece} */ (stack.pop());
    const parent = top();
    parent.height = Math.max(parent.height, piece.height + levels(piece.mention));
    return piece;
  };
  for (let token = line.start; token <= line.end; token += 1) {
    for (const mention of opening.get(token) ?? []) open(mention, mention.start === token);
    top().children.push(token);
    let ending = stack.filter((piece) => piece.mention.end === token).length;
    /** @type {LineMention[]} */
    const reopened = [];
    while (ending > 0) {
      const piece = close();
      if (piece.mention.end === token) {
        piece.last = true;
        ending -= 1;
      } else reopened.unshift(piece.mention);
    }
    if (token < line.end) for (const mention of reopened) open(mention, false);
  }
  while (stack.length) close();
  return root;
}

/**
 * Build the element of a line.
 * @param {LineTree} tree
 * @param {string[]} tokens
 * @param {(token: number) => HTMLElement} tokenElement
 * @param {(piece: Piece) => HTMLElement} pieceElement
 * @param {Record<string, string>} attributes
 */
export function lineElement(tree, tokens, tokenElement, pieceElement, attributes) {
  /** @type {(parent: HTMLElement, nodes: LineNode[]) => HTMLElement} */
  const append = (parent, nodes) => {
    nodes.forEach((node, i) => {
      const token = firstToken(node);
      if (i > 0) parent.append(spaceBefore(tokens[token - 2], tokens[token - 1]));
      parent.append(typeof node === "number" ? tokenElement(node) : pieceOf(node));
    });
    return parent;
  };
  /** @param {Piece} piece */
  const pieceOf = (piece) => {
    const element = pieceElement(piece);
    element.style.setProperty("--under", String(piece.height));
    return append(element, piece.children);
  };
  const line = make("p", { dir: "auto", ...attributes });
  line.style.setProperty("--levels", String(tree.height));
  return append(line, tree.children);
}

/**
 * @param {LineNode} node
 * @returns {number}
 */
const firstToken = (node) => (typeof node === "number" ? node : firstToken(node.children[0]));

/**
 * Return which ends of its mention a piece has, as the style sheet reads it: `s`, `e`, both or none.
 * @param {Piece} piece
 */
export const endsOf = ({ first, last }) => (first ? "s" : "") + (last ? "e" : "");

/** Builds the lines of the text view, and registers their tokens and pieces. */
export class LineBuilder {
  /**
   * The element of each token, by its number.
   * @type {(HTMLElement | undefined)[]}
   */
  tokens = [];

  /**
   * @param {Store} store
   * @param {MentionStyle} style
   * @param {Pieces} pieces
   */
  constructor(store, style, pieces) {
    this.store = store;
    this.style = style;
    this.pieces = pieces;
  }

  /**
   * Build a line.
   * @param {Span} line
   * @param {LineMention[]} mentions those that touch the line, in text order
   * @param {number} number of the line, from 1
   */
  build(line, mentions, number) {
    const { state } = this.store;
    const tree = treeOf(line, mentions, ({ id }) => (state.mentions[id].chain === null ? 0 : 1));
    const attributes = { class: "line", "data-n": String(number) };
    return lineElement(tree, state.tokens, this.#token, this.#piece, attributes);
  }

  /** @param {number} token */
  #token = (token) => {
    const { tokens, closed } = this.store.state;
    const text = tokens[token - 1];
    const element = document.createElement("span");
    element.className = changesDirection(text) ? "t isolated" : "t";
    element.dataset.t = String(token);
    element.textContent = visible(text);
    if (closed.includes(token)) element.classList.add("closed");
    this.tokens[token] = element;
    return element;
  };

  /** @param {Piece} piece */
  #piece = (piece) => {
    const element = document.createElement("span");
    element.dataset.m = piece.id;
    element.dataset.ends = endsOf(piece);
    this.pieces.add(piece.id, element);
    this.style.apply(element, piece.id);
    return element;
  };
}

/** The elements of mentions. */
export class Pieces {
  /** @type {Map<MentionId, HTMLElement[]>} */
  #pieces = new Map();

  clear() {
    this.#pieces.clear();
  }

  /**
   * Return the pieces of a mention in text order.
   * @param {MentionId} id
   */
  of(id) {
    return this.#pieces.get(id) ?? [];
  }

  /**
   * Return the first piece of a mention.
   * @param {MentionId} id
   */
  head(id) {
    return this.#pieces.get(id)?.[0] ?? null;
  }

  /**
   * Add a piece after the others; the first one becomes the head.
   * @param {MentionId} id
   * @param {HTMLElement} piece
   */
  add(id, piece) {
    const pieces = this.#pieces.get(id);
    if (pieces) pieces.push(piece);
    else {
      this.#pieces.set(id, [piece]);
      markHead(piece);
    }
  }

  /**
   * Remove the pieces below an element that leaves the page.
   * @param {HTMLElement} row
   */
  removeBelow(row) {
    for (const removed of row.querySelectorAll("[data-m]")) {
      const id = removed.getAttribute("data-m") ?? "";
      const rest = this.of(id).filter((piece) => piece !== removed);
      if (rest.length) this.#pieces.set(id, rest);
      else this.#pieces.delete(id);
    }
  }

  /**
   * Put the pieces of a mention back into text order after a row was replaced, the first as its head.
   * @param {MentionId} id
   */
  sort(id) {
    const pieces = this.of(id);
    if (!pieces.length) return;
    /** @type {(a: Node, b: Node) => boolean} */
    const isBefore = (a, b) => (a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
    pieces.sort((a, b) => (isBefore(a, b) ? -1 : 1));
    for (const piece of pieces.slice(1)) for (const name of HEAD_ATTRIBUTES) piece.removeAttribute(name);
    markHead(pieces[0]);
  }
}

/** @param {HTMLElement} piece */
function markHead(piece) {
  piece.setAttribute("role", "group");
  piece.setAttribute("aria-roledescription", "mention");
}

/** @param {ChainId | null | undefined} chain */
const chainLabel = (chain) => chain ?? "–";

/** How a mention looks and is read out: its classes, the label after it, and its description. */
export class MentionStyle {
  /**
   * @param {Store} store
   * @param {Selection} selection
   */
  constructor(store, selection) {
    this.store = store;
    this.selection = selection;
    /**
     * The mentions that the last step changed, with the chain each was in.
     * @type {Map<MentionId, ChainId | null>}
     */
    this.changed = new Map();
    /**
     * The mentions that the current question is about.
     * @type {MentionId[]}
     */
    this.asked = [];
    /** The mentions of the chain that is highlighted. */
    this.highlighted = /** @type {Set<MentionId>} */ (new Set());
  }

  /**
   * Give one piece of a mention the classes, label and description that the mention has now.
   * @param {HTMLElement} piece
   * @param {MentionId} id
   */
  apply(piece, id) {
    const mention = this.store.mention(id);
    if (!mention) return;
    const classes = this.#classes(id, mention);
    if (piece.className !== classes) piece.className = classes;
    if (piece.hasAttribute("aria-label")) piece.setAttribute("aria-label", this.describe(id));
    if (!piece.dataset.ends?.includes("e")) return;
    const label = this.#label(id, mention);
    if (piece.dataset.label !== label) piece.dataset.label = label;
  }

  /**
   * Describe a mention for screen readers.
   * @param {MentionId} id
   */
  describe(id) {
    const mention = this.store.mention(id);
    const parts = [`“${this.store.words(id)}”, ${lineLabel(id)}`, inChain(mention?.chain)];
    if (mention?.decision) parts.push(mention.decision === "in" ? "enforced" : "ruled out");
    if (this.changed.has(id)) parts.push(`changed by the last step, was ${inChain(this.changed.get(id))}`);
    if (this.selection.selected.has(id)) parts.push("selected");
    return parts.join(", ");
  }

  /**
   * @param {MentionId} id
   * @param {Mention} mention
   */
  #classes(id, mention) {
    const classes = ["m", mention.chain === null ? "left-out" : colour(mention.chain)];
    if (mention.decision) classes.push("decided");
    if (this.changed.has(id)) classes.push("changed");
    if (this.asked.includes(id)) classes.push("asked");
    if (this.asked[0] === id) classes.push("question");
    if (this.selection.selected.has(id)) classes.push("selected");
    if (this.selection.mention === id) classes.push("current");
    if (this.highlighted.has(id)) classes.push("highlighted");
    return classes.join(" ");
  }

  /**
   * Return the number of the chain, with `=` before it when enforced, the chain it was in, ⚑ for a flag and ✎ for a note.
   * @param {MentionId} id
   * @param {Mention} mention
   */
  #label(id, mention) {
    const changed = this.changed.has(id);
    const unlabelled = mention.chain === null && !mention.decision && !changed;
    const was = changed ? `${chainLabel(this.changed.get(id))}→` : "";
    const notes = this.store.state.notes.filter((note) => note.mention === id);
    const noted =
      (notes.some((note) => note.flag) ? "⚑" : "") + (notes.some((note) => !note.flag) ? "✎" : "");
    return `${was}${mention.decision ? "=" : ""}${unlabelled ? "" : chainLabel(mention.chain)}${noted}`;
  }
}
