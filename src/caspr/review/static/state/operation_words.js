/** Operations in words. */
import { chainTitle, inChain } from "../ui/words.js";
/** @import { MentionId, Operation } from "./types.js" */
/** @import { Store } from "./store.js" */

const MOST_QUOTED = 3;

/**
 * Short names of what an operation decides; decisions are listed under the same ones.
 * @type {Record<Operation["do"], string>}
 */
export const LABELS = {
  together: "same",
  apart: "different",
  into: "in a chain",
  exists: "in some chain",
  mention: "a mention",
  alone: "alone",
  nested: "may share an entity",
  all: "several at once",
  name: "named",
  absent: "no mention",
  empty: "no boundary",
  accept: "chain as it stands",
  split: "own chain",
  merge: "chains merged",
  new: "new mention",
  place: "not these",
  prefer: "boundary",
  move: "boundary moved",
  free: "taken back",
  rate: "category or confidence",
  note: "note",
  unnote: "note deleted",
  done: "document done",
  reopen: "document open again",
  undo: "undo",
  redo: "redo",
};

/**
 * Describe an operation in a few words.
 * @param {Store} store
 * @param {Operation} op
 * @returns {string}
 */
export function describeOperation(store, op) {
  if (op.do === "all") {
    return op.ops.map((/** @type {Operation} */ one) => describeOperation(store, one)).join("; ");
  }
  const label = labelOf(op);
  if (op.do === "move") {
    return `${label}: “${store.words(op.mention, 30)}” → “${store.words(`${op.start}-${op.end}`, 30)}”`;
  }
  const ids = mentionsOf(op);
  const quoted = ids.slice(0, MOST_QUOTED).map((id) => `“${store.words(id, 30)}”`);
  const more = ids.length > MOST_QUOTED ? " …" : "";
  return quoted.length ? `${label}: ${quoted.join(", ")}${more}` : label;
}

/** @param {Operation} op */
function labelOf(op) {
  if (op.do === "into") return inChain(op.chain);
  if (op.do === "name") return `entity ${chainTitle(op.chain)} named${op.name ? ` ${op.name}` : ""}`;
  if (op.do === "accept") return `chain ${chainTitle(op.chain)} as it stands`;
  if (op.do === "merge") return `chains ${op.chains.map(chainTitle).join(", ")} merged`;
  if (op.do === "place" && (op.with.length || op.chain)) return LABELS.together;
  if (op.do === "place" && op.exists) return "a new entity";
  return LABELS[op.do];
}

/**
 * Return the mentions and tokens that an operation names.
 * @param {Operation} op
 * @returns {MentionId[]}
 */
function mentionsOf(op) {
  if ("mentions" in op) return op.mentions;
  if (op.do === "place") return [op.mention, ...(op.with.length ? op.with : op.apart)];
  if ("tokens" in op) return op.tokens.map((token) => `${token}-${token}`);
  if (op.do === "note") return op.mention === null ? [] : [op.mention];
  return op.do === "new" ? [`${op.start}-${op.end}`] : [];
}
