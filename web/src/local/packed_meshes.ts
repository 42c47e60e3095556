/** The arrays of a character as the page's graphics want them: what `studio/page/packed_meshes.py` packed. */
import type { PackedArray } from "../protocol";
import { PackedReader } from "./packing";

const DIRECTION_STEPS = 4095;

/** One blob of `bytes` bytes with all arrays at their places. */
export function unpackMeshes(arrays: PackedArray[], data: Uint8Array, bytes: number): ArrayBuffer {
  const reader = new PackedReader(data);
  const blob = new ArrayBuffer(bytes);
  for (const array of arrays) unpackArray(reader, array, arrays, blob);
  return blob;
}

type Values = Float32Array | Uint32Array | Uint16Array | Uint8Array;

function view({ place }: PackedArray, blob: ArrayBuffer): Values {
  const count = place.shape.reduce((product, n) => product * n, 1);
  const kind = { float32: Float32Array, uint32: Uint32Array, uint16: Uint16Array, uint8: Uint8Array }[place.dtype];
  return new kind(blob, place.offset, count);
}

function unpackArray(reader: PackedReader, array: PackedArray, arrays: PackedArray[], blob: ArrayBuffer): void {
  const out = view(array, blob);
  const { shape } = array.place;
  const wide = shape.length > 1 ? shape[shape.length - 1] : 1;
  const rows = wide ? out.length / wide : 0;
  switch (array.kind) {
    case "floats":
      for (let i = 0; i < out.length; i++) out[i] = reader.float();
      break;
    case "whole": {
      let value = 0;
      for (let i = 0; i < out.length; i++) out[i] = value = array.order ? value + reader.whole() : reader.whole();
      break;
    }
    case "joints":
      for (let c = 0; c < wide; c++) for (let r = 0; r < rows; r++) out[r * wide + c] = reader.whole();
      break;
    case "weights":
      for (let c = 0; c < wide; c++) for (let r = 0; r < rows; r++) out[r * wide + c] = reader.whole();
      for (let r = 0; r < rows; r++) {
        let sum = 0;
        for (let c = 0; c < wide; c++) sum += out[r * wide + c];
        for (let c = 0; c < wide && sum; c++) out[r * wide + c] /= sum;
      }
      break;
    case "grid": {
      const column = new Float64Array(rows);
      for (let c = 0; c < wide; c++) {
        reader.column(column, array.order);
        for (let r = 0; r < rows; r++) out[r * wide + c] = array.low[c] + array.step * column[r];
      }
      break;
    }
    case "directions":
      directions(reader, out, rows, wide);
      break;
    case "rows":
      copyRows(out, view(arrays[array.of], blob), view(arrays[array.index], blob), shape);
      break;
    default:
      throw new Error("The data of this page is damaged.");
  }
}

/** Unit vectors from two numbers each on an octahedron. */
function directions(reader: PackedReader, out: Values, rows: number, wide: number): void {
  const [us, vs] = [new Float64Array(rows), new Float64Array(rows)];
  reader.column(us, 1);
  reader.column(vs, 1);
  for (let r = 0; r < rows; r++) {
    let x = (2 * us[r]) / DIRECTION_STEPS - 1;
    let y = (2 * vs[r]) / DIRECTION_STEPS - 1;
    const z = 1 - Math.abs(x) - Math.abs(y);
    if (z < 0) [x, y] = [(1 - Math.abs(y)) * (x >= 0 ? 1 : -1), (1 - Math.abs(x)) * (y >= 0 ? 1 : -1)];
    const length = Math.hypot(x, y, z);
    out[r * wide] = x / length;
    out[r * wide + 1] = y / length;
    out[r * wide + 2] = z / length;
    if (wide === 4) out[r * wide + 3] = reader.state() ? -1 : 1;
  }
}

/** Rows of an array; of one with three axes, those of its second. */
function copyRows(out: Values, of: Values, index: Values, shape: number[]): void {
  const [blocks, count] = shape.length === 3 ? [shape[0], shape[1]] : [1, shape[0]];
  const wide = shape.length > 1 ? shape[shape.length - 1] : 1;
  const block = of.length / blocks;
  for (let b = 0; b < blocks; b++)
    for (let r = 0; r < count; r++)
      for (let c = 0; c < wide; c++) out[(b * count + r) * wide + c] = of[b * block + index[r] * wide + c];
}
