// The top: the task and its budget, the slider that fits again, and the prompt against the models' windows.

import { openDialog } from "./dialogs.js";
import { byId, element, fill } from "./dom.js";
import { budgetText, counted, dollars, parseTokens, percent, short, whole } from "./format.js";

const USUAL_BUDGET = "32k"; // tokens: room for some dozen files, and a few cents with the usual models
const LEAST = 1000; // tokens at the slider's left end: less holds no prompt worth sending
const MOST_AT_LEAST = 32_000; // tokens at its right end, also for a small project
const NO_LIMIT = 1000; // the slider's last position
const TYPING_WAIT = 300; // ms after the last key until the files are ranked: a word is typed in less
const USUAL_MODELS = 2; // shown until some are chosen

/** The tokens of a slider's position, by equal ratios, in two figures; null at the right end. */
export function tokensAt(position, most) {
  if (position >= NO_LIMIT) return null;
  const exact = LEAST * (most / LEAST) ** (position / (NO_LIMIT - 1));
  const unit = 10 ** (Math.floor(Math.log10(exact)) - 1);
  return Math.round(exact / unit) * unit;
}

/** The position of a number of tokens; the right end for null. */
export function positionOf(tokens, most) {
  if (tokens === null) return NO_LIMIT;
  const position = ((NO_LIMIT - 1) * Math.log(Math.max(tokens, LEAST) / LEAST)) / Math.log(most / LEAST);
  return Math.min(NO_LIMIT - 1, Math.round(position));
}

