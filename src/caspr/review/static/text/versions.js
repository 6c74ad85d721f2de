/**
 * Versions of the text: the result or one annotator's own, or two of them side by side with their differences.
 *
 * An entity of one version is the entity of the other that shares most mentions with it, one to one; mentions that
 * only one of the two has, and mentions whose entities are not those, are differences.
 */
import { Panel } from "../panels/panel.js";
import { inTextOrder, spanOf } from "../state/spans.js";
import { button, fill, find, make } from "../ui/dom.js";
import { counted, spaceBefore, visible } from "../ui/words.js";
import { colour } from "./colours.js";
import { lineAt, linesOf, treeOf } from "./lines.js";
/** @import { App } from "../app.js" */
/** @import { ChainId, MentionId } from "../state/types.js" */
/** @import { Line, LineMention, LineNode } from "./lines.js" */

/** @typedef {Map<MentionId, ChainId>} Version the entity of each mention, by the name it has in this version */
/** @typedef {"only" | "other" | undefined} Difference */

const RESULT = "result";
const NOTHING = "nothing";

/**
 * Return the entities of two versions that are the same one, from the first to the second: most shared mentions first.
 * @param {Version} one
 * @param {Version} other
 */
function sameEntities(one, other) {
  /** @type {Map<string, { first: ChainId, second: ChainId, shared: number }>} */
  const pairs = new Map();
  for (const [id, first] of one) {
    const second = other.get(id);
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
 * @param {Version} one
 * @param {Version} other
 * @param {Map<ChainId, ChainId>} same
 * @returns {Map<MentionId, Difference>}
 */
function differences(one, other, same) {
  /** @type {Map<MentionId, Difference>} */
  const found = new Map();
  for (const [id, entity] of one) {
    const there = other.get(id);
    if (there === undefined) found.set(id, "only");
    else if (same.get(entity) !== there) found.set(id, "other");
  }
  return found;
}

export class Versions extends Panel {
  #at = -1;

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
    const [one, other] = [this.#version(this.left.value), this.#version(this.right.value)];
    const beside = this.right.value !== NOTHING;
    const same = sameEntities(other, one);
    const back = new Map([...same].map(([second, first]) => [first, second]));
    const left = beside ? differences(one, other, back) : new Map();
    const right = beside ? differences(other, one, same) : new Map();
    this.#say(beside, left, right);
    const { tokens, breaks } = this.app.store.state;
    const lines = linesOf(tokens, breaks);
    const [ours, theirs] = [byLine(one, lines), byLine(other, lines)];
    const rows = lines.map((line, number) => {
      const cells = [this.#line(line, ours[number], one, left, (entity) => entity)];
      if (beside) {
        const shown = /** @param {ChainId} entity */ (entity) => same.get(entity) ?? `${entity}′`;
        cells.push(this.#line(line, theirs[number], other, right, shown));
      }
      const differs = cells.some((cell) => find(cell, ".only, .other"));
      return make(
        "div",
        { class: differs ? "version-row differs" : "version-row" },
        make("span", { class: "soft number" }, String(number + 1)),
        ...cells,
      );
    });
    this.body.classList.toggle("two", beside);
    this.body.replaceChildren(...rows);
    this.#at = -1;
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
   * @param {string} chosen
   * @returns {Version}
   */
  #version(chosen) {
    const { mentions } = this.app.store.state;
    /** @type {Version} */
    const version = new Map();
    for (const id of this.app.store.order) {
      const entity = chosen === RESULT ? mentions[id].chain : mentions[id].votes[Number(chosen)];
      const own = chosen === RESULT || mentions[id].marked > 0;
      if (chosen !== NOTHING && own && entity != null) version.set(id, entity);
    }
    return version;
  }

  /**
   * @param {boolean} beside
   * @param {Map<MentionId, Difference>} left
   * @param {Map<MentionId, Difference>} right
   */
  #say(beside, left, right) {
    /** @type {(found: Map<MentionId, Difference>, kind: Difference) => number} */
    const count = (found, kind) => [...found.values()].filter((one) => one === kind).length;
    const [here, there] = [count(left, "only"), count(right, "only")];
    this.summary.textContent = beside
      ? `${counted(here, "mention")} only on the left (+), ${there} only on the right (+), ${count(left, "other")} of another entity (≠).`
      : "Choose a second version to see where the two differ.";
  }

  /**
   * @param {Line} line
   * @param {LineMention[]} mentions those that touch the line
   * @param {Version} version
   * @param {Map<MentionId, Difference>} differing
   * @param {(entity: ChainId) => ChainId} shown the entity by the name that it has on the left
   */
  #line(line, mentions, version, differing, shown) {
    const tree = treeOf(line, mentions, () => 1);
    const cell = make("p", { class: "line plain", dir: "auto" });
    cell.style.setProperty("--levels", String(tree.height));
    this.#append(cell, tree.children, version, differing, shown);
    return cell;
  }

  /**
   * @param {HTMLElement} parent
   * @param {LineNode[]} nodes
   * @param {Version} version
   * @param {Map<MentionId, Difference>} differing
   * @param {(entity: ChainId) => ChainId} shown
   */
  #append(parent, nodes, version, differing, shown) {
    const { tokens } = this.app.store.state;
    nodes.forEach((node, i) => {
      const token = firstToken(node);
      if (i > 0) parent.append(spaceBefore(tokens[token - 2], tokens[token - 1]));
      if (typeof node === "number") {
        parent.append(make("span", { class: "t" }, visible(tokens[node - 1])));
        return;
      }
      const entity = shown(version.get(node.id) ?? "");
      const kind = differing.get(node.id);
      const piece = make("span", {
        class: `m ${colour(entity)} ${kind ?? ""}`,
        data: {
          ends: (node.first ? "s" : "") + (node.last ? "e" : ""),
          label: `${kind === "only" ? "+" : kind === "other" ? "≠" : ""}${entity}`,
        },
      });
      piece.style.setProperty("--under", String(node.height));
      this.#append(piece, node.children, version, differing, shown);
      parent.append(piece);
    });
  }

  /** Scroll to the next line with a difference; behind the last comes the first. */
  #next() {
    const rows = [...this.body.querySelectorAll(".differs")];
    if (!rows.length) {
      this.app.say("There is no difference.");
      return;
    }
    this.#at = (this.#at + 1) % rows.length;
    rows[this.#at].scrollIntoView({ block: "center" });
    for (const row of rows) row.classList.toggle("here", row === rows[this.#at]);
    this.app.say(`Difference ${this.#at + 1} of ${rows.length}`, { quiet: true });
  }
}

/**
 * Return the mentions that touch each line, in text order.
 * @param {Version} version
 * @param {Line[]} lines
 */
function byLine(version, lines) {
  /** @type {LineMention[][]} */
  const found = lines.map(() => []);
  for (const id of inTextOrder(version.keys())) {
    const { start, end } = spanOf(id);
    for (let n = lineAt(lines, start); n < lines.length && lines[n].start <= end; n += 1) {
      found[n].push({ id, start, end });
    }
  }
  return found;
}

/**
 * @param {LineNode} node
 * @returns {number}
 */
const firstToken = (node) => (typeof node === "number" ? node : firstToken(node.children[0]));
