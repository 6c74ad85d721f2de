/** The decisions, newest first, each to be shown or taken back; and the notes. */
import { LABELS } from "../state/operation_words.js";
import { chip } from "../ui/chain_label.js";
import { button, fill, make } from "../ui/dom.js";
import { askJudgement } from "../ui/ask_judgement.js";
import { reference } from "../ui/snippet.js";
import { counted, lineLabel, shortTime } from "../ui/words.js";
import { Panel } from "./panel.js";
/** @import { App } from "../app.js" */
/** @import { Decision, Note } from "../state/types.js" */
/** @import { Child } from "../ui/dom.js" */

const FEW = 4;

export class DecisionList extends Panel {
  render() {
    const { decisions, notes } = this.app.store.state;
    const writeNote = () => {
      this.app.selection.goTo(null);
      this.app.actions.note();
    };
    const write = button("Write a note on the document", writeNote, { kind: "quiet" });
    write.dataset.initialFocus = "";
    const items = [...decisions].reverse().map((decision) => decisionItem(this.app, decision));
    fill(
      this.root,
      make("h2", {}, counted(decisions.length, "decision")),
      items.length
        ? make("ol", { class: "decision-list" }, ...items)
        : make(
            "p",
            { class: "empty" },
            "Nothing is enforced yet. The result is what the annotators say together.",
          ),
      make("h2", {}, counted(notes.length, "note")),
      noteList(this.app, notes),
      write,
    );
  }
}

/**
 * Make the item of one decision; `onFreed` is called when it was taken back.
 * @param {App} app
 * @param {Decision} decision
 */
export function decisionItem(app, decision, { onShow = () => {}, onFreed = () => {} } = {}) {
  const show = () => {
    onShow();
    app.showDecision(decision);
  };
  const free = async () => {
    if (await app.act({ do: "free", decisions: [decision.id] })) onFreed();
  };
  return make(
    "li",
    { data: { decision: decision.id } },
    make("span", { class: "tag" }, decision.kind === "chain" ? "in chain" : LABELS[decision.kind]),
    make("span", { class: "words", title: decision.label }, ...subject(app, decision)),
    make("span", { class: "soft made" }, madeBy(decision), judged(decision)),
    make(
      "span",
      { class: "buttons" },
      button("Show", show, { name: `Show: ${decision.label}` }),
      button("Judge …", () => askJudgement(app, decision), { name: `Judge: ${decision.label}` }),
      button("Take back", free, { name: `Take back: ${decision.label}` }),
    ),
  );
}

/**
 * Show what a decision is about: the words of its mentions, else of its tokens.
 * @param {App} app
 * @param {Decision} decision
 * @returns {Child[]}
 */
function subject(app, { kind, mentions, chain, tokens, label }) {
  /** @type {Child[]} */
  const parts = mentions
    .slice(0, FEW)
    .flatMap((id, i) => [i ? ", " : "", reference(app.store, id, app.goTo)]);
  if (mentions.length > FEW) parts.push(` and ${mentions.length - FEW} more`);
  if (kind === "chain" && chain !== null) parts.push(" ", chip(chain));
  if (kind === "name") parts.push(` ${label.slice(label.search(/ (is named|has no|of type) /))}`);
  if (parts.length) return parts;
  return [
    make("bdi", {}, tokens.map((token) => app.store.words(`${token}-${token}`, 30)).join(" ")),
    ` (${lineLabel(`${tokens[0]}-${tokens[0]}`)})`,
  ];
}

/**
 * Say who decided or wrote something, and when.
 * @param {{ by: string | null, at: string | null }} made
 */
const madeBy = ({ by, at }) => (by ? `${by}, ${shortTime(at)}` : "");

/**
 * Say what a decision corrects, and how sure who made it is.
 * @param {Decision} decision
 */
const judged = ({ category, confidence }) =>
  [category, confidence && `${confidence} confidence`]
    .filter(Boolean)
    .map((text) => ` · ${text}`)
    .join("");

/**
 * Make the list of some notes, or nothing.
 * @param {App} app
 * @param {Note[]} notes
 */
export const noteList = (app, notes) =>
  notes.length ? make("ul", { class: "notes" }, ...notes.map((note) => noteItem(app, note))) : null;

/**
 * @param {App} app
 * @param {Note} note
 */
function noteItem(app, note) {
  return make(
    "li",
    {},
    note.mention
      ? reference(app.store, note.mention, app.goTo)
      : make("span", { class: "soft" }, "on the document"),
    make("p", { dir: "auto" }, note.text),
    make("span", { class: "soft made" }, madeBy(note)),
    button("Delete", () => app.act({ do: "unnote", id: note.id }), {
      kind: "quiet",
      name: `Delete the note: ${note.text.slice(0, 60)}`,
    }),
  );
}
