"use strict";
// A classic script in the head: the theme must stand before the first paint.
(() => {
  const key = "caspr-theme";
  const dark = () => matchMedia("(prefers-color-scheme: dark)").matches;
  const now = () => document.documentElement.dataset.theme || (dark() ? "dark" : "light");
  let kept = null;
  try {
    kept = localStorage.getItem(key);
  } catch {
    /* storage may be forbidden; the system's theme holds */
  }
  if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
  const name = () => {
    for (const button of document.querySelectorAll("[data-theme-switch]")) {
      button.textContent = now() === "dark" ? "Light" : "Dark";
      button.title = `Switch to the ${now() === "dark" ? "light" : "dark"} theme`;
    }
  };
  document.addEventListener("DOMContentLoaded", name);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-theme-switch]")) return;
    document.documentElement.dataset.theme = now() === "dark" ? "light" : "dark";
    try {
      localStorage.setItem(key, now());
    } catch {
      /* holds for this page only */
    }
    name();
    document.dispatchEvent(new Event("theme"));
  });
})();
