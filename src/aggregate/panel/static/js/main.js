// Put the page together.

import { Actions } from "./actions.js";
import { sayInDialog } from "./dialogs.js";
import { byId } from "./dom.js";
import { FilePane } from "./file_pane.js";
import { visible } from "./format.js";
import { watchKeys } from "./keys.js";
import { watchSplitters, watchTabs, watchTheme } from "./panes.js";
import { Project } from "./project.js";
import { PromptPane } from "./prompt_pane.js";
import { LeftOut, SectionsPane, TreemapTab } from "./sections_pane.js";
import { TaskBar } from "./task_bar.js";
import { TreePane } from "./tree_pane.js";

function watchStatus(project) {
  project.addEventListener("said", ({ detail: { sentence, bad } }) => {
    byId("status").textContent = visible(sentence);
    byId("status").title = sentence;
    byId("status").classList.toggle("bad", bad);
    if (bad) sayInDialog(sentence);
  });
  // What nobody foresaw is said too: an action that fails in silence looks like one that was done.
  const tellFault = (fault) => project.say(`A fault of the page: ${fault?.message ?? fault}. Reload it; edits are kept by the server.`, { bad: true });
  window.addEventListener("unhandledrejection", (event) => tellFault(event.reason));
  window.addEventListener("error", (event) => event.error && tellFault(event.error));
  project.addEventListener("connection", ({ detail: connected }) => {
    const where = project.state ? ` in ${visible(project.state.root)}` : "";
    byId("lost").textContent = connected ? "" : `The panel's server does not answer. Start aggregate panel${where} again: this page then goes on, and offers edits that were not saved.`;
    byId("lost").hidden = connected;
  });
}

function start() {
  watchTheme();
  watchSplitters();
  const project = new Project();
  watchStatus(project);
  const tree = new TreePane(project);
  new TaskBar(project);
  const file = new FilePane(project, { promptLine: (line, go) => (go && line > 0 ? prompt.goTo(line) : null, prompt.link(line)) });
  const prompt = new PromptPane(project, { pointed: (path, line) => file.link(path, line), opened: (path) => tree.reveal(path) });
  new LeftOut(project);
  const sections = new SectionsPane(project);
  const treemap = new TreemapTab(project);
  watchTabs((name) => ({ sections: () => sections.show(), treemap: () => treemap.show() })[name]?.());
  watchKeys(new Actions(project));
  project.start();
}

start();
