/**
 * Versions of the text: the result or one annotator's own, or two of them side by side with their differences; and the
 * line in question as everybody has it, one below the other.
 *
 * An entity of one version is the entity of the other that shares most mentions with it, one to one; mentions that
 * only one of the two has, and mentions whose entities are not those, are differences.
 */
import { inTextOrder, spanOf, visible } from "../state/tokens.js";
import { button, fill, find, make, remember, remembered } from "../ui/dom.js";
import { colour, counted, lineLabel } from "../ui/labels.js";
import { Panel } from "../ui/tabs.js";
import { endsOf, lineAt, lineElement, linesOf, mentionsByLine, treeOf } from "./lines.js";
/** @import { App } from "../app.js" */
/** @import { Store } from "../state/store.js" */
/** @import { Span } from "../state/tokens.js" */
/** @import { ChainId, MentionId } from "../state/types.js" */
/** @import { LineMention, Piece } from "./lines.js" */

/** @typedef {Map<MentionId, ChainId>} Version the entity of each mention, by the name it has in this version */
/** @typedef {"only" | "other"} Difference that only this version has a mention, or has it in another entity */

/**
 * How a version is shown: its differences from the one beside it, and its entities by their names on the left.
 * @typedef {{ version: Version, differing: Map<MentionId, Difference>, nameOf: (entity: ChainId) => ChainId }} Side
 */

const RESULT = "result";
const NOTHING = "nothing";
const SIGNS = { only: "+", other: "≠" };
const SENTENCE_KEY = "caspr-sentence";
/** How many lines of a long mention are shown in everybody's version. */
const MOST_LINES = 3;

/**
 * Return the entities of two versions that are the same one, from the first to the second: most shared mentions first.
 * @param {Version} version
 * @param {Version} compared
 */
function sameEntities(version, compared) {
  /** @type {Map<string, { first: ChainId, second: ChainId, shared: number }>} */
  const pairs = new Map();
  for (const [id, first] of version) {
    const second = compared.get(id);
    if (second === undefined) continue;
    const key = JSON.stringify([first, second]);
    const pair = pairs.get(key) ?? { first, second, shared: 0 };
    pair.shared += 1;
    pairs.set(key, pair);
  }
  /** @type {Map<ChainId, ChainId>} */
  const matched = new Map();
  const taken = new Set();
  for (const { first, second } of [...pairs.values()].sort((a, b) => b.shared - a.shared)) {
    if (matched.has(first) || taken.has(second)) continue;
    matched.set(first, second);
    taken.add(second);
  }
  return matched;
}

/**
 * Return what differs in a version from another one.
 * @param {Version} version
 * @param {Version} compared
 * @param {Map<ChainId, ChainId>} same
 */
function differences(version, compared, same) {
  /** @type {Map<MentionId, Difference>} */
  const differing = new Map();
  for (const [id, entity] of version) {
    const there = compared.get(id);
    if (there === undefined) differing.set(id, "only");
    else if (same.get(entity) !== there) differing.set(id, "other");
  }
  return differing;
}

/**
 * Return a version: that of the result, or of the annotator with a number.
 * @param {Store} store
 * @param {string} chosen
 * @returns {Version}
 */
function versionOf(store, chosen) {
  const { mentions } = store.state;
  /** @type {Version} */
  const version = new Map();
  for (const id of store.order) {
    const { chain, votes, marked } = mentions[id];
    const entity = chosen === RESULT ? chain : marked > 0 ? votes[Number(chosen)] : null;
    if (entity != null) version.set(id, entity);
  }
  return version;
}

/**
 * Show a version as it is.
 * @param {Version} version
 * @returns {Side}
 */
const alone = (version) => ({ version, differing: new Map(), nameOf: (entity) => entity });

/**
 * Show two versions with their differences, with the names that entities have in the first.
 * @param {Version} left
 * @param {Version} right
 * @returns {[Side, Side]}
 */
function beside(left, right) {
  const toLeft = sameEntities(right, left);
  const toRight = new Map([...toLeft].map(([rightEntity, leftEntity]) => [leftEntity, rightEntity]));
  return [
    { ...alone(left), differing: differences(left, right, toRight) },
    {
      version: right,
      differing: differences(right, left, toLeft),
      nameOf: (entity) => toLeft.get(entity) ?? `${entity}′`,
    },
  ];
}

/**
 * Build a line of a version.
 * @param {string[]} tokens
 * @param {Span} line
 * @param {LineMention[]} mentions those that touch the line
 * @param {Side} side
 * @param {MentionId | null} [asked]
 */
function versionLine(tokens, line, mentions, { version, differing, nameOf }, asked = null) {
  /** @param {number} token */
  const tokenElement = (token) => make("span", { class: "t" }, visible(tokens[token - 1]));
  /** @param {Piece} piece */
  const pieceElement = (piece) => {
    const entity = nameOf(version.get(piece.id) ?? "");
    const kind = differing.get(piece.id);
    const label = `${kind ? SIGNS[kind] : ""}${entity}`;
    const marked = piece.id === asked ? "asked" : "";
    return make("span", {
      class: `m ${colour(entity)} ${kind ?? ""} ${marked}`,
      data: { ends: endsOf(piece), label },
    });
  };
  const tree = treeOf(line, mentions, () => 1);
  return lineElement(tree, tokens, tokenElement, pieceElement, { class: "line plain" });
}

