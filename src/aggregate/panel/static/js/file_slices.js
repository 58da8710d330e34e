// The slices of the file in the middle: a line for each, and the form that makes a new one.

import { byId, element, fill } from "./dom.js";

export class FileSlices {
  /**
   * @param {import("./project.js").Project} project
   * @param {import("./source_lines.js").SourceLines} source the lines that slices are made of
   */
  constructor(project, source) {
    this.project = project;
    this.source = source;
  }

  /** Show the slices of a file. */
  show(file) {
    fill(byId("slices"), ...file.slices.map((slice) => this.#slice(file, slice)));
  }

  #slice(file, slice) {
    const place = `${slice.start}–${slice.end}`;
    const act = (op, said) => async () => {
      if (await this.project.edit({ op, path: file.path, id: slice.id })) this.project.say(said);
    };
    const name = slice.tag || "slice";
    return element(
      "div",
      { class: "slice" },
      element("button", { type: "button", class: "link", text: `${name} ${place}`, title: "Go there", on: { click: () => this.source.goTo(slice.start) } }),
      element("span", { class: `pill ${slice.state === "exact" ? "" : "warn"}`, text: slice.state, title: slice.why }),
      slice.candidate ? element("button", { type: "button", class: "link", text: `went to ${slice.candidate.start}–${slice.candidate.end}?`, on: { click: () => this.source.goTo(slice.candidate.start) } }) : null,
      element("span", { class: "comment", text: slice.comment }),
      slice.state === "stale" && slice.why ? element("span", { class: "why", text: slice.why }) : null,
      element(
        "span",
        { class: "group end" },
        slice.state === "exact" ? null : element("button", { type: "button", class: "icon", text: "Confirm", "aria-label": `Confirm ${name} ${place}`, title: slice.why, on: { click: act("confirm_slice", "Slice captured anew.") } }),
        element("button", { type: "button", class: "icon", text: "Remove", "aria-label": `Remove ${name} ${place}`, on: { click: act("remove_slice", "Slice removed.") } }),
      ),
    );
  }

  /** Ask for tag and comment of a new slice of these lines. */
  ask(first, last) {
    const form = byId("slice-form");
    const tag = element("input", { type: "text", size: "10", "aria-label": "Tag", placeholder: "tag" });
    const comment = element("input", { type: "text", class: "grow", "aria-label": "Comment", placeholder: "comment" });
    const close = () => {
      form.hidden = true;
      this.source.clearSelection();
      byId("source").focus();
    };
    fill(form, element("strong", { text: first === last ? `Line ${first}` : `Lines ${first}–${last}` }), tag, comment, element("button", { type: "submit", class: "primary", text: "Make slice" }), element("button", { type: "button", text: "Cancel", on: { click: close } }));
    form.onsubmit = async (event) => {
      event.preventDefault();
      const edit = { op: "slice", path: this.project.file.path, start: first, end: last, tag: tag.value, comment: comment.value };
      if (!(await this.project.edit(edit))) return;
      this.project.say(`Slice of lines ${first}–${last} made; the file is shown by its slices.`);
      close();
    };
    form.onkeydown = (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault(); // which would close the file
      close();
    };
    form.hidden = false;
    tag.focus();
  }
}
