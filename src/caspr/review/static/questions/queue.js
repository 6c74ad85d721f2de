/**
 * The questions: a card that stays as it is until its reader leaves it, and the list of all of them.
 *
 * What is on the screen is what is answered: an answer names the mentions of the card. Updates that arrive later,
 * from another tab, an editor or a search that went on, change the list; the card only says that it has changed and
 * offers to show that. What the result says is then not on the screen any more, so `y` is not taken. After a step of
 * the reader the question is shown as it is now at once. Prices are filled in when they are computed.
 */
import {
  absentAnswer,
  aloneAnswer,
  freshAnswer,
  noAnswer,
  pricesOf,
  sameQuestion,
  shownMentions,
  yesAnswer,
} from "./answers.js";
import { QuestionPlace } from "./place.js";
import { QuestionRows } from "./rows.js";
import { askChain } from "../ui/choose_chain.js";
import { fill } from "../ui/dom.js";
import { offer, questionCard } from "./card.js";
import { emptyText, questionFilters, questionList, stakesText } from "./list.js";
/** @import { App } from "../app.js" */
/** @import { ChainId, Choice, MentionId, Operation, QuestionCard, QuestionRow } from "../state/types.js" */

const LIST_STEP = 40;
const PAUSE = 300;

export class QuestionQueue {
  /** @type {QuestionCard | null} */
  #card = null;
  /** @type {QuestionCard | null} the same question as it is now, if that differs */
  #later = null;
  /** @type {Set<string>} */
  #marked = new Set();
  /** @type {string | null} the question whose answer was refused; what is done about that answers it */
  #refused = null;
  #busy = false;
  /** Whether the reader made a step since the questions were read. */
  #stepped = false;
  #listed = LIST_STEP;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer = undefined;
  #request = 0;
  #reading = 0;

  /**
   * @param {HTMLElement} root
   * @param {App} app
   */
  constructor(root, app) {
    this.root = root;
    this.app = app;
    this.place = new QuestionPlace(`${location.pathname} ${app.store.state.title}`);
    this.list = new QuestionRows(this.place);
    this.render();
  }

