/** Dialogs: native ones, so that the keyboard stays inside and Escape closes them. */
import { button, make } from "./dom.js";

/**
 * Open a dialog with a title and content, and return its element. When it closes it is removed, the keyboard
 * returns to where it was, and then `closed` is called, which may move it elsewhere.
 * @param {string} title
 * @param {HTMLElement} content
 * @param {{ kind?: string, role?: string, closed?: () => void }} options
 */
export function openDialog(title, content, { kind = "", role, closed = () => {} } = {}) {
  const previous = document.activeElement;
  const heading = make("h2", { id: "dialog-title" }, title);
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
 * Ask for text or a number; `done` is called with it unless it is empty or the dialog was cancelled.
 * @param {string} title
 * @param {string} label
 * @param {(text: string) => unknown} done
 */
export function askText(title, label, done, { number = false } = {}) {
  const field = number
    ? make("input", { type: "number", min: "1", id: "asked-text" })
    : make("textarea", { rows: "4", id: "asked-text" });
  const form = make(
    "form",
    { method: "dialog" },
    make("label", { for: "asked-text" }, label),
    field,
    make("div", { class: "buttons" }, make("button", { class: "strong", type: "submit" }, "OK")),
  );
  let given = "";
  form.addEventListener("submit", () => {
    given = field.value.trim();
  });
  form.addEventListener("keydown", (event) => {
    if (event.target === field && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      form.requestSubmit();
    }
  });
  openDialog(title, form, {
    kind: "small",
    closed: () => {
      if (given) done(given);
    },
  });
  field.focus();
}
