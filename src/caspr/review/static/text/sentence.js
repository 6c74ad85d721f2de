/**
 * The line in question as the result and each annotator have it, one below the other: who marks what, and with which
 * other mentions of the line. It stays open from question to question until it is closed.
 */
import { inTextOrder, spanOf } from "../state/tokens.js";
import { button, fill, make, remember, remembered } from "../ui/dom.js";
import { lineLabel } from "../ui/labels.js";
import { lineAt, linesOf, mentionsByLine } from "./lines.js";
import { RESULT, alone, beside, versionLine, versionOf } from "./versions.js";
/** @import { App } from "../app.js" */
/** @import { MentionId } from "../state/types.js" */
/** @import { Side } from "./versions.js" */

const STORAGE_KEY = "caspr-sentence";
/** How many lines of a long mention are shown. */
const MOST_LINES = 3;

export class Sentence {
  /**
   * @param {HTMLElement} root
   * @param {App} app
   */
  constructor(root, app) {
    this.root = root;
    this.app = app;
    root.hidden = remembered(STORAGE_KEY) !== "open";
  }

  /** Open it, or close it. */
  toggle() {
    this.root.hidden = !this.root.hidden;
    remember(STORAGE_KEY, this.root.hidden ? "" : "open");
    this.render();
    // The text has less room now: what the line is about stays in view.
    if (!this.root.hidden && this.#mention) this.app.text.reveal(this.#mention);
    this.app.say(this.root.hidden ? "Closed." : this.#title, { quiet: true });
  }

  /** The mention that the reader is at, or that is asked about. */
  get #mention() {
    return this.app.selection.mention ?? this.app.queue.asked[0] ?? null;
  }

  get #title() {
    return this.#mention ? `Everybody’s version of ${lineLabel(this.#mention)}` : "Go to a mention first.";
  }

  render() {
    if (this.root.hidden) return;
    const mention = this.#mention;
    const close = button("Close", () => this.toggle(), { kind: "quiet", key: "S" });
    fill(
      this.root,
      make("div", { class: "sentence-head" }, make("h2", { id: "sentence-title" }, this.#title), close),
      ...(mention ? this.#rows(mention) : []),
    );
  }

  /** @param {MentionId} mention */
  #rows(mention) {
    const { store } = this.app;
    const lines = linesOf(store.state.tokens, store.state.breaks);
    const { start, end } = spanOf(mention);
    const first = lineAt(lines, start);
    const last = Math.min(lineAt(lines, end), first + MOST_LINES - 1);
    const numbers = Array.from({ length: last - first + 1 }, (_, i) => first + i);
    /** @type {(name: string, side: Side) => HTMLElement} */
    const row = (name, side) => {
      const marked = inTextOrder(side.version.keys()).map((id) => ({ id, ...spanOf(id) }));
      const byLine = mentionsByLine(lines, marked, new Set(numbers));
      const shown = numbers.map((number) =>
        versionLine(store.state.tokens, lines[number], byLine[number], side, mention),
      );
      return make(
        "div",
        { class: "sentence-row" },
        make("b", {}, make("bdi", {}, name)),
        make("div", {}, ...shown),
      );
    };
    const result = versionOf(store, RESULT);
    const own = store.state.annotators.map((name, i) =>
      row(name, beside(result, versionOf(store, String(i)))[1]),
    );
    return [row("Result", alone(result)), ...own];
  }
}
