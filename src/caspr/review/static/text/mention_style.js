/** How a mention looks and is read out: its classes, the label behind it, and its description. */
import { colour } from "./colours.js";
import { inChain, lineLabel } from "../ui/words.js";
/** @import { Selection } from "../state/selection.js" */
/** @import { Store } from "../state/store.js" */
/** @import { ChainId, Mention, MentionId } from "../state/types.js" */

/** @param {ChainId | null | undefined} chain */
const chainLabel = (chain) => chain ?? "–";

export class MentionStyle {
  /**
   * @param {Store} store
   * @param {Selection} selection
   */
  constructor(store, selection) {
    this.store = store;
    this.selection = selection;
    /**
     * The mentions that the last step changed, with the chain each was in.
     * @type {Map<MentionId, ChainId | null>}
     */
    this.changed = new Map();
    /**
     * The mentions that the current question is about.
     * @type {MentionId[]}
     */
    this.asked = [];
  }

  /**
   * Give one piece of a mention the classes, label and description that the mention has now.
   * @param {HTMLElement} piece
   * @param {MentionId} id
   */
  apply(piece, id) {
    const mention = this.store.mention(id);
    if (!mention) return;
    const classes = this.#classes(id, mention, piece.classList.contains("highlighted"));
    if (piece.className !== classes) piece.className = classes;
    if (piece.hasAttribute("aria-label")) piece.setAttribute("aria-label", this.describe(id));
    if (!piece.dataset.ends?.includes("e")) return;
    const label = this.#label(id, mention);
    if (piece.dataset.label !== label) piece.dataset.label = label;
  }

  /**
   * Describe a mention for screen readers.
   * @param {MentionId} id
   */
  describe(id) {
    const mention = this.store.mention(id);
    const parts = [`“${this.store.words(id)}”, ${lineLabel(id)}`, inChain(mention?.chain)];
    if (mention?.decision) parts.push(mention.decision === "in" ? "enforced" : "enforced to be no mention");
    if (this.changed.has(id)) parts.push(`changed by the last step, was ${inChain(this.changed.get(id))}`);
    if (this.selection.selected.has(id)) parts.push("selected");
    return parts.join(", ");
  }

  /**
   * @param {MentionId} id
   * @param {Mention} mention
   * @param {boolean} highlighted
   */
  #classes(id, mention, highlighted) {
    const classes = ["m", mention.chain === null ? "left-out" : colour(mention.chain)];
    if (mention.decision) classes.push("decided");
    if (this.changed.has(id)) classes.push("changed");
    if (this.asked.includes(id)) classes.push("asked");
    if (this.selection.selected.has(id)) classes.push("selected");
    if (this.selection.mention === id) classes.push("current");
    if (highlighted) classes.push("highlighted");
    return classes.join(" ");
  }

  /**
   * Return the number of the chain, with `=` before it when enforced, the chain it was in, and ✎ for a note.
   * @param {MentionId} id
   * @param {Mention} mention
   */
  #label(id, mention) {
    const changed = this.changed.has(id);
    const unlabelled = mention.chain === null && !mention.decision && !changed;
    const was = changed ? `${chainLabel(this.changed.get(id))}→` : "";
    const noted = this.store.state.notes.some((note) => note.mention === id) ? "✎" : "";
    return `${was}${mention.decision ? "=" : ""}${unlabelled ? "" : chainLabel(mention.chain)}${noted}`;
  }
}
