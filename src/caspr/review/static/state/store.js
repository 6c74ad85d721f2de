/** The document as this page knows it: the server's state, kept up to date by its updates. */
import { inTextOrder, phrase, spanOf } from "./tokens.js";
/** @import { Chain, ChainId, Mention, MentionId, State, Update } from "./types.js" */

/**
 * What changed: the ids of mentions and chains, and whether the text itself is another one.
 * @typedef {{ mentions: Set<MentionId>, chains: Set<ChainId>, rebuild: boolean }} StoreChange
 */

/** @type {(a: unknown, b: unknown) => boolean} */
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

export class Store {
  /** @type {((change: StoreChange, old: State) => void)[]} */
  #listeners = [];
  /** @type {MentionId[] | null} */
  #order = null;

  /** @param {State} state */
  constructor(state) {
    this.state = state;
  }

  /**
   * Call a listener after every change, with what changed and the state before.
   * @param {(change: StoreChange, old: State) => void} listener
   */
  subscribe(listener) {
    this.#listeners.push(listener);
  }

  /** All mentions in text order. */
  get order() {
    this.#order ??= inTextOrder(Object.keys(this.state.mentions));
    return this.#order;
  }

  /**
   * @param {MentionId | null | undefined} id
   * @returns {Mention | null}
   */
  mention(id) {
    return id == null ? null : (this.state.mentions[id] ?? null);
  }

  /**
   * @param {ChainId | null | undefined} id
   * @returns {Chain | null}
   */
  chain(id) {
    return id == null ? null : (this.state.chains[id] ?? null);
  }

  /**
   * Return the words of a mention, whether or not it is known.
   * @param {MentionId} id
   */
  words(id, most = 60) {
    const { start, end } = spanOf(id);
    return phrase(this.state.tokens, start, end, most);
  }

  /**
   * Replace the whole state; listeners receive only what differs.
   * @param {State} state
   */
  replace(state) {
    const old = this.state;
    this.state = state;
    this.#notify(old, {
      mentions: differing(old.mentions, state.mentions),
      chains: differing(old.chains, state.chains),
      rebuild: !same(
        [old.tokens, old.breaks, old.annotators],
        [state.tokens, state.breaks, state.annotators],
      ),
    });
  }

  /**
   * Apply an update; return false when updates before it are missing, so that the state must be fetched.
   * @param {Update} update
   */
  merge(update) {
    const old = this.state;
    if (update.full || update.version > old.version + 1) return false;
    if (update.version < old.version) return true;
    const { mentions, chains } = update;
    this.state = {
      ...old,
      ...update,
      mentions: merged(old.mentions, mentions),
      chains: merged(old.chains, chains),
    };
    this.#notify(old, {
      mentions: new Set(Object.keys(mentions)),
      chains: new Set(Object.keys(chains)),
      rebuild: false,
    });
    return true;
  }

  /**
   * @param {State} old
   * @param {StoreChange} change
   */
  #notify(old, change) {
    for (const id of change.mentions) if (!old.mentions[id] || !this.state.mentions[id]) this.#order = null;
    for (const listener of this.#listeners) listener(change, old);
  }
}

/**
 * Return the ids whose values differ.
 * @template T
 * @param {Record<string, T>} old
 * @param {Record<string, T>} now
 */
function differing(old, now) {
  const ids = new Set([...Object.keys(old), ...Object.keys(now)]);
  return new Set([...ids].filter((id) => !same(old[id], now[id])));
}

/**
 * Return a table with changes applied; null deletes.
 * @template T
 * @param {Record<string, T>} table
 * @param {Record<string, T | null>} changes
 */
function merged(table, changes) {
  const result = { ...table };
  for (const [id, value] of Object.entries(changes)) {
    if (value === null) delete result[id];
    else result[id] = value;
  }
  return result;
}
