/** A strip beside the text: where the highlighted chain, the last changes and the current mention are. */

export class Overview {
  #chain = null;

  constructor(canvas, app) {
    this.canvas = canvas;
    this.app = app;
    canvas.addEventListener("click", (event) => {
      const { root } = app.text;
      root.scrollTop = (event.offsetY / canvas.clientHeight) * root.scrollHeight - root.clientHeight / 2;
    });
    new ResizeObserver(() => this.draw()).observe(canvas);
    document.addEventListener("theme", () => this.draw());
  }

  /** Show where the mentions of a chain are. */
  light(chain) {
    if (chain === this.#chain) return;
    this.#chain = chain;
    this.draw();
  }

  draw() {
    const { canvas, app } = this;
    const ratio = devicePixelRatio || 1;
    const height = canvas.clientHeight;
    const width = canvas.clientWidth;
    if (!height) return;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const ink = (name) => {
      canvas.style.color = `var(${name})`;
      return getComputedStyle(canvas).color;
    };
    const count = Math.max(app.store.state.tokens.length, 1);
    const tick = (id, colour, x, w, h) => {
      pen.fillStyle = colour;
      pen.fillRect(x, ((Number(id.split("-")[0]) - 1) / count) * (height - h), w, h);
    };
    for (const id of app.store.chain(this.#chain)?.mentions ?? []) tick(id, ink("--ink"), 2, width - 4, 2);
    for (const id of app.step?.mentions ?? []) tick(id, ink("--warn"), 0, 4, 4);
    for (const id of app.queue?.current?.mentions ?? []) tick(id, ink("--asked-line"), width - 5, 5, 4);
    if (app.spot.mention) tick(app.spot.mention, ink("--accent"), 0, width, 3);
  }
}
