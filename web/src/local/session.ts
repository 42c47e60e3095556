/** `LocalSession`: what the page plays, and how: messages come in, time passes, frames come out. What `studio/session.py` is to the server. */
import type { ClientMessage, DrawingMessage, Frame, LevelGroup, Live, Look, PageInfo, State } from "../protocol";
import { LevelChooser } from "./levels";
import { MorphTargets } from "./morphs";
import { Narrator } from "./narrator";
import type { LocalActor, Value } from "./player";
import { LocalViews } from "./views";

/** Seconds a single update may span: after a hiccup time goes on, it does not jump. */
const LONGEST_STEP = 0.1;
const STEPS_PER_SECOND = 60;

export class LocalSession {
  /** Whether something else is to be seen than in the last frame, and whether something else is set than was told last. */
  changed = true;
  told = false;
  private readonly set: State;
  private clock = 0;
  private frame = 0;
  private look: Look | null = null;
  private readonly levels: LevelChooser;
  private readonly targets: MorphTargets;
  private readonly narrator: Narrator;
  private readonly views: LocalViews;
  private sentPlacements: Float32Array | null = null;

  constructor(private readonly info: PageInfo, readonly actor: LocalActor) {
    this.set = structuredClone(info.hello.state);
    this.levels = new LevelChooser(info.levels, info.character.levels.length);
    this.targets = new MorphTargets(info.targets);
    this.narrator = new Narrator(info.character.graph);
    this.views = new LocalViews(info);
    if (actor.mode === "clip") actor.play(this.set.clip, this.set.time, 0, this.set.loop);
    else actor.runGraph(this.parameters);
    if (this.set.count > 1) actor.resize(this.set.count, this.parameters, this.set.loop);
  }

  private get parameters(): Record<string, Value> {
    return this.set.parameters as Record<string, Value>;
  }

  state(): State {
    const { actor, set } = this;
    return {
      ...set, mode: actor.mode, clip: actor.clip, time: actor.time, duration: actor.duration, rate: actor.rate, count: actor.count,
      range: actor.range, parameters: { ...set.parameters },
    };
  }

  get count(): number {
    return this.actor.count;
  }

  /** Does what the page asks for; what cannot be done is an error in words. */
  apply(message: ClientMessage): void {
    const { actor, set } = this;
    switch (message.type) {
      case "ack":
      case "accept":
        return;
      case "views":
        this.views.want(message);
        this.changed = true;
        return;
      case "look":
        this.look = message;
        if (this.count > 1 && this.info.character.levels.length) this.changed = true;
        return;
      case "select":
        set.selected = message.joint < this.info.character.joints.length ? message.joint : -1;
        this.told = false;
        return;
      case "play":
        if (message.playing && actor.mode === "clip" && this.atEnd()) this.seek(set.speed >= 0 ? actor.begin : actor.end);
        set.playing = message.playing;
        break;
      case "clip":
        this.pick(message.name, message.fade ?? 0);
        break;
      case "seek":
        this.seek(message.time);
        break;
      case "step":
        this.step(message.frames);
        break;
      case "speed":
        set.speed = message.value;
        break;
      case "loop":
        set.loop = message.value;
        if (actor.mode === "clip") this.seek(actor.time);
        break;
      case "mode":
        this.setMode(message.value);
        break;
      case "parameter":
        this.setParameter(message.name, message.value);
        break;
      case "trigger":
        this.needGraph();
        actor.fire(message.name);
        break;
      case "count":
        actor.resize(Math.min(message.value, set.max_count), this.parameters, set.loop);
        break;
      case "spread":
        this.spread(message.on);
        break;
      case "travel":
        set.travel = message.on;
        actor.setTravel(message.on);
        break;
      case "level":
        set.level = message.value;
        break;
      case "advance":
        this.advance(message.seconds);
        break;
      case "range":
        this.setRange(message.start ?? null, message.end ?? null);
        break;
      default:
        throw new Error("This page carries one character and its motion: for more, open it with marrow.");
    }
    this.changed = true;
    this.told = false;
  }

  private pick(name: string, fade: number): void {
    const { actor, set } = this;
    if (!this.info.character.clips.some((clip) => clip.name === name)) throw new Error(`There is no clip ${name}.`);
    if (name !== actor.clip) actor.range = null;
    actor.play(name, 0, set.playing ? fade : 0, set.loop);
  }

  private seek(time: number): void {
    if (this.actor.mode === "graph") throw new Error("A graph has no timeline to seek on: step forward, or play a clip.");
    this.actor.play(this.actor.clip, time, 0, this.set.loop);
  }

  private step(frames: number): void {
    const { actor, set } = this;
    set.playing = false;
    if (actor.mode === "graph") {
      if (frames < 0) throw new Error("A graph only runs forward.");
      const seconds = Math.min(frames, 600) / STEPS_PER_SECOND;
      actor.advance(seconds);
      this.clock += seconds;
      return;
    }
    // From the nearest frame, so that steps land on frames whatever the scrubber did.
    const time = (Math.round(actor.time * actor.rate) + frames) / actor.rate;
    const last = actor.duration;
    this.seek(set.loop && last > 0 ? ((time % last) + last) % last : Math.min(Math.max(time, 0), last));
  }

  private setMode(mode: State["mode"]): void {
    const { actor, set } = this;
    if (mode === actor.mode) return;
    actor.range = null;
    if (mode === "graph") {
      actor.runGraph(this.parameters);
      this.narrator.forget();
      set.playing = true;
      return;
    }
    const { clips } = this.info.character;
    const first = clips.find((clip) => clip.duration > 0 && !clip.additive) ?? clips[0];
    actor.play(first?.name ?? null, 0, 0, set.loop);
  }

