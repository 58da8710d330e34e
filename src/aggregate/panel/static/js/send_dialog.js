// Sending: a question, the plan of its request with the cost, and then the answer as it comes.

import { eventsOf, post, postRaw } from "./api.js";
import { openDialog } from "./dialogs.js";
import { byId, element, fill } from "./dom.js";
import { dollars, percent, whole } from "./format.js";

const NEAR_END = 40; // pixels, about two lines: whoever reads further up is not scrolled away
const RECEIVED = "The answer is still received and kept: it will stand in the discussion.";

export class SendDialog {
  constructor(project) {
    this.project = project;
    const { state } = project;
    this.message = element("textarea", { rows: "4", required: true });
    this.message.value = byId("task").value; // what the server has not answered yet included
    this.model = chooser("as configured", state.models.map((model) => model.name));
    this.persona = chooser("none", state.personas);
    this.plan = element("div", {});
    this.reading = null; // ends reading the answer, while there is one
    const body = [
      element("label", { class: "field" }, "Question", this.message),
      element("div", { class: "group" }, element("label", {}, "Model ", this.model), state.personas.length ? element("label", {}, "Persona ", this.persona) : null),
      this.plan,
    ];
    this.dialog = openDialog("Send the prompt", { body, buttons: [this.#planButton("Show the plan")], onClose: () => this.#closed() });
    for (const field of [this.message, this.model, this.persona]) field.addEventListener("input", () => this.#unplan());
  }

  #closed() {
    if (this.reading) this.project.say(RECEIVED);
    this.reading?.abort();
  }

  #planButton(label) {
    return { label, primary: true, act: () => this.#makePlan() };
  }

  #unplan() {
    if (this.reading) return;
    fill(this.plan);
    this.dialog.setButtons([this.#planButton("Show the plan")]);
  }

  async #makePlan() {
    const body = { message: this.message.value, model: this.model.value, persona: this.persona.value };
    try {
      const plan = await this.project.ordered(() => post("send/plan", body));
      this.#showPlan(plan);
    } catch (failure) {
      fill(this.plan, problem(failure.message));
    }
    return false;
  }

  #showPlan(plan) {
    const rows = [
      ["To", [plan.provider, plan.model, plan.address].filter(Boolean).join(" · ")],
      ["Tokens", `${whole(plan.provider_tokens)} by the provider's count, ${whole(plan.tokens)} by o200k${plan.window ? `; ${percent(plan.provider_tokens, plan.window)} of the window` : ""}`],
      ["From the cache", plan.cached ? `${whole(plan.cached)} tokens expected` : "nothing expected"],
      ["Chosen by", Object.entries(plan.origins).map(([name, origin]) => `${name}: ${origin}`).join(" · ")],
      ["Since the last prompt", plan.prefix ?? "this is the first"],
      ["Cost of the input", plan.cost === null ? "unknown" : dollars(plan.cost)],
    ];
    const table = element("table", {}, element("tbody", {}, ...rows.map(([name, text]) => element("tr", {}, element("th", { scope: "row", text: name }), element("td", { text })))));
    const warnings = plan.warnings.map((text) => element("p", { class: "warning-text", text }));
    const problems = plan.key ? [] : [problem("There is no key for this provider: it cannot be sent.")];
    fill(this.plan, table, ...warnings, ...problems, element("details", {}, element("summary", { text: "The request, block by block" }), element("pre", { class: "plan", text: plan.blocks.map(blockLine).join("\n"), tabindex: "0" })));
    const again = { label: "Plan again", act: () => this.#makePlan() };
    const send = { label: plan.cost === null ? "Send" : `Send for ${dollars(plan.cost)}`, primary: true, act: () => this.#send(plan) };
    this.dialog.setButtons(plan.key ? [again, send] : [again]);
  }

  async #send({ plan }) {
    const answer = element("pre", { class: "answer", tabindex: "0", "aria-label": "Answer" });
    const ending = element("p", { role: "status", text: "Waiting for the answer…" });
    fill(this.plan, answer, ending);
    this.reading = new AbortController();
    this.dialog.setButtons([{ label: "Stop", act: () => this.#stop(plan) }]);
    const failure = await this.#read(plan, answer, ending);
    this.reading = null;
    if (failure === null) this.dialog.setButtons([]);
    else {
      ending.classList.add("problem-text");
      this.#say(ending, failure, { bad: true });
      this.dialog.setButtons([this.#planButton("Plan again")]);
    }
    return false;
  }

  // Show the answer as it comes; returns why it failed, null where it is whole.
  async #read(plan, answer, ending) {
    try {
      const response = await postRaw("send", { plan }, { signal: this.reading.signal });
      for await (const { event, text, sentence, error } of eventsOf(response)) {
        if (event === "text") this.#add(answer, ending, text);
        else if (event === "failed") return error;
        else this.#say(ending, sentence);
        if (event === "done") return null;
      }
      return "The answer broke off. What had come of it is kept beside the prompt's file.";
    } catch (failure) {
      return failure.name === "AbortError" ? RECEIVED : failure.message;
    }
  }

  #add(answer, ending, text) {
    const atEnd = answer.scrollHeight - answer.scrollTop - answer.clientHeight < NEAR_END;
    answer.append(text);
    if (atEnd) answer.scrollTop = answer.scrollHeight;
    if (ending.textContent) ending.textContent = "";
  }

  #say(ending, sentence, how) {
    ending.textContent = sentence;
    if (this.dialog.isOpen()) this.project.say(sentence, how);
  }

  // The stream ends by itself then, with what was kept.
  async #stop(plan) {
    await this.project.attempt(() => post("send/stop", { plan }));
    return false;
  }
}

function problem(text) {
  return element("p", { class: "problem-text", role: "alert", text });
}

function chooser(usual, names) {
  return element("select", {}, element("option", { value: "", text: usual }), ...names.map((name) => element("option", { value: name, text: name })));
}

function blockLine({ tokens, segments, role, sources, marked, up_to }) {
  const [first, last] = [sources[0], sources.at(-1)];
  const line = `${whole(tokens)} tokens, ${whole(segments)} segments, ${role}: ${first === last ? first : `${first} … ${last}`}`;
  return marked ? `${line}\n── breakpoint, ${whole(up_to)} tokens ──` : line;
}
