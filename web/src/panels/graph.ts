/** The graph, live: nodes and edges with their weights, state machines, and the states entered lately. */
import type { App } from "../app";
import type { GraphInfo, NodeInfo } from "../protocol";
import { button, h, s } from "../ui/dom";
import { graphOffer } from "./graph_offer";
import { historyStrip } from "./history";
import { machineDrawing, type MachineDrawing } from "./machine";

/** Smaller than this the names of nodes cannot be read. */
const READABLE = 0.7;
const BOX = { width: 132, height: 36, leaf: 20, gapX: 46, gapY: 5 };

interface Place {
  x: number;
  y: number;
  height: number;
}

/** Leaves on the left, each below the other; every parent in the middle of its inputs, one column to the right. */
export function layoutTree(nodes: NodeInfo[]): { places: Map<string, Place>; width: number; height: number } {
  const children = new Map<string | null, NodeInfo[]>();
  for (const node of nodes) children.set(node.parent, [...(children.get(node.parent) ?? []), node]);
  const height = (node: NodeInfo): number => Math.max(0, ...(children.get(node.path) ?? []).map((child) => 1 + height(child)));
  const places = new Map<string, Place>();
  let down = 0;
  const depth = Math.max(0, ...(children.get(null) ?? []).map(height));
  const place = (node: NodeInfo, column: number): number => {
    const below = children.get(node.path) ?? [];
    const middles = below.map((child) => place(child, column - 1));
    const tall = below.length ? BOX.height : BOX.leaf;
    let middle = down + tall / 2;
    if (middles.length) middle = Math.max((middles[0] + middles[middles.length - 1]) / 2, tall / 2);
    down = Math.max(down, middle + tall / 2 + BOX.gapY);
    places.set(node.path, { x: column * (BOX.width + BOX.gapX), y: middle - tall / 2, height: tall });
    return middle;
  };
  for (const root of children.get(null) ?? []) place(root, depth);
  return { places, width: depth * (BOX.width + BOX.gapX) + BOX.width, height: Math.max(BOX.height, down - BOX.gapY) };
}

