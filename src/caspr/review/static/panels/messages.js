/** Messages to the reader: short ones, banners, what the server sends, and why an operation was not done. */
import { spanOf } from "../state/tokens.js";
import { askChain, openDialog } from "../ui/dialogs.js";
import { button, byId, fill, find, make } from "../ui/dom.js";
import { describeOperation, isolated } from "../ui/labels.js";
import { decisionItem } from "./decisions.js";
/** @import { App } from "../app.js" */
/** @import { RefusalKind, ServerListener } from "../state/api.js" */
/** @import { ChainId, Decision, MentionId, Operation, Remedy } from "../state/types.js" */

const TOAST_DURATION = 6000;

export class Announcer {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #hiding = undefined;

  /**
   * Show a short message for some seconds; a quiet one is only for screen readers.
   * @param {string} text
   */
  say(text, { quiet = false } = {}) {
    const live = byId("live");
    // A screen reader does not read a text again that did not change.
    live.textContent = live.textContent === text ? `${text}\u00a0` : text;
    if (quiet) return;
    const toast = byId("toast");
    fill(toast, ...isolated(text));
    toast.hidden = false;
    clearTimeout(this.#hiding);
    this.#hiding = setTimeout(() => {
      toast.hidden = true;
    }, TOAST_DURATION);
  }

  /**
   * Show a warning until it is dismissed, hidden or replaced, with a button for what can be done about it.
   * @param {string} text
   * @param {{ label: string, act: () => unknown }} [remedy]
   */
  warn(text, remedy) {
    this.#showBanner("warning", text, remedy ? [button(remedy.label, remedy.act)] : []);
  }

  /**
   * Show an error until it is dismissed, hidden or replaced.
   * @param {string} text
   */
  fail(text) {
    this.#showBanner("error", text, []);
  }

  /** Hide the banner. */
  hideBanner() {
    byId("banner").hidden = true;
  }

  /** Hide the banner unless it shows an error. */
  hideWarning() {
    if (byId("banner").classList.contains("warning")) this.hideBanner();
  }

  /**
   * @param {string} kind
   * @param {string} text
   * @param {HTMLElement[]} buttons
   */
  #showBanner(kind, text, buttons) {
    const banner = byId("banner");
    banner.className = kind;
    const dismiss = button("Dismiss", () => this.hideBanner(), { kind: "quiet" });
    fill(banner, make("p", {}, ...isolated(text)), ...buttons, dismiss);
    banner.hidden = false;
  }
}

/**
 * @param {App} app
 * @returns {ServerListener}
 */
export function serverEvents(app) {
  const { announcer, store } = app;
  return {
    update({ update, before, foreign }) {
      const { lastChange } = app;
      if (before.working && lastChange.searching) lastChange.add(update);
      else if (foreign) {
        lastChange.begin("Changed by a colleague, in another tab or in the file itself", update, before);
        announcer.say("The document was changed by a colleague, in another tab or in the file itself.");
      }
      if (before.working && !store.state.working) {
        lastChange.searching = false;
        announcer.say(lastChange.summary);
      }
    },
    progress: (best) => app.header.showSearch(best),
    questions: () => app.queue.load(),
    lease: (lease) => app.header.follow(lease),
    unreachable: () =>
      announcer.fail(
        "The server does not answer. Your decisions so far are in the file; new ones cannot be saved until it is back.",
      ),
    reachable() {
      if (app.unsaved.length) {
        offerAgain(app, "The server is back. This may not have been saved:", app.unsaved);
        return;
      }
      announcer.hideBanner();
      announcer.say("The server is back.");
    },
    ended: () => announcer.fail(SESSION_ENDED),
  };
}

/**
 * Show what is wrong with the file as it was edited outside; until that is repaired nothing can be saved.
 * @param {App} app
 * @param {string | null} before the problem that is shown already
 */
export function showProblem({ announcer, store }, before = null) {
  const { problem } = store.state;
  if (problem === before) return;
  if (problem) announcer.fail(`Nothing can be saved until this is fixed: ${problem}`);
  else {
    announcer.hideBanner();
    announcer.say("The file is readable again; you can go on.");
  }
}

const SESSION_ENDED =
  "This session has ended. Start caspr review again and open the address it prints. Every decision that the page showed as made is in the file.";

