/** Messages to the reader: a line for screen readers and for the eye, and a banner for what must not be missed. */
import { button, byId, fill, make } from "./dom.js";

const TOAST_DURATION = 6000;

export class Announcer {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #hiding = undefined;

  /**
   * Show a short message for some seconds; a quiet one is only for screen readers.
   * @param {string} text
   */
  say(text, { quiet = false } = {}) {
    const live = byId("live");
    // A screen reader does not read a text again that did not change.
    live.textContent = live.textContent === text ? `${text}\u00a0` : text;
    if (quiet) return;
    const toast = byId("toast");
    toast.textContent = text;
    toast.hidden = false;
    clearTimeout(this.#hiding);
    this.#hiding = setTimeout(() => {
      toast.hidden = true;
    }, TOAST_DURATION);
  }

  /**
   * Show a warning until it is dismissed, hidden or replaced, with a button for what can be done about it.
   * @param {string} text
   * @param {{ label: string, act: () => unknown }} [remedy]
   */
  warn(text, remedy) {
    this.#showBanner("warning", text, remedy ? [button(remedy.label, remedy.act)] : []);
  }

  /**
   * Show an error until it is dismissed, hidden or replaced.
   * @param {string} text
   */
  fail(text) {
    this.#showBanner("error", text, []);
  }

  /** Hide the banner. */
  hideBanner() {
    byId("banner").hidden = true;
  }

  /** Hide the banner unless it shows an error. */
  hideWarning() {
    if (byId("banner").classList.contains("warning")) this.hideBanner();
  }

  /**
   * @param {string} kind
   * @param {string} text
   * @param {HTMLElement[]} buttons
   */
  #showBanner(kind, text, buttons) {
    const banner = byId("banner");
    banner.className = kind;
    const dismiss = button("Dismiss", () => this.hideBanner(), { kind: "quiet" });
    fill(banner, make("p", {}, text), ...buttons, dismiss);
    banner.hidden = false;
  }
}
