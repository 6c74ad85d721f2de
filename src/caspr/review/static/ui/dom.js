/**
 * Build and find elements, and remember settings in the browser. Text is only ever set as text: what a token or a
 * name says can never become markup.
 */

/** @typedef {Node | string | null | undefined | false} Child */

/**
 * `class`, `data` (dataset) and `on` (listeners by event); anything else is an attribute.
 * @typedef {{
 *   class?: string,
 *   data?: Record<string, string>,
 *   on?: { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => unknown },
 *   [attribute: string]: unknown,
 * }} Properties
 */

/** @type {(child: Child) => child is Node | string} */
const isContent = (child) => child !== null && child !== undefined && child !== false;

/**
 * Make an element with properties (false and null leave an attribute out) and children (elements or text).
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Properties} properties
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  const { class: className, data, on, ...attributes } = properties;
  if (className) element.className = className;
  Object.assign(element.dataset, data);
  for (const [event, act] of Object.entries(on ?? {})) {
    element.addEventListener(event, /** @type {EventListener} */ (act));
  }
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter(isContent));
  return element;
}

/**
 * Make a button; `key` is the shortcut it shows, `name` its label for screen readers, `focusKey` see `fill`.
 * @param {Child} label
 * @param {() => unknown} act
 * @param {{ key?: string, kind?: string, title?: string, name?: string, disabled?: boolean, focusKey?: string }} options
 */
export function button(label, act, { key, kind = "", title, name, disabled = false, focusKey } = {}) {
  const hint = key ? make("kbd", { "aria-hidden": "true" }, key) : null;
  const attributes = { title, "aria-label": name, "aria-keyshortcuts": key, disabled };
  const made = make(
    "button",
    { type: "button", class: kind, ...attributes, on: { click: () => act() } },
    label,
    hint,
  );
  if (focusKey !== undefined) made.dataset.focusKey = focusKey;
  return made;
}

/**
 * Make a menu of options, given as labels by value; one with a label of its own needs no name.
 * @param {string | null} name
 * @param {Record<string, string>} labels
 * @param {() => void} onChange
 */
export function menu(name, labels, onChange) {
  const options = Object.entries(labels).map(([value, label]) => make("option", { value }, label));
  return make("select", { "aria-label": name, on: { change: onChange } }, ...options);
}

/**
 * Replace the children of an element. If the focus was on a child, the new child with the same `data-focus-key`
 * gets it.
 * @param {HTMLElement} element
 * @param {...Child} children
 */
export function fill(element, ...children) {
  const focused = document.activeElement;
  const inside = focused instanceof HTMLElement && element.contains(focused);
  const key = inside ? focused.dataset.focusKey : undefined;
  element.replaceChildren(...children.filter(isContent));
  if (key) find(element, `[data-focus-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}

/**
 * Return an element of the page's template.
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 * @param {new () => T} [kind]
 * @returns {T}
 */
export function byId(id, kind) {
  const element = document.getElementById(id);
  if (!(element instanceof (kind ?? HTMLElement))) throw new Error(`the page has no such #${id}`);
  return /** @type {T} */ (element);
}

/**
 * Return the first element inside another one that matches a selector.
 * @param {ParentNode} root
 * @param {string} selector
 * @returns {HTMLElement | null}
 */
export const find = (root, selector) => root.querySelector(selector);

/**
 * Return the element around the target of an event that matches a selector.
 * @param {Event} event
 * @param {string} selector
 * @returns {HTMLElement | null}
 */
export const around = (event, selector) =>
  event.target instanceof Element ? event.target.closest(selector) : null;

/**
 * Return what this browser remembers under a key; nothing if storage is forbidden.
 * @param {string} key
 */
export function remembered(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/**
 * Remember a setting in this browser; if storage is forbidden or full, it holds for this page only.
 * @param {string} key
 * @param {string} value
 */
export function remember(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    /* nothing depends on it */
  }
}
