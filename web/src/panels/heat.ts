/** What the surface is coloured by, and what its colours mean. */
import type { App } from "../app";
import { clamp, h } from "../ui/dom";
import type { HeatKind } from "../view/heat";

const KINDS: [HeatKind, string][] = [
  ["weights", "weights of the picked joint"],
  ["influences", "number of influences"],
  ["limit", "too many influences"],
  ["methods", "linear against dual quaternion"],
  ["change", "change since the file was read before"],
];

export function heatChoice(app: App): HTMLElement {
  const kind = h("select", { "aria-label": "Colour the surface by", onchange: () => app.set("heatOf", kind.value as HeatKind) }, ...KINDS.map(([value, text]) => h("option", { value }, text)));
  const limit = h("input", { type: "number", class: "number", min: "1", max: "32", "aria-label": "Influences a vertex may have", onchange: () => {
    app.set("limit", clamp(Math.round(Number(limit.value) || 4), 1, 32));
    limit.value = String(app.options.limit);
  } });
  const limited = h("label", { class: "row plain" }, h("span", { class: "row-name" }, "Influences a vertex may have"), limit);
  const low = h("span", {});
  const high = h("span", {});
  const legend = h("div", { class: "legend", hidden: true, role: "img" }, low, h("div", { class: "ramp" }), high);
  const words = h("p", { class: "note", hidden: true });
  const box = h("div", { class: "heat" }, h("label", { class: "row plain" }, h("span", {}, "by"), kind), limited, words, legend);

  const show = (): void => {
    box.hidden = !app.options.heat;
    kind.value = app.options.heatOf;
    limited.hidden = app.options.heatOf !== "limit";
    limit.value = String(app.options.limit);
  };
  let told = "";
  app.on("scale", (scale) => {
    const now = JSON.stringify(scale);
    if (now === told) return;
    told = now;
    legend.hidden = words.hidden = !scale;
    if (!scale) return;
    low.textContent = scale.low;
    high.textContent = scale.high;
    words.textContent = scale.text;
    legend.setAttribute("aria-label", `${scale.text}: grey ${scale.low}, yellow ${scale.high}`);
  });
  app.on("options", show);
  show();
  return box;
}
