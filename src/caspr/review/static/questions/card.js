/** The card of one question: the mention in its context, the choices, all other answers, and what each answer means. */
import { bothEnds, phrase, spanOf } from "../state/tokens.js";
import { button, make } from "../ui/dom.js";
import { chip, counted, describePrice, gist, isolated, lineLabel, snippet, sureText } from "../ui/labels.js";
/** @import { App } from "../app.js" */
/** @import { Choice, ComputedPrice, MentionId, Operation, QuestionCard } from "../state/types.js" */

const KINDS = { link: "Which entity?", mention: "A mention?", boundary: "Which boundary?" };
const MOST_KEYS = 5;
const MOST_WORDS = 3;
/** How many characters head a choice. */
const HEAD = 60;
/** How many words are shown before and after a boundary, and how many characters of each of its ends. */
const BESIDE = 2;
const EACH_END = 40;
const LONGEST = 200;
const PARTLY =
  "These annotators link the mention to some of this entity, but not to the mention asked about, or to more of another entity";

const REJECTING =
  "Your answer also keeps it apart from the other entities shown. If two of them are the same entity, tick both first.";

/** The keys of the answers that every card has. */
export const KEYS = {
  another: "6",
  fresh: "7",
  alone: "8",
  absent: "9",
  none: "n",
  yes: "y",
  skip: "s",
  alike: "+",
};

/**
 * What the card needs of the queue.
 * @typedef {object} CardActions
 * @property {(choice: Choice) => unknown} choose
 * @property {(choice: Choice) => unknown} mark
 * @property {() => unknown} confirm
 * @property {() => unknown} another
 * @property {(op: Operation) => unknown} answer
 * @property {() => unknown} skip
 */

/**
 * Make a card. `marked` are the ids of choices that are one entity, `position` is where the question is in the list.
 * @param {App} app
 * @param {QuestionCard} card
 * @param {Set<string>} marked
 * @param {string} position
 * @param {CardActions} actions
 * @param {HTMLElement | null} update what is offered in its place
 */
export function questionCard(app, card, marked, position, actions, update) {
  const result = update ? "was the result" : "the result";
  const inPart = card.choices.find(({ now }) => now)?.partly.length;
  return make(
    "article",
    { class: "card", "aria-labelledby": "question", data: { question: card.id } },
    make(
      "p",
      { class: "kind" },
      make("span", {}, KINDS[card.kind]),
      make("span", { class: "soft" }, position),
    ),
    update,
    make("h2", { id: "question" }, ...isolated(questionText(app, card))),
    snippet(app.store, card.mention, app.goTo),
    make(
      "p",
      {
        class: "soft sure",
        title: "How often decisions with such votes were right where experts judged them",
      },
      `The result: ${sureText(card, inPart)}`,
    ),
    card.reason === null
      ? null
      : make(
          "p",
          { class: "reason" },
          make(
            "b",
            {},
            `${card.against === card.voters ? "No annotator agrees" : "Most annotators disagree"} with the result: `,
          ),
          ...isolated(`${card.reason}.`),
        ),
    make(
      "ol",
      { class: "choices", "aria-label": card.kind === "boundary" ? "Boundaries" : "Entities" },
      ...card.choices.map((choice, i) => {
        const main = choiceButton(app, card, choice, i, actions, result);
        return make("li", {}, main, card.choices.length < 2 ? null : markBox(card, choice, marked, actions));
      }),
    ),
    marked.size > 1 ? confirmButton(card, marked, actions) : null,
    otherAnswers(card, seenBy(app, card), actions, result),
    card.choices.length > 1 && card.kind !== "boundary"
      ? make("p", { class: "soft rejecting" }, REJECTING)
      : null,
  );
}

/**
 * Return the question, with the lines of its two mentions where they have the same words.
 * @param {App} app
 * @param {QuestionCard} card
 */
export function questionText({ store }, { kind, text, mention, choices }) {
  if (kind === "boundary" || choices.length !== 1) return text;
  const other = choices[0].telling ?? choices[0].anchor;
  const [words, same] = [mention, other].map((id) => store.words(id, LONGEST).toLowerCase());
  if (words !== same) return text;
  return `${text.slice(0, -1)} (${lineLabel(mention)} and ${lineLabel(other)})?`;
}

/**
 * @param {App} app
 * @param {QuestionCard} card
 * @param {Choice} choice
 * @param {number} i
 * @param {CardActions} actions
 * @param {string} result what is at the choice that the result has
 */
