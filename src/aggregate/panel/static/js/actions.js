// What writes, copies or sends: only ever by a button or a key.

import { eventsOf, getText, post, postRaw } from "./api.js";
import { openDialog } from "./dialogs.js";
import { byId, element, fill } from "./dom.js";
import { counted, dollars, percent, whole } from "./format.js";

export class Actions {
  constructor(project) {
    this.project = project;
    for (const name of ["undo", "redo", "save", "run", "copy", "send"]) byId(name).addEventListener("click", () => this[name]());
    byId("save-preset").addEventListener("click", () => this.#savePreset());
    byId("preset").addEventListener("change", (event) => this.#applyPreset(event.target.value));
    byId("warnings").addEventListener("click", () => this.#warnings());
    project.addEventListener("state", () => this.#show());
  }

  #show() {
    const { state } = this.project;
    document.title = `${state.dirty ? "● " : ""}${state.project} – aggregate`;
    byId("project-name").textContent = state.project;
    byId("config-path").textContent = state.config;
    byId("config-path").title = state.root;
    byId("dirty").hidden = !state.dirty;
    byId("undo").disabled = !state.can_undo;
    byId("redo").disabled = !state.can_redo;
    byId("save").disabled = !state.dirty && state.exists;
    const presets = state.presets.map((preset) => element("option", { value: preset.name, text: preset.name, title: preset.description || counted(preset.files, "entry") }));
    fill(byId("preset"), element("option", { value: "", text: "none" }), ...presets);
    byId("preset").value = state.preset;
    byId("revision").textContent = state.outside ? "Changed on the disk too" : `revision ${state.revision}`;
    byId("revision").title = state.outside ? "The configuration was changed on the disk since: saving merges, or says why not." : "";
    if (state.config_problem && state.config_problem !== this.problemSaid) this.project.say(`On the disk, ${state.config_problem}`, { bad: true });
    this.problemSaid = state.config_problem;
    const count = (state.config_problem ? 1 : 0) + state.warnings.length + state.cut.length + (state.prompt_error ? 1 : 0);
    byId("warnings").hidden = count === 0;
    byId("warnings").textContent = counted(count, "warning");
  }

  /** Take back the last edit of the draft. */
  async undo() {
    await this.#take("undo", "Taken back.");
  }

  /** Do again what was taken back. */
  async redo() {
    await this.#take("redo", "Done again.");
  }

  async #take(route, said) {
    const state = await this.project.attempt(() => post(route));
    if (!state) return;
    this.project.setState(state);
    this.project.say(said);
  }

  /** Write the draft into the configuration; a conflict offers to take the file from the disk. */
  async save() {
    try {
      const saved = await post("save");
      this.project.setState(saved.state);
      this.project.say(saved.sentence);
    } catch (failure) {
      if (failure.body?.conflict) this.#conflict(failure.message);
      else if (failure.status !== undefined) this.project.say(failure.message, { bad: true });
      else throw failure;
    }
  }

  #conflict(sentence) {
    this.project.say(sentence, { bad: true });
    openDialog("Not saved", {
      body: [element("p", { text: sentence }), element("p", { class: "quiet", text: "Your draft is kept until you take the file; nothing was written." })],
      buttons: [{ label: "Take the file, drop my draft", act: () => this.#take("reload", "The draft is what stands on the disk.") }],
    });
  }

  /** Write the prompt into a new numbered file. */
  async run() {
    const written = await this.project.attempt(() => post("run"));
    if (written) this.project.say(written.sentence);
  }

  /** Copy the whole prompt: by the browser, else by the server, which stands on the same machine. */
  async copy() {
    const text = await this.project.attempt(() => getText("prompt/text"));
    if (text === null) return;
    try {
      await navigator.clipboard.writeText(text);
      this.project.say(`Copied ${counted(this.project.prompt?.tokens ?? 0, "token")} to the clipboard.`);
    } catch {
      const copied = await this.project.attempt(() => post("copy"));
      if (copied) this.project.say(copied.sentence);
    }
  }

  /** Ask for a question, show the plan and the cost, and only then send. */
  send() {
    new SendDialog(this.project);
  }

  async #applyPreset(name) {
    const state = await this.project.attempt(() => post("preset/apply", { name }));
    if (!state) return this.#show();
    this.project.setState(state);
    this.project.say(name ? `Preset ${name} applied.` : "No preset.");
  }

  #savePreset() {
    const name = element("input", { type: "text", value: this.project.state.preset, required: true, autocomplete: "off" });
    const description = element("input", { type: "text", autocomplete: "off" });
    const scope = element("select", {}, element("option", { value: "project", text: "this project" }), element("option", { value: "global", text: "all my projects" }));
    const save = async () => {
      const body = { name: name.value.trim(), description: description.value.trim(), scope: scope.value };
      const state = await this.project.attempt(() => post("preset/save", body));
      if (!state) return false;
      this.project.setState(state);
      this.project.say(`Preset ${body.name} saved.`);
      return true;
    };
    openDialog("Save as preset", {
      body: [element("label", { class: "field" }, "Name", name), element("label", { class: "field" }, "Description", description), element("label", { class: "field" }, "For", scope)],
      buttons: [{ label: "Save preset", primary: true, act: save }],
    });
  }

  #warnings() {
    const { warnings, cut, prompt_error: problem, config_problem: onDisk } = this.project.state;
    const list = (title, sentences) => (sentences.length ? element("div", {}, element("h3", { text: title }), element("ul", { class: "sentences" }, ...sentences.map((text) => element("li", { text })))) : null);
    openDialog("Warnings", { body: [problem ? element("p", { class: "problem-text", text: problem }) : null, onDisk ? element("p", { class: "problem-text", text: `The configuration on the disk cannot be used, so that the page goes on with the one it has: ${onDisk}` }) : null, list("Doubtful or left out", warnings), list("Shortened for the budget", cut)], buttons: [] });
  }
}

