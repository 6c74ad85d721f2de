/** A dialog to choose a chain: type a number or words, move in the list with the arrow keys, take one with Enter. */
import { chip, gist, matchingChains } from "./chain_label.js";
import { openDialog } from "./dialog.js";
import { around, make } from "./dom.js";
import { counted } from "./words.js";
/** @import { Store } from "../state/store.js" */
/** @import { ChainId } from "../state/types.js" */

const MOST = 60;

/**
 * Ask for a chain and call `done` with it, or with null for `other`, a choice offered before the chains.
 * Chains in `first` are listed first while nothing was typed, chains in `except` not at all.
 * @param {Store} store
 * @param {string} title
 * @param {(chain: ChainId | null) => unknown} done
 * @param {{ other?: string | null, except?: ChainId[], first?: ChainId[] }} options
 */
export function askChain(store, title, done, { other = null, except = [], first = [] } = {}) {
  let current = 0;
  /** @type {(ChainId | null)[]} */
  let choices = [];
  /** @type {ChainId | null | undefined} */
  let taken;
  const list = make("ul", { role: "listbox", id: "chain-list", "aria-label": "Chains", class: "options" });
  const field = make("input", {
    type: "text",
    role: "combobox",
    "aria-expanded": "true",
    "aria-controls": "chain-list",
    "aria-autocomplete": "list",
    autocomplete: "off",
    "aria-label": "Number or words of the chain",
    placeholder: "number or words",
  });
  const show = () => {
    const typed = field.value.trim();
    const near = typed ? [] : first.filter((id) => store.chain(id));
    const found = new Set([...near, ...matchingChains(store, typed)]);
    choices = [...found].filter((id) => !except.includes(id)).slice(0, MOST);
    if (other !== null && !typed) choices.unshift(null);
    current = Math.min(current, Math.max(choices.length - 1, 0));
    list.replaceChildren(...choices.map((chain, i) => option(store, chain ?? null, other ?? "", i)));
    if (!choices.length) list.append(make("li", { class: "soft" }, "No chain matches."));
    point();
  };
  const point = () => {
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === current)));
    field.setAttribute("aria-activedescendant", choices.length ? `option-${current}` : "");
    list.children[current]?.scrollIntoView({ block: "nearest" });
  };
  /** @param {number} i */
  const take = (i) => {
    if (i >= choices.length) return;
    taken = choices[i];
    dialog.close();
  };
  field.addEventListener("input", () => {
    current = 0;
    show();
  });
  field.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (!step && event.key !== "Enter") return;
    event.preventDefault();
    if (step) {
      current = (current + step + choices.length) % Math.max(choices.length, 1);
      point();
    } else take(current);
  });
  list.addEventListener("click", (event) => {
    const item = around(event, "[role=option]");
    if (item) take([...list.children].indexOf(item));
  });
  const dialog = openDialog(title, make("div", {}, field, list), {
    kind: "chooser",
    closed: () => {
      if (taken !== undefined) done(taken);
    },
  });
  show();
  field.focus();
}

/**
 * @param {Store} store
 * @param {ChainId | null} chain
 * @param {string} other
 * @param {number} number
 */
function option(store, chain, other, number) {
  const body =
    chain === null
      ? [make("b", {}, other)]
      : [
          chip(chain),
          make("bdi", { class: "gist" }, gist(store, chain)),
          make("span", { class: "soft" }, counted(store.chain(chain)?.mentions.length ?? 0, "mention")),
        ];
  return make("li", { role: "option", id: `option-${number}` }, ...body);
}
