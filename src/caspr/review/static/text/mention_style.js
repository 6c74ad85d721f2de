/** How a mention looks and sounds: its classes, the label behind it, and its description. */
import { colour } from "./colours.js";
import { inChain, where } from "../ui/words.js";

const name = (chain) => chain ?? "–";

export class Dress {
  constructor(store, spot) {
    this.store = store;
    this.spot = spot;
    /** The mentions that the last step changed, with the chain each was in. */
    this.changed = new Map();
    /** The mentions that the current question is about. */
    this.asked = [];
  }

  /** Give one piece of a mention the classes, label and description that the mention has now. */
  clothe(element, id) {
    const mention = this.store.mention(id);
    if (!mention) return;
    const classes = this.#classes(id, mention, element.classList.contains("lit"));
    if (element.className !== classes) element.className = classes;
    if (element.hasAttribute("aria-label")) element.setAttribute("aria-label", this.describe(id));
    if (!element.dataset.ends.includes("e")) return;
    const label = this.#label(id, mention);
    if (element.dataset.label !== label) element.dataset.label = label;
  }

  /** Describe a mention for those who do not see it. */
  describe(id) {
    const mention = this.store.mention(id);
    const parts = [`“${this.store.words(id)}”, tokens ${where(id)}`, inChain(mention?.chain)];
    if (mention?.decision) parts.push(mention.decision === "in" ? "enforced" : "enforced to be no mention");
    if (this.changed.has(id)) parts.push(`changed by the last step, was ${inChain(this.changed.get(id))}`);
    if (this.spot.selected.has(id)) parts.push("selected");
    return parts.join(", ");
  }

  #classes(id, mention, lit) {
    const classes = ["m", mention.chain === null ? "out" : colour(mention.chain)];
    if (mention.decision) classes.push("decided");
    if (this.changed.has(id)) classes.push("changed");
    if (this.asked.includes(id)) classes.push("asked");
    if (this.spot.selected.has(id)) classes.push("selected");
    if (this.spot.mention === id) classes.push("current");
    if (lit) classes.push("lit");
    return classes.join(" ");
  }

  /** The number of the chain; `=` before it when enforced, where it was before, and ✎ for a note. */
  #label(id, mention) {
    const changed = this.changed.has(id);
    const plain = mention.chain === null && !mention.decision && !changed;
    const was = changed ? `${name(this.changed.get(id))}→` : "";
    const noted = this.store.state.notes.some((note) => note.mention === id) ? "✎" : "";
    return `${was}${mention.decision ? "=" : ""}${plain ? "" : name(mention.chain)}${noted}`;
  }
}
