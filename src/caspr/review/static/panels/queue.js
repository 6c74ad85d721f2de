/** The queue of open questions: one at a time, the most valuable first. */
import { button, fill, make } from "../ui/dom.js";
import { snippet } from "../ui/snippet.js";
import { priced, times } from "../ui/words.js";

const KINDS = { tie: "Tie: both answers are optimal", link: "Close vote", mention: "Marked by some only" };
const SHORT = { tie: "tie", link: "link", mention: "mention" };
const STEP = 40;
const PAUSE = 300;
const keyOf = (question) => question.mentions.join(" ");

export class Queue {
  #questions = [];
  #skipped = new Set();
  #answering = false;
  #shown = STEP;
  #timer = null;
  #loaded = false;

  constructor(root, app) {
    this.root = root;
    this.app = app;
    this.key = null;
    this.render();
  }

  /** Read the questions, soon; several wishes in a row are one. */
  load(pause = PAUSE) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(async () => {
      try {
        const { questions } = await this.app.api.read("questions");
        this.#loaded = true;
        this.#take(questions);
      } catch {
        /* the banner tells when the server is gone; the old questions stay */
      }
    }, pause);
  }

  /** How many questions are open, also those that were not read yet. */
  get #open() {
    const { asked, answered } = this.app.store.state.progress;
    return Math.max(asked - answered, this.#questions.length).toLocaleString("en");
  }

  /** The question that is asked. */
  get current() {
    return this.#questions.find((question) => keyOf(question) === this.key) ?? null;
  }

  /** Go to the next or previous question. */
  step(way) {
    const { app } = this;
    app.side.show("queue");
    if (!this.#questions.length) return app.say("There is no open question.");
    const here = this.#questions.findIndex((question) => keyOf(question) === this.key);
    const next = this.#questions[here + way];
    if (!next) return app.say(way > 0 ? "That was the last question." : "That was the first question.");
    return this.ask(keyOf(next));
  }

  /** Ask a question: show it here and in the text. */
  ask(key, { move = true } = {}) {
    this.key = key;
    this.render();
    const question = this.current;
    this.app.text.ask(question?.mentions ?? []);
    if (!question || !move) return;
    const [first, last] = [question.mentions[0], question.mentions.at(-1)];
    this.app.text.reveal(first);
    this.app.spot.go(last);
    this.app.say(question.text, { quiet: true });
  }

  /** Answer the current question. */
  async answer(yes) {
    const { app, current } = this;
    app.side.show("queue");
    if (!current || this.#answering) return current ? undefined : app.say("There is no open question.");
    this.#answering = true;
    this.root.classList.add("busy");
    try {
      if (await app.act(yes ? current.yes : current.no)) this.#leave(current);
    } finally {
      this.#answering = false;
      this.root.classList.remove("busy");
    }
    return undefined;
  }

  /** Put the current question behind all others. */
  skip() {
    const { current } = this;
    if (!current) return this.app.say("There is no open question.");
    this.#skipped.add(keyOf(current));
    this.#leave(current);
    this.#questions.push(current);
    return this.render();
  }

  #leave(question) {
    const here = this.#questions.findIndex((other) => keyOf(other) === keyOf(question));
    if (here >= 0) this.#questions.splice(here, 1);
    const next = this.#questions[Math.max(here, 0)] ?? this.#questions.at(-1);
    this.ask(next ? keyOf(next) : null);
  }

  #take(questions) {
    const late = questions.filter((question) => this.#skipped.has(keyOf(question)));
    this.#questions = [...questions.filter((question) => !this.#skipped.has(keyOf(question))), ...late];
    const next = this.current ?? this.#questions[0] ?? null;
    this.ask(next ? keyOf(next) : null, { move: false });
  }

  render() {
    const { current } = this;
    const here = this.#questions.indexOf(current);
    fill(
      this.root,
      current ? this.#card(current, here) : this.#nothing(),
      this.#questions.length > 1 ? this.#list(here) : null,
    );
  }

  #nothing() {
    const text = this.#loaded
      ? "No open question. What the annotators agree on is not asked; you can still decide about any mention in the text."
      : "Reading the questions …";
    return make("p", { class: "empty" }, text);
  }

  #card(question, here) {
    const { app } = this;
    const go = (id) => app.spot.go(id, { focus: true });
    const now = question.now ? "yes" : "no";
    const known = question.possible === false || (question.price ?? null) !== null;
    const otherwise = known ? `; ${question.now ? "no" : "yes"} ${priced(question)}.` : ".";
    return make(
      "article",
      { class: "card", "aria-labelledby": "question" },
      make(
        "p",
        { class: "kind" },
        make("span", {}, KINDS[question.kind] ?? question.kind),
        make("span", { class: "soft" }, `${here + 1} of ${this.#open}`),
      ),
      make("h2", { id: "question", dir: "auto" }, question.text),
      ...question.mentions.map((id) => snippet(app.store, id, go)),
      this.#votes(question.votes),
      make("p", { class: "now" }, "The result says ", make("b", {}, now), otherwise),
      make(
        "div",
        { class: "answers" },
        this.#reply("Yes", "y", () => this.answer(true), question.now),
        this.#reply("No", "n", () => this.answer(false), !question.now),
        this.#reply("Skip", "s", () => this.skip()),
      ),
    );
  }

  #reply(label, key, act, strong = false) {
    const made = button(label, act, { key, kind: strong ? "strong" : "" });
    made.dataset.keep = `reply ${key}`;
    if (key === "y") made.dataset.first = "";
    return made;
  }

  #votes({ yes, no }) {
    const bar = make(
      "span",
      { class: "vote-bar", "aria-hidden": "true" },
      make("i", {}),
      make("i", { class: "no" }),
    );
    bar.firstChild.style.flexGrow = String(yes);
    bar.lastChild.style.flexGrow = String(no);
    return make(
      "p",
      { class: "votes" },
      make("span", {}, `${times(yes, "annotator")} for yes`),
      bar,
      make("span", {}, `${no} for no`),
    );
  }

  #list(here) {
    const items = this.#questions.slice(0, this.#shown).map((question, i) =>
      make(
        "li",
        {},
        make(
          "button",
          {
            type: "button",
            "aria-current": i === here ? "true" : null,
            data: { keep: `question ${keyOf(question)}` },
            on: { click: () => this.ask(keyOf(question)) },
          },
          make("span", { class: `tag ${question.kind}` }, SHORT[question.kind] ?? question.kind),
          make(
            "bdi",
            { class: "words" },
            question.mentions.map((id) => this.app.store.words(id, 28)).join(" ~ "),
          ),
          make("span", { class: "soft" }, `${question.votes.yes}:${question.votes.no}`),
        ),
      ),
    );
    const left = this.#questions.length - this.#shown;
    const more =
      left > 0
        ? button(
            `Show more (${left})`,
            () => {
              this.#shown += STEP;
              this.render();
            },
            { kind: "quiet" },
          )
        : null;
    return make(
      "nav",
      { "aria-label": "All questions", class: "question-list" },
      make("h3", {}, "All questions"),
      make("ol", {}, ...items),
      more,
    );
  }
}
