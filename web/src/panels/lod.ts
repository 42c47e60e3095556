/** Levels of detail: what each gives up, who is drawn at which, and one for all. */
import type { App } from "../app";
import { h, toggle } from "../ui/dom";
import { viewsOf } from "../options";

const EVERY_MS = 500;

export function lodPanel(app: App): HTMLElement {
  const choice = h("select", { "aria-label": "Level of detail", onchange: () => app.send({ type: "level", value: Number(choice.value) }) });
  const colors = toggle("Colour by level", (on) => app.toggleView("levels", on));
  const body = h("tbody", {});
  const total = h("p", { class: "note" });
  const section = h("section", { class: "levels", hidden: true }, h("h2", {}, "Levels of detail"),
    h("label", { class: "row" }, "Shown at ", choice), colors.element,
    h("table", { class: "levels-table" }, h("thead", {}, h("tr", {}, ...["Level", "Triangles", "Joints", "Worst error", "Drawn"].map((text) => h("th", {}, text)))), body),
    total);
  let counts: HTMLElement[] = [];

  const build = (): void => {
    const info = app.characters[0];
    section.hidden = !info?.levels.length;
    if (!info) return;
    colors.element.hidden = !info.views.some(({ name }) => name === "levels");
    const levels = [{ triangles: info.triangles, joints: info.joints.length, error: 0 as number | null }, ...info.levels];
    choice.replaceChildren(h("option", { value: "-1" }, "what the picture needs"), ...levels.map((_, k) => h("option", { value: String(k) }, `level ${k}`)));
    choice.value = String(app.state?.level ?? -1);
    counts = levels.map(() => h("td", {}, "0"));
    body.replaceChildren(...levels.map((level, k) => {
      const error = level.error === null ? "–" : `${(1000 * level.error).toFixed(level.error < 0.01 ? 1 : 0)} mm`;
      return h("tr", {}, h("td", {}, String(k)), h("td", {}, level.triangles.toLocaleString("en")), h("td", {}, String(level.joints)), h("td", {}, error), counts[k]);
    }));
  };
  app.on("character", (slot) => slot === 0 && build());
  app.on("state", (state) => {
    choice.value = String(state.level);
    choice.disabled = state.driven;
  });
  app.on("options", (options) => colors.show(viewsOf(options.views).has("levels")));
  window.setInterval(() => {
    const drawn = section.hidden ? null : app.viewport.drawnLevels;
    if (!drawn) return;
    counts.forEach((cell, k) => void (cell.textContent = String(drawn.instances[k] ?? 0)));
    total.textContent = `${drawn.triangles.toLocaleString("en")} triangles now; levels may be ${drawn.pixels.toFixed(1)} pixels off on average.`;
  }, EVERY_MS);
  return section;
}
