/** What is printed below the text: its entities, flags and notes. */
import { byId, fill, make } from "../ui/dom.js";
import { chip, counted, lineLabel } from "../ui/labels.js";
/** @import { Store } from "../state/store.js" */
/** @import { Note } from "../state/types.js" */

const SHOWN = 12;

/** @param {Store} store */
export function listenToPrint(store) {
  const place = byId("printed");
  addEventListener("beforeprint", () => {
    const notes = store.state.notes.map((note) => make("li", {}, ...said(store, note)));
    const title = store.state.done ? "Entities" : "Entities (the document is not done yet)";
    fill(
      place,
      make("h2", {}, title),
      make("ul", {}, ...Object.keys(store.state.chains).map((chain) => entity(store, chain))),
      notes.length ? make("h2", {}, "Flags and notes") : null,
      notes.length ? make("ul", {}, ...notes) : null,
    );
  });
  addEventListener("afterprint", () => fill(place));
}

/**
 * @param {Store} store
 * @param {string} id
 */
function entity(store, id) {
  const chain = store.chain(id);
  const mentions = chain?.mentions ?? [];
  const words = [...new Set(mentions.map((mention) => store.words(mention, 60)))];
  const more = words.length > SHOWN ? " …" : "";
  return make(
    "li",
    {},
    chip(id),
    " ",
    chain?.name ? make("b", {}, make("bdi", {}, chain.name), " ") : null,
    make("span", { class: "soft" }, counted(mentions.length, "mention"), ": "),
    make("bdi", {}, `${words.slice(0, SHOWN).join(" · ")}${more}`),
  );
}

/**
 * @param {Store} store
 * @param {Note} note
 */
function said(store, note) {
  return [
    note.mention
      ? make("span", {}, make("q", {}, store.words(note.mention, 60)), ` (${lineLabel(note.mention)}) `)
      : null,
    note.flag ? make("b", {}, make("bdi", {}, note.flag), " ") : null,
    make("bdi", {}, note.text),
    note.by ? make("span", { class: "soft" }, ` ${note.by}`) : null,
  ];
}
