// The source of a file, line by line: definitions to mask, lines to drag over, slices and secrets marked.

import { element, fill } from "./dom.js";
import { visible } from "./format.js";
import { showMenu } from "./menu.js";
import { VirtualList } from "./virtual_list.js";

export const LINE = 18; // pixels; panel.css has the same
const LONGEST = 2000; // characters of a line that are drawn: a minified file would stop the page
const MASKS = [
  ["def", "d", "in full"],
  ["sig", "s", "signature only"],
  ["hide", "h", "hidden"],
  ["", "x", "as the view has it"],
];

/** A text as it is drawn: cut, and what a browser shows as nothing made visible. */
function drawable(text) {
  if (text.length <= LONGEST) return visible(text);
  return `${visible(text.slice(0, LONGEST))} … (${text.length - LONGEST} more characters)`;
}

/** A line as it is drawn, in spans of the server's colours: `k3 .1` are three characters of class `k` and one of none. */
export function coloured(text, colours) {
  if (!colours || text.length > LONGEST) return [drawable(text)];
  const characters = Array.from(text); // as the server counts them
  const spans = colours.split(" ").map((run) => element("span", { class: run[0], text: visible(characters.splice(0, Number(run.slice(1))).join("")) }));
  return [...spans, visible(characters.join(""))];
}

export class SourceLines {
  /**
   * @param {HTMLElement} box
   * @param {import("./project.js").Project} project
   * @param {Object} on
   * @param {(first: number, last: number) => void} on.selected lines were dragged over
   * @param {(line: number) => void} on.pointed the pointer or the cursor is on a line
   * @param {(line: number) => void} on.clicked
   * @param {() => void} on.scrolled
   */
  constructor(box, project, on) {
    this.box = box;
    this.project = project;
    this.on = on;
    this.selection = null;
    this.linked = 0;
    this.drag = null;
    this.list = new VirtualList(box, {
      rowHeight: LINE,
      draw: (row, index) => this.#draw(row, index + 1),
      onCursor: (index, how) => this.#moved(index + 1, how),
      onScroll: () => on.scrolled(),
    });
    this.#watchPointer();
    box.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Take a file (FileData), or another version of it. */
  show(file) {
    this.file = file;
    this.definitions = new Map();
    for (const definition of file.definitions) if (!this.definitions.has(definition.start)) this.definitions.set(definition.start, definition);
    this.list.setCount(file.source.length);
  }

  /** Put the cursor on a line and bring it into sight. */
  goTo(line) {
    this.list.setCursor(line - 1, { reveal: false });
    this.list.reveal(line - 1);
  }

  /** Mark the line that another pane points at; 0 for none. */
  link(line) {
    const before = this.linked;
    this.linked = line;
    this.list.refreshRow(before - 1);
    this.list.refreshRow(line - 1);
  }

  /** Take the selection of lines away. */
  clearSelection() {
    this.selection = null;
    this.list.refresh();
  }

  #draw(row, line) {
    const { file } = this;
    const definition = this.definitions.get(line);
    const around = file.slices.filter((slice) => slice.start <= line && line <= slice.end);
    const hidden = file.mode === "masked" && file.definitions.some((each) => each.mask === "hide" && each.start <= line && line <= each.end);
    const { selection } = this;
    const selected = selection !== null && selection.first <= line && line <= selection.last;
    row.classList.toggle("linked", line === this.linked);
    row.classList.toggle("sliced", around.some((slice) => slice.state !== "stale"));
    row.classList.toggle("stale-slice", around.some((slice) => slice.state === "stale"));
    row.classList.toggle("candidate", file.slices.some(({ candidate }) => candidate && candidate.start <= line && line <= candidate.end));
    row.classList.toggle("secret", file.redacted.some(([first, last]) => first <= line && line <= last));
    row.classList.toggle("definition", definition !== undefined);
    row.classList.toggle("hidden-definition", hidden);
    row.setAttribute("aria-selected", String(selected));
    fill(
      row,
      element("span", { class: "number", role: "gridcell", text: String(line) }),
      maskBadge(definition),
      element("span", { class: "text", role: "gridcell" }, ...coloured(file.source[line - 1], file.colours[line - 1])),
    );
    row.title = definition ? `${definition.kind} ${definition.name}: click to show in full, as signature, or hide` : around.map((slice) => `slice ${slice.tag}`).join(", ");
  }

