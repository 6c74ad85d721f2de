/** The head of the page: progress, proof and cost; undo and redo; a search that is still running. */
import { button, byId, fill, find, make } from "../ui/dom.js";
import { signed } from "../ui/words.js";
/** @import { App } from "../app.js" */
/** @import { SearchProgress } from "../state/types.js" */

const PAUSE = 1000;

/**
 * Make the difference between two costs, or nothing if there is none.
 * @param {number} before
 * @param {number} after
 */
export const costDelta = (before, after, prefix = "") =>
  before === after
    ? null
    : make("span", { class: `delta${after < before ? " less" : ""}` }, `${prefix}${signed(after - before)}`);

export class StatusBar {
  #lastShown = 0;

  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /**
     * The cost before the last step of this page.
     * @type {number | null}
     */
    this.costBefore = null;
  }

  /** Show progress, proof, bound and cost, and what undo and redo would do. */
  show() {
    const { cost, progress, undo, redo } = this.app.store.state;
    const { value, bound, omitted, used, invented } = cost;
    const delta = costDelta(this.costBefore ?? value, value);
    const proof =
      cost.status === "optimal"
        ? make(
            "span",
            { class: "proof", title: `Bound ${bound}: no solution costs less` },
            "✓ proven optimal",
          )
        : make(
            "span",
            {
              class: "proof gap",
              title: `No solution costs less than ${bound}; the optimum is there or above it`,
            },
            `not proven optimal, bound ${bound}`,
          );
    fill(
      byId("status"),
      make(
        "span",
        { class: "progress" },
        make("progress", {
          value: progress.answered,
          max: Math.max(progress.asked, 1),
          "aria-label": "Disputed mentions decided",
        }),
        make(
          "span",
          { class: "soft" },
          progress.asked ? `${progress.answered} of ${progress.asked} mentions` : "no questions",
        ),
      ),
      proof,
      make(
        "span",
        { class: "cost", title: `omitted ${omitted} + used ${used} + invented ${invented}` },
        make("span", { class: "soft" }, "cost "),
        make("b", {}, String(value)),
        delta ? " " : null,
        delta,
      ),
      make("span", { class: "soft split" }, `omitted ${omitted} · used ${used} · invented ${invented}`),
    );
    showHistoryButton("undo", undo);
    showHistoryButton("redo", redo);
  }

  /**
   * Show or hide that a search is running: best result so far and bound, and how to stop it.
   * @param {SearchProgress | null} best
   */
  showSearch(best = null) {
    const { working, cost } = this.app.store.state;
    const root = byId("working");
    if (!working) {
      root.hidden = true;
      return;
    }
    // Screen readers read every change out; once a second is enough.
    if (best && !root.hidden && Date.now() - this.#lastShown < PAUSE) return;
    this.#lastShown = Date.now();
    if (root.hidden) {
      fill(
        root,
        make("span", { class: "spin", "aria-hidden": "true" }),
        make("span", { class: "so-far" }),
        button("Stop, keep the best", () => this.app.cancelSearch(), { key: "q" }),
      );
    }
    const text = find(root, ".so-far");
    if (text) {
      text.textContent = `Re-optimising … best so far ${best?.value ?? cost.value}, no solution costs less than ${best?.bound ?? cost.bound}`;
    }
    root.hidden = false;
  }
}

/**
 * Label a button; one that cannot act now stays reachable, so that the keyboard focus is not lost.
 * @param {"undo" | "redo"} id
 * @param {string | null} label
 */
function showHistoryButton(id, label) {
  const element = byId(id);
  element.setAttribute("aria-disabled", String(label === null));
  element.title = label === null ? `Nothing to ${id}` : `${id === "undo" ? "Undo" : "Redo"}: ${label}`;
}
