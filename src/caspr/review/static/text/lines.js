/**
 * Lay out text: cut it into lines, and each line into a tree of mentions and tokens.
 *
 * Mentions may nest and cross, and may run over line ends; elements can only nest. So a mention is shown as
 * one or more pieces: where one ends inside another, the inner one is closed and opened again behind it.
 */

const LONG = 120;
const STOP = /[.!?…。؟।]["'”’»)\]]*$/;

/** Return the lines as `{start, end}`: those of the document, and long ones cut behind a full stop. */
export function linesOf(tokens, breaks) {
  const lines = [];
  const starts = breaks.length && breaks[0] === 1 ? breaks : [1, ...breaks];
  starts.forEach((first, i) => {
    const last = (starts[i + 1] ?? tokens.length + 1) - 1;
    let start = first;
    for (let t = first; t < last; t += 1) {
      const length = t - start + 1;
      if ((length >= LONG / 2 && STOP.test(tokens[t - 1])) || length >= LONG) {
        lines.push({ start, end: t });
        start = t + 1;
      }
    }
    if (start <= last) lines.push({ start, end: last });
  });
  return lines;
}

/** Find the line of a token by bisection. */
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
 * Return the tree of one line. Nodes are token numbers and `{id, first, last, children, height}`, where
 * first and last tell whether the mention begins and ends in this piece, and height how many levels of
 * underlines (counted by `weigh`, per mention) lie inside it.
 */
export function treeOf(line, mentions, weigh) {
  const root = { id: null, children: [], height: 0 };
  const stack = [root];
  const opening = Map.groupBy(mentions, (mention) => Math.max(mention.start, line.start));
  const open = (mention, first) => {
    const node = { id: mention.id, mention, first, last: false, children: [], height: 0 };
    stack.at(-1).children.push(node);
    stack.push(node);
  };
  const close = () => {
    const node = stack.pop();
    const parent = stack.at(-1);
    parent.height = Math.max(parent.height, node.height + weigh(node.mention));
    return node;
  };
  for (let token = line.start; token <= line.end; token += 1) {
    for (const mention of opening.get(token) ?? []) open(mention, mention.start === token);
    stack.at(-1).children.push(token);
    let ending = stack.filter((node) => node.mention?.end === token).length;
    const again = [];
    while (ending > 0) {
      const node = close();
      if (node.mention.end === token) {
        node.last = true;
        ending -= 1;
      } else again.unshift(node.mention);
    }
    if (token < line.end) for (const mention of again) open(mention, false);
  }
  while (stack.length > 1) close();
  return root;
}
