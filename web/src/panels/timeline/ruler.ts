/** The ruler: time to scrub on, events and windows to click, the part that is looped with its ends to drag. */
import type { App } from "../../app";
import type { EventInfo } from "../../protocol";
import { h, onMove, plot, themeColor } from "../../ui/dom";
import { niceStep, type TimeAxis } from "./axis";
import { scrubbing } from "./scrub";

/** How near (px) the pointer has to be to an event or to an end of the range. */
const NEAR = 6;

export interface Ruler {
  element: HTMLElement;
  canvas: HTMLCanvasElement;
  redraw: () => void;
}

export function timeRuler(app: App, axis: TimeAxis, moved: (time: number) => void, edit: (event: EventInfo | null, time: number) => void): Ruler {
  const ruler = plot("Timeline", (context, width, height) => {
    const clip = app.clip;
    if (!clip) return;
    drawRange(context, width, height);
    context.font = "10.5px Inter, system-ui, sans-serif";
    context.textBaseline = "top";
    const step = niceStep((axis.to - axis.from) / Math.max(2, width / 80));
    context.fillStyle = themeColor("text-dim");
    context.strokeStyle = themeColor("line-strong");
    context.lineWidth = 1;
    context.beginPath();
    for (let i = Math.ceil((5 * axis.from) / step - 1e-6); (i * step) / 5 <= axis.to + 1e-6; i++) {
      const t = (i * step) / 5;
      const major = i % 5 === 0;
      const x = Math.round(axis.toX(t, width)) + 0.5;
      context.moveTo(x, height);
      context.lineTo(x, height - (major ? 9 : 4));
      if (!major) continue;
      context.textAlign = i === 0 ? "left" : "center";
      context.fillText(`${Number(t.toFixed(4))}s`, i === 0 ? x - 2 : x, 5);
    }
    context.stroke();
    drawEvents(context, width, height);
  });

  function drawRange(context: CanvasRenderingContext2D, width: number, height: number): void {
    const range = app.state?.range;
    if (!range) return;
    const [a, b] = range.map((t) => axis.toX(t, width));
    context.fillStyle = themeColor("accent-soft");
    context.fillRect(a, 0, b - a, height);
    context.fillStyle = themeColor("accent");
    for (const x of [a, b]) context.fillRect(x - 1, 0, 2, height);
  }

  function drawEvents(context: CanvasRenderingContext2D, width: number, height: number): void {
    context.fillStyle = themeColor("warm");
    for (const event of app.clip?.events ?? []) {
      const x = axis.toX(event.time, width);
      if (event.duration > 0) {
        const end = axis.toX(event.time + event.duration, width);
        context.globalAlpha = 0.45;
        context.fillRect(x, height - 13, Math.max(2, end - x), 6);
        context.globalAlpha = 1;
      }
      context.beginPath();
      context.moveTo(x, height - 15);
      context.lineTo(x + 4, height - 10);
      context.lineTo(x, height - 5);
      context.lineTo(x - 4, height - 10);
      context.fill();
    }
  }

  const { canvas } = ruler;
  const editable = app.source.can.has("edit");
  canvas.classList.add("ruler");
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "slider");
  canvas.setAttribute("aria-label", "Time in the clip");
  canvas.setAttribute("aria-valuemin", "0");
  const tip = h("div", { class: "tip", hidden: true });
  const place = (event: PointerEvent | MouseEvent): { x: number; width: number } => {
    const frame = canvas.getBoundingClientRect();
    return { x: event.clientX - frame.left, width: frame.width };
  };
  const eventAt = (event: PointerEvent | MouseEvent): EventInfo | undefined => {
    const { x, width } = place(event);
    return app.clip?.events.find((mark) => Math.abs(axis.toX(mark.time, width) - x) < NEAR);
  };
  /** Which end of the range the pointer is on: 0, 1, or -1 for neither. */
  const endAt = (event: PointerEvent): number => {
    const { x, width } = place(event);
    return (app.state?.range ?? []).findIndex((t) => Math.abs(axis.toX(t, width) - x) < NEAR);
  };

  let dragged: { end: number; other: number } | null = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !app.clip || app.state?.driven) return;
    const { x, width } = place(event);
    const end = endAt(event);
    // With shift a new part is drawn out.
    if (event.shiftKey) dragged = { end: 1, other: axis.toTime(x, width) };
    else if (end >= 0) dragged = { end, other: app.state!.range![1 - end] };
    else return;
    canvas.setPointerCapture(event.pointerId);
  });
  onMove(canvas, (event) => {
    if (!dragged) return;
    const { x, width } = place(event);
    const t = axis.toTime(x, width);
    const [start, end] = [Math.min(t, dragged.other), Math.max(t, dragged.other)];
    if (end - start > 0.005) app.sendLatest("range", { type: "range", start, end });
  });
  canvas.addEventListener("pointerup", () => (dragged = null));
  scrubbing(app, axis, canvas, moved, (event) => event.shiftKey || endAt(event) >= 0);
  axis.listen(canvas);
  canvas.addEventListener("dblclick", (event) => {
    const { x, width } = place(event);
    if (app.clip && editable && !app.state?.driven) edit(eventAt(event) ?? null, axis.toTime(x, width));
  });
  canvas.addEventListener("pointermove", (event) => {
    const { width } = place(event);
    const near = eventAt(event);
    canvas.style.cursor = endAt(event) >= 0 ? "col-resize" : "";
    tip.hidden = !near;
    if (!near) return;
    const until = near.duration > 0 ? ` to ${(near.time + near.duration).toFixed(2)} s` : "";
    tip.textContent = `${near.name} · ${near.time.toFixed(2)} s${until}${editable ? " · double-click to change it" : ""}`;
    tip.style.left = `${Math.min(width - 90, Math.max(90, axis.toX(near.time, width)))}px`;
  });
  canvas.addEventListener("pointerleave", () => (tip.hidden = true));
  return { element: h("div", { class: "track" }, canvas, tip), canvas, redraw: ruler.redraw };
}
