/** The engine: marrow's own kernels as WebAssembly (`runtime/web`), with the modules that the page carries. */
import { type Character, createEngine, type Crowd } from "../../../runtime/web/marrow.js";
import { needed } from "./data";
import type { Engine, EngineCharacter, EngineCrowd } from "./engine";

export async function makeEngine(): Promise<Engine> {
  const engine = await createEngine({ wasm: () => needed("engine"), strictWasm: () => needed("strict") });
  return { strict: engine.strict, load: (baked) => new LoadedCharacter(engine.load(baked)) };
}

class LoadedCharacter implements EngineCharacter {
  constructor(private readonly character: Character) {}

  create(count: number): EngineCrowd {
    return new LoadedCrowd(this.character, this.character.create(count));
  }
}

class LoadedCrowd implements EngineCrowd {
  count: number;

  constructor(private readonly character: Character, private readonly crowd: Crowd) {
    this.count = crowd.count;
  }

  times(): Float64Array {
    return Float64Array.from(this.crowd.playing, ({ time }) => time);
  }

  play(clip: string, fade: number, loop: boolean, starts: Float64Array): void {
    const [start] = starts;
    if (starts.every((one) => one === start)) this.crowd.play(clip, { fade, loop, start });
    else starts.forEach((one, i) => this.crowd.play(clip, { fade, loop, start: one, instances: [i] }));
    this.crowd.update(0);
  }

  set(parameter: string, values: ArrayLike<number>): void {
    this.crowd.set(parameter, Array.from(values));
  }

  value(parameter: string, instance: number): number {
    return this.crowd.get(parameter, { smoothed: true })[instance] ?? 0;
  }

  trigger(parameter: string): void {
    this.crowd.trigger(parameter);
  }

  update(seconds: number | Float64Array): void {
    this.crowd.update(seconds);
  }

  resize(count: number): void {
    if (count > this.count) this.crowd.add(count - this.count);
    else if (count < this.count) this.crowd.remove(Array.from({ length: this.count - count }, (_, i) => count + i));
    this.count = count;
  }

  matrices(): Float32Array {
    return this.crowd.matrices;
  }

  morphs(): { values: Float32Array; stride: number } {
    return { values: this.crowd.morphs, stride: this.character.morphs.length };
  }

  pose(): { values: Float32Array; size: number } {
    const values = this.crowd.poseRows;
    return { values, size: values.length / this.count };
  }

  travel(): Float64Array {
    return this.crowd.travel;
  }

  state(machine: string, instance: number): number {
    const index = this.character.machines.findIndex(({ path }) => path === machine);
    if (index < 0) return -1;
    return this.character.machines[index].states.indexOf(this.crowd.states(machine)[instance]);
  }

  weights(instance: number): Map<string, number> {
    const { weights } = this.crowd.inspect(instance);
    return new Map(this.character.nodes.map((path, i) => [path, weights[i]]));
  }

  dispose(): void {
    this.crowd.dispose();
  }
}
