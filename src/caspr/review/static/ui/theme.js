"use strict";
// A classic script in the head: the theme must be set before the first paint.
(() => {
  const KEY = "caspr-theme";
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const theme = () => document.documentElement.dataset.theme || (prefersDark.matches ? "dark" : "light");
  const other = () => (theme() === "dark" ? "light" : "dark");
  let stored = null;
  try {
    stored = localStorage.getItem(KEY);
  } catch {
    /* storage may be forbidden; the system's theme applies */
  }
  if (stored === "dark" || stored === "light") document.documentElement.dataset.theme = stored;
  const labelSwitches = () => {
    for (const button of document.querySelectorAll("button[data-theme-switch]")) {
      button.textContent = other() === "light" ? "Light" : "Dark";
      button.setAttribute("title", `Switch to the ${other()} theme`);
    }
  };
  document.addEventListener("DOMContentLoaded", labelSwitches);
  prefersDark.addEventListener("change", labelSwitches);
  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element && event.target.closest("[data-theme-switch]"))) return;
    document.documentElement.dataset.theme = other();
    try {
      localStorage.setItem(KEY, theme());
    } catch {
      /* applies to this page only */
    }
    labelSwitches();
    document.dispatchEvent(new Event("theme"));
  });
})();
