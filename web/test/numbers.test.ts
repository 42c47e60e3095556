/** What is computed: orders of triangles, principal axes, the bytes of a GIF. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { GifEncoder } from "../src/video/gif";
import { principalAxes } from "../src/view/moments";
import { orderTriangles } from "../src/view/triangles";

/** A grid of n x n squares, its triangles in a shuffled order. */
function grid(n: number): Uint32Array {
  const out: number[][] = [];
  for (let y = 0; y < n; y++)
    for (let x = 0; x < n; x++) {
      const v = y * (n + 1) + x;
      out.push([v, v + 1, v + n + 1], [v + 1, v + n + 2, v + n + 1]);
    }
  let seed = 7;
  for (let i = out.length - 1; i > 0; i--) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    const j = seed % (i + 1);
    [out[i], out[j]] = [out[j], out[i]];
  }
  return Uint32Array.from(out.flat());
}

/** How often a vertex is worked on anew, where the last 16 are remembered. */
function misses(index: ArrayLike<number>): number {
  const kept: number[] = [];
  let count = 0;
  for (let i = 0; i < index.length; i++) {
    if (kept.includes(index[i])) continue;
    count++;
    kept.push(index[i]);
    if (kept.length > 16) kept.shift();
  }
  return count;
}

test("ordered triangles are the same triangles, and share their vertices", () => {
  const index = grid(20);
  const ordered = orderTriangles(index, 0, index.length / 3, 21 * 21);
  const named = (list: ArrayLike<number>): string[] =>
    Array.from({ length: list.length / 3 }, (_, t) => [list[3 * t], list[3 * t + 1], list[3 * t + 2]].join()).sort();
  assert.deepEqual(named(ordered), named(index));
  assert(misses(ordered) < 0.45 * misses(index), `${misses(ordered)} of ${misses(index)}`);
  assert.equal(orderTriangles(index, 5, 0, 21 * 21).length, 0);
});

test("the principal axes of a box are its edges, whichever way it is turned", () => {
  const turn = [[0.36, 0.48, -0.8], [-0.8, 0.6, 0], [0.48, 0.64, 0.6]];
  const sum = new Float64Array(3);
  const squares = new Float64Array(6);
  let count = 0;
  for (const a of [-3, 3]) for (const b of [-2, 2]) for (const c of [-1, 1]) {
    const [x, y, z] = [0, 1, 2].map((k) => turn[0][k] * a + turn[1][k] * b + turn[2][k] * c + k);
    [x, y, z].forEach((value, k) => (sum[k] += value));
    [x * x, y * y, z * z, x * y, x * z, y * z].forEach((value, k) => (squares[k] += value));
    count++;
  }
  const { center, axes, spread } = principalAxes(count, sum, squares);
  [0, 1, 2].forEach((k) => assert(Math.abs(center[k] - k) < 1e-9 && Math.abs(spread[k] - (3 - k)) < 1e-9));
  axes.forEach((axis, k) => assert(Math.abs(Math.abs(axis.reduce((s, v, i) => s + v * turn[k][i], 0)) - 1) < 1e-9));
});

/** The pictures of a GIF as its decoder sees them: colours drawn over what was there. */
function decoded(bytes: Uint8Array, pixels: number): number[][] {
  let at = 13;
  const shown: number[] = new Array<number>(pixels).fill(-1);
  const out: number[][] = [];
  let clear = -1;
  while (bytes[at] !== 0x3b) {
    if (bytes[at] === 0x21) {
      if (bytes[at + 1] === 0xf9) clear = bytes[at + 3] & 1 ? bytes[at + 6] : -1;
      at += 2;
      while (bytes[at]) at += bytes[at] + 1;
      at++;
      continue;
    }
    const colors = 2 << (bytes[at + 9] & 7);
    const palette = bytes.subarray(at + 10, at + 10 + 3 * colors);
    at += 10 + 3 * colors;
    const least = bytes[at++];
    const data: number[] = [];
    while (bytes[at]) {
      data.push(...bytes.subarray(at + 1, at + 1 + bytes[at]));
      at += bytes[at] + 1;
    }
    at++;
    unpacked(data, least).forEach((k, p) => {
      if (k !== clear) shown[p] = (palette[3 * k] << 16) | (palette[3 * k + 1] << 8) | palette[3 * k + 2];
    });
    out.push([...shown]);
  }
  return out;
}

function unpacked(data: number[], least: number): number[] {
  const out: number[] = [];
  let table: number[][] = [];
  let bits = least + 1;
  let before: number[] | null = null;
  let at = 0;
  const restart = (): void => {
    table = Array.from({ length: (1 << least) + 2 }, (_, k) => [k]);
    bits = least + 1;
    before = null;
  };
  restart();
  for (;;) {
    let code = 0;
    for (let k = 0; k < bits; k++, at++) code |= ((data[at >> 3] >> (at & 7)) & 1) << k;
    if (code === 1 << least) {
      restart();
      continue;
    }
    if (code === (1 << least) + 1) return out;
    const entry: number[] = code < table.length ? table[code] : [...before!, before![0]];
    out.push(...entry);
    if (before && table.length < 4096) table.push([...(before as number[]), entry[0]]);
    if (table.length === 1 << bits && bits < 12) bits++;
    before = entry;
  }
}

test("a GIF shows the pictures that were put into it", () => {
  const [width, height] = [64, 48];
  const picture = (shift: number): Uint8ClampedArray =>
    Uint8ClampedArray.from({ length: 4 * width * height }, (_, i) => {
      const p = i >> 2;
      const bright = ((p % width) + shift) % 16 < 8 ? 200 : 40 + 8 * (Math.floor(p / width) % 16);
      return [bright, 96, 160, 255][i & 3];
    });
  const gif = new GifEncoder(width, height);
  for (const shift of [0, 0, 3]) gif.add(picture(shift), 4);
  const bytes = gif.finish();
  assert.equal(String.fromCharCode(...bytes.subarray(0, 6)), "GIF89a");
  const shown = decoded(bytes, width * height);
  assert.equal(shown.length, 3);
  [0, 0, 3].forEach((shift, frame) => {
    const wanted = picture(shift);
    shown[frame].forEach((color, p) => {
      // Colours come in steps of 8.
      assert(Math.abs((color >> 16) - wanted[4 * p]) <= 8 && Math.abs(((color >> 8) & 255) - 96) <= 8 && Math.abs((color & 255) - 160) <= 8);
    });
  });
});
