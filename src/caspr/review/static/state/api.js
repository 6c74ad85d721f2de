/**
 * Requests to the server, one operation after the other; the events it sends; and waiting for it when it is gone.
 * A reader can hide the names of annotators: then they are taken out of whatever the server sends. A blind server
 * never sends them.
 */
import { remember, remembered } from "../ui/dom.js";
/** @import { Store } from "./store.js" */
/** @import { Explanation, Lease, MentionId, Operation, QuestionCard, Remedy, SearchProgress, State, Update } from "./types.js" */

const STORAGE_KEY = "caspr-blind";
const PROBE_PAUSE = 3000;
const FIRST_PROBE_PAUSE = 200;

/**
 * An update, the state before it, and whether another tab or an editor caused it.
 * @typedef {{ update: Update, before: State, foreign: boolean }} Received
 */

/**
 * What the server sends without a request, and whether it answers. `ended`: it no longer knows this browser.
 * @typedef {object} ServerListener
 * @property {(received: Received) => void} update
 * @property {(best: SearchProgress) => void} progress
 * @property {() => void} questions
 * @property {(lease: Lease) => void} lease
 * @property {() => void} unreachable
 * @property {() => void} reachable
 * @property {() => void} ended
 */

/**
 * Why a request failed. `stale`: the document was changed meanwhile; `refused`: it is invalid or contradicts the
 * decisions in `clashes`; `leased`: somebody else works on it; `unreachable`: no answer; `ended`: the server does not
 * know this browser.
 * @typedef {"stale" | "refused" | "leased" | "unreachable" | "ended" | "failed"} RefusalKind
 */

export class Refusal extends Error {
  /**
   * @param {RefusalKind} kind
   * @param {string} message
   * @param {string[]} clashes
   * @param {Remedy[]} remedies
   */
  constructor(kind, message, clashes = [], remedies = []) {
    super(message);
    this.kind = kind;
    this.clashes = clashes;
    this.remedies = remedies;
  }
}

/** @type {Record<number, RefusalKind>} */
const KINDS = { 403: "ended", 409: "stale", 422: "refused", 423: "leased" };

export class Api {
  /** @type {Promise<unknown>} */
  #last = Promise.resolve();
  /** @type {EventSource | null} */
  #events = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #probe = undefined;
  #waiting = 0;
  #unreachable = false;

  /**
   * @param {Store} store
   * @param {ServerListener} listener
   */
  constructor(store, listener) {
    this.store = store;
    this.listener = listener;
    this.base = new URL(".", location.href).pathname;
    this.csrf = document.querySelector("meta[name=csrf]")?.getAttribute("content") ?? "";
    /**
     * The names of the annotators as the server sends them, also while they are hidden.
     * @type {string[]}
     */
    this.names = [];
  }

