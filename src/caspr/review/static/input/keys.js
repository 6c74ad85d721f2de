/** The keys: one table, from which both the handling and the overlay are made. */
import { make } from "../ui/dom.js";
import { isOpen, open } from "../ui/dialog.js";

const OFF = "caspr-keys-off";

/** Return the table of keys: groups of `[keys, what they do, act]`; an act without keys in the text is global. */
export function tableOf(app) {
  const { actions, moves, queue } = app;
  return [
    [
      "Questions",
      [
        [["j"], "next question", () => queue.step(1)],
        [["k"], "previous question", () => queue.step(-1)],
        [["y"], "yes", () => queue.answer(true)],
        [["n"], "no", () => queue.answer(false)],
        [["s"], "skip it for now", () => queue.skip()],
      ],
    ],
    [
      "Move",
      [
        [["ArrowRight"], "next mention (or token)", () => moves.mention(1), "text"],
        [["ArrowLeft"], "previous mention (or token)", () => moves.mention(-1), "text"],
        [["ArrowDown"], "next mention of the chain (or line)", () => moves.within(1), "text"],
        [["ArrowUp"], "previous mention of the chain (or line)", () => moves.within(-1), "text"],
        [
          ["Enter"],
          "details of the mention; with tokens: new mention",
          () => app.openDetail({ focus: true }),
          "text",
        ],
        [["g"], "go to a token by number", () => app.askToken()],
        [["Escape"], "back to the text; let go of the selection", () => app.letGo()],
      ],
    ],
    [
      "Select",
      [
        [["Space"], "select the mention, or no longer", () => moves.toggle(), "text"],
        [["A"], "select its whole chain", () => moves.whole()],
        [["t"], "choose tokens; Shift and arrows for more of them", () => moves.start()],
      ],
    ],
    [
      "Decide about what is selected, or the current mention",
      [
        [["e"], "enforce: it is a mention of its chain", actions.enforce],
        [["="], "same: these are one entity", actions.same],
        [["d"], "different: these two are not", actions.different],
        [["x"], "absent: this is no mention", actions.absent],
        [["a"], "accept the whole chain as it stands", actions.accept],
        [["b"], "break off into a chain of its own", actions.split],
        [["c"], "move to another chain …", actions.move],
        [["m"], "merge chains …", actions.merge],
        [["w"], "new mention from the chosen tokens", actions.create],
        [["0"], "no mention begins or ends at the chosen tokens", actions.empty],
        [["f"], "free: take decisions about it back", actions.free],
        [["i"], "write a note", actions.note],
      ],
    ],
    [
      "History",
      [
        [["u", "Control+z"], "undo", actions.undo],
        [["r", "Control+y", "Control+Z"], "redo", actions.redo],
        [["l"], "what the last step changed elsewhere", () => app.openStep()],
        [["q"], "stop a running re-optimisation, keep the best so far", () => app.cancel()],
      ],
    ],
    [
      "View",
      [
        [["1"], "questions", () => app.side.show("queue", { focus: true })],
        [["2"], "mention", () => app.side.show("detail", { focus: true })],
        [["3", "/"], "chains, with search", () => app.openChains()],
        [["4"], "decisions and notes", () => app.side.show("decisions", { focus: true })],
        [["v"], "text or matrix", () => app.switchView()],
        [["h"], "show or hide mentions that were left out", () => app.toggleOut()],
        [["o"], "export", () => app.openExport()],
        [["?"], "these keys", () => app.help()],
      ],
    ],
  ];
}

/** Tell whether single keys are switched off in this browser. */
function off() {
  try {
    return localStorage.getItem(OFF) === "yes";
  } catch {
    return false;
  }
}

/** Begin to listen. */
export function listen(app) {
  const acts = new Map();
  for (const [, rows] of tableOf(app)) {
    for (const [keys, , act, place] of rows) for (const key of keys) acts.set(key, { act, place });
  }
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey || event.metaKey || isOpen()) return;
    if (event.target.closest("input:not([type=checkbox]), textarea, select")) {
      if (event.key === "Escape") {
        event.preventDefault();
        app.letGo();
      }
      return;
    }
    const key = (event.ctrlKey ? "Control+" : "") + (event.key === " " ? "Space" : event.key);
    if (app.spot.range && inRange(app, event)) return;
    const found = acts.get(key);
    if (
      !found ||
      (off() && event.key.length === 1 && !event.ctrlKey && key !== "?" && found.place !== "text")
    )
      return;
    if (found.place === "text" && event.target !== document.body && !app.text.root.contains(event.target))
      return;
    event.preventDefault();
    found.act();
  });
}

/** While tokens are chosen the arrows move among them. */
function inRange(app, event) {
  const { moves, text } = app;
  if (event.ctrlKey || (event.target !== document.body && !text.root.contains(event.target))) return false;
  const act = {
    ArrowRight: () => moves.token(1, event.shiftKey),
    ArrowLeft: () => moves.token(-1, event.shiftKey),
    ArrowDown: () => moves.line(1, event.shiftKey),
    ArrowUp: () => moves.line(-1, event.shiftKey),
    Enter: () => app.actions.create(),
    Escape: () => moves.leave(),
  }[event.key];
  if (!act) return false;
  event.preventDefault();
  act();
  return true;
}

const NAMES = {
  ArrowRight: "→",
  ArrowLeft: "←",
  ArrowDown: "↓",
  ArrowUp: "↑",
  Space: "Space",
  Escape: "Esc",
};

/** Return the name of a key for the eye. */
function named(key) {
  const parts = key.split("+");
  const last = parts.pop();
  const shift = parts.length && /^[A-Z]$/.test(last) ? ["Shift"] : /^[A-Z]$/.test(last) ? ["Shift"] : [];
  return [
    ...parts.map((part) => (part === "Control" ? "Ctrl" : part)),
    ...shift,
    NAMES[last] ?? (parts.length || shift.length ? last.toUpperCase() : last),
  ].join("+");
}

/** Show the overlay that lists the keys. */
export function help(app) {
  const groups = tableOf(app).map(([title, rows]) => {
    const list = rows.map(([keys, what]) => [
      make(
        "dt",
        {},
        ...keys.flatMap((key, i) => (i ? [" ", make("kbd", {}, named(key))] : [make("kbd", {}, named(key))])),
      ),
      make("dd", {}, what),
    ]);
    return make("section", {}, make("h3", {}, title), make("dl", { class: "keys" }, ...list.flat()));
  });
  const box = make("input", { type: "checkbox", id: "keys-on" });
  box.checked = !off();
  box.addEventListener("change", () => {
    try {
      localStorage.setItem(OFF, box.checked ? "no" : "yes");
    } catch {
      /* cannot be kept */
    }
  });
  const choice = make("label", { class: "check" }, box, "single-letter keys are on");
  open("Keys", make("div", {}, make("div", { class: "key-groups" }, ...groups), choice), { kind: "help" });
}
