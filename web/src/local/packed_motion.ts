/** The clips of a character as pose rows again: what `studio/page/packed_motion.py` packed, to the bit as that plays it. */
import type { PageMotion } from "../protocol";
import { PackedReader } from "./packing";

const [REST, CONSTANT, COUNTED, WIDE_TURN, PLAIN] = [0, 1, 2, 5, 6];
const SCALE = 7;
const ROWS = 10;

const padded = (count: number): number => Math.ceil(count / 16) * 16;

/** The rows of all clips, behind the `rest` row that is the first: `(T, size)` flat. */
export function unpackMotion(packed: PageMotion, data: Uint8Array, rest: Float32Array): Float32Array {
  const reader = new PackedReader(data);
  const joints = padded(packed.joints);
  const size = ROWS * joints + padded(packed.morphs);
  const total = packed.frames.reduce((sum, frames) => sum + frames, 1);
  const out = new Float32Array(total * size);
  out.set(rest.subarray(0, size));
  let first = 1;
  for (const frames of packed.frames) {
    for (let f = 0; f < frames; f++) out.copyWithin((first + f) * size, 0, size);
    const clip = new ClipReader(reader, out, first * size, frames, size);
    for (let j = 0; j < packed.joints; j++) {
      for (let row = 0; row < 3; row++) clip.number(row * joints + j, packed.step);
      clip.rotation(3 * joints + j, joints, packed.steps[j]);
      for (let row = SCALE; row < ROWS; row++) clip.number(row * joints + j, packed.steps[j]);
    }
    for (let m = 0; m < packed.morphs; m++) clip.number(ROWS * joints + m, packed.morph_step);
    first += frames;
  }
  return out;
}

class ClipReader {
  private readonly whole: Float64Array[];

  constructor(private readonly reader: PackedReader, private readonly out: Float32Array, private readonly start: number, private readonly frames: number, private readonly size: number) {
    this.whole = [0, 1, 2, 3].map(() => new Float64Array(frames));
  }

  private fill(column: number, value: number): void {
    for (let f = 0, at = this.start + column; f < this.frames; f++, at += this.size) this.out[at] = value;
  }

  /** A translation, a scale or a morph weight. */
  number(column: number, step: number): void {
    const { reader, out, frames, size } = this;
    const state = reader.state();
    if (state === REST) return;
    if (state === CONSTANT) this.fill(column, reader.float());
    else if (state === PLAIN) for (let f = 0; f < frames; f++) out[this.start + f * size + column] = reader.float();
    else {
      const [whole] = this.whole;
      reader.column(whole, state - COUNTED);
      for (let f = 0, at = this.start + column; f < frames; f++, at += size) out[at] = whole[f] * step;
    }
  }

  /** A rotation; its four numbers are `apart` from each other. */
  rotation(column: number, apart: number, step: number): void {
    const { reader, out, frames, size } = this;
    const state = reader.state();
    if (state === REST) return;
    if (state === CONSTANT) {
      for (let c = 0; c < 4; c++) this.fill(column + c * apart, reader.float());
      return;
    }
    if (state === PLAIN) {
      for (let f = 0; f < frames; f++) for (let c = 0; c < 4; c++) out[this.start + f * size + column + c * apart] = reader.float();
      return;
    }
    const wide = state === WIDE_TURN;
    const mean = wide ? [] : [0, 1, 2, 3].map(() => reader.float());
    for (let c = 0; c < (wide ? 4 : 3); c++) reader.column(this.whole[c], reader.state());
    const [xs, ys, zs, ws] = this.whole;
    const [a, b, c, e] = mean;
    for (let f = 0, at = this.start + column; f < frames; f++, at += size) {
      const [x, y, z] = [xs[f] * step, ys[f] * step, zs[f] * step];
      if (wide) {
        const w = ws[f] * step;
        const length = Math.sqrt(x * x + y * y + z * z + w * w);
        out[at] = x / length;
        out[at + apart] = y / length;
        out[at + 2 * apart] = z / length;
        out[at + 3 * apart] = w / length;
      } else {
        const w = Math.sqrt(Math.max(1 - x * x - y * y - z * z, 0));
        out[at] = e * x + a * w + b * z - c * y;
        out[at + apart] = e * y - a * z + b * w + c * x;
        out[at + 2 * apart] = e * z + a * y - b * x + c * w;
        out[at + 3 * apart] = e * w - a * x - b * y - c * z;
      }
    }
  }
}
