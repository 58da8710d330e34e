// The left pane: the tree of files, its filter, sort and selection, and setting the view of what is selected.

import { byId, element, fill } from "./dom.js";
import { counted, visible, whole } from "./format.js";
import { number, score, state, view } from "./tree_cells.js";
import { VIEW_MEANINGS, sentenceOf } from "./view_names.js";
import { VirtualList } from "./virtual_list.js";

const ROW = 22; // pixels; panel.css has the same
const HEADER = 25; // pixels, likewise
const COLUMNS = [
  ["name", "Name", "Path"],
  ["view", "View", "View mode or level in the prompt"],
  ["tokens", "Tokens", "Tokens in the prompt"],
  ["whole", "Whole", "Tokens of the whole file"],
  ["score", "Score", "How relevant to the task"],
  ["state", "State", "Changed since the last prompt, stale slice, error, secret found, generated, binary"],
];
const INDENT = 12; // pixels of a level
const MOST_INDENTS = 9; // levels: further ones would leave no room for names in a narrow pane
const SMALL_PROJECT = 60; // files: so many rows are looked through at a glance, so that all folders are open
const MOST_OPENED = 120; // rows that opening folders by ourselves may make of a large one: about three screens
const RISING = new Set(["name", "view", "state"]); // the others begin with the largest

/** The views that keys set: 1 to 7 in the server's order, 0 takes files out. */
export function viewKeys(views) {
  return [...views.map((view, index) => ({ key: String(index + 1), view })), { key: "0", view: "out" }];
}

