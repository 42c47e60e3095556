/** Names in the viewport, drawn on a canvas over it: of joints and of sockets. Labels that would overlap are left out. */
import { type Camera, Vector3 } from "three";
import type { Palette } from "./palette";

export interface Label {
  text: string;
  position: Vector3;
  strong: boolean;
}

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

  draw(labels: Label[], camera: Camera, frame: Frame, palette: Palette): void {
    if (this.empty && !labels.length) return;
    const { context } = this;
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.empty = labels.length === 0;
    context.font = "500 11px Inter, system-ui, sans-serif";
    context.textBaseline = "middle";
    context.lineJoin = "round";
    context.lineWidth = 3;
    context.strokeStyle = palette.labelHalo;
    const taken: [number, number, number, number][] = [];
    const point = new Vector3();
    for (const label of [...labels].sort((a, b) => Number(b.strong) - Number(a.strong))) {
      point.copy(label.position).project(camera);
      if (point.z > 1 || Math.abs(point.x) > 1.05 || Math.abs(point.y) > 1.05) continue;
      const x = frame.x + (point.x * 0.5 + 0.5) * frame.width + 7;
      const y = frame.y + (0.5 - point.y * 0.5) * frame.height;
      const width = context.measureText(label.text).width;
      const box: [number, number, number, number] = [x - 2, y - 7, x + width + 2, y + 7];
      if (taken.some((t) => box[0] < t[2] && t[0] < box[2] && box[1] < t[3] && t[1] < box[3])) continue;
      taken.push(box);
      context.fillStyle = label.strong ? palette.accent : palette.label;
      context.strokeText(label.text, x, y);
      context.fillText(label.text, x, y);
    }
  }
}
