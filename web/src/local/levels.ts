/** Which level of detail each instance is drawn at, as the page looks at it. */
import type { Look, PageLevels } from "../protocol";

const [BY_PIXELS, BY_SIZE] = [0, 1];

export class LevelChooser {
  private before = new Uint8Array(0);

  constructor(private readonly levels: PageLevels, private readonly most: number) {}

  /** The level of each instance; null: all in full. */
  choose(look: Look | null, placements: Float32Array, forced: number): Uint8Array | null {
    const count = placements.length / 12;
    if (this.most < 1 || count < 2) return null;
    if (forced >= 0) return new Uint8Array(count).fill(Math.min(forced, this.most));
    const { how, thresholds, slacks, ball } = this.levels;
    if (!look || !thresholds.length) return null;
    const { view, projection, height } = look;
    const pixels = Math.max(look.pixels ?? 1, 1e-3);
    const perMetre = Math.abs(projection[5]) * 0.5 * height;
    const planes = sides(view, projection);
    const out = new Uint8Array(count);
    if (this.before.length !== count) this.before = new Uint8Array(count);
    const radius = ball[3];
    for (let i = 0; i < count; i++) {
      const m = placements.subarray(12 * i, 12 * i + 12);
      const [x, y, z] = [0, 4, 8].map((r) => m[r] * ball[0] + m[r + 1] * ball[1] + m[r + 2] * ball[2] + m[r + 3]);
      if (planes.some(([a, b, c, d]) => a * x + b * y + c * z + d < -radius)) {
        out[i] = this.most;
        continue;
      }
      const depth = -(view[8] * x + view[9] * y + view[10] * z + view[11]);
      let value = Infinity;
      if (how === BY_PIXELS) value = (pixels * Math.max(depth - radius, 1e-9)) / perMetre;
      else if (how === BY_SIZE) value = (Math.max(depth, 1e-9) * height) / (2 * Math.max(radius, 1e-12) * perMetre);
      let level = 0;
      // Coarser only when it is past the threshold by some: nobody flickers.
      thresholds.forEach((threshold, k) => {
        if (value >= threshold * (k + 1 > this.before[i] ? slacks[k] : 1)) level = k + 1;
      });
      out[i] = Math.min(level, this.most);
    }
    if (look.picked !== undefined && look.picked >= 0 && look.picked < count) out[look.picked] = 0;
    this.before = out;
    return out;
  }
}

/** The planes at the sides of what a camera sees, inward and of unit length. */
function sides(view: number[], projection: number[]): number[][] {
  const rows = [0, 1, 3].map((r) => [0, 1, 2, 3].map((c) => [0, 1, 2, 3].reduce((sum, k) => sum + projection[4 * r + k] * view[4 * k + c], 0)));
  const [across, up, depth] = rows;
  return [[1, across], [-1, across], [1, up], [-1, up]].map(([sign, row]) => {
    const plane = depth.map((value, c) => value + (sign as number) * (row as number[])[c]);
    const length = Math.hypot(plane[0], plane[1], plane[2]) || 1;
    return plane.map((value) => value / length);
  });
}
