/**
 * The matrix: one row for each span, one column for each annotator, the result last.
 *
 * Each annotator numbers chains independently. A cell therefore also shows whether the annotator's chain
 * mostly corresponds to the chain of this mention in the result: ✓ it does, ≠ it is another one.
 */
import { around, fill, find, make, menu } from "../ui/dom.js";
import { chip, counted, inChain, lineTag } from "../ui/labels.js";
import { Panel } from "../ui/tabs.js";
/** @import { App } from "../app.js" */
/** @import { Store, StoreChange } from "../state/store.js" */
/** @import { ChainId, Mention, MentionId } from "../state/types.js" */

const CHUNK = 40;
const FILTERS = {
  all: "all spans",
  disputed: "disputed",
  out: "left out",
  decided: "enforced",
  open: "not enforced",
};
/** @type {Record<string, number>} */
const STEPS = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15 };

export class Matrix extends Panel {
  /** @type {Map<MentionId, HTMLElement>} */
  #rows = new Map();
  /**
   * For each annotator, the chain of the result that each of their chains corresponds to.
   * @type {Map<ChainId, ChainId>[]}
   */
  #counterparts = [];

  /**
   * @param {HTMLElement} root
   * @param {App} app
   */
  constructor(root, app) {
    super(root, app);
    this.filter = menu("Which spans", FILTERS, () => this.refresh());
    this.count = make("span", { class: "soft" });
    this.table = make("div", { role: "table", "aria-label": "Mentions by annotator", class: "matrix" });
    root.append(make("div", { class: "filters" }, this.filter, this.count), this.table);
    this.table.addEventListener("click", (event) => {
      const id = rowAt(event);
      if (id) this.#goTo(id);
    });
    this.table.addEventListener("keydown", (event) => this.#onKey(event));
    this.table.addEventListener("pointerover", (event) =>
      app.highlight(app.store.mention(rowAt(event))?.chain),
    );
  }

  /**
   * Show what changed in the store.
   * @param {StoreChange} change
   */
  update(change) {
    if (!this.open) return;
    if (change.rebuild) {
      this.render();
      return;
    }
    this.#counterparts = counterparts(this.app.store);
    for (const id of change.mentions) {
      const old = this.#rows.get(id);
      if (!old || !this.app.store.mention(id)) {
        this.render();
        return;
      }
      const row = this.#row(id);
      old.replaceWith(row);
      this.#rows.set(id, row);
    }
  }

  /** Mark the row of the current mention. */
  showCurrent() {
    if (!this.open) return;
    find(this.table, ".current")?.classList.remove("current");
    const row = this.#currentRow;
    row?.classList.add("current");
    row?.scrollIntoView({ block: "nearest" });
  }

  /** Move the keyboard to the current row, else to the first. */
  focus() {
    (this.#currentRow ?? find(this.table, "[data-row]"))?.focus();
  }

  render() {
    const { store } = this.app;
    this.#counterparts = counterparts(store);
    const ids = store.order.filter((id) => this.#passes(store.state.mentions[id]));
    this.#rows = new Map(ids.map((id) => [id, this.#row(id)]));
    const names = ["mention", ...store.state.annotators, "result"];
    const head = make(
      "div",
      { role: "row", class: "matrix-row head" },
      ...names.map((name) => make("span", { role: "columnheader" }, make("bdi", {}, name))),
    );
    const rows = [...this.#rows.values()];
    const chunks = [];
    for (let i = 0; i < rows.length; i += CHUNK) {
      chunks.push(make("div", { role: "rowgroup", class: "chunk" }, ...rows.slice(i, i + CHUNK)));
    }
    this.table.style.setProperty("--columns", String(store.state.annotators.length));
    this.count.textContent = counted(ids.length, "span");
    fill(this.table, make("div", { role: "rowgroup", class: "matrix-head" }, head), ...chunks);
    this.#setTabStop(this.#currentRow ?? rows[0]);
    this.showCurrent();
  }

  get #currentRow() {
    return this.#rows.get(this.app.selection.mention ?? "");
  }

  /** @param {Mention} mention */
  #passes(mention) {
    const { votes, chain, decision } = mention;
    const isPartlyMarked = new Set(votes.map((vote) => vote !== null)).size > 1;
    const tests = {
      all: true,
      disputed: isPartlyMarked || votes.some((vote, i) => vote !== null && !this.#agrees(vote, mention, i)),
      out: chain === null,
      decided: decision !== null,
      open: decision === null,
    };
    return tests[/** @type {keyof typeof FILTERS} */ (this.filter.value)];
  }

  /**
   * Return whether an annotator's chain corresponds to the chain of the mention in the result.
   * @param {ChainId} vote
   * @param {Mention} mention
   * @param {number} annotator
   */
  #agrees(vote, { chain }, annotator) {
    return chain !== null && this.#counterparts[annotator].get(vote) === chain;
  }

  /** @param {MentionId} id */
  #row(id) {
    const { store, selection } = this.app;
    const mention = store.state.mentions[id];
    const label = `${mention.decision ? "enforced, " : ""}${inChain(mention.chain)}`;
    return make(
      "div",
      {
        role: "row",
        class: `matrix-row${selection.mention === id ? " current" : ""}`,
        tabindex: "-1",
        data: { row: id },
      },
      make(
        "span",
        { role: "rowheader", dir: "auto" },
        lineTag(id),
        " ",
        make("bdi", {}, store.words(id, 44)),
      ),
      ...mention.votes.map((vote, i) => this.#cell(vote, mention, i)),
      make("span", { role: "cell", "aria-label": label }, mention.decision ? "= " : "", chip(mention.chain)),
    );
  }

  /**
   * @param {ChainId | null} vote
   * @param {Mention} mention
   * @param {number} annotator
   */
  #cell(vote, mention, annotator) {
    if (vote === null) return make("span", { role: "cell", class: "soft", "aria-label": "not marked" }, "·");
    const agrees = this.#agrees(vote, mention, annotator);
    return make(
      "span",
      {
        role: "cell",
        class: agrees ? "agrees" : "differs",
        "aria-label": `chain ${vote}, ${agrees ? "as" : "not as"} in the result`,
      },
      `${agrees ? "✓" : "≠"} ${vote}`,
    );
  }

  /** @param {MentionId} id */
  #goTo(id) {
    this.#setTabStop(this.#rows.get(id));
    this.app.selection.goTo(id);
    this.#rows.get(id)?.focus({ preventScroll: true });
    this.app.openDetail();
  }

