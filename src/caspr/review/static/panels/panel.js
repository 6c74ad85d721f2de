/** A panel that is built only while it is open. */
/** @import { App } from "../app.js" */

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
