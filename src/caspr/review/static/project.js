/** The overview: who should do which documents, and who annotated them. */
import { askForm, labelled, lineField, openDialog } from "./ui/dialogs.js";
import { around, button, byId, fill, find, make, menu } from "./ui/dom.js";
import { closeMenu, listenToMenus } from "./ui/menus.js";

const csrf = document.querySelector("meta[name=csrf]")?.getAttribute("content") ?? "";
/** @type {string[]} */
const names = JSON.parse(byId("names").textContent ?? "[]");
const boxes = /** @type {HTMLInputElement[]} */ ([...document.querySelectorAll("[data-choose]")]);
const MOST_LINES = 40;

/**
 * Send something to the server and return what it answers; raise an error with what is wrong.
 * @param {string} path
 * @param {object} values
 */
async function post(path, values) {
  const headers = { "Content-Type": "application/json", "X-CSRF": csrf };
  const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify(values) });
  const said = await answer.json().catch(() => ({ error: "The server refused this." }));
  if (!answer.ok) throw new Error(said.error);
  return said;
}

/**
 * Show what is wrong in a dialog.
 * @param {string} title
 * @param {unknown} error
 */
function showError(title, error) {
  const said = error instanceof Error ? error.message : "The server does not answer.";
  openDialog(title, make("p", { role: "alert" }, said), { kind: "small" });
}

// Documents that are chosen, to be assigned together.

const chosen = () => boxes.filter((box) => box.checked);
/** @type {HTMLInputElement | null} */
let lastBox = null;

function showChosen() {
  const number = chosen().length;
  for (const box of boxes) rowOf(box).toggleAttribute("data-chosen", box.checked);
  byId("chosen-bar").hidden = number === 0;
  byId("chosen-count").textContent = `${number} ${number === 1 ? "document" : "documents"} chosen`;
  const all = byId("choose-all", HTMLInputElement);
  all.checked = number === boxes.length;
  all.indeterminate = number > 0 && number < boxes.length;
}

/** @param {HTMLElement} box */
const rowOf = (box) => /** @type {HTMLElement} */ (box.closest("tr"));

/**
 * Choose a document, with Shift also those between it and the last one.
 * @param {HTMLInputElement} box
 * @param {boolean} many
 */
function choose(box, many) {
  if (many && lastBox) {
    const ends = [boxes.indexOf(lastBox), boxes.indexOf(box)].sort((a, b) => a - b);
    for (const between of boxes.slice(ends[0], ends[1] + 1)) between.checked = box.checked;
  }
  lastBox = box;
  showChosen();
}

/** Ask who should do the chosen documents, and tell the server. */
function askAssignee() {
  const documents = chosen().map((box) => Number(rowOf(box).dataset.document));
  const labels = { "": "nobody", ...Object.fromEntries(names.map((name) => [name, name])) };
  const field = names.length ? menu(null, labels, () => {}) : lineField("assignee", "").field;
  field.id = "assignee";
  const label = names.length ? "Who should do them?" : "Who should do them? Leave empty for nobody.";
  const done = async () => {
    try {
      await post("/assign", { documents, who: field.value.trim() });
      location.reload();
    } catch (error) {
      showError("Not assigned", error);
    }
  };
  const title = documents.length === 1 ? "Assign the document" : `Assign ${documents.length} documents`;
  askForm(title, labelled(label, field), done, { submit: "Assign" });
}

// Annotators.

/** @typedef {{ do: string, name: string, to?: string, files?: Record<string, string>, certain?: boolean }} Change */

/**
 * Change the annotators; where new annotations look like corrected ones, ask whose they are.
 * @param {Change} change
 */
async function changeAnnotators(change) {
  fill(byId("annotators-said"), make("p", {}, "This may take a while: every document is optimised again …"));
  try {
    const said = await post("/annotators", change);
    if (said.asks) askWhose(change, said);
    else showChanged(said);
  } catch (error) {
    fill(byId("annotators-said"));
    showError("Nothing was changed", error);
  }
}

/**
 * @param {Change} change
 * @param {{ asks: string, old: string, new: string }} said
 */
function askWhose(change, said) {
  fill(byId("annotators-said"));
  const answer = (/** @type {string} */ name) => () => {
    dialog.close();
    changeAnnotators({ ...change, name, certain: true });
  };
  const content = make(
    "div",
    {},
    make("p", {}, `${said.asks}. Whose annotations are these?`),
    make(
      "div",
      { class: "buttons" },
      button(`Those of ${said.old}, corrected`, answer(said.old), { kind: "strong" }),
      button(`Those of one more annotator, ${said.new}`, answer(said.new)),
    ),
  );
  const dialog = openDialog("Corrected annotations?", content, { kind: "small" });
}

/**
 * Say what changed, keep that over the reload that shows the new list, and offer to undo it.
 * @param {{ lines: string[], documents: number[] }} said
 */
function showChanged(said) {
  sessionStorage.setItem("annotators-said", JSON.stringify(said));
  location.reload();
}