  #watchPointer() {
    const lineAt = (event) => this.list.indexOf(document.elementFromPoint(event.clientX, event.clientY)) + 1;
    this.box.addEventListener("pointerdown", (event) => {
      const line = this.list.indexOf(event.target) + 1;
      if (event.button !== 0 || line === 0) return;
      this.drag = { from: line, to: line, moved: false, x: event.clientX, y: event.clientY };
    });
    this.box.addEventListener("pointermove", (event) => {
      const line = lineAt(event);
      if (line === 0) return;
      if (!this.drag) return this.on.pointed(line);
      if (line === this.drag.to) return;
      this.drag.to = line;
      this.drag.moved = true;
      this.#select(this.drag.from, line);
    });
    this.box.addEventListener("pointerleave", () => this.on.pointed(0));
    window.addEventListener("pointerup", (event) => this.#release(event));
  }

  #release(event) {
    const { drag } = this;
    this.drag = null;
    if (!drag) return;
    if (drag.moved) return this.on.selected(this.selection.first, this.selection.last);
    if (event.shiftKey && this.list.cursor >= 0) {
      this.#select(this.list.cursor + 1, drag.from);
      return this.on.selected(this.selection.first, this.selection.last);
    }
    this.clearSelection();
    this.list.setCursor(drag.from - 1);
    this.keyAnchor = drag.from;
    const definition = this.definitions.get(drag.from);
    if (definition) this.#menu(definition, { x: drag.x, y: drag.y + LINE / 2 });
    this.on.clicked(drag.from);
  }

  #select(from, to) {
    this.selection = { first: Math.min(from, to), last: Math.max(from, to), from };
    this.list.refresh();
  }

  #moved(line, { shift }) {
    if (shift) this.#select(this.selection?.from ?? this.keyAnchor ?? line, line);
    else if (this.selection) this.clearSelection();
    if (!shift) this.keyAnchor = line;
    this.on.pointed(line);
  }

  #key(event) {
    if (event.target !== this.box || event.altKey || event.ctrlKey || event.metaKey) return;
    const line = this.list.cursor + 1;
    const mask = MASKS.find(([, key]) => key === event.key);
    const definition = this.#definitionAt(line);
    if (mask && definition) this.#mask(definition, mask[0]);
    else if (event.key === "Enter" && this.selection) this.on.selected(this.selection.first, this.selection.last);
    else if (event.key === "Enter" && this.definitions.has(line)) this.#menu(this.definitions.get(line), this.#placeOf(line));
    else if (event.key === "g" && line > 0) this.on.clicked(line);
    else if (event.key === "Escape" && this.selection) this.clearSelection();
    else if (event.key === "n" || event.key === "p") this.#nextDefinition(line, event.key === "n" ? 1 : -1);
    else return;
    event.preventDefault();
  }

  // The innermost definition around a line: the last one in the file's order that holds it.
  #definitionAt(line) {
    return this.file?.definitions.findLast(({ start, end }) => start <= line && line <= end);
  }

  #nextDefinition(line, direction) {
    const starts = [...this.definitions.keys()].sort((left, right) => left - right);
    const next = direction > 0 ? starts.find((start) => start > line) : starts.findLast((start) => start < line);
    if (next) this.list.moveCursor(next - 1, { key: true });
  }

  #placeOf(line) {
    const row = this.list.rows.get(line - 1)?.getBoundingClientRect() ?? this.box.getBoundingClientRect();
    return { x: row.left + 60, y: row.bottom };
  }

  #menu(definition, place) {
    const items = MASKS.map(([mask, key, meaning]) => ({
      label: mask ? `${mask}: ${meaning}` : `no mask: ${meaning}`,
      key,
      checked: definition.mask === mask,
      act: () => this.#mask(definition, mask),
    }));
    showMenu(place, `${definition.kind} ${definition.name}, lines ${definition.start}–${definition.end}`, items);
  }

  async #mask(definition, mask) {
    const { path } = this.file;
    const edits = [{ op: "mask", path, name: definition.name, mask }];
    const taken = await this.project.edit(...edits);
    if (taken) this.project.say(`${definition.name}: ${mask || "no mask"}.`);
  }
}

function maskBadge(definition) {
  if (!definition) return element("span", { class: "mask none", "aria-hidden": "true" });
  return element("span", { class: `mask ${definition.mask ? "set" : ""}`, role: "gridcell", text: definition.mask || "ƒ", "aria-label": `${definition.kind} ${definition.name}, ${definition.mask || "no mask"}` });
}
