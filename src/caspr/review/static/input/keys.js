/** The keys: one table, from which both the handling and the overlay are made. */
import { KEYS } from "../questions/card.js";
import { isDialogOpen, openDialog } from "../ui/dialogs.js";
import { around, find, make, remember, remembered } from "../ui/dom.js";
/** @import { App } from "../app.js" */

const STORAGE_KEY = "caspr-keys-off";

/**
 * A row of the table. A key that is `inText` acts only while the keyboard is in the text.
 * @typedef {{ keys: string[], label: string, run: () => unknown, inText: boolean }} Binding
 */

/** @type {(keys: string, label: string, run: () => unknown) => Binding} */
const anywhere = (keys, label, run) => ({ keys: keys.split(" "), label, run, inText: false });
/** @type {(keys: string, label: string, run: () => unknown) => Binding} */
const inText = (keys, label, run) => ({ keys: keys.split(" "), label, run, inText: true });

/**
 * Return the table of keys, by group.
 * @param {App} app
 * @returns {Record<string, Binding[]>}
 */
function bindings(app) {
  const { actions, navigation, queue, side } = app;
  return {
    Questions: [
      anywhere("j", "next question", () => queue.move(1)),
      anywhere("k", "previous question", () => queue.move(-1)),
      ...[1, 2, 3, 4, 5].map((number) =>
        anywhere(String(number), `answer with choice ${number}`, () => queue.choose(number)),
      ),
      anywhere(KEYS.another, "another entity …", () => queue.another()),
      anywhere(KEYS.fresh, "a new entity", () => queue.fresh()),
      anywhere(KEYS.alone, "alone: a mention that nothing else refers to", () => queue.alone()),
      anywhere(KEYS.absent, "not a mention", () => queue.absent()),
      anywhere(KEYS.yes, "yes: the only choice, the marked ones, or what the result says", () => queue.yes()),
      anywhere(KEYS.none, "no: none of these", () => queue.no()),
      anywhere("Shift+1…5", "mark several choices that are one entity", () => {}),
      anywhere(KEYS.skip, "skip it for now", () => queue.skip()),
      anywhere(KEYS.alike, "answer others like the last one", () => app.lastChange.takeOffer()),
      anywhere(".", "show the question as it is now", () => queue.showLater()),
    ],
    Move: [
      inText("ArrowRight", "next mention (or token)", () => navigation.toMention(1)),
      inText("ArrowLeft", "previous mention (or token)", () => navigation.toMention(-1)),
      inText("ArrowDown", "next mention of the entity (or line)", () => navigation.toMentionOfChain(1)),
      inText("ArrowUp", "previous mention of the entity (or line)", () => navigation.toMentionOfChain(-1)),
      inText("Enter", "details of the mention; with chosen tokens: new mention", () =>
        app.openDetail({ focus: true }),
      ),
      anywhere("g", "go to a token by number", () => app.askToken()),
      anywhere("Escape", "back to the text; deselect", () => app.escape()),
    ],
    Select: [
      inText("Space", "select the mention, or deselect it", () => navigation.toggle()),
      anywhere("A", "select its whole entity", () => navigation.selectChain()),
      anywhere("t", "choose tokens; Shift and the arrow keys extend", () => navigation.startRange()),
    ],
    "Decide about what is selected, or the current mention": [
      anywhere("e", "enforce: it is a mention, and stays in its entity", () => actions.enforce()),
      anywhere("p", "alone: a mention that nothing else refers to", () => actions.alone()),
      anywhere("=", "same: these are one entity", () => actions.same()),
      anywhere("d", "different: these two are not", () => actions.different()),
      anywhere("x", "not a mention", () => actions.absent()),
      anywhere("a", "accept the whole entity as it stands", () => actions.accept()),
      anywhere("b", "break off into a new entity", () => actions.split()),
      anywhere("c", "move to another entity …", () => actions.move()),
      anywhere("m", "merge entities …", () => actions.merge()),
      anywhere("N", "name the entity …", () => actions.name()),
      inText("Shift+ArrowRight Shift+ArrowLeft", "move the end of the mention", () => {}),
      inText("Alt+ArrowRight Alt+ArrowLeft", "move the start of the mention", () => {}),
      anywhere("w", "new mention from the chosen tokens", () => actions.create()),
      anywhere("0", "no mention starts or ends at the chosen tokens", () => actions.empty()),
      anywhere("f", "free: take back the decisions about it", () => actions.free()),
      anywhere("i", "write a note", () => actions.note()),
      anywhere("F", "flag the mention: generic, ambiguous, later …", () => actions.flag()),
    ],
    History: [
      anywhere("u Control+z", "undo", () => actions.undoAnswer()),
      anywhere("r Control+y Control+Z", "redo", () => actions.redo()),
      anywhere("l", "what the last step changed elsewhere", () => app.openLastChange()),
      anywhere("q", "stop the search, keep the best result so far", () => app.cancelSearch()),
    ],
    View: [
      anywhere("Q", "questions", () => side.show("queue", { focus: true })),
      anywhere("M", "mention", () => side.show("detail", { focus: true })),
      anywhere("C", "entities", () => app.openChains()),
      anywhere("/ Control+f", "search the text", () => app.search.open()),
      anywhere("E", "search the entities", () => app.searchChains()),
      anywhere("D", "decisions and notes", () => side.show("decisions", { focus: true })),
      anywhere("v", "text, matrix or versions", () => app.switchView()),
      anywhere("S", "everybody’s version of this line", () => app.sentence.toggle()),
      anywhere("h", "show or hide mentions that were left out", () => app.toggleLeftOut()),
      anywhere("o", "export", () => app.openExport()),
      anywhere("?", "these keys", () => showKeys(app)),
    ],
  };
}

