/**
 * Figures: simple dolls that stand for the instances of a crowd that are not drawn in full.
 *
 * A doll has an ellipsoid for each part of the body: as long and wide as the vertices that a joint moves most, in the colour
 * they have. It is moved by the same matrices as the character.
 */
import {
  BufferAttribute, BufferGeometry, Color, Group, InstancedBufferGeometry, type IUniform, LinearSRGBColorSpace, type Material,
  Mesh, MeshDepthMaterial, MeshStandardMaterial, Sphere, SphereGeometry, Vector3,
} from "three";
import type { CharacterView } from "./character";
import { lightUp } from "./light";
import { principalAxes } from "./moments";
import { Table } from "./tables";

/** So many figures, the nearest, have all their parts and round ones; those behind them the largest parts, with eight faces. */
const NEAR_SOFTWARE = 60;
const NEAR_HARDWARE = 600;
const FAR_PARTS = 13;
/** Parts of a body smaller than this share of it go with the one they hang on. */
const SMALL = 0.022;
const BONE = new Color(0.82, 0.77, 0.66);

const [start, end, across, aside] = [new Vector3(), new Vector3(), new Vector3(), new Vector3()];

interface BodyPart {
  entry: number;
  /** From the unit ball to where the part is at bind: 3x4, row-major. */
  shape: Float32Array;
  color: Color;
  /** How much of it is seen, about. */
  area: number;
  /** A bone reaches to another joint, wherever that is; its shape is not its own. */
  bone?: { to: number; width: number };
}

interface Gathered {
  vertices: number;
  sum: Float64Array;
  squares: Float64Array;
  color: Color;
}

export class Figures {
  readonly group = new Group();
  private readonly near: Dolls;
  private readonly far: Dolls;

  constructor(
    private readonly character: CharacterView,
    private readonly software: boolean,
  ) {
    const parts = character.parts.length ? bodyParts(character) : bones(character);
    this.near = new Dolls(parts, new SphereGeometry(1, 6, 4));
    this.far = new Dolls([...parts].sort((a, b) => b.area - a.area).slice(0, FAR_PARTS), octahedron());
    // Where the processor draws, shadows too small to make out are left out.
    this.far.mesh.castShadow = !software;
    this.group.add(this.near.mesh, this.far.mesh);
  }

  /** Shows these instances, the nearest first, posed as they are now. */
  show(instances: number[]): void {
    const near = this.software ? NEAR_SOFTWARE : NEAR_HARDWARE;
    this.near.show(this.character, instances.slice(0, near));
    this.far.show(this.character, instances.slice(near));
  }

  dispose(): void {
    for (const dolls of [this.near, this.far]) dolls.dispose();
  }
}

/** Where a part of a doll is, read from a table: 3 texels a part, the rows of its matrix. */
const VERTEX_HEAD = /* glsl */ `
uniform highp sampler2D mwShapes;
uniform int mwParts;
attribute float mwPart;
vec4 mwRow(int row) {
  int at = 3 * (gl_InstanceID * mwParts + int(mwPart)) + row;
  return texelFetch(mwShapes, ivec2(at & 1023, at >> 10), 0);
}
`;
const NORMAL_CHUNK = /* glsl */ `
  vec3 mwX = mwRow(0).xyz, mwY = mwRow(1).xyz, mwZ = mwRow(2).xyz;
  vec3 objectNormal = vec3(dot(cross(mwY, mwZ), normal), dot(cross(mwZ, mwX), normal), dot(cross(mwX, mwY), normal));
`;
const POSITION_CHUNK = /* glsl */ `
  vec4 mwPoint = vec4(position, 1.0);
  vec3 transformed = vec3(dot(mwRow(0), mwPoint), dot(mwRow(1), mwPoint), dot(mwRow(2), mwPoint));
`;

/** Dolls of the same parts, drawn together. */
class Dolls {
  readonly mesh: Mesh<InstancedBufferGeometry, MeshStandardMaterial>;
  private readonly shapes = new Table(4);
  private readonly uniforms: Record<string, IUniform>;

  constructor(
    private readonly parts: BodyPart[],
    ball: BufferGeometry,
  ) {
    this.uniforms = { mwShapes: { value: this.shapes.texture }, mwParts: { value: parts.length } };
    this.mesh = new Mesh(dollGeometry(parts, ball), this.moved(new MeshStandardMaterial({ roughness: 0.6, vertexColors: true }), true));
    this.mesh.customDepthMaterial = this.moved(new MeshDepthMaterial(), false);
    this.mesh.frustumCulled = false;
    this.mesh.castShadow = true;
    ball.dispose();
  }

