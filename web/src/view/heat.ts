/** What vertices can be coloured by: numbers from 0 to 1, one for each vertex of a mesh. */
import type { Part } from "./part";

/** What the colours of the surface stand for. */
export type HeatKind = "weights" | "influences" | "limit" | "methods" | "change";

/** What the colours mean, in words: of the lowest, of the highest, of all. */
export interface HeatScale {
  low: string;
  high: string;
  text: string;
}

/** A number for each joint, mixed as the joints move the vertex. */
export function weighted(part: Part, values: ArrayLike<number>, jointOf: Uint32Array): Float32Array {
  const K = part.info.influences;
  const out = new Float32Array(part.info.vertices);
  for (let v = 0; v < out.length; v++) {
    let sum = 0;
    for (let k = v * K; k < v * K + K; k++) sum += part.weights[k] * (values[jointOf[part.joints[k]]!] ?? 0);
    out[v] = sum;
  }
  return out;
}

/** How many joints move each vertex. */
export function influenceCounts(part: Part): Uint8Array {
  const K = part.info.influences;
  const out = new Uint8Array(part.info.vertices);
  for (let v = 0; v < out.length; v++) for (let k = v * K; k < v * K + K; k++) if (part.weights[k] > 0) out[v]++;
  return out;
}

/** Values over the largest that is expected, never below 0. */
export function scaled(values: ArrayLike<number>, largest: number): Float32Array {
  return Float32Array.from(values, (value) => Math.max(0, value / (largest || 1)));
}

/** How far vertices are apart in two sets of positions, `(V,)` of two `(V, 3)`. */
export function distances(a: Float32Array, b: Float32Array): Float32Array {
  const out = new Float32Array(a.length / 3);
  for (let v = 0; v < out.length; v++) out[v] = Math.hypot(a[3 * v] - b[3 * v], a[3 * v + 1] - b[3 * v + 1], a[3 * v + 2] - b[3 * v + 2]);
  return out;
}

/** A length as a person writes it. */
export function metres(x: number): string {
  if (x === 0) return "0";
  if (x < 0.001) return `${(1e6 * x).toPrecision(2)} µm`;
  if (x < 0.1) return `${(1000 * x).toPrecision(2)} mm`;
  return `${x.toPrecision(2)} m`;
}
