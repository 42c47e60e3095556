/**
 * `Poser`: a pose of the page's own: the one the meshes were bound in, or one that is made by hand. It stands in for what the
 * engine sends, joint by joint, with the engine's own rule: matrix = parent's matrix times the joint's own transform, and a
 * palette entry is its joint's matrix times the inverse of the bind.
 */
import { Matrix4, Quaternion, Vector3 } from "three";
import type { CharacterInfo } from "../protocol";
import { bend } from "./two_bone";

/** What is shown: what the engine plays, the bind pose, or joints as they were put by hand. */
export type PoseKind = "played" | "bind" | "hand";

export interface LocalTransform {
  translation: Vector3;
  rotation: Quaternion;
  scale: Vector3;
}

export class Poser {
  kind: PoseKind = "played";
  /** Joints that were put by hand. */
  readonly moved = new Set<number>();
  private readonly locals: Matrix4[];
  private readonly models: Matrix4[];
  private readonly inverseBinds: Matrix4[];
  private readonly rest: Matrix4[];

  constructor(
    private readonly info: CharacterInfo,
    inverseBind: Float32Array,
    private readonly jointOf: Uint32Array,
  ) {
    this.inverseBinds = Array.from(jointOf, (_, p) => fromRows(inverseBind, 12 * p));
    this.locals = info.joints.map((joint) =>
      new Matrix4().compose(new Vector3(...joint.translation), new Quaternion(...joint.rotation), new Vector3(...joint.scale)),
    );
    this.models = info.joints.map(() => new Matrix4());
    this.chain();
    this.rest = this.models.map((model) => model.clone());
  }

  /** Works out where all joints are from their own transforms. */
  private chain(): void {
    this.info.joints.forEach(({ parent }, j) => {
      this.models[j].copy(this.locals[j]);
      if (parent >= 0) this.models[j].premultiply(this.models[parent]);
    });
  }

  /** Takes over a pose, as skinning matrices, to be changed by hand. */
  take(matrices: Float32Array): void {
    this.kind = "hand";
    this.moved.clear();
    this.info.joints.forEach(({ parent }, j) => {
      this.models[j].copy(fromRows(matrices, 12 * j)).multiply(this.inverseBinds[j].clone().invert());
      this.locals[j].copy(this.models[j]);
      if (parent >= 0) this.locals[j].premultiply(this.models[parent].clone().invert());
    });
  }

  /** The skinning matrices `(P, 3, 4)` of the pose; those of the bind pose stand where `busiest`, a palette entry, is at rest. */
  write(out: Float32Array, at: number, busiest: number): void {
    const placed = this.rest[this.jointOf[busiest]]?.clone().multiply(this.inverseBinds[busiest]) ?? new Matrix4();
    const m = new Matrix4();
    this.inverseBinds.forEach((inverse, p) => {
      if (this.kind === "bind") m.copy(placed);
      else m.copy(this.models[this.jointOf[p]]).multiply(inverse);
      toRows(m, out, at + 12 * p);
    });
  }

  /** The matrix of a joint in the character's space. */
  model(joint: number): Matrix4 {
    return this.models[joint];
  }

  local(joint: number): LocalTransform {
    const out = { translation: new Vector3(), rotation: new Quaternion(), scale: new Vector3() };
    this.locals[joint].decompose(out.translation, out.rotation, out.scale);
    return out;
  }

  /** Turns a joint so that it has a rotation in the character's space; what hangs on it goes along. */
  turn(joint: number, rotation: Quaternion): void {
    const { parent } = this.info.joints[joint];
    const above = parent >= 0 ? turnOf(this.models[parent]).invert() : new Quaternion();
    const local = this.local(joint);
    this.locals[joint].compose(local.translation, above.multiply(rotation), local.scale);
    this.moved.add(joint);
    this.chain();
  }

  /** Moves a joint to a place in the character's space. */
  move(joint: number, place: Vector3): void {
    const { parent } = this.info.joints[joint];
    const local = this.local(joint);
    const to = place.clone();
    if (parent >= 0) to.applyMatrix4(this.models[parent].clone().invert());
    this.locals[joint].compose(to, local.rotation, local.scale);
    this.moved.add(joint);
    this.chain();
  }

  /** Whether a joint has two bones above it that can be bent to bring it somewhere. */
  canReach(joint: number): boolean {
    const parent = this.info.joints[joint]?.parent ?? -1;
    return parent >= 0 && this.info.joints[parent].parent >= 0;
  }

  /** Brings a joint as near to a place as the two bones above it reach; it keeps its own rotation. */
  reach(joint: number, target: Vector3): void {
    if (!this.canReach(joint)) {
      this.move(joint, target);
      return;
    }
    const middle = this.info.joints[joint].parent;
    const root = this.info.joints[middle].parent;
    const place = (j: number): Vector3 => new Vector3().setFromMatrixPosition(this.models[j]);
    const kept = turnOf(this.models[joint]);
    const { upper, lower } = bend(place(root), place(middle), place(joint), target);
    this.turn(root, upper.multiply(turnOf(this.models[root])));
    this.turn(middle, lower.multiply(turnOf(this.models[middle])));
    this.turn(joint, kept);
  }
}

function turnOf(m: Matrix4): Quaternion {
  const out = new Quaternion();
  m.decompose(new Vector3(), out, new Vector3());
  return out;
}

export function fromRows(m: ArrayLike<number>, i: number): Matrix4 {
  return new Matrix4().set(m[i], m[i + 1], m[i + 2], m[i + 3], m[i + 4], m[i + 5], m[i + 6], m[i + 7], m[i + 8], m[i + 9], m[i + 10], m[i + 11], 0, 0, 0, 1);
}

function toRows(m: Matrix4, out: Float32Array, at: number): void {
  const e = m.elements;
  for (let row = 0; row < 3; row++) for (let col = 0; col < 4; col++) out[at + 4 * row + col] = e[4 * col + row];
}
