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
 * @returns {{dialog: HTMLDialogElement, setButtons: (buttons: Object[]) => void, close: () => void}}
 */
export function openDialog(title, { body, buttons, onClose = () => {} }) {
  const heading = element("h2", { text: title, id: "dialog-title" });
  const bar = element("div", { class: "bar buttons" });
  const form = element("form", { class: "body" }, ...body);
  const dialog = element("dialog", { "aria-labelledby": "dialog-title" }, element("div", { class: "bar" }, heading), form, bar);
  let primary = null;
  const setButtons = (wanted) => {
    primary = null;
    const made = wanted.map((button) => dialogButton(dialog, button));
    primary = made.find((_, index) => wanted[index].primary) ?? null;
    fill(bar, ...made, element("button", { type: "button", text: "Close", on: { click: () => dialog.close() } }));
  };
  setButtons(buttons);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    primary?.click();
  });
  dialog.addEventListener("close", () => {
    dialog.remove();
    onClose();
  });
  document.body.append(dialog);
  dialog.showModal();
  form.querySelector("input, textarea, select")?.focus();
  return { dialog, setButtons, close: () => dialog.close() };
}

function dialogButton(dialog, { label, primary = false, act }) {
  const click = async () => {
    button.disabled = true;
    const stays = (await act()) === false;
    button.disabled = false;
    if (!stays) dialog.close();
  };
  const button = element("button", { type: "button", class: primary ? "primary" : "", text: label, on: { click } });
  return button;
}
