/** Full-text search: words of the document, whatever is a mention. */
import { byId } from "../ui/dom.js";
import { counted, spaceBefore, visible } from "../ui/words.js";
/** @import { App } from "../app.js" */

/** @typedef {{ start: number, end: number }} Match the first and the last token that a match touches */

const MOST = 2000;

/**
 * Return where a text occurs, in order; case does not matter, and line ends are blanks.
 * @param {string[]} tokens
 * @param {string} wanted
 * @returns {Match[]}
 */
function findText(tokens, wanted) {
  const needle = wanted.trim().toLowerCase().replace(/\s+/g, " ");
  if (!needle) return [];
  let text = "";
  /** @type {number[]} */
  const starts = [];
  tokens.forEach((token, i) => {
    if (i) text += spaceBefore(tokens[i - 1], token);
    starts.push(text.length);
    text += visible(token).toLowerCase();
  });
  /** @type {Match[]} */
  const found = [];
  for (let at = text.indexOf(needle); at >= 0 && found.length < MOST; at = text.indexOf(needle, at + 1)) {
    found.push({ start: tokenAt(starts, at) + 1, end: tokenAt(starts, at + needle.length - 1) + 1 });
  }
  return found;
}

/**
 * Return the number of the token that a character is in, by bisection.
 * @param {number[]} starts
 * @param {number} position
 */
function tokenAt(starts, position) {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}

export class TextSearch {
  /** @type {Match[]} */
  #found = [];
  #here = -1;

  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.field = byId("find", HTMLInputElement);
    this.field.addEventListener("input", () => this.#search());
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      this.go(event.shiftKey ? -1 : 1);
    });
    byId("find-previous").addEventListener("click", () => this.go(-1));
    byId("find-next").addEventListener("click", () => this.go(1));
  }

  /** Put the keyboard into the field. */
  open() {
    if (this.app.view.open !== "text") this.app.view.show("text");
    this.field.focus();
    this.field.select();
  }

  /** Search again after the text was built anew. */
  refresh() {
    if (this.field.value.trim()) this.#mark();
  }

  /**
   * Go to the next match or the previous one; behind the last comes the first.
   * @param {1 | -1} step
   */
  go(step) {
    if (!this.#found.length) {
      this.#count();
      return;
    }
    this.#here = (this.#here + step + this.#found.length) % this.#found.length;
    this.#mark();
    const { start, end } = this.#found[this.#here];
    this.app.text.scrollToToken(start);
    this.#count();
    this.app.say(`${this.#here + 1} of ${this.#found.length}: ${this.app.store.words(`${start}-${end}`)}`, {
      quiet: true,
    });
  }

  #search() {
    const { store, text } = this.app;
    this.#found = findText(store.state.tokens, this.field.value);
    const top = text.firstVisibleToken;
    const next = this.#found.findIndex(({ start }) => start >= top);
    this.#here = (next < 0 ? 0 : next) - 1;
    if (this.#found.length) this.go(1);
    else {
      this.#mark();
      this.#count();
    }
  }

  #mark() {
    this.app.text.showFound(this.#found, this.#found[this.#here] ?? null);
  }

  #count() {
    const label = byId("find-count");
    if (!this.field.value.trim()) label.textContent = "";
    else if (!this.#found.length) label.textContent = "not found";
    else label.textContent = `${this.#here + 1} of ${counted(this.#found.length, "place")}`;
  }
}
