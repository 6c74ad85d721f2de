/** What the adjudicator can do, each as one operation on what is selected or current, and the bar that offers it. */
import { inTextOrder, phrase, spanOf } from "../state/tokens.js";
import { askChain, askForm, askText, labelled, lineField, openDialog } from "../ui/dialogs.js";
import { button, byId, fill, make } from "../ui/dom.js";
import { chainTitle, counted, gist, lineLabel } from "../ui/labels.js";
import { askFlag } from "../panels/decisions.js";
import { NO_MENTION } from "./navigation.js";
/** @import { App } from "../app.js" */
/** @import { ChainId, Decision, MentionId, Operation } from "../state/types.js" */

export class Actions {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
  }

  /** The selected mentions are one entity. */
  same() {
    const ids = this.#pair;
    if (ids.length < 2) {
      this.app.say("Select a mention with Space, go to another one, then press =.");
    } else this.#send({ do: "together", mentions: ids });
  }

  /** The two selected mentions are different entities. */
  different() {
    const ids = this.#pair;
    if (ids.length !== 2) {
      this.app.say("Select a mention with Space, go to another one, then press d.");
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
    this.#sendAbout("alone");
  }

  /** Ask for the name and the type of the entity of the targets. */
  name() {
    const chain = this.#onlyChain("Go to a mention of the entity that you want to name.");
    if (chain) askName(this.app, chain);
  }

  /** The targets are not mentions. */
  absent() {
    this.#sendAbout("absent");
  }

  /** The targets leave their chain and become one of their own. */
  split() {
    this.#sendAbout("split");
  }

  /** The chain of the targets is right as it stands. */
  accept() {
    const chain = this.#onlyChain("Go to a mention of the entity that you want to accept.");
    if (chain) this.#send({ do: "accept", chain });
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
      other: own.length ? "A new entity" : null,
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
    else if (!chains.length) this.app.say("This mention is in no entity, so there is nothing to merge.");
    else {
      /** @param {ChainId | null} chain */
      const take = (chain) => chain !== null && this.#merge([chains[0], chain]);
      askChain(this.app.store, `Merge entity ${chainTitle(chains[0])} with`, take, {
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
    const { span } = app.selection;
    if (!span) {
      app.navigation.startRange();
      return;
    }
    const id = `${span.start}-${span.end}`;
    /** @param {ChainId | null} chain */
    const take = async (chain) => {
      if (await this.#send({ do: "new", ...span, chain })) app.goTo(id);
    };
    askChain(app.store, `New mention “${app.store.words(id, 40)}” in`, take, {
      other: "Wherever it fits best, or alone",
      first: app.nearbyChains(id),
    });
  }

  /** No mention begins or ends at the chosen tokens. */
  empty() {
    const { span } = this.app.selection;
    if (!span) {
      this.app.say("Choose tokens first: press t, then Shift and the arrow keys, or drag over the text.");
      return;
    }
    const tokens = Array.from({ length: span.end - span.start + 1 }, (_unused, i) => span.start + i);
    this.#send({ do: "empty", tokens });
  }

  /** Take all decisions about the targets back. */
  free() {
    const mentions = this.#targets();
    if (!mentions) return;
    const decisions = new Set(mentions.flatMap((id) => this.#decisionsOn(id)));
    if (!decisions.size) this.app.say("There is no decision about this.");
    else this.#send({ do: "free", decisions: [...decisions].map(({ id }) => id) });
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

  /** Flag the current mention, with a note or without one. */
  flag() {
    const { selection, store } = this.app;
    const { mention } = selection;
    if (!mention) {
      this.app.say("Go to a mention first: a flag is about one.");
      return;
    }
    askFlag(`Flag “${store.words(mention, 40)}” (${lineLabel(mention)})`, store.state.notes, (said) =>
      this.app.act({ do: "note", mention, ...said }),
    );
  }

  /** Undo the last step, unless it changed annotators: whoever presses the key means an answer. */
  undoAnswer() {
    const { undo, annotators_changed } = this.app.store.state;
    const text = `The last step was not an answer: ${undo}. Press the Undo button to take it back.`;
    if (annotators_changed) this.app.say(text);
    else this.undo();
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

  /** @param {"alone" | "absent" | "split"} verb */
  #sendAbout(verb) {
    const mentions = this.#targets();
    if (mentions) this.#send({ do: verb, mentions });
  }

  /**
   * Return the one chain that the targets are in; say something else if they are in none or several.
   * @param {string} otherwise
   */
  #onlyChain(otherwise) {
    const mentions = this.#targets();
    const chains = this.#chainsOf(mentions ?? []);
    if (mentions && chains.length !== 1) this.app.say(otherwise);
    return chains.length === 1 ? chains[0] : null;
  }

  /** Return what an operation is about, in text order; say what is missing if there is nothing. */
  #targets() {
    const { targets } = this.app.selection;
    if (targets.length) return inTextOrder(targets);
    this.app.say(NO_MENTION);
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
   * Return the decisions that name a mention or close one of its ends; what holds an entity says nothing about one.
   * @param {MentionId} id
   */
  #decisionsOn(id) {
    const { start, end } = spanOf(id);
    /** @param {Decision} decision */
    const concerns = ({ mentions, kind, tokens }) =>
      (kind !== "entity" && mentions.includes(id)) ||
      (kind === "empty" && (tokens.includes(start) || tokens.includes(end)));
    return this.app.store.state.decisions.filter(concerns);
  }
}

/**
 * Ask what the entity of a chain is called and of what type it is, and decide so.
 * @param {App} app
 * @param {ChainId} id
 */
function askName(app, id) {
  const { store } = app;
  const chain = store.chain(id);
  if (!chain) return;
  const types = Object.values(store.state.chains).map(({ type }) => type);
  const { field: name } = lineField("entity-name", chain.name);
  const { field: type, list } = lineField("entity-type", chain.type, types.sort());
  const content = [
    make("p", { class: "soft" }, make("bdi", {}, gist(store, id))),
    ...labelled("Name", name),
    ...labelled("Type", type),
    list,
  ];
  askForm(`Name of entity ${chainTitle(id)}`, content, () => {
    if (name.value.trim() === chain.name && type.value.trim() === chain.type) return;
    app.act({ do: "name", chain: id, name: name.value, type: type.value });
  });
  name.select();
}

/**
 * Ask which of several names merged entities keep, and call `done` with the chain that has it.
 * @param {[name: string, chain: ChainId][]} names
 * @param {(chain: ChainId) => unknown} done
 */
function askKeptName(names, done) {
  /** @type {ChainId | null} */
  let taken = null;
  const choices = names.map(([name, chain]) =>
    button(name, () => {
      taken = chain;
      dialog.close();
    }),
  );
  const dialog = openDialog(
    "Which name should the merged entity keep?",
    make("div", { class: "buttons" }, ...choices),
    {
      kind: "small",
      closed: () => {
        if (taken !== null) done(taken);
      },
    },
  );
  choices[0].focus();
}

/**
 * Show the bar, or hide it when nothing is selected.
 * @param {App} app
 */
export function showSelectionBar(app) {
  const { selection } = app;
  const root = byId("selection-bar");
  root.hidden = !selection.span && !selection.selected.size;
  if (selection.span) fill(root, ...rangeItems(app, selection.span));
  else if (selection.selected.size) fill(root, ...mentionItems(app));
}

/**
 * @param {App} app
 * @param {{ start: number, end: number }} span
 */
function rangeItems(app, { start, end }) {
  const { actions, store } = app;
  const words = make("bdi", {}, phrase(store.state.tokens, start, end, 50));
  return [
    make("span", {}, `${counted(end - start + 1, "token")}: `, words),
    button("New mention …", () => actions.create(), { key: "w", kind: "strong" }),
    button("No boundary here", () => actions.empty(), { key: "0" }),
    button("Cancel", () => app.escape(), { key: "Esc", kind: "quiet" }),
  ];
}

/** @param {App} app */
function mentionItems(app) {
  const { actions, selection } = app;
  const { selected, mention } = selection;
  const count = selected.size;
  const isPair = count === 2 || (count === 1 && mention !== null && !selected.has(mention));
  return [
    make("span", {}, `${counted(count, "mention")} selected`),
    count > 1 || isPair ? button("Same", () => actions.same(), { key: "=", kind: "strong" }) : null,
    isPair ? button("Different", () => actions.different(), { key: "d" }) : null,
    button("Enforce", () => actions.enforce(), { key: "e" }),
    button("Alone", () => actions.alone(), { key: "p" }),
    button("Not a mention", () => actions.absent(), { key: "x" }),
    button("New entity", () => actions.split(), { key: "b" }),
    button("Move to …", () => actions.move(), { key: "c" }),
    count > 1 ? button("Merge entities", () => actions.merge(), { key: "m" }) : null,
    button("Deselect", () => app.escape(), { key: "Esc", kind: "quiet" }),
  ];
}
