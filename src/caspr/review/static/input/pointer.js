/** The pointer over the text: hover, click, Ctrl-click, dragging over tokens, and dragging an end of a mention. */
import { sharesHalf, spanOf } from "../state/tokens.js";
import { around } from "../ui/dom.js";
/** @import { App } from "../app.js" */
/** @import { Selection } from "../state/selection.js" */
/** @import { MentionId } from "../state/types.js" */

const MENTION = "[data-m]";
const NEAR = 5;

/** @param {App} app */
export function listenToPointer(app) {
  const { selection, store, text } = app;
  const { root } = text;
  /** @type {MentionId | undefined} */
  let hovered;
  root.addEventListener("pointerdown", () => text.onPointer(true));
  for (const kind of ["pointerup", "pointercancel"]) {
    document.addEventListener(kind, () => text.onPointer(false));
  }
  root.addEventListener("pointerover", (event) => {
    const id = around(event, MENTION)?.dataset.m;
    if (id === hovered) return;
    hovered = id;
    app.highlight(store.mention(id)?.chain);
  });
  root.addEventListener("pointerleave", () => {
    hovered = undefined;
    app.highlight();
  });
  root.addEventListener("focusin", ({ target }) => {
    const id = target instanceof HTMLElement ? target.dataset.m : undefined;
    if (!id) return;
    if (id !== selection.mention) selection.goTo(id, { show: false });
    app.highlight(store.mention(id)?.chain);
  });
  listenToEdges(app);
  root.addEventListener("click", (event) => onClick(app, event));
  root.addEventListener("pointerup", () => setTimeout(() => selectDragged(root, selection)));
}

/**
 * Let the ends of the current mention be dragged: a press near one of them moves it.
 * @param {App} app
 */
function listenToEdges(app) {
  const { navigation, text } = app;
  const { root } = text;
  /** @type {"start" | "end" | null} */
  let dragged = null;
  root.addEventListener("pointermove", (event) => {
    if (!dragged) {
      root.classList.toggle("at-edge", event.buttons === 0 && edgeAt(app, event) !== null);
      return;
    }
    const mention = app.selection.mention;
    const token = tokenAt(event);
    if (!mention || token === null) return;
    const span = { ...spanOf(mention), [dragged]: token };
    if (span.start <= span.end) navigation.tryBoundary(mention, span);
  });
  root.addEventListener("pointerdown", (event) => {
    dragged = event.button === 0 ? edgeAt(app, event) : null;
    if (!dragged) return;
    event.preventDefault();
    getSelection()?.removeAllRanges();
    root.setPointerCapture(event.pointerId);
  });
  root.addEventListener("pointerup", (event) => {
    if (!dragged) return;
    dragged = null;
    root.releasePointerCapture(event.pointerId);
    navigation.commitBoundary();
  });
  root.addEventListener("pointercancel", () => {
    if (dragged) navigation.leaveBoundary();
    dragged = null;
  });
}

/**
 * Return the end of the current mention that the pointer is near, if it is near one.
 * @param {App} app
 * @param {PointerEvent} event
 */
function edgeAt(app, { clientX, clientY }) {
  const { mention } = app.selection;
  if (!mention || !app.store.mention(mention)) return null;
  const { start, end } = spanOf(mention);
  /** @type {(token: number, side: "left" | "right") => boolean} */
  const isNear = (token, side) => {
    const element = app.text.token(token);
    const box = element?.getBoundingClientRect();
    if (!element || !box) return false;
    const rightToLeft = getComputedStyle(element).direction === "rtl";
    const x = (side === "left") === rightToLeft ? box.right : box.left;
    return Math.abs(clientX - x) <= NEAR && clientY >= box.top - NEAR && clientY <= box.bottom + NEAR;
  };
  if (isNear(end, "right")) return "end";
  return isNear(start, "left") ? "start" : null;
}

/**
 * Return the token under the pointer.
 * @param {PointerEvent} event
 */
function tokenAt({ clientX, clientY }) {
  const under = document.elementFromPoint(clientX, clientY)?.closest(".t");
  return under ? Number(under.getAttribute("data-t")) : null;
}

/**
 * @param {App} app
 * @param {MouseEvent} event
 */
function onClick(app, event) {
  const { selection } = app;
  if (!getSelection()?.isCollapsed) return;
  const id = clickedMention(app, around(event, MENTION));
  if (!id) return;
  selection.setRange(null);
  const more = event.ctrlKey || event.metaKey || event.shiftKey;
  if (more && !selection.selected.size && selection.mention && selection.mention !== id) {
    selection.toggle(selection.mention);
  }
  selection.goTo(id, { focus: true, show: false });
  if (more) selection.toggle(id);
  else app.openDetail();
}

/**
 * Return the mention that a click is meant for: the innermost one; if the current one is around it, the next one
 * outwards; after the outermost the innermost again. A mention of the result comes before what was left out for it.
 * @param {App} app
 * @param {HTMLElement | null} innermost
 */
function clickedMention({ selection, store }, innermost) {
  /** @type {MentionId[]} */
  const outwards = [];
  for (let piece = innermost; piece; piece = piece.parentElement?.closest(MENTION) ?? null) {
    if (piece.dataset.m) outwards.push(piece.dataset.m);
  }
  /** @param {MentionId} id */
  const inResult = (id) => store.mention(id)?.chain != null;
  /** @param {MentionId} id */
  const isReplaced = (id) =>
    !inResult(id) && outwards.some((other) => inResult(other) && sharesHalf(spanOf(id), spanOf(other)));
  const wanted = [...outwards.filter((id) => !isReplaced(id)), ...outwards.filter(isReplaced)];
  return wanted[wanted.indexOf(selection.mention ?? "") + 1] ?? wanted[0];
}

/**
 * Turn the text that was dragged over into a range of tokens.
 * @param {HTMLElement} root
 * @param {Selection} selection
 */
function selectDragged(root, selection) {
  const dragged = getSelection();
  if (!dragged || dragged.isCollapsed || !dragged.rangeCount) return;
  const range = dragged.getRangeAt(0);
  if (!root.contains(range.commonAncestorContainer)) return;
  const tokens = [...root.querySelectorAll(".t")]
    .filter((element) => range.intersectsNode(element))
    .map((element) => Number(element.getAttribute("data-t")));
  const [anchor, head] = [tokens.at(0), tokens.at(-1)];
  if (anchor !== undefined && head !== undefined) selection.setRange({ anchor, head });
}