  /** @param {HTMLElement | undefined} row */
  #setTabStop(row) {
    find(this.table, "[data-row][tabindex='0']")?.setAttribute("tabindex", "-1");
    row?.setAttribute("tabindex", "0");
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const id = rowAt(event);
    const step = STEPS[event.key];
    if (!id || !(step || event.key === "Enter" || event.key === " ")) return;
    event.preventDefault();
    const ids = [...this.#rows.keys()];
    if (step) this.#goTo(ids[Math.min(Math.max(ids.indexOf(id) + step, 0), ids.length - 1)]);
    else if (event.key === " ") this.app.navigation.toggle();
    else this.app.openDetail({ focus: true });
  }
}

/** @param {Event} event */
const rowAt = (event) => around(event, "[data-row]")?.dataset.row;

/**
 * For each annotator, find the chain of the result that each of their chains shares most mentions with.
 * @param {Store} store
 */
function counterparts(store) {
  return store.state.annotators.map((_annotator, i) => {
    /** @type {Map<ChainId, Map<ChainId, number>>} */
    const shared = new Map();
    for (const { votes, chain } of Object.values(store.state.mentions)) {
      const own = votes[i];
      if (own === null || chain === null) continue;
      const counts = shared.get(own) ?? new Map();
      counts.set(chain, (counts.get(chain) ?? 0) + 1);
      shared.set(own, counts);
    }
    return new Map([...shared].map(([own, counts]) => [own, mostFrequent(counts)]));
  });
}

/** @param {Map<ChainId, number>} counts */
const mostFrequent = (counts) => [...counts].sort((a, b) => b[1] - a[1])[0][0];