  private moved<T extends Material>(material: T, lit: boolean): T {
    material.onBeforeCompile = (shader, renderer) => {
      Object.assign(shader.uniforms, this.uniforms);
      shader.vertexShader = shader.vertexShader
        .replace("#include <common>", `#include <common>\n${VERTEX_HEAD}`)
        .replace("#include <beginnormal_vertex>", NORMAL_CHUNK)
        .replace("#include <begin_vertex>", POSITION_CHUNK);
      if (lit) lightUp(shader, renderer);
    };
    material.customProgramCacheKey = () => "marrow doll";
    return material;
  }

  show(character: CharacterView, instances: number[]): void {
    const { matrices, placements, info } = character;
    const { mesh, parts, shapes } = this;
    mesh.visible = instances.length > 0 && parts.length > 0;
    if (!mesh.visible) return;
    mesh.geometry.instanceCount = instances.length;
    shapes.reserve(12 * instances.length * parts.length);
    const moved = new Float32Array(12);
    let at = 0;
    for (const instance of instances) {
      character.ensure(instance);
      for (const part of parts) {
        if (part.bone) stretch(character, instance, part, moved);
        else multiply(matrices, 12 * (instance * info.palette + part.entry), part.shape, moved, 0);
        multiply(placements, 12 * instance, moved, shapes.data, at);
        at += 12;
      }
    }
    shapes.changed();
    this.uniforms["mwShapes"].value = shapes.texture;
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
    this.mesh.customDepthMaterial!.dispose();
    this.shapes.dispose();
  }
}

/** A ball for each part, in its colour. */
function dollGeometry(parts: BodyPart[], ball: BufferGeometry): InstancedBufferGeometry {
  const geometry = new InstancedBufferGeometry();
  const positions = ball.getAttribute("position").array as Float32Array;
  const corners = positions.length / 3;
  const faces = Array.from(ball.index!.array);
  const repeated = new Float32Array(parts.length * positions.length);
  const colors = new Float32Array(parts.length * positions.length);
  const numbers = new Float32Array(parts.length * corners);
  const index: number[] = [];
  parts.forEach((part, i) => {
    repeated.set(positions, i * positions.length);
    numbers.fill(i, i * corners, (i + 1) * corners);
    for (let v = i * corners; v < (i + 1) * corners; v++) part.color.toArray(colors, 3 * v);
    for (const face of faces) index.push(face + i * corners);
  });
  geometry.setAttribute("position", new BufferAttribute(repeated, 3));
  // On a ball around the origin, the normal is the position.
  geometry.setAttribute("normal", new BufferAttribute(repeated, 3));
  geometry.setAttribute("color", new BufferAttribute(colors, 3));
  geometry.setAttribute("mwPart", new BufferAttribute(numbers, 1));
  geometry.setIndex(index);
  geometry.boundingSphere = new Sphere();
  return geometry;
}

/** A ball of eight faces, with corners that stand out so that it looks as large as a round one. */
function octahedron(): BufferGeometry {
  const geometry = new BufferGeometry();
  const r = 1.25;
  geometry.setAttribute("position", new BufferAttribute(new Float32Array([r, 0, 0, -r, 0, 0, 0, r, 0, 0, -r, 0, 0, 0, r, 0, 0, -r]), 3));
  geometry.setIndex([0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5]);
  return geometry;
}

/** out = a b, all 3x4 and row-major. */
function multiply(a: Float32Array, i: number, b: Float32Array, out: Float32Array, o: number): void {
  for (let row = 0; row < 12; row += 4) {
    const x = a[i + row], y = a[i + row + 1], z = a[i + row + 2];
    for (let col = 0; col < 4; col++) out[o + row + col] = x * b[col] + y * b[4 + col] + z * b[8 + col];
    out[o + row + 3] += a[i + row + 3];
  }
}

