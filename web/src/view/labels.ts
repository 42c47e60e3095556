/** Names in the viewport, drawn on a canvas over it: of joints, sockets, sizes, times. Labels that would overlap are left out. */
import { type Camera, Vector3 } from "three";

export interface Label {
  text: string;
  position: Vector3;
  color: string;
  halo: string;
  /** Where there is no room for all, those of higher rank are kept. */
  rank: number;
  /** The length of what is named, in metres: where that is seen smaller than letters are, there is no label; 0 for always. */
  length: number;
}

/** What is seen smaller than so many times the height of letters has no label. */
const SMALLEST = 1.5;
const LETTERS = 11;

interface Frame {
  x: number;
  y: number;
  width: number;
  height: number;
}

export class Labels {
  readonly canvas = document.createElement("canvas");
  private readonly context = this.canvas.getContext("2d")!;
  private empty = true;

  constructor() {
    this.canvas.className = "labels";
    this.canvas.setAttribute("aria-hidden", "true");
  }

  resize(width: number, height: number, ratio: number): void {
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.empty = true;
  }

  draw(labels: Label[], camera: Camera, frame: Frame): void {
    if (this.empty && !labels.length) return;
    const { context } = this;
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.empty = labels.length === 0;
    context.font = `500 ${LETTERS}px Inter, system-ui, sans-serif`;
    context.textBaseline = "middle";
    context.lineJoin = "round";
    context.lineWidth = 3;
    const taken: [number, number, number, number][] = [];
    const point = new Vector3();
    const end = new Vector3();
    for (const label of [...labels].sort((a, b) => b.rank - a.rank)) {
      point.copy(label.position).project(camera);
      if (point.z > 1 || Math.abs(point.x) > 1.05 || Math.abs(point.y) > 1.05) continue;
      if (label.length > 0) {
        const seen = [0, 1, 2].map((axis) => {
          end.copy(label.position).setComponent(axis, label.position.getComponent(axis) + label.length).project(camera);
          return Math.hypot(0.5 * (end.x - point.x) * frame.width, 0.5 * (end.y - point.y) * frame.height);
        });
        if (Math.max(...seen) < SMALLEST * LETTERS) continue;
      }
      const x = frame.x + (point.x * 0.5 + 0.5) * frame.width + 7;
      const y = frame.y + (0.5 - point.y * 0.5) * frame.height;
      const width = context.measureText(label.text).width;
      const box: [number, number, number, number] = [x - 2, y - 7, x + width + 2, y + 7];
      if (taken.some((t) => box[0] < t[2] && t[0] < box[2] && box[1] < t[3] && t[1] < box[3])) continue;
      taken.push(box);
      context.fillStyle = label.color;
      context.strokeStyle = label.halo;
      context.strokeText(label.text, x, y);
      context.fillText(label.text, x, y);
    }
  }
}
