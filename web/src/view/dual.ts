/** Splits skinning matrices into unit dual quaternions and the scale and shear those cannot express. */

const RIGID = 1e-6;

/**
 * For each 3x4 matrix, 20 floats: real and dual quaternion (xyzw), then the three rows of a stretch about the joint's bind
 * position: `M p = rigid(stretch p)`, as the engine's `rigid_and_stretch` has it. A scale that all `used` matrices of an
 * instance share comes first: that of a mesh in other units is no stretch of any joint.
 */
export function splitMatrices(
  matrices: Float32Array,
  pivots: Float32Array,
  entries: number,
  used: readonly number[],
  out: Float32Array,
): void {
  const total = matrices.length / 12;
  const r = new Float64Array(9);
  const s = new Float64Array(9);
  let sigma = 1;
  for (let i = 0; i < total; i++) {
    const m = 12 * i;
    if (i % entries === 0) sigma = commonScale(matrices, m, used);
    const a = at(matrices, m);
    if (sigma !== 1) for (let k = 0; k < 9; k++) a[k] /= sigma;
    const rigid = isRotation(a);
    if (rigid) {
      r.set(a);
      s.set(IDENTITY);
    } else {
      polar(a, r);
      for (let row = 0; row < 3; row++)
        for (let col = 0; col < 3; col++)
          s[3 * row + col] = r[row] * a[col] + r[3 + row] * a[3 + col] + r[6 + row] * a[6 + col];
    }
    const p = 3 * (i % entries);
    const px = sigma * pivots[p], py = sigma * pivots[p + 1], pz = sigma * pivots[p + 2];
    const ox = rigid ? 0 : px - (s[0] * px + s[1] * py + s[2] * pz);
    const oy = rigid ? 0 : py - (s[3] * px + s[4] * py + s[5] * pz);
    const oz = rigid ? 0 : pz - (s[6] * px + s[7] * py + s[8] * pz);
    const tx = matrices[m + 3] - (r[0] * ox + r[1] * oy + r[2] * oz);
    const ty = matrices[m + 7] - (r[3] * ox + r[4] * oy + r[5] * oz);
    const tz = matrices[m + 11] - (r[6] * ox + r[7] * oy + r[8] * oz);
    const o = 20 * i;
    quaternion(r, out, o);
    const x = out[o], y = out[o + 1], z = out[o + 2], w = out[o + 3];
    out[o + 4] = 0.5 * (tx * w + ty * z - tz * y);
    out[o + 5] = 0.5 * (ty * w + tz * x - tx * z);
    out[o + 6] = 0.5 * (tz * w + tx * y - ty * x);
    out[o + 7] = -0.5 * (tx * x + ty * y + tz * z);
    for (let row = 0; row < 3; row++) for (let col = 0; col < 3; col++) out[o + 8 + 4 * row + col] = sigma * s[3 * row + col];
    out[o + 11] = ox;
    out[o + 15] = oy;
    out[o + 19] = oz;
  }
}

const IDENTITY = [1, 0, 0, 0, 1, 0, 0, 0, 1];
const linear = new Float64Array(9);

function at(m: Float32Array, i: number): Float64Array {
  for (let row = 0; row < 3; row++) for (let col = 0; col < 3; col++) linear[3 * row + col] = m[i + 4 * row + col];
  return linear;
}

/** The uniform scale that all used matrices of an instance share, from `first` on; 1 where they share none. */
function commonScale(matrices: Float32Array, first: number, used: readonly number[]): number {
  let square = 0;
  for (const entry of used) {
    const a = at(matrices, first + 12 * entry);
    const own = (a[0] * a[0] + a[3] * a[3] + a[6] * a[6] + a[1] * a[1] + a[4] * a[4] + a[7] * a[7] + a[2] * a[2] + a[5] * a[5] + a[8] * a[8]) / 3;
    if (square === 0) square = own;
    let off = Math.abs(own - square);
    for (let i = 0; i < 3; i++)
      for (let j = i; j < 3; j++) {
        const dot = a[i] * a[j] + a[3 + i] * a[3 + j] + a[6 + i] * a[6 + j];
        off = Math.max(off, Math.abs(dot - (i === j ? own : 0)));
      }
    if (!(off <= 1e-4 * square) || !(determinant(a) > 0)) return 1;
  }
  const size = Math.sqrt(square);
  return Math.abs(size - 1) > 1e-5 && size > 0 ? size : 1;
}