/** @param {App} app */
export function listenToKeys(app) {
  /** @type {Map<string, Binding>} */
  const byKey = new Map();
  for (const binding of Object.values(bindings(app)).flat()) {
    for (const key of binding.keys) byKey.set(key, binding);
  }
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.metaKey || isDialogOpen()) return;
    const isTyping = around(event, "input:not([type=checkbox]), textarea, select") !== null;
    const boundary = isTyping ? null : boundaryAction(app, event);
    if (event.altKey && !boundary) return;
    const run = isTyping
      ? event.key === "Escape" && (() => app.escape())
      : (boundary ?? rangeAction(app, event) ?? markAction(app, event) ?? actionFor(app, event, byKey));
    if (!run) return;
    event.preventDefault();
    // Whatever comes after a boundary is about the mention with its new one.
    if (!boundary && event.key !== "Escape" && app.navigation.isMovingBoundary) {
      app.navigation.commitBoundary().then(run);
    } else run();
  });
}

/**
 * Return what a key does.
 * @param {App} app
 * @param {KeyboardEvent} event
 * @param {Map<string, Binding>} byKey
 */
function actionFor(app, event, byKey) {
  const key = (event.ctrlKey ? "Control+" : "") + (event.key === " " ? "Space" : keyOf(app, event));
  const binding = byKey.get(key);
  if (!binding) return null;
  if (binding.inText) return isInText(app, event) ? binding.run : null;
  const isSingle = event.key.length === 1 && !event.ctrlKey && key !== "?";
  return isSingle && singleKeysAreOff() ? null : binding.run;
}

/**
 * Return what Shift or Alt and an arrow do: they move an end of the current mention.
 * @param {App} app
 * @param {KeyboardEvent} event
 */
function boundaryAction(app, event) {
  const { shiftKey, altKey, ctrlKey } = event;
  const key = keyOf(app, event);
  const direction = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
  if (!direction || ctrlKey || shiftKey === altKey || app.selection.range || !isInText(app, event)) {
    return null;
  }
  return () => app.navigation.moveBoundary(altKey ? "start" : "end", direction);
}

