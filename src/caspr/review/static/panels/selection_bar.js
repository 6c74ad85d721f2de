/** The bar under the text: what is selected or chosen, and what can be done with it. */
import { button, fill, make } from "../ui/dom.js";
import { phrase, times } from "../ui/words.js";

/** Show the bar, or hide it when nothing is selected. */
export function showChosen(root, app) {
  const { spot, store, actions } = app;
  const span = spot.span;
  const count = spot.selected.size;
  root.hidden = !span && !count;
  if (span) {
    fill(
      root,
      make(
        "span",
        {},
        `${times(span.end - span.start + 1, "token")}: `,
        make("bdi", {}, phrase(store.state.tokens, span.start, span.end, 50)),
      ),
      button("New mention …", actions.create, { key: "w", kind: "strong" }),
      button("No boundary here", actions.empty, { key: "0" }),
      button("Cancel", () => app.letGo(), { key: "Esc", kind: "quiet" }),
    );
  } else if (count) {
    const two = count === 2 || (count === 1 && spot.mention && !spot.selected.has(spot.mention));
    fill(
      root,
      make("span", {}, `${times(count, "mention")} selected`),
      count > 1 || two ? button("Same", actions.same, { key: "=", kind: "strong" }) : null,
      two ? button("Different", actions.different, { key: "d" }) : null,
      button("Enforce", actions.enforce, { key: "e" }),
      button("No mention", actions.absent, { key: "x" }),
      button("Own chain", actions.split, { key: "b" }),
      button("Move to …", actions.move, { key: "c" }),
      count > 1 ? button("Merge chains", actions.merge, { key: "m" }) : null,
      button("Let go", () => app.letGo(), { key: "Esc", kind: "quiet" }),
    );
  }
}