function choiceButton(app, card, choice, i, actions, result) {
  const key = i < MOST_KEYS ? String(i + 1) : undefined;
  const main = make(
    "button",
    {
      type: "button",
      class: choice.now ? "choice now" : "choice",
      "aria-keyshortcuts": key,
      data: { focusKey: `choice ${choice.id}`, choice: choice.id },
      on: { click: () => actions.choose(choice) },
    },
    key ? make("kbd", { "aria-hidden": "true" }, key) : null,
    choice === yesChoice(card) ? make("kbd", { "aria-hidden": "true" }, KEYS.yes) : null,
    make(
      "span",
      { class: "choice-body" },
      ...(card.kind === "boundary" ? boundaryLabel(app, choice) : entityLabel(app, choice)),
      make(
        "span",
        { class: "choice-foot" },
        choice.now ? make("span", { class: "tag result" }, result) : null,
        ...saying(choice, askedBy(app, card)),
        make("span", { class: "soft price" }, choice.now ? "" : priceText(choice)),
      ),
      choice.leaving.length ? leavingText(app, card, choice) : null,
    ),
  );
  if (i === 0) main.dataset.initialFocus = "";
  return main;
}

/**
 * @param {QuestionCard} card
 * @param {Choice} choice
 * @param {Set<string>} marked
 * @param {CardActions} actions
 */
function markBox({ kind }, choice, marked, actions) {
  const isBoundary = kind === "boundary";
  const box = make("input", {
    type: "checkbox",
    "aria-label": isBoundary ? "also a mention" : "also this entity",
    title: `If several of these are ${isBoundary ? "mentions" : "one entity"}, mark them (Shift and the number), then press y`,
    data: { focusKey: `mark ${choice.id}` },
    on: { change: () => actions.mark(choice) },
  });
  box.checked = marked.has(choice.id);
  return box;
}

/**
 * Return what heads the choice of an entity: its name, or words of it.
 * @param {App} app
 * @param {Choice} choice
 */
const headOf = ({ store }, { anchor, telling, chain }) =>
  store.chain(chain)?.name || store.words(telling ?? anchor, HEAD);

/**
 * Show an entity: what heads it, the mention that represents it with its line, and some others.
 * @param {App} app
 * @param {Choice} choice
 */
function entityLabel(app, choice) {
  const { store } = app;
  const { anchor, chain, mentions, size } = choice;
  const head = headOf(app, choice);
  /** @param {MentionId} id */
  const isHead = (id) => store.words(id, HEAD) === head;
  const near = isHead(anchor) ? "" : store.words(anchor, 40);
  const others = mentions.filter((id) => id !== anchor && !isHead(id));
  const words = new Set(others.map((id) => store.words(id, 28)));
  words.delete(near);
  const shown = [...words].slice(0, MOST_WORDS);
  return [
    make(
      "span",
      { class: "choice-head" },
      chain === null ? make("span", { class: "tag" }, "not in the result") : chip(chain),
      make("bdi", { class: "anchor" }, head),
    ),
    make(
      "span",
      { class: "soft others" },
      ...(near ? [make("bdi", {}, near), " "] : []),
      `in ${lineLabel(anchor)}`,
      ...(shown.length ? [" · ", make("bdi", {}, shown.join(" · "))] : []),
      `; ${counted(size, "mention")}`,
    ),
  ];
}

/**
 * Show a boundary with both of its ends, and what goes on before and after it.
 * @param {App} app
 * @param {Choice} choice
 */
function boundaryLabel({ store }, { anchor }) {
  const { start, end } = spanOf(anchor);
  const { tokens } = store.state;
  const before = start > 1 ? phrase(tokens, Math.max(1, start - BESIDE), start - 1) : "";
  const after = end < tokens.length ? phrase(tokens, end + 1, Math.min(tokens.length, end + BESIDE)) : "";
  const words = make(
    "bdi",
    { class: "anchor" },
    make("span", { class: "beside" }, before && `… ${before} `),
    `[${bothEnds(tokens, start, end, EACH_END)}]`,
    make("span", { class: "beside" }, after && ` ${after} …`),
  );
  return [make("span", { class: "choice-head" }, words)];
}

/**
 * Return how many annotators saw a mention.
 * @param {App} app
 * @param {QuestionCard} card
 */
const seenBy = ({ store }, { unseen }) => store.state.annotators.length - unseen.length;

