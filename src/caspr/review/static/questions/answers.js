/** Cards of questions: the answers that they allow, and what of them differs later. */
/** @import { Operation, QuestionCard } from "../state/types.js" */

/**
 * Return the answer that a mention is of an entity that is not offered.
 * @param {QuestionCard} card
 * @returns {Operation}
 */
export function freshAnswer({ mention, choices }) {
  const apart = choices.flatMap((choice) => choice.doubts);
  return { do: "place", mention, with: [], apart, exists: true };
}

/**
 * Return the answer that a question is about no mention.
 * @param {QuestionCard} card
 * @returns {Operation}
 */
export const absentAnswer = ({ kind, mention, choices }) => ({
  do: "absent",
  mentions: kind === "boundary" ? choices.map(({ anchor }) => anchor) : [mention],
});

/**
 * Return the answer that a mention is without others.
 * @param {QuestionCard} card
 * @returns {Operation}
 */
export const aloneAnswer = ({ mention }) => ({ do: "alone", mentions: [mention] });

/**
 * Return what yes means: the marked choices, the only choice, or what the result says.
 * @param {QuestionCard} card
 * @param {Set<string>} marked
 * @returns {Operation}
 */
export function yesAnswer(card, marked) {
  const { choices } = card;
  if (marked.size) return severalAnswer(card, marked);
  const chosen = choices.length === 1 ? choices[0] : choices.find((choice) => choice.now);
  if (chosen) return chosen.answer;
  return card.now === "alone" ? aloneAnswer(card) : absentAnswer(card);
}

/**
 * Return what no means: none of the choices.
 * @param {QuestionCard} card
 */
export const noAnswer = (card) =>
  card.kind === "boundary" || !card.choices.length ? absentAnswer(card) : card.none;

/**
 * Return the answer that a mention is of one entity with several choices, or that several boundaries are mentions.
 * @param {QuestionCard} card
 * @param {Set<string>} marked
 * @returns {Operation}
 */
function severalAnswer({ kind, mention, choices }, marked) {
  const chosen = choices.filter(({ id }) => marked.has(id));
  const left = choices.filter(({ id }) => !marked.has(id));
  const anchors = chosen.map(({ anchor }) => anchor);
  if (kind === "boundary") {
    return { do: "prefer", mentions: anchors, over: left.map(({ anchor }) => anchor) };
  }
  return {
    do: "place",
    mention,
    with: chosen.flatMap(({ doubts }) => doubts),
    apart: left.flatMap(({ doubts }) => doubts),
  };
}

/**
 * Return whether two cards ask and offer the same, prices apart.
 * @param {QuestionCard} one
 * @param {QuestionCard} other
 */
export function sameQuestion(one, other) {
  /** @param {QuestionCard} card */
  const content = ({ id, mention, text, choices, alone, absent, now, reason }) =>
    JSON.stringify([
      [id, mention, text, alone, absent, now, reason],
      choices.map(({ id: choice, anchor, mentions, says, partly, now: isNow }) => [
        choice,
        anchor,
        mentions,
        says,
        partly,
        isNow,
      ]),
    ]);
  return content(one) === content(other);
}

/**
 * Return a card's prices, filled in from the same card read later; a price that was known stays.
 * @param {QuestionCard} card
 * @param {QuestionCard} later
 */
export function pricesOf(card, later) {
  const choices = card.choices.map((choice, i) => {
    const { price, exact, possible, computed } = later.choices[i];
    return computed ? { ...choice, price, exact, possible, computed } : choice;
  });
  return { choices, leave: later.leave.computed ? later.leave : card.leave };
}

/**
 * Return the mentions that the text shows with a question.
 * @param {QuestionCard} card
 */
export const shownMentions = ({ mention, choices }) => [
  mention,
  ...choices.slice(0, 2).map(({ anchor }) => anchor),
];
