// What the page knows of the project, kept in step with the server. Panes listen to its events:
// `state`, `files`, `opening`, `file`, `prompt`, `connection` and `said`.

import { ServerError, get, listen, post } from "./api.js";
import { FileTree } from "./tree_model.js";

export class Project extends EventTarget {
  constructor() {
    super();
    this.state = null;
    this.tree = new FileTree();
    this.prompt = null;
    this.file = null;
    this.line = 0;
    this.#filesRevision = null;
  }

  #filesRevision;
  #refreshing = false;
  #refreshAgain = false;
  #asked = { path: "", mode: "" };
  #fitting = null;
  #nextFit = null;
  #last = Promise.resolve();
  #unanswered = 0;
  #composed = 0;
  #untold = null; // events that came while the pointer is held down; null while it is not

  /** Fetch everything, then follow the server's events. */
  start() {
    this.#watchPointer();
    this.refresh();
    listen(
      (event) => this.#changed(event),
      (connected) => this.#tell("connection", connected),
    );
  }

  /** Say what just happened in the status line. */
  say(sentence, { bad = false } = {}) {
    this.dispatchEvent(new CustomEvent("said", { detail: { sentence, bad } }));
  }

  /**
   * Run what asks the server; say its sentence where it refuses. Returns what `ask` returns, or null.
   * @param {() => Promise<*>} ask
   * @param {{onConflict?: (sentence: string) => void}} options what to do where the disk says otherwise, beside saying it
   */
  async attempt(ask, { onConflict = () => {} } = {}) {
    try {
      return await ask();
    } catch (failure) {
      if (failure.name === "AbortError") return null;
      if (!(failure instanceof ServerError)) throw failure;
      this.say(failure.message, { bad: true });
      if (failure.body.conflict) onConflict(failure.message);
      return null;
    }
  }

  /**
   * Ask the server once all that was asked so before is answered: requests on their own overtake each other, and an
   * undo would take back another step than the last.
   */
  ordered(ask) {
    this.#unanswered += 1;
    const answer = this.#last.then(ask).finally(() => (this.#unanswered -= 1));
    this.#last = answer.catch(() => null);
    return answer;
  }

  /** Do so, and say the server's sentence where it refuses. Returns its answer, or null. */
  inOrder(ask, options) {
    return this.attempt(() => this.ordered(ask), options);
  }

  /** Change the draft: one undo step. Returns whether the server took it. */
  edit(...edits) {
    return this.editInStep("", ...edits);
  }

  /** Do so; edits of one step, which follow each other, are undone in one. */
  async editInStep(step, ...edits) {
    const asked = edits.filter(({ op }) => op === "view");
    this.tree.ask(asked);
    if (asked.length > 0) this.#tell("files", null);
    const state = await this.inOrder(() => post("edit", { revision: this.state.revision, edits, ...(step && { step }) }));
    this.tree.answer(asked, state ? state.revision : 0);
    if (state) this.setState(state);
    else if (asked.length > 0) this.#tell("files", null);
    const { path } = this.#asked;
    if (state && edits.some((edit) => edit.path === path || edit.paths?.includes(path))) this.#fetchFile({ moved: false });
    return state !== null;
  }

  /** Take a state that the server answered with. */
  setState(state) {
    if (this.state && state.version === this.state.version && state.revision < this.state.revision) return;
    this.state = state;
    const pending = this.tree.asked.size;
    this.tree.settle(state.composed);
    if (this.tree.asked.size < pending) this.#tell("files", null);
    this.#tell("state", state);
  }

  /** Open a file in the middle; with a line, go there. An empty mode is the one that the configuration asks for. */
  async open(path, { mode = "", line = 0 } = {}) {
    this.#tell("opening", path);
    if (this.file && this.file.path === path && mode === "" && this.#asked.mode === "") {
      this.line = line;
      this.#tell("file", { moved: line > 0, same: true });
      return;
    }
    this.#asked = { path, mode };
    this.line = line;
    await this.#fetchFile({ moved: line > 0 });
  }

  /** Show no file any more. */
  close() {
    this.#asked = { path: "", mode: "" };
    this.file = null;
    this.#tell("file", { moved: false });
  }

