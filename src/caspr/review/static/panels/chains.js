/** The list of chains, with search, filter and order. */
import { spanOf } from "../state/spans.js";
import { chip, gist, matchingChains } from "../ui/chain_label.js";
import { around, button, fill, find, make, menu } from "../ui/dom.js";
import { snippet } from "../ui/snippet.js";
import { counted } from "../ui/words.js";
import { Panel } from "./panel.js";
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
      "aria-label": "Search chains",
      on: { input: restart },
    });
    this.filter = menu("Which chains", FILTERS, restart);
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
    const found = matchingChains(store, this.search.value)
      .filter((id) => this.#passes(store.state.chains[id]))
      .sort((one, other) => this.#compare(one, other));
    this.count.textContent = `${found.length} of ${counted(total, "chain")}`;
    const showAll = () => {
      this.#most = Infinity;
      this.refresh();
    };
    const more =
      found.length > this.#most
        ? make("li", {}, button(`Show all ${found.length}`, showAll, { kind: "quiet" }))
        : null;
    fill(this.list, ...found.slice(0, this.#most).map((id) => this.#item(id)), more);
  }

  /** @param {Chain} chain */
  #passes(chain) {
    return this.filter.value === "all" || chain.decided === (this.filter.value === "decided");
  }

  /**
   * @param {ChainId} one
   * @param {ChainId} other
   */
  #compare(one, other) {
    const { chains } = this.app.store.state;
    const [first, second] = [chains[one].mentions, chains[other].mentions];
    if (this.order.value === "size") return second.length - first.length;
    if (this.order.value === "number") return one.localeCompare(other, "en", { numeric: true });
    return spanOf(first[0]).start - spanOf(second[0]).start;
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
    /** @type {(act: () => unknown) => () => void} */
    const onChain = (act) => () => {
      selection.select([]);
      selection.goTo(first);
      act();
    };
    const selectAll = () => {
      selection.goTo(first);
      selection.select(chain.mentions);
    };
    return make(
      "div",
      { class: "chain-body" },
      make(
        "div",
        { class: "buttons" },
        chain.decided
          ? null
          : button(
              "Accept as it stands",
              onChain(() => actions.accept()),
            ),
        button(
          "Merge with …",
          onChain(() => actions.merge()),
        ),
        button(
          "Name …",
          onChain(() => actions.name()),
          { key: "N" },
        ),
        button("Select all", selectAll),
      ),
      ...chain.mentions.map((mention) => snippet(store, mention, goTo)),
    );
  }
}
