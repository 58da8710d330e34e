// The three panes: their widths, moved by mouse or keys and kept in the browser, and going from one to the next.

import { byId } from "./dom.js";

const NARROWEST = 15; // percent of the window: below this a pane shows nothing of use
const STEP = 2; // percent for one press of an arrow key
const USUAL = { left: 27, right: 35 }; // percent; panel.css has the same
const USUAL_NARROW = { left: 30, right: 36 }; // percent of a window of at most 1100 pixels, likewise
const PANES = ["tree", "source", "prompt"];

/** Make the two separators work. */
export function watchSplitters() {
  watchSplitter(byId("split-left"), "left", (x, width) => (100 * x) / width);
  watchSplitter(byId("split-right"), "right", (x, width) => 100 - (100 * x) / width);
}

function watchSplitter(splitter, name, percentAt) {
  const panes = byId("panes");
  const bounded = (percent) => Math.round(Math.max(NARROWEST, Math.min(most(), percent)) * 10) / 10;
  const most = () => 100 - NARROWEST - widthOf(name === "left" ? "right" : "left");
  const describe = (percent) => {
    splitter.setAttribute("aria-valuenow", String(Math.round(percent)));
    splitter.setAttribute("aria-valuemin", String(NARROWEST));
    splitter.setAttribute("aria-valuemax", String(Math.round(most())));
  };
  const set = (percent) => {
    panes.style.setProperty(`--${name}`, `${bounded(percent)}%`);
    localStorage.setItem(`width ${name}`, String(bounded(percent)));
    describe(bounded(percent));
  };
  const forget = () => {
    panes.style.removeProperty(`--${name}`);
    localStorage.removeItem(`width ${name}`);
    describe(widthOf(name));
  };
  if (keptWidth(name) === null) describe(widthOf(name));
  else set(widthOf(name));
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
  splitter.addEventListener("dblclick", forget);
  splitter.addEventListener("keydown", (event) => {
    const direction = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!direction) return;
    event.preventDefault();
    set(widthOf(name) + direction * STEP * (name === "left" ? 1 : -1));
  });
}

// Only what the user has chosen is kept: what is usual follows the width of the window.
function keptWidth(name) {
  const kept = Number(localStorage.getItem(`width ${name}`));
  return kept >= NARROWEST && kept <= 100 - 2 * NARROWEST ? kept : null;
}

function widthOf(name) {
  const usual = window.innerWidth <= 1100 ? USUAL_NARROW : USUAL;
  return keptWidth(name) ?? usual[name];
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
