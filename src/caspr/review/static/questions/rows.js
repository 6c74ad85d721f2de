/** The rows of the list of questions: those that are open, skipped ones last. */
/** @import { QuestionPlace } from "./place.js" */
/** @import { QuestionRow, Questions } from "../state/types.js" */

export class QuestionRows {
  /** @type {Questions | null} what the server said last */
  read = null;
  /** @type {QuestionRow[]} */
  rows = [];
  /** @type {Set<string>} the questions that were answered since then */
  #answered = new Set();

  /** @param {QuestionPlace} place */
  constructor(place) {
    this.place = place;
  }

  /** @param {Questions} read */
  replace(read) {
    this.read = read;
    this.#answered.clear();
    this.sort();
  }

  /** Put skipped questions behind all others, and leave out those that were answered since the list was read. */
  sort() {
    const skipped = new Set(this.place.now.skipped);
    const left = (this.read?.questions ?? []).filter(({ id }) => !this.#answered.has(id));
    this.rows = [...left.filter(({ id }) => !skipped.has(id)), ...left.filter(({ id }) => skipped.has(id))];
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
    this.sort();
    return next;
  }

  /**
   * Return the question to ask after another one: the most valuable one that is left, or the one behind it.
   * @param {string} id
   */
  after(id) {
    const others = this.rows.filter((row) => row.id !== id);
    if (this.place.now.order === "valuable") return others[0] ?? null;
    return this.rows[this.indexOf(id) + 1] ?? others[0] ?? null;
  }

  /** How many questions the filter lets through, without those that were answered since they were counted. */
  get found() {
    return Math.max((this.read?.found ?? 0) - this.#answered.size, this.rows.length);
  }

  /**
   * Say where a question is in the list.
   * @param {string} id
   */
  position(id) {
    const here = this.indexOf(id);
    const found = this.found.toLocaleString("en");
    return here < 0 ? `of ${found}` : `${here + 1} of ${found}`;
  }
}
