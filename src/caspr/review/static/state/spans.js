/** Mention ids: `5-7` for the tokens 5 to 7. */
/** @import { MentionId } from "./types.js" */

/**
 * Return the first and last token of a mention.
 * @param {MentionId} id
 */
export function spanOf(id) {
  const [start, end] = id.split("-").map(Number);
  return { start, end };
}

/**
 * Sort mentions as they are read: by start, the longer one first.
 * @param {Iterable<MentionId>} ids
 */
export function inTextOrder(ids) {
  const spans = [...ids].map((id) => ({ id, ...spanOf(id) }));
  spans.sort((one, other) => one.start - other.start || other.end - one.end);
  return spans.map(({ id }) => id);
}

/**
 * Return some of the mentions that start nearest to where one starts, the nearest first.
 * @param {MentionId[]} ids
 * @param {MentionId} id
 * @param {number} most
 */
export function nearest(ids, id, most) {
  const { start } = spanOf(id);
  /** @param {MentionId} other */
  const distance = (other) => Math.abs(spanOf(other).start - start);
  return [...ids].sort((one, other) => distance(one) - distance(other)).slice(0, most);
}

/**
 * Return whether two spans share at least half of the tokens that they cover together.
 * @param {{ start: number, end: number }} one
 * @param {{ start: number, end: number }} other
 */
export function sharesHalf(one, other) {
  const common = Math.min(one.end, other.end) - Math.max(one.start, other.start) + 1;
  const covered = Math.max(one.end, other.end) - Math.min(one.start, other.start) + 1;
  return 2 * common >= covered;
}
