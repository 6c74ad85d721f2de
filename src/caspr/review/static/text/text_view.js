/**
 * The text with its mentions. Every candidate is an element once and for all; a change touches only the
 * elements of the mentions that changed, or the lines where a mention came, went, entered or left a chain.
 */
import { make } from "../ui/dom.js";
import { Dress } from "./mention_style.js";
import { lineAt, linesOf, treeOf } from "./lines.js";
import { blank, shown, turns } from "../ui/words.js";

const CHUNK = 24;
const WORDS_A_ROW = 12;
const HEAD = ["tabindex", "role", "aria-roledescription", "aria-label"];

export class TextView {
  #lines = [];
  #onLine = [];
  #rows = [];
  #pieces = new Map();
  #tokens = [];
  #lit = new Set();
  #dress;

  constructor(root, store, spot) {
    this.root = root;
    this.store = store;
    this.spot = spot;
    this.#dress = new Dress(store, spot);
    this.render();
  }

  /** Build everything. */
  render() {
    const { tokens, breaks } = this.store.state;
    this.#lines = linesOf(tokens, breaks);
    this.#assign();
    this.#pieces.clear();
    this.#rows = this.#lines.map((_, number) => this.#row(number));
    const chunks = [];
    for (let i = 0; i < this.#rows.length; i += CHUNK) {
      const chunk = make("div", { class: "chunk" }, ...this.#rows.slice(i, i + CHUNK));
      const heights = this.#lines
        .slice(i, i + CHUNK)
        .map((l) => Math.ceil((l.end - l.start + 1) / WORDS_A_ROW));
      chunk.style.containIntrinsicSize = `auto ${heights.reduce((sum, rows) => sum + rows * 36 + 6, 0)}px`;
      chunks.push(chunk);
    }
    if (!chunks.length) chunks.push(make("p", { class: "soft" }, "This document has no tokens."));
    this.root.replaceChildren(...chunks);
    this.#rove();
  }

  /** Show what changed in the store. */
  update(change, old) {
    const rows = new Set();
    const noted = [...old.notes, ...this.store.state.notes].map((note) => note.mention).filter(Boolean);
    for (const id of new Set([...change.mentions, ...noted])) this.#touch(id, rows);
    if (rows.size) this.#assign(rows);
    for (const number of rows) this.#redraw(number);
    this.#close();
    this.#rove();
  }

  /** Say which mentions the last step changed, as a Map from id to the chain they were in. */
  mark(changed) {
    const touched = new Set([...this.#dress.changed.keys(), ...changed.keys()]);
    this.#dress.changed = changed;
    for (const id of touched) this.#redress(id);
  }

  /** Say which mentions the current question is about. */
  ask(ids) {
    const before = this.#dress.asked;
    this.#dress.asked = ids;
    for (const id of [...before, ...ids]) this.#redress(id);
  }

  /** Highlight a chain everywhere, or none; only what is new or over is touched. */
  light(chain) {
    const ids = this.store.chain(chain)?.mentions ?? [];
    const lit = new Set(ids.flatMap((id) => this.#pieces.get(id) ?? []));
    for (const element of this.#lit) if (!lit.has(element)) element.classList.remove("lit");
    for (const element of lit) if (!this.#lit.has(element)) element.classList.add("lit");
    this.#lit = lit;
  }

  /** Follow the current mention, the selection and the chosen tokens. */
  follow(what) {
    if (what.moved) {
      for (const id of [what.before, this.spot.mention]) if (id) this.#redress(id);
      this.#rove();
      if (this.spot.mention) this.reveal(this.spot.mention, what);
    }
    for (const id of what.chosen ?? []) this.#redress(id);
    if (what.ranged) this.#paint(what.before);
  }

  /** Scroll to a mention unless it is in view already; `focus` also moves the keyboard there. */
  reveal(id, { focus = false, show = true } = {}) {
    const element = this.element(id);
    if (!element) return;
    if (show) this.#scroll(element);
    if (focus) {
      element.setAttribute("aria-label", this.#dress.describe(id));
      element.focus({ preventScroll: true });
    }
  }

  /** Put the keyboard on a token. */
  focusToken(token) {
    const element = this.#tokens[token];
    if (!element) return;
    element.tabIndex = -1;
    element.focus({ preventScroll: true });
    this.#scroll(element);
  }

  /** While the pointer is down nothing else gets the focus; see `#rove`. */
  hold(pressed) {
    if (!pressed) this.#rove();
    else if (this.roving !== document.activeElement) this.roving?.removeAttribute("tabindex");
  }

  /** The element that stands for a mention: its first piece. */
  element(id) {
    return this.#pieces.get(id)?.[0] ?? null;
  }

  /** The number of the line of a token, and how many there are. */
  line(token) {
    return lineAt(this.#lines, token);
  }

  /** The first and last token of a line, or null. */
  extent(number) {
    return this.#lines[number] ?? null;
  }

  /** The first token that is in view. Rows are only looked at in the one chunk that is: others need not be laid out. */
  get top() {
    const edge = this.root.getBoundingClientRect().top + 20;
    const below = (element) => element.getBoundingClientRect().bottom > edge;
    const row = [...([...this.root.children].find(below)?.children ?? [])].find(below);
    return Number(row?.dataset.n ?? 1);
  }

  #assign(rows = null) {
    if (rows) for (const number of rows) this.#onLine[number] = [];
    else this.#onLine = this.#lines.map(() => []);
    for (const id of this.store.order) {
      const { start, end } = this.store.state.mentions[id];
      for (
        let n = lineAt(this.#lines, start);
        n < this.#lines.length && this.#lines[n].start <= end;
        n += 1
      ) {
        if (!rows || rows.has(n)) this.#onLine[n].push({ id, start, end });
      }
    }
  }

  #touch(id, rows) {
    const mention = this.store.mention(id);
    const element = this.element(id);
    const shape = element ? element.classList.contains("out") : null;
    if (mention && element && shape === (mention.chain === null)) {
      this.#redress(id);
      return;
    }
    const [start, end] = id.split("-").map(Number);
    for (let n = this.line(start); n <= this.line(end); n += 1) rows.add(n);
  }

  #redraw(number) {
    const { start, end } = this.#lines[number];
    for (let t = start; t <= end; t += 1) this.#tokens[t] = undefined;
    const old = this.#rows[number];
    for (const element of old.querySelectorAll(".m")) {
      const left = this.#pieces.get(element.dataset.m)?.filter((piece) => piece !== element);
      if (left?.length) this.#pieces.set(element.dataset.m, left);
      else this.#pieces.delete(element.dataset.m);
    }
    const held = old.contains(document.activeElement) ? document.activeElement.dataset : null;
    const row = this.#row(number);
    old.replaceWith(row);
    this.#rows[number] = row;
    for (const { id } of this.#onLine[number]) this.#settle(id);
    if (held?.m) this.#rove();
    if (held?.m) this.element(held.m)?.focus({ preventScroll: true });
    if (held?.t) this.focusToken(Number(held.t));
    this.#paint(null);
  }

  /** Put the pieces of a mention in text order again, the first of them as its head. */
  #settle(id) {
    const pieces = this.#pieces.get(id);
    if (!pieces || pieces.length < 2) return;
    const follows = (one, other) => one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING;
    pieces.sort((one, other) => (follows(one, other) ? -1 : 1));
    for (const piece of pieces.slice(1)) for (const name of HEAD) piece.removeAttribute(name);
    this.#head(pieces[0]);
  }

  #head(element) {
    element.setAttribute("role", "group");
    element.setAttribute("aria-roledescription", "mention");
  }

  #row(number) {
    const line = this.#lines[number];
    const weigh = ({ id }) => (this.store.state.mentions[id].chain === null ? 0 : 1);
    const tree = treeOf(line, this.#onLine[number], weigh);
    const row = make("p", { class: "line", dir: "auto", data: { n: String(line.start) } });
    row.style.setProperty("--levels", String(tree.height));
    this.#grow(row, tree.children);
    return row;
  }

  #grow(parent, nodes) {
    const { tokens } = this.store.state;
    let first = true;
    for (const node of nodes) {
      const token = typeof node === "number" ? node : this.#firstToken(node);
      if (!first) parent.append(blank(tokens[token - 2], tokens[token - 1]));
      first = false;
      parent.append(typeof node === "number" ? this.#token(node) : this.#mention(node));
    }
  }

  #firstToken(node) {
    const [child] = node.children;
    return typeof child === "number" ? child : this.#firstToken(child);
  }

  #token(token) {
    const element = document.createElement("span");
    const text = this.store.state.tokens[token - 1];
    element.className = turns(text) ? "t isolated" : "t";
    element.dataset.t = token;
    element.textContent = shown(text);
    this.#tokens[token] = element;
    if (this.store.state.closed.includes(token)) element.classList.add("closed");
    return element;
  }

  #mention(node) {
    const element = document.createElement("span");
    element.dataset.m = node.id;
    element.dataset.ends = (node.first ? "s" : "") + (node.last ? "e" : "");
    element.style.setProperty("--under", String(node.height));
    const pieces = this.#pieces.get(node.id);
    if (pieces) pieces.push(element);
    else {
      this.#pieces.set(node.id, [element]);
      this.#head(element);
    }
    this.#dress.clothe(element, node.id);
    this.#grow(element, node.children);
    return element;
  }

  #redress(id) {
    for (const element of this.#pieces.get(id) ?? []) this.#dress.clothe(element, id);
  }

  /** Mark the tokens at which nothing may begin or end. */
  #close() {
    const closed = new Set(this.store.state.closed);
    for (const element of this.root.querySelectorAll(".t.closed")) {
      if (!closed.has(Number(element.dataset.t))) element.classList.remove("closed");
    }
    for (const token of closed) this.#tokens[token]?.classList.add("closed");
  }

  #paint(before) {
    const put = (range, on) => {
      if (!range) return;
      const [start, end] = [range.anchor, range.head].sort((a, b) => a - b);
      for (let t = start; t <= end; t += 1) this.#tokens[t]?.classList.toggle("chosen", on);
    };
    put(before, false);
    put(this.spot.range, true);
  }

  /**
   * Let the tab key lead to one mention: the current one, else the first. All others cannot be focused: a
   * press on one would move the focus, and browsers then end the selection that a drag began at its edge.
   */
  #rove() {
    const here =
      (this.spot.mention && this.element(this.spot.mention)) || this.element(this.store.order[0] ?? "");
    if (this.roving && this.roving !== here) this.roving.removeAttribute("tabindex");
    if (here) here.tabIndex = 0;
    this.roving = here;
  }

  #scroll(element) {
    const view = this.root.getBoundingClientRect();
    const inView = () => {
      const box = element.getBoundingClientRect();
      return box.height > 0 && box.top >= view.top + 24 && box.bottom <= view.bottom - 40;
    };
    if (inView()) return;
    element.scrollIntoView({ block: "center" });
    // Parts that were never drawn have a guessed height; once they are drawn, aim again.
    requestAnimationFrame(() => inView() || element.scrollIntoView({ block: "center" }));
  }
}