export class TreePane {
  constructor(project) {
    this.project = project;
    this.tree = project.tree;
    this.rows = [];
    this.selected = new Set();
    this.anchor = -1;
    this.isRanked = false; // whether the files have scores
    this.isArranged = false; // whether the folders are opened as they should be at first, or by the user
    this.box = byId("tree");
    this.box.append(this.#header());
    this.list = new VirtualList(this.box, {
      rowHeight: ROW,
      headerHeight: HEADER,
      draw: (row, index) => this.#draw(row, this.rows[index], index),
      onCursor: (index, how) => this.#moved(index, how),
    });
    this.box.addEventListener("click", (event) => this.#click(event));
    this.box.addEventListener("dblclick", (event) => this.#openAt(this.list.indexOf(event.target)));
    this.box.addEventListener("keydown", (event) => this.#key(event));
    byId("filter").addEventListener("input", () => this.#filter());
    byId("filter").addEventListener("keydown", (event) => {
      if (event.key !== "ArrowDown" && event.key !== "Enter") return;
      event.preventDefault();
      this.box.focus();
    });
    byId("flat").addEventListener("change", (event) => {
      this.tree.flat = event.target.checked;
      this.show();
    });
    project.addEventListener("files", () => this.#arrived());
    project.addEventListener("state", () => this.#buttons());
    project.addEventListener("file", () => this.list.refresh());
  }

  /** Show the rows anew, the cursor on the file that it was on. */
  show() {
    const at = this.rows[this.list.cursor];
    this.rows = this.tree.rows();
    this.list.setCount(this.rows.length);
    const index = at ? this.rows.findIndex((node) => node.path === at.path) : -1; // a new table has nodes of its own
    this.list.setCursor(index >= 0 ? index : Math.min(0, this.rows.length - 1), { reveal: false });
    if (this.anchor < 0 || this.anchor >= this.rows.length) this.anchor = this.list.cursor;
    const matched = [...this.tree.files.values()].filter((file) => file.visible).length;
    const all = this.tree.files.size;
    byId("tree-empty").hidden = matched > 0;
    byId("tree-empty").textContent = all ? "No file matches the filter: take words out of it." : "There is no file here yet. What you save into the folder appears at once.";
    byId("tree-count").textContent = matched === all ? counted(all, "file") : `${whole(matched)} of ${counted(all, "file")}`;
  }

  /** Bring a file into sight. */
  reveal(path) {
    this.tree.openTo(path);
    this.show();
    const index = this.rows.findIndex((node) => node.path === path);
    if (index < 0) return;
    this.list.setCursor(index, { reveal: false });
    this.list.reveal(index);
  }

  #arrived() {
    if (!this.isArranged) this.#openWhatIsIn();
    if (this.isRanked !== (this.tree.root.score !== null)) this.#rank();
    this.box.classList.toggle("scored", this.tree.root.score !== null);
    this.box.classList.toggle("marked", [...this.tree.files.values()].some((file) => file.state));
    for (const path of this.selected) if (!this.tree.files.has(path)) this.selected.delete(path);
    this.show();
  }

  // A small project is shown whole, of a large one the folders with what is in the prompt, once there is a prompt.
  #openWhatIsIn() {
    const isSmall = this.tree.files.size <= SMALL_PROJECT;
    if (isSmall) for (const folder of this.tree.folders.values()) this.tree.setOpen(folder, true);
    const { entered, files } = this.tree.root;
    const isChosen = entered > 0 && 2 * entered < files; // where most are in, as with a task alone, none tells more than others
    if (!isSmall && isChosen) this.tree.openEntered(MOST_OPENED);
    this.isArranged = isSmall ? files > 0 : isChosen;
  }

  // While there is a task the likeliest files come first, which closed folders would hide.
  #rank() {
    this.isRanked = this.tree.flat = byId("flat").checked = !this.isRanked;
    this.#sort(this.isRanked ? "score" : "name", false);
    this.list.scrollTo(0);
  }

  #filter() {
    this.tree.filter = byId("filter").value;
    this.show();
  }

  #header() {
    const cells = COLUMNS.map(([name, label, title]) =>
      element(
        "div",
        { role: "columnheader", class: ["tokens", "whole"].includes(name) ? `number ${name}` : "", data: { column: name }, "aria-sort": name === "name" ? "ascending" : "none" },
        element("button", { type: "button", text: label, class: `${name}-head`, title: `Sort by ${title.toLowerCase()}`, on: { click: () => this.#sort(name) } }),
      ),
    );
    return element("div", { role: "rowgroup", class: "headers" }, element("div", { role: "row", class: "header" }, ...cells));
  }

  #sort(name, reversed = this.tree.order === name && !this.tree.reversed) {
    this.tree.reversed = reversed;
    this.tree.order = name;
    for (const cell of this.box.querySelectorAll("[role=columnheader]")) {
      const rises = RISING.has(name) !== this.tree.reversed;
      cell.setAttribute("aria-sort", cell.dataset.column !== name ? "none" : rises ? "ascending" : "descending");
    }
    this.show();
  }

  #draw(row, node, index) {
    const folder = node.children !== null;
    const open = folder && this.tree.isOpen(node);
    row.setAttribute("aria-level", String(this.tree.flat ? 1 : node.depth + 1));
    if (folder) row.setAttribute("aria-expanded", String(open));
    else row.removeAttribute("aria-expanded");
    row.setAttribute("aria-selected", String(this.#isSelected(node)));
    row.classList.toggle("out", node.tokens === 0 && !folder);
    row.classList.toggle("opened", this.project.file?.path === node.path);
    row.title = folder ? `${node.path}: ${counted(node.files, "file")}` : node.why ? `${node.path}: ${node.why}` : node.path;
    const name = element(
      "span",
      { class: "name", role: "gridcell" },
      this.tree.flat ? null : element("span", { class: "chevron", "aria-hidden": "true", text: folder ? (open ? "▾" : "▸") : "" }),
      element("span", { class: "text", text: visible(folder && node.path ? `${node.name}/` : node.name) }),
      this.tree.flat ? element("span", { class: "folder quiet" }, element("bdi", { text: visible(node.parent.path) })) : null,
    );
    name.style.paddingLeft = `${4 + (this.tree.flat ? 0 : INDENT * Math.min(node.depth, MOST_INDENTS))}px`;
    fill(row, name, view(node, this.tree.asked.get(node.path)), number(node.tokens, "tokens"), number(node.whole, "whole"), score(node, this.tree.root.score), state(node));
    row.dataset.index = String(index);
  }

  #isSelected(node) {
    if (!node.children) return this.selected.has(node.path);
    if (this.selected.size === 0) return false;
    const below = this.tree.pathsBelow(node);
    return below.length > 0 && below.every((path) => this.selected.has(path));
  }

  #click(event) {
    const index = this.list.indexOf(event.target);
    if (index < 0) return;
    const node = this.rows[index];
    if (node.children && event.target.closest(".chevron")) return this.#toggle(node, !this.tree.isOpen(node));
    if (event.shiftKey) this.#selectTo(index);
    else if (event.ctrlKey || event.metaKey) this.#toggleSelection(index);
    else {
      this.#selectAlone(index);
      if (node.children) this.#toggle(node, !this.tree.isOpen(node));
      else this.#openAt(index);
    }
    this.list.setCursor(this.rows.indexOf(node));
  }

  #moved(index, { shift }) {
    if (shift) this.#selectTo(index);
    else this.anchor = index;
  }

  #selectAlone(index) {
    this.selected.clear();
    this.anchor = index;
    this.#add(index, true);
    this.#selectionChanged();
  }

  #toggleSelection(index) {
    this.anchor = index;
    this.#add(index, !this.#isSelected(this.rows[index]));
    this.#selectionChanged();
  }

