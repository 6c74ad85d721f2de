/** Dialogs: native ones, so that the keyboard stays inside and Escape closes them. */
import { around, button, fill, find, make } from "./dom.js";
import { chip, counted, gist, isolated, matchingChains } from "./labels.js";
/** @import { Store } from "../state/store.js" */
/** @import { ChainId } from "../state/types.js" */
/** @import { Child } from "./dom.js" */

const MOST_CHAINS = 60;

/**
 * Open a dialog with a title and content, and return its element. When it closes it is removed, the keyboard
 * returns to where it was, and then `closed` is called, which may move it elsewhere.
 * @param {string} title
 * @param {HTMLElement} content
 * @param {{ kind?: string, role?: string, closed?: () => unknown }} options
 */
export function openDialog(title, content, { kind = "", role, closed = () => {} } = {}) {
  const previous = document.activeElement;
  const heading = make("h2", { id: "dialog-title" }, ...isolated(title));
  const close = button("Close", () => dialog.close(), { kind: "quiet", key: "Esc" });
  const dialog = make(
    "dialog",
    { class: kind, role, "aria-labelledby": "dialog-title" },
    make("div", { class: "dialog-head" }, heading, close),
    content,
  );
  dialog.addEventListener("close", () => {
    const active = document.activeElement;
    // The event comes a moment after the dialog is gone; a key may have led elsewhere meanwhile.
    const isHere = active === null || active === document.body || dialog.contains(active);
    dialog.remove();
    if (isHere && previous instanceof HTMLElement && previous.isConnected) {
      previous.focus({ preventScroll: true });
    }
    closed();
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Return whether a dialog is open. */
export const isDialogOpen = () => document.querySelector("dialog[open]") !== null;

/**
 * Ask for some fields; `done` is called after the dialog closed, unless it was cancelled.
 * @param {string} title
 * @param {Child[]} content
 * @param {() => unknown} done
 */
export function askForm(title, content, done, { submit = "OK" } = {}) {
  const confirm = make("button", { class: "strong", type: "submit" }, submit);
  const form = make(
    "form",
    { method: "dialog", class: "fields" },
    ...content,
    make("div", { class: "buttons" }, confirm),
  );
  let isSubmitted = false;
  form.addEventListener("submit", () => {
    isSubmitted = true;
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  openDialog(title, form, { kind: "small", closed: () => isSubmitted && done() });
  find(form, "input, select, textarea")?.focus();
}

/**
 * Make the label of a field, and the field below it.
 * @param {string} label
 * @param {HTMLElement} field
 */
export const labelled = (label, field) => [make("label", { for: field.id }, label), field];

/**
 * Make a field for a line of text, and the list of values that it offers.
 * @param {string} id
 * @param {string} value
 * @param {string[]} offered
 */
export function lineField(id, value, offered = [], longest = 200) {
  const options = [...new Set(offered)].filter(Boolean).map((known) => make("option", { value: known }));
  const attributes = { type: "text", id, value, maxlength: longest, autocomplete: "off" };
  const field = make("input", { ...attributes, list: options.length ? `${id}-values` : null });
  return { field, list: make("datalist", { id: `${id}-values` }, ...options) };
}

/**
 * Ask for text or a number; `done` is called with it unless it is empty or the dialog was cancelled.
 * @param {string} title
 * @param {string} label
 * @param {(text: string) => unknown} done
 */
export function askText(title, label, done, { number = false } = {}) {
  const field = number
    ? make("input", { type: "number", min: "1", id: "asked-text" })
    : make("textarea", { rows: "4", id: "asked-text" });
  askForm(title, labelled(label, field), () => field.value.trim() && done(field.value.trim()));
}

/**
 * Ask for a chain and call `done` with it, or with null for `other`, a choice offered before the chains: type a
 * number or words, move in the list with the arrow keys, take a chain with Enter.
 * Chains in `first` are listed first while nothing was typed, chains in `except` not at all.
 * @param {Store} store
 * @param {string} title
 * @param {(chain: ChainId | null) => unknown} done
 * @param {{ other?: string | null, except?: ChainId[], first?: ChainId[] }} options
 */
export function askChain(store, title, done, { other = null, except = [], first = [] } = {}) {
  const chooser = new ChainChooser(store, other, (typed) => {
    const near = typed ? [] : first.filter((id) => store.chain(id));
    const chains = new Set([...near, ...matchingChains(store, typed)]);
    const offered = [...chains].filter((id) => !except.includes(id)).slice(0, MOST_CHAINS);
    return other !== null && !typed ? [null, ...offered] : offered;
  });
  const dialog = openDialog(title, make("div", {}, chooser.field, chooser.list), {
    kind: "chooser",
    closed: () => chooser.taken !== undefined && done(chooser.taken),
  });
  chooser.onTaken = () => dialog.close();
  chooser.field.focus();
}

class ChainChooser {
  #current = 0;
  /** @type {(ChainId | null)[]} */
  #choices = [];
  /** @type {ChainId | null | undefined} */
  taken = undefined;
  onTaken = () => {};

  /**
   * @param {Store} store
   * @param {string | null} other what null is called
   * @param {(typed: string) => (ChainId | null)[]} choicesFor
   */
  constructor(store, other, choicesFor) {
    this.store = store;
    this.other = other;
    this.choicesFor = choicesFor;
    this.list = make("ul", { role: "listbox", id: "chain-list", "aria-label": "Entities", class: "options" });
    this.field = make("input", {
      type: "text",
      role: "combobox",
      "aria-expanded": "true",
      "aria-controls": "chain-list",
      "aria-autocomplete": "list",
      autocomplete: "off",
      "aria-label": "Number or words of the entity",
      placeholder: "number or words",
    });
    this.field.addEventListener("input", () => this.#show());
    this.field.addEventListener("keydown", (event) => this.#onKey(event));
    this.list.addEventListener("click", (event) => {
      const item = around(event, "[role=option]");
      if (item) this.#take([...this.list.children].indexOf(item));
    });
    this.#show();
  }

  #show() {
    this.#choices = this.choicesFor(this.field.value.trim());
    const items = this.#choices.map((chain, i) => this.#option(chain, i));
    fill(this.list, ...items, items.length ? null : make("li", { class: "soft" }, "No entity matches."));
    this.#point(0);
  }

  /** @param {number} index */
  #point(index) {
    this.#current = index;
    [...this.list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === index)));
    this.field.setAttribute("aria-activedescendant", this.#choices.length ? `option-${index}` : "");
    this.list.children[index]?.scrollIntoView({ block: "nearest" });
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (!step && event.key !== "Enter") return;
    event.preventDefault();
    const count = this.#choices.length;
    if (step) this.#point((this.#current + step + count) % Math.max(count, 1));
    else this.#take(this.#current);
  }

  /** @param {number} index */
  #take(index) {
    if (index >= this.#choices.length) return;
    this.taken = this.#choices[index];
    this.onTaken();
  }

  /**
   * @param {ChainId | null} chain
   * @param {number} index
   */
  #option(chain, index) {
    const { store } = this;
    const content =
      chain === null
        ? [make("b", {}, this.other)]
        : [
            chip(chain),
            make("bdi", { class: "gist" }, gist(store, chain)),
            make("span", { class: "soft" }, counted(store.chain(chain)?.mentions.length ?? 0, "mention")),
          ];
    return make("li", { role: "option", id: `option-${index}` }, ...content);
  }
}
