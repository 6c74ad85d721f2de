/** Names of annotators, shown or hidden: a reader can hide them, and a blind server never sends them. */
/** @import { Explanation, QuestionCard, State } from "./types.js" */

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

/**
 * Return a state without names, if they are hidden.
 * @param {State} state
 * @returns {State}
 */
export function withoutNames(state) {
  if (!namesAreHidden()) return state;
  return { ...state, annotators: state.annotators.map((_name, number) => pseudonym(number)) };
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
  const hidden = (some) => some.map((name) => pseudonym(names.indexOf(name)));
  const { alone, absent, unseen } = card;
  const choices = card.choices.map((choice) => ({ ...choice, says: hidden(choice.says) }));
  return { ...card, choices, alone: hidden(alone), absent: hidden(absent), unseen: hidden(unseen) };
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
