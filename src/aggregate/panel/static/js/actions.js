// What writes, copies or sends: only ever by a button or a key.

import { getText, post } from "./api.js";
import { writeClipboard } from "./clipboard.js";
import { openDialog } from "./dialogs.js";
import { byId, element, fill } from "./dom.js";
import { counted, visible } from "./format.js";
import { SendDialog } from "./send_dialog.js";

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
    document.title = `${state.dirty ? "● " : ""}${visible(state.project)} – aggregate`;
    byId("project-name").textContent = visible(state.project);
    byId("config-path").textContent = state.config;
    byId("config-path").title = state.root;
    byId("dirty").hidden = !state.dirty;
    byId("undo").disabled = !state.can_undo;
    byId("redo").disabled = !state.can_redo;
    byId("save").disabled = !state.dirty && state.exists;
    const presets = state.presets.map((preset) => element("option", { value: preset.name, text: preset.name, title: preset.description || counted(preset.files, "entry") }));
    fill(byId("preset"), element("option", { value: "", text: "none" }), ...presets);
    byId("preset").value = state.preset;
    byId("revision").textContent = state.outside ? "Changed on the disk too" : "";
    byId("revision").dataset.revision = state.revision;
    byId("revision").title = state.outside ? "The configuration was changed on the disk since: reload it to go on from there." : "";
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
    const state = await this.project.inOrder(() => post(route));
    if (!state) return;
    this.project.setState(state);
    this.project.say(said);
  }

  /** Write the draft into the configuration; a conflict offers to take the file from the disk. */
  async save() {
    const saved = await this.project.inOrder(() => post("save"), { onConflict: (sentence) => this.#conflict(sentence) });
    if (!saved) return;
    this.project.setState(saved.state);
    this.project.say(saved.sentence);
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
    const written = await this.project.inOrder(() => post("run"));
    if (written) this.project.say(written.sentence);
  }

  /** Copy the whole prompt to the clipboard. */
  async copy() {
    const text = await this.project.inOrder(() => getText("prompt/text"));
    if (text === null) return;
    const { state, prompt } = this.project;
    const what = prompt && state.composed >= state.revision ? counted(prompt.tokens, "token") : "the prompt";
    if (await writeClipboard(text)) this.project.say(`Copied ${what} to the clipboard.`);
    else this.project.say("The browser does not let the page copy: allow it for this address, or write the prompt into a file with Run (Alt+R).", { bad: true });
  }

  /** Ask for a question, show the plan and the cost, and only then send. */
  send() {
    new SendDialog(this.project);
  }

  async #applyPreset(name) {
    const state = await this.project.inOrder(() => post("preset/apply", { name }));
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
      const state = await this.project.inOrder(() => post("preset/save", body));
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
