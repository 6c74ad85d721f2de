/** A mention in its context, as a button that leads to it. */
import { spanOf } from "../state/spans.js";
import { chip } from "./chain_label.js";
import { make } from "./dom.js";
import { lineLabel, phrase, spaceBefore } from "./words.js";
/** @import { Store } from "../state/store.js" */
/** @import { MentionId } from "../state/types.js" */
/** @import { Child } from "./dom.js" */

const CONTEXT = 9;
const LONGEST = 30;

/**
 * Show where a mention is; digits keep their order also among words written from right to left.
 * @param {MentionId} id
 */
export const tokensLabel = (id) => make("span", { class: "soft where" }, lineLabel(id));

/**
 * Make a snippet of the text around a mention; `go` is called with its id.
 * @param {Store} store
 * @param {MentionId} id
 * @param {(id: MentionId) => void} go
 */
export function snippet(store, id, go) {
  const { tokens } = store.state;
  const { start, end } = spanOf(id);
  const from = Math.max(1, start - CONTEXT);
  const to = Math.min(tokens.length, end + CONTEXT);
  const inside =
    end - start < LONGEST ? phrase(tokens, start, end) : `${phrase(tokens, start, start + LONGEST)} …`;
  const before =
    start > from ? phrase(tokens, from, start - 1) + spaceBefore(tokens[start - 2], tokens[start - 1]) : "";
  const after = end < to ? spaceBefore(tokens[end - 1], tokens[end]) + phrase(tokens, end + 1, to) : "";
  return link(
    "snippet",
    id,
    go,
    make("span", { class: "snippet-head" }, chip(store.mention(id)?.chain), tokensLabel(id)),
    make(
      "span",
      { class: "snippet-text", dir: "auto" },
      from > 1 ? "… " : "",
      before,
      make("mark", {}, inside),
      after,
      to < tokens.length ? " …" : "",
    ),
  );
}

/**
 * Make a small button with the words of a mention that leads to it.
 * @param {Store} store
 * @param {MentionId} id
 * @param {(id: MentionId) => void} go
 */
export const reference = (store, id, go) =>
  link("reference", id, go, make("bdi", {}, store.words(id, 40)), " ", tokensLabel(id));

/**
 * @param {string} kind
 * @param {MentionId} id
 * @param {(id: MentionId) => void} go
 * @param {...Child} children
 */
function link(kind, id, go, ...children) {
  return make(
    "button",
    {
      type: "button",
      class: kind,
      title: "Show it in the text",
      data: { focusKey: `${kind} ${id}` },
      on: { click: () => go(id) },
    },
    ...children,
  );
}
