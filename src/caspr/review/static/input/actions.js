/** What the adjudicator can do to the document, each as one operation on what is selected or current. */
import { inTextOrder, spanOf } from "../state/spans.js";
import { askChain } from "../ui/choose_chain.js";
import { askKeptName, askName } from "../ui/ask_name.js";
import { askText } from "../ui/dialog.js";
import { chainTitle, lineLabel } from "../ui/words.js";
/** @import { App } from "../app.js" */
/** @import { ChainId, Decision, MentionId, Operation } from "../state/types.js" */

const NO_TARGET = "Go to a mention first: click it, or use the arrow keys.";

export class Actions {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
  }

  /** The selected mentions are one entity. */
  same() {
    const ids = this.#pair;
    if (ids.length < 2) {
      this.app.say("Select a mention with Space, go to another one, then say that they are the same.");
    } else this.#send({ do: "together", mentions: ids });
  }

  /** The two selected mentions are different entities. */
  different() {
    const ids = this.#pair;
    if (ids.length !== 2) {
      this.app.say("Two mentions can be different: select one with Space and go to the other one.");
    } else this.#send({ do: "apart", mentions: ids });
  }

  /** The targets are mentions: of their chain if they are in one, else wherever they belong, or alone. */
  enforce() {
    const mentions = this.#targets();
    if (!mentions) return;
    const chains = this.#chainsOf(mentions);
    const allInChains = mentions.every((id) => this.app.store.mention(id)?.chain != null);
    if (chains.length === 1 && allInChains) this.#send({ do: "into", mentions, chain: chains[0] });
    else this.#send({ do: "mention", mentions });
  }

  /** The targets are mentions without a partner. */
  alone() {
    const mentions = this.#targets();
    if (mentions) this.#send({ do: "alone", mentions });
  }

  /** Ask for the name and the type of the entity of the targets. */
  name() {
    const mentions = this.#targets();
    if (!mentions) return;
    const [chain, ...more] = this.#chainsOf(mentions);
    if (chain === undefined || more.length) this.app.say("Go to a mention of the entity to name.");
    else askName(this.app, chain);
  }

  /** The targets are no mentions. */
  absent() {
    const mentions = this.#targets();
    if (mentions) this.#send({ do: "absent", mentions });
  }

  /** The targets leave their chain and become one of their own. */
  split() {
    const mentions = this.#targets();
    if (mentions) this.#send({ do: "split", mentions });
  }

  /** The chain of the targets is right as it stands. */
  accept() {
    const mentions = this.#targets();
    if (!mentions) return;
    const [chain, ...more] = this.#chainsOf(mentions);
    if (chain === undefined || more.length) this.app.say("Go to a mention of the one chain to accept.");
    else this.#send({ do: "accept", chain });
  }

  /** Ask for the chain that the targets belong to. */
  move() {
    const mentions = this.#targets();
    if (!mentions) return;
    const { store } = this.app;
    const own = this.#chainsOf(mentions);
    const [first] = mentions;
    const title =
      mentions.length === 1
        ? `Move “${store.words(first, 30)}” (${lineLabel(first)}) to`
        : `Move ${mentions.length} mentions to`;
    /** @param {ChainId | null} chain */
    const take = (chain) =>
      this.#send(chain === null ? { do: "split", mentions } : { do: "into", mentions, chain });
    askChain(store, title, take, {
      other: own.length ? "A chain of their own" : null,
      except: own.length === 1 ? own : [],
      first: this.app.nearbyChains(first),
    });
  }

  /** Merge the chains of the targets, or ask for the chain to merge theirs with. */
  merge() {
    const mentions = this.#targets();
    if (!mentions) return;
    const chains = this.#chainsOf(mentions);
    if (chains.length > 1) this.#merge(chains);
    else if (!chains.length) this.app.say("This mention is in no chain; nothing can be merged with it.");
    else {
      /** @param {ChainId | null} chain */
      const take = (chain) => chain !== null && this.#merge([chains[0], chain]);
      askChain(this.app.store, `Merge chain ${chainTitle(chains[0])} with`, take, {
        except: chains,
        first: this.app.nearbyChains(mentions[0]),
      });
    }
  }

  /**
   * Merge chains; if they are called differently, ask which name is kept.
   * @param {ChainId[]} chains
   */
  #merge(chains) {
    const names = new Map(chains.map((chain) => [this.app.store.chain(chain)?.name ?? "", chain]));
    names.delete("");
    if (names.size < 2) this.#send({ do: "merge", chains });
    else askKeptName([...names], (called) => this.#send({ do: "merge", chains, called }));
  }

  /** Make the chosen tokens a mention, and ask for its chain. */
  create() {
    const { app } = this;
    const { selection, store } = app;
    const { span } = selection;
    if (!span) {
      app.moves.startRange();
      return;
    }
    const id = `${span.start}-${span.end}`;
    /** @param {ChainId | null} chain */
    const take = async (chain) => {
      if (await this.#send({ do: "new", start: span.start, end: span.end, chain })) app.goTo(id);
    };
    askChain(store, `New mention “${store.words(id, 40)}” in`, take, {
      other: "Wherever it belongs, or alone",
      first: app.nearbyChains(id),
    });
  }

  /** No mention begins or ends at the chosen tokens. */
  empty() {
    const { span } = this.app.selection;
    if (!span) {
      this.app.say("Choose tokens first: t, then Shift and the arrow keys; or drag over the text.");
      return;
    }
    const tokens = Array.from({ length: span.end - span.start + 1 }, (_unused, i) => span.start + i);
    this.#send({ do: "empty", tokens });
  }

  /** Take all decisions about the targets back. */
  free() {
    const mentions = this.#targets();
    if (!mentions) return;
    const decisions = new Set(mentions.flatMap((id) => this.#decisionsOn(id).map((decision) => decision.id)));
    if (!decisions.size) this.app.say("No decision was made about this.");
    else this.#send({ do: "free", decisions: [...decisions] });
  }

  /** Write a note on the current mention, else on the document. */
  note() {
    const { selection, store } = this.app;
    const { mention } = selection;
    const title = mention
      ? `Note on “${store.words(mention, 40)}” (${lineLabel(mention)})`
      : "Note on the document";
    askText(title, "Text of the note", (text) => this.app.act({ do: "note", mention, text }));
  }

  undo() {
    if (this.app.store.state.undo === null) this.app.say("There is nothing to undo.");
    else this.app.act({ do: "undo" });
  }

  redo() {
    if (this.app.store.state.redo === null) this.app.say("There is nothing to redo.");
    else this.app.act({ do: "redo" });
  }

  /**
   * Send an operation, and deselect everything when it was done.
   * @param {Operation} op
   */
  async #send(op) {
    const update = await this.app.act(op);
    if (update) this.app.selection.clear();
    return update;
  }

  /** Return what an operation is about, in text order; say what is missing if there is nothing. */
  #targets() {
    const { targets } = this.app.selection;
    if (targets.length) return inTextOrder(targets);
    this.app.say(NO_TARGET);
    return null;
  }

  /** The selected mentions, and the current one with them when only one other is selected. */
  get #pair() {
    const { selected, mention } = this.app.selection;
    const ids = new Set(selected);
    if (ids.size < 2 && mention) ids.add(mention);
    return inTextOrder(ids);
  }

  /**
   * @param {MentionId[]} ids
   * @returns {ChainId[]}
   */
  #chainsOf(ids) {
    const chains = ids.map((id) => this.app.store.mention(id)?.chain);
    return [...new Set(chains.filter((chain) => chain != null))];
  }

  /**
   * Return the decisions that name a mention or close one of its ends.
   * @param {MentionId} id
   */
  #decisionsOn(id) {
    const { start, end } = spanOf(id);
    /** @param {Decision} decision */
    const concerns = ({ mentions, kind, tokens }) =>
      mentions.includes(id) || (kind === "empty" && (tokens.includes(start) || tokens.includes(end)));
    return this.app.store.state.decisions.filter(concerns);
  }
}
