/** The open questions as the reader goes through them, and their list: grouped by entity, with order and filters. */
import { button, make, menu, remember, remembered } from "../ui/dom.js";
import { chip, counted, grouped, place, roundSize, sureText } from "../ui/labels.js";
import { entityWords } from "./card.js";
/** @import { App } from "../app.js" */
/** @import { ChainId, MentionId, QuestionRow, Questions, Stakes } from "../state/types.js" */

const ORDERS = { valuable: "most valuable first", text: "in text order", entity: "entity by entity" };
const KINDS = {
  "": "all kinds",
  link: "entities",
  mention: "mentions",
  boundary: "boundaries",
  clear: "clear boundaries",
};
const TAGS = { link: "entity", mention: "mention", boundary: "boundary" };
const WHY_FIRST =
  "The first questions matter most: those that the votes leave most open, often about small entities. With experts’ gold standards, this order gained more than beginning with large entities.";
/** Whether the advice is unfolded: it stays so when the questions are shown anew. */
let unfolded = false;
const SMALLEST_BATCH = 2;
const MOST_SKIPPED = 5000;

/**
 * Order, filters, what was skipped, and the id of the question on the screen. An empty filter lets everything through.
 * @typedef {{
 *   order: string,
 *   annotator: string,
 *   entity: string,
 *   kind: string,
 *   overruled: boolean,
 *   skipped: string[],
 *   current: string | null,
 * }} Settings
 */

/** @type {Settings} */
const START = {
  order: "valuable",
  annotator: "",
  entity: "",
  kind: "",
  overruled: false,
  skipped: [],
  current: null,
};

/** The questions that are open, skipped ones last. The settings are kept in the browser over a reload. */
export class OpenQuestions {
  /** @type {Questions | null} what the server said last */
  read = null;
  /** @type {QuestionRow[]} */
  rows = [];
  /** @type {Set<string>} the questions that were answered since then */
  #answered = new Set();
  #key;

