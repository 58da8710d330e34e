// The prompt's lines, fetched in pages as they come into sight.

import { get } from "./api.js";

const PAGE = 256; // lines in a request: about four screens, so that scrolling seldom waits
const MOST_PAGES = 48; // kept: 12,288 lines, about two megabytes, whatever the size of the prompt

/** Lines by number; `onArrival` is called when lines that were asked for are there. */
export class PromptLines {
  constructor(onArrival, attempt) {
    this.onArrival = onArrival;
    this.attempt = attempt;
    this.pages = new Map();
    this.asked = new Set();
    this.revision = 0;
  }

  /** Take another prompt: what is kept stays in sight until the new lines are there. */
  reset(revision) {
    if (revision === this.revision) return;
    this.revision = revision;
    this.asked.clear();
  }

  /** The line as {text, colours, origin, kind, standsFor}, or null if it is not there yet; asks for it then. */
  at(line) {
    const number = Math.floor((line - 1) / PAGE);
    const page = this.pages.get(number);
    if (!page || page.revision !== this.revision) this.#ask(number);
    else this.#touch(number, page);
    const offset = line - 1 - number * PAGE;
    if (!page || offset >= page.lines.length) return null;
    return {
      text: page.lines[offset],
      colours: page.colours[offset],
      origin: page.origins[offset],
      kind: page.kinds[offset],
      standsFor: page.stands_for[offset],
    };
  }

  #touch(number, page) {
    this.pages.delete(number);
    this.pages.set(number, page);
  }

  async #ask(number) {
    if (this.asked.has(number)) return;
    this.asked.add(number);
    const revision = this.revision;
    const page = await this.attempt(() => get("prompt/lines", { first: number * PAGE + 1, last: (number + 1) * PAGE }));
    if (revision !== this.revision) return;
    this.asked.delete(number);
    if (!page) return;
    this.#touch(number, { ...page, revision });
    for (const oldest of this.pages.keys()) {
      if (this.pages.size <= MOST_PAGES) break;
      this.pages.delete(oldest);
    }
    this.onArrival();
  }
}
