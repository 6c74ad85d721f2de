/**
 * Stands in for the server in the demo of the review page: answers the page's requests from a recording.
 *
 *   page --fetch--> Player --> the recorded answer of the server, or a refusal that says that there is none
 *
 * The recording is a tree. A node has the answers to what the page reads, by address, and a step for each operation
 * that was tried; undo goes back. `bench/demo.py` records it. Versions are counted here.
 */
import { Announcer } from "../src/caspr/review/static/panels/messages.js";

/** @import { Change } from "../src/caspr/review/static/state/types.js" */

/**
 * Where an operation leads, and what the server said to it and to taking it back.
 * @typedef {{ to: number, done: number, undone: number }} Step
 */

/**
 * An operation that the server refused.
 * @typedef {{ refused: number, status: number }} Refused
 */

/**
 * Answers are numbers of bodies.
 * @typedef {{ read: Record<string, number>, steps: Record<string, Step | Refused> }} Node
 */

const GUIDE =
  "This is a demo: the review page of a short text, with answers that were recorded from the real server. Answer up to four questions with the keys 1 to 9, y and n; u undoes, ? shows all keys. Reload the page to start again.";
const NOT_RECORDED =
  "The recording ends here, so nothing was changed. Press u to undo your last step and try something else, or install CaspR to try everything.";
const NO_SERVER = "A demo has no server to make this file. Install CaspR to try it.";

class Player {
  #version = 1;
  /** @type {Step[]} */
  #taken = [];
  /** @type {Step[]} what redo would take again, the next one last */
  #undone = [];

  /** @param {{ nodes: Node[], bodies: Record<string, unknown>[] }} recording */
  constructor({ nodes, bodies }) {
    this.nodes = nodes;
    this.bodies = bodies;
  }

  get version() {
    return this.#version;
  }

  /**
   * Answer a request for an address below that of the document.
   * @param {string} path
   * @param {string} [body]
   */
  answer(path, body) {
    if (path === "do") return this.#do(JSON.parse(body ?? "{}").op);
    const found = this.#node.read[path.replace(/\?prices$/, "")];
    return found === undefined ? refusal(404) : this.#say(found);
  }

  get #node() {
    return this.nodes[this.#taken.at(-1)?.to ?? 0];
  }

  /** @param {{ do: string }} operation */
  #do(operation) {
    if (operation.do === "undo") return this.#undo();
    if (operation.do === "redo") return this.#redo();
    const step = this.#node.steps[keyOf(operation)];
    if (!step) return refusal(422);
    if ("refused" in step) return this.#say(step.refused, {}, step.status);
    this.#undone = [];
    return this.#take(step);
  }

  #undo() {
    const step = this.#taken.pop();
    if (!step) return refusal(422);
    this.#undone.push(step);
    this.#version += 1;
    return this.#say(step.undone);
  }

  #redo() {
    const step = this.#undone.pop();
    if (!step) return refusal(422);
    // What changed when it was taken back, the other way round: redoing it names no mention.
    const { changed } = /** @type {{ changed: Change[] }} */ (this.bodies[step.undone]);
    return this.#take(step, {
      changed: changed.map(({ mention, from, to }) => ({ mention, from: to, to: from })),
    });
  }

  /**
   * @param {Step} step
   * @param {Record<string, unknown>} change what differs from how it was recorded
   */
  #take(step, change = {}) {
    this.#taken.push(step);
    this.#version += 1;
    const next = this.#undone.at(-1);
    return this.#say(step.done, next ? { ...change, redo: this.bodies[next.undone].redo } : change);
  }

  /**
   * @param {number} number that of the body
   * @param {Record<string, unknown>} change what differs from how it was recorded
   */
  #say(number, change = {}, status = 200) {
    return Response.json({ ...this.bodies[number], version: this.#version, ...change }, { status });
  }
}

/** @param {number} status */
const refusal = (status) => Response.json({ error: NOT_RECORDED }, { status });

/**
 * Return an operation as text that does not depend on the order of its fields.
 * @param {object} operation
 */
const keyOf = (operation) =>
  JSON.stringify(operation, (_name, value) =>
    value instanceof Object && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort())
      : value,
  );

const player = new Player(JSON.parse(document.getElementById("recording")?.textContent ?? "{}"));
const base = new URL(".", location.href).pathname;

/** @type {typeof fetch} */
globalThis.fetch = async (address, options) =>
  player.answer(String(address).slice(base.length), options?.body?.toString());

/** A stream of events on which nothing happens after the greeting. */
class QuietEvents extends EventTarget {
  constructor() {
    super();
    const data = JSON.stringify({ version: player.version });
    queueMicrotask(() => this.dispatchEvent(new MessageEvent("hello", { data })));
  }

  close() {}
}

Object.assign(globalThis, { EventSource: QuietEvents });

const announcer = new Announcer();
document.addEventListener("click", (event) => {
  if (!(event.target instanceof Element && event.target.closest("a[href^='/']"))) return;
  event.preventDefault();
  announcer.warn(NO_SERVER);
});
announcer.warn(GUIDE);
