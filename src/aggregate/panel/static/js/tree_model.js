// The project's files as a tree: folders with sums, filtered, sorted and flattened to the rows in sight.
// Knows nothing of the page.

/** A folder or a file. A folder has `children`; a file has the server's columns. */
class Node {
  constructor(name, path, parent) {
    this.name = name;
    this.path = path;
    this.parent = parent;
    this.depth = parent ? parent.depth + 1 : -1;
    this.children = null;
    this.view = "";
    this.mode = "";
    this.tokens = 0;
    this.whole = 0;
    this.score = null;
    this.state = "";
    this.why = "";
    this.files = 1;
    this.entered = 0;
    this.visible = true;
  }
}

const byName = (left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0);
const ORDERS = {
  name: byName,
  tokens: (left, right) => right.tokens - left.tokens || byName(left, right),
  whole: (left, right) => right.whole - left.whole || byName(left, right),
  score: (left, right) => (right.score ?? -1) - (left.score ?? -1) || byName(left, right),
  view: (left, right) => (left.view < right.view ? -1 : left.view > right.view ? 1 : byName(left, right)),
  state: (left, right) => (left.state === "") - (right.state === "") || (left.state < right.state ? -1 : left.state > right.state ? 1 : byName(left, right)),
};

export class FileTree {
  constructor() {
    this.order = "name";
    this.reversed = false;
    this.flat = false;
    this.filter = "";
    this.opened = new Set();
    this.asked = new Map(); // views that the server was asked for, by path, until its table has them
    this.clear();
  }

  /** Forget all files. */
  clear() {
    this.root = new Node("", "", null);
    this.root.children = [];
    this.files = new Map();
    this.folders = new Map([["", this.root]]);
  }

  /**
   * Take the server's columns: all files, or those that changed.
   * @param {Object} columns FilesData of the server's protocol
   */
  update(columns) {
    if (columns.full) this.clear();
    for (const path of columns.removed) this.#remove(path);
    columns.path.forEach((path, index) => {
      const file = this.files.get(path) ?? this.#add(path);
      file.view = columns.view[index];
      file.mode = columns.mode[index];
      file.tokens = columns.tokens[index];
      file.whole = columns.whole[index];
      file.score = columns.score[index];
      file.state = columns.state[index];
      file.why = columns.why[index];
    });
    this.#sum();
  }

  /** Note edits that ask for views, so that they are seen at once. */
  ask(edits) {
    for (const { paths, mode } of edits) for (const path of paths) this.asked.set(path, { mode, revision: Infinity });
  }

  /** Note the revision that holds what edits have asked for, 0 where they were refused. */
  answer(edits, revision) {
    for (const path of edits.flatMap(({ paths }) => paths)) {
      if (revision === 0) this.asked.delete(path);
      else if (this.asked.has(path)) this.asked.get(path).revision = revision;
    }
  }

  /** Forget what was asked for up to a revision that is composed, or could not be. */
  settle(composed) {
    for (const [path, { revision }] of this.asked) if (revision <= composed) this.asked.delete(path);
  }