  #selectTo(index) {
    this.selected.clear();
    const from = this.anchor < 0 ? index : this.anchor;
    for (let at = Math.min(from, index); at <= Math.max(from, index); at++) {
      // A folder that is open stands above its files: only closed ones bring theirs along.
      const node = this.rows[at];
      if (!node.children || !this.tree.isOpen(node)) this.#add(at, true);
    }
    this.#selectionChanged();
  }

  #add(index, on) {
    for (const path of this.tree.pathsBelow(this.rows[index])) {
      if (on) this.selected.add(path);
      else this.selected.delete(path);
    }
  }

  #selectionChanged() {
    this.list.refresh();
    this.#buttons();
  }

  #toggle(node, open) {
    this.isArranged = true;
    this.tree.setOpen(node, open);
    this.show();
  }

  #openAt(index) {
    const node = this.rows[index];
    if (node && !node.children) this.project.open(node.path);
  }

  #key(event) {
    if (event.target !== this.box) return;
    const index = this.list.cursor;
    const node = this.rows[index];
    const keyed = viewKeys(this.project.state?.views ?? []).find(({ key }) => key === event.key);
    if ((event.ctrlKey || event.metaKey) && event.key === "a") this.#selectAll();
    else if (event.altKey || event.ctrlKey || event.metaKey || !node) return;
    else if (keyed) this.setView(keyed.view);
    else if (event.key === "ArrowRight" && node.children) this.#toggle(node, true);
    else if (event.key === "ArrowLeft") this.#leave(node);
    else if (event.key === "Enter") node.children ? this.#toggle(node, !this.tree.isOpen(node)) : this.#openAt(index);
    else if (event.key === " ") this.#toggleSelection(index);
    else if (event.key === "Escape") this.#selectNone();
    else return;
    event.preventDefault();
  }

  #leave(node) {
    if (node.children && this.tree.isOpen(node) && !this.tree.flat) return this.#toggle(node, false);
    const parent = this.rows.indexOf(node.parent);
    if (parent >= 0) this.list.moveCursor(parent);
  }

  #selectAll() {
    for (const file of this.tree.files.values()) if (file.visible) this.selected.add(file.path);
    this.#selectionChanged();
  }

  #selectNone() {
    this.selected.clear();
    this.#selectionChanged();
  }

  /** Set the view of the selected files, or of what the cursor is on. */
  async setView(view) {
    const node = this.rows[this.list.cursor];
    const paths = this.selected.size > 0 ? [...this.selected] : node ? this.tree.pathsBelow(node) : [];
    if (paths.length === 0) return;
    paths.sort();
    this.isArranged = true;
    const taken = await this.project.edit({ op: "view", paths, mode: view });
    const what = paths.length === 1 ? visible(paths[0]) : counted(paths.length, "file");
    if (taken) this.project.say(sentenceOf(what, view, this.project.state));
  }

  #buttons() {
    const views = this.project.state?.views ?? [];
    const label = element("span", { class: "quiet", text: this.selected.size > 0 ? `${counted(this.selected.size, "file")}:` : "Set view:" });
    const key = `${views.join(" ")} ${label.textContent}`;
    if (this.buttonsFor === key) return;
    this.buttonsFor = key;
    const buttons = viewKeys(views).map(({ key: shortcut, view }) =>
      element(
        "button",
        { type: "button", title: `${view}: ${VIEW_MEANINGS[view] ?? "shown"}`, on: { click: () => this.setView(view) } },
        element("kbd", { text: shortcut, "aria-hidden": "true" }),
        ` ${view}`,
      ),
    );
    fill(byId("view-bar"), label, ...buttons);
  }
}
