/** Who is done with the document, and who works on it now. */
import { button, byId, fill, make } from "../ui/dom.js";
import { shortTime } from "../ui/words.js";
/** @import { App } from "../app.js" */
/** @import { Lease } from "../state/types.js" */

const me = document.querySelector("meta[name=person]")?.getAttribute("content") ?? "";

export class People {
  /** @type {Lease | null} */
  #lease = null;

  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.#lease = app.store.state.lease ?? null;
  }

  /**
   * Somebody acted, or took the document over.
   * @param {Lease} lease
   */
  follow(lease) {
    const mine = this.#isMine;
    this.#lease = lease;
    if (mine && !this.#isMine) this.app.say(`${lease.holder} has taken this document over.`);
    this.show();
  }

  /** Show whether the document is done, and who else is at work on it. */
  show() {
    const { done } = this.app.store.state;
    const finish = done
      ? button("Open again", () => this.app.act({ do: "reopen" }), { kind: "quiet", focusKey: "done" })
      : button("Done", () => this.app.act({ do: "done" }), {
          kind: "quiet",
          focusKey: "done",
          title: "Nothing is left to decide in this document",
        });
    const lease = this.#other;
    fill(
      byId("people"),
      done ? make("span", { class: "good" }, `✓ done by ${done.by ?? "?"}, ${shortTime(done.at)}`) : null,
      lease ? make("span", { class: "holder" }, `${lease.holder} is at work; you are watching`) : null,
      lease ? button("Take over", () => this.takeOver(), { focusKey: "take-over" }) : null,
      finish,
    );
  }

  async takeOver() {
    const answer = await this.app.api.takeOver().catch(() => null);
    if (answer) this.follow(answer);
    else this.app.say("The document could not be taken over.");
    return answer !== null;
  }

  get #isMine() {
    return this.#lease !== null && this.#lease.holder === me;
  }

  /** Who else holds the document now. */
  get #other() {
    const lease = this.#lease;
    return lease && lease.holder !== me && Date.parse(lease.until) > Date.now() ? lease : null;
  }
}
