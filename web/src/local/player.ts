/**
 * `LocalActor`: a character with the crowds that move it, clip by clip or by its graph, in the page itself. What `studio/actor.py` is to
 * the server.
 */
import type { ClipInfo, PageInfo, ParameterInfo } from "../protocol";
import { type Affine, identity, invert, moved, multiply } from "./affine";
import type { EngineCharacter, EngineCrowd } from "./engine";
import { rings, variety } from "./places";

const WARM_UP_SECONDS = 3;
/** How far parameters differ in a crowd that is spread, as a part of their range to either side. */
const SPREAD = 0.3;

export type Value = boolean | number | [number, number, number];
export type Mode = "clip" | "graph";

export class LocalActor {
  mode: Mode;
  clip: string | null = null;
  spread = false;
  /** The part of the clip that is played. */
  range: [number, number] | null = null;
  /** How far each has come from its place; null while they stay there. */
  private gone: Affine[] | null = null;
  private crowd: EngineCrowd;
  private looping = true;
  private placed = new Float32Array(0);
  private placedFor = -1;

  constructor(private readonly info: PageInfo, private readonly characters: Record<Mode, (() => EngineCharacter) | null>) {
    this.mode = info.hello.state.mode;
    this.crowd = this.create(1);
  }

  get count(): number {
    return this.crowd.count;
  }

  private create(count: number): EngineCrowd {
    const character = this.characters[this.mode];
    if (!character) throw new Error("This page has no graph.");
    return character().create(count);
  }

  private clipInfo(name: string | null): ClipInfo | undefined {
    return this.info.character.clips.find((clip) => clip.name === name);
  }

  get duration(): number {
    return this.mode === "clip" ? (this.clipInfo(this.clip)?.duration ?? 0) : 0;
  }

  get rate(): number {
    return this.mode === "clip" && this.clip ? (this.clipInfo(this.clip)?.rate ?? 60) : 60;
  }

  get time(): number {
    return this.mode === "clip" && this.clip !== null ? this.crowd.times()[0] : 0;
  }

  get begin(): number {
    return this.range?.[0] ?? 0;
  }

  get end(): number {
    return this.range?.[1] ?? this.duration;
  }

  /** Plays a clip from `start`, faded in for `seconds`; null shows the rest pose. */
  play(clip: string | null, start: number, seconds: number, loop: boolean): void {
    if (this.mode !== "clip") {
      const { count } = this;
      this.crowd.dispose();
      this.mode = "clip";
      this.crowd = this.create(count);
    } else if (this.gone && this.clip !== null && clip !== this.clip) this.leave(this.clip);
    this.clip = clip;
    this.looping = loop;
    if (clip === null) return;
    const duration = this.clipInfo(clip)?.duration ?? 0;
    const ahead = this.spread && loop ? variety("time", this.count, 0) : null;
    const starts = new Float64Array(this.count).map((_, i) => {
      const time = start + (ahead ? duration * ahead[i] : 0);
      return loop && duration > 0 ? modulo(time, duration) : Math.min(Math.max(time, 0), duration);
    });
    this.crowd.play(clip, seconds, loop, starts);
  }

  /** Starts the graph over. */
  runGraph(parameters: Record<string, Value>): void {
    const { count } = this;
    this.crowd.dispose();
    this.mode = "graph";
    this.clip = null;
    this.crowd = this.create(count);
    this.setParameters(parameters);
    this.warmUp(0);
  }

  /** Sets parameters for all instances, around the value where the crowd is spread. */
  setParameters(parameters: Record<string, Value>): void {
    const known = new Map((this.info.character.graph?.parameters ?? []).map((one) => [one.name, one]));
    for (const [name, value] of Object.entries(parameters)) this.crowd.set(name, this.spreadOut(known.get(name), value));
  }

  private spreadOut(parameter: ParameterInfo | undefined, value: Value): ArrayLike<number> {
    if (Array.isArray(value)) return value;
    if (!this.spread || this.count < 2 || parameter?.type !== "float") return [Number(value)];
    const [low, high] = parameter.range;
    return variety(parameter.name, this.count).map((v) => Math.min(Math.max(Number(value) + (high - low) * SPREAD * v, low), high));
  }

  fire(trigger: string): void {
    this.crowd.trigger(trigger);
  }

  /** Lets instances from `first` on run ahead, each a little differently, so that a crowd is out of step. */
  warmUp(first: number): void {
    if (!this.spread || this.count < 2) return;
    this.crowd.update(variety("time", this.count, 0).map((v, i) => (i < first ? 0 : WARM_UP_SECONDS * v)));
  }

