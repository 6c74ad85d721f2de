/** Short labels of a chain: its coloured number, and its words. */
import { colour } from "../text/colours.js";
import { make } from "./dom.js";
import { lookup } from "./lookup.js";
/** @import { Store } from "../state/store.js" */
/** @import { ChainId } from "../state/types.js" */

/**
 * Make the coloured number of a chain, with the name of the entity if it has one.
 * @param {ChainId | null | undefined} chain
 */
export function chip(chain) {
  if (chain == null) return make("span", { class: "chip none" }, "–");
  const name = lookup.name(chain);
  const named = name ? make("bdi", { class: "entity-name", title: name }, ` ${name}`) : null;
  return make("span", { class: `chip ${colour(chain)}` }, chain, named);
}

/**
 * Return the first different words of the mentions of a chain.
 * @param {Store} store
 * @param {ChainId} chain
 */
export function gist(store, chain, most = 4) {
  const mentions = store.chain(chain)?.mentions ?? [];
  const words = [...new Set(mentions.slice(0, 40).map((id) => store.words(id, 40)))];
  return words.slice(0, most).join(" · ") + (words.length > most ? " …" : "");
}

/**
 * Return the chains whose number, name, type or words contain a text; exact numbers first.
 * @param {Store} store
 * @param {string} wanted
 */
export function matchingChains(store, wanted) {
  const text = wanted.trim().toLowerCase();
  const { chains } = store.state;
  const ids = Object.keys(chains);
  if (!text) return ids;
  /** @param {ChainId} id */
  const rank = (id) => (id.toLowerCase() === text ? 0 : 1);
  return ids
    .filter(
      (id) =>
        id.toLowerCase().startsWith(text) ||
        `${chains[id].name} ${chains[id].type}`.toLowerCase().includes(text) ||
        chains[id].mentions.some((mention) => store.words(mention, 200).toLowerCase().includes(text)),
    )
    .sort((one, other) => rank(one) - rank(other));
}
