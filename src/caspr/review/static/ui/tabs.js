/** Tabs, and panels that are built only while they are open. */
import { around, byId, find } from "./dom.js";
/** @import { App } from "../app.js" */

export class Tabs {
  /** @type {HTMLElement[]} */
  #tabs;

  /**
   * @param {HTMLElement} list
   * @param {(panel: string) => void} onChange called with the id of the panel that was opened
   */
  constructor(list, onChange) {
    this.#tabs = [...list.querySelectorAll("[role=tab]")].filter((tab) => tab instanceof HTMLElement);
    this.onChange = onChange;
    list.addEventListener("click", (event) => {
      const tab = around(event, "[role=tab]");
      if (tab) this.show(panelOf(tab));
    });
    list.addEventListener("keydown", (event) => {
      const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
      if (!step) return;
      event.preventDefault();
      const here = this.#tabs.findIndex((tab) => panelOf(tab) === this.open);
      const next = this.#tabs[(here + step + this.#tabs.length) % this.#tabs.length];
      this.show(panelOf(next));
      next.focus();
    });
  }

  /** The id of the open panel. */
  get open() {
    const tab = this.#tabs.find((candidate) => candidate.getAttribute("aria-selected") === "true");
    return tab ? panelOf(tab) : null;
  }

  /**
   * Open a panel; `focus` moves the keyboard into it.
   * @param {string} id
   */
  show(id, { focus = false } = {}) {
    for (const tab of this.#tabs) {
      const on = panelOf(tab) === id;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
      byId(panelOf(tab)).hidden = !on;
    }
    this.onChange(id);
    const panel = byId(id);
    if (focus) (find(panel, "[data-initial-focus]") ?? panel).focus({ preventScroll: true });
  }
}

/** @param {HTMLElement} tab */
const panelOf = (tab) => tab.getAttribute("aria-controls") ?? "";

export class Panel {
  /**
   * @param {HTMLElement} root
   * @param {App} app
   */
  constructor(root, app) {
    this.root = root;
    this.app = app;
    this.open = false;
  }

  /**
   * Open or close the panel; opening builds it.
   * @param {boolean} open
   */
  show(open) {
    this.open = open;
    if (open) this.render();
  }

  /** Build the panel from the store; called only while it is open. */
  render() {}

  /** Build the panel again if it is open. */
  refresh() {
    if (this.open) this.render();
  }
}
