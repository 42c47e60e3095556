/** What swings: the settings of chains, moved live, and the wind. */
import type { App } from "../app";
import type { SetSpring, SpringState } from "../protocol";
import { viewsOf } from "../options";
import { button, h } from "../ui/dom";
import { slider } from "../ui/slider";

type Setting = "stiffness" | "drag" | "gravity" | "radius" | "limit";
const SETTINGS: { key: Setting; label: string; most: number; scale: number }[] = [
  { key: "stiffness", label: "Stiffness", most: 4, scale: 1 },
  { key: "drag", label: "Drag", most: 1, scale: 1 },
  { key: "gravity", label: "Gravity", most: 2, scale: 1 },
  { key: "radius", label: "Radius (cm)", most: 10, scale: 100 },
  { key: "limit", label: "Limit (degrees)", most: 180, scale: 180 / Math.PI },
];
const FURTHEST = 3.1415926;
const STRONGEST = 5;
const AXES = ["X", "Y", "Z"] as const;

export function springTools(app: App): HTMLElement {
  const chains = h("div", { class: "springs", "data-list": "springs" });
  const blows = AXES.map((axis, i) => slider(`Wind ${axis}`, [-STRONGEST, STRONGEST], (value) => {
    const wind: [number, number, number] = [...(app.state?.wind ?? [0, 0, 0])];
    wind[i] = value;
    app.sendLatest("wind", { type: "wind", wind });
  }));
  const drawn = button({ label: "Draw chains and colliders", text: "Draw", pressed: false, onclick: () => app.toggleView("springs") });
  const back = button({ label: "Set springs as the file or the graph has them", text: "Put back", onclick: () => app.send({ type: "reset_springs" }) });
  const element = h("section", { hidden: true }, h("h2", {}, "Springs"), h("div", { class: "buttons" }, drawn, back), ...blows.map((one) => one.element), chains);
  let rows: { name: string; controls: Map<Setting, { element: HTMLElement; show: (value: number) => void }> }[] = [];

  /** The sliders of a chain; without a name those of all. */
  function controlsOf(name: string, state: SpringState): (typeof rows)[number] {
    const controls = new Map(SETTINGS.map(({ key, label, most, scale }) => {
      const range: [number, number] = [key === "gravity" && state.gravity < 0 ? -most : 0, key === "drag" || key === "limit" ? most : Math.max(most, 2 * state[key] * scale)];
      const change = (value: number): void => {
        const message: SetSpring = { type: "spring", chain: name };
        message[key] = key === "limit" ? Math.min(value / scale, FURTHEST) : value / scale;
        app.sendLatest(`spring ${name} ${key}`, message);
      };
      return [key, slider(`${label}${name ? ` of ${name}` : ""}`, range, change)] as const;
    }));
    for (const [key, one] of controls) one.element.querySelector(".slider-name")!.textContent = SETTINGS.find((s) => s.key === key)!.label;
    return { name, controls };
  }

  function build(states: SpringState[]): void {
    const groups: [string, SpringState, string][] = states.map((state) => [state.name, state, `${state.joints} joint${state.joints === 1 ? "" : "s"}`]);
    if (states.length > 1) groups.unshift(["", states[0], `${states.length} chains`]);
    rows = groups.map(([name, state]) => controlsOf(name, state));
    chains.replaceChildren(...groups.map(([name, , note], k) => h("details", { open: k === 0, "data-chain": name },
      h("summary", {}, h("span", { class: "row-name" }, name || "All"), h("span", { class: "row-note" }, note)),
      ...[...rows[k].controls.values()].map((one) => one.element))));
  }

  let built = "";
  function show(): void {
    const states = app.state?.springs ?? [];
    element.hidden = !states.length;
    if (!states.length) return;
    const names = states.map(({ name }) => name).join("\n");
    if (names !== built) build(states);
    built = names;
    const by = new Map(states.map((state) => [state.name, state]));
    for (const { name, controls } of rows) for (const { key, scale } of SETTINGS) controls.get(key)!.show((by.get(name) ?? states[0])[key] * scale);
    blows.forEach((one, i) => one.show(app.state!.wind[i]));
    drawn.setAttribute("aria-pressed", String(viewsOf(app.options.views).has("springs")));
  }
  for (const event of ["state", "character", "options"] as const) app.on(event, show);
  show();
  return element;
}