  /** The rows to show, in order, by the filter, the sort, and which folders are open. */
  rows() {
    const match = matcher(this.filter);
    for (const folder of this.folders.values()) folder.visible = false;
    for (const file of this.files.values()) {
      file.visible = match(file);
      for (let at = file.parent; file.visible && at && !at.visible; at = at.parent) at.visible = true;
    }
    if (this.flat) return [...this.files.values()].filter((file) => file.visible).sort(this.#comparison((a, b) => (a.path < b.path ? -1 : 1)));
    const rows = [];
    this.#flatten(this.root, rows, this.filter.trim() !== "");
    return rows;
  }

  /** Whether a folder shows its children. With a filter every folder that matches does. */
  isOpen(node) {
    return this.opened.has(node.path) || this.filter.trim() !== "";
  }

  /** Open or close a folder. One that holds nothing but another folder opens that too, as far as this goes. */
  setOpen(node, open) {
    if (!open) this.opened.delete(node.path);
    for (let at = node; open && at; at = at.children.length === 1 && at.children[0].children ? at.children[0] : null) this.opened.add(at.path);
  }

  /** Open the folders above a file. */
  openTo(path) {
    for (let at = this.files.get(path)?.parent; at; at = at.parent) this.opened.add(at.path);
  }

  /** Open the folders above the files that hold most of the prompt, as far as this shows no more than so many rows. */
  openEntered(most) {
    const entered = [...this.files.values()].filter((file) => file.tokens > 0).sort((left, right) => right.tokens - left.tokens);
    let rows = this.root.children.length;
    for (const file of entered) {
      const closed = [];
      for (let at = file.parent; at !== this.root && !this.opened.has(at.path); at = at.parent) closed.push(at);
      const added = closed.reduce((sum, folder) => sum + folder.children.length, 0);
      if (rows + added > most) continue;
      rows += added;
      for (const folder of closed) this.opened.add(folder.path);
    }
  }

  /** Paths of the files at or below a node that pass the filter. */
  pathsBelow(node) {
    if (!node.children) return [node.path];
    return node.children.filter((child) => child.visible).flatMap((child) => this.pathsBelow(child));
  }

  #comparison(byDefault) {
    const compare = this.order === "name" ? byDefault : ORDERS[this.order];
    return this.reversed ? (left, right) => compare(right, left) : compare;
  }

  #flatten(folder, rows, all) {
    const compare = this.#comparison(byName);
    const children = folder.children.filter((child) => child.visible);
    // Folders first where names decide, as file managers do; else the figures decide alone.
    children.sort((left, right) => (this.order === "name" ? !left.children - !right.children : 0) || compare(left, right));
    for (const child of children) {
      rows.push(child);
      if (child.children && (all || this.opened.has(child.path))) this.#flatten(child, rows, all);
    }
  }

  #add(path) {
    const cut = path.lastIndexOf("/");
    const parent = this.#folder(cut < 0 ? "" : path.slice(0, cut));
    const file = new Node(path.slice(cut + 1), path, parent);
    parent.children.push(file);
    this.files.set(path, file);
    return file;
  }

  #folder(path) {
    const known = this.folders.get(path);
    if (known) return known;
    const cut = path.lastIndexOf("/");
    const parent = this.#folder(cut < 0 ? "" : path.slice(0, cut));
    const folder = new Node(path.slice(cut + 1) || "/", path, parent);
    folder.children = [];
    parent.children.push(folder);
    this.folders.set(path, folder);
    return folder;
  }

  #remove(path) {
    const file = this.files.get(path);
    if (!file) return;
    this.files.delete(path);
    let gone = file;
    for (let parent = file.parent; parent; parent = parent.parent) {
      parent.children.splice(parent.children.indexOf(gone), 1);
      if (parent.children.length > 0 || parent === this.root) return;
      this.folders.delete(parent.path);
      gone = parent;
    }
  }

  #sum() {
    for (const folder of this.folders.values()) Object.assign(folder, { tokens: 0, whole: 0, files: 0, entered: 0, view: null, score: null, state: "" });
    for (const file of this.files.values()) {
      for (let at = file.parent; at; at = at.parent) {
        at.tokens += file.tokens;
        at.whole += file.whole;
        at.files += 1;
        if (file.tokens > 0) at.entered += 1;
        at.view = at.view === null || at.view === file.view ? file.view : "";
        if (file.score !== null && file.score > (at.score ?? -1)) at.score = file.score;
      }
    }
  }
}

/**
 * A test of a file by the words of a filter: `view:full`, `state:stale`, `is:in`, `is:out`, `-word`, and parts of the path.
 */
export function matcher(filter) {
  const tests = filter.toLowerCase().split(/\s+/).filter(Boolean).map(wordTest);
  return (file) => tests.every((test) => test(file));
}

function wordTest(word) {
  if (word.startsWith("-") && word.length > 1) {
    const inner = wordTest(word.slice(1));
    return (file) => !inner(file);
  }
  const [key, value] = word.includes(":") ? word.split(":", 2) : ["", word];
  if (key === "view") return (file) => file.view === value;
  if (key === "state") return (file) => file.state.includes(value);
  if (key === "is" && value === "in") return (file) => file.tokens > 0;
  if (key === "is" && value === "out") return (file) => file.tokens === 0;
  return (file) => file.path.toLowerCase().includes(word);
}