/**
 * Return what a key does while tokens are chosen: the arrow keys move among them.
 * @param {App} app
 * @param {KeyboardEvent} event
 */
function rangeAction(app, event) {
  const { actions, navigation, selection } = app;
  if (!selection.range || event.ctrlKey || !isInText(app, event)) return null;
  const { shiftKey } = event;
  /** @type {Record<string, () => unknown>} */
  const runs = {
    ArrowRight: () => navigation.moveByToken(1, shiftKey),
    ArrowLeft: () => navigation.moveByToken(-1, shiftKey),
    ArrowDown: () => navigation.moveByLine(1, shiftKey),
    ArrowUp: () => navigation.moveByLine(-1, shiftKey),
    Enter: () => actions.create(),
    Escape: () => navigation.leaveRange(),
  };
  return runs[keyOf(app, event)] ?? null;
}

/**
 * Return what Shift and a digit do: mark a choice of the question. Where digits themselves need Shift they answer.
 * @param {App} app
 * @param {KeyboardEvent} event
 */
function markAction({ queue }, { shiftKey, ctrlKey, code, key }) {
  const digit = /^Digit([1-5])$/.exec(code);
  if (!shiftKey || ctrlKey || !digit || /^[0-9]$/.test(key) || singleKeysAreOff()) return null;
  return () => queue.mark(Number(digit[1]));
}

/** @type {Record<string, string>} */
const MIRRORED = { ArrowLeft: "ArrowRight", ArrowRight: "ArrowLeft" };

/**
 * Return the key of an event; in a line that is read from right to left, the left arrow goes on.
 * @param {App} app
 * @param {KeyboardEvent} event
 */
function keyOf(app, event) {
  const mirrored = MIRRORED[event.key];
  if (!mirrored || !isInText(app, event)) return event.key;
  const line = around(event, ".line") ?? find(app.text.root, ".line");
  return line && getComputedStyle(line).direction === "rtl" ? mirrored : event.key;
}

/** @type {(app: App, event: Event) => boolean} */
const isInText = (app, { target }) =>
  target === document.body || (target instanceof Node && app.text.root.contains(target));

/** Return whether keys without Ctrl are switched off in this browser. */
const singleKeysAreOff = () => remembered(STORAGE_KEY) === "yes";

/** @type {Record<string, string>} */
const SYMBOLS = {
  ArrowRight: "→",
  ArrowLeft: "←",
  ArrowDown: "↓",
  ArrowUp: "↑",
  Escape: "Esc",
  Control: "Ctrl",
};

/**
 * Return a key as the overlay shows it: `Ctrl+Shift+Z`.
 * @param {string} key
 */
function keyLabel(key) {
  const parts = key.split("+");
  const last = parts.pop() ?? "";
  if (/^[A-Z]$/.test(last)) parts.push("Shift");
  const letter = parts.length && !(last in SYMBOLS) ? last.toUpperCase() : last;
  return [...parts, letter].map((part) => SYMBOLS[part] ?? part).join("+");
}

/**
 * Show the overlay that lists the keys.
 * @param {App} app
 */
export function showKeys(app) {
  const groups = Object.entries(bindings(app)).map(([title, rows]) => {
    const list = rows.flatMap(({ keys, label }) => [
      make("dt", {}, ...keys.flatMap((key, i) => [i ? " " : "", make("kbd", {}, keyLabel(key))])),
      make("dd", {}, label),
    ]);
    return make("section", {}, make("h3", {}, title), make("dl", { class: "keys" }, ...list));
  });
  const box = make("input", { type: "checkbox", id: "keys-on" });
  box.checked = !singleKeysAreOff();
  box.addEventListener("change", () => remember(STORAGE_KEY, box.checked ? "no" : "yes"));
  const choice = make("label", { class: "check" }, box, "use single-letter keys");
  openDialog("Keys", make("div", {}, make("div", { class: "key-groups" }, ...groups), choice), {
    kind: "help",
  });
}
