/** A graph's parameters: sliders, switches and triggers, and blend spaces as pads to drag on. */
import type { App } from "../app";
import type { BlendSpaceInfo, GraphInfo, NodeInfo, ParameterInfo } from "../protocol";
import { button, h, toggle } from "../ui/dom";
import { slider } from "../ui/slider";
import { blendPad } from "./pad";

type Value = boolean | number | [number, number, number];
interface Control {
  element: HTMLElement;
  show: (value: Value) => void;
}

export function steerPanel(app: App): HTMLElement {
  const body = h("div", { class: "panel" });
  let controls = new Map<string, Control>();
  let pads: { show: (values: Record<string, number>, weights: Record<string, number>) => void }[] = [];

  function fill(): void {
    const graph = app.characters[0]?.graph ?? null;
    controls = new Map();
    pads = [];
    if (!graph) {
      body.replaceChildren(h("p", { class: "empty" }, "This character has no graph. Start the studio with ", h("code", {}, "--graph FILE"), " to steer it."));
      return;
    }
    for (const parameter of graph.parameters) controls.set(parameter.name, control(app, parameter));
    const triggers = graph.parameters.filter((p) => p.type === "trigger");
    const others = graph.parameters.filter((p) => p.type !== "trigger");
    const spaces = graph.blend_spaces.filter((space) => space.x && space.y);
    body.replaceChildren(
      triggers.length ? h("section", {}, h("h2", {}, "Triggers"), h("div", { class: "triggers" }, ...triggers.map((p) => controls.get(p.name)!.element))) : "",
      ...spaces.map((space) => padSection(graph, space)),
      others.length ? h("section", {}, h("h2", {}, "Parameters"), ...others.map((p) => controls.get(p.name)!.element)) : "",
    );
    show();
  }

  function padSection(graph: GraphInfo, space: BlendSpaceInfo): HTMLElement {
    const pad = blendPad(app, graph, space);
    pads.push(pad);
    const node = graph.nodes.find((one) => one.path === space.path);
    return h("section", {}, h("h2", {}, spaceName(node, space)), pad.element);
  }

  function show(): void {
    const values = app.state?.parameters ?? {};
    for (const [name, one] of controls) if (name in values) one.show(values[name]);
    showPads();
  }

  function showPads(): void {
    const values: Record<string, number> = {};
    for (const [name, value] of Object.entries(app.state?.parameters ?? {})) if (typeof value === "number") values[name] = value;
    for (const pad of pads) pad.show(values, app.weights);
  }

  app.on("character", (slot) => slot === 0 && fill());
  app.on("state", show);
  app.on("live", showPads);
  fill();
  return body;
}

function control(app: App, parameter: ParameterInfo): Control {
  const { name } = parameter;
  const send = (value: Value): void => {
    enterGraph(app);
    app.sendLatest(`parameter ${name}`, { type: "parameter", name, value });
  };
  if (parameter.type === "trigger") {
    const element = button({
      label: `Fire ${name}`, text: words(name), class: "trigger",
      onclick: () => {
        enterGraph(app);
        app.send({ type: "trigger", name });
      },
    });
    return { element, show: () => {} };
  }
  if (parameter.type === "bool") {
    const one = toggle(words(name), send);
    return { element: one.element, show: (value) => one.show(value === true) };
  }
  if (parameter.type === "vector") {
    const now: [number, number, number] = [0, 0, 0];
    const sliders = ["x", "y", "z"].map((axis, i) => slider(`${words(name)} ${axis}`, parameter.range, (value) => {
      now[i] = value;
      send([...now]);
    }));
    return {
      element: h("div", { class: "vector" }, ...sliders.map((one) => one.element)),
      show: (value) => Array.isArray(value) && value.forEach((v, i) => {
        now[i] = v;
        sliders[i].show(v);
      }),
    };
  }
  const one = slider(words(name), parameter.range, send);
  return { element: one.element, show: (value) => one.show(Number(value)) };
}

/** What a blend space is called: by its node's name, by what it is to the node above, or by what it is steered with. */
function spaceName(node: NodeInfo | undefined, space: BlendSpaceInfo): string {
  if (node?.title && node.title !== node.kind) return words(node.title);
  if (node?.role && !/^\d+$/.test(node.role)) return words(node.role);
  return `${words(space.x ?? "")} and ${words(space.y ?? "").toLowerCase()}`;
}

/** Steering means the graph is wanted. */
export function enterGraph(app: App): void {
  if (app.state?.mode === "clip") app.send({ type: "mode", value: "graph" });
}

/** `moveSpeed` and `move_speed` as a person writes them. */
export function words(name: string): string {
  const spaced = name.replaceAll("_", " ").replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}