  /** Makes it a crowd of `count`; those who are there go on as they do. */
  resize(count: number, parameters: Record<string, Value>, loop: boolean): void {
    const had = this.count;
    if (count === had) return;
    if (this.gone) this.gone = Array.from({ length: count }, (_, i) => this.gone![i] ?? identity());
    if (this.mode === "graph") {
      this.crowd.resize(count);
      this.setParameters(parameters);
      this.warmUp(had);
      return;
    }
    const { time, clip } = this;
    this.crowd.dispose();
    this.crowd = this.create(count);
    this.clip = null;
    this.play(clip, time, 0, loop);
  }

  /** Moves time on; a graph only goes forward. */
  advance(seconds: number): void {
    if (this.mode === "graph") {
      this.crowd.update(Math.max(seconds, 0));
      if (this.gone && this.info.travels) {
        const way = this.crowd.travel();
        this.gone = this.gone.map((to, i) => multiply(to, moved(way, 7 * i)));
      }
      return;
    }
    if (this.clip === null) return;
    if (this.range) {
      const [low, high] = this.range;
      const times = this.crowd.times().map((t) => (this.looping ? low + modulo(t + seconds - low, high - low) : Math.min(Math.max(t + seconds, low), high)));
      this.crowd.play(this.clip, 0, this.looping, times);
      return;
    }
    const before = this.gone ? this.crowd.times().slice() : null;
    this.crowd.update(seconds);
    if (before) this.startOver(this.clip, before, seconds);
  }

  setTravel(on: boolean): void {
    this.gone = on ? Array.from({ length: this.count }, identity) : null;
  }

  /** Those who have started a clip over go on from where its end has brought them. */
  private startOver(clip: string, before: Float64Array, seconds: number): void {
    const way = this.info.ways[clip];
    const { duration } = this;
    if (!way || !(duration > 0)) return;
    const back = invert(way.whole);
    const now = this.crowd.times();
    for (let i = 0; i < now.length; i++) {
      const rounds = Math.round((before[i] + seconds - now[i]) / duration);
      const step = rounds > 0 ? way.whole : back;
      for (let k = 0; step && k < Math.abs(rounds); k++) this.gone![i] = multiply(this.gone![i], step);
    }
  }

  /** Keeps what was gone of a clip that is left, which its successor knows nothing of. */
  private leave(clip: string): void {
    const way = this.info.ways[clip];
    if (!way) return;
    const entries = this.info.character.palette;
    const matrices = this.crowd.matrices();
    const bind = invert(way.inverse_bind);
    const start = invert(way.begin);
    if (!bind || !start) return;
    for (let i = 0; i < this.count; i++) {
      const at = 12 * (i * entries + way.joint);
      const model = multiply(matrices.subarray(at, at + 12), bind);
      this.gone![i] = multiply(this.gone![i], overFloor(model, way.begin, way.turns));
    }
  }

  /** Where the instances are, `(N, 3, 4)`. */
  placements(): Float32Array {
    if (this.placedFor !== this.count || this.gone) {
      this.placedFor = this.count;
      const out = new Float32Array(12 * this.count);
      rings(this.count).forEach(([x, z], i) => {
        const place = identity();
        place[3] = x * this.info.spacing;
        place[11] = z * this.info.spacing;
        out.set(this.gone ? multiply(place, this.gone[i]) : place, 12 * i);
      });
      this.placed = out;
    }
    return this.placed;
  }

  matrices(): Float32Array {
    return this.crowd.matrices();
  }

  morphs(): { values: Float32Array; stride: number } {
    return this.crowd.morphs();
  }

  pose(): { values: Float32Array; size: number } {
    return this.crowd.pose();
  }

  /** Of the instance that panels tell of: the last. */
  weights(): Map<string, number> {
    return this.crowd.weights(this.count - 1);
  }

  state(machine: string): number {
    return this.crowd.state(machine, this.count - 1);
  }

  value(parameter: string): number {
    return this.crowd.value(parameter, this.count - 1);
  }
}

/** The way over the floor from where a joint was at a clip's beginning to where it is; only of a root turning counts. */
function overFloor(model: Affine, begin: number[], turns: boolean): Affine {
  const out = identity();
  if (turns) {
    const back = invert(begin)!;
    const turn = multiply(model, back);
    const yaw = Math.atan2(turn[2], turn[10]);
    out[0] = out[10] = Math.cos(yaw);
    out[2] = Math.sin(yaw);
    out[8] = -out[2];
  }
  out[3] = model[3] - (out[0] * begin[3] + out[2] * begin[11]);
  out[11] = model[11] - (out[8] * begin[3] + out[10] * begin[11]);
  return out;
}

function modulo(x: number, n: number): number {
  return ((x % n) + n) % n;
}
