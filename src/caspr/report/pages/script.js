"use strict";
(() => {
  /** Highlight the mentions of a chain wherever they are. */
  let highlighted = /** @type {Element[]} */ ([]);
  const highlight = (/** @type {HTMLElement | null} */ mention) => {
    for (const element of highlighted) element.classList.remove("on");
    const chain = mention?.dataset.c;
    highlighted =
      chain === undefined ? [] : [...document.querySelectorAll(`[data-c="${CSS.escape(chain)}"]`)];
    for (const element of highlighted) element.classList.add("on");
  };
  /** @returns {HTMLElement | null} */
  const mentionAt = (/** @type {Event} */ { target }) =>
    target instanceof Element ? target.closest("[data-c]") : null;
  let hovered = /** @type {HTMLElement | null} */ (null);
  document.addEventListener("pointerover", (event) => {
    const mention = mentionAt(event);
    if (mention !== hovered) highlight(mention);
    hovered = mention;
  });
  document.addEventListener("focusin", (event) => {
    const mention = mentionAt(event);
    if (mention) highlight(mention);
  });

  /** Move the focus to the next (1) or previous (-1) mention, of the same chain if asked. */
  const move = (
    /** @type {Element} */ text,
    /** @type {number} */ step,
    /** @type {boolean} */ sameChain,
  ) => {
    const mentions = /** @type {HTMLElement[]} */ ([...text.querySelectorAll(".m[tabindex]")]);
    const here = mentions.findIndex((mention) => mention === document.activeElement);
    const chain = here < 0 ? undefined : mentions[here].dataset.c;
    let next = here >= 0 ? here + step : step > 0 ? 0 : mentions.length - 1;
    if (sameChain && chain !== undefined) {
      while (mentions[next] && mentions[next].dataset.c !== chain) next += step;
    }
    mentions[next]?.focus();
  };
  const keys = new Map([
    ["ArrowRight", { step: 1, sameChain: false }],
    ["ArrowLeft", { step: -1, sameChain: false }],
    ["ArrowDown", { step: 1, sameChain: true }],
    ["ArrowUp", { step: -1, sameChain: true }],
  ]);
  const onKey = (/** @type {Element} */ text, /** @type {KeyboardEvent} */ event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const key = keys.get(event.key);
    if (key) {
      event.preventDefault();
      move(text, key.step, key.sameChain);
    }
    const focused = document.activeElement;
    const chain = focused instanceof HTMLElement ? focused.dataset.chain : undefined;
    if (event.key === "Enter" && chain) location.hash = chain;
  };
  for (const text of document.querySelectorAll(".text")) {
    text.addEventListener("keydown", (event) => onKey(text, /** @type {KeyboardEvent} */ (event)));
  }

  /** Let a filter show only the rows of its list with the chosen reasons and the given words. */
  const connect = (/** @type {HTMLElement} */ filter) => {
    const list = document.getElementById(filter.dataset.for ?? "");
    const search = filter.querySelector("input[type=search]");
    const count = filter.querySelector("output");
    if (!list || !(search instanceof HTMLInputElement) || !count) return;
    const rowsOf = (/** @type {Element} */ part) =>
      /** @type {HTMLTableRowElement[]} */ ([...part.querySelectorAll("tbody tr")]);
    const rows = rowsOf(list).map((row) => ({ row, content: row.textContent.toLowerCase() }));
    const apply = () => {
      const words = search.value.toLowerCase();
      const boxes = /** @type {HTMLInputElement[]} */ ([...filter.querySelectorAll("input:checked")]);
      const reasons = new Set(boxes.map((box) => box.value));
      let shown = 0;
      for (const { row, content } of rows) {
        row.hidden = !(reasons.has(row.dataset.reason ?? "") && content.includes(words));
        shown += row.hidden ? 0 : 1;
      }
      for (const part of list.querySelectorAll("details")) {
        if (part.parentElement !== list) continue;
        part.hidden = rowsOf(part).every((row) => row.hidden);
        if (!part.hidden && shown <= 400 && shown < rows.length) part.open = true;
      }
      count.textContent = `${shown} of ${rows.length} shown`;
    };
    filter.hidden = false;
    filter.addEventListener("input", apply);
  };
  for (const filter of document.querySelectorAll(".filter")) {
    if (filter instanceof HTMLElement) connect(filter);
  }

  /** Open whatever folds the target of the address away, and scroll to it. */
  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1));
    for (let part = target; part; part = part.parentElement) {
      if (part instanceof HTMLDetailsElement) part.open = true;
    }
    target?.scrollIntoView({ block: target.offsetHeight > innerHeight / 2 ? "start" : "center" });
  };
  addEventListener("hashchange", reveal);
  reveal();
})();
