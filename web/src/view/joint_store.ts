/**
 * `JointStore`: the joints of all instances as they came in compact frames. A frame has only the instances that changed, so what
 * came before is kept; what looks at one joint decodes that one, and the graphics card decodes those it draws.
 */
import { DataUtils } from "three";
import type { Frame } from "../protocol";

/** A word of the wire's layout; the fourth word of an entry here is its scale, as the bits of a float. */
export const ENTRY_WORDS = 4;
const ONE = 0x3f800000;

export class JointStore {
  count = 0;
  palette = 0;
  morphWeights = 0;
  /** Four words for each palette entry of each instance; those that an instance's level does not have are old. */
  words = new Uint32Array(0);
  /** Where each instance is, and how far its joints are from there at most: x, y, z, reach. */
  centers = new Float32Array(0);
  morphs = new Float32Array(0);
  levels = new Uint8Array(0);
  /** Entries of the palette that came last, of each instance. */
  entries = new Uint16Array(0);
  /** Whether some joint has a scale. */
  scaled = false;
  /** Grows with every frame in which an instance changed. */
  stamps = new Uint32Array(0);
  private stamp = 0;

  /** Takes a compact frame in. */
  take(frame: Frame): void {
    if (frame.count !== this.count || frame.palette !== this.palette || frame.morphWeights !== this.morphWeights) this.resize(frame);
    this.stamp++;
    for (const group of frame.compact ?? []) {
      const { entries, words, scales } = group;
      if (scales) this.scaled = true;
      group.instances.forEach((instance, i) => {
        if (instance >= this.count) return;
        this.stamps[instance] = this.stamp;
        this.levels[instance] = group.level;
        this.entries[instance] = entries;
        this.centers.set(group.centers.subarray(3 * i, 3 * i + 3), 4 * instance);
        this.centers[4 * instance + 3] = frame.reach;
        let to = ENTRY_WORDS * this.palette * instance;
        for (let from = 3 * entries * i, end = from + 3 * entries, e = entries * i; from < end; from += 3, to += ENTRY_WORDS, e++) {
          this.words[to] = words[from];
          this.words[to + 1] = words[from + 1];
          this.words[to + 2] = words[from + 2];
          this.words[to + 3] = scales ? floatBits(DataUtils.fromHalfFloat(scales[e])) : ONE;
        }
        const M = this.morphWeights;
        for (let m = 0; m < M; m++) this.morphs[M * instance + m] = DataUtils.fromHalfFloat(group.morphs[M * i + m]);
      });
    }
  }

  private resize(frame: Frame): void {
    this.count = frame.count;
    this.palette = frame.palette;
    this.morphWeights = frame.morphWeights;
    this.words = new Uint32Array(ENTRY_WORDS * frame.palette * frame.count);
    this.centers = new Float32Array(4 * frame.count);
    this.morphs = new Float32Array(frame.morphWeights * frame.count);
    this.levels = new Uint8Array(frame.count);
    this.entries = new Uint16Array(frame.count);
    this.stamps = new Uint32Array(frame.count);
    this.scaled = false;
  }

  /** Where the pivot of an entry is. */
  place(instance: number, entry: number, out: { x: number; y: number; z: number }): void {
    const at = ENTRY_WORDS * (this.palette * instance + entry);
    const c = 4 * instance;
    const reach = this.centers[c + 3];
    const unit = (p: number): number => reach * ((2 * p) / 65535 - 1);
    out.x = this.centers[c] + unit(this.words[at] & 0xffff);
    out.y = this.centers[c + 1] + unit(this.words[at] >>> 16);
    out.z = this.centers[c + 2] + unit(this.words[at + 1] & 0xffff);
  }

  /** Writes the skinning matrices (3x4, row-major) of an instance's entries; `pivots` are those of the bind pose. */
  decode(instance: number, pivots: Float32Array, out: Float32Array, first: number): void {
    const place = { x: 0, y: 0, z: 0 };
    const q = [0, 0, 0, 0];
    for (let entry = 0; entry < this.entries[instance]; entry++) {
      const at = ENTRY_WORDS * (this.palette * instance + entry);
      this.place(instance, entry, place);
      turn(this.words[at + 1] >>> 16, this.words[at + 2] & 0xffff, this.words[at + 2] >>> 16, q);
      const [x, y, z, w] = q;
      const s = bitsFloat(this.words[at + 3]);
      const o = first + 12 * entry;
      out[o] = s * (1 - 2 * (y * y + z * z)); out[o + 1] = s * 2 * (x * y - z * w); out[o + 2] = s * 2 * (x * z + y * w);
      out[o + 4] = s * 2 * (x * y + z * w); out[o + 5] = s * (1 - 2 * (x * x + z * z)); out[o + 6] = s * 2 * (y * z - x * w);
      out[o + 8] = s * 2 * (x * z - y * w); out[o + 9] = s * 2 * (y * z + x * w); out[o + 10] = s * (1 - 2 * (x * x + y * y));
      const [bx, by, bz] = [pivots[3 * entry], pivots[3 * entry + 1], pivots[3 * entry + 2]];
      out[o + 3] = place.x - (out[o] * bx + out[o + 1] * by + out[o + 2] * bz);
      out[o + 7] = place.y - (out[o + 4] * bx + out[o + 5] * by + out[o + 6] * bz);
      out[o + 11] = place.z - (out[o + 8] * bx + out[o + 9] * by + out[o + 10] * bz);
    }
  }
}

/** The three smaller components of a quaternion, 15 bits each; which one is left out is in the top bits of the first two. */
function turn(a: number, b: number, c: number, out: number[]): void {
  const largest = (a >> 15) | ((b >> 15) << 1);
  const value = (v: number): number => (((v & 0x7fff) / 32767) * 2 - 1) * Math.SQRT1_2;
  const others = [value(a), value(b), value(c)];
  const most = Math.sqrt(Math.max(0, 1 - others[0] ** 2 - others[1] ** 2 - others[2] ** 2));
  for (let k = 0, n = 0; k < 4; k++) out[k] = k === largest ? most : others[n++];
}

const bits = new DataView(new ArrayBuffer(4));
function floatBits(value: number): number {
  bits.setFloat32(0, value);
  return bits.getUint32(0);
}
function bitsFloat(value: number): number {
  bits.setUint32(0, value);
  return bits.getFloat32(0);
}