/** A question for the prompt: first its plan with the cost, then the answer as it streams. */
class SendDialog {
  constructor(project) {
    this.project = project;
    const { state } = project;
    this.message = element("textarea", { rows: "4", required: true, "aria-label": "Question" });
    this.message.value = state.task.text;
    this.model = chooser("as configured", state.models.map((model) => model.name));
    this.persona = chooser("none", state.personas);
    this.plan = element("div", {});
    this.controller = null;
    const body = [
      element("label", { class: "field" }, "Question", this.message),
      element("div", { class: "group" }, element("label", {}, "Model ", this.model), state.personas.length ? element("label", {}, "Persona ", this.persona) : null),
      this.plan,
    ];
    this.dialog = openDialog("Send the prompt", { body, buttons: [this.#planButton()], onClose: () => this.controller?.abort() });
    for (const field of [this.message, this.model, this.persona]) field.addEventListener("input", () => this.#unplan());
  }

  #planButton() {
    return { label: "Show the plan", primary: true, act: () => this.#makePlan() };
  }

  #unplan() {
    if (this.controller) return;
    fill(this.plan);
    this.dialog.setButtons([this.#planButton()]);
  }

  async #makePlan() {
    const body = { message: this.message.value };
    if (this.model.value) body.model = this.model.value;
    if (this.persona.value) body.persona = this.persona.value;
    try {
      const plan = await post("send/plan", body);
      this.#showPlan(plan);
    } catch (failure) {
      const hint = this.model.value === "" ? element("p", { class: "quiet", text: "Here: choose a model above." }) : null;
      fill(this.plan, element("p", { class: "problem-text", role: "alert", text: failure.message }), hint);
    }
    return false;
  }

  #showPlan(plan) {
    const rows = [
      ["To", [plan.provider, plan.model, plan.address].filter(Boolean).join(" · ")],
      ["Tokens", `${whole(plan.provider_tokens)} by the provider's count, ${whole(plan.tokens)} by o200k${plan.window ? `; ${percent(plan.provider_tokens, plan.window)} of the window` : ""}`],
      ["From the cache", plan.cached ? `${whole(plan.cached)} tokens expected` : "nothing expected"],
      ["Cost of the input", plan.cost === null ? "unknown" : dollars(plan.cost)],
    ];
    const table = element("table", {}, element("tbody", {}, ...rows.map(([name, text]) => element("tr", {}, element("th", { scope: "row", text: name }), element("td", { text })))));
    const problems = [...plan.warnings, ...(plan.key ? [] : ["There is no key for this provider: it cannot be sent."])];
    fill(this.plan, table, ...problems.map((text) => element("p", { class: "problem-text", text })), element("details", {}, element("summary", { text: "The request, block by block" }), element("pre", { class: "plan", text: plan.lines.join("\n"), tabindex: "0" })));
    const again = { label: "Plan again", act: () => this.#makePlan() };
    const send = { label: plan.cost === null ? "Send" : `Send for ${dollars(plan.cost)}`, primary: true, act: () => this.#stream(plan) };
    this.dialog.setButtons(plan.key ? [again, send] : [again]);
  }

  async #stream(plan) {
    const answer = element("pre", { class: "answer", tabindex: "0", "aria-label": "Answer" });
    const ending = element("p", { role: "status" });
    fill(this.plan, answer, ending);
    this.controller = new AbortController();
    this.dialog.setButtons([{ label: "Stop", act: () => (this.controller.abort(), false) }]);
    try {
      const response = await postRaw("send", { plan: plan.plan }, { signal: this.controller.signal });
      for await (const event of eventsOf(response)) this.#event(event, answer, ending);
    } catch (failure) {
      const stopped = failure.name === "AbortError";
      ending.textContent = stopped ? "Stopped; what had come by then is kept by the server." : failure.message;
      ending.classList.toggle("problem-text", !stopped);
    }
    this.controller = null;
    this.dialog.setButtons([]);
    return false;
  }

  #event({ event, text, sentence, warnings, error }, answer, ending) {
    if (event === "text") {
      const atEnd = answer.scrollHeight - answer.scrollTop - answer.clientHeight < 40; // pixels: about two lines
      answer.append(text);
      if (atEnd) answer.scrollTop = answer.scrollHeight;
      return;
    }
    ending.textContent = event === "failed" ? error : [sentence, ...(warnings ?? [])].join(" ");
    ending.classList.toggle("problem-text", event === "failed");
    this.project.say(ending.textContent, { bad: event === "failed" });
  }
}

function chooser(usual, names) {
  return element("select", {}, element("option", { value: "", text: usual }), ...names.map((name) => element("option", { value: name, text: name })));
}
