/** What the viewport shows: skinning, comparison, overlays, stage. */
import type { App } from "../app";
import type { Compare, ViewOptions } from "../options";
import { button, h, segmented, toggle } from "../ui/dom";
import { chooseCharacter } from "./open";
import { secondClip } from "./second";
import { viewsMenu } from "./views";

type Flag = { [K in keyof ViewOptions]: ViewOptions[K] extends boolean ? K : never }[keyof ViewOptions];

const STAGE: readonly (readonly [Flag, string, string])[] = [
  ["grid", "Grid", "U"],
  ["shadows", "Shadows", ""],
  ["follow", "Follow character", "C"],
];

export const TOGGLE_KEYS = new Map(STAGE.filter(([, , key]) => key).map(([name, , key]) => [key.toLowerCase(), name]));

export function displayPanel(app: App): HTMLElement {
  const method = segmented(
    "Skinning method",
    [["file", "As authored"], ["linear", "Linear"], ["dual_quaternion", "Dual quat."]] as const,
    (value) => app.set("method", value),
  );
  const compare = segmented(
    "Compare",
    [["off", "Off"], ["skinning", "Skinning"], ...(app.source.can.has("open") ? [["files", "Two files"] as const] : [])] as const,
    (value: Compare) => {
      app.set("compare", value);
      if (value === "files" && !app.characters[1]) chooseCharacter(1);
    },
  );
  const second = h("div", { class: "second" });
  const switches = STAGE.map(([name, text, key]) => ({
    name, ...toggle(text, (on) => app.set(name, on), key),
  }));
  const travel = toggle("Travel over the floor", (on) => app.travel(on), "R");
  travel.element.title = "Characters go where their motion takes them. Home brings them back.";

  function showSecond(): void {
    const other = app.characters[1];
    second.hidden = app.options.compare !== "files";
    second.replaceChildren(
      h("span", { class: "row-name" }, other ? other.name : "No second character yet"),
      button({ label: other ? "Open another second character" : "Open a second character", text: other ? "Change" : "Open", onclick: () => chooseCharacter(1) }),
      other ? secondClip(app, other) : "",
      other ? button({ label: "Close the second character", icon: "close", onclick: () => app.send({ type: "close", slot: 1 }) }) : "",
    );
  }

  function show(): void {
    method.show(app.options.method);
    compare.show(app.options.compare);
    method.element.toggleAttribute("inert", app.options.compare === "skinning");
    for (const one of switches) one.show(app.options[one.name]);
    showSecond();
  }

  app.on("state", (state) => {
    travel.show(state.travel);
    travel.input.disabled = state.driven;
  });
  app.on("options", show);
  app.on("character", show);
  show();
  const stage = switches.map((one) => one.element);
  return h(
    "div", { class: "panel" },
    h("section", {}, h("h2", {}, "Skinning"), method.element, h("h2", { class: "spaced" }, "Compare"), compare.element, second),
    viewsMenu(app),
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
