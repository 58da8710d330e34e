// The middle pane: a file as source beside its view, and its view mode.

import { get } from "./api.js";
import { byId, element, fill } from "./dom.js";
import { FileSlices } from "./file_slices.js";
import { counted, short, visible, whole } from "./format.js";
import { LINE, SourceLines, coloured } from "./source_lines.js";
import { VIEW_MEANINGS, sentenceOf } from "./view_names.js";
import { VirtualList } from "./virtual_list.js";

const LAYOUTS = [
  ["source", "Source"],
  ["both", "Both"],
  ["view", "View"],
];
const NARROW = 560; // pixels of the pane below which source and view side by side cannot be read
const POINT_WAIT = 60; // ms that the pointer rests on a line before the server is asked where it stands in the prompt

export class FilePane {
  /**
   * @param {import("./project.js").Project} project
   * @param {Object} on
   * @param {(line: number, go: boolean) => void} on.promptLine the prompt's line that shows what is pointed at (0 for none)
   */
  constructor(project, on) {
    this.project = project;
    this.on = on;
    this.layout = localStorage.getItem("file layout") ?? "both";
    this.source = new SourceLines(byId("source"), project, {
      selected: (first, last) => this.slices.ask(first, last),
      pointed: (line) => this.#pointed(line),
      clicked: (line) => this.#showInPrompt(line, true),
      scrolled: () => this.#follow("source"),
    });
    this.slices = new FileSlices(project, this.source);
    this.view = new VirtualList(byId("view"), {
      rowHeight: LINE,
      draw: (row, index) => this.#drawView(row, index),
      onCursor: (index) => this.#pointedView(index),
      onScroll: () => this.#follow("view"),
    });
    this.#watchView();
    this.#layoutChoice();
    this.#arrange();
    new ResizeObserver(() => this.#arrange()).observe(byId("halves"));
    project.addEventListener("opening", (event) => this.#opening(event.detail));
    project.addEventListener("file", (event) => this.#show(event.detail));
    project.addEventListener("files", () => this.#title());
    project.addEventListener("state", () => this.#alwaysWhole());
    byId("always-whole").addEventListener("change", (event) => this.#setAlwaysWhole(event.target.checked));
    byId("close-file").addEventListener("click", () => this.#close());
    byId("file-pane").addEventListener("keydown", (event) => event.key === "Escape" && !event.defaultPrevented && this.#close());
    this.#show({ moved: false });
  }

  /** Mark the line of a file that another pane points at. */
  link(path, line) {
    const here = this.project.file?.path === path ? line : 0;
    this.source.link(here);
    this.#linkView(here);
  }

  #opening(path) {
    byId("file-empty").textContent = `Opening ${visible(path)}…`;
    byId("panes").classList.remove("no-file");
    byId("file-pane").scrollIntoView({ block: "nearest" });
  }

  #close() {
    this.#pointed(0);
    this.project.close();
    byId("tree").focus();
  }

  #show({ moved, same = false }) {
    const { file, line } = this.project;
    byId("panes").classList.toggle("no-file", file === null); // the prompt takes the room
    byId("file-empty").hidden = file !== null;
    for (const id of ["mode-bar", "halves", "slices", "file-layout"]) byId(id).hidden = file === null;
    if (!file) return;
    if (!same || this.shown !== file) this.#fill(file);
    if (moved && line > 0) {
      this.source.goTo(line);
      this.#scrollView(line);
      this.link(file.path, line);
    } else if (moved || this.path !== file.path) {
      this.source.list.scrollTo(0);
      this.view.scrollTo(0);
    }
    this.path = file.path;
  }

  #fill(file) {
    this.shown = file;
    this.viewLine = new Map();
    file.origin.forEach((line, index) => line > 0 && !this.viewLine.has(line) && this.viewLine.set(line, index));
    this.viewed = [...this.viewLine.keys()].sort((left, right) => left - right);
    const cut = file.path.lastIndexOf("/") + 1;
    fill(byId("file-title"), element("span", { class: "folder", text: visible(file.path.slice(0, cut)) }), element("span", { class: "base", text: visible(file.path.slice(cut)) }));
    byId("file-title").title = file.path;
    const entry = file.by_glob ? `by ${file.entry}` : file.entry === "" ? "by no entry" : "";
    byId("file-note").textContent = file.error || [file.language, counted(file.source.length, "line"), entry].filter(Boolean).join(" · ");
    byId("file-note").title = file.evidence.map(([reason, weight]) => `${Number(weight).toFixed(2)} ${reason}`).join("\n");
    byId("file-note").classList.toggle("problem-text", file.error !== "");
    this.#title();
    byId("slice-form").hidden = true;
    this.source.selection = null;
    this.source.show(file);
    this.view.setCount(file.view.length);
    this.#hint(file);
    this.#modes(file);
    this.#alwaysWhole();
    this.slices.show(file);
  }

  // What stands in place of a view of no lines, and what to do in the two views that wait for the user.
  #hint({ mode, slices, definitions, view }) {
    const hints = {
      masked: definitions.some(({ mask }) => mask === "def" || mask === "sig")
        ? ""
        : "Masked shows only what you mark: click a definition in the source, and show it in full or by its signature.",
      custom: slices.length > 0 ? "" : "Custom shows only slices: drag over lines in the source to make one.",
    };
    const hint = hints[mode] || (view.length === 0 ? "This view of the file is empty." : "");
    byId("view-hint").hidden = hint === "";
    byId("view-hint").textContent = hint;
  }

  // What the prompt shows may be less than what the entry asks for: the level that the budget allows.
  #title() {
    const { file } = this.project;
    if (!file) return;
    const level = this.project.tree.files.get(file.path)?.view ?? file.mode;
    const asked = level && file.mode && level !== file.mode ? ` (at most ${file.mode})` : "";
    byId("view-title").textContent = byId("view-title").title = level ? `View: ${level}${asked}` : "View: out of the prompt";
  }

  // Beside a budget a view is a maximum; a focus on the path is not.
  #alwaysWhole() {
    const { file, state } = this.project;
    if (!file || !state) return;
    const isFocused = state.task.focus.includes(file.path);
    byId("always-whole").hidden = !isFocused && state.budget_tokens === null;
    byId("always-whole").querySelector("input").checked = isFocused;
  }

  async #setAlwaysWhole(isOn) {
    const { file, state } = this.project;
    const others = state.task.focus.filter((place) => place !== file.path);
    const taken = await this.project.edit({ op: "task", focus: isOn ? [...others, file.path] : others });
    if (taken) this.project.say(isOn ? `${visible(file.path)}: whole, whatever the budget; not saved.` : `${visible(file.path)}: as far as the budget goes.`);
    this.#alwaysWhole();
  }

