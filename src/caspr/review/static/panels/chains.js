/** The list of chains, with search, filter and order. */
import { spanOf } from "../state/tokens.js";
import { around, button, fill, find, make, menu } from "../ui/dom.js";
import { chip, counted, gist, matchingChains, snippet } from "../ui/labels.js";
import { Panel } from "../ui/tabs.js";
/** @import { App } from "../app.js" */
/** @import { Chain, ChainId } from "../state/types.js" */

const MOST = 60;
const FILTERS = { all: "all", open: "not all enforced", decided: "all enforced" };
const ORDERS = { text: "text order", size: "largest first", number: "by number" };

export class Chains extends Panel {
  /** @type {ChainId | null} */
  #unfolded = null;
  #most = MOST;

  /**
   * @param {HTMLElement} root
   * @param {App} app
   */
  constructor(root, app) {
    super(root, app);
    const restart = () => {
      this.#most = MOST;
      this.refresh();
    };
    this.search = make("input", {
      type: "search",
      placeholder: "Number, name or words",
      "aria-label": "Search entities",
      on: { input: restart },
    });
    this.filter = menu("Which entities", FILTERS, restart);
    this.order = menu("Order", ORDERS, restart);
    this.count = make("p", { class: "soft", "aria-live": "polite" });
    this.list = make("ul", { class: "chain-list" });
    fill(
      root,
      make("div", { class: "filters" }, this.search, this.filter, this.order),
      this.count,
      this.list,
    );
    /** @param {Event} event */
    const highlight = (event) => app.highlight(around(event, "[data-chain]")?.dataset.chain);
    this.list.addEventListener("pointerover", highlight);
    this.list.addEventListener("focusin", highlight);
    this.list.addEventListener("pointerleave", () => app.highlight());
  }

  /**
   * Show one chain unfolded.
   * @param {ChainId} chain
   */
  unfold(chain) {
    this.search.value = "";
    this.filter.value = "all";
    this.#unfolded = chain;
    this.#most = Infinity;
    this.refresh();
    find(this.list, `[data-chain="${CSS.escape(chain)}"]`)?.scrollIntoView({ block: "start" });
  }

  render() {
    const { store } = this.app;
    const total = Object.keys(store.state.chains).length;
    const ids = matchingChains(store, this.search.value)
      .filter((id) => this.#passes(store.state.chains[id]))
      .sort((a, b) => this.#compare(a, b));
    this.count.textContent = `${ids.length} of ${counted(total, "chain")}`;
    const showAll = () => {
      this.#most = Infinity;
      this.refresh();
    };
    const more = () => make("li", {}, button(`Show all ${ids.length}`, showAll, { kind: "quiet" }));
    const items = ids.slice(0, this.#most).map((id) => this.#item(id));
    fill(this.list, ...items, ids.length > this.#most ? more() : null);
  }

  /** @param {Chain} chain */
  #passes(chain) {
    return this.filter.value === "all" || chain.decided === (this.filter.value === "decided");
  }

  /**
   * @param {ChainId} a
   * @param {ChainId} b
   */
  #compare(a, b) {
    const { chains } = this.app.store.state;
    if (this.order.value === "size") return chains[b].mentions.length - chains[a].mentions.length;
    if (this.order.value === "number") return a.localeCompare(b, "en", { numeric: true });
    return spanOf(chains[a].mentions[0]).start - spanOf(chains[b].mentions[0]).start;
  }

  /** @param {ChainId} id */
  #item(id) {
    const { store } = this.app;
    const chain = store.state.chains[id];
    const unfolded = this.#unfolded === id;
    const toggle = () => {
      this.#unfolded = unfolded ? null : id;
      this.refresh();
    };
    const head = make(
      "button",
      {
        type: "button",
        class: "chain-head",
        title: `${counted(chain.mentions.length, "mention")}${chain.decided ? ", all enforced" : ""}`,
        "aria-expanded": String(unfolded),
        data: { focusKey: `chain ${id}` },
        on: { click: toggle },
      },
      chip(id),
      make("bdi", { class: "gist" }, gist(store, id)),
      chain.type ? make("bdi", { class: "tag" }, chain.type) : null,
      make("span", { class: "soft" }, `${chain.decided ? "= " : ""}${chain.mentions.length}`),
    );
    return make("li", { data: { chain: id } }, head, unfolded ? this.#body(chain) : null);
  }

  /** @param {Chain} chain */
  #body(chain) {
    const { store, selection, actions, goTo } = this.app;
    const [first] = chain.mentions;
    /** @type {(label: string, act: () => unknown, key?: string) => HTMLElement} */
    const onChain = (label, act, key) =>
      button(
        label,
        () => {
          selection.select([]);
          selection.goTo(first);
          act();
        },
        { key },
      );
    return make(
      "div",
      { class: "chain-body" },
      make(
        "div",
        { class: "buttons" },
        chain.decided ? null : onChain("Accept as it is", () => actions.accept()),
        onChain("Merge with …", () => actions.merge()),
        onChain("Name …", () => actions.name(), "N"),
        onChain("Select all", () => selection.select(chain.mentions)),
      ),
      ...chain.mentions.map((mention) => snippet(store, mention, goTo)),
    );
  }
}
