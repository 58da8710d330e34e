// Dialogs: the browser's own element, which keeps the focus inside and gives it back.

import { element, fill } from "./dom.js";

/**
 * Open a dialog.
 * @param {string} title
 * @param {Object} content
 * @param {(Node|null)[]} content.body
 * @param {{label: string, primary?: boolean, act: () => (boolean|void|Promise<boolean|void>)}[]} content.buttons beside
 *   Close; a button closes the dialog unless its `act` answers false
 * @param {() => void} [content.onClose]
 * @returns {{setButtons: (buttons: Object[]) => void, isOpen: () => boolean}}
 */
export function openDialog(title, { body, buttons, onClose = () => {} }) {
  const heading = element("h2", { text: title, id: "dialog-title" });
  const bar = element("div", { class: "bar buttons" });
  const form = element("form", {}, element("div", { class: "bar" }, heading), element("div", { class: "body" }, ...body), element("p", { class: "said", role: "alert" }), bar);
  const dialog = element("dialog", { "aria-labelledby": "dialog-title" }, form);
  const close = element("button", { type: "button", text: "Close", on: { click: () => dialog.close() } });
  const setButtons = (wanted) => {
    const hadFocus = bar.contains(document.activeElement);
    form.onsubmit = (event) => event.preventDefault();
    const made = wanted.map((button) => dialogButton(dialog, form, button));
    fill(bar, ...made, close);
    if (hadFocus) close.focus(); // where the next Enter neither sends nor drops anything
  };
  setButtons(buttons);
  dialog.addEventListener("close", () => {
    dialog.remove();
    onClose();
  });
  document.body.append(dialog);
  dialog.showModal();
  (form.querySelector("input, textarea, select") ?? close).focus(); // never a button that drops or writes something
  return { setButtons, isOpen: () => dialog.open };
}

/** Say in the dialog that is open, if one is, what went wrong: the status line lies behind it. */
export function sayInDialog(sentence) {
  const line = document.querySelector("dialog[open] .said");
  if (line) line.textContent = sentence;
}

// The primary button is the form's own, so that Enter in a field counts and fields that must be filled are asked for.
function dialogButton(dialog, form, { label, primary = false, act }) {
  const button = element("button", { type: primary ? "submit" : "button", class: primary ? "primary" : "", text: label });
  const run = async (event) => {
    event.preventDefault();
    if (button.ariaDisabled) return;
    button.ariaDisabled = "true"; // not `disabled`, which would take the focus out of the dialog
    sayInDialog("");
    try {
      if ((await act()) !== false) dialog.close();
    } finally {
      button.ariaDisabled = null;
    }
  };
  if (primary) form.onsubmit = run;
  else button.addEventListener("click", run);
  return button;
}
