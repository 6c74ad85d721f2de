/** Talk to the server: one operation after the other, the events it sends, and what to do when it is gone. */

const PROBE = 3000;

/** What became of an operation that did not go through. */
export class Refusal extends Error {
  constructor(kind, message, details = {}) {
    super(message);
    this.kind = kind;
    this.clashes = details.clashes ?? [];
    this.op = details.op ?? null;
  }
}

export class Api {
  #last = Promise.resolve();
  #events = null;
  #probe = null;
  #waiting = 0;

  /** `hear` gets a kind (`update`, `progress`, `questions`, `gone`, `back`, `over`) and what belongs to it. */
  constructor(store, hear) {
    this.store = store;
    this.hear = hear;
    this.base = new URL(".", location.href).pathname;
    this.csrf = document.querySelector("meta[name=csrf]").content;
    this.gone = false;
  }

  /** Do an operation when those before it are done. Answers `{update, before}`, the state before it; throws a Refusal. */
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

  /** Stop the running re-optimisation; the best so far stays. */
  async cancel() {
    await this.#fetch("cancel", { method: "POST", headers: { "X-CSRF": this.csrf } });
  }

  /** Read something below this document's address. */
  async read(path, signal = undefined) {
    const answer = await this.#fetch(path, { signal });
    if (!answer.ok) throw new Refusal("failed", await this.#reason(answer));
    return answer.json();
  }

  /** Read the whole state anew. */
  async refresh() {
    this.store.replace(await this.read("state"));
  }

  /** Listen to the server while the page is seen; a hidden page gives its connection back. */
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
    events.addEventListener("hello", (event) => this.#greeted(JSON.parse(event.data).version));
    events.addEventListener("error", () => this.#lost());
    events.addEventListener("update", (event) => this.#updated(JSON.parse(event.data)));
    for (const kind of ["progress", "questions"]) {
      events.addEventListener(kind, (event) => this.hear(kind, event.data ? JSON.parse(event.data) : {}));
    }
  }

  #close() {
    this.#events?.close();
    this.#events = null;
  }

  async #post(op) {
    const before = this.store.state;
    const body = JSON.stringify({ version: before.version, op });
    const headers = { "Content-Type": "application/json", "X-CSRF": this.csrf };
    const answer = await this.#fetch("do", { method: "POST", headers, body }, op);
    if (answer.ok) {
      const update = await answer.json();
      await this.#take(update);
      return { update, before };
    }
    const told = await answer.json().catch(() => ({}));
    const message = told.error ?? `The server answered ${answer.status}.`;
    if (answer.status === 409) {
      await this.refresh();
      throw new Refusal("late", message, { op });
    }
    if (answer.status === 403) throw new Refusal("over", message, { op });
    if (answer.status === 422) throw new Refusal("refused", message, { op, clashes: told.clashes });
    throw new Refusal("failed", message, { op });
  }

  /** Take an update into the store before the next operation names its version. */
  async #take(update) {
    if (!this.store.merge(update)) await this.refresh();
  }

  /** An event may be the echo of our own operation, before or after its answer. */
  async #updated(update) {
    const before = this.store.state;
    await this.#take(update);
    const after = this.store.state;
    const decided = ({ decisions, notes }) => JSON.stringify([decisions, notes]);
    const moved =
      update.full || Object.keys(update.mentions ?? {}).length > 0 || decided(before) !== decided(after);
    const fresh = update.version > before.version;
    this.hear("update", { update, before, theirs: fresh && moved && this.#waiting === 0 });
  }

  async #fetch(path, options, op = null) {
    let answer;
    try {
      answer = await fetch(this.base + path, { credentials: "same-origin", ...options });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      this.#lost();
      throw new Refusal("gone", "The server does not answer.", { op });
    }
    if (answer.status === 403) {
      this.#close();
      this.hear("over", {});
    }
    return answer;
  }

  async #reason(answer) {
    const told = await answer.json().catch(() => ({}));
    return told.error ?? `The server answered ${answer.status}.`;
  }

  /** Say once that the server is gone, and look for it again and again. */
  #lost() {
    if (document.hidden || this.#probe !== null) return;
    this.#probe = setTimeout(
      async () => {
        try {
          const answer = await fetch(`${this.base}state`, { credentials: "same-origin" });
          this.#probe = null;
          this.#close();
          if (answer.ok) this.#open();
          else this.hear("over", {});
        } catch {
          if (!this.gone) this.hear("gone", {});
          this.gone = true;
          this.#probe = null;
          this.#lost();
        }
      },
      this.gone ? PROBE : 200,
    );
  }

  #returned() {
    clearTimeout(this.#probe);
    this.#probe = null;
    if (this.gone) this.hear("back", {});
    this.gone = false;
  }

  /** The first thing a connection tells is the version; what happened before it must be read. */
  async #greeted(version) {
    this.#returned();
    if (version !== this.store.state.version) await this.refresh().catch(() => {});
  }
}
