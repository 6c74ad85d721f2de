/** The list of documents: who is to do which. */
import { openDialog } from "./ui/dialog.js";
import { around, byId, make } from "./ui/dom.js";

const csrf = document.querySelector("meta[name=csrf]")?.getAttribute("content") ?? "";
/** @type {string[]} */
const names = JSON.parse(byId("names").textContent ?? "[]");

/**
 * Ask who is to do a document, and tell the server.
 * @param {HTMLElement} opener the button of the document
 * @param {string} number
 */
function askName(opener, number) {
  const now = opener.dataset.assign ?? "";
  const field = names.length
    ? make(
        "select",
        { id: "assignee" },
        make("option", { value: "" }, "nobody"),
        ...names.map((name) => make("option", { value: name, selected: name === now }, name)),
      )
    : make("input", { type: "text", id: "assignee", value: now, maxlength: "200", autocomplete: "off" });
  const form = make(
    "form",
    { method: "dialog" },
    make(
      "label",
      { for: "assignee" },
      names.length ? "Who is to do it" : "Who is to do it; empty for nobody",
    ),
    field,
    make("div", { class: "buttons" }, make("button", { class: "strong", type: "submit" }, "Assign")),
  );
  form.addEventListener("submit", () => assign(opener, number, field.value.trim()));
  openDialog("Assign the document", form, { kind: "small" });
  field.focus();
}

/**
 * @param {HTMLElement} opener
 * @param {string} number
 * @param {string} who
 */
async function assign(opener, number, who) {
  const headers = { "Content-Type": "application/json", "X-CSRF": csrf };
  const body = JSON.stringify({ who });
  try {
    const answer = await fetch(`/d/${number}/assign`, {
      method: "POST",
      headers,
      body,
      credentials: "same-origin",
    });
    if (!answer.ok) throw new Error((await answer.json()).error);
    opener.dataset.assign = who;
    opener.textContent = who || "assign …";
    opener.setAttribute("aria-label", `${opener.dataset.title}: ${who ? `assigned to ${who}` : "assign"}`);
  } catch (error) {
    opener.textContent = `not assigned: ${error instanceof Error ? error.message : "no answer"}`;
  }
}

document.addEventListener("click", (event) => {
  const opener = around(event, "[data-assign]");
  const row = around(event, "[data-document]");
  if (opener && row) askName(opener, row.dataset.document ?? "");
});
document.documentElement.dataset.ready = "yes";