  #modes(file) {
    const choices = [...this.project.state.views, "out"].map((mode) => {
      const input = element("input", { type: "radio", name: "mode", value: mode, on: { change: () => this.#setMode(mode) } });
      input.checked = mode === (file.mode || "out");
      const size = file.sizes[mode];
      return element("label", { data: { view: mode }, title: `${mode}: ${VIEW_MEANINGS[mode] ?? "shown"}` }, input, element("span", { class: "view-name", text: mode }), size === undefined ? null : element("small", { text: ` ${short(size)}`, title: `${whole(size)} tokens` }));
    });
    const focused = byId("mode-bar").contains(document.activeElement);
    fill(byId("mode-bar"), ...choices);
    if (focused) byId("mode-bar").querySelector(":checked")?.focus();
  }

  async #setMode(mode) {
    const { path } = this.project.file;
    if (await this.project.edit({ op: "view", paths: [path], mode })) this.project.say(sentenceOf(path, mode, this.project.state));
  }

  #drawView(row, index) {
    const { view, origin } = this.shown;
    const line = origin[index];
    row.classList.toggle("made", line === 0);
    row.classList.toggle("linked", index === this.linkedView);
    fill(
      row,
      element("span", { class: "number", role: "gridcell", text: line > 0 ? String(line) : "" }),
      element("span", { class: "text", role: "gridcell" }, ...coloured(view[index], this.shown.view_colours[index])),
    );
  }

