/** Put things into words: tokens, mentions, chains, costs. */
import { lookup } from "./lookup.js";
/** @import { ChainId, MentionId, Price } from "../state/types.js" */

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
 * Return whether a token has characters that would change the direction of the text behind it.
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
 * Return where a mention is: `line 12`, as the margin of the text has it.
 * @param {MentionId} id
 */
export const lineLabel = (id) => `line ${lookup.line(Number(id.split("-")[0]))}`;

/**
 * Return a number of things: `1 mention`, `2 mentions`.
 * @param {number} count
 * @param {string} thing
 */
export const counted = (count, thing) => `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`;

/**
 * Return what an entity is called where its number is shown: `3 (Sir William)`.
 * @param {ChainId} chain
 */
export function chainTitle(chain) {
  const name = lookup.name(chain);
  return name ? `${chain} (${name})` : chain;
}

/** @param {ChainId | null | undefined} chain */
export const inChain = (chain) => (chain == null ? "in no chain" : `in chain ${chainTitle(chain)}`);

/**
 * Say what deciding otherwise costs.
 * @param {Price} price
 */
export function describePrice({ price, exact, possible }) {
  if (!possible) return "is not possible";
  if (price === null) return "price not known";
  if (price === 0) return exact ? "costs nothing (a tie)" : "may cost nothing";
  return exact ? `costs ${price} more` : `costs at least ${price} more`;
}

/**
 * Return a difference with its sign.
 * @param {number} number
 */
export const signed = (number) => (number > 0 ? `+${number}` : number < 0 ? `−${-number}` : "±0");

/**
 * Return a time of the server as a reader's clock and calendar have it.
 * @param {string | null} at
 */
export function shortTime(at) {
  const time = new Date(at ?? "");
  return Number.isNaN(time.getTime())
    ? ""
    : time.toLocaleString(undefined, { dateStyle: "short", timeStyle: "short" });
}
