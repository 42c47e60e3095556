/** `CharacterView`: a character's meshes as skinned instances, fed by frames. */
import {
  Box3, BufferAttribute, DoubleSide, Group, InstancedBufferGeometry, LineBasicMaterial, LineSegments, type Material,
  Matrix4, Mesh, MeshBasicMaterial, MeshDepthMaterial, RGBADepthPacking, Vector3,
} from "three";
import type { BufferInfo, CharacterInfo, Frame, MeshInfo } from "../protocol";
import { splitMatrices } from "./dual";
import { buildMaterial, TextureLibrary } from "./materials";
import { type Method, METHODS, skinned, type SkinUniforms } from "./shader";
import { Table } from "./tables";

type Values = Float32Array | Uint32Array | Uint16Array;
/** What a user may ask for: as each mesh's author did, or one method for all. */
export type MethodChoice = "file" | Exclude<Method, "blended">;

const IDENTITY_ROWS = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0]);

export interface Part {
  info: MeshInfo;
  mesh: Mesh;
  geometry: InstancedBufferGeometry;
  uniforms: SkinUniforms;
  influences: Table;
  deltas: Table;
  morphs: Table;
  joints: Values;
  weights: Float32Array;
  wireframe: Mesh | null;
  normals: LineSegments | null;
}

export class CharacterView {
  readonly group = new Group();
  readonly parts: Part[] = [];
  readonly library: TextureLibrary;
  /** The newest frame's placements, one identity until some come. */
  placements: Float32Array = IDENTITY_ROWS;
  count = 0;
  time = 0;
  matrices: Float32Array;
  method: MethodChoice = "file";
  readonly size: number;
  private readonly palette = new Table(4);
  private readonly dual = new Table(4);
  private readonly placed = new Table(4);
  private dualOf: Float32Array | null = null;
  private readonly binds: Matrix4[];
  private readonly pivots: Float32Array;
  private readonly paletteJoints: Uint32Array;
  private readonly reach: (Box3 | null)[];

  constructor(
    readonly info: CharacterInfo,
    private readonly blob: ArrayBuffer,
    imageAddress: (image: number) => string,
    changed: () => void,
  ) {
    this.library = new TextureLibrary(imageAddress, changed);
    this.matrices = new Float32Array(0);
    const inverse = this.array(info.buffers["inverse_bind"]) as Float32Array;
    this.pivots = this.array(info.buffers["bind_positions"]) as Float32Array;
    this.paletteJoints = Uint32Array.from(this.array(info.buffers["palette_joints"]));
    this.binds = info.joints.map((_, j) => rows(inverse, 12 * j, new Matrix4()).invert());
    const [low, high] = info.bounds;
    this.size = Math.max(new Vector3(...low).distanceTo(new Vector3(...high)), 1e-3);
    this.reach = new Array<Box3 | null>(info.palette).fill(null);
    for (const mesh of info.meshes) {
      const part = this.buildPart(mesh);
      this.parts.push(part);
      this.group.add(part.mesh);
    }
    this.placed.set(IDENTITY_ROWS);
  }

  private array(info: BufferInfo | undefined): Values {
    if (!info) return new Float32Array(0);
    const length = info.shape.reduce((a, b) => a * b, 1);
    if (info.dtype === "float32") return new Float32Array(this.blob, info.offset, length);
    if (info.dtype === "uint32") return new Uint32Array(this.blob, info.offset, length);
    return new Uint16Array(this.blob, info.offset, length);
  }