  private needGraph(): void {
    if (this.actor.mode !== "graph") throw new Error("The graph is not running: switch to it first.");
  }

  private setParameter(name: string, value: Value): void {
    this.needGraph();
    const parameter = this.info.character.graph?.parameters.find((one) => one.name === name);
    if (!parameter || parameter.type === "trigger") throw new Error(`There is no parameter ${name}.`);
    let wanted: Value;
    if (parameter.type === "vector") wanted = (value as number[]).map(Number) as Value;
    else if (parameter.type === "bool") wanted = Boolean(value);
    else wanted = Math.min(Math.max(Number(value), parameter.range[0]), parameter.range[1]);
    this.parameters[name] = wanted;
    this.actor.setParameters({ [name]: wanted });
    // Time stands still, but what it looks like now is another thing.
    if (!this.set.playing) this.actor.advance(0);
  }

  private spread(on: boolean): void {
    const { actor, set } = this;
    if (on === set.spread) return;
    set.spread = actor.spread = on;
    if (actor.mode === "graph") {
      actor.setParameters(this.parameters);
      if (on) actor.warmUp(0);
    } else actor.play(actor.clip, actor.time, 0, set.loop);
  }

  /** Exactly so much time, whatever the speed is. */
  private advance(seconds: number): void {
    const { actor, set } = this;
    set.playing = false;
    const left = !set.loop && actor.mode === "clip" ? Math.min(seconds, Math.max(actor.end - actor.time, 0)) : seconds;
    actor.advance(left);
    this.clock += seconds;
  }

  private setRange(start: number | null, end: number | null): void {
    const { actor } = this;
    if (actor.mode !== "clip" || actor.clip === null) throw new Error("Only a clip has a part that can be played by itself.");
    const whole = actor.duration;
    const [low, high] = [Math.max(start ?? 0, 0), end === null ? whole : Math.min(end, whole)];
    if (!(low < high)) throw new Error("A part of the clip begins before it ends.");
    actor.range = low === 0 && high === whole ? null : [low, high];
    if (actor.time < low || actor.time > high) this.seek(low);
  }

  // -- time -------------------------------------------------------------------------------------------------------
  private atEnd(): boolean {
    const { actor, set } = this;
    if (set.loop || actor.duration <= 0) return false;
    return set.speed >= 0 ? actor.time >= actor.end : actor.time <= actor.begin;
  }

  /** Whether anything changes as time passes. */
  get moving(): boolean {
    const { actor, set } = this;
    if (!set.playing || set.speed === 0) return false;
    if (actor.mode === "graph") return true;
    return actor.clip !== null && actor.duration > 0 && !this.atEnd();
  }

  tick(seconds: number): boolean {
    if (!this.moving) return false;
    const { actor, set } = this;
    const step = Math.min(seconds, LONGEST_STEP) * set.speed;
    actor.advance(step);
    this.clock += actor.mode === "graph" ? Math.max(step, 0) : step;
    this.changed = true;
    if (!set.loop && actor.mode === "clip" && this.atEnd()) {
      set.playing = false;
      this.told = false;
    }
    return true;
  }

  // -- what is to be seen -----------------------------------------------------------------------------------------
  picture(): Frame {
    this.changed = false;
    const { actor } = this;
    const { palette, morph_weights: morphWeights } = this.info.character;
    const count = actor.count;
    const placements = actor.placements();
    const levels = this.levels.choose(this.look, placements, this.set.level);
    const all = actor.matrices();
    const groups = levels ? this.grouped(all, levels) : null;
    const placed = placements !== this.sentPlacements;
    this.sentPlacements = placements;
    return {
      frame: ++this.frame, slot: 0, count, palette, morphWeights, time: actor.mode === "clip" ? actor.time : this.clock,
      // The engine uses its memory again; the page looks at this later.
      matrices: groups ? new Float32Array(0) : all.slice(0, 12 * count * palette), groups, compact: null, reach: 0, bytes: 0,
      morphs: this.morphWeights(count, morphWeights), placements: placed ? placements.slice() : null,
    };
  }

  private grouped(all: Float32Array, levels: Uint8Array): LevelGroup[] {
    const { palette, levels: coarser } = this.info.character;
    const members = new Map<number, number[]>();
    levels.forEach((level, i) => members.set(level, [...(members.get(level) ?? []), i]));
    return [...members].sort(([a], [b]) => a - b).map(([level, instances]) => {
      const entries = level ? coarser[level - 1].entries : palette;
      const matrices = new Float32Array(12 * entries * instances.length);
      instances.forEach((i, k) => matrices.set(all.subarray(12 * i * palette, 12 * (i * palette + entries)), 12 * entries * k));
      return { level, instances: Uint32Array.from(instances), entries, matrices };
    });
  }

  private morphWeights(count: number, each: number): Float32Array {
    const out = new Float32Array(count * each);
    if (!each) return out;
    const { values, stride } = this.actor.morphs();
    for (let i = 0; i < count; i++) this.targets.put(values, i * stride, out, i * each);
    return out;
  }

  /** What views draw over the last picture; null where there is nothing new. */
  drawing(inverseBind: Float32Array): DrawingMessage | null {
    const { actor } = this;
    return inverseBind.length ? this.views.draw(this.frame, actor.matrices(), inverseBind, actor.placements()) : null;
  }

  /** What the graph does; null where that has been told, or there is none. */
  live(): Live | null {
    return this.actor.mode === "graph" ? this.narrator.tell(this.actor, this.clock) : null;
  }
}
