/**
 * A long text in chunks of a few lines. Those near the view are built; of the others only the height is kept, so that
 * a page with a novel has no more elements than one with an act.
 *
 * A chunk is built when it comes near the view, or when somebody needs an element of it. When more tokens are built
 * than are kept, the chunks farthest from the view are emptied, except one with the focus or the reader's selection.
 * Texts of fewer tokens are built whole at once. To be printed, every text is.
 */
import { lastStart } from "../state/tokens.js";
import { make } from "../ui/dom.js";
/** @import { Span } from "../state/tokens.js" */

const MOST_LINES = 24;
const MOST_TOKENS = 500;
const KEPT_TOKENS = 20_000;
const TOKENS_PER_ROW = 12;

/**
 * The lines from the index `first` to `last`; `tokens` counts theirs.
 * @typedef {{ first: number, last: number, tokens: number, element: HTMLElement, built: boolean }} Chunk
 */

/**
 * Who makes the elements of lines: `build` returns them, `empty` forgets them, and `settle` is called once they are on
 * the page or have left it.
 * @typedef {object} ChunkOwner
 * @property {(first: number, last: number) => HTMLElement[]} build
 * @property {(first: number, last: number) => void} empty
 * @property {(first: number, last: number) => void} settle
 */

export class Chunks {
  /** @type {Chunk[]} */
  #chunks = [];
  /** @type {Map<Element, Chunk>} */
  #byElement = new Map();
  /** @type {Set<Chunk>} */
  #near = new Set();
  #observer;
  #printing = false;

  /**
   * @param {HTMLElement} root the element that scrolls
   * @param {ChunkOwner} owner
   */
  constructor(root, owner) {
    this.root = root;
    this.owner = owner;
    this.#observer = new IntersectionObserver((entries) => this.#onScroll(entries), {
      root,
      rootMargin: "100% 0px",
    });
    addEventListener("beforeprint", () => this.#onPrint(true));
    addEventListener("afterprint", () => this.#onPrint(false));
  }

  /**
   * Show other lines.
   * @param {Span[]} lines
   */
  render(lines) {
    this.#observer.disconnect();
    this.#near.clear();
    this.#chunks = cut(lines);
    this.#byElement = new Map(this.#chunks.map((chunk) => [chunk.element, chunk]));
    this.root.replaceChildren(...this.#chunks.map(({ element }) => element));
    const whole = this.#chunks.reduce((sum, { tokens }) => sum + tokens, 0) <= KEPT_TOKENS;
    if (whole) for (const chunk of this.#chunks) this.#build(chunk);
    else for (const { element } of this.#chunks) this.#observer.observe(element);
  }

  /**
   * Build the chunk of a line and those beside it, which may be in view with it.
   * @param {number} line
   */
  ensure(line) {
    const here = this.#indexOf(line);
    for (const chunk of this.#chunks.slice(Math.max(here - 1, 0), here + 2)) this.#build(chunk);
  }

  /**
   * Return the first chunk whose element passes a test.
   * @param {(element: Element) => boolean} test
   */
  find(test) {
    return this.#chunks.find(({ element }) => test(element)) ?? null;
  }

  /** @param {number} line */
  #indexOf(line) {
    return lastStart(this.#chunks.length, (i) => this.#chunks[i].first, line);
  }

  /** @param {Chunk} chunk */
  #build(chunk) {
    if (chunk.built) return;
    chunk.built = true;
    chunk.element.style.height = "";
    chunk.element.replaceChildren(...this.owner.build(chunk.first, chunk.last));
    this.owner.settle(chunk.first, chunk.last);
  }

  /** @param {Chunk} chunk */
  #empty(chunk) {
    this.owner.empty(chunk.first, chunk.last);
    chunk.element.style.height = `${chunk.element.getBoundingClientRect().height}px`;
    chunk.element.replaceChildren();
    chunk.built = false;
    this.owner.settle(chunk.first, chunk.last);
  }

  /** @param {IntersectionObserverEntry[]} entries */
  #onScroll(entries) {
    for (const { target, isIntersecting } of entries) {
      const chunk = this.#byElement.get(target);
      if (!chunk) continue;
      if (isIntersecting) this.#near.add(chunk);
      else this.#near.delete(chunk);
    }
    for (const chunk of this.#near) this.#build(chunk);
    this.#emptyFar();
  }

  /** Empty the chunks farthest from the view while more are built than are kept. */
  #emptyFar() {
    const [any] = this.#near;
    if (!any || this.#printing) return;
    const built = this.#chunks.filter((chunk) => chunk.built);
    let tokens = built.reduce((sum, chunk) => sum + chunk.tokens, 0);
    /** @param {Chunk} chunk */
    const distance = ({ first }) => Math.abs(first - any.first);
    for (const chunk of built.sort((a, b) => distance(b) - distance(a))) {
      if (tokens <= KEPT_TOKENS) return;
      if (this.#near.has(chunk) || isInUse(chunk.element)) continue;
      this.#empty(chunk);
      tokens -= chunk.tokens;
    }
  }

  /** @param {boolean} printing */
  #onPrint(printing) {
    this.#printing = printing;
    if (printing) for (const chunk of this.#chunks) this.#build(chunk);
    else this.#emptyFar();
  }
}

/**
 * Return the chunks of a text, none of them built.
 * @param {Span[]} lines
 */
function cut(lines) {
  /** @type {Chunk[]} */
  const chunks = [];
  lines.forEach(({ start, end }, line) => {
    const tokens = end - start + 1;
    const last = chunks.at(-1);
    if (last && line - last.first < MOST_LINES && last.tokens + tokens <= MOST_TOKENS) {
      last.last = line;
      last.tokens += tokens;
    } else {
      const element = make("div", { class: "chunk" });
      chunks.push({ first: line, last: line, tokens, element, built: false });
    }
  });
  for (const { first, last, element } of chunks) {
    const height = `${guessedHeight(lines.slice(first, last + 1))}px`;
    element.style.height = height;
    element.style.containIntrinsicSize = `auto ${height}`;
  }
  return chunks;
}

/** @param {Span[]} lines */
function guessedHeight(lines) {
  const rows = lines.map(({ start, end }) => Math.ceil((end - start + 1) / TOKENS_PER_ROW));
  return rows.reduce((sum, count) => sum + count * 36 + 6, 0);
}

/**
 * Return whether an element has the focus or a part of what the reader has selected.
 * @param {HTMLElement} element
 */
function isInUse(element) {
  const selection = getSelection();
  const isSelected = selection !== null && !selection.isCollapsed && selection.containsNode(element, true);
  return element.contains(document.activeElement) || isSelected;
}
