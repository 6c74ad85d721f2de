/** Say things in words: tokens, mentions, chains, costs. */

const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;
const UNSEEN = /^[\s\p{Cf}\p{Zs}]*$/u;
const BIDI = /[\u202a-\u202e\u2066-\u2069]/;
const CLOSING = /^(?:[.,;:!?…)\]}]|\.\.\.)$/;
const OPENING = /^[([{]$/;

/** Show a token: control characters as pictures of them, and something where nothing can be seen. */
export function shown(token) {
  if (UNSEEN.test(token)) return "␣";
  return token.replace(CONTROL, (c) => (c < " " ? String.fromCharCode(0x2400 + c.charCodeAt(0)) : "␦"));
}

/** Tell whether a token holds characters that would turn the direction of what follows. */
export const turns = (token) => BIDI.test(token);

/** Return the blank to show before a token: none around punctuation that sticks to its neighbour. */
export const blank = (before, token) => (CLOSING.test(token) || OPENING.test(before ?? "") ? "" : " ");

/** Return the words of a stretch of tokens as one would read them. */
export function phrase(tokens, start, end, most = Infinity) {
  let text = "";
  for (let t = start; t <= end; t += 1) {
    const word = shown(tokens[t - 1] ?? "");
    text += t === start ? word : blank(tokens[t - 2], tokens[t - 1]) + word;
    if (text.length > most) return `${text.slice(0, most)}…`;
  }
  return text;
}

/** Name the tokens of a mention id: `5–7`, or `5` for one token. */
export function where(id) {
  const [start, end] = id.split("-");
  return start === end ? start : `${start}–${end}`;
}

/** Say a number of things: `1 mention`, `2 mentions`. */
export const times = (count, thing) => `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`;

/** Say which chain, or that there is none. */
export const inChain = (chain) =>
  chain === null || chain === undefined ? "in no chain" : `in chain ${chain}`;

/** Say what deciding otherwise costs. */
export function priced({ price, exact = true, possible = true }) {
  if (!possible) return "is not possible";
  if (price === null || price === undefined) return "price not known";
  if (price === 0) return exact ? "costs nothing (a tie)" : "may cost nothing";
  return exact ? `costs ${price} more` : `costs at least ${price} more`;
}

/** Say a difference with its sign. */
export const signed = (number) => (number > 0 ? `+${number}` : number < 0 ? `−${-number}` : "±0");
