/** Matrices of three rows of four, row by row, in plain arrays. */

export type Affine = Float64Array;

export function identity(): Affine {
  return Float64Array.of(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0);
}

/** `a @ b`. */
export function multiply(a: ArrayLike<number>, b: ArrayLike<number>): Affine {
  const out = new Float64Array(12);
  for (let r = 0; r < 3; r++) {
    for (let c = 0; c < 4; c++) {
      let sum = c === 3 ? a[4 * r + 3] : 0;
      for (let k = 0; k < 3; k++) sum += a[4 * r + k] * b[4 * k + c];
      out[4 * r + c] = sum;
    }
  }
  return out;
}

/** The inverse; null where there is none. */
export function invert(m: ArrayLike<number>): Affine | null {
  const cofactor = (r: number, c: number): number => {
    const [r1, r2, c1, c2] = [(r + 1) % 3, (r + 2) % 3, (c + 1) % 3, (c + 2) % 3];
    return m[4 * r1 + c1] * m[4 * r2 + c2] - m[4 * r1 + c2] * m[4 * r2 + c1];
  };
  const determinant = m[0] * cofactor(0, 0) + m[1] * cofactor(0, 1) + m[2] * cofactor(0, 2);
  if (!(Math.abs(determinant) > 1e-30)) return null;
  const out = new Float64Array(12);
  for (let r = 0; r < 3; r++) for (let c = 0; c < 3; c++) out[4 * r + c] = cofactor(c, r) / determinant;
  for (let r = 0; r < 3; r++) out[4 * r + 3] = -(out[4 * r] * m[3] + out[4 * r + 1] * m[7] + out[4 * r + 2] * m[11]);
  return out;
}

/** A turn and a way: `(x, y, z)` and the quaternion `(x, y, z, w)` behind it. */
export function moved(values: ArrayLike<number>, at = 0): Affine {
  const [tx, ty, tz, x, y, z, w] = [0, 1, 2, 3, 4, 5, 6].map((i) => values[at + i]);
  return Float64Array.of(
    1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), tx,
    2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w), ty,
    2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y), tz,
  );
}
