/**
 * A GIF encoder: each picture has a palette of its own (median cut), pixels that stay as they were are left out, the rest is
 * packed with LZW as GIF89a has it.
 */

const COLORS = 255;
const CLEAR_AT = 4096;

export class GifEncoder {
  private readonly bytes = new Bytes();
  private before: Uint8ClampedArray | null = null;

  constructor(
    readonly width: number,
    readonly height: number,
  ) {
    const { bytes } = this;
    bytes.text("GIF89a");
    bytes.short(width);
    bytes.short(height);
    bytes.put(0x70, 0, 0);
    // For ever: Netscape's extension, which all viewers know.
    bytes.put(0x21, 0xff, 11);
    bytes.text("NETSCAPE2.0");
    bytes.put(3, 1, 0, 0, 0);
  }

  /** Adds a picture, RGBA, that is shown for so many hundredths of a second. */
  add(pixels: Uint8ClampedArray, hundredths: number): void {
    const { bytes, width, height } = this;
    const { palette, index } = quantise(pixels, this.before);
    this.before = pixels;
    // Left in place; the last colour is see-through.
    bytes.put(0x21, 0xf9, 4, 0x05);
    bytes.short(hundredths);
    bytes.put(COLORS, 0);
    bytes.put(0x2c);
    for (const value of [0, 0, width, height]) bytes.short(value);
    bytes.put(0x87);
    bytes.append(palette);
    lzw(index, bytes);
  }

  finish(): Uint8Array<ArrayBuffer> {
    this.bytes.put(0x3b);
    return this.bytes.taken();
  }
}

/** A palette of 255 colours, and for each pixel its number; 255 where it is as it was before. */
function quantise(pixels: Uint8ClampedArray, before: Uint8ClampedArray | null): { palette: Uint8Array; index: Uint8Array } {
  const count = pixels.length / 4;
  const index = new Uint8Array(count);
  const bins = new Uint32Array(32768);
  const bin = (i: number): number => ((pixels[i] >> 3) << 10) | ((pixels[i + 1] >> 3) << 5) | (pixels[i + 2] >> 3);
  const same = (i: number): boolean => before !== null && before[i] === pixels[i] && before[i + 1] === pixels[i + 1] && before[i + 2] === pixels[i + 2];
  const sums = new Float64Array(3 * 32768);
  for (let p = 0; p < count; p++) {
    const i = 4 * p;
    if (same(i)) continue;
    const b = bin(i);
    bins[b]++;
    for (let c = 0; c < 3; c++) sums[3 * b + c] += pixels[i + c];
  }
  const used: number[] = [];
  bins.forEach((n, b) => n && used.push(b));
  const palette = new Uint8Array(768);
  const place = new Uint8Array(32768);
  medianCut(used, bins).forEach((box, k) => {
    let n = 0;
    const mean = [0, 0, 0];
    for (const b of box) {
      n += bins[b];
      place[b] = k;
      for (let c = 0; c < 3; c++) mean[c] += sums[3 * b + c];
    }
    for (let c = 0; c < 3; c++) palette[3 * k + c] = Math.round(mean[c] / Math.max(1, n));
  });
  for (let p = 0; p < count; p++) index[p] = same(4 * p) ? COLORS : place[bin(4 * p)];
  return { palette, index };
}

/** Cuts colours (15 bits each) into boxes: always the one with most pixels times spread, at the middle of its pixels. */
function medianCut(used: number[], bins: Uint32Array): number[][] {
  interface Box {
    colors: number[];
    channel: number;
    score: number;
  }
  const measure = (colors: number[]): Box => {
    let pixels = 0;
    let channel = 0;
    let widest = -1;
    for (const b of colors) pixels += bins[b];
    for (const shift of [10, 5, 0]) {
      let low = 31;
      let high = 0;
      for (const b of colors) {
        const v = (b >> shift) & 31;
        low = Math.min(low, v);
        high = Math.max(high, v);
      }
      if (high - low > widest) [widest, channel] = [high - low, shift];
    }
    return { colors, channel, score: widest * Math.sqrt(pixels) };
  };
  const boxes = [measure(used)];
  while (boxes.length < COLORS) {
    let at = 0;
    boxes.forEach((box, i) => box.score > boxes[at].score && (at = i));
    const { colors, channel, score } = boxes[at];
    if (score <= 0) break;
    colors.sort((a, b) => ((a >> channel) & 31) - ((b >> channel) & 31));
    const half = colors.reduce((sum, b) => sum + bins[b], 0) / 2;
    let cut = 1;
    for (let sum = bins[colors[0]]; cut < colors.length - 1 && sum < half; cut++) sum += bins[colors[cut]];
    boxes.splice(at, 1, measure(colors.slice(0, cut)), measure(colors.slice(cut)));
  }
  return boxes.map((box) => box.colors);
}

/** Lempel-Ziv-Welch with 8-bit symbols, in blocks of up to 255 bytes. */
function lzw(index: Uint8Array, bytes: Bytes): void {
  const clear = 256;
  const end = 257;
  bytes.put(8);
  const block: number[] = [];
  let pending = 0;
  let bits = 0;
  const emit = (code: number, size: number): void => {
    pending |= code << bits;
    bits += size;
    while (bits >= 8) {
      block.push(pending & 255);
      pending >>>= 8;
      bits -= 8;
      if (block.length === 255) flush();
    }
  };
  const flush = (): void => {
    if (!block.length) return;
    bytes.put(block.length, ...block);
    block.length = 0;
  };
  // A hash table from (code of what came before, next symbol) to the code of both.
  const table = new Int32Array(1 << 14);
  const keys = new Int32Array(1 << 14).fill(-1);
  let size = 9;
  let next = end + 1;
  emit(clear, size);
  let prefix = index[0] ?? 0;
  for (let i = 1; i < index.length; i++) {
    const key = (prefix << 8) | index[i];
    let at = (Math.imul(key, 0x9e3779b1) >>> 18) & 16383;
    while (keys[at] !== -1 && keys[at] !== key) at = (at + 1) & 16383;
    if (keys[at] === key) {
      prefix = table[at];
      continue;
    }
    emit(prefix, size);
    if (next === CLEAR_AT) {
      emit(clear, size);
      keys.fill(-1);
      size = 9;
      next = end + 1;
    } else {
      if (next === 1 << size) size++;
      keys[at] = key;
      table[at] = next++;
    }
    prefix = index[i];
  }
  emit(prefix, size);
  emit(end, size);
  if (bits > 0) block.push(pending & 255);
  flush();
  bytes.put(0);
}

/** Bytes that grow. */
export class Bytes {
  private data = new Uint8Array(1 << 16);
  length = 0;

  private reserve(more: number): void {
    if (this.length + more <= this.data.length) return;
    const grown = new Uint8Array(Math.max(2 * this.data.length, this.length + more));
    grown.set(this.data.subarray(0, this.length));
    this.data = grown;
  }

  put(...values: number[]): void {
    this.reserve(values.length);
    for (const value of values) this.data[this.length++] = value;
  }

  short(value: number): void {
    this.put(value & 255, value >> 8);
  }

  text(text: string): void {
    for (const letter of text) this.put(letter.charCodeAt(0));
  }

  append(values: Uint8Array): void {
    this.reserve(values.length);
    this.data.set(values, this.length);
    this.length += values.length;
  }

  taken(): Uint8Array<ArrayBuffer> {
    return this.data.slice(0, this.length);
  }
}