  private buildPart(info: MeshInfo): Part {
    const has = info.buffers;
    const geometry = new InstancedBufferGeometry();
    const positions = this.array(has["positions"]) as Float32Array;
    const flat = new Float32Array(3 * info.vertices);
    const attribute = (name: string, values: Values, width: number): void => {
      geometry.setAttribute(name, new BufferAttribute(values, width));
    };
    attribute("position", positions, 3);
    attribute("normal", has["normals"] ? this.array(has["normals"]) : flat, 3);
    if (has["tangents"]) attribute("tangent", this.array(has["tangents"]), 4);
    if (has["colors"]) attribute("color", this.array(has["colors"]), 4);
    ["uv", "uv1", "uv2", "uv3"].forEach((name, i) => {
      const buffer = has[`uv${i}`];
      if (buffer) attribute(name, this.array(buffer), 2);
      else if (i === 0) attribute(name, new Float32Array(2 * info.vertices), 2);
    });
    attribute("mwHeatWeight", new Float32Array(info.vertices), 1);
    const share = has["dual_quaternion_weights"];
    attribute("mwShare", share ? this.array(share) : new Float32Array(info.vertices), 1);
    geometry.setIndex(new BufferAttribute(this.array(has["triangles"]), 1));
    geometry.instanceCount = 0;

    const joints = this.array(has["joints"]);
    const weights = this.array(has["weights"]) as Float32Array;
    const influences = new Table(2, 2 * weights.length);
    for (let i = 0; i < weights.length; i++) {
      influences.data[2 * i] = joints[i];
      influences.data[2 * i + 1] = weights[i];
    }
    this.measure(info, positions, joints, weights);

    const deltas = this.morphDeltas(info);
    const morphs = new Table(2);
    const uniforms: SkinUniforms = {
      mwPalette: { value: this.palette.texture },
      mwDual: { value: this.dual.texture },
      mwInfluences: { value: influences.texture },
      mwPlacements: { value: this.placed.texture },
      mwMorphDeltas: { value: deltas.texture },
      mwMorphWeights: { value: morphs.texture },
      mwEntries: { value: this.info.palette },
      mwInfluenceCount: { value: info.influences },
      mwVertexCount: { value: info.vertices },
      mwMorphSlots: { value: 0 },
      mwMethod: { value: METHODS[info.skinning] },
      mwHeat: { value: 0 },
      mwLength: { value: 0.012 * this.size },
    };
    const traits = { colors: Boolean(has["colors"]), normals: Boolean(has["normals"]) };
    const materials: Material[] = info.sections.map((section, i) => {
      geometry.addGroup(3 * section.first, 3 * section.count, i);
      const described = section.material >= 0 ? this.info.materials[section.material] : null;
      return skinned(buildMaterial(described, this.library, traits), uniforms);
    });
    const mesh = new Mesh(geometry, materials);
    mesh.name = info.name;
    mesh.visible = info.visible;
    mesh.frustumCulled = false;
    mesh.castShadow = mesh.receiveShadow = true;
    mesh.customDepthMaterial = skinned(new MeshDepthMaterial({ depthPacking: RGBADepthPacking, side: DoubleSide }), uniforms);
    return { info, mesh, geometry, uniforms, influences, deltas, morphs, joints, weights, wireframe: null, normals: null };
  }

  private morphDeltas(info: MeshInfo): Table {
    const targets = info.morph_targets.length;
    const table = new Table(4, 8 * targets * info.vertices);
    if (!targets) return table;
    const positions = this.array(info.buffers["morph_positions"]);
    const normals = this.array(info.buffers["morph_normals"]);
    for (let i = 0; i < targets * info.vertices; i++)
      for (let c = 0; c < 3; c++) {
        table.data[8 * i + c] = positions[3 * i + c] ?? 0;
        table.data[8 * i + 4 + c] = normals[3 * i + c] ?? 0;
      }
    return table;
  }

  /** The box, at bind, of what each palette entry moves: their images bound the posed mesh. */
  private measure(info: MeshInfo, positions: Float32Array, joints: Values, weights: Float32Array): void {
    const K = info.influences;
    const point = new Vector3();
    for (let v = 0; v < info.vertices; v++) {
      point.fromArray(positions, 3 * v);
      for (let k = v * K; k < v * K + K && weights[k] > 0; k++) {
        const entry = joints[k];
        (this.reach[entry] ??= new Box3()).expandByPoint(point);
      }
    }
  }

  // -- frames -----------------------------------------------------------------------------------------------------
  apply(frame: Frame): void {
    if (frame.palette !== this.info.palette || frame.morphWeights !== this.info.morph_weights) return;
    this.count = frame.count;
    this.time = frame.time;
    this.matrices = frame.matrices;
    this.palette.set(frame.matrices);
    this.dualOf = null;
    if (frame.placements !== this.placements) {
      this.placements = frame.placements ?? standing(frame.count);
      this.placed.set(this.placements);
    }
    for (const part of this.parts) {
      part.geometry.instanceCount = frame.count;
      const slots = packMorphs(part, frame);
      const u = part.uniforms;
      u.mwMorphSlots.value = slots;
      u.mwMorphWeights.value = part.morphs.texture;
      u.mwPalette.value = this.palette.texture;
      u.mwPlacements.value = this.placed.texture;
      if (part.wireframe) (part.wireframe.geometry as InstancedBufferGeometry).instanceCount = frame.count;
      if (part.normals) (part.normals.geometry as InstancedBufferGeometry).instanceCount = Math.min(frame.count, 1);
    }
  }

  /** Chooses how vertices are blended, and makes dual quaternions of this frame's matrices where some are needed. */
  useMethod(choice: MethodChoice): void {
    this.method = choice;
    let dual = false;
    for (const part of this.parts) {
      const method = choice === "file" ? part.info.skinning : choice;
      part.uniforms.mwMethod.value = METHODS[method];
      dual ||= method !== "linear";
    }
    if (dual && this.dualOf !== this.matrices) {
      this.dual.reserve((this.matrices.length / 12) * 20);
      splitMatrices(this.matrices, this.pivots, this.info.palette, this.dual.data);
      this.dual.changed();
      this.dualOf = this.matrices;
    }
    for (const part of this.parts) part.uniforms.mwDual.value = this.dual.texture;
  }

