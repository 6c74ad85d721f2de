/** The last step: what it did to the cost, and which mentions it changed elsewhere; each can be changed back. */
import { nearest, spanOf } from "../state/tokens.js";
import { button, fill, make } from "../ui/dom.js";
import { chip, counted, describeDecision, grouped, isolated, reference } from "../ui/labels.js";
import { KEYS } from "../questions/card.js";
import { costRise } from "./header.js";
/** @import { App } from "../app.js" */
/** @import { Alike, Chain, ChainId, Change, Decision, MentionId, Operation, State, Update } from "../state/types.js" */

const MOST = 30;
const MOST_PLACED = 3;

export class LastChange {
  /** @type {Map<MentionId, Change>} */
  #changes = new Map();
  /** @type {MentionId[]} what the step itself is about and was in a chain before it */
  #named = [];
  /** @type {Record<ChainId, Chain>} */
  #chainsBefore = {};
  #label = "";
  #where = "";
  #showsAll = false;
  /** @type {MentionId | null} the mention that an answer placed */
  #about = null;
  /** The words of the entity that it chose. */
  #chosen = "";
  /** @type {MentionId[]} what the step itself is about and put into an entity */
  #placed = [];
  /** @type {Decision[]} what holds entities from this step on */
  #holding = [];
  /** @type {Alike[]} */
  #offers = [];
  /** @type {Decision[]} earlier decisions that the step took the place of */
  #replaced = [];

  /**
   * @param {HTMLElement} root
   * @param {App} app
   */
  constructor(root, app) {
    this.root = root;
    this.app = app;
    this.costBefore = 0;
    this.decidedBefore = 0;
    /** Whether the search that this step started is still running. */
    this.searching = false;
  }

  /**
   * Show a new step: what was done, the update it led to, and the state before it. What an undo changes is not
   * elsewhere, because it is about no mention.
   * @param {string} label
   * @param {Update} update
   * @param {State} before
   * @param {{ isUndo?: boolean, about?: MentionId | null, chosen?: string, replaced?: Decision[] }} options
   */
  begin(label, update, before, { isUndo = false, about = null, chosen = "", replaced = [] } = {}) {
    this.#about = about;
    this.#chosen = chosen;
    this.#placed = placedIn(update, before, about);
    const known = new Set(before.decisions.map(({ id }) => id));
    const { decisions } = this.app.store.state;
    this.#holding = isUndo ? [] : decisions.filter(({ id, kind }) => kind === "entity" && !known.has(id));
    this.#replaced = replaced;
    this.#where = isUndo ? "" : " elsewhere";
    this.#changes = new Map();
    this.#named = namedBefore(update, before);
    this.#chainsBefore = before.chains;
    this.#label = label;
    this.#offers = [];
    this.costBefore = (update.full ? undefined : update.cost.before) ?? before.cost.value;
    this.decidedBefore = before.decisions.length;
    this.#showsAll = false;
    this.add(update);
  }

  /**
   * Add what an update changed elsewhere; a search that continues may change the same mention again.
   * @param {Update} update
   */
  add(update) {
    for (const { mention, from, to } of update.full ? [] : update.changed) {
      const known = this.#changes.get(mention);
      const first = known ? known.from : from;
      if (first === to) this.#changes.delete(mention);
      else this.#changes.set(mention, { mention, from: first, to });
    }
    this.#refresh();
  }

