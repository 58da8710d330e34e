// Make elements. Every text goes in as text: nothing in the panel parses markup, so that names and
// contents of a project's files stay what they are.

/**
 * Return a new element.
 * @param {string} tag
 * @param {Object} [properties] `class`, `text`, `on` ({event: listener}), `data` ({name: value}); the
 *   rest are attributes: true sets an empty one, false, null and undefined none.
 * @param {...(Node|string|null)} children strings become text nodes; null is left out.
 */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class") made.className = value;
    else if (name === "text") made.textContent = value;
    else if (name === "on") for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    else if (name === "data") Object.assign(made.dataset, value);
    else setAttribute(made, name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Set an attribute: true as an empty one, false, null and undefined by taking it away. */
export function setAttribute(target, name, value) {
  if (value === false || value === null || value === undefined) target.removeAttribute(name);
  else target.setAttribute(name, value === true ? "" : String(value));
}

/** Put these children in place of what the element holds. */
export function fill(target, ...children) {
  target.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
}

/** Return the element with this id; the page's own markup has it. */
export function byId(id) {
  return document.getElementById(id);
}

/** Whether keys typed now belong to a field that edits text. */
export function isTyping(target) {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "range", "button"].includes(target.type);
}
