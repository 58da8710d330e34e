// Tokens by folder and view as areas. Loaded when it is first looked at, with ECharts.

import { init } from "../vendor/echarts-treemap.mjs";
import { byId, element, fill } from "./dom.js";
import { percent, short, whole } from "./format.js";

const MOST_LEAVES = 3000; // areas that are drawn; smaller files stand together, since none of them could be seen

export class Treemap {
  constructor(project) {
    this.project = project;
    this.box = byId("treemap");
    this.chart = init(this.box, null, { renderer: "canvas" });
    this.chart.on("click", ({ data }) => data?.path && project.open(data.path));
    this.chart.on("mouseover", ({ data }) => data && this.#legend(`${data.title}: ${whole(data.value)} tokens${data.view ? `, ${data.view}` : ""}`));
    this.chart.on("mouseout", () => this.#legend(""));
    new ResizeObserver(() => this.box.clientWidth > 0 && this.chart.resize()).observe(this.box);
    window.addEventListener("themechange", () => this.show());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.show());
  }

  /** Draw the files as they are now, if the tab is in sight. */
  show() {
    if (this.box.clientWidth === 0) return;
    this.byView = new Map();
    for (const file of this.project.tree.files.values()) {
      if (file.tokens > 0) this.byView.set(file.view, (this.byView.get(file.view) ?? 0) + file.tokens);
    }
    this.colours = new Map([...this.byView.keys()].map((view) => [view, swatch(view)]));
    this.#legend("");
    const style = getComputedStyle(document.documentElement);
    const text = style.getPropertyValue("color") || "#888888";
    const sizes = [...this.project.tree.files.values()].map((file) => file.tokens).sort((left, right) => right - left);
    this.least = sizes[MOST_LEAVES] ?? 0;
    this.chart.setOption({
      animation: false,
      series: [{
        type: "treemap",
        name: this.project.state?.project ?? "/", // of the outermost folder, in the line below
        data: this.#children(this.project.tree.root),
        left: 4, right: 4, top: 4, bottom: 30,
        roam: false,
        nodeClick: "zoomToNode",
        visibleMin: 40,
        breadcrumb: { bottom: 4, height: 20, itemStyle: { color: colourOf("--raised"), borderColor: colourOf("--line"), textStyle: { color: colourOf("--text") } }, emphasis: { itemStyle: { color: colourOf("--selected") } } },
        upperLabel: { show: true, height: 16, color: colourOf("--text"), fontSize: 11 },
        label: { show: true, color: "#ffffff", fontSize: 11 },
        itemStyle: { borderColor: colourOf("--line"), borderWidth: 1, gapWidth: 1 },
        color: ["#80868c"],
        levels: [{ upperLabel: { show: false }, itemStyle: { borderWidth: 0 } }, { itemStyle: { borderWidth: 1 } }],
      }],
      textStyle: { color: text },
    }, { notMerge: true });
  }

  #children(folder) {
    const nodes = [];
    const small = { value: 0, files: 0 };
    for (const child of folder.children) {
      if (child.tokens === 0) continue;
      if (child.children) nodes.push({ name: child.name, title: child.path || "/", value: child.tokens, children: this.#children(child), itemStyle: { color: colourOf("--raised") } });
      else if (child.tokens < this.least) Object.assign(small, { value: small.value + child.tokens, files: small.files + 1 });
      else nodes.push({ name: child.name, title: child.path, path: child.path, view: child.view, value: child.tokens, itemStyle: { color: this.colours.get(child.view) } });
    }
    if (small.files > 0) nodes.push({ name: `${whole(small.files)} small files`, title: `${folder.path}: ${whole(small.files)} small files`, value: small.value, itemStyle: { color: "#80868c" } });
    return nodes;
  }

  #legend(pointed) {
    if (pointed) return fill(byId("treemap-legend"), pointed);
    const total = this.project.tree.root.tokens;
    const items = [...this.byView].sort((left, right) => right[1] - left[1]).map(([view, tokens]) => element("span", { class: "view-name", data: { view }, text: `${view} ${short(tokens)} (${percent(tokens, total)})` }));
    fill(byId("treemap-legend"), ...(items.length ? items : [element("span", { class: "quiet", text: "No file is in the prompt yet: write a task, or choose files." })]));
  }
}

// The page's colours are made of light-dark(), which only an element's computed colour resolves.
function colourOf(name) {
  return resolve((probe) => (probe.style.color = `var(${name})`));
}

function swatch(view) {
  return resolve((probe) => {
    probe.dataset.view = view;
    probe.style.color = "var(--swatch, #80868c)";
  });
}

function resolve(dress) {
  const probe = document.createElement("span");
  dress(probe);
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
