/** The list of chains, with search, filter and sorting. */
import { button, fill, make } from "../ui/dom.js";
import { chip, gist, matching } from "../ui/choose_chain.js";
import { snippet } from "../ui/snippet.js";
import { times } from "../ui/words.js";

const MOST = 60;

export class Chains {
  #open = false;
  #unfolded = null;
  #shown = MOST;

  constructor(root, app) {
    this.root = root;
    this.app = app;
    const again = () => {
      this.#shown = MOST;
      this.render();
    };
    this.search = make("input", {
      type: "search",
      placeholder: "Number or words",
      "aria-label": "Search chains",
      data: { first: "" },
      on: { input: again },
    });
    this.filter = make(
      "select",
      { "aria-label": "Which chains", on: { change: again } },
      ...options({ all: "all", open: "not all enforced", decided: "all enforced" }),
    );
    this.sort = make(
      "select",
      { "aria-label": "Order", on: { change: again } },
      ...options({ text: "text order", size: "largest first", number: "by number" }),
    );
    this.count = make("p", { class: "soft", "aria-live": "polite" });
    this.list = make("ul", { class: "chain-list" });
    fill(root, make("div", { class: "filters" }, this.search, this.filter, this.sort), this.count, this.list);
    this.list.addEventListener("pointerover", (event) =>
      app.light(event.target.closest("[data-chain]")?.dataset.chain),
    );
    this.list.addEventListener("pointerleave", () => app.light());
    this.list.addEventListener("focusin", (event) =>
      app.light(event.target.closest("[data-chain]")?.dataset.chain),
    );
  }

  /** Say whether the panel is seen; only then is it built. */
  show(open) {
    this.#open = open;
    if (open) this.render();
  }

  /** Show one chain unfolded. */
  unfold(chain) {
    this.search.value = "";
    this.filter.value = "all";
    this.#unfolded = chain;
    this.#shown = Infinity;
    this.render();
    this.list.querySelector(`[data-chain="${CSS.escape(chain)}"]`)?.scrollIntoView({ block: "start" });
  }

  render() {
    if (!this.#open) return;
    const { store } = this.app;
    const { chains } = store.state;
    const wanted = {
      all: () => true,
      open: (id) => !chains[id].decided,
      decided: (id) => chains[id].decided,
    }[this.filter.value];
    const start = (id) => Number(chains[id].mentions[0]?.split("-")[0] ?? 0);
    const orders = {
      text: (a, b) => start(a) - start(b),
      size: (a, b) => chains[b].mentions.length - chains[a].mentions.length,
      number: (a, b) => a.localeCompare(b, "en", { numeric: true }),
    };
    const found = matching(store, this.search.value).filter(wanted).sort(orders[this.sort.value]);
    this.count.textContent = `${found.length} of ${times(Object.keys(chains).length, "chain")}`;
    const more =
      found.length > this.#shown
        ? make(
            "li",
            {},
            button(
              `Show all ${found.length}`,
              () => {
                this.#shown = Infinity;
                this.render();
              },
              { kind: "quiet" },
            ),
          )
        : null;
    fill(this.list, ...found.slice(0, this.#shown).map((id) => this.#item(id)), more);
  }

  #item(id) {
    const { store } = this.app;
    const chain = store.chain(id);
    const open = this.#unfolded === id;
    const head = make(
      "button",
      {
        type: "button",
        class: "chain-head",
        "aria-expanded": String(open),
        data: { keep: `chain ${id}` },
        on: {
          click: () => {
            this.#unfolded = open ? null : id;
            this.render();
          },
        },
      },
      chip(id),
      make("bdi", { class: "gist" }, gist(store, id)),
      make("span", { class: "soft" }, `${chain.decided ? "= " : ""}${chain.mentions.length}`),
    );
    head.title = `${times(chain.mentions.length, "mention")}${chain.decided ? ", all enforced" : ""}`;
    return make("li", { data: { chain: id } }, head, open ? this.#body(id, chain) : null);
  }

  #body(id, chain) {
    const { app } = this;
    const at = chain.mentions[0];
    const on = (act) => () => {
      app.spot.select([]);
      app.spot.go(at);
      act();
    };
    return make(
      "div",
      { class: "chain-body" },
      make(
        "div",
        { class: "buttons" },
        chain.decided ? null : button("Accept as it stands", on(app.actions.accept)),
        button("Merge with …", on(app.actions.merge)),
        button("Select all", () => {
          app.spot.go(at);
          app.spot.select(chain.mentions);
        }),
      ),
      ...chain.mentions.map((mention) =>
        snippet(app.store, mention, (one) => app.spot.go(one, { focus: true })),
      ),
    );
  }
}

const options = (names) => Object.entries(names).map(([value, label]) => make("option", { value }, label));