  #refresh() {
    this.app.text.showChanged(
      new Map([...this.#changes.values()].map(({ mention, from }) => [mention, from])),
    );
    this.app.minimap.draw();
    this.render();
  }

  /** The mentions that changed elsewhere. */
  get mentions() {
    return [...this.#changes.keys()];
  }

  /** The step in one sentence. */
  get summary() {
    const { value } = this.app.store.state.cost;
    const rise = `The cost goes from ${this.costBefore} to ${value}`;
    const cost = value > this.costBefore ? rise : this.#costText;
    const count = this.#changes.size;
    const left = this.#left.map((id) => `“${this.app.store.words(id, 40)}”`).join(" and ");
    const gone = left ? `${left} ${this.#isOut}; ` : "";
    return `${this.#label}. ${cost}; ${gone}${count ? counted(count, "mention") : "nothing"} changed${this.#where}.`;
  }

  /** That the cost did not rise. It falls with a decision because what is decided costs nothing. */
  get #costText() {
    const { cost, decisions } = this.app.store.state;
    if (cost.value === this.costBefore) return "Cost unchanged";
    return decisions.length > this.decidedBefore
      ? "Cost lower, as decided links no longer count"
      : "Cost lower";
  }

  /** The mentions of the step that left the result without a decision that they are none. */
  get #left() {
    return this.#named.filter((id) => {
      const now = this.app.store.mention(id);
      return now && now.chain === null && now.decision !== "absent";
    });
  }

  get #isOut() {
    return this.#left.length === 1 ? "is no longer in the result" : "are no longer in the result";
  }

  /**
   * Offer to give the same answer to other questions.
   * @param {Alike[]} offers
   */
  offer(offers) {
    this.#offers = offers;
    this.render();
    if (offers.length) this.app.say(this.#offerText(offers[0]), { quiet: true });
  }

  /** Take the first offer. */
  takeOffer() {
    const [first] = this.#offers;
    if (first) this.app.queue.answerAlike(first);
    else this.app.say("Nothing else can be answered like the last step.");
  }

  /** @param {Alike} offer */
  #offerText({ kind, words, start, kept, annotator, length, count }) {
    const { annotators } = this.app.store.state;
    const more = `(${grouped(count)} more)`;
    const where = start ? "beginning" : "end";
    if (kind === "entity") return `The same for every “${words}” like this ${more}`;
    if (kind === "absent") return `Never a mention: “${words}” ${more}`;
    if (kind === "boundary") return `Always ${kept ? "with" : "without"} “${words}” at the ${where} ${more}`;
    const name = annotators[annotator ?? 0];
    const some = length === 1 ? "the word" : `the ${length} words`;
    if (kept) return `Always with ${some} that ${name} leaves out at the ${where} ${more}`;
    return `Never with ${some} that ${name} adds at the ${where} ${more}`;
  }

  #offerButtons() {
    if (!this.#offers.length) return null;
    const buttons = this.#offers.map((offer, i) => {
      const text = this.#offerText(offer);
      const key = i === 0 ? KEYS.alike : undefined;
      return button(text, () => this.app.queue.answerAlike(offer), { key, focusKey: `offer ${i}` });
    });
    return make("div", { class: "buttons offers" }, ...buttons);
  }

  /** Hide the step. */
  dismiss() {
    this.#offers = [];
    this.#replaced = [];
    this.#changes = new Map();
    this.#named = [];
    this.#label = "";
    this.#refresh();
    this.root.hidden = true;
  }

  render() {
    if (!this.#label) return;
    this.root.hidden = false;
    const changes = [...this.#changes.values()];
    const shown = this.#showsAll ? changes : changes.slice(0, MOST);
    const showAll = () => {
      this.#showsAll = true;
      this.render();
    };
    const summary = changes.length
      ? `${counted(changes.length, "mention")} changed${this.#where}:`
      : `Nothing changed${this.#where}.`;
    fill(
      this.root,
      make(
        "div",
        { class: "last-change-head" },
        make("h2", { id: "last-change-title" }, "Last step"),
        costRise(this.costBefore, this.app.store.state.cost.value, "cost ") ??
          make("span", { class: "soft" }, this.#costText),
        button("Dismiss", () => this.dismiss(), { kind: "quiet" }),
      ),
      make("p", { class: "last-change-label" }, ...isolated(this.#label)),
      this.#replacedText(),
      ...this.#placeTexts(),
      ...this.#holding.map((decision) => this.#holdingText(decision)),
      this.#offerButtons(),
      this.#leftText(),
      make("p", { class: "soft" }, summary),
      make("ul", { class: "changes" }, ...shown.map((change) => this.#item(change))),
      shown.length < changes.length ? button(`Show all ${changes.length}`, showAll, { kind: "quiet" }) : null,
    );
  }

  /** Name earlier decisions that do not hold any more. */
  #replacedText() {
    if (!this.#replaced.length) return null;
    const words = this.#replaced.map((decision) => describeDecision(this.app.store, decision));
    return make("p", { class: "replaced" }, "No longer decided: ", ...isolated(words.join("; ")), ".");
  }

  /** Say in which chains the mentions are now that the step put somewhere, and by which words one was chosen. */
  #placeTexts() {
    const { store, goTo } = this.app;
    const placed = this.#placed.filter((id) => store.mention(id)?.chain != null);
    const texts = placed.slice(0, MOST_PLACED).map((id) => {
      const arrow = make("span", { "aria-label": "is in" }, "→");
      const chain = store.mention(id)?.chain;
      const now = make("span", { class: "from-to" }, arrow, chip(chain));
      // A name stands beside the number anyway.
      const isUnnamed = id === this.#about && this.#chosen && !store.chain(chain)?.name;
      const words = isUnnamed ? make("bdi", {}, this.#chosen) : null;
      return make("p", { class: "placed" }, reference(store, id, goTo), " ", now, words && " ", words);
    });
    const more = placed.length - texts.length;
    return more ? [...texts, make("p", { class: "soft" }, `and ${grouped(more)} more`)] : texts;
  }

  /**
   * Say that a decision holds an entity together, and why.
   * @param {Decision} decision
   */
  #holdingText({ mentions }) {
    const chain = this.app.store.mention(mentions[0])?.chain;
    const why = " are held together, so that it stays the entity shown; questions about them stay open.";
    return make(
      "p",
      { class: "soft holding" },
      `${counted(mentions.length, "mention")} of `,
      chip(chain),
      why,
    );
  }

  #leftText() {
    const { store, goTo } = this.app;
    const left = this.#left;
    if (!left.length) return null;
    const words = left.flatMap((id, i) => [i ? " and " : "", reference(store, id, goTo)]);
    return make("p", { class: "left-result" }, ...words, ` ${this.#isOut}.`);
  }

  /** @param {Change} change */
  #item(change) {
    const { store, goTo } = this.app;
    const { mention, from, to } = change;
    const keep = button("Keep the old", () => this.app.act(this.#reverse(change)), {
      name: `Keep the old for ${store.words(mention, 40)}`,
      title: "Enforce what was there before this step",
      focusKey: `old ${mention}`,
    });
    return make(
      "li",
      { data: { change: mention } },
      reference(store, mention, goTo),
      make("span", { class: "from-to" }, chip(from), make("span", { "aria-label": "to" }, "→"), chip(to)),
      keep,
    );
  }

  /**
   * Return the operation that enforces what a mention was before: in no chain, or with mentions it was in a chain with.
   * @param {Change} change
   * @returns {Operation}
   */
  #reverse({ mention, from }) {
    if (from === null) return { do: "absent", mentions: [mention] };
    const others = (this.#chainsBefore[from]?.mentions ?? []).filter((id) => id !== mention);
    const present = this.app.store.chain(from)?.mentions ?? [];
    if (others.some((id) => present.includes(id)) || !others.length) {
      return { do: "into", mentions: [mention], chain: from };
    }
    return { do: "together", mentions: [mention, ...nearest(others, mention, 1)] };
  }
}

/**
 * Return the mentions that an update changed, were in a chain before it, and are what the step is about.
 * @param {Update} update
 * @param {State} before
 */
function namedBefore(update, before) {
  if (update.full) return [];
  const elsewhere = new Set(update.changed.map(({ mention }) => mention));
  return Object.keys(update.mentions)
    .filter((id) => !elsewhere.has(id) && (before.mentions[id]?.chain ?? null) !== null)
    .sort((a, b) => spanOf(a).start - spanOf(b).start);
}

/**
 * Return the mentions that a step is about and put into another chain than before, and always the one that an answer
 * placed.
 * @param {Update} update
 * @param {State} before
 * @param {MentionId | null} about
 */
function placedIn(update, before, about) {
  const changed = update.full ? [] : Object.entries(update.mentions);
  const elsewhere = new Set(update.full ? [] : update.changed.map(({ mention }) => mention));
  const moved = changed
    .filter(([id, now]) => !elsewhere.has(id) && now && now.chain !== (before.mentions[id]?.chain ?? null))
    .map(([id]) => id)
    .sort((a, b) => spanOf(a).start - spanOf(b).start);
  return [...new Set(about === null ? moved : [about, ...moved])];
}
