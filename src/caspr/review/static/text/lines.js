/**
 * Lay out text: cut it into lines, and each line into a tree of mentions and tokens.
 *
 * Mentions may nest and cross, and may run over line ends; elements can only nest. So a mention is shown as
 * one or more pieces: where one ends inside another, the inner one is closed and opened again behind it.
 */
/** @import { MentionId } from "../state/types.js" */

/** @typedef {{ start: number, end: number }} Line */
/** @typedef {{ id: MentionId, start: number, end: number }} LineMention */

/**
 * A piece of a mention. `first` and `last` tell whether the mention begins and ends in this piece, `height` how
 * many levels of underlines lie inside it.
 * @typedef {object} Piece
 * @property {MentionId} id
 * @property {LineMention} mention
 * @property {boolean} first
 * @property {boolean} last
 * @property {number} height
 * @property {LineNode[]} children
 */

/** @typedef {Piece | number} LineNode a piece or the number of a token */
/** @typedef {{ id: null, children: LineNode[], height: number }} LineTree */

const LONG = 120;
const FULL_STOP = /[.!?…。؟।]["'”’»)\]]*$/;

/**
 * Return the lines: those of the document, and long ones cut behind a full stop.
 * @param {string[]} tokens
 * @param {number[]} breaks the tokens at which a line begins
 */
export function linesOf(tokens, breaks) {
  /** @type {Line[]} */
  const lines = [];
  const starts = breaks.length && breaks[0] === 1 ? breaks : [1, ...breaks];
  starts.forEach((first, i) => {
    const last = (starts[i + 1] ?? tokens.length + 1) - 1;
    let start = first;
    for (let t = first; t < last; t += 1) {
      const length = t - start + 1;
      if ((length >= LONG / 2 && FULL_STOP.test(tokens[t - 1])) || length >= LONG) {
        lines.push({ start, end: t });
        start = t + 1;
      }
    }
    if (start <= last) lines.push({ start, end: last });
  });
  return lines;
}

/**
 * Return the number of the line of a token, by bisection.
 * @param {Line[]} lines
 * @param {number} token
 */
export function lineAt(lines, token) {
  let low = 0;
  let high = lines.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (lines[middle].start <= token) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * Return the tree of one line.
 * @param {Line} line
 * @param {LineMention[]} mentions
 * @param {(mention: LineMention) => number} levels how many levels of underlines a mention adds
 * @returns {LineTree}
 */
export function treeOf(line, mentions, levels) {
  /** @type {LineTree} */
  const root = { id: null, children: [], height: 0 };
  /** @type {Piece[]} */
  const stack = [];
  const top = () => stack.at(-1) ?? root;
  const opening = Map.groupBy(mentions, (mention) => Math.max(mention.start, line.start));
  /** @type {(mention: LineMention, first: boolean) => void} */
  const open = (mention, first) => {
    /** @type {Piece} */
    const piece = { id: mention.id, mention, first, last: false, children: [], height: 0 };
    top().children.push(piece);
    stack.push(piece);
  };
  const close = () => {
    const piece = /** @type {Piece} */ (stack.pop());
    const parent = top();
    parent.height = Math.max(parent.height, piece.height + levels(piece.mention));
    return piece;
  };
  for (let token = line.start; token <= line.end; token += 1) {
    for (const mention of opening.get(token) ?? []) open(mention, mention.start === token);
    top().children.push(token);
    let ending = stack.filter((piece) => piece.mention.end === token).length;
    /** @type {LineMention[]} */
    const reopened = [];
    while (ending > 0) {
      const piece = close();
      if (piece.mention.end === token) {
        piece.last = true;
        ending -= 1;
      } else reopened.unshift(piece.mention);
    }
    if (token < line.end) for (const mention of reopened) open(mention, false);
  }
  while (stack.length) close();
  return root;
}
