/** marrow for the web: plays characters that `marrow bake-runtime` has baked, to the same bits as Python. */

/** An error in the engine's words. */
export class MarrowError extends Error {}

type WasmSource = ArrayBuffer | ArrayBufferView | WebAssembly.Module | Response | URL | string;

export interface EngineOptions {
  /** The module with relaxed SIMD: bytes, a compiled module, an address, or a function that gives one; left out: `marrow.wasm` beside this file. */
  wasm?: WasmSource | Promise<WasmSource> | (() => WasmSource | Promise<WasmSource>);
  /** The module for engines whose multiply-adds are missing or not rounded once: slower, the same bits. Only asked for where it is needed. */
  strictWasm?: EngineOptions["wasm"];
  /** Take the strict module in any case. */
  strict?: boolean;
}

/** Loads the WebAssembly module that this browser can run. */
export function createEngine(options?: EngineOptions): Promise<Engine>;

export class Engine {
  /** Whether it runs the strict module. */
  readonly strict: boolean;
  readonly memory: WebAssembly.Memory;
  /** Reads an `.mrt` file; what is wrong with it is a `MarrowError`. */
  load(bytes: ArrayBuffer | ArrayBufferView): Character;
  /** Ground of heights, row by row: row r, column c is at (x + c * spacing, z + r * spacing). */
  heightField(heights: ArrayLike<number>, rows: number, columns: number, spacing: number, origin?: readonly [number, number]): Ground;
  /** Ground of triangles. */
  groundMesh(positions: ArrayLike<number>, triangles: ArrayLike<number>): Ground;
}

export interface ClipInfo { readonly name: string; readonly duration: number; readonly additive: boolean }

export interface ParameterInfo {
  readonly name: string;
  readonly type: "float" | "bool" | "trigger" | "vector" | "curve";
  /** Numbers per instance: 3 for a vector. */
  readonly width: number;
  readonly default: number | boolean | readonly [number, number, number];
  /** What it is kept inside; null: any number. */
  readonly range: readonly [number, number] | null;
  /** Seconds in which it comes 95 % of the way to a new value. */
  readonly smoothing: number;
}

export interface MachineInfo { readonly name: string; readonly path: string; readonly states: readonly string[] }
export interface MontageInfo { readonly name: string; readonly slot: string; readonly clip: string; readonly sections: readonly string[] }

/** A baked character; make crowds of it. */
export class Character {
  readonly engine: Engine;
  readonly name: string;
  /** The name of its graph; null where it was baked without one, and clips are played by hand. */
  readonly graph: string | null;
  readonly joints: readonly string[];
  /** The joint above each, -1 for roots. */
  readonly parents: Int32Array;
  readonly morphs: readonly string[];
  readonly clips: readonly ClipInfo[];
  readonly parameters: readonly ParameterInfo[];
  readonly machines: readonly MachineInfo[];
  readonly slots: readonly string[];
  readonly montages: readonly MontageInfo[];
  readonly events: readonly string[];
  readonly curves: readonly string[];
  /** Paths of the graph's nodes, as `inspect` numbers them. */
  readonly nodes: readonly string[];
  readonly savedPoses: readonly string[];
  readonly meshes: readonly string[];
  /** The graph's JointOverrides, and how many joints each has. */
  readonly overrides: readonly { readonly name: string; readonly joints: number }[];
  /** Chains that swing, for `crowd.springs(name)`. */
  readonly springs: readonly string[];
  /** Of the baked skins; 0 where there are none. */
  readonly vertexCount: number;
  /** Entries of `matrices`: the joint of each, and its inverse bind matrix (three rows of four). */
  readonly palette: { readonly size: number; readonly joints: Int32Array; readonly inverseBind: Float32Array };
  create(count?: number): Crowd;
  /** Gives its memory back; its crowds must be disposed of first. */
  dispose(): void;
}

/** Ground that crowds stand on; disposed of after them. */
export class Ground {
  dispose(): void;
}

type Instances = number | ArrayLike<number> | null;

export interface CrowdEvent {
  readonly instance: number;
  readonly kind: "event" | "state_entered" | "state_left" | "transition_started" | "transition_ended" | "slot_ended" | "event_ended" | "event_inside";
  /** The event of a clip, the state, or the clip that ended in a slot. */
  readonly name: string;
  /** The clip, machine or slot. */
  readonly source: string;
  readonly weight: number;
  /** Seconds since the instance began. */
  readonly time: number;
}

/** A chain that swings, settings as Python's `SpringChain` has them, of all instances; where joints differ, those of its first. */
export class SpringChain {
  readonly name: string;
  stiffness: number;
  /** From 0 to 1. */
  drag: number;
  gravity: number;
  radius: number;
  /** Radians, up to pi. */
  limit: number;
  set(settings: Partial<Record<"stiffness" | "drag" | "gravity" | "radius" | "limit", number>>): void;
}

export interface Skinned { positions: Float32Array; normals: Float32Array | null; tangents: Float32Array | null }
export interface SlotOptions { fade?: number; fadeOut?: number; speed?: number; loop?: boolean; hold?: boolean; start?: number; queue?: boolean; instances?: Instances }
export interface PlayOptions { fade?: number; loop?: boolean; speed?: number; start?: number; instances?: Instances }
export interface Playing { readonly clip: string | null; readonly time: number }

