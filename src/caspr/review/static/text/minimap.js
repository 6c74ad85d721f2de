/** A strip beside the text: where the highlighted chain, the last changes and the current mention are. */

const COLOURS = ["--ink", "--warn", "--asked-line", "--accent"];

export class Overview {
  #chain = null;
  #frame = null;
  #colours = null;
  #size = { width: 0, height: 0 };

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

  /** Show where the mentions of a chain are. */
  light(chain) {
    if (chain === this.#chain) return;
    this.#chain = chain;
    this.draw();
  }

  /** Draw before the next frame, however often it is asked for: reading sizes and colours makes the browser lay out. */
  draw() {
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = null;
      this.#paint();
    });
  }

  #paint() {
    const { canvas, app } = this;
    const { width, height } = this.#size;
    if (!height) return;
    const ratio = devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    this.#colours ??= COLOURS.map((name) => this.#resolve(name));
    const [ink, warn, asked, accent] = this.#colours;
    const count = Math.max(app.store.state.tokens.length, 1);
    const tick = (id, colour, x, w, h) => {
      pen.fillStyle = colour;
      pen.fillRect(x, ((Number(id.split("-")[0]) - 1) / count) * (height - h), w, h);
    };
    for (const id of app.store.chain(this.#chain)?.mentions ?? []) tick(id, ink, 2, width - 4, 2);
    for (const id of app.step?.mentions ?? []) tick(id, warn, 0, 4, 4);
    for (const id of app.queue?.current?.mentions ?? []) tick(id, asked, width - 5, 5, 4);
    if (app.spot.mention) tick(app.spot.mention, accent, 0, width, 3);
  }

  /** A canvas does not know `var()` and `light-dark()`; an element's computed colour does. */
  #resolve(name) {
    this.canvas.style.color = `var(${name})`;
    return getComputedStyle(this.canvas).color;
  }
}
