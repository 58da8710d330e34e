// What echarts-treemap.mjs is bundled from (README.md beside this file).
export { init } from "echarts/core";
import { use } from "echarts/core";
import { TreemapChart } from "echarts/charts";
import { CanvasRenderer } from "echarts/renderers";
use([TreemapChart, CanvasRenderer]);
