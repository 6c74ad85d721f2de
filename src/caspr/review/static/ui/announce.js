/** Tell the reader: a line for screen readers and for the eye, and a banner for what must not be missed. */
import { button, byId, fill, make } from "./dom.js";

const STAY = 6000;
let hiding = null;

/** Say something in passing. */
export function say(text, { quiet = false } = {}) {
  const live = byId("live");
  live.textContent = live.textContent === text ? `${text}\u00a0` : text;
  if (quiet) return;
  const toast = byId("toast");
  toast.textContent = text;
  toast.hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(() => {
    toast.hidden = true;
  }, STAY);
}

/** Put up a banner that stays until it is taken down or replaced; actions are `[label, act]`. */
export function banner(text, actions = [], { kind = "warning" } = {}) {
  const place = byId("banner");
  place.className = kind;
  fill(
    place,
    make("p", {}, text),
    ...actions.map(([label, act]) => button(label, act)),
    button("Dismiss", unbanner, { kind: "quiet" }),
  );
  place.hidden = false;
}

/** Take the banner down; with `kind`, only one of that kind. */
export function unbanner(kind = null) {
  const place = byId("banner");
  if (typeof kind !== "string" || place.classList.contains(kind)) place.hidden = true;
}
