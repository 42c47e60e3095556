/** The dope sheet: when joints have keys, a row for each, with rotation, translation and scale one above the other. */
import type { App } from "../../app";
import type { Keys } from "../../protocol";
import { h, plot, themeColor } from "../../ui/dom";
import type { TimeAxis } from "./axis";

export const ROW = 22;
/** More rows than this are not drawn: a whole skeleton has some hundred joints. */
const MOST = 400;
const FIELDS = [["rotation", "curve-x", -5], ["translation", "curve-y", 0], ["scale", "curve-z", 5]] as const;

export interface DopeSheet {
  element: HTMLElement;
  canvas: HTMLCanvasElement;
  show: (keys: Keys | null) => void;
  redraw: () => void;
}

export function dopeSheet(app: App, axis: TimeAxis): DopeSheet {
  let keys: Keys | null = null;
  const names = h("div", { class: "dope-names" });
  const sheet = plot("Keys of the joints", (context, width) => {
    if (!keys) return;
    const shape = (x: number, y: number): void => {
      context.moveTo(x, y - 3);
      context.lineTo(x + 2.6, y);
      context.lineTo(x, y + 3);
      context.lineTo(x - 2.6, y);
    };
    rows().forEach((row, r) => {
      const middle = (r + 0.5) * ROW;
      context.fillStyle = themeColor(r % 2 ? "panel" : "bg");
      context.fillRect(0, r * ROW, width, ROW);
      for (const [field, color, offset] of FIELDS) {
        context.fillStyle = themeColor(color);
        context.beginPath();
        for (const t of row[field]) if (t >= axis.from - 1e-6 && t <= axis.to + 1e-6) shape(axis.toX(t, width), middle + offset);
        context.fill();
      }
    });
  });
  const rows = (): { joint: number; rotation: number[]; translation: number[]; scale: number[] }[] => [
    ...(keys?.joints ?? []).slice(0, MOST),
    ...(keys?.morphs.length ? [{ joint: -1, rotation: [], translation: [], scale: keys.morphs }] : []),
  ];
  const show = (found: Keys | null): void => {
    keys = found;
    names.replaceChildren(...rows().map(({ joint }) =>
      joint < 0 ? h("span", { class: "dope-name" }, "Morph targets")
        : h("button", { type: "button", class: `dope-name ${joint === app.selected ? "picked" : ""}`, title: app.characters[0]?.joints[joint]?.name ?? "", onclick: () => app.select(joint) }, app.characters[0]?.joints[joint]?.name ?? "?")));
    sheet.canvas.style.height = `${Math.max(1, rows().length) * ROW}px`;
    sheet.redraw();
  };
  sheet.canvas.classList.add("dope");
  return { element: h("div", { class: "dope-sheet", tabIndex: 0, role: "region", "aria-label": "Keys" }, sheet.canvas, names), canvas: sheet.canvas, show, redraw: sheet.redraw };
}
