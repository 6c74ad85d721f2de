/** The last step: what it did to the cost, and what changed elsewhere; each change can be turned back. */
import { button, fill, make } from "../ui/dom.js";
import { chip } from "../ui/choose_chain.js";
import { reference } from "../ui/snippet.js";
import { signed, times } from "../ui/words.js";

const MOST = 30;

/** Say in a few words what an operation is about. */
export function described(store, op) {
  const what =
    {
      together: "same",
      apart: "different",
      into: `in chain ${op.chain}`,
      exists: "a mention",
      absent: "no mention",
      empty: "no boundary",
      accept: `chain ${op.chain} as it stands`,
      split: "own chain",
      merge: `chains ${op.chains?.join(", ")} merged`,
      new: "new mention",
      free: "taken back",
      note: "note",
      unnote: "note deleted",
    }[op.do] ?? op.do;
  const ids = op.mentions ?? (op.mention ? [op.mention] : op.start ? [`${op.start}-${op.end}`] : []);
  const tokens = (op.tokens ?? []).map((token) => `${token}-${token}`);
  const names = [...ids, ...tokens].slice(0, 3).map((id) => `“${store.words(id, 30)}”`);
  const more = ids.length + tokens.length > 3 ? " …" : "";
  return names.length ? `${what}: ${names.join(", ")}${more}` : what;
}

export class Step {
  #changes = new Map();
  #chains = {};
  #label = "";
  #before = 0;
  #all = false;

  constructor(root, app) {
    this.root = root;
    this.app = app;
    /** Whether the search that this step began still goes on. */
    this.goesOn = false;
  }

  /** Begin a new step: what the chains were before, what it costs then, and what was done. */
  begin(label, chains, before) {
    this.#changes = new Map();
    this.#chains = chains;
    this.#label = label;
    this.#before = before;
    this.#all = false;
  }

  /** Add what an update says changed elsewhere; a search that goes on may change the same mention again. */
  add(changed) {
    for (const { mention, from, to } of changed) {
      const first = this.#changes.get(mention)?.from ?? from;
      if ((first ?? null) === (to ?? null)) this.#changes.delete(mention);
      else this.#changes.set(mention, { mention, from: first, to });
    }
    this.app.text.mark(new Map([...this.#changes.values()].map((one) => [one.mention, one.from ?? null])));
    this.app.map.draw();
    this.render();
  }

  /** The mentions that changed elsewhere. */
  get mentions() {
    return [...this.#changes.keys()];
  }

  /** Say it in one sentence. */
  get summary() {
    const { value } = this.app.store.state.cost;
    const cost =
      value === this.#before ? `The cost stays ${value}` : `The cost goes from ${this.#before} to ${value}`;
    const count = this.#changes.size;
    return `${this.#label}. ${cost}; ${count ? `${times(count, "mention")} changed elsewhere` : "nothing changed elsewhere"}.`;
  }

  /** Let go of the list. */
  dismiss() {
    this.begin("", {}, 0);
    this.add([]);
    this.root.hidden = true;
  }

  render() {
    if (!this.#label) return;
    this.root.hidden = false;
    const { value } = this.app.store.state.cost;
    const changes = [...this.#changes.values()];
    const shown = this.#all ? changes : changes.slice(0, MOST);
    fill(
      this.root,
      make(
        "div",
        { class: "step-head" },
        make("h2", { id: "step-title" }, "Last step"),
        value === this.#before
          ? make("span", { class: "soft" }, "cost unchanged")
          : make(
              "span",
              { class: `delta${value < this.#before ? " less" : ""}` },
              `cost ${signed(value - this.#before)}`,
            ),
        button("Dismiss", () => this.dismiss(), { kind: "quiet" }),
      ),
      make("p", { class: "step-label", dir: "auto" }, this.#label),
      changes.length
        ? make("p", { class: "soft" }, `${times(changes.length, "mention")} changed elsewhere:`)
        : make("p", { class: "soft" }, "Nothing changed elsewhere."),
      make("ul", { class: "changes" }, ...shown.map((one) => this.#item(one))),
      shown.length < changes.length
        ? button(
            `Show all ${changes.length}`,
            () => {
              this.#all = true;
              this.render();
            },
            { kind: "quiet" },
          )
        : null,
    );
  }

  #item(change) {
    const { store, spot } = this.app;
    const words = store.words(change.mention, 40);
    const keep = button("Keep the old", () => this.app.act(this.#old(change)), {
      name: `Keep the old for ${words}`,
      title: "Enforce what was there before this step",
    });
    keep.dataset.keep = `old ${change.mention}`;
    return make(
      "li",
      { data: { change: change.mention } },
      reference(store, change.mention, (id) => spot.go(id, { focus: true })),
      make(
        "span",
        { class: "from-to" },
        chip(change.from),
        make("span", { "aria-label": "to" }, "→"),
        chip(change.to),
      ),
      keep,
    );
  }

  /** The operation that enforces what a mention was before: out of all chains, or with those it was together with. */
  #old({ mention, from }) {
    if (from === null || from === undefined) return { do: "absent", mentions: [mention] };
    const { store } = this.app;
    const others = (this.#chains[from]?.mentions ?? []).filter((id) => id !== mention);
    const there = store.chain(from)?.mentions ?? [];
    if (others.some((id) => there.includes(id)) || !others.length)
      return { do: "into", mentions: [mention], chain: from };
    const at = Number(mention.split("-")[0]);
    const near = others.reduce((best, id) =>
      Math.abs(Number(id.split("-")[0]) - at) < Math.abs(Number(best.split("-")[0]) - at) ? id : best,
    );
    return { do: "together", mentions: [mention, near] };
  }
}
