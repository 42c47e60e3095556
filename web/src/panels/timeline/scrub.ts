/** Scrubbing: time goes where the pointer is dragged, and on from there as before. */
import type { App } from "../../app";
import { onMove } from "../../ui/dom";
import type { TimeAxis } from "./axis";

/** Lets a canvas be scrubbed on; `taken` says that a press there means something else. */
export function scrubbing(app: App, axis: TimeAxis, canvas: HTMLCanvasElement, moved: (time: number) => void, taken: (event: PointerEvent) => boolean = () => false): void {
  let resume = false;
  let active = false;
  const scrub = (event: PointerEvent): void => {
    const frame = canvas.getBoundingClientRect();
    const time = axis.toTime(event.clientX - frame.left, frame.width);
    moved(time);
    app.sendLatest("seek", { type: "seek", time });
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !app.clip || app.state?.driven || taken(event)) return;
    active = true;
    canvas.setPointerCapture(event.pointerId);
    resume = app.state?.playing ?? false;
    if (resume) app.send({ type: "play", playing: false });
    scrub(event);
  });
  onMove(canvas, (event) => active && scrub(event));
  for (const end of ["pointerup", "pointercancel"] as const)
    canvas.addEventListener(end, () => {
      if (!active) return;
      active = false;
      if (resume) app.send({ type: "play", playing: true });
      resume = false;
    });
}