/** @type {(differing: Map<MentionId, Difference>, kind: Difference) => number} */
const countOf = (differing, kind) => [...differing.values()].filter((value) => value === kind).length;

/** @type {(menu: HTMLSelectElement) => string} */
const nameIn = (menu) => (menu.value === RESULT ? "the result" : (menu.selectedOptions[0]?.text ?? ""));

export class Versions extends Panel {
  #shownDifference = -1;

  /**
   * @param {HTMLElement} root
   * @param {App} app
   */
  constructor(root, app) {
    super(root, app);
    this.left = make("select", { "aria-label": "Version", on: { change: () => this.refresh() } });
    this.right = make("select", { "aria-label": "Beside it", on: { change: () => this.refresh() } });
    this.summary = make("p", { class: "soft", role: "status" });
    this.body = make("div", { class: "version-lines" });
    const next = button("Next difference", () => this.#next(), { kind: "quiet" });
    fill(
      root,
      make("div", { class: "filters" }, this.left, make("span", {}, "beside"), this.right, next),
      this.summary,
      this.body,
    );
    this.left.dataset.initialFocus = "";
  }

  render() {
    this.#offer();
    const sides = this.#sides();
    const { tokens, breaks } = this.app.store.state;
    const lines = linesOf(tokens, breaks);
    const columns = sides.map(({ version }) =>
      mentionsByLine(
        lines,
        inTextOrder(version.keys()).map((id) => ({ id, ...spanOf(id) })),
      ),
    );
    const rows = lines.map((line, number) => {
      const cells = sides.map((side, i) => versionLine(tokens, line, columns[i][number], side));
      const differs = cells.some((cell) => find(cell, ".only, .other"));
      return make(
        "div",
        { class: differs ? "version-row differs" : "version-row" },
        make("span", { class: "soft number" }, String(number + 1)),
        ...cells,
      );
    });
    this.#summarise(sides);
    this.body.classList.toggle("two", sides.length > 1);
    this.body.replaceChildren(...rows);
    this.#shownDifference = -1;
  }

  /** Offer the versions there are; what was chosen stays chosen. */
  #offer() {
    const { annotators } = this.app.store.state;
    const choices = [[RESULT, "The result"], ...annotators.map((name, i) => [String(i), name])];
    /** @type {(menu: HTMLSelectElement, labels: string[][], fallback: string) => void} */
    const offer = (menu, labels, fallback) => {
      const chosen = menu.value || fallback;
      menu.replaceChildren(...labels.map(([value, label]) => make("option", { value }, label)));
      menu.value = chosen;
      if (!menu.value) menu.value = fallback;
    };
    offer(this.left, choices, RESULT);
    offer(this.right, [[NOTHING, "nothing"], ...choices], annotators.length ? "0" : NOTHING);
  }

  /**
   * Return the chosen versions: the left one, and the right one if there is one.
   * @returns {Side[]}
   */
  #sides() {
    const { store } = this.app;
    const left = versionOf(store, this.left.value);
    if (this.right.value === NOTHING) return [alone(left)];
    return beside(left, versionOf(store, this.right.value));
  }

  /** @param {Side[]} sides */
  #summarise([left, right]) {
    this.summary.textContent = right
      ? `${counted(countOf(left.differing, "only"), "mention")} only in ${nameIn(this.left)} (+), ${countOf(right.differing, "only")} only in ${nameIn(this.right)} (+), ${countOf(left.differing, "other")} in another entity (≠).`
      : "Choose a second version to see where the two differ.";
  }

  /** Scroll to the next line with a difference; after the last comes the first. */
  #next() {
    const rows = [...this.body.querySelectorAll(".differs")];
    if (!rows.length) {
      this.app.say("There are no differences.");
      return;
    }
    this.#shownDifference = (this.#shownDifference + 1) % rows.length;
    const shown = rows[this.#shownDifference];
    shown.scrollIntoView({ block: "center" });
    for (const row of rows) row.classList.toggle("here", row === shown);
    this.app.say(`Difference ${this.#shownDifference + 1} of ${rows.length}`, { quiet: true });
  }
}

/**
 * The line in question as the result and each annotator have it: who marks what, and with which other mentions of the
 * line. It stays open from question to question until it is closed.
 */
export class Sentence {
  /**
   * @param {HTMLElement} root
   * @param {App} app
   */
  constructor(root, app) {
    this.root = root;
    this.app = app;
    root.hidden = remembered(SENTENCE_KEY) !== "open";
  }

  /** Open it, or close it. */
  toggle() {
    this.root.hidden = !this.root.hidden;
    remember(SENTENCE_KEY, this.root.hidden ? "" : "open");
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
