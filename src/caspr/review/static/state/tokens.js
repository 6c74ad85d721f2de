/** Tokens and spans of them: a mention's id is `5-7` for the tokens 5 to 7; its words are as one would read them. */
/** @import { MentionId } from "./types.js" */

/** @typedef {{ start: number, end: number }} Span the first and the last token, counted from 1 */

// eslint-disable-next-line no-control-regex -- these are the characters to replace
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;
const INVISIBLE = /^[\s\p{Cf}\p{Zs}]*$/u;
const BIDI = /[\u202a-\u202e\u2066-\u2069]/;
const CLOSING = /^(?:[.,;:!?…)\]}]|\.\.\.|['’]\p{L}{1,2}|n['’]t)$/iu;
const OPENING = /^(?:[([{]|\p{L}{1,2}['’])$/u;

/**
 * Return a token with pictures of its control characters, or a mark where nothing of it can be seen.
 * @param {string} token
 */
export function visible(token) {
  if (INVISIBLE.test(token)) return "␣";
  return token.replace(CONTROL, (c) => (c < " " ? String.fromCharCode(0x2400 + c.charCodeAt(0)) : "␦"));
}

/**
 * Return whether a token has characters that would change the direction of the text after it.
 * @param {string} token
 */
export const changesDirection = (token) => BIDI.test(token);

/**
 * Return the space to show before a token: none around punctuation that belongs to its neighbour.
 * @param {string | undefined} previous
 * @param {string} token
 */
export const spaceBefore = (previous, token) =>
  CLOSING.test(token) || OPENING.test(previous ?? "") ? "" : " ";

/**
 * Return the words of a range of tokens as one would read them.
 * @param {string[]} tokens
 * @param {number} start
 * @param {number} end
 */
export function phrase(tokens, start, end, most = Infinity) {
  let text = "";
  for (let t = start; t <= end; t += 1) {
    const word = visible(tokens[t - 1] ?? "");
    text += t === start ? word : spaceBefore(tokens[t - 2], tokens[t - 1]) + word;
    if (text.length > most) return cut(text, most);
  }
  return text;
}

/**
 * Cut a text off, between words unless the first is too long.
 * @param {string} text
 * @param {number} most
 */
function cut(text, most) {
  const end = text.lastIndexOf(" ", most);
  return end > 0 ? `${text.slice(0, end)} …` : `${text.slice(0, most)}…`;
}

/**
 * Return the words of a range of tokens with its beginning and its end, so that what differs at either is seen.
 * @param {string[]} tokens
 * @param {number} start
 * @param {number} end
 * @param {number} most about how many characters of each end
 */
export function bothEnds(tokens, start, end, most) {
  const whole = phrase(tokens, start, end);
  if (whole.length <= 2 * most) return whole;
  let last = end;
  while (last > start && phrase(tokens, last - 1, end).length <= most) last -= 1;
  return `${phrase(tokens, start, end, most)} ${phrase(tokens, last, end).slice(-most)}`;
}

/**
 * Return the first and last token of a mention.
 * @param {MentionId} id
 * @returns {Span}
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
  return spans.sort((a, b) => a.start - b.start || b.end - a.end).map(({ id }) => id);
}

/**
 * Return some of the mentions that start nearest to where one starts, the nearest first.
 * @param {MentionId[]} ids
 * @param {MentionId} id
 * @param {number} most
 */
export function nearest(ids, id, most) {
  const { start } = spanOf(id);
  /** @param {MentionId} candidate */
  const distance = (candidate) => Math.abs(spanOf(candidate).start - start);
  return [...ids].sort((a, b) => distance(a) - distance(b)).slice(0, most);
}

/**
 * Return whether two spans share at least half of the tokens that they cover together.
 * @param {Span} a
 * @param {Span} b
 */
export function sharesHalf(a, b) {
  const common = Math.min(a.end, b.end) - Math.max(a.start, b.start) + 1;
  const covered = Math.max(a.end, b.end) - Math.min(a.start, b.start) + 1;
  return 2 * common >= covered;
}

/**
 * Return the index of the last start at or before a position, by bisection; 0 if all are after it.
 * @param {number} count of the starts, which ascend
 * @param {(index: number) => number} startAt
 * @param {number} position
 */
export function lastStart(count, startAt, position) {
  let low = 0;
  let high = count - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (startAt(middle) <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}
