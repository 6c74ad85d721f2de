/** The pointer over the text: hover, click, Ctrl-click, and dragging over tokens. */
import { around } from "../ui/dom.js";
/** @import { App } from "../app.js" */
/** @import { Selection } from "../state/selection.js" */
/** @import { MentionId } from "../state/types.js" */

const MENTION = "[data-m]";

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
  root.addEventListener("click", (event) => onClick(app, event));
  root.addEventListener("pointerup", () => setTimeout(() => selectDragged(root, selection)));
}

/**
 * @param {App} app
 * @param {MouseEvent} event
 */
function onClick(app, event) {
  const { selection } = app;
  if (!getSelection()?.isCollapsed) return;
  const id = clickedMention(around(event, MENTION), selection.mention);
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
 * outwards; behind the outermost the innermost again.
 * @param {HTMLElement | null} innermost
 * @param {MentionId | null} current
 */
function clickedMention(innermost, current) {
  const outwards = [];
  for (let piece = innermost; piece; piece = piece.parentElement?.closest(MENTION) ?? null) {
    outwards.push(piece.dataset.m);
  }
  return outwards[outwards.indexOf(current ?? "") + 1] ?? outwards[0];
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
