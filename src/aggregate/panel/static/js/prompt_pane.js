// The right pane's prompt: its lines as they will be, with their origins, folds, breakpoints and the kept prefix.

import { byId, element, fill } from "./dom.js";
import { Folding } from "./folding.js";
import { counted, short, whole } from "./format.js";
import { PromptLines } from "./prompt_lines.js";
import { LINE, coloured } from "./source_lines.js";
import { VirtualList } from "./virtual_list.js";

const MOST_JUMPS = 1000; // sections in the list to jump to: more make opening it slow, and nobody reads them

export class PromptPane {
  /**
   * @param {import("./project.js").Project} project
   * @param {Object} on
   * @param {(path: string, line: number) => void} on.pointed the origin of the line that is pointed at ("" for none)
   * @param {(path: string) => void} on.opened a line's file was opened
   */
  constructor(project, on) {
    this.project = project;
    this.on = on;
    this.folding = new Folding();
    this.linked = 0;
    this.box = byId("prompt");
    this.lines = new PromptLines(() => this.list.refresh(), (ask) => project.attempt(ask));
    this.list = new VirtualList(this.box, {
      rowHeight: LINE,
      draw: (row, index) => this.#draw(row, this.folding.lineOf(index)),
      onCursor: (index) => this.#point(index),
    });
    this.box.addEventListener("pointermove", (event) => this.#point(this.list.indexOf(event.target)));
    this.box.addEventListener("pointerleave", () => this.#point(-1));
    this.box.addEventListener("click", (event) => this.#click(event));
    this.box.addEventListener("keydown", (event) => this.#key(event));
    byId("fold-all").addEventListener("click", () => this.#foldAll(true));
    byId("unfold-all").addEventListener("click", () => this.#foldAll(false));
    byId("section-jump").addEventListener("change", (event) => this.goTo(Number(event.target.value), { align: "start" }));
    project.addEventListener("prompt", (event) => this.#show(event.detail));
    project.addEventListener("state", () => this.#note());
  }

  /** Bring a line of the prompt into sight, unfolding what hides it. */
  goTo(line, { align = "middle" } = {}) {
    this.folding.show(line);
    this.list.setCount(this.folding.rows);
    const row = this.folding.rowOf(line);
    this.list.setCursor(row, { reveal: false });
    this.list.reveal(row, { align });
  }

  /** Mark the line that shows what another pane points at; 0 for none. */
  link(line) {
    const before = this.linked;
    this.linked = line;
    if (before) this.list.refreshRow(this.folding.rowOf(before));
    if (line) this.list.refreshRow(this.folding.rowOf(line));
  }

  #show(prompt) {
    this.prompt = prompt;
    this.breakpoints = new Set(prompt.breakpoints);
    this.folding.set(prompt.sections, prompt.lines);
    this.lines.reset(`${this.project.state.version} ${prompt.revision}`); // another start of the server counts anew
    this.list.setCount(this.folding.rows);
    if (this.list.cursor < 0) this.list.setCursor(0, { reveal: false }); // keys have a place to begin at
    const digits = Math.max(4, String(prompt.lines).length) + 2; // one free at either side
    this.box.style.setProperty("--digits", `${digits}ch`);
    this.#jumps(prompt.sections);
    if (this.project.state) this.#note();
    byId("origin").textContent = prompt.error || prompt.kept_sentence || `${counted(prompt.lines, "line")}, ${counted(prompt.bytes, "byte")}`;
    byId("origin").classList.toggle("problem-text", prompt.error !== "");
  }

  // What stands in place of lines where there are none.
  #note() {
    const { state } = this.project;
    const note = byId("prompt-note");
    const isEmpty = (this.prompt?.lines ?? 0) === 0;
    const isComposing = !state.prompt_error && (state.prompt === null || state.composed < state.revision);
    const tooMany = state.budget_tokens === null ? 0 : (this.prompt?.not_entered_count ?? 0);
    const tooSmall = tooMany ? `A budget of ${whole(state.budget_tokens)} has room for none of ${counted(tooMany, "file")}: raise it at the top.` : "";
    const composing = "The prompt is being composed. The first time in a project every file is read: this can take a while.";
    note.textContent = state.prompt_error || (isComposing ? composing : tooSmall);
    note.hidden = !isEmpty || note.textContent === "";
    byId("first-steps").hidden = !isEmpty || !note.hidden;
    note.classList.toggle("problem-text", state.prompt_error !== "");
  }

  #jumps(sections) {
    const choose = byId("section-jump");
    const options = sections.slice(0, MOST_JUMPS).map((section) =>
      element("option", { value: section.first, text: `${"\u00a0\u00a0".repeat(section.depth)}${section.title.replace(/^#+ /, "")} · ${short(section.tokens)}` }),
    );
    fill(choose, element("option", { value: "1", text: `Sections (${whole(sections.length)})` }), ...options);
  }

  #draw(row, line) {
    const { prompt, folding } = this;
    const there = this.lines.at(line);
    const section = folding.startingAt(line);
    const folded = section !== null && section.last > section.first && folding.isFolded(section);
    const breakpoint = this.breakpoints.has(line);
    row.classList.toggle("kept", line <= prompt.kept_until);
    row.classList.toggle("breakpoint", breakpoint);
    row.classList.toggle("heading", section !== null);
    row.classList.toggle("generated", there !== null && there.kind === "generated");
    row.classList.toggle("linkable", Boolean(there?.origin));
    row.classList.toggle("linked", line === this.linked);
    if (section && section.last > section.first) row.setAttribute("aria-expanded", String(!folded));
    else row.removeAttribute("aria-expanded");
    row.setAttribute("aria-rowindex", String(line));
    row.setAttribute("aria-level", String(section ? section.depth + 1 : (folding.around(line)?.depth ?? -1) + 2));
    fill(
      row,
      element("span", { class: "number", role: "gridcell", text: String(line) }),
      element("span", { class: "fold", "aria-hidden": "true", text: section && section.last > section.first ? (folded ? "▸" : "▾") : "" }),
      element("span", { class: "text", role: "gridcell" }, ...(there ? coloured(there.text, there.colours) : ["…"])),
      section ? element("span", { class: "note", text: folded ? `${counted(section.last - section.first, "line")} folded, ${short(section.tokens)} tokens` : `${short(section.tokens)} tokens` }) : null,
      breakpoint ? element("span", { class: "mark", text: "cache breakpoint above", title: "send sets a breakpoint of the provider's cache before this line" }) : null,
      line === prompt.kept_until ? element("span", { class: "mark kept-end", text: "kept since the last prompt up to here", title: prompt.kept_sentence }) : null,
    );
  }

  #click(event) {
    const row = this.list.indexOf(event.target);
    if (row < 0) return;
    this.list.setCursor(row);
    const section = this.folding.startingAt(this.folding.lineOf(row));
    if (section && event.target.closest(".fold")) this.#fold(section);
    else this.#open(row);
  }

  #key(event) {
    if (event.target !== this.box || event.altKey || event.ctrlKey || event.metaKey) return;
    const row = this.list.cursor;
    const line = this.folding.lineOf(row);
    const section = this.folding.startingAt(line) ?? this.folding.around(line);
    if (event.key === "Enter") this.#open(row);
    else if (event.key === "ArrowLeft" && section) this.#fold(section, true);
    else if (event.key === "ArrowRight" && section) this.#fold(section, false);
    else if (event.key === " " && section) this.#fold(section);
    else return;
    event.preventDefault();
  }

  #open(row) {
    const there = this.lines.at(this.folding.lineOf(row));
    if (!there?.origin) return;
    const [path, line] = there.origin;
    this.project.open(path, { line: Math.max(1, line) });
    this.on.opened(path);
  }

  #fold(section, fold) {
    this.folding.toggle(section, fold);
    this.list.setCount(this.folding.rows);
    this.list.setCursor(this.folding.rowOf(section.first));
  }

  #foldAll(fold) {
    const line = this.folding.lineOf(this.list.range()[0]);
    this.folding.toggleAll(fold);
    this.list.setCount(this.folding.rows);
    this.list.reveal(this.folding.rowOf(line), { align: "start" });
  }

  #point(row) {
    if (row === this.pointedAt) return;
    this.pointedAt = row;
    const there = row < 0 ? null : this.lines.at(this.folding.lineOf(row));
    if (!there) return this.on.pointed("", 0);
    const [path, line] = there.origin ?? ["", 0];
    const place = path ? (line > 0 ? `${path}:${line}` : path) : "";
    const made = there.kind === "generated" ? "generated" : there.kind === "file" ? "" : there.kind;
    byId("origin").textContent = [place, made, there.standsFor].filter(Boolean).join(" · ") || "\u00a0";
    this.on.pointed(path, line);
  }
}
