/**
 * The elements of mentions. A mention has one or more pieces (see `lines.js`); the first one in the text is its
 * head, which takes the focus and is read out.
 */
/** @import { MentionId } from "../state/types.js" */

const HEAD_ATTRIBUTES = ["tabindex", "role", "aria-roledescription", "aria-label"];

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
   * Add a piece behind the others; the first one becomes the head.
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
    for (const piece of row.querySelectorAll("[data-m]")) {
      const id = piece.getAttribute("data-m") ?? "";
      const left = this.of(id).filter((one) => one !== piece);
      if (left.length) this.#pieces.set(id, left);
      else this.#pieces.delete(id);
    }
  }

  /**
   * Put the pieces of a mention back into text order after a row was replaced, the first as its head.
   * @param {MentionId} id
   */
  sort(id) {
    const pieces = this.of(id);
    if (pieces.length < 2) return;
    pieces.sort((one, other) => (follows(one, other) ? -1 : 1));
    for (const piece of pieces.slice(1)) for (const name of HEAD_ATTRIBUTES) piece.removeAttribute(name);
    markHead(pieces[0]);
  }
}

/** @type {(one: Node, other: Node) => boolean} */
const follows = (one, other) => (one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;

/** @param {HTMLElement} piece */
function markHead(piece) {
  piece.setAttribute("role", "group");
  piece.setAttribute("aria-roledescription", "mention");
}