/** A slim ellipsoid from each joint to its parent, for skeletons without a mesh. */
function bones({ info, pivots, size }: CharacterView): BodyPart[] {
  const out: BodyPart[] = [];
  info.joints.forEach(({ parent }, joint) => {
    if (parent < 0) return;
    const length = new Vector3().fromArray(pivots, 3 * joint).distanceTo(new Vector3().fromArray(pivots, 3 * parent));
    const width = Math.max(0.06 * length, 0.004 * size);
    out.push({ entry: parent, shape: new Float32Array(12), area: length * width, color: BONE, bone: { to: joint, width } });
  });
  return out;
}

/** From the unit ball to a bone between two joints as they are posed now, 3x4 and row-major. */
function stretch({ matrices, pivots, info }: CharacterView, instance: number, part: BodyPart, out: Float32Array): void {
  const { to, width } = part.bone!;
  const place = (entry: number, point: Vector3): Vector3 => {
    const m = 12 * (instance * info.palette + entry);
    const [x, y, z] = pivots.subarray(3 * entry, 3 * entry + 3);
    const row = (i: number): number => matrices[m + i] * x + matrices[m + i + 1] * y + matrices[m + i + 2] * z + matrices[m + i + 3];
    return point.set(row(0), row(4), row(8));
  };
  const from = place(part.entry, start);
  const along = place(to, end).sub(from).multiplyScalar(0.5);
  from.add(along);
  const length = Math.max(along.length(), 1e-9);
  // Any two directions across will do.
  across.set(Math.abs(along.x) < 0.6 * length ? 1 : 0, Math.abs(along.x) < 0.6 * length ? 0 : 1, 0).cross(along).setLength(width);
  aside.crossVectors(along, across).setLength(width);
  for (let row = 0; row < 3; row++) {
    out[4 * row] = across.getComponent(row);
    out[4 * row + 1] = along.getComponent(row);
    out[4 * row + 2] = -aside.getComponent(row);
    out[4 * row + 3] = from.getComponent(row);
  }
}

/** Gathers the vertices of each joint into ellipsoids. */
function bodyParts(character: CharacterView): BodyPart[] {
  const { joints, palette } = character.info;
  const gathered = Array.from({ length: palette }, (): Gathered => ({
    vertices: 0, sum: new Float64Array(3), squares: new Float64Array(6), color: new Color(0, 0, 0),
  }));
  let total = 0;
  for (const part of character.parts) {
    if (!part.info.visible) continue;
    const colors = part.vertexColors();
    const K = part.info.influences;
    for (let v = 0; v < part.info.vertices; v++) {
      const [x, y, z] = part.positions.subarray(3 * v, 3 * v + 3);
      const one = gathered[part.joints[v * K]];
      one.vertices++;
      one.sum[0] += x; one.sum[1] += y; one.sum[2] += z;
      one.squares[0] += x * x; one.squares[1] += y * y; one.squares[2] += z * z;
      one.squares[3] += x * y; one.squares[4] += x * z; one.squares[5] += y * z;
      one.color.add(colors[v]);
      total++;
    }
  }
  const out: BodyPart[] = [];
  // Children come after their parents: from the back, what is too small is handed on before its parent is looked at.
  for (let entry = palette - 1; entry >= 0; entry--) {
    const one = gathered[entry];
    if (one.vertices < 4) continue;
    const { center, axes, spread } = principalAxes(one.vertices, one.sum, one.squares);
    const parent = joints[entry]?.parent ?? -1;
    const small = spread[0] < SMALL * character.size || one.vertices < 0.004 * total;
    if (small && parent >= 0 && gathered[parent].vertices) {
      const other = gathered[parent];
      other.vertices += one.vertices;
      one.sum.forEach((x, i) => (other.sum[i] += x));
      one.squares.forEach((x, i) => (other.squares[i] += x));
      other.color.add(one.color);
      continue;
    }
    // Points on an ellipsoid spread by its half axis over the square root of three.
    const half = spread.map((s) => Math.max(Math.sqrt(3) * s, 0.004 * character.size));
    const shape = new Float32Array(12);
    // The ball's poles lie on the longest axis.
    [1, 2, 0].forEach((column, k) => {
      for (let row = 0; row < 3; row++) shape[4 * row + column] = half[k] * axes[k][row];
    });
    for (let row = 0; row < 3; row++) shape[4 * row + 3] = center[row];
    const { r, g, b } = one.color.multiplyScalar(1 / one.vertices);
    out.push({ entry, shape, area: half[0] * half[1], color: new Color().setRGB(r, g, b, LinearSRGBColorSpace) });
  }
  return out;
}
