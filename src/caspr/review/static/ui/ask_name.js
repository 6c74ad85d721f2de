/** Dialogs for the name and the type of an entity. */
import { gist } from "./chain_label.js";
import { openDialog } from "./dialog.js";
import { button, make } from "./dom.js";
import { chainTitle } from "./words.js";
/** @import { App } from "../app.js" */
/** @import { ChainId } from "../state/types.js" */

const LONGEST = "200";

/**
 * Ask what the entity of a chain is called and of what type it is, and decide so.
 * @param {App} app
 * @param {ChainId} chain
 */
export function askName(app, chain) {
  const { store } = app;
  const known = store.chain(chain);
  if (!known) return;
  const name = make("input", { type: "text", id: "entity-name", maxlength: LONGEST, autocomplete: "off" });
  const type = make("input", { type: "text", id: "entity-type", maxlength: LONGEST, list: "entity-types" });
  [name.value, type.value] = [known.name, known.type];
  const types = [...new Set(Object.values(store.state.chains).map((one) => one.type))].filter(Boolean).sort();
  const form = make(
    "form",
    { method: "dialog", class: "fields" },
    make("p", { class: "soft" }, make("bdi", {}, gist(store, chain))),
    make("label", { for: "entity-name" }, "Name"),
    name,
    make("label", { for: "entity-type" }, "Type"),
    type,
    make("datalist", { id: "entity-types" }, ...types.map((value) => make("option", { value }))),
    make("div", { class: "buttons" }, make("button", { class: "strong", type: "submit" }, "OK")),
  );
  let taken = false;
  form.addEventListener("submit", () => {
    taken = true;
  });
  openDialog(`Name of entity ${chainTitle(chain)}`, form, {
    kind: "small",
    closed: () => {
      const changed = name.value.trim() !== known.name || type.value.trim() !== known.type;
      if (taken && changed) app.act({ do: "name", chain, name: name.value, type: type.value });
    },
  });
  name.focus();
  name.select();
}

/**
 * Ask which of several names merged entities keep, and call `done` with the chain that has it.
 * @param {[name: string, chain: ChainId][]} names
 * @param {(chain: ChainId) => unknown} done
 */
export function askKeptName(names, done) {
  /** @type {ChainId | null} */
  let taken = null;
  const choices = names.map(([name, chain]) =>
    button(name, () => {
      taken = chain;
      dialog.close();
    }),
  );
  const dialog = openDialog("Which name do they keep?", make("div", { class: "buttons" }, ...choices), {
    kind: "small",
    closed: () => {
      if (taken !== null) done(taken);
    },
  });
  choices[0].focus();
}
