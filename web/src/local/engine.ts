/** What the page asks of the engine that moves characters; `runtime.ts` has it from marrow's own kernels. */

export interface EngineCrowd {
  readonly count: number;
  /** Where each instance is in the clip that it plays, in seconds. */
  times(): Float64Array;
  /** Plays a clip; `starts` has where each instance begins. */
  play(clip: string, fade: number, loop: boolean, starts: Float64Array): void;
  /** Sets a parameter: as many numbers as it is wide, or that many for each instance. */
  set(parameter: string, values: ArrayLike<number>): void;
  /** What float and bool parameters are just now, for one instance, on their way to what they were set to. */
  value(parameter: string, instance: number): number;
  trigger(parameter: string): void;
  /** Lets time pass, the same for all or so many seconds for each. */
  update(seconds: number | Float64Array): void;
  resize(count: number): void;
  /** Skinning matrices `(N, P, 3, 4)`, valid until the next call. */
  matrices(): Float32Array;
  /** Weights of morph channels: those of instance `i` begin at `i * stride`. */
  morphs(): { values: Float32Array; stride: number };
  /** The pose rows: the row of instance `i` begins at `i * size`. */
  pose(): { values: Float32Array; size: number };
  /** The way of the last update, `(N, 7)`: translation and rotation. */
  travel(): Float64Array;
  /** The state that a machine (by its path) is in, for one instance; -1 where nobody sees it. */
  state(machine: string, instance: number): number;
  /** How much of each node, by its path, is seen of one instance. */
  weights(instance: number): Map<string, number>;
  dispose(): void;
}

export interface EngineCharacter {
  create(count: number): EngineCrowd;
}

export interface Engine {
  /** Whether arithmetic is exact in software: slower, for browsers without fused multiply-add. */
  readonly strict: boolean;
  load(baked: Uint8Array): EngineCharacter;
}
