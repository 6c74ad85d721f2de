/** Move through mentions and tokens, and choose them, by keys and by pointer. */
import { phrase, times } from "../ui/words.js";

/** Make the moves of a page; `app` has store, spot, text and say. */
export function movesOf(app) {
  const { store, spot, text, say } = app;

  const first = () => {
    const top = text.top;
    return store.order.find((id) => store.mention(id).start >= top) ?? store.order.at(-1) ?? null;
  };
  const shown = (id) => app.showsOut() || store.mention(id).chain !== null || spot.mention === id;
  const walk = (ids, way) => {
    const here = ids.indexOf(spot.mention);
    const next = here < 0 ? first() : (ids[here + way] ?? null);
    if (next === null) say(way > 0 ? "That was the last one." : "That was the first one.", { quiet: true });
    else spot.go(next, { focus: true });
  };
  /** Choose tokens around a head, and read them out. */
  const choose = (anchor, head) => {
    const at = Math.min(Math.max(head, 1), store.state.tokens.length);
    spot.choose({ anchor: anchor ?? at, head: at });
    text.focusToken(at);
    const { start, end } = spot.span;
    say(`${times(end - start + 1, "token")} chosen: ${phrase(store.state.tokens, start, end, 80)}`, {
      quiet: true,
    });
  };

  return {
    /** The next or previous mention of all. */
    mention: (way) => walk(store.order.filter(shown), way),
    /** The next or previous mention of the same chain. */
    within(way) {
      const chain = store.mention(spot.mention)?.chain ?? null;
      walk(chain === null ? store.order.filter(shown) : store.chain(chain).mentions, way);
    },
    /** Select the current mention or no longer. */
    toggle() {
      if (!spot.mention) return say("Go to a mention first: click it, or use the arrow keys.");
      spot.toggle(spot.mention);
      const count = times(spot.selected.size, "mention");
      return say(`${count} selected`, { quiet: true });
    },
    /** Select the whole chain of the current mention. */
    whole() {
      const chain = store.chain(store.mention(spot.mention)?.chain);
      if (chain) {
        spot.select(chain.mentions);
        say(`${times(chain.mentions.length, "mention")} selected`, { quiet: true });
      }
    },
    /** Begin to choose tokens where the reader is. */
    start: () => choose(null, store.mention(spot.mention)?.start ?? text.top),
    /** Move the chosen token, or with `extend` the end of the stretch. */
    token(way, extend) {
      choose(extend ? spot.range.anchor : null, spot.range.head + way);
    },
    /** The same by whole lines. */
    line(way, extend) {
      const extent = text.extent(text.line(spot.range.head) + way);
      if (extent) choose(extend ? spot.range.anchor : null, extent.start);
    },
    /** Leave the tokens; the keyboard goes back to the current mention. */
    leave() {
      getSelection().removeAllRanges();
      spot.choose(null);
      if (spot.mention) spot.go(spot.mention, { focus: true });
    },
    /** Go to a token: the first mention at or behind it. */
    goTo(token) {
      const id = store.order.find((one) => store.mention(one).end >= token);
      if (id) spot.go(id, { focus: true });
      else choose(null, token);
    },
  };
}

/** Follow the pointer over the text: hover, click, Ctrl-click, and dragging over tokens. */
export function followPointer(app) {
  const { root } = app.text;
  const { spot, store } = app;
  const at = (event) => (event.target instanceof Element ? event.target.closest("[data-m]") : null);
  let over = null;
  root.addEventListener("pointerdown", () => app.text.hold(true));
  for (const kind of ["pointerup", "pointercancel"])
    document.addEventListener(kind, () => app.text.hold(false));
  root.addEventListener("pointerover", (event) => {
    const id = at(event)?.dataset.m ?? null;
    if (id !== over) {
      over = id;
      app.light(store.mention(id)?.chain);
    }
  });
  root.addEventListener("pointerleave", () => {
    over = null;
    app.light();
  });
  root.addEventListener("focusin", (event) => {
    const id = event.target.dataset?.m;
    if (id && id !== spot.mention) spot.go(id, { show: false });
    if (id) app.light(store.mention(id)?.chain);
  });
  root.addEventListener("click", (event) => {
    if (!getSelection().isCollapsed) return;
    const element = outward(at(event), spot.mention);
    if (!element) return;
    spot.choose(null);
    const id = element.dataset.m;
    const more = event.ctrlKey || event.metaKey || event.shiftKey;
    if (more && !spot.selected.size && spot.mention && spot.mention !== id) spot.toggle(spot.mention);
    spot.go(id, { focus: true, show: false });
    if (more) spot.toggle(id);
    else app.openDetail();
  });
  root.addEventListener("pointerup", () => setTimeout(() => chooseDragged(root, spot)));
}

/** A click inside the current mention goes to the one around it; behind the outermost comes the innermost again. */
function outward(element, current) {
  for (let one = element; one; one = one.parentElement.closest("[data-m]")) {
    if (one.dataset.m === current) return one.parentElement.closest("[data-m]") ?? element;
  }
  return element;
}

/** Turn what was dragged over into a choice of tokens. */
function chooseDragged(root, spot) {
  const dragged = getSelection();
  if (dragged.isCollapsed || !dragged.rangeCount) return;
  const range = dragged.getRangeAt(0);
  if (!root.contains(range.commonAncestorContainer)) return;
  const tokens = [...root.querySelectorAll(".t")]
    .filter((t) => range.intersectsNode(t))
    .map((t) => Number(t.dataset.t));
  if (!tokens.length) return;
  spot.choose({ anchor: tokens[0], head: tokens.at(-1) });
}
