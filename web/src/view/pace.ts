/** Keeps drawing fluent: measures frames and lowers the resolution where the graphics card cannot keep up. */

const STEPS = [1, 0.75, 0.5];
const SLOW_MS = 45;

/** Whether pictures are drawn by the processor: then everything costs per pixel, and edges are left unsmoothed. */
export function drawnInSoftware(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  const extension = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl && extension ? String(gl.getParameter(extension.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

export class Pace {
  /** Frames drawn a second, over the last second. */
  fps = 0;
  private step = 0;
  private times: number[] = [];
  private slow = 0;
  private last = 0;

  get scale(): number {
    return STEPS[this.step];
  }

  /** Nothing had to be drawn: the time until the next frame says nothing. */
  rested(): void {
    this.last = 0;
  }

  /** A frame was drawn; true when the resolution should change. */
  drew(now: number): boolean {
    this.times.push(now);
    while (this.times[0] < now - 1000) this.times.shift();
    this.fps = this.times.length;
    const took = this.last ? now - this.last : 0;
    this.last = now;
    if (took > SLOW_MS && took < 1000) this.slow++;
    else if (took > 0) this.slow = Math.max(0, this.slow - 1);
    if (this.slow < 20 || this.step === STEPS.length - 1) return false;
    this.slow = 0;
    this.step++;
    return true;
  }
}
