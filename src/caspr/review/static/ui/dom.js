/** Build elements. Text is only ever set as text: what a token or a name says can never become markup. */

/**
 * Make an element. Properties: `class`, `data` (dataset), `on` (listeners by event), anything else is an
 * attribute; false and null leave it out. Children are elements or text.
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") element.className = value;
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name === "on")
      for (const [event, act] of Object.entries(value)) element.addEventListener(event, act);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Make a button that acts; `key` is the shortcut it tells. */
export function button(
  label,
  act,
  { key = null, kind = "", title = null, name = null, disabled = false } = {},
) {
  const hint = key ? make("kbd", { "aria-hidden": "true" }, key) : null;
  return make(
    "button",
    {
      type: "button",
      class: kind,
      title,
      "aria-label": name,
      "aria-keyshortcuts": key,
      disabled,
      on: { click: act },
    },
    label,
    hint,
  );
}

/** Put children into an element in place of what it held, keeping the focus where it was if it can be found again. */
export function fill(element, ...children) {
  const held = element.contains(document.activeElement) ? document.activeElement.dataset.keep : null;
  element.replaceChildren(
    ...children.filter((child) => child !== null && child !== undefined && child !== false),
  );
  if (held) element.querySelector(`[data-keep="${CSS.escape(held)}"]`)?.focus({ preventScroll: true });
}

/** Find an element that the page's template has. */
export const byId = (id) => document.getElementById(id);
