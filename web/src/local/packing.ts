/** `PackedReader`: reads what `studio/page/packing.py` packed. */

export class PackedReader {
  private readonly states: Uint8Array;
  private readonly floats: Float32Array;
  private readonly small: Uint8Array;
  private readonly wide: Uint32Array;
  private stateAt = 0;
  private floatAt = 0;
  private smallAt = 0;
  private wideAt = 0;

  constructor(data: Uint8Array) {
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    const sizes = [0, 1, 2, 3].map((i) => view.getUint32(4 * i, true));
    let at = 16;
    const parts = sizes.map((size) => data.subarray(at, (at += size)));
    if (at !== data.length) throw new Error("The data of this page is damaged.");
    this.states = parts[0];
    this.floats = new Float32Array(joined(parts[1]).buffer);
    this.small = parts[2];
    this.wide = joined(parts[3]);
  }

  state(): number {
    return this.states[this.stateAt++];
  }

  float(): number {
    return this.floats[this.floatAt++];
  }

  /** The next whole number. */
  whole(): number {
    let value = this.small[this.smallAt++];
    if (value === 255) value += this.wide[this.wideAt++];
    return value % 2 ? -(value + 1) / 2 : value / 2;
  }

  /** Whole numbers told by differences, `order` times, into `out` from `at` on, `stride` apart. */
  column(out: Float64Array | Int32Array | Uint32Array, order: number, at = 0, stride = 1, count = out.length): void {
    let [speed, value] = [0, 0];
    for (let i = 0; i < count; i++) {
      const told = this.whole();
      if (order === 2) speed += told;
      else speed = told;
      value = order ? value + speed : told;
      out[at + i * stride] = value;
    }
  }
}

/** Numbers whose first bytes come first, then the second ones... */
function joined(bytes: Uint8Array): Uint32Array {
  const count = bytes.length / 4;
  const out = new Uint32Array(count);
  for (let i = 0; i < count; i++) out[i] = bytes[i] | (bytes[count + i] << 8) | (bytes[2 * count + i] << 16) | (bytes[3 * count + i] << 24);
  return out;
}
