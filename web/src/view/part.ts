/** `Part`: one mesh of a character: its tables for skinning, its geometry, and the ways it is drawn. */
import {
  Box3, BufferAttribute, Color, DoubleSide, InstancedBufferGeometry, type Material, Mesh, MeshBasicMaterial, MeshDepthMaterial, Sphere, type Texture,
  Vector3,
} from "three";
import type { BufferInfo, MaterialInfo, MeshInfo } from "../protocol";
import { buildMaterial, type TextureLibrary } from "./materials";
import { METHODS, SkinnedVertices, type SkinUniforms } from "./skinning";
import { SurfacePaint } from "./paint";
import { skinnedPlain, skinnedShape, skinnedSurface } from "./surface";
import { Table } from "./tables";
import { orderTriangles } from "./triangles";

export type Values = Float32Array | Uint32Array | Uint16Array;

/** The arrays of a character, as they came. */
export class Arrays {
  constructor(private readonly blob: ArrayBuffer) {}

  get(info: BufferInfo | undefined): Values {
    if (!info) return new Float32Array(0);
    const length = info.shape.reduce((a, b) => a * b, 1);
    if (info.dtype === "float32") return new Float32Array(this.blob, info.offset, length);
    if (info.dtype === "uint32") return new Uint32Array(this.blob, info.offset, length);
    return new Uint16Array(this.blob, info.offset, length);
  }

  floats(info: BufferInfo | undefined): Float32Array {
    return this.get(info) as Float32Array;
  }
}

/** What all meshes of a character share. */
export interface Shared {
  arrays: Arrays;
  materials: MaterialInfo[];
  library: TextureLibrary;
  entries: number;
  size: number;
  /** Where it is set, meshes are drawn in the plain colour of each material, without shadows: far away, in software. */
  plain?: (material: number) => Color;
}

export class Part {
  readonly mesh: Mesh<InstancedBufferGeometry, Material[]>;
  readonly skinned: SkinnedVertices;
  readonly uniforms: SkinUniforms;
  readonly positions: Float32Array;
  readonly joints: Values;
  readonly weights: Float32Array;
  /** The colours that a view gives it. */
  readonly paint: SurfacePaint;
  private readonly tables: Table[];
  private readonly tangents: boolean;
  private readonly morphs = new Table(2);

  constructor(
    readonly info: MeshInfo,
    shared: Shared,
  ) {
    const has = info.buffers;
    const { arrays } = shared;
    this.positions = arrays.floats(has["positions"]);
    this.joints = arrays.get(has["joints"]);
    this.weights = arrays.floats(has["weights"]);
    const rest = restTable(info, arrays);
    const influences = this.influenceTable();
    const deltas = morphTable(info, arrays);
    this.tables = [rest, influences, deltas, this.morphs];
    const unset = rest.texture as Texture;
    this.uniforms = {
      mwPalette: { value: unset }, mwDual: { value: unset }, mwPlacements: { value: unset },
      mwRest: { value: rest.texture },
      mwInfluences: { value: influences.texture },
      mwMorphDeltas: { value: deltas.texture },
      mwMorphWeights: { value: this.morphs.texture },
      mwEntries: { value: shared.entries },
      mwInfluencePairs: { value: Math.ceil(info.influences / 2) },
      mwVertexCount: { value: info.vertices },
      mwTotal: { value: 0 },
      mwMorphSlots: { value: 0 },
      mwMethod: { value: METHODS[info.skinning] },
    };
    // Tangents are for textures of normals, and nothing else.
    this.tangents = Boolean(has["tangents"]) && info.sections.some(({ material }) => shared.materials[material]?.normal_texture);
    this.skinned = new SkinnedVertices(info.vertices, this.uniforms, this.tangents);
    this.paint = new SurfacePaint(info.vertices);
    this.mesh = this.buildMesh(shared);
  }

