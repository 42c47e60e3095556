/** `Drawing`: what views draw over an actor, as the engine has drawn it, put together from messages that bring what is new. */
import type { DrawingArray, DrawingMessage, DrawingText } from "../protocol";

const NOTHING: DrawingText = { labels: [], legends: [], notes: [], surface: [], paints: [], ghosts: 0 };

export class Drawing {
  text: DrawingText = NOTHING;
  /** Grows with every message. */
  version = 0;
  private readonly arrays = new Map<string, DrawingArray>();
  private readonly versions = new Map<string, number>();

  take(message: DrawingMessage): void {
    this.version++;
    if (message.text) {
      this.text = message.text;
      this.versions.set("", this.version);
    }
    for (const [name, array] of message.arrays) {
      this.arrays.set(name, array);
      this.versions.set(name, this.version);
    }
  }

  /** Whether the text ("") or one of these arrays is newer than a version. */
  newer(version: number, ...names: string[]): boolean {
    return names.some((name) => (this.versions.get(name) ?? 0) > version);
  }

  array(name: string): DrawingArray | null {
    return this.arrays.get(name) ?? null;
  }

  floats(name: string): Float32Array {
    return (this.arrays.get(name)?.data ?? new Float32Array(0)) as Float32Array;
  }

  numbers(name: string): Uint32Array {
    return (this.arrays.get(name)?.data ?? new Uint32Array(0)) as Uint32Array;
  }

  bytes(name: string): Uint8Array {
    return (this.arrays.get(name)?.data ?? new Uint8Array(0)) as Uint8Array;
  }
}