function showLastChange() {
  const kept = sessionStorage.getItem("annotators-said");
  const place = document.getElementById("annotators-said");
  if (!kept || !place) return;
  sessionStorage.removeItem("annotators-said");
  /** @type {{ lines: string[], documents: number[], undone?: boolean }} */
  const said = JSON.parse(kept);
  const lines = said.lines.slice(0, MOST_LINES).map((line) => make("li", {}, make("bdi", {}, line)));
  const more = said.lines.length - lines.length;
  const undo = () => undoChange(said.documents);
  fill(
    place,
    said.undone ? make("p", {}, "Undone. Annotators and decisions are as they were.") : null,
    lines.length ? make("ul", {}, ...lines) : null,
    more > 0 ? make("p", {}, `and ${more} more lines`) : null,
    said.documents.length && !said.undone ? button("Undo", undo) : null,
  );
  place.scrollIntoView({ block: "nearest" });
}

/** @param {number[]} documents */
async function undoChange(documents) {
  try {
    const said = await post("/annotators", { do: "undo", documents });
    showChanged({ ...said, undone: true });
  } catch (error) {
    showError("Not undone", error);
  }
}

/**
 * Ask for the files of an annotator, and whose they are unless that is known.
 * @param {string | null} name
 */
function askFiles(name) {
  const files = make("input", { type: "file", id: "files", multiple: true, required: true });
  const { field } = lineField("annotator-name", name ?? "");
  field.required = true;
  files.addEventListener("change", () => {
    const first = files.files?.[0]?.name ?? "";
    if (name === null && !field.value) field.value = first.replace(/\.[^.]*$/, "");
  });
  const done = async () => {
    try {
      const content = Object.fromEntries(await Promise.all([...(files.files ?? [])].map(encoded)));
      await changeAnnotators({ do: "add", name: field.value.trim(), files: content, certain: name !== null });
    } catch (error) {
      showError("Nothing was changed", error);
    }
  };
  const who = name === null ? labelled("Name of the annotator", field) : [];
  const title = name === null ? "Add an annotator" : `Corrected annotations of ${name}`;
  const said = "All decisions stay, and what no longer fits is listed. This can be undone.";
  askForm(title, [...labelled("Files", files), ...who, make("p", { class: "soft" }, said)], done, {
    submit: name === null ? "Add" : "Replace",
  });
}

/**
 * Return the name of a file and its content as base64.
 * @param {File} file
 * @returns {Promise<[string, string]>}
 */
async function encoded(file) {
  const reader = new FileReader();
  const read = new Promise((resolve, reject) => {
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new Error(`${file.name} cannot be read.`));
  });
  reader.readAsDataURL(file);
  return [file.name, String(await read).replace(/^[^,]*,/, "")];
}

/** @param {string} name */
function askName(name) {
  const { field } = lineField("annotator-name", name);
  const done = () => changeAnnotators({ do: "rename", name, to: field.value.trim() });
  askForm(`Rename ${name}`, labelled("New name", field), done, { submit: "Rename" });
}

/** @param {string} name */
function askRemoval(name) {
  const said = `The annotations of ${name} will not count any more. Decisions stay, and this can be undone.`;
  const done = () => changeAnnotators({ do: "remove", name });
  askForm(`Remove ${name}?`, [make("p", {}, said)], done, { submit: "Remove" });
}

document.addEventListener("click", (event) => {
  const box = around(event, "[data-choose]");
  if (box instanceof HTMLInputElement) choose(box, event.shiftKey);
  const act = around(event, "[data-do]")?.dataset.do;
  const name = around(event, "[data-annotator]")?.dataset.annotator ?? "";
  if (act === "add") askFiles(name);
  if (act === "rename") askName(name);
  if (act === "remove") askRemoval(name);
});
find(document, "#choose-all")?.addEventListener("change", (event) => {
  for (const box of boxes) box.checked = /** @type {HTMLInputElement} */ (event.target).checked;
  showChosen();
});
find(document, "#choose-none")?.addEventListener("click", () => {
  for (const box of boxes) box.checked = false;
  showChosen();
  byId("choose-all").focus();
});
find(document, "#assign")?.addEventListener("click", askAssignee);
find(document, "#add-annotator")?.addEventListener("click", () => askFiles(null));
find(document, "#find-flag")?.addEventListener("input", (event) => {
  const wanted = /** @type {HTMLInputElement} */ (event.target).value.trim().toLowerCase();
  const rows = [...document.querySelectorAll("#flags tbody tr")];
  for (const row of rows) row.toggleAttribute("hidden", !row.textContent?.toLowerCase().includes(wanted));
  const shown = rows.filter((row) => !row.hasAttribute("hidden")).length;
  byId("flags-found").textContent = `${shown} of ${rows.length}`;
});

/** Show how many mentions are to be decided once all documents are counted. */
async function followCount() {
  for (;;) {
    const shown = find(document, "#totals[data-counting]");
    if (!shown) return;
    await new Promise((resume) => setTimeout(resume, 2000));
    if (document.hidden) continue;
    const page = await fetch(location.href).then((answer) => answer.text());
    const now = new DOMParser().parseFromString(page, "text/html").querySelector("#totals");
    if (!now) return;
    shown.replaceWith(document.importNode(now, true));
  }
}

listenToMenus();
document.addEventListener("keydown", ({ key }) => key === "Escape" && closeMenu());
if (boxes.length) showChosen();
showLastChange();
followCount().catch(() => {});
document.documentElement.dataset.ready = "yes";
