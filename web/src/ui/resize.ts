/** Edges of panels that can be dragged, or moved with the arrow keys, to give the panel more or less room. */
import { clamp, h } from "./dom";

const STEP = 16;

export interface Edge {
  /** The panel's edge that is dragged: the panel grows when it moves that way. */
  side: "top" | "left" | "right";
  /** The CSS variable that holds the panel's size. */
  variable: string;
  label: string;
  size: number;
  least: number;
  /** The largest size there is room for. */
  most: () => number;
}

export function resizeHandle(root: HTMLElement, edge: Edge): { element: HTMLElement; set: (size: number) => void; size: () => number } {
  const upright = edge.side !== "top";
  let { size } = edge;
  const set = (value: number): void => {
    size = clamp(Math.round(value), edge.least, Math.max(edge.least, edge.most()));
    root.style.setProperty(edge.variable, `${size}px`);
    element.setAttribute("aria-valuenow", String(size));
    element.setAttribute("aria-valuemax", String(Math.round(Math.max(edge.least, edge.most()))));
  };
  const element = h("div", {
    class: `edge edge-${edge.side}`, role: "separator", tabIndex: 0, "aria-label": edge.label, "aria-orientation": upright ? "vertical" : "horizontal",
    "aria-valuemin": edge.least, "aria-valuenow": size, "aria-valuemax": 1000,
  });
  let from = { at: 0, size: 0 };
  const along = (event: PointerEvent): number => (upright ? event.clientX : event.clientY);
  element.addEventListener("pointerdown", (event) => {
    element.setPointerCapture(event.pointerId);
    from = { at: along(event), size };
  });
  element.addEventListener("pointermove", (event) => {
    if (!element.hasPointerCapture(event.pointerId)) return;
    const moved = along(event) - from.at;
    set(from.size + (edge.side === "right" ? moved : -moved));
  });
  element.addEventListener("keydown", (event) => {
    const grows = { top: "ArrowUp", left: "ArrowLeft", right: "ArrowRight" }[edge.side];
    const shrinks = { top: "ArrowDown", left: "ArrowRight", right: "ArrowLeft" }[edge.side];
    if (event.key !== grows && event.key !== shrinks) return;
    event.preventDefault();
    event.stopPropagation();
    set(size + (event.key === grows ? STEP : -STEP));
  });
  return { element, set, size: () => size };
}
