// Keys that work everywhere, and the map of all keys.

import { openDialog } from "./dialogs.js";
import { byId, element, isTyping } from "./dom.js";
import { focusNextPane } from "./panes.js";

const MAP = [
  ["Everywhere", [
    ["F6 / Shift+F6", "Next pane / pane before"],
    ["/", "Filter the files"],
    ["Alt+T", "Task"],
    ["Ctrl+Z / Ctrl+Shift+Z", "Undo / redo"],
    ["Ctrl+S", "Save the draft into the configuration"],
    ["Alt+R", "Run: write the prompt"],
    ["Alt+C", "Copy the prompt"],
    ["Alt+M", "Send with a question"],
    ["?", "This map"],
  ]],
  ["Lists", [
    ["↑ ↓ PgUp PgDn Home End", "Move"],
    ["Shift+↑ ↓", "Select on the way"],
    ["Enter", "Open, or go to the origin"],
  ]],
  ["Files", [
    ["1–7, 0", "Set a view for what is selected; 0 takes out"],
    ["Space, Ctrl+A, Esc", "Select one more, all, none"],
    ["← →", "Close and open folders"],
  ]],
  ["Source", [
    ["d s h x", "The definition here: in full, signature, hidden, no mask"],
    ["n p", "Next definition, the one before"],
    ["Shift+↑ ↓, then Enter", "Make a slice of the lines"],
    ["g", "Show the line in the prompt"],
    ["Esc", "Close the file"],
  ]],
  ["Prompt", [
    ["← → Space", "Fold, unfold, toggle the section"],
    ["Enter", "Open the origin in the middle"],
  ]],
];

/** Make the global keys work. */
export function watchKeys(actions) {
  byId("keys").addEventListener("click", showKeys);
  window.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]")) return;
    const action = actionOf(event, actions);
    if (!action) return;
    event.preventDefault();
    action();
  });
}

function actionOf(event, actions) {
  const control = event.ctrlKey || event.metaKey;
  const key = event.key.toLowerCase();
  if (key === "f6") return () => focusNextPane(event.shiftKey ? -1 : 1);
  if (control && key === "s") return () => actions.save();
  if (event.altKey && !control) return { r: () => actions.run(), c: () => actions.copy(), m: () => actions.send(), t: () => byId("task").focus() }[key];
  if (isTyping(event.target)) return null;
  if (control && key === "z") return () => (event.shiftKey ? actions.redo() : actions.undo());
  if (control && key === "y") return () => actions.redo();
  if (control) return null;
  if (event.key === "?") return showKeys;
  if (event.key === "/") return () => byId("filter").focus();
  return null;
}

function showKeys() {
  const groups = MAP.map(([title, rows]) =>
    element(
      "div",
      {},
      element("h3", { text: title }),
      element("table", { class: "keys" }, element("tbody", {}, ...rows.map(([keys, meaning]) => element("tr", {}, element("th", { scope: "row" }, element("kbd", { text: keys })), element("td", { text: meaning }))))),
    ),
  );
  openDialog("Keys", { body: groups, buttons: [] });
}
