/** `TimeAxis`: which part of a clip is seen, shared by the ruler, the curves and the keys; wheel and buttons zoom and pan it. */
import { clamp } from "../../ui/dom";

/** Pixels left free at either end. */
export const PAD = 14;
/** The shortest part that can be looked at, in seconds. */
const SHORTEST = 0.02;

export class TimeAxis {
  from = 0;
  to = 1;
  private duration = 1;

  constructor(private readonly changed: () => void) {}

  /** Another clip: all of it is seen. */
  fit(duration: number): void {
    this.duration = Math.max(duration, 1e-6);
    this.from = 0;
    this.to = this.duration;
    this.changed();
  }

  get zoomed(): boolean {
    return this.to - this.from < this.duration - 1e-9;
  }

  toX(t: number, width: number): number {
    return PAD + ((t - this.from) / (this.to - this.from)) * (width - 2 * PAD);
  }

  /** The time at a place, within the clip. */
  toTime(x: number, width: number): number {
    return clamp(this.from + ((x - PAD) / Math.max(1, width - 2 * PAD)) * (this.to - this.from), 0, this.duration);
  }

  /** Shows less (below 1) or more of the clip; the time `at` stays where it is. */
  zoom(factor: number, at = (this.from + this.to) / 2): void {
    const span = clamp((this.to - this.from) * factor, Math.min(SHORTEST, this.duration), this.duration);
    const share = (at - this.from) / (this.to - this.from);
    this.set(at - share * span, span);
  }

  pan(seconds: number): void {
    this.set(this.from + seconds, this.to - this.from);
  }

  /** Keeps a time that passes in sight, a page at a time. */
  follow(t: number): void {
    if (this.zoomed && (t < this.from || t > this.to)) this.set(t < this.from ? t : t - 0.02 * (this.to - this.from), this.to - this.from);
  }

  private set(from: number, span: number): void {
    this.from = clamp(from, 0, this.duration - span);
    this.to = this.from + span;
    this.changed();
  }

  /** Wheel zooms, with shift (or sideways) it pans; so does the middle or the right button. */
  listen(canvas: HTMLCanvasElement): void {
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const frame = canvas.getBoundingClientRect();
      const sideways = event.shiftKey ? event.deltaY : event.deltaX;
      if (Math.abs(sideways) > Math.abs(event.deltaY) || event.shiftKey) this.pan((sideways / frame.width) * (this.to - this.from));
      else this.zoom(Math.exp(0.0016 * event.deltaY), this.toTime(event.clientX - frame.left, frame.width));
    }, { passive: false });
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    let from: { x: number; at: number } | null = null;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button === 0) return;
      canvas.setPointerCapture(event.pointerId);
      from = { x: event.clientX, at: this.from };
    });
    canvas.addEventListener("pointermove", (event) => {
      if (from) this.set(from.at - ((event.clientX - from.x) / (canvas.clientWidth - 2 * PAD)) * (this.to - this.from), this.to - this.from);
    });
    canvas.addEventListener("pointerup", () => (from = null));
  }
}

/** A round number (1, 2 or 5 times a power of ten) at least as large. */
export function niceStep(x: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(x, 1e-9)));
  for (const factor of [1, 2, 5, 10]) if (factor * power >= x) return factor * power;
  return 10 * power;
}
