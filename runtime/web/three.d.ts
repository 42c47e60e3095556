/** marrow's crowds in three.js. */
import type { InstancedMesh, SkinnedMesh } from "three";
import type { Character, Crowd } from "./marrow.js";

/** For each bone of a mesh, the entry of the character's palette that moves it. */
export function paletteOf(mesh: SkinnedMesh, character: Character): number[];

/** A SkinnedMesh that follows one instance of a crowd. */
export class CrowdSkin {
  constructor(mesh: SkinnedMesh, crowd: Crowd, instance?: number);
  readonly mesh: SkinnedMesh;
  instance: number;
  /** Call it after every update of the crowd. */
  update(): void;
}

/** All instances of a crowd in one draw call: an InstancedMesh whose palettes lie in a texture. */
export class InstancedCrowd {
  constructor(THREE: typeof import("three"), mesh: SkinnedMesh, crowd: Crowd);
  readonly mesh: InstancedMesh;
  /** Call it after every update of the crowd. With `roots`, instances stand where their root transforms say. */
  update(options?: { roots?: boolean }): void;
  dispose(): void;
}
