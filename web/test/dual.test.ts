/** Skinning matrices taken apart into turns and stretches: turns that are known come back, flat joints too. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { splitMatrices } from "../src/view/dual";

/** The turn by 2 atan2(3, 4) about z, written out. */
const TURN = [7 / 25, -24 / 25, 0, 24 / 25, 7 / 25, 0, 0, 0, 1];
const QUATERNION = [0, 0, 3 / 5, 4 / 5];

function split(linear: readonly number[]): Float32Array {
  const matrix = Float32Array.from([0, 1, 2].flatMap((row) => [...linear.slice(3 * row, 3 * row + 3), 5 - row]));
  const out = new Float32Array(20);
  splitMatrices(matrix, new Float32Array(3), 1, [], out);
  return out;
}

/** `TURN` after a stretch along x, y and z. */
function stretched(sizes: readonly number[]): number[] {
  return TURN.map((value, k) => value * sizes[k % 3]);
}

function near(found: Iterable<number>, wanted: readonly number[], within: number): void {
  [...found].forEach((value, k) => assert(Math.abs(value - wanted[k]) <= within, `${[...found]} is not ${wanted}`));
}

for (const sizes of [[1, 1, 1], [1, 2, 3], [0, 2, 1], [3, 1, 0], [1, 1e-12, 2], [1e-6, 1, 1e6]])
  test(`the turn of a joint stretched by ${sizes}`, () => {
    const out = split(stretched(sizes));
    near(out.slice(0, 4), QUATERNION, 1e-6);
    near([out[8], out[13], out[18]], sizes, 1e-6 * Math.max(...sizes));
  });

test("a mirrored joint has the turn of its negative", () => {
  const out = split(stretched([-1, -2, -3]));
  near(out.slice(0, 4), QUATERNION, 1e-6);
  near([out[8], out[13], out[18]], [-1, -2, -3], 1e-5);
});

test("a joint that is a line or nothing keeps its place", () => {
  for (const sizes of [[2, 0, 0], [0, 0, 0]]) {
    const out = split(stretched(sizes));
    near(out.slice(0, 4), [0, 0, 0, 1], 0);
    near([out[8], out[9], out[12]], [sizes[0] * TURN[0], 0, sizes[0] * TURN[3]], 1e-6);
  }
});
