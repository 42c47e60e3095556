/** `CharacterView`: a character's meshes as skinned instances, fed by frames. */
import { Box3, Group, Matrix4, Vector3, type WebGLRenderer } from "three";
import type { CharacterInfo, Frame } from "../protocol";
import { splitMatrices } from "./dual";
import { TextureLibrary } from "./materials";
import { Arrays, Part } from "./part";
import { type Method, METHODS, SKINNED_MOST } from "./skinning";
import { Table } from "./tables";

/** What a user may ask for: as each mesh's author did, or one method for all. */
export type MethodChoice = "file" | Exclude<Method, "blended">;

const IDENTITY_ROWS = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0]);

export class CharacterView {
  readonly group = new Group();
  readonly parts: Part[];
  readonly library: TextureLibrary;
  /** The newest frame's placements, one identity until some come. */
  placements: Float32Array = IDENTITY_ROWS;
  count = 0;
  time = 0;
  matrices: Float32Array = new Float32Array(0);
  /** The instances drawn in full, in the order they are skinned in. */
  chosen: number[] = [];
  readonly size: number;
  /** No more instances than this fit into the skinning pass. */
  readonly most: number;
  /** Where each palette entry turns, at bind, `(P, 3)` flat. */
  readonly pivots: Float32Array;
  private readonly palette = new Table(4);
  private readonly dual = new Table(4);
  private readonly placed = new Table(4);
  private morphs: Float32Array = new Float32Array(0);
  /** Whether the tables hold the chosen instances of the newest frame. */
  private gathered = false;
  private split = false;
  /** The method whose result the skinned vertices hold, "" when they are out of date. */
  private skinnedBy: MethodChoice | "" = "";
  private readonly binds: Matrix4[];
  private readonly paletteJoints: Uint32Array;
  private readonly reach: (Box3 | null)[];
  /** The palette entries that move some vertex. */
  private readonly used: number[];

  constructor(
    readonly info: CharacterInfo,
    blob: ArrayBuffer,
    imageAddress: (image: number) => string,
    changed: () => void,
  ) {
    this.library = new TextureLibrary(imageAddress, changed);
    const arrays = new Arrays(blob);
    const inverse = arrays.floats(info.buffers["inverse_bind"]);
    this.pivots = arrays.floats(info.buffers["bind_positions"]);
    this.paletteJoints = Uint32Array.from(arrays.get(info.buffers["palette_joints"]));
    this.binds = info.joints.map((_, j) => rows(inverse, 12 * j, new Matrix4()).invert());
    const [low, high] = info.bounds;
    this.size = Math.max(new Vector3(...low).distanceTo(new Vector3(...high)), 1e-3);
    this.reach = new Array<Box3 | null>(info.palette).fill(null);
    const shared = { arrays, materials: info.materials, library: this.library, entries: info.palette, size: this.size };
    this.parts = info.meshes.map((mesh) => new Part(mesh, shared));
    for (const part of this.parts) {
      part.measure(this.reach);
      this.group.add(part.mesh);
    }
    this.used = [...this.reach.keys()].filter((entry) => this.reach[entry] !== null);
    const largest = Math.max(1, ...info.meshes.map((mesh) => mesh.vertices));
    this.most = Math.max(1, Math.floor(SKINNED_MOST / largest));
  }

  // -- frames -----------------------------------------------------------------------------------------------------
  apply(frame: Frame): void {
    if (frame.palette !== this.info.palette || frame.morphWeights !== this.info.morph_weights) return;
    this.count = frame.count;
    this.time = frame.time;
    this.matrices = frame.matrices;
    this.morphs = frame.morphs;
    this.placements = frame.placements ?? (this.placements.length === 12 * frame.count ? this.placements : standing(frame.count));
    this.outdate();
    this.choose(this.chosen.filter((instance) => instance < frame.count));
    if (!this.chosen.length) this.choose([0]);
  }

  private outdate(): void {
    this.gathered = this.split = false;
    this.skinnedBy = "";
  }

  /** Says which instances are drawn in full. */
  choose(instances: number[]): void {
    const same = instances.length === this.chosen.length && instances.every((instance, i) => instance === this.chosen[i]);
    this.chosen = instances;
    for (const part of this.parts) part.count = this.count ? instances.length : 0;
    if (!same) this.outdate();
  }

  /** Puts what skinning needs to know of the chosen instances into tables. */
  private gather(): void {
    if (this.gathered) return;
    this.gathered = true;
    const { chosen, info } = this;
    const width = 12 * info.palette;
    this.palette.reserve(width * chosen.length);
    this.placed.reserve(12 * chosen.length);
    chosen.forEach((instance, place) => {
      this.palette.data.set(this.matrices.subarray(width * instance, width * (instance + 1)), width * place);
      this.placed.data.set(this.placements.subarray(12 * instance, 12 * (instance + 1)), 12 * place);
    });
    this.palette.changed();
    this.placed.changed();
    for (const part of this.parts) part.setMorphs(this.morphs, info.morph_weights, chosen);
  }