/**
 * Return of how many annotators those are counted who say something: who marked a mention say where it ends,
 * who saw it say of which entity it is.
 * @param {App} app
 * @param {QuestionCard} card
 */
const askedBy = (app, card) => (card.kind === "boundary" ? card.voters : seenBy(app, card));

/**
 * Say how many annotators say something, and who.
 * @param {string[]} names
 * @param {number} asked how many annotators there are to say so
 * @param {string} who which annotators these are, if others are counted beside
 */
const namesOf = (names, asked, who = "") =>
  make("span", { class: "says" }, `${names.length} of ${asked}${who}: ${names.join(", ")}`);

/**
 * Say which annotators say so, and which do in part.
 * @param {Choice} choice
 * @param {number} asked how many annotators there are to say so
 */
function saying({ says, partly }, asked) {
  const wholly = says.filter((name) => !partly.includes(name));
  if (!wholly.length && !partly.length) return [make("span", { class: "says" }, "no annotator")];
  return [
    wholly.length ? namesOf(wholly, asked) : null,
    partly.length ? make("span", { class: "partly", title: PARTLY }, `in part ${partly.join(", ")}`) : null,
  ];
}

/**
 * Say which mentions leave the entity with an answer.
 * @param {App} app
 * @param {QuestionCard} card
 * @param {Choice} choice
 */
function leavingText({ store }, { mention }, { leaving }) {
  const asked = spanOf(mention);
  const listed = leaving
    .slice(0, MOST_WORDS)
    .flatMap((id, i) => [i ? ", " : "", make("bdi", {}, `“${store.words(id, 28)}”`), ` (${lineLabel(id)})`]);
  const more = leaving.length > MOST_WORDS ? ` and ${leaving.length - MOST_WORDS} more` : "";
  const [verb, overlaps] =
    leaving.length === 1 ? [" leaves it then", "it overlaps"] : [" leave it then", "they overlap"];
  const nested = leaving.map(spanOf).every(({ start, end }) => start <= asked.end && asked.start <= end);
  const why = nested ? `, because ${overlaps} this mention` : "";
  return make("span", { class: "leaving" }, ...listed, more, verb, why);
}

/** @param {ComputedPrice} price */
const priceText = (price) => (price.computed ? describePrice(price) : "price is being computed");

/**
 * @param {QuestionCard} card
 * @param {Set<string>} marked
 * @param {CardActions} actions
 */
function confirmButton(card, marked, actions) {
  const statement = card.kind === "boundary" ? "All of these are mentions" : "These are one entity";
  return button(`${statement} (${marked.size})`, actions.confirm, {
    key: KEYS.yes,
    kind: "strong",
    focusKey: "confirm",
  });
}

/**
 * @param {QuestionCard} card
 * @param {number} seen how many annotators saw the mention
 * @param {CardActions} actions
 * @param {string} result what is at the answer that the result has
 */
function otherAnswers(card, seen, actions, result) {
  const { alone, absent, choices, none, now, unseen } = card;
  const isBoundary = card.kind === "boundary";
  /** @type {(label: string, key: string, act: () => unknown, names?: string[], isNow?: boolean) => HTMLElement} */
  const item = (label, key, act, names = [], isNow = false) =>
    make(
      "li",
      {},
      button(label, act, { key, focusKey: `answer ${key}`, kind: isNow ? "now" : "" }),
      names.length ? namesOf(names, seen, isBoundary ? " who saw it" : "") : null,
      isNow && !yesChoice(card) ? make("kbd", { "aria-hidden": "true" }, KEYS.yes) : null,
      isNow ? make("span", { class: "tag result" }, result) : null,
    );
  /** @type {(op: Operation) => () => unknown} */
  const answer = (op) => () => actions.answer(op);
  const items = isBoundary
    ? [item("Not a mention", KEYS.absent, answer(absentAnswer(card)), absent, now === "absent")]
    : [
        item("Another entity …", KEYS.another, actions.another),
        item("A new entity, maybe with others", KEYS.fresh, answer(freshAnswer(card))),
        item("Alone: its only mention", KEYS.alone, answer(aloneAnswer(card)), alone, now === "alone"),
        item("Not a mention", KEYS.absent, answer(absentAnswer(card)), absent, now === "absent"),
      ];
  if (!isBoundary && choices.length) {
    items.push(item(choices.length > 1 ? "None of these" : "Not the same", KEYS.none, answer(none)));
  }
  items.push(item("Skip", KEYS.skip, actions.skip));
  return make(
    "div",
    { class: "other-answers" },
    make("ul", {}, ...items),
    now === "entity" && !isBoundary
      ? make("p", { class: "soft leave" }, `If it is none of these entities: ${priceText(card.leave)}`)
      : null,
    unseen.length ? make("p", { class: "soft" }, `Not seen by ${unseen.join(", ")}`) : null,
  );
}

