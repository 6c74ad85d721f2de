/** The document as this page knows it: the server's state, kept up to date by its updates. */
import { phrase } from "../ui/words.js";

const WHOLE = ["cost", "decisions", "closed", "notes", "undo", "redo", "progress", "working", "problem"];
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** Sort mention ids as they are read: by start, the longer one first. */
export function inTextOrder(ids) {
  const spans = ids.map((id) => [id, ...id.split("-").map(Number)]);
  spans.sort((one, other) => one[1] - other[1] || other[2] - one[2]);
  return spans.map(([id]) => id);
}

export class Store {
  #listeners = [];
  #order = null;

  constructor(state) {
    this.state = state;
  }

  /** Call a listener after every change, with what changed: `{mentions, chains, anew}`, the first two sets of ids. */
  subscribe(listener) {
    this.#listeners.push(listener);
  }

  /** All mentions in text order. */
  get order() {
    this.#order ??= inTextOrder(Object.keys(this.state.mentions));
    return this.#order;
  }

  mention(id) {
    return this.state.mentions[id] ?? null;
  }

  chain(id) {
    return id === null || id === undefined ? null : (this.state.chains[id] ?? null);
  }

  /** Return the words of a mention, whether or not it is known. */
  words(id, most = 60) {
    const [start, end] = id.split("-").map(Number);
    return phrase(this.state.tokens, start, end, most);
  }

  /** Return the decisions that name a mention. */
  decisionsOn(id) {
    return this.state.decisions.filter((decision) => decision.mentions.includes(id));
  }

  /** Take a whole new state; listeners hear only what differs. Tokens and annotators tell whether to start anew. */
  replace(state) {
    const old = this.state;
    this.state = state;
    this.#tell(old, {
      mentions: this.#differing(old.mentions, state.mentions),
      chains: this.#differing(old.chains, state.chains),
      anew: !same([old.tokens, old.breaks, old.annotators], [state.tokens, state.breaks, state.annotators]),
    });
  }

  /** Take an update; answer false when it does not fit on what is known, so that the state must be fetched. */
  merge(update) {
    const state = this.state;
    if (update.full || (update.base ?? update.version - 1) > state.version) return false;
    if (update.version < state.version) return true;
    const old = { ...state };
    this.state = { ...state, version: update.version };
    for (const name of WHOLE) if (name in update) this.state[name] = update[name];
    for (const name of ["mentions", "chains"]) {
      const table = { ...state[name] };
      for (const [id, value] of Object.entries(update[name] ?? {})) {
        if (value === null) delete table[id];
        else table[id] = value;
      }
      this.state[name] = table;
    }
    this.#tell(old, {
      mentions: new Set(Object.keys(update.mentions ?? {})),
      chains: new Set(Object.keys(update.chains ?? {})),
      anew: false,
    });
    return true;
  }

  #differing(old, now) {
    const ids = new Set([...Object.keys(old), ...Object.keys(now)]);
    return new Set([...ids].filter((id) => !same(old[id], now[id])));
  }

  #tell(old, change) {
    for (const id of change.mentions) if (!old.mentions[id] || !this.state.mentions[id]) this.#order = null;
    for (const listener of this.#listeners) listener(change, old);
  }
}