  private influenceTable(): Table {
    const K = this.info.influences;
    const pairs = Math.ceil(K / 2);
    const table = new Table(4, 4 * pairs * this.info.vertices);
    for (let v = 0; v < this.info.vertices; v++)
      for (let k = 0; k < K; k++) {
        const at = 4 * pairs * v + 2 * k;
        table.data[at] = this.joints[v * K + k];
        table.data[at + 1] = this.weights[v * K + k];
      }
    return table;
  }

  private buildMesh(shared: Shared): Mesh<InstancedBufferGeometry, Material[]> {
    const { info } = this;
    const has = info.buffers;
    const geometry = new InstancedBufferGeometry();
    const attribute = (name: string, values: Values, width: number): void => {
      geometry.setAttribute(name, new BufferAttribute(values, width));
    };
    // Positions, normals and tangents are read from the skinned vertices; three.js only wants to know that there are some.
    const present = new Uint8Array(info.vertices);
    geometry.setAttribute("position", new BufferAttribute(present, 1));
    geometry.setAttribute("normal", new BufferAttribute(present, 1));
    if (this.tangents) geometry.setAttribute("tangent", new BufferAttribute(tangentSigns(shared.arrays.floats(has["tangents"])), 4));
    if (has["colors"]) attribute("color", shared.arrays.get(has["colors"]), 4);
    ["uv", "uv1", "uv2", "uv3"].forEach((name, i) => {
      const buffer = has[`uv${i}`];
      if (buffer) attribute(name, shared.arrays.get(buffer), 2);
      else if (i === 0) attribute(name, new Float32Array(2 * info.vertices), 2);
    });
    geometry.setIndex(new BufferAttribute(Uint32Array.from(shared.arrays.get(has["triangles"])), 1));
    geometry.boundingSphere = new Sphere();
    geometry.instanceCount = 0;
    const traits = { colors: Boolean(has["colors"]), normals: Boolean(has["normals"]) };
    const uniforms = { ...this.skinned.results, ...this.paint.uniforms };
    const materials: Material[] = info.sections.map((section, i) => {
      geometry.addGroup(3 * section.first, 3 * section.count, i);
      if (shared.plain) return skinnedPlain(new MeshBasicMaterial({ color: shared.plain(section.material) }), uniforms);
      const described = section.material >= 0 ? shared.materials[section.material] : null;
      return skinnedSurface(buildMaterial(described, shared.library, traits), uniforms);
    });
    const mesh = new Mesh(geometry, materials);
    mesh.name = info.name;
    mesh.visible = info.visible;
    mesh.frustumCulled = false;
    mesh.castShadow = mesh.receiveShadow = !shared.plain;
    mesh.customDepthMaterial = skinnedShape(new MeshDepthMaterial({ side: DoubleSide }), this.skinned.results);
    return mesh;
  }

  /** Puts the triangles of every section in an order that is quick to draw. */
  orderTriangles(): void {
    const index = this.mesh.geometry.index!;
    const triangles = index.array as Uint32Array;
    for (const { first, count } of this.info.sections) triangles.set(orderTriangles(triangles, first, count, this.info.vertices), 3 * first);
    index.needsUpdate = true;
  }

  /** The plain colour of the material of each vertex: with a texture, its mean. */
  vertexColors(): Color[] {
    const plain = (this.mesh.material as MeshBasicMaterial[]).map(({ color, map }) => {
      const average = map?.userData["average"] as Color | undefined;
      return average ? color.clone().multiply(average) : color;
    });
    const out = new Array<Color>(this.info.vertices).fill(plain[0] ?? new Color());
    const triangles = this.mesh.geometry.index!.array;
    this.info.sections.forEach((section, i) => {
      for (let at = 3 * section.first; at < 3 * (section.first + section.count); at++) out[triangles[at]] = plain[i];
    });
    return out;
  }

  /** How many of the chosen instances are drawn. */
  set count(count: number) {
    this.mesh.geometry.instanceCount = count;
  }

