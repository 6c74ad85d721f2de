/**
 * The questions: a card that stays as it is until its reader leaves it, and the list of all of them.
 *
 * What is on the screen is what is answered: an answer names the mentions of the card. Updates that arrive later,
 * from another tab, an editor or a search that went on, change the list; the card only says that it has changed and
 * offers to show that. Prices are filled in when they are computed.
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
import { askChain } from "../ui/choose_chain.js";
import { fill } from "../ui/dom.js";
import { offer, questionCard } from "./card.js";
import { emptyText, questionFilters, questionList, stakesText } from "./list.js";
/** @import { App } from "../app.js" */
/** @import { ChainId, Choice, MentionId, Operation, QuestionCard, QuestionRow, Questions } from "../state/types.js" */

const LIST_STEP = 40;
const PAUSE = 300;

export class QuestionQueue {
  /** @type {Questions | null} */
  #read = null;
  /** @type {QuestionRow[]} */
  #rows = [];
  /** @type {QuestionCard | null} */
  #card = null;
  /** @type {QuestionCard | null} the same question as it is now, if that differs */
  #later = null;
  /** @type {Set<string>} */
  #marked = new Set();
  /** @type {Set<string>} */
  #answered = new Set();
  /** @type {string | null} the question whose answer was refused; what is done about that answers it */
  #refused = null;
  #busy = false;
  #listed = LIST_STEP;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer = undefined;
  #request = 0;

  /**
   * @param {HTMLElement} root
   * @param {App} app
   */
  constructor(root, app) {
    this.root = root;
    this.app = app;
    this.place = new QuestionPlace(`${location.pathname} ${app.store.state.title}`);
    this.render();
  }

  /** Read the questions after a pause; several calls in a row read them once. */
  load(pause = PAUSE) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#load(), pause);
  }

  async #load() {
    try {
      /** @type {Questions} */
      const read = await this.app.api.read(`questions?${this.place.query}`);
      this.#read = read;
      this.#answered.clear();
      this.#sort();
      if (this.#card) await this.#lookAgain(this.#card);
      else if (!this.#busy) {
        const wanted = this.#rows.find(({ id }) => id === this.place.now.current) ?? this.#rows[0] ?? null;
        await this.#ask(wanted, { move: false });
      }
    } catch {
      /* a banner shows that the server does not answer; the old questions stay */
    }
    this.render();
  }

  /** Put skipped questions behind all others, and leave out those that were answered since the list was read. */
  #sort() {
    const skipped = new Set(this.place.now.skipped);
    const left = (this.#read?.questions ?? []).filter(({ id }) => !this.#answered.has(id));
    this.#rows = [...left.filter(({ id }) => !skipped.has(id)), ...left.filter(({ id }) => skipped.has(id))];
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
    const here = this.#rows.findIndex(({ id }) => id === this.#card?.id);
    const next = this.#rows[here + step];
    if (next) this.#ask(next);
    else if (!this.#rows.length) app.say("There is no open question.");
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

  /** Say yes: the marked choices, the only choice, or what the result says. */
  yes() {
    const card = this.#answerable();
    if (card) this.#answer(yesAnswer(card, this.#marked));
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
    const next = this.#after(card.id);
    this.place.change({ skipped: [...others, card.id] });
    this.#sort();
    this.#ask(next ?? this.#rows[0] ?? null);
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
      if (await this.app.act(op)) await this.#askNext(card.id);
      else this.#refused = card.id;
    } finally {
      this.#busy = false;
      this.root.classList.remove("busy");
    }
  }

  /** @param {string} id the question that was answered */
  async #askNext(id) {
    const next = this.#after(id);
    this.#answered.add(id);
    this.#sort();
    await this.#ask(next);
  }

  /** Ask the next question if the one whose answer was refused is answered by what was done instead. */
  async goOn() {
    const id = this.#refused;
    this.#refused = null;
    if (id === null || id !== this.#card?.id || this.#busy) return;
    try {
      const now = await this.#question(id);
      if (!now.open && id === this.#card?.id) await this.#askNext(id);
    } catch {
      /* a banner shows that the server does not answer; the card stays */
    }
  }

  /**
   * Return the question to ask after another one: the most valuable one that is left, or the one behind it.
   * @param {string} id
   */
  #after(id) {
    const others = this.#rows.filter((row) => row.id !== id);
    if (this.place.now.order === "valuable") return others[0] ?? null;
    const here = this.#rows.findIndex((row) => row.id === id);
    return this.#rows[here + 1] ?? others[0] ?? null;
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
      else {
        const following = this.#after(next.id);
        this.#answered.add(next.id);
        this.#sort();
        next = following;
      }
    }
    this.#card = card;
    this.#later = null;
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
   * Read the question on the screen again; if it is another one now, offer that.
   * @param {QuestionCard} card
   */
  async #lookAgain(card) {
    const now = await this.#question(card.id);
    if (this.#card?.id !== card.id) return;
    const before = this.#card;
    if (now.open && sameQuestion(before, now)) {
      this.#later = null;
      this.#card = { ...before, ...pricesOf(before, now) };
      this.#fillPrices(this.#card);
    } else {
      if (!this.#later) this.app.say("This question has changed meanwhile.", { quiet: true });
      this.#later = now;
    }
  }

  /** Show the question as it is now, or the next one if it is answered. */
  showLater() {
    const later = this.#later;
    if (!later || this.#busy) return;
    if (later.open) {
      const row = this.#rows.find(({ id }) => id === later.id);
      this.#ask(row ?? { ...later, tie: false, marked: 0, seen: 0 });
    } else this.#ask(this.#after(later.id));
  }

  render() {
    const card = this.#card;
    fill(
      this.root,
      card ? this.#cardElement(card) : emptyText(this.#read !== null, this.place),
      ...this.#below(),
    );
  }

  /** @param {QuestionCard} card */
  #cardElement(card) {
    const here = this.#rows.findIndex(({ id }) => id === card.id);
    const found = this.#found.toLocaleString("en");
    return questionCard(
      this.app,
      card,
      this.#marked,
      here < 0 ? `of ${found}` : `${here + 1} of ${found}`,
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

  /** How many questions the filter lets through, without those that were answered since they were counted. */
  get #found() {
    return Math.max((this.#read?.found ?? 0) - this.#answered.size, this.#rows.length);
  }

  #below() {
    if (!this.#read) return [];
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
      stakesText(this.app, this.#read),
      questionFilters(this.app, this.place, actions),
      questionList(this.app, this.#rows, this.#listed, this.#found, current, this.place, actions),
    ];
  }
}
