/** What the server says without being asked, and what to tell when an operation did not go through. */
import { banner, say, unbanner } from "../ui/announce.js";
import { decisionItem } from "../panels/decisions.js";
import { open } from "../ui/dialog.js";
import { button, make } from "../ui/dom.js";
import { showWorking } from "../panels/status.js";
import { described } from "../panels/last_change.js";

const OVER =
  "This page's session is over. Start caspr review again and open the address that it prints; all acknowledged decisions are in the file.";

/** Return the listener of the Api. */
export function hearing(app) {
  const heard = {
    update({ update, before, theirs }) {
      const searched = before.working;
      if (searched && app.step.goesOn) app.step.add(update.changed ?? []);
      else if (theirs) {
        app.step.begin(
          "Changed in another tab or in the file",
          before.chains,
          update.cost?.before ?? before.cost.value,
        );
        app.step.add(update.changed ?? []);
        say("The document was changed in another tab or in the file.");
      }
      if (searched && !app.store.state.working) {
        app.step.goesOn = false;
        say(app.step.summary);
      }
    },
    progress: (best) => showWorking(app, best),
    questions: () => app.queue.load(),
    gone: () =>
      banner(
        "The server does not answer. What was acknowledged is in the file; new decisions cannot be saved until it is back.",
        [],
        { kind: "error" },
      ),
    back() {
      if (app.unsaved.length) offer(app, "The server is back. This was not acknowledged:", app.unsaved);
      else {
        unbanner();
        say("The server is back.");
      }
    },
    over: () => banner(OVER, [], { kind: "error" }),
  };
  return (kind, data) => heard[kind](data);
}

/** Tell what is wrong with the file as somebody edited it; until that is mended nothing can be saved. */
export function showProblem(app, before = null) {
  const { problem = null } = app.store.state;
  if (problem === (before ?? null)) return;
  if (problem) banner(`Nothing can be saved now: ${problem}`, [], { kind: "error" });
  else {
    unbanner();
    say("The file can be used again.");
  }
}

/** Offer to do operations again, one after the other until one is refused. */
function offer(app, text, ops) {
  const again = async () => {
    app.unsaved = [];
    unbanner();
    for (const op of ops) if (!(await app.act(op))) break;
  };
  banner(`${text} ${listed(app, ops)}.`, [["Do it now", again]]);
}

const listed = (app, ops) => ops.map((op) => described(app.store, op)).join("; ");

/** Tell why an operation did not go through. */
export function refuse(app, refusal) {
  switch (refusal.kind) {
    case "late":
      offer(
        app,
        "The document was changed elsewhere meanwhile, and is shown as it is now. This was not done:",
        [refusal.op],
      );
      return;
    case "gone":
      // An undo that did arrive must not be done twice; anything else is refused when it is there already.
      if (!["undo", "redo"].includes(refusal.op.do)) app.unsaved.push(refusal.op);
      banner(
        `The server does not answer. This was not acknowledged: ${listed(app, app.unsaved)}. It can be done again when the server is back.`,
        [],
        { kind: "error" },
      );
      return;
    case "over":
      banner(`${OVER} This was not saved: ${listed(app, [refusal.op])}.`, [], { kind: "error" });
      return;
    case "refused":
      contradiction(app, refusal);
      return;
    default:
      banner(
        refusal.op ? `Not done: ${listed(app, [refusal.op])}. ${refusal.message}` : refusal.message,
        [],
        {
          kind: "error",
        },
      );
  }
}

/** Show a refused decision and the earlier ones that it clashes with. */
function contradiction(app, refusal) {
  const clashing = refusal.clashes
    .map((id) => app.store.state.decisions.find((one) => one.id === id))
    .filter(Boolean);
  if (!clashing.length) {
    banner(`Not possible: ${refusal.message}`);
    return;
  }
  let dialog = null;
  const again = () => {
    dialog.close();
    app.act(refusal.op);
  };
  const gone = (item) => () => {
    item.remove();
    retry.disabled = false;
    retry.focus();
  };
  const items = clashing.map((decision) => {
    const item = decisionItem(app, decision, () => gone(item)());
    item.addEventListener("click", (event) => {
      if (event.target.closest("button")?.textContent === "Show") dialog.close();
    });
    return item;
  });
  const retry = button("Try again", again, { kind: "strong", disabled: true });
  dialog = open(
    "This contradicts earlier decisions",
    make(
      "div",
      {},
      make("p", {}, refusal.message),
      make(
        "p",
        {},
        `Nothing was changed. ${clashing.length > 1 ? "Take back any one of these, then the others can hold:" : "Take this back, then it can hold:"}`,
      ),
      make("ol", { class: "decision-list" }, ...items),
      make("div", { class: "buttons" }, retry),
    ),
    { kind: "small", role: "alertdialog" },
  );
}