/**
 * Show why an operation was not done.
 * @param {App} app
 * @param {Operation} op
 * @param {{ kind: RefusalKind, message: string, clashes: string[], remedies: Remedy[] }} refusal
 */
export function showRefusal(app, op, { kind, message, clashes, remedies }) {
  const { announcer } = app;
  switch (kind) {
    case "stale":
      offerAgain(
        app,
        "The document has changed in the meantime; you now see its current state. This was not done:",
        [op],
      );
      return;
    case "leased":
      announcer.warn(`${message}. This was not done: ${listed(app, [op])}.`, {
        label: "Take over and do it",
        act: async () => {
          if (await app.header.takeOver()) await instead(app, [op]);
        },
      });
      return;
    case "unreachable":
      // An undo that did arrive must not be done twice; anything else is refused if it was done already.
      if (op.do !== "undo" && op.do !== "redo") app.unsaved.push(op);
      announcer.fail(
        `The server does not answer. This may not have been saved: ${listed(app, app.unsaved)}. You can do it again when the server is back.`,
      );
      return;
    case "ended":
      announcer.fail(`${SESSION_ENDED} This was not saved: ${listed(app, [op])}.`);
      return;
    case "refused":
      showContradiction(app, message, clashes, remedies);
      return;
    case "failed":
      announcer.fail(`Not done: ${listed(app, [op])}. ${message}`);
  }
}

/**
 * Offer to do operations again, one after the other until one is refused.
 * @param {App} app
 * @param {string} text
 * @param {Operation[]} ops
 */
function offerAgain(app, text, ops) {
  const act = async () => {
    app.unsaved = [];
    app.announcer.hideBanner();
    await instead(app, ops);
  };
  app.announcer.warn(`${text} ${listed(app, ops)}.`, { label: "Do it now", act });
}

/**
 * Do operations after a refusal, one after the other until one is refused; an answer is followed by the next question.
 * @param {App} app
 * @param {Operation[]} ops
 */
async function instead(app, ops) {
  for (const op of ops) if (!(await app.act(op))) return;
  await app.queue.goOn();
}

/** @type {(app: App, ops: Operation[]) => string} */
const listed = (app, ops) => ops.map((op) => describeOperation(app.store, op)).join("; ");

/**
 * Show why an operation was refused, what can be done instead, and the earlier decisions that it contradicts.
 * @param {App} app
 * @param {string} message
 * @param {string[]} ids
 * @param {Remedy[]} remedies
 */
function showContradiction(app, message, ids, remedies) {
  const { decisions } = app.store.state;
  const clashing = ids.flatMap((id) => decisions.filter((decision) => decision.id === id));
  if (!clashing.length && !remedies.length) {
    app.announcer.warn(message);
    return;
  }
  /** @param {Remedy} remedy */
  const remedyButton = (remedy) =>
    button(remedy.label, () => {
      dialog.close();
      if (remedy.op) instead(app, [remedy.op]);
      else if (remedy.choose) chooseEntity(app, remedy.choose);
    });
  /** @param {Decision} decision */
  const itemOf = (decision) => {
    const item = decisionItem(app, decision, {
      onShow: () => dialog.close(),
      onFreed: () => item.remove(),
    });
    return item;
  };
  const earlier = clashing.length
    ? [make("h3", {}, "Earlier decisions"), make("ol", { class: "decision-list" }, ...clashing.map(itemOf))]
    : [];
  const dialog = openDialog(
    "These contradict each other",
    make(
      "div",
      {},
      make("p", {}, ...isolated(message)),
      make("p", { class: "soft" }, "Nothing was changed."),
      make("div", { class: "buttons remedies" }, ...remedies.map(remedyButton)),
      ...earlier,
    ),
    { kind: "small", role: "alertdialog" },
  );
  find(dialog, ".remedies button")?.focus();
}

/**
 * Ask for the entity of a mention.
 * @param {App} app
 * @param {MentionId} id
 */
function chooseEntity(app, id) {
  const { start, end } = spanOf(id);
  /** @param {ChainId | null} chain */
  const take = (chain) => chain !== null && instead(app, [{ do: "new", start, end, chain }]);
  askChain(app.store, `“${app.store.words(id, 40)}” belongs to`, take, { first: app.nearbyChains(id) });
}
