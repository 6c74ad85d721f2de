/** The queue of open questions: one at a time, the most valuable first. */
import { button, fill, make } from "../ui/dom.js";
import { snippet } from "../ui/snippet.js";
import { counted, describePrice } from "../ui/words.js";
/** @import { App } from "../app.js" */
/** @import { Question, Questions } from "../state/types.js" */

const KINDS = { tie: "Tie: both answers are optimal", link: "Close vote", mention: "Marked by some only" };
const LIST_STEP = 40;
const PAUSE = 300;

export class QuestionQueue {
  /** @type {Question[]} */
  #questions = [];
  /** @type {Set<string>} */
  #skipped = new Set();
  #answering = false;
  #listed = LIST_STEP;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer = undefined;
  #loaded = false;
  /**
   * The id of the current question.
   * @type {string | null}
   */
  #currentId = null;

  /**
   * @param {HTMLElement} root
   * @param {App} app
   */
  constructor(root, app) {
    this.root = root;
    this.app = app;
    this.render();
  }

  /** Read the questions after a pause; several calls in a row read them once. */
  load(pause = PAUSE) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(async () => {
      try {
        /** @type {Questions} */
        const { questions } = await this.app.api.read("questions");
        this.#loaded = true;
        this.#replace(questions);
      } catch {
        /* a banner shows that the server does not answer; the old questions stay */
      }
    }, pause);
  }

  /** How many questions are open, also those that were not read yet. */
  get #openCount() {
    const { asked, answered } = this.app.store.state.progress;
    return Math.max(asked - answered, this.#questions.length).toLocaleString("en");
  }

  /** The question that is asked. */
  get current() {
    return this.#questions.find((question) => question.id === this.#currentId) ?? null;
  }

  /**
   * Go to the next question (1) or the previous one (-1).
   * @param {1 | -1} step
   */
  move(step) {
    const { app } = this;
    app.side.show("queue");
    if (!this.#questions.length) {
      this.#sayNothingOpen();
      return;
    }
    const here = this.#questions.findIndex((question) => question.id === this.#currentId);
    const next = this.#questions[here + step];
    if (next) this.#ask(next);
    else app.say(step > 0 ? "That was the last question." : "That was the first question.");
  }

  /**
   * Answer the current question.
   * @param {boolean} yes
   */
  async answer(yes) {
    const { app, current } = this;
    app.side.show("queue");
    if (!current) this.#sayNothingOpen();
    if (!current || this.#answering) return;
    this.#answering = true;
    this.root.classList.add("busy");
    try {
      if (await app.act(yes ? current.yes : current.no)) this.#leave(current);
    } finally {
      this.#answering = false;
      this.root.classList.remove("busy");
    }
  }

  /** Put the current question behind all others. */
  skip() {
    const { current } = this;
    if (!current) {
      this.#sayNothingOpen();
      return;
    }
    this.#skipped.add(current.id);
    this.#leave(current);
    this.#questions.push(current);
    this.render();
  }

  #sayNothingOpen() {
    this.app.say("There is no open question.");
  }

  /**
   * Make a question the current one, here and in the text; `move` goes to its mentions.
   * @param {Question | null} question
   */
  #ask(question, { move = true } = {}) {
    this.#currentId = question?.id ?? null;
    this.render();
    this.app.text.showAsked(question?.mentions ?? []);
    if (!question || !move) return;
    this.app.text.reveal(question.mentions[0]);
    this.app.selection.goTo(question.mentions.at(-1) ?? null);
    this.app.say(question.text, { quiet: true });
  }

  /**
   * Remove a question and ask the one behind it.
   * @param {Question} question
   */
  #leave(question) {
    const here = this.#questions.findIndex((other) => other.id === question.id);
    if (here >= 0) this.#questions.splice(here, 1);
    this.#ask(this.#questions[Math.max(here, 0)] ?? this.#questions.at(-1) ?? null);
  }

  /** @param {Question[]} questions */
  #replace(questions) {
    /** @param {Question} question */
    const isSkipped = (question) => this.#skipped.has(question.id);
    this.#questions = [
      ...questions.filter((question) => !isSkipped(question)),
      ...questions.filter(isSkipped),
    ];
    this.#ask(this.current ?? this.#questions[0] ?? null, { move: false });
  }

  render() {
    const { current } = this;
    const here = current ? this.#questions.indexOf(current) : -1;
    fill(
      this.root,
      current ? this.#card(current, here) : this.#emptyText(),
      this.#questions.length > 1 ? this.#list(here) : null,
    );
  }

  #emptyText() {
    const text = this.#loaded
      ? "No open question. What the annotators agree on is not asked; you can still decide about any mention in the text."
      : "Reading the questions …";
    return make("p", { class: "empty" }, text);
  }

  /**
   * @param {Question} question
   * @param {number} here
   */
  #card(question, here) {
    const { store, goTo } = this.app;
    const [now, opposite] = question.now ? ["yes", "no"] : ["no", "yes"];
    const priced = !question.possible || question.price !== null;
    return make(
      "article",
      { class: "card", "aria-labelledby": "question" },
      make(
        "p",
        { class: "kind" },
        make("span", {}, KINDS[question.kind]),
        make("span", { class: "soft" }, `${here + 1} of ${this.#openCount}`),
      ),
      make("h2", { id: "question", dir: "auto" }, question.text),
      ...question.mentions.map((id) => snippet(store, id, goTo)),
      voteBar(question.votes),
      make(
        "p",
        { class: "now" },
        "The result says ",
        make("b", {}, now),
        priced ? `; ${opposite} ${describePrice(question)}.` : ".",
      ),
      this.#answers(question),
    );
  }

  /** @param {Question} question */
  #answers(question) {
    /** @type {(label: string, key: string, act: () => unknown, strong: boolean) => HTMLElement} */
    const answer = (label, key, act, strong) =>
      button(label, act, { key, kind: strong ? "strong" : "", focusKey: `answer ${key}` });
    const yes = answer("Yes", "y", () => this.answer(true), question.now);
    yes.dataset.initialFocus = "";
    return make(
      "div",
      { class: "answers" },
      yes,
      answer("No", "n", () => this.answer(false), !question.now),
      answer("Skip", "s", () => this.skip(), false),
    );
  }

  /** @param {number} here */
  #list(here) {
    const items = this.#questions
      .slice(0, this.#listed)
      .map((question, i) => this.#item(question, i === here));
    const left = this.#questions.length - this.#listed;
    const showMore = () => {
      this.#listed += LIST_STEP;
      this.render();
    };
    return make(
      "nav",
      { "aria-label": "All questions", class: "question-list" },
      make("h3", {}, "All questions"),
      make("ol", {}, ...items),
      left > 0 ? button(`Show more (${left})`, showMore, { kind: "quiet" }) : null,
    );
  }

  /**
   * @param {Question} question
   * @param {boolean} isCurrent
   */
  #item(question, isCurrent) {
    const words = question.mentions.map((id) => this.app.store.words(id, 28)).join(" ~ ");
    return make(
      "li",
      {},
      make(
        "button",
        {
          type: "button",
          "aria-current": isCurrent ? "true" : null,
          data: { focusKey: `question ${question.id}` },
          on: { click: () => this.#ask(question) },
        },
        make("span", { class: `tag ${question.kind}` }, question.kind),
        make("bdi", { class: "words" }, words),
        make("span", { class: "soft" }, `${question.votes.yes}:${question.votes.no}`),
      ),
    );
  }
}

/** @param {{ yes: number, no: number }} votes */
function voteBar({ yes, no }) {
  const [forYes, forNo] = [make("i"), make("i", { class: "no" })];
  forYes.style.flexGrow = String(yes);
  forNo.style.flexGrow = String(no);
  return make(
    "p",
    { class: "votes" },
    make("span", {}, `${counted(yes, "annotator")} for yes`),
    make("span", { class: "vote-bar", "aria-hidden": "true" }, forYes, forNo),
    make("span", {}, `${no} for no`),
  );
}
