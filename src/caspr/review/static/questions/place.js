/** Where the reader is among the questions: order, filter, what was skipped; kept in the browser over a reload. */

/**
 * `current` is the id of the question on the screen. An empty filter lets everything through.
 * @typedef {{
 *   order: string,
 *   annotator: string,
 *   entity: string,
 *   kind: string,
 *   overruled: boolean,
 *   skipped: string[],
 *   current: string | null,
 * }} Place
 */

/** @type {Place} */
const START = {
  order: "valuable",
  annotator: "",
  entity: "",
  kind: "",
  overruled: false,
  skipped: [],
  current: null,
};
const MOST_SKIPPED = 5000;

export class QuestionPlace {
  #key;
  /** @type {Place} */
  #place;

  /** @param {string} document its address and title */
  constructor(document) {
    this.#key = `caspr-questions ${document}`;
    this.#place = { ...START, ...read(this.#key) };
  }

  get now() {
    return this.#place;
  }

  /** @param {Partial<Place>} change */
  change(change) {
    this.#place = { ...this.#place, ...change };
    this.#place.skipped = this.#place.skipped.slice(-MOST_SKIPPED);
    try {
      localStorage.setItem(this.#key, JSON.stringify(this.#place));
    } catch {
      /* storage may be forbidden or full */
    }
  }

  /** Order and filter as an address has them. */
  get query() {
    const { order, annotator, entity, kind, overruled } = this.#place;
    return new URLSearchParams({ order, annotator, entity, kind, overruled: overruled ? "yes" : "" });
  }

  /** Whether a filter is set. */
  get isFiltered() {
    const { annotator, entity, kind, overruled } = this.#place;
    return Boolean(annotator || entity || kind || overruled);
  }
}

/**
 * Read a place; what is no place is ignored.
 * @param {string} key
 * @returns {Partial<Place>}
 */
function read(key) {
  try {
    const found = JSON.parse(localStorage.getItem(key) ?? "{}");
    const fits = Object.entries(START).filter(
      ([name, value]) =>
        name in found && (Array.isArray(value) ? Array.isArray(found[name]) : isLike(found[name], value)),
    );
    return Object.fromEntries(fits.map(([name]) => [name, found[name]]));
  } catch {
    return {};
  }
}

/** @type {(one: unknown, other: unknown) => boolean} */
const isLike = (one, other) =>
  other === null ? one === null || typeof one === "string" : typeof one === typeof other;
