/**
 * The matrix: one row a mention, one column an annotator, the result last.
 *
 * Annotators number their chains each for themselves. A cell therefore also says whether the annotator's chain
 * is mostly the one that the result has for this mention: ✓ it is, ≠ it is another one.
 */
import { fill, make } from "../ui/dom.js";
import { chip } from "../ui/choose_chain.js";
import { place } from "../ui/snippet.js";
import { inChain, times } from "../ui/words.js";

const CHUNK = 40;
const FILTERS = {
  all: "all mentions",
  disputed: "disputed",
  out: "left out",
  decided: "enforced",
  open: "not enforced",
};

export class Matrix {
  #open = false;
  #rows = new Map();
  #main = [];

  constructor(root, app) {
    this.root = root;
    this.app = app;
    this.filter = make(
      "select",
      { "aria-label": "Which mentions", on: { change: () => this.render() } },
      ...Object.entries(FILTERS).map(([value, label]) => make("option", { value }, label)),
    );
    this.count = make("span", { class: "soft" });
    this.table = make("div", { role: "table", "aria-label": "Mentions by annotators", class: "matrix" });
    root.append(make("div", { class: "filters" }, this.filter, this.count), this.table);
    this.table.addEventListener("click", (event) => {
      const row = event.target.closest("[data-row]");
      if (row) this.#go(row.dataset.row);
    });
    this.table.addEventListener("keydown", (event) => this.#key(event));
    this.table.addEventListener("pointerover", (event) => {
      const id = event.target.closest("[data-row]")?.dataset.row;
      app.light(app.store.mention(id)?.chain);
    });
  }

  /** Say whether the view is seen; only then is it built. */
  show(open) {
    this.#open = open;
    if (open) this.render();
  }

  /** Show what changed. */
  update(change) {
    if (!this.#open) return;
    this.#main = this.#correspond();
    for (const id of change.mentions) {
      if (!this.#rows.has(id) || !this.app.store.mention(id)) {
        this.render();
        return;
      }
      const row = this.#row(id);
      this.#rows.get(id).replaceWith(row);
      this.#rows.set(id, row);
    }
  }

  /** Mark the row of the current mention. */
  follow() {
    if (!this.#open) return;
    this.table.querySelector(".current")?.classList.remove("current");
    const row = this.#rows.get(this.app.spot.mention);
    row?.classList.add("current");
    row?.scrollIntoView({ block: "nearest" });
  }

  /** Put the keyboard on the current row, else on the first. */
  focus() {
    (this.#rows.get(this.app.spot.mention) ?? this.table.querySelector("[data-row]"))?.focus();
  }

  render() {
    const { store } = this.app;
    this.#main = this.#correspond();
    const ids = store.order.filter((id) => this.#wanted(store.mention(id)));
    this.#rows = new Map(ids.map((id) => [id, this.#row(id)]));
    const names = ["mention", ...store.state.annotators, "result"];
    const head = make(
      "div",
      { role: "row", class: "matrix-row head" },
      ...names.map((name) => make("span", { role: "columnheader" }, make("bdi", {}, name))),
    );
    const rows = [...this.#rows.values()];
    const chunks = [];
    for (let i = 0; i < rows.length; i += CHUNK)
      chunks.push(make("div", { role: "rowgroup", class: "chunk" }, ...rows.slice(i, i + CHUNK)));
    this.table.style.setProperty("--columns", String(store.state.annotators.length));
    this.count.textContent = times(ids.length, "mention");
    fill(this.table, make("div", { role: "rowgroup", class: "matrix-head" }, head), ...chunks);
    this.#rove(this.#rows.get(this.app.spot.mention) ?? rows[0]);
    this.follow();
  }

  #wanted(mention) {
    const votes = new Set(mention.votes.map((vote) => vote !== null));
    switch (this.filter.value) {
      case "disputed":
        return votes.size > 1 || this.#departs(mention);
      case "out":
        return mention.chain === null;
      case "decided":
        return mention.decision !== null;
      case "open":
        return mention.decision === null;
      default:
        return true;
    }
  }

  #departs(mention) {
    return mention.votes.some((vote, i) => vote !== null && this.#main[i].get(vote) !== mention.chain);
  }

  /** For each annotator, find the chain of the result that each of their chains shares most mentions with. */
  #correspond() {
    const { store } = this.app;
    return store.state.annotators.map((_, i) => {
      const shared = new Map();
      for (const mention of Object.values(store.state.mentions)) {
        const own = mention.votes[i];
        if (own === null || mention.chain === null) continue;
        if (!shared.has(own)) shared.set(own, new Map());
        const counts = shared.get(own);
        counts.set(mention.chain, (counts.get(mention.chain) ?? 0) + 1);
      }
      return new Map(
        [...shared].map(([own, counts]) => [own, [...counts].sort((a, b) => b[1] - a[1])[0][0]]),
      );
    });
  }

  #row(id) {
    const { store, spot } = this.app;
    const mention = store.mention(id);
    const cells = mention.votes.map((vote, i) => this.#cell(vote, mention, i));
    const decided = mention.decision ? "= " : "";
    return make(
      "div",
      {
        role: "row",
        class: `matrix-row${spot.mention === id ? " current" : ""}`,
        tabindex: "-1",
        data: { row: id },
      },
      make("span", { role: "rowheader", dir: "auto" }, place(id), " ", make("bdi", {}, store.words(id, 44))),
      ...cells,
      make(
        "span",
        { role: "cell", "aria-label": `${mention.decision ? "enforced, " : ""}${inChain(mention.chain)}` },
        decided,
        chip(mention.chain),
      ),
    );
  }

  #cell(vote, mention, i) {
    if (vote === null) return make("span", { role: "cell", class: "soft", "aria-label": "not marked" }, "·");
    const agrees = mention.chain !== null && this.#main[i].get(vote) === mention.chain;
    return make(
      "span",
      {
        role: "cell",
        class: agrees ? "agrees" : "departs",
        "aria-label": `chain ${vote}, ${agrees ? "as" : "not as"} in the result`,
      },
      `${agrees ? "✓" : "≠"} ${vote}`,
    );
  }

  #go(id) {
    this.#rove(this.#rows.get(id));
    this.app.spot.go(id);
    this.#rows.get(id)?.focus({ preventScroll: true });
    this.app.openDetail();
  }

  #rove(row) {
    this.table.querySelector("[data-row][tabindex='0']")?.setAttribute("tabindex", "-1");
    row?.setAttribute("tabindex", "0");
  }

  #key(event) {
    const row = event.target.closest("[data-row]");
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15 }[event.key];
    if (!row || !(step || event.key === "Enter" || event.key === " ")) return;
    event.preventDefault();
    const ids = [...this.#rows.keys()];
    if (step) this.#go(ids[Math.min(Math.max(ids.indexOf(row.dataset.row) + step, 0), ids.length - 1)]);
    else if (event.key === " ") this.app.moves.toggle();
    else this.app.openDetail({ focus: true });
  }
}
