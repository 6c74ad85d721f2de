/** A dialog for what kind of error a decision corrects, and how sure one is of it. */
import { openDialog } from "./dialog.js";
import { make, menu } from "./dom.js";
/** @import { App } from "../app.js" */
/** @import { Decision } from "../state/types.js" */

const CATEGORIES = [
  "boundary",
  "missed mention",
  "not a mention",
  "wrong entity",
  "entities merged",
  "entity split",
  "guidelines unclear",
];
const CONFIDENCES = { "": "not said", low: "low", medium: "medium", high: "high" };

/**
 * Ask for category and confidence of a decision, and save them.
 * @param {App} app
 * @param {Decision} decision
 */
export function askJudgement(app, decision) {
  const used = app.store.state.decisions.map((one) => one.category);
  const offered = [...new Set([...used, ...CATEGORIES])].filter(Boolean);
  const category = make("input", { type: "text", id: "category", maxlength: "60", list: "categories" });
  const confidence = menu("Confidence", CONFIDENCES, () => {});
  confidence.id = "confidence";
  [category.value, confidence.value] = [decision.category, decision.confidence];
  const form = make(
    "form",
    { method: "dialog", class: "fields" },
    make("p", { class: "soft" }, decision.label),
    make("label", { for: "category" }, "Category of the error"),
    category,
    make("datalist", { id: "categories" }, ...offered.map((value) => make("option", { value }))),
    make("label", { for: "confidence" }, "Confidence"),
    confidence,
    make("div", { class: "buttons" }, make("button", { class: "strong", type: "submit" }, "OK")),
  );
  let taken = false;
  form.addEventListener("submit", () => {
    taken = true;
  });
  openDialog("Judge this decision", form, {
    kind: "small",
    closed: () => {
      const said = { category: category.value.trim(), confidence: confidence.value };
      const changed = said.category !== decision.category || said.confidence !== decision.confidence;
      if (taken && changed) app.act({ do: "rate", decisions: [decision.id], ...said });
    },
  });
  category.focus();
}