/**
 * Offer to show what became of a question since it is on the screen.
 * @param {QuestionCard} later
 * @param {() => unknown} show
 */
export function offer(later, show) {
  const text = later.open
    ? "The result has changed since this was shown."
    : "This question has been answered in the meantime.";
  const label = later.open ? "Show it as it is now" : "Next question";
  return make(
    "p",
    { class: "offer", role: "status" },
    text,
    button(label, show, { key: ".", focusKey: "offer" }),
  );
}

/**
 * Return the words of the entity under which questions are listed.
 * @param {App} app
 * @param {string} chain
 */
export const entityWords = ({ store }, chain) => store.chain(chain)?.name || gist(store, chain, 2);

/**
 * Return the words of the entity that an answer says a mention is of, as the card has them; none if it says another thing.
 * @param {App} app
 * @param {QuestionCard} card
 * @param {Operation} op
 */
export function chosenWords(app, { kind, choices }, op) {
  const choice = choices.find(({ answer }) => answer === op);
  if (choice) return kind === "boundary" ? "" : headOf(app, choice);
  return op.do === "place" && op.chain ? entityWords(app, op.chain) : "";
}

/**
 * Return the answer that a mention is of an entity that is not offered.
 * @param {QuestionCard} card
 * @returns {Operation}
 */
export const freshAnswer = (card) => ({
  do: "place",
  mention: card.mention,
  with: [],
  apart: allDoubts(card),
  exists: true,
});

/**
 * Return all mentions that the asked one is different from if another entity is chosen.
 * @param {QuestionCard} card
 */
export const allDoubts = ({ choices }) => choices.flatMap(({ doubts }) => doubts);

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
 * Return what yes means: the marked choices, the only choice, or what the result says; nothing if the result is an
 * entity that the card does not show.
 * @param {QuestionCard} card
 * @param {Set<string>} marked
 * @returns {Operation | null}
 */
export function yesAnswer(card, marked) {
  if (marked.size) return severalAnswer(card, marked);
  const chosen = yesChoice(card);
  if (chosen) return chosen.answer;
  if (card.now === "entity") return null;
  return card.now === "alone" ? aloneAnswer(card) : absentAnswer(card);
}

/**
 * Return the choice that yes means if none is marked: the only one, or what the result says.
 * @param {QuestionCard} card
 */
const yesChoice = ({ choices }) => (choices.length === 1 ? choices[0] : choices.find(({ now }) => now));

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
function severalAnswer(card, marked) {
  const chosen = card.choices.filter(({ id }) => marked.has(id));
  const rest = card.choices.filter(({ id }) => !marked.has(id));
  if (card.kind === "boundary") {
    return {
      do: "prefer",
      mentions: chosen.map(({ anchor }) => anchor),
      over: rest.map(({ anchor }) => anchor),
    };
  }
  return {
    do: "place",
    mention: card.mention,
    with: chosen.flatMap(({ doubts }) => doubts),
    apart: rest.flatMap(({ doubts }) => doubts),
  };
}

/**
 * Return whether a question asks and offers the same when it is read again, prices apart.
 * @param {QuestionCard} card
 * @param {QuestionCard} later
 */
export function sameQuestion(card, later) {
  /** @param {QuestionCard} card */
  const content = ({ id, mention, text, alone, absent, now, reason, choices }) =>
    JSON.stringify([
      [id, mention, text, alone, absent, now, reason],
      choices.map((choice) => [
        choice.id,
        choice.anchor,
        choice.mentions,
        choice.says,
        choice.partly,
        choice.now,
      ]),
    ]);
  return content(card) === content(later);
}

/**
 * Return a card's prices, filled in from the same card read later; a price that was known stays.
 * @param {QuestionCard} card
 * @param {QuestionCard} later
 */
export function pricesOf(card, later) {
  const choices = card.choices.map((choice, i) => {
    const { price, exact, possible, computed, leaving } = later.choices[i];
    return computed ? { ...choice, price, exact, possible, computed, leaving } : choice;
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
