/** Choose a chain: type a number or words, walk the list with the arrows, Enter takes it. */
import { colour } from "../text/colours.js";
import { make } from "./dom.js";
import { open } from "./dialog.js";
import { times } from "./words.js";

const MOST = 60;

/** Make the coloured number of a chain. */
export const chip = (chain) =>
  chain === null || chain === undefined
    ? make("span", { class: "chip none" }, "–")
    : make("span", { class: `chip ${colour(chain)}` }, String(chain));

/** Return the different words of a chain's mentions, the longest of the first ones in front. */
export function gist(store, chain, most = 4) {
  const words = [
    ...new Set((store.chain(chain)?.mentions ?? []).slice(0, 40).map((id) => store.words(id, 40))),
  ];
  return words.slice(0, most).join(" · ") + (words.length > most ? " …" : "");
}

/** Return the chains whose number or words hold a text; exact numbers first. */
export function matching(store, wanted) {
  const text = wanted.trim().toLowerCase();
  const ids = Object.keys(store.state.chains);
  if (!text) return ids;
  const holds = (id) =>
    store.state.chains[id].mentions.some((m) => store.words(m, 200).toLowerCase().includes(text));
  const found = ids.filter((id) => id.toLowerCase().startsWith(text) || holds(id));
  return found.sort((one, other) => (other.toLowerCase() === text) - (one.toLowerCase() === text));
}

/**
 * Ask for a chain. `extra` are choices before the chains, as `[label, value]`; `except` are chains not offered.
 * `first` is what is offered first when nothing was typed.
 */
export function askChain(store, title, done, { extra = [], except = [], first = [] } = {}) {
  let at = 0;
  let choices = [];
  let taken = null;
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
    const near = field.value.trim() ? [] : first.filter((id) => store.chain(id));
    const ids = [...new Set([...near, ...matching(store, field.value)])].filter((id) => !except.includes(id));
    choices = [...(field.value.trim() ? [] : extra), ...ids.slice(0, MOST).map((id) => [id, id])];
    at = Math.min(at, Math.max(choices.length - 1, 0));
    list.replaceChildren(...choices.map(([label, value], i) => option(store, label, value, i, extra)));
    if (!choices.length) list.append(make("li", { class: "soft" }, "No chain has that."));
    point();
  };
  const point = () => {
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === at)));
    field.setAttribute("aria-activedescendant", choices.length ? `option-${at}` : "");
    list.children[at]?.scrollIntoView({ block: "nearest" });
  };
  const take = (i) => {
    if (!choices[i]) return;
    taken = choices[i];
    dialog.close();
  };
  field.addEventListener("input", () => {
    at = 0;
    show();
  });
  field.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      at = (at + step + choices.length) % Math.max(choices.length, 1);
      point();
    }
    if (event.key === "Enter") {
      event.preventDefault();
      take(at);
    }
  });
  list.addEventListener("click", (event) => {
    const item = event.target.closest("[role=option]");
    if (item) take([...list.children].indexOf(item));
  });
  const dialog = open(title, make("div", {}, field, list), {
    kind: "chooser",
    closed: () => {
      if (taken) done(taken[1]);
    },
  });
  show();
  field.focus();
}

function option(store, label, value, number, extra) {
  const plain = extra.some(([, other]) => other === value);
  const body = plain
    ? [make("b", {}, label)]
    : [
        chip(value),
        make("bdi", { class: "gist" }, gist(store, value)),
        make("span", { class: "soft" }, times(store.chain(value).mentions.length, "mention")),
      ];
  return make("li", { role: "option", id: `option-${number}` }, ...body);
}
