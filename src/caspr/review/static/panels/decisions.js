/** What was decided, newest first, each to be shown or taken back; and the notes. */
import { chip } from "../ui/choose_chain.js";
import { button, fill, make } from "../ui/dom.js";
import { reference } from "../ui/snippet.js";
import { times } from "../ui/words.js";

const FEW = 4;
const KINDS = {
  chain: "in chain",
  together: "same",
  apart: "different",
  exists: "a mention",
  absent: "no mention",
  empty: "no boundary",
};

export class Decided {
  #open = false;

  constructor(root, app) {
    this.root = root;
    this.app = app;
  }

  /** Say whether the panel is seen; only then is it built. */
  show(open) {
    this.#open = open;
    if (open) this.render();
  }

  render() {
    if (!this.#open) return;
    const { state } = this.app.store;
    const items = [...state.decisions].reverse().map((decision) => decisionItem(this.app, decision));
    const notes = state.notes.map((note) => this.app.noteItem(note));
    const write = button(
      "Write a note on the document",
      () => {
        this.app.spot.go(null);
        this.app.actions.note();
      },
      { kind: "quiet" },
    );
    write.dataset.first = "";
    fill(
      this.root,
      make("h2", {}, times(state.decisions.length, "decision")),
      items.length
        ? make("ol", { class: "decision-list" }, ...items)
        : make(
            "p",
            { class: "empty" },
            "Nothing is enforced yet. The result is what the annotators say together.",
          ),
      make("h2", {}, times(state.notes.length, "note")),
      notes.length ? make("ul", { class: "notes" }, ...notes) : null,
      write,
    );
  }
}

/** Make the entry of one decision; `after` is called when it was taken back. */
export function decisionItem(app, decision, after = () => {}) {
  const show = () => app.showDecision(decision);
  const free = async () => {
    if (await app.act({ do: "free", decisions: [decision.id] })) after();
  };
  return make(
    "li",
    { data: { decision: decision.id } },
    make("span", { class: "tag" }, KINDS[decision.kind] ?? decision.kind),
    make("span", { class: "words", title: decision.label }, ...about(app, decision)),
    make(
      "span",
      { class: "buttons" },
      button("Show", show, { name: `Show: ${decision.label}` }),
      button("Take back", free, { name: `Take back: ${decision.label}` }),
    ),
  );
}

/** Say what a decision is about: the words of its mentions, else of its tokens. */
function about(app, decision) {
  const go = (id) => app.spot.go(id, { focus: true });
  const named = decision.mentions
    .slice(0, FEW)
    .flatMap((id, i) => [i ? ", " : "", reference(app.store, id, go)]);
  if (decision.mentions.length > FEW) named.push(` and ${decision.mentions.length - FEW} more`);
  if (decision.kind === "chain" && decision.chain !== null) named.push(" ", chip(decision.chain));
  if (named.length) return named;
  return [
    make("bdi", {}, decision.tokens.map((t) => app.store.words(`${t}-${t}`, 30)).join(" ")),
    ` (${times(decision.tokens.length, "token")}, ${decision.tokens[0]})`,
  ];
}

/** Make the entry of one note. */
export function noteItem(app, note) {
  const go = (id) => app.spot.go(id, { focus: true });
  const place = note.mention
    ? reference(app.store, note.mention, go)
    : make("span", { class: "soft" }, "on the document");
  return make(
    "li",
    {},
    place,
    make("p", { dir: "auto" }, note.text),
    button("Delete", () => app.act({ do: "unnote", id: note.id }), {
      kind: "quiet",
      name: `Delete the note: ${note.text.slice(0, 60)}`,
    }),
  );
}
