/**
 * `Pace`: keeps drawing fluent. Measures how long a picture takes until the graphics card has finished it, lets no more than
 * a picture or two be under way, and lowers the resolution of moving pictures where they take too long.
 */

const software = new WeakMap<object, boolean>();

/** Whether the processor draws a context's pictures: then everything costs per pixel. */
export function drawnInSoftware(gl: WebGLRenderingContext | WebGL2RenderingContext): boolean {
  let known = software.get(gl);
  if (known === undefined) {
    const extension = gl.getExtension("WEBGL_debug_renderer_info");
    const name = extension ? String(gl.getParameter(extension.UNMASKED_RENDERER_WEBGL)) : "";
    known = /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
    software.set(gl, known);
  }
  return known;
}

/** A WebGL 2 context; its edges are smoothed unless the processor draws. */
export function openContext(): WebGL2RenderingContext {
  const open = (antialias: boolean): WebGL2RenderingContext => {
    const context = document.createElement("canvas").getContext("webgl2", { antialias, alpha: false, powerPreference: "high-performance" });
    // Vertices are skinned into float textures.
    if (!context?.getExtension("EXT_color_buffer_float")) throw new Error("This browser has no WebGL 2 with float textures.");
    return context;
  };
  const plain = open(false);
  if (drawnInSoftware(plain)) return plain;
  plain.getExtension("WEBGL_lose_context")?.loseContext();
  return open(true);
}

const STEPS = [1, 0.75, 0.5];
/** So many pictures in a row have to be slow, or quick, before the resolution changes. */
const PATIENCE = 10;

/** So long (ms) after a click or a key no picture is begun, so that the answer to it can be shown. */
const GIVE_WAY_MS = 120;

/** What the graphics card is given to do: programs to compile, or a picture. */
type Work = "programs" | "motion" | "still";

export class Pace {
  readonly software: boolean;
  /** Pictures drawn a second, over the last second. */
  fps = 0;
  /** Milliseconds a picture should take at most, and takes of late (0 before the first). */
  readonly goal: number;
  cost = 0;
  /** Pictures measured so far. */
  measured = 0;
  private step = 0;
  private slow = 0;
  private times: number[] = [];
  private readonly underWay: { sync: WebGLSync; since: number; what: Work }[] = [];
  private finishedAt = 0;
  private waitUntil = 0;

  constructor(private readonly gl: WebGL2RenderingContext) {
    this.software = drawnInSoftware(gl);
    this.goal = this.software ? 60 : 22;
  }

  /** The share of the full resolution that moving pictures are drawn with. */
  get scale(): number {
    return STEPS[this.step];
  }

  /** Pixels of a resting picture for each of the page: where edges are not smoothed as they are drawn, more pixels do it. */
  get restRatio(): number {
    return this.software ? 2 : Math.min(window.devicePixelRatio || 1, 2);
  }

  /** Forgets what was measured: something else is drawn now. */
  reset(): void {
    this.step = this.slow = this.cost = this.measured = 0;
  }

  /** Someone has clicked or typed: where the processor draws, what the page answers comes before the next picture. */
  giveWay(): void {
    if (this.software) this.waitUntil = performance.now() + GIVE_WAY_MS;
  }

  /** Looks which pictures are finished; true while the next one should wait. */
  busy(now: number): boolean {
    const { gl, underWay } = this;
    while (underWay.length) {
      const { sync, since, what } = underWay[0];
      const state = gl.clientWaitSync(sync, 0, 0);
      if (state === gl.TIMEOUT_EXPIRED) break;
      gl.deleteSync(sync);
      underWay.shift();
      if (what === "motion" && state !== gl.WAIT_FAILED) this.measure(now - Math.max(since, this.finishedAt));
      this.finishedAt = now;
    }
    while (this.times.length && this.times[0] < now - 1000) this.times.shift();
    this.fps = this.times.length;
    if (now < this.waitUntil) return true;
    if (!underWay.length) return false;
    if (underWay.length > 1 || underWay[0].what === "programs") return true;
    // The next picture is prepared while the last one is being finished, but not so early that it would be an old one.
    return this.software && (!this.cost || now - underWay[0].since < 0.75 * this.cost);
  }

  /** True when nothing is under way. */
  get idle(): boolean {
    return this.underWay.length === 0;
  }

  /** Work has been handed over. Only pictures in motion are measured. */
  began(what: Work): void {
    if (what !== "programs") this.times.push(performance.now());
    const sync = this.gl.fenceSync(this.gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    if (sync) this.underWay.push({ sync, since: performance.now(), what });
    this.gl.flush();
  }

  private measure(took: number): void {
    this.measured++;
    // The first pictures compile programs and upload meshes: they say nothing about the next.
    if (this.measured <= 2) return;
    this.cost = this.cost ? this.cost + 0.25 * (took - this.cost) : took;
    const least = (window.devicePixelRatio || 1) > 1.4 ? 2 : 1;
    if (took > this.goal) this.slow = Math.max(0, this.slow) + 1;
    // Less than one turn of the screen cannot be told apart.
    else if (took < Math.max(0.4 * this.goal, 17.5)) this.slow = Math.min(0, this.slow) - 1;
    else this.slow = 0;
    if (this.slow >= PATIENCE && this.step < least) this.step++;
    else if (this.slow <= -6 * PATIENCE && this.step > 0) this.step--;
    else return;
    this.slow = 0;
  }
}
