/** Why an operation was not done, and what can be done about it. */
import { describeOperation } from "../state/operation_words.js";
import { openDialog } from "../ui/dialog.js";
import { button, make } from "../ui/dom.js";
import { decisionItem } from "./decisions.js";
/** @import { App } from "../app.js" */
/** @import { RefusalKind } from "../state/api.js" */
/** @import { Decision, Operation } from "../state/types.js" */

export const SESSION_ENDED =
  "This page's session has ended. Start caspr review again and open the address that it prints; all acknowledged decisions are in the file.";

/**
 * Show why an operation was not done.
 * @param {App} app
 * @param {Operation} op
 * @param {{ kind: RefusalKind, message: string, clashes: string[] }} refusal
 */
export function showRefusal(app, op, { kind, message, clashes }) {
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
          if (await app.people.takeOver()) await app.act(op);
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
      showContradiction(app, op, message, clashes);
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
    for (const op of ops) if (!(await app.act(op))) break;
  };
  app.announcer.warn(`${text} ${listed(app, ops)}.`, { label: "Do it now", act });
}

/** @type {(app: App, ops: Operation[]) => string} */
const listed = (app, ops) => ops.map((op) => describeOperation(app.store, op)).join("; ");

/**
 * Show a refused operation and the earlier decisions that it contradicts.
 * @param {App} app
 * @param {Operation} op
 * @param {string} message
 * @param {string[]} ids
 */
function showContradiction(app, op, message, ids) {
  const { decisions } = app.store.state;
  const clashing = ids.flatMap((id) => decisions.filter((decision) => decision.id === id));
  if (!clashing.length) {
    app.announcer.warn(`Not possible: ${message}`);
    return;
  }
  const tryAgain = () => {
    dialog.close();
    app.act(op);
  };
  const retry = button("Try again", tryAgain, { kind: "strong", disabled: true });
  /** @param {Decision} decision */
  const itemOf = (decision) => {
    const onFreed = () => {
      item.remove();
      retry.disabled = false;
      retry.focus();
    };
    const item = decisionItem(app, decision, { onShow: () => dialog.close(), onFreed });
    return item;
  };
  const remedy =
    clashing.length > 1
      ? "Take back any one of these, then the others can hold:"
      : "Take this back, then it can hold:";
  const dialog = openDialog(
    "This contradicts earlier decisions",
    make(
      "div",
      {},
      make("p", {}, message),
      make("p", {}, `Nothing was changed. ${remedy}`),
      make("ol", { class: "decision-list" }, ...clashing.map(itemOf)),
      make("div", { class: "buttons" }, retry),
    ),
    { kind: "small", role: "alertdialog" },
  );
}
