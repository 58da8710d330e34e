// The cells of a row of the tree, after its name.

import { element } from "./dom.js";
import { counted, short, whole } from "./format.js";
import { VIEW_MEANINGS } from "./view_names.js";

const STATE_SIGNS = { changed: "●", stale: "◌", error: "✖", secret: "◆", generated: "⚙", binary: "▦" };
const BAD_STATES = { error: "bad", secret: "bad", stale: "warn" };

/** The cell of a node's view: what the prompt shows, or what was just asked for. */
export function view(node, asked) {
  if (node.children) return folderView(node);
  if (asked) return element("span", { role: "gridcell", class: "view-name asked", data: { view: asked.mode }, text: `${asked.mode}…`, title: `${asked.mode}: the prompt is being composed` });
  if (!node.view) return element("span", { role: "gridcell", class: "quiet", text: "out" });
  const pinned = node.mode && node.mode !== node.view ? ` (asked for: ${node.mode})` : "";
  return element("span", { role: "gridcell", class: "view-name", data: { view: node.view }, text: node.view, title: `${node.view}${pinned}: ${VIEW_MEANINGS[node.view] ?? "shown"}` });
}

// A folder tells how many of its files are in; where all are, and alike, it has their view.
function folderView({ view, files, entered }) {
  const title = `${whole(entered)} of ${counted(files, "file")} in the prompt`;
  if (entered === files && view) return element("span", { role: "gridcell", class: "view-name", data: { view }, text: view, title });
  return element("span", { role: "gridcell", class: "quiet share", text: entered === 0 ? "out" : `${short(entered)} of ${short(files)}`, title });
}

/** The cell of a number of tokens, empty for none. */
export function number(value, name) {
  return element("span", { role: "gridcell", class: `number ${name}`, text: value === 0 ? "" : short(value), title: value === 0 ? null : whole(value) });
}

/** The cell of a score. They fall steeply: by their root the bars of the second and the tenth file can still be told apart. */
export function score(node, most) {
  const cell = element("span", { role: "gridcell", class: "score-cell" });
  if (node.score === null) return cell;
  const bar = element("span", { class: "score", "aria-hidden": "true" });
  bar.style.width = `max(1px, ${Math.round(100 * Math.sqrt(node.score / (most || 1)))}%)`;
  cell.append(bar, element("span", { class: "hidden", text: node.score.toFixed(2) }));
  cell.title = `Score ${node.score.toFixed(3)}`;
  return cell;
}

/** The cell of what is to be seen of a file at a glance. */
export function state(node) {
  const cell = element("span", { role: "gridcell" });
  if (!node.state) return cell;
  const sign = element("span", { text: STATE_SIGNS[node.state] ?? "•", "aria-hidden": "true" });
  const word = element("span", { class: "word", text: ` ${node.state}` });
  cell.append(element("span", { class: `pill ${BAD_STATES[node.state] ?? ""}`, title: node.state }, sign, word));
  return cell;
}