  #watchView() {
    const box = byId("view");
    box.addEventListener("pointermove", (event) => this.#pointedView(this.view.indexOf(event.target)));
    box.addEventListener("pointerleave", () => this.#pointed(0));
    box.addEventListener("click", (event) => {
      const index = this.view.indexOf(event.target);
      if (index < 0) return;
      this.view.setCursor(index);
      this.#goToOrigin(index);
    });
    box.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === "g") this.#goToOrigin(this.view.cursor);
    });
  }

  #goToOrigin(index) {
    const line = this.shown?.origin[index] ?? 0;
    if (line === 0) return;
    this.source.goTo(line);
    this.#showInPrompt(line, true);
  }

  #pointedView(index) {
    const line = index < 0 ? 0 : this.shown.origin[index];
    this.source.link(line);
    this.#pointed(line);
  }

  #pointed(line) {
    if (line === this.pointedAt) return;
    this.pointedAt = line;
    this.#linkView(line);
    clearTimeout(this.pointTimer);
    if (line === 0) this.on.promptLine(0, false);
    else this.pointTimer = setTimeout(() => this.#showInPrompt(line, false), POINT_WAIT);
  }

  async #showInPrompt(line, go) {
    const where = await this.project.attempt(() => get("prompt/where", { path: this.project.file.path, line }));
    if (!where) return;
    this.on.promptLine(where.line, go);
    if (go && where.line === 0) this.project.say(`${this.project.file.path}:${line} is not in the prompt.`);
  }

  #linkView(line) {
    const index = this.viewLine?.get(line) ?? -1;
    const before = this.linkedView ?? -1;
    this.linkedView = index;
    this.view.refreshRow(before);
    this.view.refreshRow(index);
  }

  // The view stands where the source does, and the other way round; what was scrolled by this does not answer.
  #follow(from) {
    if (this.layoutNow !== "both" || this.following === from || !this.shown) {
      this.following = null;
      return;
    }
    this.following = from === "source" ? "view" : "source";
    if (from === "source") this.#scrollView(this.source.list.range()[0] + 1);
    else {
      const line = this.shown.origin.slice(this.view.range()[0]).find((each) => each > 0);
      if (line) this.source.list.scrollTo((line - 1) * LINE);
    }
    requestAnimationFrame(() => requestAnimationFrame(() => (this.following = null)));
  }

  #scrollView(line) {
    if (!this.viewed || this.viewed.length === 0) return;
    const nearest = this.viewed.findLast((each) => each <= line) ?? this.viewed[0];
    this.view.scrollTo(this.viewLine.get(nearest) * LINE);
  }

  #layoutChoice() {
    const choices = LAYOUTS.map(([name, label]) => {
      const input = element("input", { type: "radio", name: "layout", value: name, on: { change: () => this.#setLayout(name) } });
      input.checked = name === this.layout;
      return element("label", {}, input, label);
    });
    fill(byId("file-layout"), ...choices);
  }

  #setLayout(name) {
    this.layout = name;
    localStorage.setItem("file layout", name);
    this.#arrange();
  }

  // On a narrow pane "both" puts one above the other.
  #arrange() {
    this.layoutNow = this.layout;
    const halves = byId("halves");
    halves.classList.toggle("stacked", this.layout === "both" && halves.clientWidth < NARROW);
    byId("source-half").hidden = this.layout === "view";
    byId("view-half").hidden = this.layout === "source";
  }
}
