/** Tabs: one panel at a time, arrows between the tabs. */

export class Tabs {
  #tabs;

  /** `changed` hears which panel was opened. */
  constructor(list, changed = () => {}) {
    this.#tabs = [...list.querySelectorAll("[role=tab]")];
    this.changed = changed;
    list.addEventListener("click", (event) => {
      const tab = event.target.closest("[role=tab]");
      if (tab) this.show(tab.getAttribute("aria-controls"));
    });
    list.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const here = this.#tabs.findIndex((tab) => tab.getAttribute("aria-selected") === "true");
      const next = this.#tabs[(here + step + this.#tabs.length) % this.#tabs.length];
      this.show(next.getAttribute("aria-controls"));
      next.focus();
    });
  }

  /** The id of the panel that is open. */
  get open() {
    return this.#tabs
      .find((tab) => tab.getAttribute("aria-selected") === "true")
      .getAttribute("aria-controls");
  }

  /** Open a panel; `focus` moves the keyboard into it. */
  show(id, { focus = false } = {}) {
    for (const tab of this.#tabs) {
      const on = tab.getAttribute("aria-controls") === id;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = !on;
    }
    this.changed(id);
    const panel = document.getElementById(id);
    if (focus) (panel.querySelector("[data-first]") ?? panel).focus({ preventScroll: true });
  }
}
