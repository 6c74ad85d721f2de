/**
 * The questions: a card that stays as it is until its reader leaves it, and the list of all of them.
 *
 * What is on the screen is what is answered: an answer names the mentions of the card. Updates that arrive later,
 * from another tab, an editor or a search that went on, change the list; the card only says that it has changed and
 * offers to show that. What the result says is then not on the screen any more, so `y` is not taken. After a step of
 * the reader the question is shown as it is now at once. Prices are filled in when they are computed.
 */
import { askChain } from "../ui/dialogs.js";
import { fill } from "../ui/dom.js";
import {
  absentAnswer,
  allDoubts,
  aloneAnswer,
  chosenWords,
  freshAnswer,
  noAnswer,
  offer,
  pricesOf,
  questionCard,
  questionText,
  sameQuestion,
  shownMentions,
  yesAnswer,
} from "./card.js";
import { OpenQuestions, advice, emptyText, questionFilters, questionList, stakesText } from "./list.js";
/** @import { App } from "../app.js" */
/** @import { Alike, ChainId, Choice, Operation, QuestionCard } from "../state/types.js" */
/** @import { ListActions } from "./list.js" */

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
  /** @type {(string | null)[]} the question that each step since the page was opened answered, if it was one */
  #trail = [];
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
    this.questions = new OpenQuestions(`${location.pathname} ${app.store.state.title}`);
    this.render();
  }

  /** Read the questions after a pause; several calls in a row read them once. */
  load(pause = PAUSE) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#load(), pause);
  }

  /** Read the questions; what comes later than the answer to a newer request is ignored. */
  async #load() {
    const { questions } = this;
    const reading = ++this.#reading;
    try {
      const read = await this.app.api.read(`questions?${questions.query}`);
      if (reading !== this.#reading) return;
      const stepped = this.#stepped;
      this.#stepped = false;
      questions.replace(read);
      if (this.#card) await this.#lookAgain(this.#card, stepped);
      else if (!this.#busy) {
        const index = questions.indexOf(questions.settings.current);
        await this.#ask(questions.rows[Math.max(index, 0)] ?? null, { move: false });
        // The text stands where the question is, and the focus where it was.
        const [mention] = this.asked;
        if (mention) this.app.text.reveal(mention);
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

  /** A step was taken: remember it, to find its question again if it is undone. */
  onTaken() {
    this.#trail.push(null);
  }

  /** A step was taken back: ask the question again that it answered, if it was one. */
  async onUndone() {
    const id = this.#trail.pop();
    if (id) await this.#ask({ id });
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
    const { app, questions } = this;
    app.side.show("queue");
    const next = questions.rows[questions.indexOf(this.#card?.id) + step];
    if (next) this.#ask(next);
    else if (!questions.rows.length) app.say("There are no open questions.");
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
      this.app.say("This question has changed, so y was ignored. Press . to see it as it is now.");
    } else if (card) {
      const answer = yesAnswer(card, this.#marked);
      if (answer) this.#answer(answer);
      else this.app.say("The result is none of these choices, so y was ignored. Choose one of the answers.");
    }
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
    /** @param {ChainId | null} chain */
    const take = (chain) => {
      const shown = choices.find((choice) => choice.chain !== null && choice.chain === chain);
      if (shown) this.#answer(shown.answer, card);
      else if (chain !== null) {
        this.#answer({ do: "place", mention, with: [], apart: allDoubts(card), chain }, card);
      }
    };
    askChain(app.store, `Which entity is “${app.store.words(mention, 30)}”?`, take, {
      first: app.nearbyChains(mention),
    });
  }

  /** Put the question on the screen after all others. */
  skip() {
    const card = this.#answerable();
    if (card) this.#ask(this.questions.skip(card.id));
  }

  /** Return the card if it can be answered now; say why not. */
  #answerable() {
    this.app.side.show("queue");
    if (this.#busy) {
      this.app.say("Your last answer is still being saved: this key was ignored.");
      return null;
    }
    if (!this.#card) this.app.say("There are no open questions.");
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
    // Prices may have been filled in while a dialog was open; it is still the same question.
    if (!card || card.id !== this.#card?.id) return;
    await this.#whileBusy(async () => {
      if (await this.app.act(op, { chosen: chosenWords(this.app, card, op) })) {
        this.#trail[this.#trail.length - 1] = card.id;
        this.#offerAlike(card.id, this.#trail.length);
        await this.#ask(await this.#after(card.id));
      } else this.#refused = card.id;
    });
  }

  /**
   * Send something and show the question after it; until then no key answers anything.
   * @param {() => Promise<void>} send
   */
  async #whileBusy(send) {
    if (this.#busy) return;
    this.#busy = true;
    this.root.classList.add("busy");
    try {
      await send();
    } finally {
      this.#busy = false;
      this.root.classList.remove("busy");
    }
  }

  /**
   * Return the question to ask after one that is answered. An answer changes which is the most valuable one.
   * @param {string} id
   */
  async #after(id) {
    const { questions } = this;
    const next = questions.leave(id);
    if (questions.settings.order !== "valuable") return next;
    clearTimeout(this.#timer);
    const reading = ++this.#reading;
    try {
      const read = await this.app.api.read(`questions?${questions.query}`);
      if (reading === this.#reading) questions.replace(read);
    } catch {
      this.load();
    }
    return questions.after(id);
  }

  /**
   * Offer to answer others like a question, unless another step was taken meanwhile.
   * @param {string} id
   * @param {number} steps how many there were with its answer
   */
  async #offerAlike(id, steps) {
    try {
      const { offers } = await this.app.api.read(`alike/${encodeURIComponent(id)}`);
      if (this.#trail.length === steps) this.app.lastChange.offer(offers);
    } catch {
      /* a banner shows that the server does not answer; an offer is not needed to go on */
    }
  }

  /**
   * Answer other questions like one that was answered, and go on with the one on the screen, if it is still open.
   * @param {Alike} offer
   */
  answerAlike({ answer }) {
    return this.#whileBusy(async () => {
      if (await this.app.act(answer)) await this.#ask(this.#card);
    });
  }

  /** Ask the next question if the one whose answer was refused is answered by what was done instead. */
  async goOn() {
    const id = this.#refused;
    this.#refused = null;
    if (id === null || id !== this.#card?.id || this.#busy) return;
    try {
      const now = await this.#question(id);
      if (!now.open && id === this.#card?.id) await this.#ask(this.questions.leave(id));
    } catch {
      /* a banner shows that the server does not answer; the card stays */
    }
  }

  /**
   * Read a question and show it, here and in the text; `move` goes to its mention. A question that was answered
   * meanwhile is passed over.
   * @param {{ id: string } | null} row
   */
  async #ask(row, { move = true } = {}) {
    const request = ++this.#request;
    /** @type {QuestionCard | null} */
    let card = null;
    /** @type {{ id: string } | null} */
    let next = row;
    while (next && !card) {
      const read = await this.#question(next.id);
      if (request !== this.#request) return;
      if (read.open) card = read;
      else next = this.questions.leave(next.id);
    }
    this.#card = card;
    this.#later = null;
    this.#stepped = false;
    this.#refused = null;
    this.#marked.clear();
    this.questions.set({ current: card?.id ?? null });
    this.render();
    this.app.text.showAsked(this.asked);
    this.app.sentence.render();
    if (!card) return;
    if (move) {
      this.#goTo(card);
      this.app.say(questionText(this.app, card), { quiet: true });
    }
    this.#fillPrices(card);
  }

  /** @type {(id: string, how?: string) => Promise<QuestionCard>} */
  #question = (id, how = "") => this.app.api.read(`question/${encodeURIComponent(id)}${how}`);

  /** @param {QuestionCard} card shown from its top, and its mention in the text */
  #goTo({ mention }) {
    this.root.scrollTop = 0;
    this.root.scrollIntoView({ block: "nearest" });
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
    } else if (stepped && !this.#busy) await this.#show(now);
    else {
      if (!this.#later) this.app.say("This question has changed in the meantime.", { quiet: true });
      this.#later = now;
    }
  }

  /** Show the question as it is now, or the next one if it is answered. */
  showLater() {
    const later = this.#later;
    if (!later || this.#busy) return;
    if (later.open) this.#show(later, { move: true });
    else this.#ask(this.questions.after(later.id));
  }

  /** @param {QuestionCard} card the one on the screen, read again */
  #show(card, { move = false } = {}) {
    const row = this.questions.rows[this.questions.indexOf(card.id)];
    return this.#ask(row ?? card, { move });
  }

  render() {
    const card = this.#card;
    const { questions } = this;
    fill(
      this.root,
      card ? advice(questions) : null,
      card ? this.#cardElement(card) : emptyText(questions),
      ...this.#below(),
    );
  }

  /** @param {QuestionCard} card */
  #cardElement(card) {
    return questionCard(
      this.app,
      card,
      this.#marked,
      this.questions.position(card.id),
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
    const { app, questions } = this;
    if (!questions.read) return [];
    /** @type {ListActions} */
    const actions = {
      ask: (row) => {
        const card = this.#card;
        if (card?.id === row.id && !this.#later) this.#goTo(card);
        else this.#ask(row);
      },
      acceptGroup: (chain, mentions) => app.act({ do: "into", mentions, chain }),
      set: (change) => {
        this.#card = null;
        this.#later = null;
        questions.set({ ...change, current: null });
        this.load(0);
      },
      showMore: () => {
        this.#listed += LIST_STEP;
        this.render();
      },
    };
    return [
      stakesText(app, questions.read.stakes),
      questionFilters(app, questions.settings, actions),
      questionList(app, questions, this.#listed, this.#card?.id ?? null, actions),
    ];
  }
}