export class TaskBar {
  constructor(project) {
    this.project = project;
    this.sliding = false;
    this.isTaskRefused = false; // whether the field holds a task that the server did not take
    this.taskAsked = null; // what the server was asked for and has not answered: leaving the field asks again after Enter
    this.budgetAsked = null; // likewise
    byId("task-form").addEventListener("submit", (event) => event.preventDefault());
    byId("task").addEventListener("focus", () => this.#beginStep());
    byId("task").addEventListener("input", () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.#setTask(), TYPING_WAIT);
    });
    byId("task").addEventListener("change", () => this.#setTask());
    byId("task").addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey) this.#setTask(); // what such a key asks for is of the task as it stands
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#setTask();
      this.#beginStep();
    });
    byId("seeds").addEventListener("click", () => this.#seeds());
    byId("budget").addEventListener("change", () => this.#setBudget());
    byId("budget").addEventListener("keydown", (event) => event.key === "Enter" && this.#setBudget());
    byId("budget-slider").addEventListener("input", (event) => this.#slide(Number(event.target.value), false));
    byId("budget-slider").addEventListener("change", (event) => this.#slide(Number(event.target.value), true));
    byId("choose-models").addEventListener("click", () => this.#chooseModels());
    project.addEventListener("state", () => this.#show());
    project.addEventListener("files", () => this.#showSlider());
    project.addEventListener("prompt", () => this.#showTotal());
  }

  #show() {
    const { state } = this.project;
    const { task } = state;
    const isTyping = document.activeElement === byId("task") && (this.taskAsked !== null || byId("task").value !== this.taskShown);
    const isBeingWritten = this.isTaskRefused || isTyping;
    if (this.taskShown === undefined && !state.exists && document.activeElement === document.body) byId("task").focus(); // who is new here begins with it
    if (!isBeingWritten) byId("task").value = task.text;
    this.taskShown = task.text;
    const seeds = task.focus.length + task.symbols.length + (task.since ? 1 : 0);
    byId("seeds").textContent = seeds ? `Start from (${seeds})…` : "Start from…";
    if (document.activeElement !== byId("budget")) byId("budget").value = budgetText(state.budget);
    this.#showSlider();
    this.#showTotal();
    this.#showModels();
  }

  #showSlider() {
    if (this.sliding || !this.project.state) return;
    const tokens = this.project.state.budget_tokens;
    byId("budget-slider").value = String(positionOf(tokens, this.#most()));
    this.#describeSlider(tokens);
  }

  #describeSlider(tokens) {
    byId("budget-slider").setAttribute("aria-valuetext", tokens === null ? "no limit" : `${whole(tokens)} tokens`);
  }

  #most() {
    return Math.max(MOST_AT_LEAST, this.project.tree.root.whole, this.project.state?.budget_tokens ?? 0);
  }

  #showTotal() {
    const { state, prompt } = this.project;
    if (!state) return;
    const total = byId("total");
    const composing = state.composed < state.revision || (state.prompt === null && !state.prompt_error);
    const tokens = prompt && !prompt.error ? prompt.tokens : null;
    total.classList.toggle("composing", composing);
    byId("copy").classList.toggle("primary", Boolean(tokens)); // an empty prompt is for nobody
    total.classList.toggle("over", Boolean(state.prompt_error));
    fill(total, element("span", { class: "figure", text: tokens === null ? "–" : whole(tokens) }), " tokens");
    total.title = state.prompt_error || Object.entries(state.sections).map(([name, size]) => `${name}: ${whole(size)}`).join("\n");
  }

  #showModels() {
    const { models } = this.project.state;
    fill(byId("models"), ...this.#chosen().map((name) => models.find((model) => model.name === name)).filter(Boolean).map(modelItem));
  }

  #chosen() {
    const names = this.project.state.models.map((model) => model.name);
    const kept = JSON.parse(localStorage.getItem("models") ?? "null");
    return Array.isArray(kept) ? kept.filter((name) => names.includes(name)) : names.slice(0, USUAL_MODELS);
  }

  // One undo takes back what was typed from here on.
  #beginStep() {
    this.step = String(Math.random());
  }

  async #setTask() {
    clearTimeout(this.typing);
    const text = byId("task").value;
    if (text === (this.taskAsked ?? this.project.state.task.text)) return;
    this.taskShown = this.taskAsked = text;
    this.isTaskRefused = false;
    // Where nothing is chosen either, a task without a budget takes in every file there is.
    const isAll = text !== "" && this.project.state.budget === null && this.project.tree.root.entered === 0;
    const edit = isAll ? { op: "task", task: text, budget: USUAL_BUDGET } : { op: "task", task: text };
    const within = isAll ? ` within ${USUAL_BUDGET} tokens: change the budget beside it` : "";
    if (await this.project.editInStep(this.step, edit)) this.project.say(text ? `The files are ranked for the task${within}.` : "No task.");
    else this.isTaskRefused = true; // what was written stays there, for another try
    if (this.taskAsked === text) this.taskAsked = null;
  }

  #seeds() {
    const { task } = this.project.state;
    const focus = element("input", { type: "text", value: joined(task.focus), placeholder: "src/app.py:40-60 tests/" });
    const symbols = element("input", { type: "text", value: joined(task.symbols), placeholder: "Model.save parse" });
    const since = element("input", { type: "text", value: task.since, placeholder: "HEAD~3" });
    openDialog("Start from", {
      body: [
        element("p", { class: "quiet", text: "Places in the code from which the files are found, beside the task. They hold for this page alone and are not saved." }),
        element("label", { class: "field" }, 'Focus: paths, with lines if you like, shown whatever they cost; "in quotes" where one has a space', focus),
        element("label", { class: "field" }, "Symbols: names of definitions", symbols),
        element("label", { class: "field" }, "Since: a git revision; what changed since then counts", since),
      ],
      buttons: [{ label: "Set", primary: true, act: () => this.#setSeeds({ focus: words(focus.value), symbols: words(symbols.value), since: since.value.trim() }) }],
    });
  }

  async #setSeeds(seeds) {
    const isTaken = await this.project.edit({ op: "task", ...seeds });
    if (isTaken) this.project.say("The files are ranked from these places.");
    return isTaken;
  }

  async #setBudget() {
    const text = byId("budget").value.trim();
    const tokens = parseTokens(text);
    const isInForce = tokens === this.project.state.budget || text === this.project.state.budget;
    if (this.budgetAsked === null ? isInForce : text === this.budgetAsked) return;
    this.budgetAsked = text;
    const budget = tokens === null ? null : text;
    if (await this.project.edit({ op: "task", budget })) this.project.say(budget === null ? "No budget." : `Budget: ${text}.`);
    else byId("budget").value = budgetText(this.project.state.budget);
    this.budgetAsked = null;
  }

  async #slide(position, released) {
    this.sliding = true;
    const tokens = tokensAt(position, this.#most());
    byId("budget").value = budgetText(tokens);
    this.#describeSlider(tokens);
    const isTaken = await this.project.fit(tokens, released);
    if (!released) return;
    this.sliding = false;
    if (isTaken) this.project.say(tokens === null ? "No budget." : `Budget: ${whole(tokens)} tokens.`);
  }

  #chooseModels() {
    const chosen = new Set(this.#chosen());
    const rows = this.project.state.models.map((model) => {
      const box = element("input", { type: "checkbox", on: { change: () => (box.checked ? chosen.add(model.name) : chosen.delete(model.name), this.#keepModels(chosen)) } });
      box.checked = chosen.has(model.name);
      return element(
        "tr",
        {},
        element("td", {}, element("label", { class: "check" }, box, model.name)),
        numberCell(model.tokens, whole),
        numberCell(model.window, short),
        numberCell(model.tokens !== null && model.window ? model.tokens : null, (tokens) => percent(tokens, model.window)),
        numberCell(model.input, dollars),
        numberCell(model.output, dollars),
        numberCell(model.cost, dollars),
      );
    });
    const heads = ["Shown at the top", "Prompt", "Window", "Used", "Input/M", "Output/M", "This prompt"];
    const head = element("tr", {}, ...heads.map((text, index) => element("th", { scope: "col", class: index > 0 ? "number" : "", text })));
    openDialog("Models", {
      body: [element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)), element("p", { class: "quiet", text: `${counted(rows.length, "model")}. The prompt's tokens are by each provider's own count; prices are US dollars for input that no cache holds.` })],
      buttons: [],
    });
  }

  #keepModels(chosen) {
    localStorage.setItem("models", JSON.stringify([...chosen]));
    this.#showModels();
  }
}

/** The words of a text; what stands in double quotes is one. */
export function words(text) {
  return Array.from(text.matchAll(/"([^"]+)"|[^\s"]+/g), ([word, quoted]) => quoted ?? word);
}

/** A text of which `words` makes these words again. */
export function joined(words) {
  return words.map((word) => (/\s/.test(word) ? `"${word}"` : word)).join(" ");
}

function numberCell(value, format) {
  return element("td", { class: "number", text: value === null ? "–" : format(value) });
}

function modelItem({ name, window, tokens, cost }) {
  const label = name.includes("/") ? name.slice(name.lastIndexOf("/") + 1) : name;
  const title = [name, tokens === null ? "" : `${whole(tokens)} tokens`, window ? `window ${whole(window)}` : "window unknown"].filter(Boolean).join(", ");
  const used = tokens !== null && window ? percent(tokens, window) : "";
  const meter = tokens !== null && window ? element("meter", { min: 0, max: window, high: 0.8 * window, optimum: 0, value: Math.min(tokens, window), "aria-label": `${name}: ${used} of the window` }) : null;
  const figures = [used, cost === null ? "" : dollars(cost)].filter(Boolean).join(" · ");
  const isOver = tokens !== null && window && tokens > window;
  return element("li", { title, class: isOver ? "over" : "" }, element("span", { text: label }), element("span", { class: "cost", text: figures }), meter);
}