  /** Takes morph weights, `width` for each instance: of those to be skinned, the targets of this mesh that are on. */
  setMorphs(weights: Float32Array, width: number, instances: number[]): void {
    this.uniforms.mwMorphSlots.value = packMorphs(this.info, weights, width, instances, this.morphs);
    this.uniforms.mwMorphWeights.value = this.morphs.texture;
  }

  /** Grows a box around what each palette entry moves, at bind: their images bound the posed mesh. */
  measure(reach: (Box3 | null)[]): void {
    const K = this.info.influences;
    const point = new Vector3();
    for (let v = 0; v < this.info.vertices; v++) {
      point.fromArray(this.positions, 3 * v);
      for (let k = v * K; k < v * K + K && this.weights[k] > 0; k++) {
        const entry = this.joints[k];
        (reach[entry] ??= new Box3()).expandByPoint(point);
      }
    }
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    for (const material of this.mesh.material) material.dispose();
    this.mesh.customDepthMaterial?.dispose();
    this.paint.dispose();
    this.skinned.dispose();
    for (const table of this.tables) table.dispose();
  }
}

/** Three texels a vertex: position and share of dual quaternions, normal, tangent. */
function restTable(info: MeshInfo, arrays: Arrays): Table {
  const has = info.buffers;
  const table = new Table(4, 12 * info.vertices);
  const positions = arrays.floats(has["positions"]);
  const shares = arrays.floats(has["dual_quaternion_weights"]);
  const normals = arrays.floats(has["normals"]);
  const tangents = arrays.floats(has["tangents"]);
  for (let v = 0; v < info.vertices; v++) {
    const at = 12 * v;
    for (let c = 0; c < 3; c++) {
      table.data[at + c] = positions[3 * v + c];
      table.data[at + 4 + c] = normals[3 * v + c] ?? 0;
      table.data[at + 8 + c] = tangents[4 * v + c] ?? 0;
    }
    table.data[at + 3] = shares[v] ?? 0;
  }
  return table;
}

/** Three texels a target and vertex: changes of position, normal and tangent. */
function morphTable(info: MeshInfo, arrays: Arrays): Table {
  const targets = info.morph_targets.length;
  const table = new Table(4, 12 * targets * info.vertices);
  const fields = ["morph_positions", "morph_normals", "morph_tangents"].map((name) => arrays.floats(info.buffers[name]));
  fields.forEach((deltas, field) => {
    for (let i = 0; i < deltas.length / 3; i++)
      for (let c = 0; c < 3; c++) table.data[12 * i + 4 * field + c] = deltas[3 * i + c];
  });
  return table;
}

/** Only the handedness of a tangent is read from the geometry. */
function tangentSigns(tangents: Float32Array): Int8Array {
  const signs = new Int8Array(tangents.length);
  for (let i = 3; i < tangents.length; i += 4) signs[i] = tangents[i] < 0 ? -1 : 1;
  return signs;
}

/** Lists, for each of the instances, the targets of a mesh that are on; returns the length of the longest list. */
function packMorphs(info: MeshInfo, weights: Float32Array, width: number, instances: number[], table: Table): number {
  const targets = info.morph_targets;
  let slots = 0;
  for (const n of instances) {
    let on = 0;
    for (const target of targets) if (target.weight >= 0 && weights[n * width + target.weight] !== 0) on++;
    slots = Math.max(slots, on);
  }
  if (!slots) return 0;
  table.reserve(2 * slots * instances.length);
  table.data.fill(0);
  instances.forEach((n, place) => {
    let at = 2 * slots * place;
    targets.forEach((target, i) => {
      const weight = target.weight < 0 ? 0 : weights[n * width + target.weight];
      if (weight === 0) return;
      table.data[at++] = i;
      table.data[at++] = weight;
    });
  });
  table.changed();
  return slots;
}
