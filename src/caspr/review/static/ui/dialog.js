/** Dialogs: native ones, so that the keyboard stays inside and Escape closes them. */
import { button, make } from "./dom.js";

/**
 * Open a dialog with a title and content; answers the element. When it closes it is removed, the keyboard goes
 * back to where it was, and then `closed` is called, which may send it elsewhere.
 */
export function open(title, content, { kind = "", role = null, closed = () => {} } = {}) {
  const back = document.activeElement;
  const heading = make("h2", { id: "dialog-title" }, title);
  const shut = button("Close", () => dialog.close(), { kind: "quiet", key: "Esc" });
  const dialog = make(
    "dialog",
    { class: kind, role, "aria-labelledby": "dialog-title" },
    make("div", { class: "dialog-head" }, heading, shut),
    content,
  );
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (back?.isConnected) back.focus({ preventScroll: true });
    closed();
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Tell whether a dialog is open. */
export const isOpen = () => document.querySelector("dialog[open]") !== null;

/** Ask for a line or more of text; calls `done` with it unless it is empty or the dialog was left. */
export function askText(title, label, done, { value = "", number = false } = {}) {
  const field = number
    ? make("input", { type: "number", min: "1", id: "asked-text", value })
    : make("textarea", { rows: "4", id: "asked-text" }, value);
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
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  open(title, form, {
    kind: "small",
    closed: () => {
      if (given) done(given);
    },
  });
  field.focus();
}