  /** Read the questions after a pause; several calls in a row read them once. */
  load(pause = PAUSE) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#load(), pause);
  }

  /** Read the questions; what comes later than the answer to a newer request is ignored. */
  async #load() {
    const { list } = this;
    const reading = ++this.#reading;
    try {
      const read = await this.app.api.read(`questions?${this.place.query}`);
      if (reading !== this.#reading) return;
      const stepped = this.#stepped;
      this.#stepped = false;
      list.replace(read);
      if (this.#card) await this.#lookAgain(this.#card, stepped);
      else if (!this.#busy) {
        const wanted = list.rows[list.indexOf(this.place.now.current)] ?? list.rows[0] ?? null;
        await this.#ask(wanted, { move: false });
      }
    } catch {
      /* a banner shows that the server does not answer; the old questions stay */
    }
    this.render();
  }

  /** The reader makes a step: the question on the screen is shown as it is after it, unless it is refused. */
  onStep(made = true) {
    this.#stepped = made;
  }

  /** The mentions of the question on the screen: the asked one, and those of its first choices. */
  get asked() {
    return this.#card ? shownMentions(this.#card) : [];
  }

  /**
   * Go to the next question (1) or the previous one (-1).
   * @param {1 | -1} step
   */
  move(step) {
    const { app } = this;
    app.side.show("queue");
    const { list } = this;
    const next = list.rows[list.indexOf(this.#card?.id) + step];
    if (next) this.#ask(next);
    else if (!list.rows.length) app.say("There is no open question.");
    else app.say(step > 0 ? "That was the last question." : "That was the first question.");
  }

  /** @param {number} number that of the choice on the card to answer with */
  choose(number) {
    const choice = this.#answerable()?.choices[number - 1];
    if (choice) this.#answer(choice.answer);
    else if (this.#card) this.app.say(`This question has no choice ${number}.`);
  }

  /** @param {number} number that of the choice on the card to mark as one of several */
  mark(number) {
    const choice = this.#answerable()?.choices[number - 1];
    if (choice) this.#toggle(choice);
  }

  /** Say yes: the marked choices, the only choice, or what the result says; the last two only if they still stand. */
  yes() {
    const card = this.#answerable();
    if (card && this.#later && !this.#marked.size) {
      this.app.say("This question has changed, so y was not taken: . shows it as it is now.");
    } else if (card) this.#answer(yesAnswer(card, this.#marked));
  }

  /** Say no: none of these. */
  no() {
    const card = this.#answerable();
    if (card) this.#answer(noAnswer(card));
  }

  /** The mention of the card is of an entity that is not offered. */
  fresh() {
    const card = this.#answerable();
    if (card && card.kind !== "boundary") this.#answer(freshAnswer(card));
  }

  /** The mention of the card is a mention without others. */
  alone() {
    const card = this.#answerable();
    if (card && card.kind !== "boundary") this.#answer(aloneAnswer(card));
  }

  /** The mention of the card is none. */
  absent() {
    const card = this.#answerable();
    if (card) this.#answer(absentAnswer(card));
  }

  /** Ask for another entity of the result. */
  another() {
    const card = this.#answerable();
    if (!card || card.kind === "boundary") return;
    const { mention, choices } = card;
    const { app } = this;
    const offered = choices.map(({ chain }) => chain).filter((chain) => chain !== null);
    const apart = choices.flatMap(({ doubts }) => doubts);
    /** @param {ChainId | null} chain */
    const take = (chain) =>
      chain !== null && this.#answer({ do: "place", mention, with: [], apart, chain }, card);
    askChain(app.store, `“${app.store.words(mention, 30)}” is`, take, {
      except: offered,
      first: app.nearbyChains(mention),
    });
  }

  /** Put the question on the screen behind all others. */
  skip() {
    const card = this.#answerable();
    if (!card) return;
    const others = this.place.now.skipped.filter((id) => id !== card.id);
    const next = this.list.after(card.id);
    this.place.change({ skipped: [...others, card.id] });
    this.list.sort();
    this.#ask(next ?? this.list.rows[0] ?? null);
  }

  /** Return the card if it can be answered now; say why not. */
  #answerable() {
    this.app.side.show("queue");
    if (this.#busy) return null;
    if (!this.#card) this.app.say("There is no open question.");
    return this.#card;
  }

  /** @param {Choice} choice */
  #toggle({ id }) {
    if (!this.#marked.delete(id)) this.#marked.add(id);
    this.render();
  }

  /**
   * Send an answer to the question on the screen, and ask the next one when it is done.
   * @param {Operation} op
   */
  async #answer(op, card = this.#card) {
    if (this.#busy || !card || card !== this.#card) return;
    this.#busy = true;
    this.root.classList.add("busy");
    try {
      if (await this.app.act(op)) await this.#ask(this.list.leave(card.id));
      else this.#refused = card.id;
    } finally {
      this.#busy = false;
      this.root.classList.remove("busy");
    }
  }

  /** Ask the next question if the one whose answer was refused is answered by what was done instead. */
  async goOn() {
    const id = this.#refused;
    this.#refused = null;
    if (id === null || id !== this.#card?.id || this.#busy) return;
    try {
      const now = await this.#question(id);
      if (!now.open && id === this.#card?.id) await this.#ask(this.list.leave(id));
    } catch {
      /* a banner shows that the server does not answer; the card stays */
    }
  }

  /**
   * Read a question and show it, here and in the text; `move` goes to its mention. A question that was answered
   * meanwhile is passed over.
   * @param {QuestionRow | null} row
   */
  async #ask(row, { move = true } = {}) {
    const request = ++this.#request;
    /** @type {QuestionCard | null} */
    let card = null;
    let next = row;
    while (next && !card) {
      const read = await this.#question(next.id);
      if (request !== this.#request) return;
      if (read.open) card = read;
      else next = this.list.leave(next.id);
    }
    this.#card = card;
    this.#later = null;
    this.#stepped = false;
    this.#refused = null;
    this.#marked.clear();
    this.place.change({ current: card?.id ?? null });
    this.render();
    this.app.text.showAsked(this.asked);
    if (!card) return;
    if (move) {
      this.#goTo(card);
      this.app.say(card.text, { quiet: true });
    }
    this.#fillPrices(card);
  }

  /** @type {(id: string, how?: string) => Promise<QuestionCard>} */
  #question = (id, how = "") => this.app.api.read(`question/${encodeURIComponent(id)}${how}`);

  /** @param {QuestionCard} card shown from its top, and its mention in the text */
  #goTo({ mention }) {
    this.root.scrollTop = 0;
    this.app.text.reveal(mention);
    this.app.selection.goTo(mention);
  }

  /**
   * Fill in prices when they are computed.
   * @param {QuestionCard} card
   */
  async #fillPrices(card) {
    const isComplete = [card.leave, ...card.choices].every(({ computed }) => computed);
    if (isComplete) return;
    try {
      const priced = await this.#question(card.id, "?prices");
      if (this.#card === card && sameQuestion(card, priced)) {
        this.#card = { ...card, ...pricesOf(card, priced) };
        this.render();
      }
    } catch {
      /* the card says that prices are being computed; nothing else depends on them */
    }
  }

  /**
   * Read the question on the screen again; if it is another one now, offer that, or show it if the reader made a step.
   * @param {QuestionCard} card
   * @param {boolean} stepped
   */
  async #lookAgain(card, stepped) {
    const now = await this.#question(card.id);
    if (this.#card?.id !== card.id) return;
    const before = this.#card;
    if (now.open && sameQuestion(before, now)) {
      this.#later = null;
      this.#card = { ...before, ...pricesOf(before, now) };
      this.#fillPrices(this.#card);
    } else if (stepped && now.open && !this.#busy) await this.#show(now);
    else {
      if (!this.#later) this.app.say("This question has changed meanwhile.", { quiet: true });
      this.#later = now;
    }
  }

  /** Show the question as it is now, or the next one if it is answered. */
  showLater() {
    const later = this.#later;
    if (!later || this.#busy) return;
    if (later.open) this.#show(later, { move: true });
    else this.#ask(this.list.after(later.id));
  }

  /** @param {QuestionCard} card the one on the screen, read again */
  #show(card, { move = false } = {}) {
    const row = this.list.rows[this.list.indexOf(card.id)];
    return this.#ask(row ?? { ...card, tie: false, marked: 0, seen: 0 }, { move });
  }

  render() {
    const card = this.#card;
    fill(
      this.root,
      card ? this.#cardElement(card) : emptyText(this.list.read !== null, this.place),
      ...this.#below(),
    );
  }

  /** @param {QuestionCard} card */
  #cardElement(card) {
    return questionCard(
      this.app,
      card,
      this.#marked,
      this.list.position(card.id),
      {
        choose: (choice) => this.#answer(choice.answer),
        mark: (choice) => this.#toggle(choice),
        confirm: () => this.yes(),
        another: () => this.another(),
        answer: (op) => this.#answer(op),
        skip: () => this.skip(),
      },
      this.#later && offer(this.#later, () => this.showLater()),
    );
  }

  #below() {
    const { read, rows, found } = this.list;
    if (!read) return [];
    const actions = {
      ask: (/** @type {QuestionRow} */ row) => {
        const card = this.#card;
        if (card?.id === row.id && !this.#later) this.#goTo(card);
        else this.#ask(row);
      },
      acceptGroup: (/** @type {ChainId} */ chain, /** @type {MentionId[]} */ mentions) =>
        this.app.act({ do: "into", mentions, chain }),
      changed: () => {
        this.#card = null;
        this.#later = null;
        this.place.change({ current: null });
        this.load(0);
      },
      showMore: () => {
        this.#listed += LIST_STEP;
        this.render();
      },
    };
    const current = this.#card?.id ?? null;
    return [
      stakesText(this.app, read),
      questionFilters(this.app, this.place, actions),
      questionList(this.app, rows, this.#listed, found, current, this.place, actions),
    ];
  }
}