export class Slot {
  readonly name: string;
  /** Plays a clip over what plays, or after it (`queue`). Returns how many instances took it. */
  play(clip: string | number, options?: SlotOptions): number;
  stop(options?: { fade?: number; instances?: Instances }): void;
  readonly playing: Playing[];
}

export class Montage {
  readonly name: string;
  readonly sections: readonly string[];
  play(section?: string | null, options?: { fade?: number; fadeOut?: number; speed?: number; queue?: boolean; instances?: Instances }): number;
  stop(options?: { fade?: number; instances?: Instances }): void;
  jumpTo(section: string, options?: { instances?: Instances }): number;
  setNext(section: string, following: string | null, options?: { instances?: Instances }): void;
  readonly section: (string | null)[];
}

/** N instances of a character. Typed arrays are views of the engine's memory: take them anew after every update. */
export class Crowd {
  readonly character: Character;
  readonly engine: Engine;
  readonly count: number;

  /** Sets a parameter: one value for all, or one for each (three numbers each for a vector), of all or some instances. */
  set(name: string, value: number | boolean | ArrayLike<number>, instances?: Instances): void;
  /** What was set (`smoothed`: what it is on its way there), N x width. */
  get(name: string, options?: { smoothed?: boolean }): Float64Array;
  trigger(name: string, instances?: Instances): void;
  /** Without a graph: plays a clip, faded in over `fade` seconds. */
  play(clip: string | number, options?: PlayOptions): void;
  /** Without a graph: shows a clip at a time. */
  seek(clip: string | number, time: number, options?: { instances?: Instances }): void;
  /** Without a graph: what each instance plays. */
  readonly playing: Playing[];
  slot(name: string): Slot;
  montage(name: string): Montage;
  savePose(name: string, instances?: Instances): void;
  /** Places the joints of a JointOverride: rotations (k x 4) and translations (k x 3), for all or for each; `weight` from 0 to 1. */
  override(name: string, to?: { rotation?: ArrayLike<number> | null; translation?: ArrayLike<number> | null; weight?: number; instances?: Instances }): void;
  /** The ground that feet stand on: a height, one each, a `Ground`, null, or a function of points (x, y, z, one behind the other) that gives heights. */
  setGround(ground: number | ArrayLike<number> | Ground | null | ((points: Float64Array, reach: number) => ArrayLike<number>)): void;
  /** A chain that swings, by its name: `crowd.springs("hair").stiffness = 2`. */
  springs(name: string): SpringChain;
  /** The wind in the world, metres a second. */
  setWind(wind: ArrayLike<number>): void;
  /** Whether updates are made in parts that end where springs step (so it begins), or poses in between are guessed. */
  setExactSprings(exact: boolean): void;
  /** Settings and wind as they were baked. */
  resetSprings(): void;
  /** What the last update could not do. */
  readonly dropped: { readonly events: number; readonly operations: number; readonly circling: number };
  setSpeed(speed: number | ArrayLike<number>): void;
  setSeeds(seeds: number | ArrayLike<number>): void;
  /** Evaluates instances every update (1), every second one (2)...; in between they are interpolated. */
  setUpdateEvery(every: number | ArrayLike<number>): void;
  /** Moves time on: seconds for all, or for each. */
  update(seconds: number | ArrayLike<number>): void;

  /** Skinning matrices, N x palette x 12, row by row. */
  readonly matrices: Float32Array;
  /** Model-space matrices, N x joints x 12. */
  readonly modelMatrices: Float32Array;
  /** Weights of morph channels, N x morphs (a copy). */
  readonly morphs: Float32Array;
  /** Poses as rows: ten numbers of joints each (translation xyz, rotation xyzw, scale xyz), then morphs. */
  readonly poseRows: Float32Array;
  /** Where instances are in the world, N x 7: translation, rotation. */
  readonly root: Float64Array;
  /** How far they went in the last update, N x 7. */
  readonly travel: Float64Array;
  setRoot(where: { translation?: ArrayLike<number> | null; rotation?: ArrayLike<number> | null; instances?: Instances }): void;
  readonly events: CrowdEvent[];
  /** The state each is in, of the first machine, or of the one of a name or at a path. */
  states(machine?: string | null): string[];
  /** Seconds since each began. */
  readonly clocks: Float64Array;
  /** Of one instance, by node: how much is seen; for clips where they are and how fast they go. */
  inspect(instance?: number): { weights: Float64Array; times: Float64Array; speeds: Float64Array };
  /** The deformed meshes, where skins were baked (copies); `into` has arrays of an earlier call to write again. */
  skin(options?: { instances?: Instances; normals?: boolean; tangents?: boolean; into?: Partial<Skinned> | null }): Skinned;

  add(count?: number): void;
  remove(instances: Instances): void;
  reset(instances?: Instances): void;
  snapshot(): Uint8Array;
  restore(bytes: Uint8Array): void;
  dispose(): void;
}