  /**
   * Send an operation when those before it are done; return the update and the state before it, or throw a Refusal.
   * @param {Operation} op
   */
  send(op) {
    this.#waiting += 1;
    const turn = this.#last
      .then(() => this.#post(op))
      .finally(() => {
        this.#waiting -= 1;
      });
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** Stop the running search; the best result so far stays. */
  async cancel() {
    await this.#fetch("cancel", { method: "POST", headers: { "X-CSRF": this.csrf } });
  }

  /**
   * Take the document over from whoever works on it.
   * @returns {Promise<Lease>}
   */
  async takeOver() {
    const answer = await this.#fetch("lease", { method: "POST", headers: { "X-CSRF": this.csrf } });
    if (!answer.ok) throw new Refusal("failed", (await errorOf(answer)).message);
    return answer.json();
  }

  /**
   * Fetch JSON below the address of this document.
   * @param {string} path
   * @param {AbortSignal} [signal]
   */
  async read(path, signal) {
    const answer = await this.#fetch(path, { signal });
    if (!answer.ok) throw new Refusal("failed", (await errorOf(answer)).message);
    const body = await answer.json();
    return path.startsWith("question/") ? cardWithoutNames(body, this.names) : body;
  }

  /**
   * Fetch who voted how on a mention.
   * @param {MentionId} id
   * @param {AbortSignal} signal
   * @returns {Promise<Explanation>}
   */
  async explain(id, signal) {
    return explanationWithoutNames(await this.read(`mention/${id}`, signal), this.names);
  }

  /** Fetch the whole state. */
  async refresh() {
    /** @type {State} */
    const state = await this.read("state");
    this.names = state.annotators;
    this.store.replace(withoutNames(state));
  }

  /** Receive events while the page is visible; a hidden page closes its connection. */
  listen() {
    const follow = () => (document.hidden ? this.#close() : this.#open());
    document.addEventListener("visibilitychange", follow);
    addEventListener("pagehide", () => this.#close());
    addEventListener("pageshow", follow);
    follow();
  }

  #open() {
    if (this.#events) return;
    const events = new EventSource(`${this.base}events`);
    this.#events = events;
    /** @type {(kind: string, act: (data: any) => void) => void} */
    const on = (kind, act) => events.addEventListener(kind, (event) => act(JSON.parse(event.data)));
    events.addEventListener("error", () => this.#onLost());
    on("hello", ({ version }) => this.#onConnected(version));
    on("update", (update) => this.#onUpdate(update));
    on("progress", (best) => this.listener.progress(best));
    on("questions", () => this.listener.questions());
    on("lease", (lease) => this.listener.lease(lease));
  }

  #close() {
    this.#events?.close();
    this.#events = null;
  }

  /** @param {Operation} op */
  async #post(op) {
    const before = this.store.state;
    const body = JSON.stringify({ version: before.version, op });
    const headers = { "Content-Type": "application/json", "X-CSRF": this.csrf };
    const answer = await this.#fetch("do", { method: "POST", headers, body });
    if (answer.ok) {
      /** @type {Update} */
      const update = await answer.json();
      await this.#apply(update);
      return { update, before };
    }
    const kind = KINDS[answer.status] ?? "failed";
    const { message, clashes, remedies } = await errorOf(answer);
    if (kind === "stale") await this.refresh();
    throw new Refusal(kind, message, clashes, remedies);
  }

  /**
   * Apply an update before the next operation names its version.
   * @param {Update} update
   */
  async #apply(update) {
    if (!this.store.merge(update)) await this.refresh();
  }

  /**
   * An event may repeat the answer to an operation of this page, before or after it.
   * @param {Update} update
   */
  async #onUpdate(update) {
    const before = this.store.state;
    const isOwn = this.#waiting > 0;
    await this.#apply(update);
    /** @type {(state: State) => string} */
    const decided = ({ decisions, notes, done }) => JSON.stringify([decisions, notes, done]);
    const changed =
      update.full || Object.keys(update.mentions).length > 0 || decided(before) !== decided(this.store.state);
    const isNew = update.version > before.version;
    this.listener.update({ update, before, foreign: isNew && changed && !isOwn });
  }

  /**
   * @param {string} path
   * @param {RequestInit} options
   */
  async #fetch(path, options) {
    let answer;
    try {
      answer = await fetch(this.base + path, options);
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") throw error;
      this.#onLost();
      throw new Refusal("unreachable", "The server does not answer.");
    }
    if (answer.status === 403) {
      this.#close();
      this.listener.ended();
    }
    return answer;
  }

  /** Report once that the server does not answer, and probe until it does. */
  #onLost() {
    if (document.hidden || this.#probe !== undefined) return;
    this.#probe = setTimeout(() => this.#probeServer(), this.#unreachable ? PROBE_PAUSE : FIRST_PROBE_PAUSE);
  }

  async #probeServer() {
    try {
      const answer = await fetch(`${this.base}state`);
      this.#probe = undefined;
      this.#close();
      if (answer.ok) this.#open();
      else this.listener.ended();
    } catch {
      if (!this.#unreachable) this.listener.unreachable();
      this.#unreachable = true;
      this.#probe = undefined;
      this.#onLost();
    }
  }

  /**
   * A connection begins with the version of the document; updates before it must be fetched.
   * @param {number} version
   */
  async #onConnected(version) {
    clearTimeout(this.#probe);
    this.#probe = undefined;
    if (this.#unreachable) this.listener.reachable();
    this.#unreachable = false;
    if (version !== this.store.state.version) await this.refresh().catch(() => {});
  }
}

/**
 * Return the message of an answer that is an error, the ids of the decisions it names, and what to do about it.
 * @param {Response} answer
 * @returns {Promise<{ message: string, clashes: string[], remedies: Remedy[] }>}
 */
async function errorOf(answer) {
  const body = await answer.json().catch(() => ({}));
  const { error, clashes = [], remedies = [] } = body;
  return { message: error ?? `The server answered ${answer.status}.`, clashes, remedies };
}

/** Return whether this reader hides the names of annotators. */
export const namesAreHidden = () => remembered(STORAGE_KEY) === "yes";

/** @param {boolean} hidden */
export const hideNames = (hidden) => remember(STORAGE_KEY, hidden ? "yes" : "no");

/** @type {(number: number) => string} */
const pseudonym = (number) => `Annotator ${number + 1}`;

/**
 * Return a state without names, if they are hidden.
 * @param {State} state
 * @returns {State}
 */
export function withoutNames(state) {
  if (!namesAreHidden()) return state;
  const annotators = state.annotators.map((_name, number) => pseudonym(number));
  return { ...state, annotators };
}

/**
 * Return a question without names, if they are hidden; `names` are those of the annotators in their order.
 * @param {QuestionCard} card
 * @param {string[]} names
 * @returns {QuestionCard}
 */
function cardWithoutNames(card, names) {
  if (!namesAreHidden()) return card;
  /** @type {(some: string[]) => string[]} */
  const renamed = (some) => some.map((name) => pseudonym(names.indexOf(name)));
  const { alone, absent, unseen } = card;
  const choices = card.choices.map((choice) => ({
    ...choice,
    says: renamed(choice.says),
    partly: renamed(choice.partly),
  }));
  return { ...card, choices, alone: renamed(alone), absent: renamed(absent), unseen: renamed(unseen) };
}

/**
 * Return an explanation without names, if they are hidden; `names` are those of the annotators in their order.
 * @param {Explanation} explanation
 * @param {string[]} names
 * @returns {Explanation}
 */
function explanationWithoutNames(explanation, names) {
  if (!namesAreHidden()) return explanation;
  const votes = explanation.votes.map((vote) => ({
    ...vote,
    annotator: pseudonym(names.indexOf(vote.annotator)),
  }));
  return { ...explanation, votes };
}