export function graphPanel(app: App): HTMLElement {
  const drawing = s("svg", { class: "graph", role: "group", "aria-label": "The graph: nodes, edges and their weights" });
  const machines = h("div", { class: "machines" });
  const strip = historyStrip(app);
  const empty = graphOffer(app);
  const canvas = h("div", { class: "graph-canvas", tabIndex: 0, "aria-label": "Graph drawing; scroll or drag to move, buttons to zoom" }, drawing);
  let edges = new Map<string, { path: SVGPathElement; label: SVGTextElement }>();
  let boxes = new Map<string, SVGGElement>();
  let machineDrawings: MachineDrawing[] = [];
  let masked: string | null = null;
  const shownWeights = new Map<string, number>();
  let size = { width: 1, height: 1 };
  let scale = 1;
  /** What is brought to the right edge, halfway up, at first: where the choices are made, with what they are made from. */
  let focus = { x: 0, y: 0 };

  function fill(): void {
    const graph = app.characters[0]?.graph ?? null;
    edges = new Map();
    boxes = new Map();
    machineDrawings = [];
    shownWeights.clear();
    showMask(null);
    empty.hidden = graph !== null;
    frame.hidden = graph === null;
    drawing.replaceChildren();
    machines.replaceChildren();
    machines.hidden = !graph?.machines.length;
    if (!graph) return;
    drawTree(graph);
    machineDrawings = graph.machines.map((machine) => machineDrawing(machine));
    machines.replaceChildren(...machineDrawings.map((one) => one.element));
    update();
  }

  function drawTree(graph: GraphInfo): void {
    const { places, width, height } = layoutTree(graph.nodes);
    size = { width: width + 16, height: height + 16 };
    const first = places.get(graph.machines[0]?.path ?? graph.blend_spaces[0]?.path ?? graph.nodes[0]?.path ?? "");
    focus = first ? { x: first.x + BOX.width + BOX.gapX, y: first.y + 26 } : focus;
    const lines: Element[] = [];
    const shapes: Element[] = [];
    for (const node of graph.nodes) {
      const at = places.get(node.path)!;
      const parent = node.parent === null ? null : places.get(node.parent)!;
      if (parent) {
        const [x0, y0, x1, y1] = [at.x + BOX.width, at.y + at.height / 2, parent.x, parent.y + parent.height / 2];
        const bend = (x1 - x0) / 2;
        const path = s("path", { class: "edge", d: `M${x0},${y0}C${x0 + bend},${y0} ${x1 - bend},${y1} ${x1},${y1}` });
        const label = s("text", { class: "edge-label", x: x0 + 6, y: y0 - 4 });
        edges.set(node.path, { path, label });
        lines.push(path, label);
      }
      const mask = graph.masks.find((m) => m.path === node.path);
      const machine = graph.machines.some((m) => m.path === node.path);
      const leaf = at.height === BOX.leaf;
      const subtitle = node.role ? (node.title === node.kind ? node.role : `${kindName(node.kind)} · ${node.role}`) : node.title === node.kind ? "" : kindName(node.kind);
      const group = s(
        "g",
        { class: `node ${mask ? "masked" : ""}`, transform: `translate(${at.x},${at.y})`, "data-path": node.path, ...(mask ? { tabindex: 0, role: "button", "aria-label": `Show the mask of ${node.title} on the skeleton`, onclick: () => showMask(masked === node.path ? null : node.path) } : {}) },
        s("rect", { width: BOX.width, height: at.height, rx: 6 }),
        s("rect", { class: "level", x: 0, y: at.height - 2.5, width: 0, height: 2.5, rx: 1.2 }),
        s("text", { x: 9, y: leaf ? 14 : subtitle ? 15 : 22, class: "node-title" }, clip(node.title === node.kind ? kindName(node.kind) : node.title, mask || machine ? 13 : 17)),
        subtitle && !leaf ? s("text", { x: 9, y: 28, class: "node-role" }, clip(subtitle, 23)) : null,
        mask || machine ? s("text", { x: BOX.width - 8, y: 15, class: "node-badge", "text-anchor": "end" }, mask ? "mask" : "▸") : null,
        s("title", {}, [`${node.kind} ${node.title}`, ...Object.entries(node.details).map(([k, v]) => `${k}: ${v}`), ...(mask ? ["Click to show its mask on the skeleton"] : [])].join("\n")),
      );
      boxes.set(node.path, group);
      shapes.push(group);
    }
    drawing.replaceChildren(s("g", { transform: "translate(8,8)" }, ...lines, ...shapes));
    drawing.setAttribute("viewBox", `0 0 ${size.width} ${size.height}`);
    fit();
  }

  /** Small graphs are shown whole; large ones at a size that can be read, and scroll. */
  function fit(): void {
    const { clientWidth, clientHeight } = canvas;
    if (!clientWidth) return;
    setScale(Math.min(1.1, Math.max(0.78, Math.min((clientWidth - 12) / size.width, (clientHeight - 12) / size.height))));
    canvas.scrollLeft = focus.x * scale - clientWidth;
    canvas.scrollTop = focus.y * scale - clientHeight / 2;
  }
  /** The whole graph; where it could not be read in the room there is, in the whole window. */
  function showAll(): void {
    const fits = (): number => Math.min(1.1, (canvas.clientWidth - 12) / size.width, (canvas.clientHeight - 12) / size.height);
    if (fits() < READABLE) app.emit("room", undefined);
    setScale(Math.max(fits(), READABLE));
  }
  function setScale(value: number): void {
    scale = Math.min(2, Math.max(0.1, value));
    drawing.setAttribute("width", String(size.width * scale));
    drawing.setAttribute("height", String(size.height * scale));
  }
  function zoom(factor: number): void {
    const { clientWidth, clientHeight, scrollLeft, scrollTop } = canvas;
    const old = scale;
    setScale(scale * factor);
    const ratio = scale / old;
    canvas.scrollLeft = (scrollLeft + clientWidth / 2) * ratio - clientWidth / 2;
    canvas.scrollTop = (scrollTop + clientHeight / 2) * ratio - clientHeight / 2;
  }
  let hidden = true;
  new ResizeObserver(() => {
    if (hidden && canvas.clientWidth) fit();
    hidden = !canvas.clientWidth;
  }).observe(canvas);
  canvas.addEventListener("pointerdown", (event) => {
    const from = { x: event.clientX + canvas.scrollLeft, y: event.clientY + canvas.scrollTop };
    const move = (to: PointerEvent): void => canvas.scrollTo(from.x - to.clientX, from.y - to.clientY);
    canvas.addEventListener("pointermove", move);
    window.addEventListener("pointerup", () => canvas.removeEventListener("pointermove", move), { once: true });
  });
  const zoomButtons = h(
    "div", { class: "zoom", role: "group", "aria-label": "Size of the graph" },
    button({ label: "The whole graph", text: "Fit", onclick: showAll }),
    button({ label: "Smaller", text: "−", onclick: () => zoom(1 / 1.25) }),
    button({ label: "Larger", text: "+", onclick: () => zoom(1.25) }),
  );

  const frame = h("div", { class: "graph-frame" }, canvas, zoomButtons);

  function showMask(path: string | null): void {
    masked = path;
    const graph = app.characters[0]?.graph;
    const mask = graph?.masks.find((m) => m.path === path);
    app.showMask(mask ? mask.path : null);
    for (const [at, box] of boxes) box.classList.toggle("showing", at === path && Boolean(mask));
  }

  function update(): void {
    for (const [path, box] of boxes) {
      const weight = app.state?.mode === "graph" ? (app.weights[path] ?? 0) : 0;
      if (shownWeights.get(path) === weight) continue;
      shownWeights.set(path, weight);
      box.classList.toggle("active", weight > 0.005);
      box.querySelector(".level")?.setAttribute("width", String(BOX.width * Math.min(1, weight)));
      const edge = edges.get(path);
      if (!edge) continue;
      edge.path.classList.toggle("active", weight > 0.005);
      edge.path.style.strokeWidth = String(1.2 + 2.6 * Math.min(1, weight));
      edge.label.textContent = weight > 0.005 ? `${Math.round(100 * weight)}%` : "";
    }
    const live = app.state?.mode === "graph" ? (app.live?.machines ?? []) : [];
    for (const one of machineDrawings) one.show(live.find((m) => m.machine === one.path) ?? null);
  }

  app.on("character", (slot) => {
    if (slot !== 0) return;
    fill();
  });
  app.on("live", update);
  app.on("state", update);
  window.addEventListener("keydown", (event) => event.key === "Escape" && masked && showMask(null));
  return h("div", { class: "graph-panel" }, h("div", { class: "graph-row" }, frame, machines, empty), strip);
}

function kindName(kind: string): string {
  return kind.replace(/Node$/, "").replace(/([a-z])([A-Z0-9])/g, "$1 $2").toLowerCase().replace(/^./, (c) => c.toUpperCase()).replace(/ ?([12]) ?d$/, " $1D");
}

function clip(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
