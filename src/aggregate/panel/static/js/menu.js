// A small menu at a place, worked by mouse or keys.

import { element } from "./dom.js";

/**
 * Show a menu until something is chosen or it is left; the focus goes back to where it was.
 * @param {{x: number, y: number}} place in the window
 * @param {string} title
 * @param {{label: string, key: string, checked: boolean, act: () => void}[]} items
 */
export function showMenu(place, title, items) {
  const before = document.activeElement;
  const menu = element("div", { class: "menu", role: "menu", "aria-label": title }, element("div", { class: "title", text: title, role: "presentation" }));
  const close = () => {
    if (!menu.isConnected) return;
    menu.remove();
    document.removeEventListener("pointerdown", outside, true);
    before?.focus();
  };
  const outside = (event) => menu.contains(event.target) || close();
  const buttons = items.map((item) =>
    element(
      "button",
      { type: "button", role: "menuitemradio", "aria-checked": item.checked ? "true" : "false", tabindex: "-1", on: { click: () => (close(), item.act()) } },
      element("span", { text: item.label }),
      element("kbd", { text: item.key, "aria-hidden": "true" }),
    ),
  );
  menu.append(...buttons);
  menu.addEventListener("keydown", (event) => {
    event.stopPropagation();
    const here = buttons.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) buttons[(here + step + buttons.length) % buttons.length].focus();
    else if (event.key === "Escape" || event.key === "Tab") close();
    else {
      const chosen = items.findIndex((item) => item.key === event.key);
      if (chosen < 0) return;
      buttons[chosen].click();
    }
    event.preventDefault();
  });
  document.body.append(menu);
  menu.style.left = `${Math.max(4, Math.min(place.x, window.innerWidth - menu.offsetWidth - 8))}px`;
  menu.style.top = `${Math.max(4, Math.min(place.y, window.innerHeight - menu.offsetHeight - 8))}px`;
  document.addEventListener("pointerdown", outside, true);
  buttons[Math.max(0, items.findIndex((item) => item.checked))].focus();
}
