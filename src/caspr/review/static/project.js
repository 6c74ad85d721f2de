/** The list of documents: who should do which. */
import { askForm, labelled, lineField } from "./ui/dialogs.js";
import { around, byId, menu } from "./ui/dom.js";

const csrf = document.querySelector("meta[name=csrf]")?.getAttribute("content") ?? "";
/** @type {string[]} */
const names = JSON.parse(byId("names").textContent ?? "[]");

/**
 * Ask who should do a document, and tell the server.
 * @param {HTMLElement} opener the button of the document
 * @param {string} number
 */
function askAssignee(opener, number) {
  const now = opener.dataset.assign ?? "";
  const labels = { "": "nobody", ...Object.fromEntries(names.map((name) => [name, name])) };
  const field = names.length ? menu(null, labels, () => {}) : lineField("assignee", now).field;
  field.id = "assignee";
  field.value = names.length && !names.includes(now) ? "" : now;
  const label = names.length ? "Who should do it?" : "Who should do it? Leave empty for nobody.";
  const done = () => assign(opener, number, field.value.trim());
  askForm("Assign the document", labelled(label, field), done, { submit: "Assign" });
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
    const answer = await fetch(`/d/${number}/assign`, { method: "POST", headers, body });
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
  if (opener && row) askAssignee(opener, row.dataset.document ?? "");
});
document.documentElement.dataset.ready = "yes";
