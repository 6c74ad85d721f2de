/** Names of annotators, shown or hidden: a reader can hide them, and a blind server never sends them. */
/** @import { Explanation, QuestionCard, State, Update } from "./types.js" */

const STORAGE_KEY = "caspr-blind";

/** Return whether this reader hides the names of annotators. */
export function namesAreHidden() {
  try {
    return localStorage.getItem(STORAGE_KEY) === "yes";
  } catch {
    return false;
  }
}

/** @param {boolean} hidden */
export function hideNames(hidden) {
  try {
    localStorage.setItem(STORAGE_KEY, hidden ? "yes" : "no");
  } catch {
    /* storage may be forbidden */
  }
}

/** @type {(number: number) => string} */
const pseudonym = (number) => `Annotator ${number + 1}`;

// What the program writes of who was added or corrected; `server/blind.py` has the same.
const BY_US =
  /(?<=^No longer fits since ).*? was (?:added|corrected)(?:, .*? was (?:added|corrected))*(?=: )|^annotations: .*/s;

/** @type {<T extends string | null>(text: T) => T} */
const hidden = (text) =>
  /** @type {typeof text} */ (text?.replace(BY_US, "annotators were added or corrected") ?? null);

/**
 * Return a state or an update without names in texts that the program wrote, if they are hidden.
 * @template {State | Update} T
 * @param {T} view
 * @returns {T}
 */
export function textsWithoutNames(view) {
  if (!namesAreHidden() || !("notes" in view)) return view;
  const notes = view.notes.map((note) => ({ ...note, text: hidden(note.text) }));
  return { ...view, undo: hidden(view.undo), redo: hidden(view.redo), notes };
}

/**
 * Return a state without names, if they are hidden.
 * @param {State} state
 * @returns {State}
 */
export function withoutNames(state) {
  if (!namesAreHidden()) return state;
  const annotators = state.annotators.map((_name, number) => pseudonym(number));
  return { ...textsWithoutNames(state), annotators };
}

/**
 * Return a question without names, if they are hidden; `names` are those of the annotators in their order.
 * @param {QuestionCard} card
 * @param {string[]} names
 * @returns {QuestionCard}
 */
export function cardWithoutNames(card, names) {
  if (!namesAreHidden()) return card;
  /** @type {(some: string[]) => string[]} */
  const renamed = (some) => some.map((name) => pseudonym(names.indexOf(name)));
  const { alone, absent, unseen } = card;
  const choices = card.choices.map((choice) => ({
    ...choice,
    says: renamed(choice.says),
    partly: renamed(choice.partly),
  }));
  return { ...card, choices, alone: renamed(alone), absent: renamed(absent), unseen: renamed(unseen) };
}

/**
 * Return an explanation without names, if they are hidden; `names` are those of the annotators in their order.
 * @param {Explanation} explanation
 * @param {string[]} names
 * @returns {Explanation}
 */
export function explanationWithoutNames(explanation, names) {
  if (!namesAreHidden()) return explanation;
  const votes = explanation.votes.map((vote) => ({
    ...vote,
    annotator: pseudonym(names.indexOf(vote.annotator)),
  }));
  return { ...explanation, votes };
}
