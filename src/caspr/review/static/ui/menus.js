/** Menus of the head: one that is open closes with Escape, and with a click anywhere else. */
import { around, find } from "./dom.js";

const openMenus = () => /** @type {HTMLDetailsElement[]} */ ([...document.querySelectorAll(".menu[open]")]);

/** Close the open menu, with the keyboard back on its button; return whether there was one. */
export function closeMenu() {
  const [menu] = openMenus();
  if (menu) {
    menu.open = false;
    find(menu, "summary")?.focus();
  }
  return menu !== undefined;
}

export function listenToMenus() {
  document.addEventListener("click", (event) => {
    const own = around(event, ".menu-list a, .menu-list button") ? null : around(event, ".menu");
    for (const menu of openMenus()) if (menu !== own) menu.open = false;
  });
}
