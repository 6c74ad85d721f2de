/** The decisions, newest first, each to be shown or taken back; and the notes. */
import { askForm, labelled, lineField } from "../ui/dialogs.js";
import { button, fill, make, menu } from "../ui/dom.js";
import { LABELS, chip, counted, lineLabel, reference, shortTime } from "../ui/labels.js";
import { Panel } from "../ui/tabs.js";
/** @import { App } from "../app.js" */
/** @import { Decision, DecisionKind, Note } from "../state/types.js" */
/** @import { Child } from "../ui/dom.js" */

const FEW = 4;
const HELD =
  "An answer named this entity: these mentions stay together, so that it is still the entity that was shown";
const FEW_NOTES = 2;
const FLAGS = ["generic", "ambiguous", "later"];
const CATEGORIES = [
  "boundary",
  "missed mention",
  "not a mention",
  "wrong entity",
  "entities merged",
  "entity split",
  "guidelines unclear",
];
const CONFIDENCES = { "": "not stated", low: "low", medium: "medium", high: "high" };

export class DecisionList extends Panel {
  render() {
    const { decisions, notes } = this.app.store.state;
    const flags = notes.filter((note) => note.flag);
    const wanted = this.#search.value.trim().toLowerCase();
    const matches = (/** @type {Note} */ { flag, text, mention, by }) =>
      [flag, text, mention && this.app.store.words(mention, 200), by]
        .join(" ")
        .toLowerCase()
        .includes(wanted);
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
            "Nothing is decided yet: the result follows from the annotators' votes, and from your rules if there are any.",
          ),
      make("h2", {}, `${counted(flags.length, "flag")}, ${counted(notes.length - flags.length, "note")}`),
      notes.length > FEW_NOTES ? this.#search : null,
      noteList(this.app, notes.filter(matches)),
      write,
    );
  }

  /** The field that says which flags and notes are listed. */
  #search = make("input", {
    type: "search",
    placeholder: "Search flags and notes",
    "aria-label": "Search flags and notes",
    data: { focusKey: "search notes" },
    on: { input: () => this.render() },
  });
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
    make("span", { class: "tag", title: decision.kind === "entity" ? HELD : undefined }, tag(decision.kind)),
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

/** @type {(kind: DecisionKind) => string} */
const tag = (kind) => {
  if (kind === "entity") return "entity held";
  return kind === "enforced" || kind === "cells" ? "in an entity" : LABELS[kind];
};

/**
 * Show what a decision is about: the words of its mentions, else of its tokens.
 * @param {App} app
 * @param {Decision} decision
 * @returns {Child[]}
 */
function subject(app, { kind, mentions, chain, tokens, name, type }) {
  /** @type {Child[]} */
  const parts = (kind === "empty" ? [] : mentions)
    .slice(0, FEW)
    .flatMap((id, i) => [i ? ", " : "", reference(app.store, id, app.goTo)]);
  if (parts.length && mentions.length > FEW) parts.push(` and ${mentions.length - FEW} more`);
  if (chain !== null) parts.push(" ", chip(chain));
  if (name !== null) parts.push(name ? ` is named “${name}”` : " has no name");
  if (type !== null) parts.push(type ? ` is of type “${type}”` : " has no type");
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
    note.flag ? make("b", { class: "flag" }, make("bdi", {}, `⚑ ${note.flag}`)) : null,
    note.text ? make("p", { dir: "auto" }, note.text) : null,
    make("span", { class: "soft made" }, madeBy(note)),
    button("Delete", () => app.act({ do: "unnote", id: note.id }), {
      kind: "quiet",
      name: `Delete the ${note.flag ? "flag" : "note"}: ${(note.flag || note.text).slice(0, 60)}`,
    }),
  );
}

/**
 * Ask for a flag and a note beside it; those that were used are offered, too.
 * @param {string} title
 * @param {Note[]} notes
 * @param {(said: { flag: string, text: string }) => unknown} done
 */
export function askFlag(title, notes, done) {
  const { field, list } = lineField("flag", "", [...FLAGS, ...notes.map((note) => note.flag)], 60);
  const text = make("textarea", { rows: "3", id: "flag-note" });
  const take = (/** @type {string} */ flag) => {
    field.value = flag;
    field.focus();
  };
  const choices = FLAGS.map((flag) => button(flag, () => take(flag)));
  const content = [
    make("div", { class: "buttons" }, ...choices),
    ...labelled("Flag", field),
    list,
    ...labelled("Note (may be empty)", text),
  ];
  askForm(title, content, () => {
    const flag = field.value.trim();
    if (flag) done({ flag, text: text.value.trim() });
  });
}

/**
 * Ask what kind of error a decision corrects and how sure one is of it, and save that.
 * @param {App} app
 * @param {Decision} decision
 */
function askJudgement(app, decision) {
  const { category, confidence } = decision;
  const used = app.store.state.decisions.map((known) => known.category);
  const { field, list } = lineField("category", category, [...used, ...CATEGORIES], 60);
  const sure = menu("Confidence", CONFIDENCES, () => {});
  sure.id = "confidence";
  sure.value = confidence;
  const content = [
    make("p", { class: "soft" }, decision.label),
    ...labelled("Category of the error", field),
    list,
    ...labelled("Confidence", sure),
  ];
  askForm("Judge this decision", content, () => {
    const said = { category: field.value.trim(), confidence: sure.value };
    if (said.category === category && said.confidence === confidence) return;
    app.act({ do: "rate", decisions: [decision.id], ...said });
  });
}
