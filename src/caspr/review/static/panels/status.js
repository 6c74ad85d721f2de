/** The head of the page: cost, proof and progress; undo and redo; a search that is still running. */
import { button, byId, fill, make } from "../ui/dom.js";
import { signed } from "../ui/words.js";

const SECOND = 1000;
let told = 0;

/** Show cost, bound, proof and progress. */
export function showStatus({ store, cost }) {
  const { progress } = store.state;
  const { value, bound, status, omitted, used, invented } = store.state.cost;
  const delta =
    cost.before === null || cost.before === value
      ? null
      : make("span", { class: `delta${value < cost.before ? " less" : ""}` }, signed(value - cost.before));
  const proof =
    status === "optimal"
      ? make("span", { class: "proof", title: `Bound ${bound}: no solution costs less` }, "✓ proven optimal")
      : make(
          "span",
          { class: "proof gap", title: "The true optimum lies between the two" },
          `bound ${bound}`,
        );
  const share = progress.asked ? `${progress.answered} of ${progress.asked} questions` : "no questions";
  fill(
    byId("status"),
    make(
      "span",
      { class: "cost", title: `omitted ${omitted} + used ${used} + invented ${invented}` },
      make("span", { class: "soft" }, "cost "),
      make("b", {}, String(value)),
      delta ? " " : null,
      delta,
    ),
    make("span", { class: "soft split" }, `omitted ${omitted} · used ${used} · invented ${invented}`),
    proof,
    make(
      "span",
      { class: "progress" },
      make("progress", {
        value: String(progress.answered),
        max: String(Math.max(progress.asked, 1)),
        "aria-label": "Questions answered",
      }),
      make("span", { class: "soft" }, share),
    ),
  );
  history("undo", store.state.undo);
  history("redo", store.state.redo);
}

/** A button that cannot act now stays reachable, so that the keyboard does not fall off it. */
function history(id, label) {
  const made = byId(id);
  made.setAttribute("aria-disabled", String(label === null));
  made.title = label === null ? `Nothing to ${id}` : `${id === "undo" ? "Undo" : "Redo"}: ${label}`;
}

/** Show that a search is running: best so far and bound, and how to stop it. */
export function showWorking({ store, cancel }, best = null) {
  const place = byId("working");
  if (!store.state.working) {
    place.hidden = true;
    return;
  }
  // Screen readers read every change out; once a second is enough.
  if (best && !place.hidden && Date.now() - told < SECOND) return;
  told = Date.now();
  const value = best?.value ?? store.state.cost.value;
  const bound = best?.bound ?? store.state.cost.bound;
  if (place.hidden) {
    fill(
      place,
      make("span", { class: "spin", "aria-hidden": "true" }),
      make("span", { class: "so-far" }),
      button("Stop, keep the best", cancel, { key: "q" }),
    );
  }
  place.querySelector(".so-far").textContent =
    `Re-optimising … best so far ${value}, no solution costs less than ${bound}`;
  place.hidden = false;
}