  /** Fetch again what may have changed; calls while one is under way become one more. */
  async refresh() {
    if (this.#refreshing) {
      this.#refreshAgain = true;
      return;
    }
    this.#refreshing = true;
    try {
      do {
        this.#refreshAgain = false;
        await this.attempt(() => this.#refreshOnce());
      } while (this.#refreshAgain);
    } finally {
      this.#refreshing = false;
    }
  }

  /** Fit another budget while the slider moves: of calls while one is under way only the last counts. Returns whether it was taken. */
  async fit(budget, released) {
    this.#nextFit = { budget, released };
    this.#fitting ??= this.#fitNext().finally(() => (this.#fitting = null));
    const isTaken = await this.#fitting;
    if (released) this.refresh();
    return isTaken;
  }

  async #fitNext() {
    let isTaken = false;
    while (this.#nextFit) {
      const body = this.#nextFit;
      this.#nextFit = null;
      const fitted = await this.inOrder(() => post("fit", { ...body, since: this.#filesRevision }));
      isTaken = fitted !== null;
      if (!isTaken) continue;
      this.#takeFiles(fitted.files);
      this.#takePrompt(fitted.prompt);
    }
    return isTaken;
  }

  /** Forget what is known of the files, as after a restart of the server. */
  forget() {
    this.tree.asked.clear();
    this.#filesRevision = null;
  }

  async #refreshOnce() {
    const since = this.#filesRevision;
    const isNew = !this.prompt || this.prompt.revision !== this.#composed;
    const [state, files, prompt] = await Promise.all([get("state"), get("files", { since }), isNew ? get("prompt") : this.prompt]);
    this.setState(state);
    this.#takeFiles(files);
    if (prompt.revision !== state.composed) this.#takePrompt(await get("prompt"));
    else if (prompt !== this.prompt) this.#takePrompt(prompt);
    if (this.#asked.path) await this.#fetchFile({ moved: false });
  }

  async #fetchFile(how) {
    const asked = this.#asked;
    const file = await this.attempt(() => get("file", { path: asked.path, mode: asked.mode || null }));
    if (asked !== this.#asked) return;
    if (!file && !this.file) this.close();
    if (!file) return;
    const same = this.file && JSON.stringify({ ...file, revision: 0 }) === JSON.stringify({ ...this.file, revision: 0 });
    this.file = file;
    if (!same || how.moved) this.#tell("file", { moved: how.moved, same });
  }

  #takeFiles(files) {
    if (!files.full && files.revision < this.#filesRevision) return; // overtaken by a later answer
    this.#filesRevision = files.revision;
    if (!files.full && files.path.length === 0 && files.removed.length === 0) return;
    this.tree.update(files);
    this.#tell("files", null);
  }

  #takePrompt(prompt) {
    this.prompt = prompt;
    this.#tell("prompt", prompt);
  }

  #changed(event) {
    this.#composed = event.composed;
    if (this.state && event.version !== this.state.version) {
      this.forget();
      this.prompt = null;
      this.say(`The server was started again; ${this.state.dirty ? "edits that were not saved can be applied again at the top" : "the page shows what it has now"}.`);
    } else if (this.state?.models.length && event.revision === this.state.revision && event.composed === this.prompt?.revision) {
      return;
    } else if (event.what === "disk") {
      this.say(event.paths.length === 1 ? `Changed on the disk: ${event.paths[0]}.` : "Files changed on the disk.");
    } else if (event.what === "config") {
      this.say("The configuration was changed on the disk.");
    } else if (event.what === "draft" && this.#unanswered > 0) {
      return; // an edit of this page: its answer holds the state, and the prompt is told of when it is composed
    }
    this.refresh();
  }

  // A click whose element is drawn anew between press and release is lost: what comes meanwhile is told behind it.
  #watchPointer() {
    const press = ({ button, target }) => button === 0 && !target.closest("input") && (this.#untold ??= []); // not a slider's
    const release = () => {
      const untold = this.#untold ?? [];
      this.#untold = null;
      for (const event of untold) this.dispatchEvent(event);
    };
    addEventListener("pointerdown", press, true);
    for (const end of ["pointerup", "pointercancel", "contextmenu"]) addEventListener(end, () => setTimeout(release), true);
  }

  #tell(name, detail) {
    const event = new CustomEvent(name, { detail });
    if (this.#untold) this.#untold.push(event);
    else this.dispatchEvent(event);
  }
}
