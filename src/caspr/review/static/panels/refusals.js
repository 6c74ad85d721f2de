/** Why an operation was not done, and what can be done about it. */
import { describeOperation } from "../state/operation_words.js";
import { spanOf } from "../state/spans.js";
import { askChain } from "../ui/choose_chain.js";
import { openDialog } from "../ui/dialog.js";
import { button, find, make } from "../ui/dom.js";
import { decisionItem } from "./decisions.js";
/** @import { App } from "../app.js" */
/** @import { RefusalKind } from "../state/api.js" */
/** @import { ChainId, Decision, MentionId, Operation, Remedy } from "../state/types.js" */

export const SESSION_ENDED =
  "This page's session has ended. Start caspr review again and open the address that it prints; all acknowledged decisions are in the file.";

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
        "The document was changed elsewhere meanwhile, and is shown as it is now. This was not done:",
        [op],
      );
      return;
    case "leased":
      announcer.warn(`${message}. This was not done: ${listed(app, [op])}.`, {
        label: "Take over and do it",
        act: async () => {
          if (await app.people.takeOver()) await instead(app, [op]);
        },
      });
      return;
    case "unreachable":
      // An undo that did arrive must not be done twice; anything else is refused if it was done already.
      if (op.do !== "undo" && op.do !== "redo") app.unsaved.push(op);
      announcer.fail(
        `The server does not answer. This was not acknowledged: ${listed(app, app.unsaved)}. It can be done again when the server is back.`,
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
export function offerAgain(app, text, ops) {
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
    ? [make("h3", {}, "Decided before"), make("ol", { class: "decision-list" }, ...clashing.map(itemOf))]
    : [];
  const dialog = openDialog(
    "These do not fit together",
    make(
      "div",
      {},
      make("p", {}, message),
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
