"use strict";
(() => {
  let lit = [];
  const light = (element) => {
    for (const one of lit) one.classList.remove("on");
    lit = [];
    if (!element) return;
    lit = [...document.querySelectorAll(`[data-c="${CSS.escape(element.dataset.c)}"]`)];
    for (const one of lit) one.classList.add("on");
  };
  const mention = (event) => (event.target instanceof Element ? event.target.closest("[data-c]") : null);
  let last = null;
  document.addEventListener("pointerover", (event) => {
    const element = mention(event);
    if (element !== last) { last = element; light(element); }
  });
  document.addEventListener("focusin", (event) => { const element = mention(event); if (element) light(element); });

  const move = (text, way, same) => {
    const all = [...text.querySelectorAll(".m[tabindex]")];
    const here = all.indexOf(document.activeElement);
    const chain = here < 0 ? null : all[here].dataset.c;
    let next = here < 0 ? (way > 0 ? 0 : all.length - 1) : here + way;
    while (same && chain !== null && all[next] && all[next].dataset.c !== chain) next += way;
    if (all[next]) all[next].focus();
  };
  const keys = { ArrowRight: [1, false], ArrowLeft: [-1, false], ArrowDown: [1, true], ArrowUp: [-1, true] };
  for (const text of document.querySelectorAll(".text")) {
    text.addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.key in keys) { event.preventDefault(); move(text, ...keys[event.key]); }
      if (event.key === "Enter" && document.activeElement.dataset.chain) location.hash = document.activeElement.dataset.chain;
    });
  }

  for (const filter of document.querySelectorAll(".filter")) {
    filter.hidden = false;
    const list = document.getElementById(filter.dataset.for);
    const rows = [...list.querySelectorAll("tbody tr")].map((row) => [row, row.textContent.toLowerCase()]);
    const count = filter.querySelector("output");
    const apply = () => {
      const words = filter.querySelector("input[type=search]").value.toLowerCase();
      const wanted = new Set([...filter.querySelectorAll("input:checked")].map((box) => box.value));
      let shown = 0;
      for (const [row, content] of rows) {
        row.hidden = !(wanted.has(row.dataset.reason) && content.includes(words));
        shown += row.hidden ? 0 : 1;
      }
      for (const part of list.querySelectorAll(":scope > details")) {
        const some = [...part.querySelectorAll("tbody tr")].some((row) => !row.hidden);
        part.hidden = !some;
        if (some && shown <= 400 && shown < rows.length) part.open = true;
      }
      count.textContent = `${shown} of ${rows.length} shown`;
    };
    filter.addEventListener("input", apply);
  }

  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1));
    for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
    if (target) target.scrollIntoView({ block: target.offsetHeight > innerHeight / 2 ? "start" : "center" });
  };
  addEventListener("hashchange", reveal);
  reveal();
})();
