/** All about one mention: who said what, its chain, what else is possible and at which price. */
import { Refusal } from "../state/api.js";
import { inTextOrder, nearest } from "../state/tokens.js";
import { button, fill, make } from "../ui/dom.js";
import {
  chainTitle,
  chip,
  counted,
  describePrice,
  gist,
  inChain,
  reference,
  snippet,
  lineTag,
} from "../ui/labels.js";
import { Panel } from "../ui/tabs.js";
import { noteList } from "./decisions.js";
/** @import { Alternative, ChainId, Explanation, Mention, MentionId } from "../state/types.js" */

const PAUSE = 60;
const FEW = 4;
const MOST_SNIPPETS = 6;

export class Detail extends Panel {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer = undefined;
  /** @type {AbortController | null} */
  #request = null;
  /**
   * What the server says about a mention, once it was read.
   * @type {{ id: MentionId, explanation: Explanation } | null}
   */
  #read = null;

  /**
   * Open or close the panel; only while it is open the server is asked.
   * @param {boolean} open
   */
  show(open) {
    this.open = open;
    this.refresh();
  }

  /** Show the current mention, and read what the server knows about it. */
  refresh() {
    const id = this.app.selection.mention;
    if (this.#read?.id !== id) this.#read = null;
    if (!this.open) return;
    this.render();
    clearTimeout(this.#timer);
    this.#request?.abort();
    if (!id || !this.app.store.mention(id)) return;
    this.#timer = setTimeout(() => this.#readExplanation(id), PAUSE);
  }

  /** @param {MentionId} id */
  async #readExplanation(id) {
    this.#request = new AbortController();
    try {
      this.#read = { id, explanation: await this.app.api.explain(id, this.#request.signal) };
      this.render();
    } catch (error) {
      const isExpected =
        error instanceof DOMException || (error instanceof Refusal && error.kind === "unreachable");
      if (error instanceof Error && !isExpected) this.app.say(error.message);
    }
  }

  render() {
    const { store, selection } = this.app;
    const id = selection.mention;
    const mention = store.mention(id);
    if (!id || !mention) {
      const text =
        "Click a mention in the text, or go to one with the arrow keys, to see who marked it and what else is possible.";
      fill(this.root, make("p", { class: "empty" }, text));
      return;
    }
    fill(
      this.root,
      make("h2", { dir: "auto" }, make("q", {}, store.words(id, 80)), " ", lineTag(id)),
      make(
        "p",
        {},
        mention.chain === null ? "Not in the result" : "In entity ",
        mention.chain === null ? "" : chip(mention.chain),
        this.#standing(mention),
      ),
      this.#buttons(mention),
      this.#votes(id, mention),
      this.#alternatives(id, mention),
      this.#chain(id, mention.chain),
      this.#notes(id),
    );
  }

  /** @param {Mention} mention */
  #standing(mention) {
    if (mention.decision === "in") return " · enforced by a decision";
    if (mention.decision === "absent") return " · ruled out by a decision";
    const marked = mention.new
      ? "marked by nobody"
      : `marked by ${mention.marked} of ${counted(this.app.store.state.annotators.length, "annotator")}`;
    return ` · ${marked}, not decided yet`;
  }

