/**
 * Figures: simple dolls that stand for the instances of a crowd that are not drawn in full.
 *
 * A doll has an ellipsoid for each part of the body: as long and wide as the vertices that a joint moves most, in the colour
 * they have. It is moved by the same matrices as the character.
 */
import {
  Color, DynamicDrawUsage, InstancedBufferAttribute, InstancedMesh, LinearSRGBColorSpace, MeshStandardMaterial, SphereGeometry,
} from "three";
import type { CharacterView } from "./character";
import { lightUp } from "./light";
import { principalAxes } from "./moments";

/** Balls of so many sides, for up to so many figures: the more there are, the smaller each is seen. */
const BALLS = [[120, 10, 6], [500, 6, 4], [Infinity, 4, 2]] as const;
/** Parts of a body smaller than this share of it go with the one they hang on. */
const SMALL = 0.022;

interface BodyPart {
  entry: number;
  /** From the unit ball to where the part is at bind: 3x4, row-major. */
  shape: Float64Array;
  color: Color;
}

interface Gathered {
  vertices: number;
  sum: Float64Array;
  squares: Float64Array;
  color: Color;
}

export class Figures {
  readonly mesh: InstancedMesh;
  private readonly parts: BodyPart[];
  private readonly balls = BALLS.map(([most, around, along]) => ({ most, geometry: new SphereGeometry(1, around, along) }));
  private capacity = 0;

  constructor(private readonly character: CharacterView) {
    this.parts = bodyParts(character);
    const material = new MeshStandardMaterial({ roughness: 0.6 });
    material.onBeforeCompile = lightUp;
    material.customProgramCacheKey = () => "marrow figure";
    this.mesh = new InstancedMesh(this.balls[0].geometry, material, 0);
    this.mesh.frustumCulled = false;
    this.mesh.castShadow = true;
  }

  private reserve(figures: number): void {
    if (figures <= this.capacity) return;
    this.capacity = Math.ceil(1.5 * figures);
    const total = this.capacity * this.parts.length;
    this.mesh.dispose();
    this.mesh.instanceMatrix = new InstancedBufferAttribute(new Float32Array(16 * total), 16).setUsage(DynamicDrawUsage);
    this.mesh.instanceColor = new InstancedBufferAttribute(new Float32Array(3 * total), 3);
    for (let i = 0; i < total; i++) this.mesh.setColorAt(i, this.parts[i % this.parts.length].color);
  }

  /** Shows these instances, posed as they are now. */
  show(instances: number[]): void {
    const { character, mesh, parts } = this;
    mesh.visible = instances.length > 0 && parts.length > 0;
    if (!mesh.visible) return;
    this.reserve(instances.length);
    mesh.count = instances.length * parts.length;
    mesh.geometry = this.balls.find((ball) => instances.length <= ball.most)!.geometry;
    const out = mesh.instanceMatrix.array as Float32Array;
    const { matrices, placements } = character;
    const entries = character.info.palette;
    const moved = new Float64Array(12);
    let at = 0;
    for (const instance of instances)
      for (const { entry, shape } of parts) {
        multiply(matrices, 12 * (instance * entries + entry), shape, moved);
        place(placements, 12 * instance, moved, out, at);
        at += 16;
      }
    mesh.instanceMatrix.needsUpdate = true;
  }

  dispose(): void {
    this.mesh.dispose();
    (this.mesh.material as MeshStandardMaterial).dispose();
    for (const ball of this.balls) ball.geometry.dispose();
  }
}

/** out = a b, both 3x4 and row-major. */
function multiply(a: Float32Array, i: number, b: Float64Array, out: Float64Array): void {
  for (let row = 0; row < 3; row++) {
    const x = a[i + 4 * row], y = a[i + 4 * row + 1], z = a[i + 4 * row + 2];
    for (let col = 0; col < 4; col++) out[4 * row + col] = x * b[col] + y * b[4 + col] + z * b[8 + col];
    out[4 * row + 3] += a[i + 4 * row + 3];
  }
}

/** The same, into a 4x4 that is column-major. */
function place(a: Float32Array, i: number, b: Float64Array, out: Float32Array, o: number): void {
  for (let row = 0; row < 3; row++) {
    const x = a[i + 4 * row], y = a[i + 4 * row + 1], z = a[i + 4 * row + 2];
    for (let col = 0; col < 4; col++) out[o + 4 * col + row] = x * b[col] + y * b[4 + col] + z * b[8 + col];
    out[o + 12 + row] += a[i + 4 * row + 3];
  }
  out[o + 3] = out[o + 7] = out[o + 11] = 0;
  out[o + 15] = 1;
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
    const shape = new Float64Array(12);
    // The ball's poles lie on the longest axis.
    [1, 2, 0].forEach((column, k) => {
      for (let row = 0; row < 3; row++) shape[4 * row + column] = half[k] * axes[k][row];
    });
    for (let row = 0; row < 3; row++) shape[4 * row + 3] = center[row];
    const { r, g, b } = one.color.multiplyScalar(1 / one.vertices);
    out.push({ entry, shape, color: new Color().setRGB(r, g, b, LinearSRGBColorSpace) });
  }
  return out;
}
