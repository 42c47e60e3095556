/** A 2D blend space: its points and triangles, and a dot to drag. */
import type { App } from "../app";
import type { BlendSpaceInfo, GraphInfo } from "../protocol";
import { clamp, h, onMove, s } from "../ui/dom";
import { enterGraph, words } from "./steer";

const SIZE = 240;
const MARGIN = 26;
const LETTER = 5.6;
const LINE = 12;

export interface Pad {
  element: HTMLElement;
  show: (values: Record<string, number>, weights: Record<string, number>) => void;
}

export function blendPad(app: App, graph: GraphInfo, space: BlendSpaceInfo): Pad {
  const x = space.x!;
  const y = space.y!;
  const rangeOf = (name: string, values: number[]): [number, number] => {
    const declared = graph.parameters.find((p) => p.name === name)?.range;
    const low = Math.min(...values, declared?.[0] ?? Infinity);
    const high = Math.max(...values, declared?.[1] ?? -Infinity);
    return high > low ? [low, high] : [low - 1, high + 1];
  };
  const [x0, x1] = rangeOf(x, space.points.map((p) => p.x));
  const [y0, y1] = rangeOf(y, space.points.map((p) => p.y));
  const toX = (v: number): number => MARGIN + ((v - x0) / (x1 - x0)) * (SIZE - 2 * MARGIN);
  const toY = (v: number): number => SIZE - MARGIN - ((v - y0) / (y1 - y0)) * (SIZE - 2 * MARGIN);
  const now = { x: 0, y: 0 };
  const shown: number[] = [];
  let dragging = false;

  const triangles = space.triangles.map((corners) =>
    s("polygon", { class: "pad-triangle", points: corners.map((i) => `${toX(space.points[i].x)},${toY(space.points[i].y)}`).join(" ") }),
  );
  const points = space.points.map((point) =>
    s("circle", { class: "pad-point", cx: toX(point.x), cy: toY(point.y), r: 4 }, s("title", {}, point.label)),
  );
  const labels = space.points.map((point) => {
    const px = toX(point.x);
    const anchor = px < 50 ? "start" : px > SIZE - 50 ? "end" : "middle";
    const at = anchor === "middle" ? px : anchor === "start" ? Math.max(4, px - 6) : Math.min(SIZE - 4, px + 6);
    const width = LETTER * point.label.length;
    const left = anchor === "middle" ? at - width / 2 : anchor === "start" ? at : at - width;
    return { text: s("text", { class: "pad-name", x: at, y: toY(point.y) - 9, "text-anchor": anchor }, point.label), left, right: left + width, y: toY(point.y) };
  });
  const names = labels.map((label) => label.text);
  // Where points lie close together only names that have room are written; the heaviest point is named below.
  const kept: typeof labels = [];
  for (const label of [...labels].sort((a, b) => a.right - a.left - (b.right - b.left))) {
    if (kept.some((other) => Math.abs(other.y - label.y) < LINE && label.left < other.right + 4 && other.left < label.right + 4)) label.text.remove();
    else kept.push(label);
  }
  const crowded = kept.length < labels.length;
  const dot = s("circle", { class: "pad-dot", r: 8 });
  const drawing = s(
    "svg",
    { viewBox: `0 0 ${SIZE} ${SIZE}`, class: "pad", tabindex: 0, role: "slider", "aria-label": `Blend space of ${words(x)} and ${words(y)}`, "aria-valuemin": x0, "aria-valuemax": x1 },
    ...triangles, ...points, ...kept.map((label) => label.text), dot,
  );
  const readout = h("div", { class: "pad-axes" }, h("span", {}), h("span", { class: "pad-heaviest" }), h("span", {}));

  function place(): void {
    dot.setAttribute("cx", String(toX(clamp(now.x, x0, x1))));
    dot.setAttribute("cy", String(toY(clamp(now.y, y0, y1))));
    drawing.setAttribute("aria-valuenow", now.x.toFixed(3));
    drawing.setAttribute("aria-valuetext", `${words(x)} ${now.x.toFixed(2)}, ${words(y)} ${now.y.toFixed(2)}`);
    readout.children[0].textContent = `${words(x)} → ${now.x.toFixed(2)}`;
    readout.children[2].textContent = `${words(y)} ↑ ${now.y.toFixed(2)}`;
  }

  function move(nx: number, ny: number): void {
    now.x = clamp(nx, x0, x1);
    now.y = clamp(ny, y0, y1);
    place();
    enterGraph(app);
    app.sendLatest(`parameter ${x}`, { type: "parameter", name: x, value: now.x });
    app.sendLatest(`parameter ${y}`, { type: "parameter", name: y, value: now.y });
  }

  function drag(event: PointerEvent): void {
    const frame = drawing.getBoundingClientRect();
    const u = ((event.clientX - frame.left) / frame.width) * SIZE;
    const v = ((event.clientY - frame.top) / frame.height) * SIZE;
    move(x0 + ((u - MARGIN) / (SIZE - 2 * MARGIN)) * (x1 - x0), y0 + ((SIZE - MARGIN - v) / (SIZE - 2 * MARGIN)) * (y1 - y0));
  }

  drawing.addEventListener("pointerdown", (event) => {
    drawing.setPointerCapture(event.pointerId);
    dragging = true;
    drag(event);
  });
  onMove(drawing, (event) => dragging && drag(event));
  for (const end of ["pointerup", "pointercancel"] as const) drawing.addEventListener(end, () => (dragging = false));
  drawing.addEventListener("keydown", (event) => {
    const steps: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    move(now.x + (step[0] * (x1 - x0)) / 40, now.y + (step[1] * (y1 - y0)) / 40);
  });
  place();

  return {
    element: h("div", { class: "pad-box", "data-space": space.path }, drawing, readout),
    show: (values, weights) => {
      if (!dragging && (values[x] !== now.x || values[y] !== now.y)) {
        now.x = values[x] ?? now.x;
        now.y = values[y] ?? now.y;
        place();
      }
      space.points.forEach((point, i) => {
        const weight = weights[point.node] ?? 0;
        if (shown[i] === weight) return;
        shown[i] = weight;
        points[i].setAttribute("r", String(4 + 5 * weight));
        points[i].classList.toggle("on", weight > 0.01);
        names[i].classList.toggle("on", weight > 0.01);
      });
      if (!crowded) return;
      const heaviest = shown.indexOf(Math.max(...shown));
      const name = shown[heaviest] > 0.01 ? space.points[heaviest].label : "";
      if (readout.children[1].textContent !== name) readout.children[1].textContent = name;
    },
  };
}