  /** @param {Mention} mention */
  #buttons(mention) {
    const { actions } = this.app;
    const inSomeChain = mention.chain !== null;
    /** @type {(possible: boolean, label: string, key: string, act: () => unknown) => HTMLElement | null} */
    const action = (possible, label, key, act) =>
      possible ? button(label, act, { key, focusKey: `act ${key}` }) : null;
    const buttons = [
      action(mention.decision !== "in", "Enforce", "e", () => actions.enforce()),
      action(mention.decision !== "absent", "Not a mention", "x", () => actions.absent()),
      action(inSomeChain, "New entity", "b", () => actions.split()),
      action(true, "Move to …", "c", () => actions.move()),
      action(inSomeChain, "Accept the whole entity", "a", () => actions.accept()),
      action(mention.decision !== null, "Take back", "f", () => actions.free()),
      action(true, "Note", "i", () => actions.note()),
      action(true, "Flag …", "F", () => actions.flag()),
    ].filter((made) => made !== null);
    buttons[0].dataset.initialFocus = "";
    return make("div", { class: "buttons" }, ...buttons);
  }

  /**
   * @param {MentionId} id
   * @param {Mention} mention
   */
  #votes(id, mention) {
    const { store, goTo } = this.app;
    const rows = store.state.annotators.map((annotator, i) => {
      const vote = this.#read?.explanation.votes.find((cast) => cast.annotator === annotator);
      const chain = mention.votes[i] ?? vote?.chain ?? null;
      const others = chain === null ? [] : (vote?.with ?? []);
      const boundary = vote && vote.boundary !== id ? [" as ", reference(store, vote.boundary, goTo)] : [];
      const near = inTextOrder(nearest(others, id, FEW));
      const links = near.flatMap((other, n) => [n ? ", " : " with ", reference(store, other, goTo)]);
      const more = others.length > near.length ? ` and ${others.length - near.length} more` : "";
      const name = vote?.name ? [" ", make("bdi", { class: "entity-name" }, vote.name)] : [];
      const text = chain === null ? "did not mark it" : `chain ${chain}`;
      return make(
        "tr",
        {},
        make("th", { scope: "row" }, make("bdi", {}, annotator)),
        make("td", {}, text, ...name, ...boundary, ...links, more),
      );
    });
    return make(
      "section",
      {},
      make("h3", {}, "Votes"),
      make("table", { class: "votes-table" }, make("tbody", {}, ...rows)),
    );
  }

  /**
   * @param {MentionId} id
   * @param {Mention} mention
   */
  #alternatives(id, mention) {
    if (!this.#read) {
      return make("section", {}, make("h3", {}, "Alternatives"), make("p", { class: "soft" }, "Loading …"));
    }
    const rows = this.#read.explanation.alternatives.map((choice) => this.#alternative(id, mention, choice));
    const body = rows.length
      ? make("table", { class: "alternatives" }, make("tbody", {}, ...rows))
      : make(
          "p",
          { class: "soft" },
          "No annotator links this mention to an entity of the result. Use the buttons above to decide.",
        );
    return make("section", {}, make("h3", {}, "Alternatives and what they cost"), body);
  }

  /**
   * @param {MentionId} id
   * @param {Mention} mention
   * @param {Alternative} alternative
   */
  #alternative(id, mention, { chain, evidence, ...price }) {
    const isCurrent = chain === mention.chain;
    const choose = button("Choose", () => this.app.act({ do: "into", mentions: [id], chain }), {
      name: `Choose: ${inChain(chain)}`,
    });
    const remark = isCurrent ? `the result; leaving it ${describePrice(price)}` : describePrice(price);
    return make(
      "tr",
      {},
      make("td", {}, chip(chain)),
      make(
        "td",
        {},
        make("bdi", {}, gist(this.app.store, chain, 3)),
        make("br"),
        make("span", { class: "soft" }, `${counted(evidence, "vote")} · `, remark),
      ),
      make("td", {}, isCurrent ? make("span", { class: "soft" }, "now") : price.possible ? choose : ""),
    );
  }

  /**
   * @param {MentionId} id
   * @param {ChainId | null} number
   */
  #chain(id, number) {
    const { store, goTo } = this.app;
    const chain = store.chain(number);
    if (!chain || number === null) return null;
    const others = chain.mentions.filter((other) => other !== id);
    const near = inTextOrder(nearest(others, id, MOST_SNIPPETS));
    const title = `Entity ${chainTitle(number)}: ${counted(chain.mentions.length, "mention")}${chain.decided ? ", all enforced" : ""}`;
    return make(
      "section",
      {},
      make("h3", {}, title),
      ...near.map((other) => snippet(store, other, goTo)),
      others.length > near.length
        ? button("Show all in the list of entities", () => this.app.openChains(number), { kind: "quiet" })
        : null,
    );
  }

  /** @param {MentionId} id */
  #notes(id) {
    const list = noteList(
      this.app,
      this.app.store.state.notes.filter((note) => note.mention === id),
    );
    return list && make("section", {}, make("h3", {}, "Flags and notes"), list);
  }
}
