/** Build the element of one line: its tokens, and the pieces of its mentions around them. */
import { make } from "../ui/dom.js";
import { changesDirection, spaceBefore, visible } from "../ui/words.js";
import { treeOf } from "./lines.js";
/** @import { Store } from "../state/store.js" */
/** @import { Line, LineMention, LineNode, Piece } from "./lines.js" */
/** @import { MentionStyle } from "./mention_style.js" */
/** @import { Pieces } from "./mention_elements.js" */

export class RowBuilder {
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
   * Build a line; its tokens and pieces are registered.
   * @param {Line} line
   * @param {LineMention[]} mentions those that touch the line, in text order
   * @param {number} number of the line, from 1
   */
  build(line, mentions, number) {
    const { state } = this.store;
    const tree = treeOf(line, mentions, ({ id }) => (state.mentions[id].chain === null ? 0 : 1));
    const row = make("p", { class: "line", dir: "auto", data: { n: String(number) } });
    row.style.setProperty("--levels", String(tree.height));
    this.#append(row, tree.children);
    return row;
  }

  /**
   * @param {HTMLElement} parent
   * @param {LineNode[]} nodes
   */
  #append(parent, nodes) {
    const { tokens } = this.store.state;
    nodes.forEach((node, i) => {
      const token = firstToken(node);
      if (i > 0) parent.append(spaceBefore(tokens[token - 2], tokens[token - 1]));
      parent.append(typeof node === "number" ? this.#token(node) : this.#piece(node));
    });
  }

  /** @param {number} token */
  #token(token) {
    const { tokens, closed } = this.store.state;
    const text = tokens[token - 1];
    const element = document.createElement("span");
    element.className = changesDirection(text) ? "t isolated" : "t";
    element.dataset.t = String(token);
    element.textContent = visible(text);
    if (closed.includes(token)) element.classList.add("closed");
    this.tokens[token] = element;
    return element;
  }

  /** @param {Piece} piece */
  #piece(piece) {
    const element = document.createElement("span");
    element.dataset.m = piece.id;
    element.dataset.ends = (piece.first ? "s" : "") + (piece.last ? "e" : "");
    element.style.setProperty("--under", String(piece.height));
    this.pieces.add(piece.id, element);
    this.style.apply(element, piece.id);
    this.#append(element, piece.children);
    return element;
  }
}

/**
 * @param {LineNode} node
 * @returns {number}
 */
const firstToken = (node) => (typeof node === "number" ? node : firstToken(node.children[0]));
