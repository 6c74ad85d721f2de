/** The head of the page: progress, proof and cost; undo and redo; a running search; who works on the document. */
import { button, byId, fill, find, make } from "../ui/dom.js";
import { counted, roundSize, shortTime, signed } from "../ui/labels.js";
/** @import { App } from "../app.js" */
/** @import { Cost, Lease, Progress, SearchProgress } from "../state/types.js" */

const PAUSE = 1000;
const me = document.querySelector("meta[name=person]")?.getAttribute("content") ?? "";

/**
 * Make by how much the cost rose, or nothing if it did not: that it falls, because what is decided costs nothing,
 * says nothing about the result.
 * @param {number} before
 * @param {number} after
 */
export const costRise = (before, after, prefix = "") =>
  after > before ? make("span", { class: "delta" }, `${prefix}${signed(after - before)}`) : null;

export class Header {
  /** @type {Lease | null} */
  #lease;
  #lastSearchShown = 0;

  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.#lease = app.store.state.lease ?? null;
    /**
     * The cost before the last step of this page.
     * @type {number | null}
     */
    this.costBefore = null;
  }

  /** Show everything that the store says. */
  show() {
    this.showStatus();
    this.showSearch();
    this.#showPeople();
  }

  /** Show progress, proof and cost, and what undo and redo would do. */
  showStatus() {
    const { cost, decisions, progress, undo, annotators_changed, redo } = this.app.store.state;
    const ruled = cost.rules ? ` · rules ${cost.rules}` : "";
    const parts = `omitted ${cost.omitted} · used ${cost.used} · invented ${cost.invented}${ruled}`;
    const delta = costRise(this.costBefore ?? cost.value, cost.value);
    fill(
      byId("status"),
      progressBar(progress),
      proof(cost, decisions.length > 0),
      make(
        "span",
        { class: "cost", title: `How far the result goes against the votes: ${parts.replaceAll("·", "+")}` },
        make("span", { class: "soft" }, "cost "),
        make("b", {}, String(cost.value)),
        delta ? " " : null,
        delta,
      ),
      make("span", { class: "soft split" }, parts),
    );
    showHistoryButton("undo", undo, annotators_changed);
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
    if (best && !root.hidden && Date.now() - this.#lastSearchShown < PAUSE) return;
    this.#lastSearchShown = Date.now();
    if (root.hidden) {
      fill(
        root,
        make("span", { class: "spin", "aria-hidden": "true" }),
        make("span", { class: "so-far" }),
        button("Stop and keep the best", () => this.app.cancelSearch(), { key: "q" }),
      );
    }
    const text = find(root, ".so-far");
    if (text) {
      text.textContent = `Searching for a better result … best so far ${best?.value ?? cost.value}, none can cost less than ${best?.bound ?? cost.bound}`;
    }
    root.hidden = false;
  }

  /** Show whether the document is done, and who else is at work on it. */
  #showPeople() {
    const { done } = this.app.store.state;
    const options = { kind: "quiet", focusKey: "done" };
    const who = done?.by ?? "?";
    const title = done
      ? `Done by ${who}, ${shortTime(done.at)}`
      : "Mark the document as done: nothing is left to decide";
    const holder = this.#otherHolder;
    fill(
      byId("people"),
      done
        ? make("span", { class: "good", title }, "✓ done", make("span", { class: "by" }, ` by ${who}`))
        : null,
      holder ? make("span", { class: "holder" }, `${holder} is working on this; you are watching`) : null,
      holder ? button("Take over", () => this.takeOver(), { focusKey: "take-over" }) : null,
      done
        ? button("Reopen", () => this.app.act({ do: "reopen" }), options)
        : button("Done", () => this.app.act({ do: "done" }), { ...options, title }),
    );
  }

  /**
   * Somebody acted, or took the document over.
   * @param {Lease} lease
   */
  follow(lease) {
    const wasMine = this.#lease?.holder === me;
    this.#lease = lease;
    if (wasMine && lease.holder !== me) this.app.say(`${lease.holder} has taken over this document.`);
    this.#showPeople();
  }

  /** Take the document over from whoever works on it; return whether that was possible. */
  async takeOver() {
    const lease = await this.app.api.takeOver().catch(() => null);
    if (lease) this.follow(lease);
    else this.app.say("Could not take over the document.");
    return lease !== null;
  }

  /** Who else works on the document now. */
  get #otherHolder() {
    const lease = this.#lease;
    return lease && lease.holder !== me && Date.parse(lease.until) > Date.now() ? lease.holder : null;
  }
}

/** @param {Progress} progress */
function progressBar({ answered, asked, answers }) {
  const title = `${answered} of ${asked} mentions with questions are decided`;
  const round = roundSize ? `, round ${Math.floor(answers / roundSize) + 1}` : "";
  return make(
    "span",
    { class: "progress", title },
    make("progress", {
      value: answered,
      max: Math.max(asked, 1),
      "aria-label": "Mentions with questions that are decided",
    }),
    make("span", { class: "soft" }, asked ? `${counted(answers, "answer")}${round}` : "no questions"),
  );
}

/**
 * @param {Cost} cost
 * @param {boolean} isDecided whether anything is decided: the proof holds for results that follow it
 */
function proof({ status, bound }, isDecided) {
  if (status === "optimal") {
    const given = isDecided ? " with your decisions" : "";
    const title = `No solution${given} costs less than ${bound}`;
    return make(
      "span",
      { class: "proof", title },
      "✓ proven optimal",
      make("span", { class: "given" }, given),
    );
  }
  const title = `No solution costs less than ${bound}, but one that costs less than this may exist`;
  return make("span", { class: "proof gap", title }, `not proven optimal, bound ${bound}`);
}

/**
 * Label a button; one that cannot act now stays reachable, so that the keyboard focus is not lost.
 * @param {"undo" | "redo"} id
 * @param {string | null} label
 * @param {boolean} isShown whether the button itself says what it does, for steps that one would not expect
 */
function showHistoryButton(id, label, isShown = false) {
  const element = byId(id);
  const name = id === "undo" ? "Undo" : "Redo";
  element.setAttribute("aria-disabled", String(label === null));
  element.title = label === null ? `Nothing to ${id}` : `${name}: ${label}`;
  const words = find(element, ".does");
  if (words) words.textContent = isShown ? element.title : name;
  element.classList.toggle("said", isShown);
}
