/** What the adjudicator can do to the document, each as one operation on what is selected or current. */
import { askChain } from "../ui/choose_chain.js";
import { askText } from "../ui/dialog.js";
import { inTextOrder } from "../state/store.js";
import { where } from "../ui/words.js";

const NOTHING = "Go to a mention first: click it, or use the arrow keys.";

/** Make the actions of a page; `app` has store, spot, act (send an operation) and say. */
export function actionsOf(app) {
  const { store, spot, say } = app;
  const targets = () => inTextOrder(spot.targets);
  const chainsOf = (ids) => [
    ...new Set(ids.map((id) => store.mention(id)?.chain).filter((chain) => chain != null)),
  ];

  /** Send an operation and let go of the selection when it went through. */
  const send = async (op) => {
    const update = await app.act(op);
    if (update) {
      spot.select([]);
      spot.choose(null);
      getSelection().removeAllRanges();
    }
    return update;
  };
  /** Run with at least so many targets, or say what is missing. */
  const having = (least, lacking, run) => () => {
    const ids = targets();
    if (ids.length < least) say(ids.length || least > 1 ? lacking : NOTHING);
    else run(ids);
  };
  /** The selected mentions, and the current one with them when only one other is selected. */
  const pair = () => {
    const ids = new Set(spot.selected);
    if (ids.size < 2 && spot.mention) ids.add(spot.mention);
    return inTextOrder([...ids]);
  };

  return {
    same() {
      const ids = pair();
      if (ids.length < 2)
        say("Select a mention with Space, go to another one, then say that they are the same.");
      else send({ do: "together", mentions: ids });
    },
    different() {
      const ids = pair();
      if (ids.length !== 2)
        say("Two mentions can be different: select one with Space and go to the other one.");
      else send({ do: "apart", mentions: ids });
    },
    enforce: having(1, NOTHING, (ids) => {
      const chains = chainsOf(ids);
      const all = ids.every((id) => store.mention(id)?.chain != null);
      if (chains.length === 1 && all) send({ do: "into", mentions: ids, chain: chains[0] });
      else send({ do: "exists", mentions: ids });
    }),
    absent: having(1, NOTHING, (ids) => send({ do: "absent", mentions: ids })),
    split: having(1, NOTHING, (ids) => send({ do: "split", mentions: ids })),
    accept: having(1, NOTHING, (ids) => {
      const [chain, ...more] = chainsOf(ids);
      if (chain === undefined || more.length) say("Go to a mention of the one chain to accept.");
      else send({ do: "accept", chain });
    }),
    move: having(1, NOTHING, (ids) => {
      const own = chainsOf(ids);
      const title =
        ids.length === 1
          ? `Move “${store.words(ids[0], 30)}” (${where(ids[0])}) to`
          : `Move ${ids.length} mentions to`;
      const take = (chain) =>
        send(chain === null ? { do: "split", mentions: ids } : { do: "into", mentions: ids, chain });
      askChain(store, title, take, {
        extra: own.length ? [["A chain of their own", null]] : [],
        except: own.length === 1 ? own : [],
        first: app.nearby(ids[0]),
      });
    }),
    merge: having(1, NOTHING, (ids) => {
      const chains = chainsOf(ids);
      if (chains.length > 1) return send({ do: "merge", chains });
      if (!chains.length) return say("This mention is in no chain; nothing can be merged with it.");
      return askChain(
        store,
        `Merge chain ${chains[0]} with`,
        (chain) => send({ do: "merge", chains: [chains[0], chain] }),
        {
          except: chains,
          first: app.nearby(ids[0]),
        },
      );
    }),
    create() {
      const span = spot.span;
      if (!span) return app.startRange();
      const id = `${span.start}-${span.end}`;
      const put = async (chain) => {
        if (await send({ do: "new", start: span.start, end: span.end, chain })) spot.go(id, { focus: true });
      };
      return askChain(store, `New mention “${store.words(id, 40)}” in`, put, {
        extra: [["Some chain, decided later", null]],
        first: app.nearby(id),
      });
    },
    empty() {
      const span = spot.span;
      if (!span) return say("Choose tokens first: t, then Shift and the arrow keys; or drag over the text.");
      const tokens = Array.from({ length: span.end - span.start + 1 }, (_, i) => span.start + i);
      return send({ do: "empty", tokens });
    },
    free: having(1, NOTHING, (ids) => {
      const on = (id) => {
        const [start, end] = id.split("-").map(Number);
        const touches = (decision) =>
          decision.mentions.includes(id) ||
          (decision.kind === "empty" && decision.tokens.some((t) => t === start || t === end));
        return store.state.decisions.filter(touches);
      };
      const decisions = [...new Set(ids.flatMap(on).map((decision) => decision.id))];
      if (!decisions.length) say("No decision was made about this.");
      else send({ do: "free", decisions });
    }),
    note() {
      const mention = spot.mention;
      const title = mention
        ? `Note on “${store.words(mention, 40)}” (${where(mention)})`
        : "Note on the document";
      askText(title, "Text of the note", (text) => app.act({ do: "note", mention, text }));
    },
    undo: () => (store.state.undo === null ? say("There is nothing to undo.") : app.act({ do: "undo" })),
    redo: () => (store.state.redo === null ? say("There is nothing to redo.") : app.act({ do: "redo" })),
  };
}