function determinant(a: Float64Array): number {
  return (
    a[0] * (a[4] * a[8] - a[5] * a[7]) -
    a[1] * (a[3] * a[8] - a[5] * a[6]) +
    a[2] * (a[3] * a[7] - a[4] * a[6])
  );
}

function isRotation(a: Float64Array): boolean {
  for (let i = 0; i < 3; i++)
    for (let j = i; j < 3; j++) {
      const dot = a[i] * a[j] + a[3 + i] * a[3 + j] + a[6 + i] * a[6 + j];
      if (!(Math.abs(dot - (i === j ? 1 : 0)) < RIGID)) return false;
    }
  return determinant(a) > 0;
}

/**
 * The rotation nearest to `a`, or to `-a` where it mirrors, as the engine's `polar` has it: Newton's iteration,
 * `x <- (x + inverse transpose of x) / 2`. A matrix plus its cofactors has the same rotation, and is not flat where the matrix is.
 */
function polar(a: Float64Array, out: Float64Array): void {
  const sign = determinant(a) < 0 ? -1 : 1;
  const size = Math.hypot(...a) || 1;
  for (let k = 0; k < 9; k++) out[k] = (sign * a[k]) / size;
  const flat = cofactors(out);
  const flatness = Math.hypot(...flat) || 1;
  for (let k = 0; k < 9; k++) out[k] += flat[k] / flatness;
  for (let step = 0; step < 30; step++) {
    const det = determinant(out);
    if (!(Math.abs(det) > 1e-30)) {
      // A joint that is a line or nothing has no rotation of its own to tell: let it keep its place.
      out.set(IDENTITY);
      return;
    }
    const next = cofactors(out);
    let moved = 0;
    for (let k = 0; k < 9; k++) {
      next[k] = 0.5 * (out[k] + next[k] / det);
      moved = Math.max(moved, Math.abs(next[k] - out[k]));
    }
    out.set(next);
    if (moved < 1e-12) return;
  }
}

function cofactors(a: Float64Array): number[] {
  const [a0, a1, a2, a3, a4, a5, a6, a7, a8] = a as unknown as number[];
  return [
    a4 * a8 - a5 * a7, a5 * a6 - a3 * a8, a3 * a7 - a4 * a6,
    a2 * a7 - a1 * a8, a0 * a8 - a2 * a6, a1 * a6 - a0 * a7,
    a1 * a5 - a2 * a4, a2 * a3 - a0 * a5, a0 * a4 - a1 * a3,
  ];
}

/** Shepperd's method: divides by the largest of the four. */
function quaternion(r: Float64Array, out: Float32Array, o: number): void {
  const [a, b, c, d, e, f, g, h, i] = r as unknown as number[] as [
    number, number, number, number, number, number, number, number, number,
  ];
  const trace = a + e + i;
  let x: number, y: number, z: number, w: number;
  if (trace >= a && trace >= e && trace >= i) {
    w = 1 + trace; x = h - f; y = c - g; z = d - b;
  } else if (a >= e && a >= i) {
    x = 1 + a - e - i; y = b + d; z = c + g; w = h - f;
  } else if (e >= i) {
    y = 1 + e - a - i; x = b + d; z = f + h; w = c - g;
  } else {
    z = 1 + i - a - e; x = c + g; y = f + h; w = d - b;
  }
  const size = Math.hypot(x, y, z, w) || 1;
  out[o] = x / size;
  out[o + 1] = y / size;
  out[o + 2] = z / size;
  out[o + 3] = w / size;
}
