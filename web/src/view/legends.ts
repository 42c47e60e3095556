/** What the colours of a drawing mean, and what else there is to say about it, over a corner of the picture. */
import { h } from "../ui/dom";
import type { LegendInfo } from "../protocol";

type Color = [number, number, number];
const css = ([r, g, b]: Color): string => `rgb(${[r, g, b].map((v) => Math.round(255 * v)).join(" ")})`;

function legend(info: LegendInfo): HTMLElement {
  const rows = info.entries.map(([name, color]) => {
    const swatch = h("i", { class: "legend-swatch" });
    swatch.style.background = css(color);
    return h("li", {}, swatch, name);
  });
  if (rows.length) return h("div", { class: "legend-box" }, h("strong", {}, info.title), h("ul", {}, ...rows));
  const ramp = h("div", { class: "legend-ramp" });
  ramp.style.background = `linear-gradient(to right, ${info.ramp.map(css).join(", ")})`;
  return h("div", { class: "legend-box" }, h("strong", {}, info.title), ramp, h("div", { class: "legend-ends" }, h("span", {}, info.low), h("span", {}, info.high)));
}

export class Legends {
  readonly element = h("div", { class: "legends", role: "status", hidden: true });
  private told = "";

  show(legends: LegendInfo[], notes: string[]): void {
    const now = JSON.stringify([legends, notes]);
    if (now === this.told) return;
    this.told = now;
    this.element.hidden = !legends.length && !notes.length;
    this.element.replaceChildren(...legends.map(legend), ...notes.map((note) => h("p", { class: "legend-note" }, note)));
  }
}
