// New screenshots: chosen, pasted or dropped; the server stores them in the project and takes them into the draft.

import { post } from "./api.js";
import { element, isTyping } from "./dom.js";

const MOST_BYTES = 10_000_000; // the server's own limit: what is larger need not travel

export class AddScreenshots {
  constructor(project) {
    this.project = project;
    document.addEventListener("paste", (event) => {
      if (isTyping(event.target) && event.clipboardData.types.includes("text/plain")) return; // the text is what was meant
      this.#take(event, event.clipboardData.files);
    });
    document.addEventListener("dragover", (event) => event.dataTransfer.types.includes("Files") && event.preventDefault());
    document.addEventListener("drop", (event) => this.#take(event, event.dataTransfer.files));
  }

  /** Let the user choose files. */
  choose() {
    const input = element("input", { type: "file", accept: "image/png,image/jpeg,image/gif,image/webp", multiple: true, on: { change: () => this.#addAll([...input.files]) } });
    input.click();
  }

  #take(event, files) {
    if (files.length === 0) return;
    event.preventDefault(); // the browser would open a dropped file in place of the page
    if (!document.querySelector("dialog[open]")) this.#addAll([...files]);
  }

  async #addAll(files) {
    for (const file of files) await this.#add(file);
  }

  async #add(file) {
    if (file.size > MOST_BYTES) return this.project.say(`${file.name} has more than 10 MB: make it smaller.`, { bad: true });
    this.project.say(`Adding ${file.name}…`);
    const data = await base64(file);
    const added = await this.project.inOrder(() => post("screenshot", { data, name: file.name }));
    if (!added) return;
    this.project.setState(added.state);
    this.project.say(`Added ${added.path}. Undo takes it out of the prompt; the file stays.`);
  }
}

function base64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
