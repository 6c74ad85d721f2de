/** The card of one question: the mention in its context, the choices, and all other answers. */
import { absentAnswer, aloneAnswer, freshAnswer } from "./answers.js";
import { chip, gist } from "../ui/chain_label.js";
import { button, make } from "../ui/dom.js";
import { snippet } from "../ui/snippet.js";
import { counted, describePrice } from "../ui/words.js";
/** @import { App } from "../app.js" */
/** @import { Choice, ComputedPrice, Operation, QuestionCard } from "../state/types.js" */

const KINDS = { link: "Which entity?", mention: "A mention?", boundary: "Which boundary?" };
const MOST_KEYS = 5;
const SHOWN = 3;

/** The keys of the answers that every card has. */
export const KEYS = { another: "6", fresh: "7", alone: "8", absent: "9", none: "n", yes: "y", skip: "s" };

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
  const isBoundary = card.kind === "boundary";
  const result = update ? "was the result" : "the result";
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
    make("h2", { id: "question", dir: "auto" }, card.text),
    snippet(app.store, card.mention, app.goTo),
    card.reason === null
      ? null
      : make("p", { class: "reason" }, make("b", {}, "Most annotators say otherwise: "), `${card.reason}.`),
    make(
      "ol",
      { class: "choices", "aria-label": isBoundary ? "Boundaries" : "Entities" },
      ...card.choices.map((choice, i) => choiceItem(app, card, choice, i, marked, actions, result)),
    ),
    marked.size > 1 ? confirmButton(card, marked, actions) : null,
    otherAnswers(card, actions, result),
  );
}

/**
 * @param {App} app
 * @param {QuestionCard} card
 * @param {Choice} choice
 * @param {number} i
 * @param {Set<string>} marked
 * @param {CardActions} actions
 * @param {string} result what is at the choice that the result has
 */
function choiceItem(app, card, choice, i, marked, actions, result) {
  const key = i < MOST_KEYS ? String(i + 1) : undefined;
  const isBoundary = card.kind === "boundary";
  const label = isBoundary ? boundaryLabel(app, choice) : entityLabel(app, choice);
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
    make(
      "span",
      { class: "choice-body" },
      ...label,
      make(
        "span",
        { class: "choice-foot" },
        choice.now ? make("span", { class: "tag result" }, result) : null,
        ...saying(choice),
        make("span", { class: "soft price" }, choice.now ? "" : priceText(choice)),
      ),
    ),
  );
  if (i === 0) main.dataset.initialFocus = "";
  if (card.choices.length < 2) return make("li", {}, main);
  const box = make("input", {
    type: "checkbox",
    "aria-label": isBoundary ? "a mention, too" : "one of several chains of this entity",
    title: isBoundary
      ? "Several of these are mentions: mark them (Shift and the key), then y"
      : "Several of these are one entity: mark them (Shift and the key), then y",
    data: { focusKey: `mark ${choice.id}` },
    on: { change: () => actions.mark(choice) },
  });
  box.checked = marked.has(choice.id);
  return make("li", {}, main, box);
}

/**
 * @param {App} app
 * @param {Choice} choice
 */
function entityLabel({ store }, choice) {
  const anchor = make("bdi", { class: "anchor" }, store.words(choice.anchor, 60));
  const others = [
    ...new Set(choice.mentions.filter((id) => id !== choice.anchor).map((id) => store.words(id, 28))),
  ];
  const shown = others.slice(0, SHOWN).join(" · ");
  const size = counted(choice.size, "mention");
  const name = choice.chain === null ? null : store.chain(choice.chain)?.name;
  return [
    make(
      "span",
      { class: "choice-head" },
      choice.chain === null ? make("span", { class: "tag" }, "not in the result") : chip(choice.chain),
      name ? make("bdi", { class: "anchor" }, name) : anchor,
    ),
    make(
      "bdi",
      { class: "soft others" },
      [name ? store.words(choice.anchor, 40) : "", shown].filter(Boolean).join(" · "),
      shown || name ? ` (${size})` : size,
    ),
  ];
}

/**
 * Show a boundary inside the words around it.
 * @param {App} app
 * @param {Choice} choice
 */
function boundaryLabel({ store }, choice) {
  return [
    make(
      "span",
      { class: "choice-head" },
      make("bdi", { class: "anchor" }, `[${store.words(choice.anchor, 90)}]`),
    ),
  ];
}

const PARTLY =
  "These annotators link the mention with some mentions of this entity, but not with the one that is asked about, or with more of another entity";

/**
 * Say which annotators say so, and which do in part.
 * @param {Choice} choice
 */
function saying({ says, partly }) {
  const wholly = says.filter((name) => !partly.includes(name));
  if (!wholly.length && !partly.length) return [make("span", { class: "says" }, "no annotator")];
  return [
    wholly.length ? make("span", { class: "says" }, wholly.join(", ")) : null,
    partly.length ? make("span", { class: "partly", title: PARTLY }, `in part ${partly.join(", ")}`) : null,
  ];
}

/** @param {ComputedPrice} price */
const priceText = (price) => (price.computed ? describePrice(price) : "price being computed");

/**
 * @param {QuestionCard} card
 * @param {Set<string>} marked
 * @param {CardActions} actions
 */
function confirmButton(card, marked, actions) {
  const what = card.kind === "boundary" ? "All of these are mentions" : "These are one entity";
  return button(`${what} (${marked.size})`, actions.confirm, {
    key: KEYS.yes,
    kind: "strong",
    focusKey: "confirm",
  });
}

/**
 * @param {QuestionCard} card
 * @param {CardActions} actions
 * @param {string} result what is at the answer that the result has
 */
function otherAnswers(card, actions, result) {
  const isBoundary = card.kind === "boundary";
  /** @type {(label: string, key: string, act: () => unknown, names?: string[], now?: boolean) => HTMLElement} */
  const other = (label, key, act, names = [], now = false) =>
    make(
      "li",
      {},
      button(label, act, { key, focusKey: `answer ${key}`, kind: now ? "now" : "" }),
      names.length ? make("span", { class: "says" }, names.join(", ")) : null,
      now ? make("span", { class: "tag result" }, result) : null,
    );
  const items = isBoundary
    ? []
    : [
        other("Another entity …", KEYS.another, actions.another),
        other("A new entity", KEYS.fresh, () => actions.answer(freshAnswer(card))),
        other("Alone", KEYS.alone, () => actions.answer(aloneAnswer(card)), card.alone, card.now === "alone"),
      ];
  items.push(
    other(
      "Not a mention",
      KEYS.absent,
      () => actions.answer(absentAnswer(card)),
      card.absent,
      !isBoundary && card.now === "absent",
    ),
  );
  if (!isBoundary && card.choices.length) {
    const none = card.choices.length > 1 ? "None of these" : "Not the same";
    items.push(other(none, KEYS.none, () => actions.answer(card.none)));
  }
  items.push(other("Skip", KEYS.skip, actions.skip));
  return make(
    "div",
    { class: "other-answers" },
    make("ul", {}, ...items),
    card.now === "entity" && !isBoundary
      ? make("p", { class: "soft leave" }, `Without these entities: ${priceText(card.leave)}`)
      : null,
    card.unseen.length ? make("p", { class: "soft" }, `Did not see it: ${card.unseen.join(", ")}`) : null,
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
    : "This question has been answered meanwhile.";
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
