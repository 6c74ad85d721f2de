/** A strip beside the text: where the highlighted chain, the last changes and the current mention are. */
import { spanOf } from "../state/tokens.js";
/** @import { App } from "../app.js" */
/** @import { ChainId, MentionId } from "../state/types.js" */

const COLOURS = ["--ink", "--warn", "--asked-line", "--accent"];

export class Minimap {
  /** @type {ChainId | null} */
  #chain = null;
  #scheduled = false;
  /** @type {string[] | null} */
  #colours = null;
  #size = { width: 0, height: 0 };

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {App} app
   */
  constructor(canvas, app) {
    this.canvas = canvas;
    this.app = app;
    canvas.addEventListener("click", (event) => {
      const { root } = app.text;
      root.scrollTop = (event.offsetY / this.#size.height) * root.scrollHeight - root.clientHeight / 2;
    });
    new ResizeObserver(([{ contentRect }]) => {
      this.#size = contentRect;
      this.draw();
    }).observe(canvas);
    const repaint = () => {
      this.#colours = null;
      this.draw();
    };
    document.addEventListener("theme", repaint);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  }

  /**
   * Show where the mentions of a chain are.
   * @param {ChainId | null} chain
   */
  highlight(chain) {
    if (chain === this.#chain) return;
    this.#chain = chain;
    this.draw();
  }

  /** Draw before the next frame, once for all calls: reading sizes and colours makes the browser lay out. */
  draw() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame(() => {
      this.#scheduled = false;
      this.#paint();
    });
  }

  #paint() {
    const { canvas, app } = this;
    const { width, height } = this.#size;
    const pen = canvas.getContext("2d");
    if (!height || !pen) return;
    const ratio = devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    pen.scale(ratio, ratio);
    this.#colours ??= COLOURS.map((name) => this.#resolve(name));
    const [ink, warn, asked, accent] = this.#colours;
    const count = Math.max(app.store.state.tokens.length, 1);
    /** @type {(id: MentionId, colour: string, x: number, w: number, h: number) => void} */
    const tick = (id, colour, x, w, h) => {
      pen.fillStyle = colour;
      pen.fillRect(x, ((spanOf(id).start - 1) / count) * (height - h), w, h);
    };
    for (const id of app.store.chain(this.#chain)?.mentions ?? []) tick(id, ink, 2, width - 4, 2);
    for (const id of app.lastChange.mentions) tick(id, warn, 0, 4, 4);
    for (const id of app.queue.asked) tick(id, asked, width - 5, 5, 4);
    if (app.selection.mention) tick(app.selection.mention, accent, 0, width, 3);
  }

  /**
   * A canvas does not know `var()` and `light-dark()`; the computed colour of an element does.
   * @param {string} name
   */
  #resolve(name) {
    this.canvas.style.color = `var(${name})`;
    return getComputedStyle(this.canvas).color;
  }
}
