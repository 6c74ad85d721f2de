/** A mention in its context, as a button that leads to it. */
import { make } from "./dom.js";
import { chip } from "./choose_chain.js";
import { blank, phrase, where } from "./words.js";

const AROUND = 9;
const LONGEST = 30;

/** Name the tokens of a mention; digits stay in order also among words written from right to left. */
export const place = (id) => make("span", { class: "soft where" }, where(id));

/** Make a snippet of the text around a mention; `go` is called with its id. */
export function snippet(store, id, go) {
  const { tokens } = store.state;
  const [start, end] = id.split("-").map(Number);
  const from = Math.max(1, start - AROUND);
  const to = Math.min(tokens.length, end + AROUND);
  const inside =
    end - start < LONGEST ? phrase(tokens, start, end) : `${phrase(tokens, start, start + LONGEST)} …`;
  const before =
    start > from ? phrase(tokens, from, start - 1) + blank(tokens[start - 2], tokens[start - 1]) : "";
  const after = end < to ? blank(tokens[end - 1], tokens[end]) + phrase(tokens, end + 1, to) : "";
  return make(
    "button",
    {
      type: "button",
      class: "snippet",
      title: "Show it in the text",
      data: { keep: `snippet ${id}` },
      on: { click: () => go(id) },
    },
    make("span", { class: "snippet-head" }, chip(store.mention(id)?.chain), place(id)),
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

/** Make a small button with the words of a mention that leads to it. */
export function reference(store, id, go) {
  return make(
    "button",
    {
      type: "button",
      class: "reference",
      title: "Show it in the text",
      data: { keep: `reference ${id}` },
      on: { click: () => go(id) },
    },
    make("bdi", {}, store.words(id, 40)),
    " ",
    place(id),
  );
}
