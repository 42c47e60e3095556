/** What the viewport shows: skinning, comparison, overlays, stage. */
import type { App } from "../app";
import type { Compare, ViewOptions } from "../options";
import { button, h, segmented, toggle } from "../ui/dom";
import { chooseCharacter } from "./open";

type Flag = { [K in keyof ViewOptions]: ViewOptions[K] extends boolean ? K : never }[keyof ViewOptions];

const OVERLAYS: readonly (readonly [Flag, string, string])[] = [
  ["skeleton", "Skeleton", "S"],
  ["names", "Joint names", "N"],
  ["axes", "Axes", "A"],
  ["sockets", "Sockets", "O"],
  ["wireframe", "Wireframe", "W"],
  ["normals", "Normals", "M"],
  ["bounds", "Bounds", "B"],
  ["heat", "Weights of picked joint", "H"],
  ["path", "Path of picked joint", "P"],
];
const STAGE: readonly (readonly [Flag, string, string])[] = [
  ["grid", "Grid", "G"],
  ["shadows", "Shadows", ""],
  ["follow", "Follow character", "C"],
];

export const TOGGLE_KEYS = new Map([...OVERLAYS, ...STAGE].filter(([, , key]) => key).map(([name, , key]) => [key.toLowerCase(), name]));

export function displayPanel(app: App): HTMLElement {
  const method = segmented(
    "Skinning method",
    [["file", "As authored"], ["linear", "Linear"], ["dual_quaternion", "Dual quat."]] as const,
    (value) => app.set("method", value),
  );
  const compare = segmented(
    "Compare",
    [["off", "Off"], ["skinning", "Skinning"], ["files", "Two files"]] as const,
    (value: Compare) => {
      app.set("compare", value);
      if (value === "files" && !app.characters[1]) chooseCharacter(1);
    },
  );
  const second = h("div", { class: "second" });
  const switches = [...OVERLAYS, ...STAGE].map(([name, text, key]) => ({
    name, ...toggle(text, (on) => app.set(name, on), key),
  }));
  const travel = toggle("Travel over the floor", (on) => app.travel(on), "R");
  travel.element.title = "Characters go where their motion takes them. Home brings them back.";
  const heatNote = h("p", { class: "note" });
  const legend = h(
    "div", { class: "legend", hidden: true, role: "img", "aria-label": "Colours of weights: dark blue 0, yellow 1" },
    h("span", {}, "0"), h("div", { class: "ramp" }), h("span", {}, "1"),
  );

  function showSecond(): void {
    const other = app.characters[1];
    second.hidden = app.options.compare !== "files";
    second.replaceChildren(
      h("span", { class: "row-name" }, other ? other.name : "No second character yet"),
      button({ label: other ? "Open another second character" : "Open a second character", text: other ? "Change" : "Open", onclick: () => chooseCharacter(1) }),
      other ? button({ label: "Close the second character", icon: "close", onclick: () => app.send({ type: "close", slot: 1 }) }) : "",
    );
  }

  function show(): void {
    method.show(app.options.method);
    compare.show(app.options.compare);
    method.element.toggleAttribute("inert", app.options.compare === "skinning");
    for (const one of switches) one.show(app.options[one.name]);
    const joint = app.selected >= 0 ? app.characters[0]?.joints[app.selected]?.name : undefined;
    const needed = (app.options.heat || app.options.path) && !joint;
    heatNote.textContent = needed ? "Pick a joint in the view or the tree to see its weights and path." : joint ? `Picked: ${joint}` : "No joint picked.";
    legend.hidden = !(app.options.heat && joint);
    showSecond();
  }

  app.on("state", (state) => {
    travel.show(state.travel);
    travel.input.disabled = state.driven;
  });
  app.on("options", show);
  app.on("selection", show);
  app.on("character", show);
  show();
  const overlays = switches.slice(0, OVERLAYS.length).map((one) => one.element);
  const stage = switches.slice(OVERLAYS.length).map((one) => one.element);
  return h(
    "div", { class: "panel" },
    h("section", {}, h("h2", {}, "Skinning"), method.element, h("h2", { class: "spaced" }, "Compare"), compare.element, second),
    h("section", {}, h("h2", {}, "Show"), ...overlays, heatNote, legend),
    h(
      "section", {}, h("h2", {}, "Stage"), ...stage, travel.element,
      h(
        "div", { class: "buttons" },
        button({ label: "Frame the picked joint or the character (F)", icon: "frame", text: "Frame", onclick: () => app.viewport.frame(false, app.selected) }),
        button({ label: "Reset the camera (Home)", text: "Reset view", onclick: () => app.home() }),
      ),
    ),
  );
}