  /** Colours vertices by a number for each joint, weighted as the joints are; null ends it. */
  showHeat(values: ArrayLike<number> | null): void {
    for (const part of this.parts) {
      part.uniforms.mwHeat.value = values ? 1 : 0;
      if (!values) continue;
      const heat = part.geometry.getAttribute("mwHeatWeight") as BufferAttribute;
      const K = part.info.influences;
      for (let v = 0; v < part.info.vertices; v++) {
        let sum = 0;
        for (let k = v * K; k < v * K + K; k++)
          sum += part.weights[k] * (values[this.paletteJoints[part.joints[k]]!] ?? 0);
        (heat.array as Float32Array)[v] = sum;
      }
      heat.needsUpdate = true;
    }
  }

  showWireframe(on: boolean, color: number): void {
    for (const part of this.parts) {
      if (on && !part.wireframe) {
        const material = new MeshBasicMaterial({ wireframe: true, color, transparent: true, opacity: 0.28, toneMapped: false });
        material.polygonOffset = true;
        part.wireframe = new Mesh(part.geometry, skinned(material, { ...part.uniforms, mwHeat: { value: 0 } } as SkinUniforms));
        part.wireframe.frustumCulled = false;
        part.mesh.add(part.wireframe);
      }
      if (part.wireframe) {
        part.wireframe.visible = on;
        (part.wireframe.material as MeshBasicMaterial).color.set(color);
      }
    }
  }

  showNormals(on: boolean, color: number): void {
    for (const part of this.parts) {
      if (on && !part.normals && part.info.buffers["normals"]) {
        const geometry = new InstancedBufferGeometry();
        for (const [name, width] of [["position", 3], ["normal", 3], ["mwShare", 1], ["mwHeatWeight", 1]] as const) {
          const source = part.geometry.getAttribute(name).array as Float32Array;
          const twice = new Float32Array(2 * source.length);
          for (let v = 0; v < part.info.vertices; v++) {
            const one = source.subarray(width * v, width * v + width);
            twice.set(one, 2 * width * v);
            twice.set(one, 2 * width * v + width);
          }
          geometry.setAttribute(name, new BufferAttribute(twice, width));
        }
        geometry.instanceCount = Math.min(this.count, 1);
        const material = new LineBasicMaterial({ color, transparent: true, opacity: 0.8, toneMapped: false });
        part.normals = new LineSegments(geometry, skinned(material, { ...part.uniforms, mwHeat: { value: 0 } } as SkinUniforms, true));
        part.normals.frustumCulled = false;
        part.mesh.add(part.normals);
      }
      if (part.normals) part.normals.visible = on;
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
    if (out.isEmpty()) this.info.joints.forEach((_, j) => out.expandByPoint(new Vector3().setFromMatrixPosition(this.joint(j, m, instance))));
    return out;
  }

  /** A box around all instances, from their places and the first one's size. */
  crowdBounds(out: Box3): Box3 {
    this.bounds(out);
    if (this.count <= 1) return out;
    const first = new Vector3().setFromMatrixPosition(this.placement(0, new Matrix4()));
    const one = out.clone();
    const offset = new Vector3();
    for (let i = 1; i < this.count; i++) {
      offset.setFromMatrixPosition(this.placement(i, scratch)).sub(first);
      out.union(one.clone().translate(offset));
    }
    return out;
  }

  dispose(): void {
    for (const part of this.parts) {
      part.geometry.dispose();
      for (const material of part.mesh.material as Material[]) material.dispose();
      part.mesh.customDepthMaterial?.dispose();
      part.normals?.geometry.dispose();
      for (const table of [part.influences, part.deltas, part.morphs]) table.dispose();
    }
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

/** Lists, for each instance, the targets of a mesh that are on; returns the length of the longest list. */
function packMorphs(part: Part, frame: Frame): number {
  const targets = part.info.morph_targets;
  if (!targets.length) return 0;
  const M = frame.morphWeights;
  let slots = 0;
  for (let n = 0; n < frame.count; n++) {
    let on = 0;
    for (const target of targets) if (frame.morphs[n * M + target.weight] !== 0) on++;
    slots = Math.max(slots, on);
  }
  if (!slots) return 0;
  part.morphs.reserve(2 * slots * frame.count);
  part.morphs.data.fill(0);
  for (let n = 0; n < frame.count; n++) {
    let at = 2 * slots * n;
    targets.forEach((target, i) => {
      const weight = frame.morphs[n * M + target.weight];
      if (weight === 0) return;
      part.morphs.data[at++] = i;
      part.morphs.data[at++] = weight;
    });
  }
  part.morphs.changed();
  return slots;
}
