/** Full-text search: words of the document, whatever is a mention. */
import { lastStart, spaceBefore, visible } from "../state/tokens.js";
import { byId } from "../ui/dom.js";
import { grouped } from "../ui/labels.js";
/** @import { App } from "../app.js" */
/** @import { Span } from "../state/tokens.js" */

const MOST = 2000;

/**
 * Return the tokens that each occurrence of a text touches, in order; case does not matter, and line ends are blanks.
 * @param {string[]} tokens
 * @param {string} wanted
 * @returns {Span[]}
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
  /** @param {number} position */
  const tokenAt = (position) => lastStart(starts.length, (i) => starts[i], position) + 1;
  /** @type {Span[]} */
  const matches = [];
  for (let at = text.indexOf(needle); at >= 0 && matches.length < MOST; at = text.indexOf(needle, at + 1)) {
    matches.push({ start: tokenAt(at), end: tokenAt(at + needle.length - 1) });
  }
  return matches;
}

export class TextSearch {
  /** @type {Span[]} */
  #matches = [];
  #current = -1;

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

  /** Mark the matches again after the text was built anew. */
  refresh() {
    if (this.field.value.trim()) this.#mark();
  }

  /**
   * Go to the next match or the previous one; after the last comes the first.
   * @param {1 | -1} step
   */
  go(step) {
    if (!this.#matches.length) {
      this.#count();
      return;
    }
    this.#current = (this.#current + step + this.#matches.length) % this.#matches.length;
    this.#mark();
    const { start, end } = this.#matches[this.#current];
    this.app.text.scrollToToken(start);
    this.#count();
    this.app.say(
      `${this.#current + 1} of ${this.#matches.length}: ${this.app.store.words(`${start}-${end}`)}`,
      {
        quiet: true,
      },
    );
  }

  #search() {
    const { store, text } = this.app;
    this.#matches = findText(store.state.tokens, this.field.value);
    const top = text.firstVisibleToken;
    const next = this.#matches.findIndex(({ start }) => start >= top);
    this.#current = (next < 0 ? 0 : next) - 1;
    if (this.#matches.length) this.go(1);
    else {
      this.#mark();
      this.#count();
    }
  }

  #mark() {
    this.app.text.showMatches(this.#matches, this.#matches[this.#current] ?? null);
  }

  #count() {
    const label = byId("find-count");
    if (!this.field.value.trim()) label.textContent = "";
    else if (!this.#matches.length) label.textContent = "no match";
    else label.textContent = `${this.#current + 1} of ${grouped(this.#matches.length)}`;
  }
}
