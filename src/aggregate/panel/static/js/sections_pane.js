// The right pane's other tabs: what stays out; discussion, beads and screenshots; the treemap.

import { AddScreenshots } from "./add_screenshots.js";
import { byId, element, fill } from "./dom.js";
import { counted, visible, whole } from "./format.js";
import { VirtualList } from "./virtual_list.js";

const ROW = 40; // pixels, two lines of text; panel.css has the same

/** The files that stay out, with the reason. */
export class LeftOut {
  constructor(project) {
    this.project = project;
    this.rows = [];
    this.count = 0;
    const box = byId("out");
    this.list = new VirtualList(box, { rowHeight: ROW, draw: (row, index) => this.#draw(row, this.rows[index]) });
    box.addEventListener("click", (event) => this.#open(this.list.indexOf(event.target)));
    box.addEventListener("keydown", (event) => event.key === "Enter" && this.#open(this.list.cursor));
    project.addEventListener("prompt", (event) => this.#show(event.detail));
    project.addEventListener("files", () => this.#note());
  }

  #show(prompt) {
    this.rows = prompt.not_entered;
    this.count = prompt.not_entered_count;
    byId("tab-out").textContent = this.count ? `Left out (${whole(this.count)})` : "Left out";
    this.#note();
    this.list.setCount(this.rows.length);
  }

  #note() {
    const { rows, count } = this;
    const skipped = [...this.project.tree.files.values()].filter(({ mode, view, state }) => mode && !view && ["binary", "generated"].includes(state)).length;
    const listed = count > rows.length ? `The first ${whole(rows.length)} of ${whole(count)}, the most relevant first.` : `${counted(rows.length, "file")}, the most relevant first.`;
    const none = skipped ? "" : "Nothing that was asked for stays out.";
    const others = skipped ? `${counted(skipped, "binary or generated file")} that a pattern stands for: filter the files by state:binary or state:generated.` : "";
    byId("out-note").textContent = [count ? listed : none, others].filter(Boolean).join(" ");
  }

  #draw(row, { path, level, score, why }) {
    const shown = level === "name" ? "named in a list" : level;
    const reason = [shown, score === null ? "" : `score ${score >= 0.1 ? score.toFixed(2) : score.toPrecision(1)}`, why].filter(Boolean).join(" · ");
    row.title = `${path}: ${reason}`;
    fill(row, element("span", { class: "path", role: "gridcell", text: visible(path) }), element("span", { class: "why", role: "gridcell", text: reason }));
  }

  #open(index) {
    if (index < 0) return;
    this.list.setCursor(index);
    this.project.open(this.rows[index].path);
  }
}

/** What else is in the prompt: discussion turns, beads, screenshots, and the strategy for files. */
export class SectionsPane {
  constructor(project) {
    this.project = project;
    this.box = byId("panel-sections");
    this.adding = new AddScreenshots(project);
    this.turns = []; // of each turn, what changes as it is switched: its box and its size
    const drawn = [
      ({ sections }) => [sections, () => this.#figures(sections)],
      ({ strategy, strategies }) => [[strategy, strategies], () => this.#strategy(strategy, strategies)],
      ({ discussion }) => [[discussion.name, discussion.names, discussion.turns.map(({ role, beginning }) => [role, beginning])], () => this.#discussion(discussion)],
      ({ beads }) => [beads, () => this.#beads(beads)],
      ({ screenshots }) => [screenshots, () => this.#screenshots(screenshots)],
    ];
    this.blocks = drawn.map((contentOf) => ({ contentOf, content: null, shown: null }));
    project.addEventListener("state", () => this.show());
  }

  /** Show the state if the tab is open. */
  show() {
    const { state } = this.project;
    if (this.box.hidden || !state) return;
    const top = this.box.scrollTop;
    for (const each of this.blocks) this.#showBlock(each, state);
    this.#showTurns(state.discussion.turns);
    this.box.scrollTop = top;
  }

  // Only a block that says something else is drawn anew: one turn of hundreds is switched without the others.
  #showBlock(each, state) {
    const [parts, draw] = each.contentOf(state);
    const content = JSON.stringify(parts);
    if (content === each.content) return;
    const before = each.shown;
    const focused = before?.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    const turnsTop = before?.querySelector(".turns")?.scrollTop;
    each.content = content;
    each.shown = draw();
    if (before) before.replaceWith(each.shown);
    else this.box.append(each.shown);
    const turns = each.shown.querySelector(".turns");
    if (turns) turns.scrollTop = turnsTop ?? turns.scrollHeight; // at first the newest ones
    if (focused) each.shown.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  #showTurns(turns) {
    turns.forEach(({ on, tokens }, index) => {
      const { box, size } = this.turns[index];
      const text = on ? whole(tokens) : "out";
      if (box.checked !== on) box.checked = on;
      if (size.textContent !== text) size.textContent = text;
    });
  }

  #figures(sections) {
    const pairs = Object.entries(sections).flatMap(([name, tokens]) => [element("dt", { text: name }), element("dd", { text: whole(tokens) })]);
    if (pairs.length === 0) pairs.push(element("dt", { class: "quiet", text: "Nothing yet: write a task, or choose files." }));
    return block("Tokens by section", element("dl", { class: "figures" }, ...pairs));
  }

  #strategy(strategy, strategies) {
    const choose = select("strategy", strategies.map((name) => [name, name]), strategy, (name) => this.project.edit({ op: "strategy", name }));
    return block("Files", element("label", { class: "group" }, "Strategy ", choose));
  }

  #discussion({ name, names, turns }) {
    const options = [["", "default"], ...names.map((each) => [each, each]), ["none", "no turns at all"]];
    const choose = select("discussion", options, name, (chosen) => this.project.edit({ op: "discussion", name: chosen }));
    this.turns = turns.map((turn) => ({
      box: this.#check(`turn ${turn.id}`, turn.on, `Turn ${turn.id + 1} of ${turn.role}`, (on) => ({ op: "turn", id: turn.id, on })),
      size: element("span", { class: "quiet" }),
    }));
    const rows = turns.map(({ role, beginning }, index) => {
      const { box, size } = this.turns[index];
      return element("div", { class: "turn" }, box, element("span", { class: "role", text: role }), element("span", { class: "beginning", text: beginning, title: beginning }), size);
    });
    const note = turns.length === 0 ? element("p", { class: "quiet", text: "No turns yet. Send… asks a model, and keeps the question and its answer here." }) : null;
    return block("Discussion", element("label", { class: "group" }, "Which ", choose), note, element("div", { class: "turns" }, ...rows));
  }

  #beads(beads) {
    if (beads === null) return block("Beads", element("p", { class: "quiet", text: "The project has none: there is no .beads folder." }));
    const toggle = element("label", { class: "check" }, this.#check("beads", beads.on, null, (on) => ({ op: "section", name: "beads", on })), beads.on ? `In the prompt, ${counted(beads.tokens, "token")}` : "Out of the prompt");
    return block("Beads", toggle, beads.text ? element("pre", { class: "beads", text: beads.text, tabindex: "0", "aria-label": "Beads" }) : null);
  }

  #screenshots(screenshots) {
    const figures = screenshots.map((shot) => {
      const picture = shot.url ? element("img", { src: shot.url, alt: shot.path, loading: "lazy" }) : element("p", { class: "problem", text: shot.problem });
      const check = this.#check(`screenshot ${shot.path}`, shot.on, null, (on) => ({ op: "screenshot", path: shot.path, on }));
      return element("figure", {}, picture, element("figcaption", {}, element("label", { class: "check" }, check, shot.path)));
    });
    const add = element("button", { type: "button", text: "Add…", data: { key: "add screenshot" }, on: { click: () => this.adding.choose() } });
    const hint = element("span", { class: "quiet", text: "or paste one, or drop it on the page" });
    return block("Screenshots", element("div", { class: "group" }, add, hint), element("div", { class: "thumbnails" }, ...figures));
  }

  #check(key, on, label, edit) {
    const change = async () => {
      if (!(await this.project.edit(edit(box.checked)))) box.checked = !box.checked;
    };
    const box = element("input", { type: "checkbox", "aria-label": label, data: { key }, on: { change } });
    box.checked = on;
    return box;
  }
}

function block(title, ...children) {
  return element("section", { class: "block" }, element("h3", { text: title }), ...children);
}

function select(key, options, value, choose) {
  const change = async () => {
    if (!(await choose(made.value))) made.value = value;
  };
  const made = element("select", { data: { key }, on: { change } }, ...options.map(([name, text]) => element("option", { value: name, text })));
  made.value = value;
  return made;
}

/** The treemap's tab: loads the charts when it is first opened. */
export class TreemapTab {
  constructor(project) {
    this.project = project;
    this.map = null;
    project.addEventListener("files", () => this.map?.show());
  }

  /** Draw it; the tab is in sight. */
  async show() {
    this.map ??= await this.#load();
    this.map?.show();
  }

  async #load() {
    try {
      const { Treemap } = await import("./treemap.js");
      return new Treemap(this.project);
    } catch (failure) {
      if (!(failure instanceof TypeError)) throw failure; // what a browser raises where a script cannot be fetched
      this.project.say("The treemap could not be loaded: is `aggregate panel` still running? Reload the page then.", { bad: true });
      return null;
    }
  }
}
