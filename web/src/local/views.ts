/** Views that the page draws without the engine's help: the skeleton, as `scene/views/skeleton.py` has it. */
import type { DrawingMessage, DrawingText, PageInfo, SetViews } from "../protocol";
import { invert, multiply } from "./affine";

const NOTHING: DrawingText = { labels: [], legends: [], notes: [], surface: [], paints: [], ghosts: 0 };
const AXES = [[232, 80, 74], [103, 184, 63], [63, 127, 232]];
/** Axes are this part of the bones at their joint, and at most this part of the character. */
const AXIS_LENGTH = 0.35;
const LONGEST = 0.05;
const PALE = [204, 207, 212];
const FADED = 0.75;

type Vec = [number, number, number];

export class LocalViews {
  private wanted: SetViews | null = null;
  /** What was drawn last: nothing needs to be drawn away twice. */
  private drawn = false;
  private readonly parents: number[];
  private readonly size: number;

  constructor(private readonly info: PageInfo) {
    this.parents = info.character.joints.map(({ parent }) => parent);
    const [low, high] = info.character.bounds;
    this.size = Math.max(...low.map((v, c) => high[c] - v), 1e-6);
  }

  want(views: SetViews): void {
    this.wanted = views;
  }

  /** The drawing of a moment; null where nothing is wanted and nothing was drawn. */
  draw(frame: number, matrices: Float32Array, inverseBind: Float32Array, placements: Float32Array): DrawingMessage | null {
    const view = this.wanted?.views?.find(({ name }) => name === "skeleton");
    if (!view && !this.drawn) return null;
    this.drawn = Boolean(view);
    const lines = new LineList();
    const text: DrawingText = view ? { ...NOTHING, labels: [], paints: [{ level: 0, mode: "vertices", strength: FADED, lit: true, instances: [] }] } : NOTHING;
    const places: number[] = [];
    if (view) this.skeleton(view.argument !== "plain", Math.max(this.wanted?.picked ?? 0, 0), matrices, inverseBind, placements, lines, text, places);
    const arrays: DrawingMessage["arrays"] = lines.arrays();
    arrays.set("label_at", { shape: [places.length / 5, 5], data: Float32Array.from(places) });
    if (view) arrays.set("paint0", { shape: [1, 3], data: Uint8Array.from(PALE) });
    return { frame, slot: 0, bytes: 0, text, arrays };
  }

  private skeleton(named: boolean, instance: number, matrices: Float32Array, inverseBind: Float32Array, placements: Float32Array, lines: LineList, text: DrawingText, places: number[]): void {
    const { character, bones } = this.info;
    const place = placements.subarray(12 * instance, 12 * instance + 12);
    const world = character.joints.map((_, j) => {
      const at = 12 * (instance * character.palette + j);
      const bind = invert(inverseBind.subarray(12 * j, 12 * j + 12));
      return bind && multiply(place, multiply(matrices.subarray(at, at + 12), bind));
    });
    const at = (j: number): Vec | null => (bones[j] && world[j] ? [world[j][3], world[j][7], world[j][11]] : null);
    const { lengths } = this.lengths(at);
    character.joints.forEach(({ name }, j) => {
      const here = at(j);
      if (!here) return;
      const color = bones[j]!.map((v) => 255 * v);
      const above = this.parents[j] < 0 ? null : at(this.parents[j]);
      if (above) lines.add(above, here, color, [6, 1.5], 0.8);
      const long = Math.min(AXIS_LENGTH * lengths[j], LONGEST * this.size) || 0.3 * LONGEST * this.size;
      AXES.forEach((axisColor, k) => {
        const axis = [0, 4, 8].map((r) => world[j]![r + k]);
        const gain = long / Math.max(Math.hypot(...axis), 1e-30);
        lines.add(here, here.map((v, c) => v + gain * axis[c]) as Vec, axisColor, [2, 2], 0.9);
      });
      lines.add(here, here, color.map((v) => 127.5 + 0.5 * v), [6, 6], 1);
      if (!named) return;
      text.labels.push({ text: name.slice(name.lastIndexOf(":") + 1), color: bones[j]!.map((v) => 0.7 + 0.3 * v) as Vec });
      places.push(...here, lengths[j] / this.size, lengths[j]);
    });
  }

  /** How long the bones at each joint are: the mean of those to its children, or the one to its parent at an end. */
  private lengths(at: (j: number) => Vec | null): { lengths: number[] } {
    const reach = this.parents.map((parent, j) => {
      const [here, above] = [at(j), parent < 0 ? null : at(parent)];
      return here && above ? Math.hypot(...here.map((v, c) => v - above[c])) : 0;
    });
    const [total, number] = [reach.map(() => 0), reach.map(() => 0)];
    reach.forEach((length, j) => {
      if (!length) return;
      total[this.parents[j]] += length;
      number[this.parents[j]]++;
    });
    return { lengths: reach.map((length, j) => (number[j] ? total[j] / number[j] : length)) };
  }
}

/** Lines as a drawing has them. */
class LineList {
  private readonly start: number[] = [];
  private readonly end: number[] = [];
  private readonly color: number[] = [];
  private readonly width: number[] = [];
  private readonly hidden: number[] = [];

  add(start: Vec, end: Vec, color: number[], width: [number, number], hidden: number): void {
    this.start.push(...start);
    this.end.push(...end);
    this.color.push(...color, 255);
    this.width.push(...width);
    this.hidden.push(hidden);
  }

  arrays(): DrawingMessage["arrays"] {
    const count = this.hidden.length;
    return new Map([
      ["line_start", { shape: [count, 3], data: Float32Array.from(this.start) }],
      ["line_end", { shape: [count, 3], data: Float32Array.from(this.end) }],
      ["line_color", { shape: [count, 4], data: Uint8Array.from(this.color) }],
      ["line_width", { shape: [count, 2], data: Float32Array.from(this.width) }],
      ["line_hidden", { shape: [count], data: Float32Array.from(this.hidden) }],
    ] as [string, { shape: number[]; data: Float32Array | Uint8Array }][]);
  }
}
