/** A WebM file around pictures that the browser's own encoder (WebCodecs) has compressed: as much of Matroska as that takes. */
import { Bytes } from "./gif";

/** Milliseconds of a cluster at most: its blocks say their time in 16 bits. */
const CLUSTER_MS = 5000;

interface Block {
  time: number;
  key: boolean;
  data: Uint8Array;
}

const CODECS = [["vp09.00.40.08", "V_VP9"], ["vp8", "V_VP8"]] as const;

/** Whether this browser, on this page, can encode video. */
export function canEncode(): boolean {
  return typeof VideoEncoder !== "undefined";
}

export class WebmEncoder {
  private readonly blocks: Block[] = [];
  private failure: Error | null = null;

  private constructor(
    readonly width: number,
    readonly height: number,
    private readonly rate: number,
    private readonly codec: string,
    private readonly encoder: VideoEncoder,
  ) {}

  static async open(width: number, height: number, rate: number): Promise<WebmEncoder> {
    for (const [codec, id] of CODECS) {
      const config: VideoEncoderConfig = { codec, width, height, framerate: rate, bitrate: Math.max(2e6, Math.round(0.14 * width * height * rate)), latencyMode: "quality" };
      if (!(await VideoEncoder.isConfigSupported(config).catch(() => null))?.supported) continue;
      const encoder = new VideoEncoder({
        output: (chunk) => {
          const data = new Uint8Array(chunk.byteLength);
          chunk.copyTo(data);
          made.blocks.push({ time: Math.round(chunk.timestamp / 1000), key: chunk.type === "key", data });
        },
        error: (error) => (made.failure = error),
      });
      encoder.configure(config);
      const made = new WebmEncoder(width, height, rate, id, encoder);
      return made;
    }
    throw new Error("This browser cannot encode WebM; make a GIF, or use `marrow render`.");
  }

  /** Adds the `number`-th picture; waits while the encoder has much to do. */
  async add(picture: OffscreenCanvas, number: number): Promise<void> {
    if (this.failure) throw this.failure;
    const frame = new VideoFrame(picture, { timestamp: Math.round((1e6 * number) / this.rate), duration: Math.round(1e6 / this.rate) });
    this.encoder.encode(frame, { keyFrame: number % Math.max(1, Math.round(2 * this.rate)) === 0 });
    frame.close();
    while (this.encoder.encodeQueueSize > 4 && !this.failure) await new Promise((done) => setTimeout(done, 4));
  }

  async finish(pictures: number): Promise<Uint8Array<ArrayBuffer>> {
    await this.encoder.flush();
    this.encoder.close();
    if (this.failure) throw this.failure;
    return mux(this.blocks, { codec: this.codec, width: this.width, height: this.height, milliseconds: (1000 * pictures) / this.rate, rate: this.rate });
  }

  /** Gives up. */
  cancel(): void {
    if (this.encoder.state !== "closed") this.encoder.close();
  }
}

interface Film {
  codec: string;
  width: number;
  height: number;
  rate: number;
  milliseconds: number;
}

function mux(blocks: Block[], film: Film): Uint8Array<ArrayBuffer> {
  const out = new Bytes();
  const text = (s: string): Uint8Array => new TextEncoder().encode(s);
  out.append(element(0x1a45dfa3, element(0x4286, uint(1)), element(0x42f7, uint(1)), element(0x42f2, uint(4)), element(0x42f3, uint(8)), element(0x4282, text("webm")), element(0x4287, uint(4)), element(0x4285, uint(2))));
  const info = element(0x1549a966, element(0x2ad7b1, uint(1_000_000)), element(0x4489, float(film.milliseconds)), element(0x4d80, text("marrow")), element(0x5741, text("marrow studio")));
  const video = element(0xe0, element(0xb0, uint(film.width)), element(0xba, uint(film.height)));
  const track = element(0xae, element(0xd7, uint(1)), element(0x73c5, uint(1)), element(0x83, uint(1)), element(0x23e383, uint(Math.round(1e9 / film.rate))), element(0x86, text(film.codec)), video);
  const clusters: Uint8Array[] = [];
  let start = 0;
  let parts: Uint8Array[] = [];
  const close = (): void => {
    if (parts.length) clusters.push(element(0x1f43b675, element(0xe7, uint(start)), ...parts));
    parts = [];
  };
  for (const { time, key, data } of [...blocks].sort((a, b) => a.time - b.time)) {
    if (key || time - start > CLUSTER_MS) {
      close();
      start = time;
    }
    const head = new Uint8Array([0x81, ((time - start) >> 8) & 255, (time - start) & 255, key ? 0x80 : 0]);
    parts.push(element(0xa3, head, data));
  }
  close();
  out.append(element(0x18538067, info, element(0x1654ae6b, track), ...clusters));
  return out.taken();
}

/** An element of EBML: its number, the length of what is in it, and that. */
function element(id: number, ...parts: Uint8Array[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const out = new Bytes();
  out.append(uint(id));
  // Eight bytes for the length, whatever it is.
  const high = Math.floor(length / 2 ** 32);
  out.put(0x01, (high >> 16) & 255, (high >> 8) & 255, high & 255, (length >>> 24) & 255, (length >>> 16) & 255, (length >>> 8) & 255, length & 255);
  for (const part of parts) out.append(part);
  return out.taken();
}

/** A whole number in as few bytes as it takes, the largest first. */
function uint(value: number): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; rest > 0 || !bytes.length; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return new Uint8Array(bytes);
}

function float(value: number): Uint8Array {
  const out = new DataView(new ArrayBuffer(8));
  out.setFloat64(0, value);
  return new Uint8Array(out.buffer);
}