  /** Makes dual quaternions of the matrices. */
  private splitPalette(): void {
    if (this.split) return;
    this.split = true;
    const total = this.info.palette * this.chosen.length;
    this.dual.reserve(20 * total);
    splitMatrices(this.palette.data.subarray(0, 12 * total), this.pivots, this.info.palette, this.used, this.dual.data);
    this.dual.changed();
  }

  /** Skins the chosen instances with a method, unless that has been done for this frame. */
  skin(renderer: WebGLRenderer, method: MethodChoice): void {
    if (this.skinnedBy === method || !this.count) return;
    this.skinnedBy = method;
    this.gather();
    for (const { info, skinned, uniforms } of this.parts) {
      const used = method === "file" ? info.skinning : method;
      if (used !== "linear") this.splitPalette();
      uniforms.mwMethod.value = METHODS[used];
      uniforms.mwPalette.value = this.palette.texture;
      uniforms.mwDual.value = this.dual.texture;
      uniforms.mwPlacements.value = this.placed.texture;
      skinned.run(renderer, this.chosen.length);
    }
  }

  /** Positions of one instance as the graphics card skins them, all meshes in file order, `(V, 3)` flat. */
  skinnedPositions(renderer: WebGLRenderer, method: MethodChoice, instance: number): Float32Array {
    const before = this.chosen;
    this.choose([instance]);
    this.skin(renderer, method);
    const all = this.parts.map((part) => part.skinned.read(renderer, 0));
    this.choose(before);
    const out = new Float32Array(all.reduce((sum, one) => sum + one.length, 0));
    all.reduce((at, one) => (out.set(one, at), at + one.length), 0);
    return out;
  }

  // -- ways to show it --------------------------------------------------------------------------------------------
  /** Colours vertices by a number for each joint, weighted as the joints are; null ends it. */
  showHeat(values: ArrayLike<number> | null): void {
    for (const part of this.parts) part.showHeat(values, this.paletteJoints);
  }

  showWireframe(on: boolean, color: number): void {
    for (const part of this.parts) part.showWireframe(on, color);
  }

  /** Shows the normals of one instance. */
  showNormals(on: boolean, color: number, instance = 0): void {
    const place = Math.max(0, this.chosen.indexOf(instance));
    for (const part of this.parts) {
      part.showNormals(on, color);
      part.normalsOf = place;
    }
  }

  // -- where things are -------------------------------------------------------------------------------------------
  placement(instance: number, out: Matrix4): Matrix4 {
    return 12 * instance + 12 <= this.placements.length ? rows(this.placements, 12 * instance, out) : out.identity();
  }

  /** The world matrix of a joint of one instance. */
  joint(j: number, out: Matrix4, instance = 0): Matrix4 {
    const at = 12 * (instance * this.info.palette + j);
    if (at + 12 > this.matrices.length) return out.identity();
    rows(this.matrices, at, out).multiply(this.binds[j]);
    return out.premultiply(this.placement(instance, scratch));
  }

  /** A box that holds one instance as it is posed now: what every joint carries, and the joints themselves. */
  bounds(out: Box3, instance = 0): Box3 {
    out.makeEmpty();
    const box = new Box3();
    const m = new Matrix4();
    const placed = this.placement(instance, new Matrix4());
    if (this.matrices.length < 12 * this.info.palette * (instance + 1)) {
      out.set(new Vector3(...this.info.bounds[0]), new Vector3(...this.info.bounds[1]));
      return out;
    }
    this.reach.forEach((reach, entry) => {
      if (!reach) return;
      rows(this.matrices, 12 * (instance * this.info.palette + entry), m).premultiply(placed);
      out.union(box.copy(reach).applyMatrix4(m));
    });
    if (out.isEmpty()) {
      const point = new Vector3();
      this.info.joints.forEach((_, j) => out.expandByPoint(point.setFromMatrixPosition(this.joint(j, m, instance))));
    }
    return out;
  }

  /** A box around all instances, from their places and the first one's size. */
  crowdBounds(out: Box3): Box3 {
    this.bounds(out);
    if (this.count <= 1) return out;
    const first = new Vector3().setFromMatrixPosition(this.placement(0, new Matrix4()));
    const one = out.clone();
    const offset = new Vector3();
    const moved = new Box3();
    for (let i = 1; i < this.count; i++) {
      offset.setFromMatrixPosition(this.placement(i, scratch)).sub(first);
      out.union(moved.copy(one).translate(offset));
    }
    return out;
  }

  dispose(): void {
    for (const part of this.parts) part.dispose();
    for (const table of [this.palette, this.dual, this.placed]) table.dispose();
    this.library.dispose();
  }
}

const scratch = new Matrix4();

function rows(m: Float32Array, i: number, out: Matrix4): Matrix4 {
  return out.set(
    m[i], m[i + 1], m[i + 2], m[i + 3],
    m[i + 4], m[i + 5], m[i + 6], m[i + 7],
    m[i + 8], m[i + 9], m[i + 10], m[i + 11],
    0, 0, 0, 1,
  );
}

function standing(count: number): Float32Array {
  const all = new Float32Array(12 * count);
  for (let i = 0; i < count; i++) all.set(IDENTITY_ROWS, 12 * i);
  return all;
}
