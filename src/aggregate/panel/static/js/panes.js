// The three panes: their widths, moved by mouse or keys and kept in the browser, and going from one to the next.

import { byId } from "./dom.js";

const NARROWEST = 15; // percent of the window: below this a pane shows nothing of use
const STEP = 2; // percent for one press of an arrow key
const PANES = ["tree", "source", "prompt"];

/** Make the two separators work. */
export function watchSplitters() {
  watchSplitter(byId("split-left"), "left", 27, (x, width) => (100 * x) / width);
  watchSplitter(byId("split-right"), "right", 35, (x, width) => 100 - (100 * x) / width);
}

function watchSplitter(splitter, name, usual, percentAt) {
  const panes = byId("panes");
  const set = (percent) => {
    const other = name === "left" ? widthOf("right", 35) : widthOf("left", 27);
    const bounded = Math.round(Math.max(NARROWEST, Math.min(100 - NARROWEST - other, percent)) * 10) / 10;
    panes.style.setProperty(`--${name}`, `${bounded}%`);
    splitter.setAttribute("aria-valuenow", String(Math.round(bounded)));
    splitter.setAttribute("aria-valuemin", String(NARROWEST));
    splitter.setAttribute("aria-valuemax", String(Math.round(100 - NARROWEST - other)));
    localStorage.setItem(`width ${name}`, String(bounded));
  };
  set(widthOf(name, usual));
  splitter.addEventListener("pointerdown", (down) => {
    splitter.setPointerCapture(down.pointerId);
    splitter.classList.add("dragged");
    const move = (event) => set(percentAt(event.clientX, window.innerWidth));
    splitter.addEventListener("pointermove", move);
    splitter.addEventListener("lostpointercapture", () => {
      splitter.removeEventListener("pointermove", move);
      splitter.classList.remove("dragged");
    }, { once: true });
  });
  splitter.addEventListener("dblclick", () => set(usual));
  splitter.addEventListener("keydown", (event) => {
    const direction = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!direction) return;
    event.preventDefault();
    set(widthOf(name, usual) + direction * STEP * (name === "left" ? 1 : -1));
  });
}

function widthOf(name, usual) {
  const kept = Number(localStorage.getItem(`width ${name}`));
  return kept >= NARROWEST && kept <= 100 - 2 * NARROWEST ? kept : usual;
}

/** Move the focus to the list of the next pane, or of the one before. */
export function focusNextPane(direction) {
  const here = PANES.findIndex((name) => byId(name).closest(".pane").contains(document.activeElement));
  for (let step = 1; step <= PANES.length; step++) {
    const next = byId(PANES[(here + direction * step + 2 * PANES.length) % PANES.length]);
    if (next.offsetParent === null) continue;
    next.focus();
    return;
  }
}

/** Make the tabs of the right pane work: arrows move, and a tab shows its panel. */
export function watchTabs(onShow) {
  const tabs = [...byId("tabs").querySelectorAll("[role=tab]")];
  const show = (tab) => {
    for (const other of tabs) {
      const on = other === tab;
      other.setAttribute("aria-selected", String(on));
      other.tabIndex = on ? 0 : -1;
      byId(other.getAttribute("aria-controls")).hidden = !on;
    }
    onShow(tab.id.slice("tab-".length));
  };
  for (const tab of tabs) tab.addEventListener("click", () => show(tab));
  byId("tabs").addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const here = tabs.indexOf(document.activeElement);
    if (!step || here < 0) return;
    const next = tabs[(here + step + tabs.length) % tabs.length];
    next.focus();
    show(next);
  });
  return (name) => show(byId(`tab-${name}`));
}

/** Follow the choice of colours: the system's, light or dark. */
export function watchTheme() {
  const choice = byId("theme");
  const apply = () => {
    if (choice.value === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choice.value;
    localStorage.setItem("theme", choice.value);
    window.dispatchEvent(new Event("themechange"));
  };
  choice.value = localStorage.getItem("theme") ?? "auto";
  if (choice.selectedIndex < 0) choice.value = "auto";
  choice.addEventListener("change", apply);
  apply();
}
