/** The bar under the text: what is selected, and what can be done with it. */
import { button, byId, fill, make } from "../ui/dom.js";
import { counted, phrase } from "../ui/words.js";
/** @import { App } from "../app.js" */

/**
 * Show the bar, or hide it when nothing is selected.
 * @param {App} app
 */
export function showSelectionBar(app) {
  const { selection } = app;
  const root = byId("selection-bar");
  root.hidden = !selection.span && !selection.selected.size;
  if (selection.span) fill(root, ...rangeItems(app, selection.span));
  else if (selection.selected.size) fill(root, ...mentionItems(app));
}

/**
 * @param {App} app
 * @param {{ start: number, end: number }} span
 */
function rangeItems(app, { start, end }) {
  const { actions, store } = app;
  const words = make("bdi", {}, phrase(store.state.tokens, start, end, 50));
  return [
    make("span", {}, `${counted(end - start + 1, "token")}: `, words),
    button("New mention …", () => actions.create(), { key: "w", kind: "strong" }),
    button("No boundary here", () => actions.empty(), { key: "0" }),
    button("Cancel", () => app.escape(), { key: "Esc", kind: "quiet" }),
  ];
}

/** @param {App} app */
function mentionItems(app) {
  const { actions, selection } = app;
  const { selected, mention } = selection;
  const count = selected.size;
  const isPair = count === 2 || (count === 1 && mention !== null && !selected.has(mention));
  return [
    make("span", {}, `${counted(count, "mention")} selected`),
    count > 1 || isPair ? button("Same", () => actions.same(), { key: "=", kind: "strong" }) : null,
    isPair ? button("Different", () => actions.different(), { key: "d" }) : null,
    button("Enforce", () => actions.enforce(), { key: "e" }),
    button("Alone", () => actions.alone(), { key: "p" }),
    button("No mention", () => actions.absent(), { key: "x" }),
    button("Own chain", () => actions.split(), { key: "b" }),
    button("Move to …", () => actions.move(), { key: "c" }),
    count > 1 ? button("Merge chains", () => actions.merge(), { key: "m" }) : null,
    button("Deselect", () => app.escape(), { key: "Esc", kind: "quiet" }),
  ];
}