  /** @param {string} document its address and title */
  constructor(document) {
    this.#key = `caspr-questions ${document}`;
    /** @type {Settings} */
    this.settings = { ...START, ...readSettings(remembered(this.#key)) };
  }

  /** @param {Partial<Settings>} change */
  set(change) {
    this.settings = { ...this.settings, ...change };
    this.settings.skipped = this.settings.skipped.slice(-MOST_SKIPPED);
    remember(this.#key, JSON.stringify(this.settings));
  }

  /** Order and filter as an address has them. */
  get query() {
    const { order, annotator, entity, kind, overruled } = this.settings;
    return new URLSearchParams({ order, annotator, entity, kind, overruled: overruled ? "yes" : "" });
  }

  /** Whether a filter is set. */
  get isFiltered() {
    const { annotator, entity, kind, overruled } = this.settings;
    return Boolean(annotator || entity || kind || overruled);
  }

  /** @param {Questions} read */
  replace(read) {
    this.read = read;
    this.#answered.clear();
    this.#sort();
  }

  /** Put skipped questions after all others, and leave out those that were answered since the list was read. */
  #sort() {
    const skipped = new Set(this.settings.skipped);
    const open = (this.read?.questions ?? []).filter(({ id }) => !this.#answered.has(id));
    this.rows = [...open.filter(({ id }) => !skipped.has(id)), ...open.filter(({ id }) => skipped.has(id))];
  }

  /**
   * Return where a question is in the list, -1 if it is not there.
   * @param {string | null | undefined} id
   */
  indexOf(id) {
    return this.rows.findIndex((row) => row.id === id);
  }

  /**
   * Leave out a question that is answered, and return the one to ask after it.
   * @param {string} id
   */
  leave(id) {
    const next = this.after(id);
    this.#answered.add(id);
    this.#sort();
    return next;
  }

  /**
   * Put a question after all others, and return the one to ask instead.
   * @param {string} id
   */
  skip(id) {
    const next = this.after(id);
    this.set({ skipped: [...this.settings.skipped.filter((skipped) => skipped !== id), id] });
    this.#sort();
    return next ?? this.rows[0] ?? null;
  }

  /**
   * Return the question to ask after another one: the most valuable one that is left, or the one below it.
   * @param {string} id
   */
  after(id) {
    const rest = this.rows.filter((row) => row.id !== id);
    if (this.settings.order === "valuable") return rest[0] ?? null;
    return this.rows[this.indexOf(id) + 1] ?? rest[0] ?? null;
  }

  /** How many questions the filter lets through, without those that were answered since they were counted. */
  get count() {
    return Math.max((this.read?.found ?? 0) - this.#answered.size, this.rows.length);
  }

  /**
   * Say where a question is in the list.
   * @param {string} id
   */
  position(id) {
    const index = this.indexOf(id);
    return index < 0 ? `of ${grouped(this.count)}` : `${index + 1} of ${grouped(this.count)}`;
  }
}

/**
 * Read settings; what does not fit is ignored.
 * @param {string | null} text
 * @returns {Partial<Settings>}
 */
function readSettings(text) {
  /** @type {(value: unknown, example: unknown) => boolean} */
  const fits = (value, example) => {
    if (example === null) return value === null || typeof value === "string";
    return typeof value === typeof example && Array.isArray(value) === Array.isArray(example);
  };
  try {
    const stored = JSON.parse(text ?? "{}");
    const names = Object.entries(START).filter(([name, example]) => fits(stored[name], example));
    return Object.fromEntries(names.map(([name]) => [name, stored[name]]));
  } catch {
    return {};
  }
}

/**
 * @typedef {object} ListActions
 * @property {(row: QuestionRow) => unknown} ask
 * @property {(chain: ChainId, mentions: MentionId[]) => unknown} acceptGroup
 * @property {(change: Partial<Settings>) => unknown} set
 * @property {() => unknown} showMore
 */

/**
 * Make the menus of order and filters.
 * @param {App} app
 * @param {Settings} settings
 * @param {ListActions} actions
 */
export function questionFilters(app, settings, actions) {
  /** @type {(name: string, field: "order" | "annotator" | "kind", labels: Record<string, string>) => HTMLElement} */
  const choose = (name, field, labels) => {
    const select = menu(name, labels, () => actions.set({ [field]: select.value }));
    select.value = settings[field] in labels ? settings[field] : "";
    select.dataset.focusKey = `filter ${field}`;
    return select;
  };
  const disagreeing = app.store.state.annotators.map((name) => [name, `${name} disagrees`]);
  const overruled = make("input", { type: "checkbox", data: { focusKey: "filter overruled" } });
  overruled.checked = settings.overruled;
  overruled.addEventListener("change", () => actions.set({ overruled: overruled.checked }));
  return make(
    "div",
    { class: "question-filters", role: "group", "aria-label": "Order and filter" },
    choose("Order of questions", "order", ORDERS),
    choose("Kind of question", "kind", KINDS),
    choose("Annotator", "annotator", { "": "all annotators", ...Object.fromEntries(disagreeing) }),
    make("label", { class: "check" }, overruled, "result overrules the majority"),
    app.store.chain(settings.entity) ? onlyEntity(app, settings.entity, actions) : null,
  );
}

/**
 * Show that only the questions of one entity are listed.
 * @param {App} app
 * @param {ChainId} entity
 * @param {ListActions} actions
 */
function onlyEntity(app, entity, actions) {
  const showAll = button("×", () => actions.set({ entity: "" }), {
    kind: "quiet",
    name: "Show the questions of all entities",
  });
  const words = make("bdi", {}, entityWords(app, entity));
  return make("span", { class: "only-entity" }, "only ", words, showAll);
}

/**
 * Say why there is no card.
 * @param {OpenQuestions} questions
 */
export function emptyText({ read, isFiltered }) {
  const text = !read
    ? "Loading the questions …"
    : isFiltered
      ? "No open question matches the filter."
      : "No open questions. Only what annotators disagree on is asked; you can still decide about any mention in the text.";
  return make("p", { class: "empty" }, text);
}

/**
 * Say above the first question how many of them are worth an answer, and why they come in this order.
 * @param {OpenQuestions} questions
 */
export function advice({ read, count, settings }) {
  if (!read) return null;
  const { still, enough } = read.stakes;
  const isEnough = still >= enough;
  const open = counted(count, "question");
  const folded = make(
    "details",
    { class: "advice" },
    make(
      "summary",
      {},
      isEnough
        ? `The last ${still} answers changed nothing: you may stop here`
        : `${open}: answer as many as you like`,
    ),
    settings.order === "valuable" ? make("p", {}, WHY_FIRST) : null,
    make(
      "p",
      {},
      `All else is merged by the votes. Further answers gain little after ${enough} in a row that changed nothing. What an answer costs is how far it goes against the votes: every link that annotators gave and the result lacks costs something, and so does every link of the result that they did not give.`,
    ),
  );
  folded.open = unfolded;
  folded.addEventListener("toggle", () => {
    unfolded = folded.open;
  });
  return folded;
}

/**
 * Say what is still at stake, and offer to accept the rest.
 * @param {App} app
 * @param {Stakes} stakes
 */
export function stakesText(app, stakes) {
  const done = app.store.state.done !== null;
  const accept = button(
    stakes.mentions ? "Accept the rest and finish" : "Mark as done",
    () => app.act({ do: "done" }),
    {
      focusKey: "accept the rest",
      title: "Mark the document as done, also where questions are open. Answering one opens it again.",
    },
  );
  const text = done ? "This document is done. Answering a question opens it again." : remaining(stakes);
  return make(
    "section",
    { class: "stakes", "aria-label": "When to stop" },
    make("p", {}, text),
    !done && stakes.steps ? make("p", {}, recent(stakes)) : null,
    roundSize ? turn(app.store.state.progress.answers) : null,
    done ? null : make("div", { class: "buttons" }, accept),
  );
}

/**
 * Say where the document is in its round, and offer the next document.
 * @param {number} answers
 */
function turn(answers) {
  const round = Math.floor(answers / roundSize) + 1;
  const through = answers > 0 && answers % roundSize === 0;
  const text = through
    ? `Round ${round - 1} is done in this document. `
    : `Round ${round}: ${answers % roundSize} of ${roundSize} answers in this document. `;
  return make(
    "p",
    { class: through ? "turn through" : "turn" },
    text,
    make("a", { href: `/next?after=${place}` }, "Next document"),
    " · ",
    make("a", { href: `/next?anywhere&after=${place}` }, "Next anywhere"),
  );
}

/** @param {Stakes} stakes */
function remaining({ mentions, ties }) {
  if (!mentions) return "No mention has a question any more.";
  const tied = ties ? `; on ${grouped(ties)} of them the votes are tied` : "";
  return `Your answers can still change ${counted(mentions, "mention")}${tied}.`;
}

/** @param {Stakes} stakes */
function recent({ steps, changed, still, enough }) {
  if (still >= enough) {
    return `The last ${still} answers changed nothing. You may stop here: in simulations with short texts and an expert’s gold standard, 89 to 99 % of what answering every question gains was reached by then.`;
  }
  if (steps === 1) {
    return changed ? "The last step changed the result." : "The last step changed nothing.";
  }
  return `Of the last ${steps} steps, ${changed || "none"} changed the result.`;
}

/**
 * Make the list, with the questions of one entity together.
 * @param {App} app
 * @param {OpenQuestions} questions
 * @param {number} most how many are shown
 * @param {string | null} current the id of the question on the screen
 * @param {ListActions} actions
 */
export function questionList(app, questions, most, current, actions) {
  const { rows, count, settings } = questions;
  const groups = Map.groupBy(rows.slice(0, most), ({ entity }) => entity ?? "");
  const hidden = count - Math.min(most, rows.length);
  const more =
    rows.length > most
      ? button(`Show more (${grouped(hidden)})`, actions.showMore, { kind: "quiet" })
      : make("p", { class: "soft" }, `${grouped(hidden)} more follow when these are answered.`);
  return make(
    "nav",
    { "aria-label": "All questions", class: "question-list" },
    make("h3", {}, `All questions (${grouped(count)})`),
    ...[...groups].map(([entity, members]) =>
      questionGroup(app, entity, members, current, settings.entity === entity, actions),
    ),
    hidden > 0 ? more : null,
  );
}

/**
 * @param {App} app
 * @param {ChainId} entity empty for no entity
 * @param {QuestionRow[]} rows
 * @param {string | null} current
 * @param {boolean} isOnly whether the filter shows only this entity
 * @param {ListActions} actions
 */
function questionGroup(app, entity, rows, current, isOnly, actions) {
  const mentions = rows.filter(({ kind }) => kind !== "boundary").map(({ mention }) => mention);
  const isKnown = app.store.chain(entity) !== null;
  const words = isKnown ? entityWords(app, entity) : "in no entity";
  const only = () =>
    button("Only these", () => actions.set({ entity }), {
      kind: "quiet",
      name: `Only questions about ${words}`,
    });
  const batch = () =>
    button(
      make("span", {}, `All ${mentions.length} belong to `, make("bdi", {}, words)),
      () => actions.acceptGroup(entity, mentions),
      { kind: "quiet batch", focusKey: `batch ${entity}` },
    );
  return make(
    "section",
    { class: "question-group" },
    make(
      "div",
      { class: "group-head" },
      isKnown ? chip(entity) : null,
      make("bdi", { class: "words" }, words),
      isKnown && !isOnly ? only() : null,
    ),
    make("ol", {}, ...rows.map((row) => questionItem(app, row, row.id === current, actions))),
    isKnown && mentions.length >= SMALLEST_BATCH ? batch() : null,
  );
}

/**
 * @param {App} app
 * @param {QuestionRow} row
 * @param {boolean} isCurrent
 * @param {ListActions} actions
 */
function questionItem(app, row, isCurrent, actions) {
  const item = make(
    "button",
    {
      type: "button",
      "aria-current": isCurrent ? "true" : null,
      data: { focusKey: `question ${row.id}` },
      on: { click: () => actions.ask(row) },
    },
    make("span", { class: row.tie ? "tag tie" : "tag" }, row.tie ? "tie" : TAGS[row.kind]),
    make("bdi", { class: "words" }, app.store.words(row.mention, 40)),
    make("span", { class: "soft", title: sureText(row) }, `${row.confidence} %`),
  );
  return make("li", {}, item);
}
