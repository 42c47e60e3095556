/** Curves of the picked joints over time: each joint's own transform, channel by channel, with the values at the cursor. */
import type { App } from "../../app";
import type { Curves } from "../../protocol";
import { h, plot, segmented, setText, themeColor } from "../../ui/dom";
import { niceStep, PAD, type TimeAxis } from "./axis";

const CHANNELS = ["euler", "rotation", "translation", "scale"] as const;
export type ChannelName = (typeof CHANNELS)[number];
const NAMES: Record<ChannelName, string> = { euler: "Rotation", rotation: "Quaternion", translation: "Translation", scale: "Scale" };
const UNITS: Record<ChannelName, string> = { euler: "°", rotation: "", translation: " m", scale: "×" };
const LETTERS = ["x", "y", "z", "w"];
/** Joints after the first are told apart by how their lines are drawn. */
const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 8]];

export interface CurvePlot {
  canvas: HTMLCanvasElement;
  picker: HTMLElement;
  values: HTMLElement;
  show: (curves: Curves[]) => void;
  /** The values at a time, in the colours of their curves. */
  legend: (time: number) => void;
  redraw: () => void;
}

export function curvePlot(app: App, axis: TimeAxis): CurvePlot {
  let channel: ChannelName = "euler";
  let shown: Curves[] = [];
  let now = 0;
  const values = h("span", { class: "curve-values" });
  const graph = plot("Curves of the picked joints", (context, width, height) => {
    if (!shown.length || !app.clip) return;
    let low = Infinity;
    let high = -Infinity;
    for (const { [channel]: rows } of shown) for (const row of rows) for (const value of row) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    const least = channel === "euler" ? 2 : 0.02;
    if (high - low < least) [low, high] = [(low + high - least) / 2, (low + high + least) / 2];
    const toY = (value: number): number => 8 + (1 - (value - low) / (high - low)) * (height - 16);
    context.font = "10.5px Inter, system-ui, sans-serif";
    context.textBaseline = "middle";
    const step = niceStep((high - low) / Math.max(2, height / 30));
    context.strokeStyle = themeColor("line");
    context.lineWidth = 1;
    const lines: number[] = [];
    for (let value = Math.ceil(low / step) * step; value <= high + 1e-9; value += step) lines.push(value);
    context.beginPath();
    for (const value of lines) {
      context.moveTo(PAD, toY(value));
      context.lineTo(width - PAD, toY(value));
    }
    context.stroke();
    context.save();
    context.beginPath();
    context.rect(PAD - 2, 0, width - 2 * PAD + 4, height);
    context.clip();
    shown.forEach((curves, joint) => drawCurves(context, curves, DASHES[joint % DASHES.length], width, toY));
    context.restore();
    context.fillStyle = themeColor("text-dim");
    context.textAlign = "left";
    for (const value of lines) context.fillText(`${Number(value.toFixed(4))}${UNITS[channel]}`, PAD + 2, Math.max(7, toY(value) - 6));
  });

  function drawCurves(context: CanvasRenderingContext2D, curves: Curves, dash: number[], width: number, toY: (value: number) => number): void {
    const rows: number[][] = curves[channel];
    context.setLineDash(dash);
    context.lineWidth = 1.75;
    context.lineJoin = "round";
    for (let c = 0; c < (rows[0]?.length ?? 0); c++) {
      context.strokeStyle = themeColor(`curve-${LETTERS[c]}`);
      context.beginPath();
      rows.forEach((row, i) => {
        const x = axis.toX(curves.times[i], width);
        if (i) context.lineTo(x, toY(row[c]));
        else context.moveTo(x, toY(row[c]));
      });
      context.stroke();
    }
    context.setLineDash([]);
  }

  graph.canvas.classList.add("curves");
  const picker = segmented("Curve", CHANNELS.map((name) => [name, NAMES[name]] as const), (value) => {
    channel = value;
    picker.show(value);
    graph.redraw();
    legend(now);
  });
  picker.show(channel);

  /** Of the picked joint; those besides it are seen in the plot. */
  function legend(time: number): void {
    now = time;
    const first = shown[0];
    if (!first) {
      values.replaceChildren();
      return;
    }
    let i = first.times.findIndex((t) => t >= time);
    if (i < 0) i = first.times.length - 1;
    const row: number[] = first[channel][i] ?? [];
    if (values.children.length !== row.length)
      values.replaceChildren(...row.map((_, c) => h("span", { class: "curve-value" }, h("i", { class: `dot-${LETTERS[c]}` }), h("span"))));
    row.forEach((value, c) => setText(values.children[c].lastElementChild!, `${LETTERS[c]} ${value.toFixed(channel === "euler" ? 1 : 3)}${UNITS[channel]}`));
  }

  const show = (curves: Curves[]): void => {
    shown = curves;
    graph.redraw();
  };
  return { canvas: graph.canvas, picker: picker.element, values, show, legend, redraw: graph.redraw };
}
