/**
 * `Flow`: when the page tells the server that there is room for more.
 *
 * The server sends at most two frames that were not acknowledged. A page that draws as fast as frames come acknowledges each
 * as it comes. One that draws more slowly is sent few: one after each drawing, and fresh ones just before the next is due,
 * so that what it draws is the newest there is; and, as long as they are small, at once what an input of its own has
 * changed. A page nobody sees draws nothing, says nothing, and costs nothing.
 */

/** Drawings closer together than this (ms) keep up with the engine. */
const KEEPS_UP_MS = 26;
/** A longer pause between drawings (ms) was not the drawing's. */
const PAUSE_MS = 1000;
/** Bytes that may come between two drawings for the sake of inputs. */
const HURRY_BYTES = 1 << 18;

export class Flow {
  private newest = -1;
  private told = -1;
  /** Milliseconds from one drawing to the next, of late. */
  private interval = 1000 / 60;
  /** Milliseconds from an acknowledgement to the frame it brings, of late. */
  private delay = 20;
  private drawnAt = 0;
  private askedAt = 0;
  private asked = false;
  private timer = 0;
  private bytes = 0;

  constructor(private readonly acknowledge: (frame: number) => void) {}

  /** A new connection numbers its frames anew. */
  reset(): void {
    window.clearTimeout(this.timer);
    this.newest = this.told = -1;
    this.asked = false;
    this.askedAt = 0;
  }

  /** A frame has come, so many bytes of it. */
  took(frame: number, bytes: number): void {
    const now = performance.now();
    this.newest = frame;
    this.bytes += bytes;
    if (this.askedAt) this.delay += 0.2 * (Math.min(now - this.askedAt, 200) - this.delay);
    this.askedAt = 0;
    if (document.hidden || this.asked) return;
    if (this.interval < KEEPS_UP_MS) this.tell(frame);
    else this.askBeforeDrawing(now);
  }

  /** The newest frame has been drawn, or is about to be. */
  drew(): void {
    const now = performance.now();
    const past = now - this.drawnAt;
    if (past < PAUSE_MS) this.interval += 0.25 * (past - this.interval);
    this.drawnAt = now;
    this.asked = false;
    this.bytes = 0;
    window.clearTimeout(this.timer);
    // The slow page leaves one frame open: the next one that comes is what it draws, unless a fresher one does.
    this.tell(this.interval < KEEPS_UP_MS ? this.newest : this.newest - 1);
  }

  /** An input goes out: there should be room for the frame that shows it. */
  hurry(): void {
    if (!document.hidden && this.bytes < HURRY_BYTES) this.tell(this.newest);
  }

  /** Asks for fresh frames so that they are there when the next drawing is due; once for each drawing. */
  private askBeforeDrawing(now: number): void {
    window.clearTimeout(this.timer);
    const due = this.drawnAt + this.interval - 2 * this.delay;
    this.timer = window.setTimeout(() => {
      if (document.hidden) return;
      this.asked = true;
      this.askedAt = performance.now();
      this.tell(this.newest);
    }, Math.max(0, due - now));
  }

  private tell(frame: number): void {
    if (frame <= this.told) return;
    this.told = frame;
    this.acknowledge(frame);
  }
}
