/** Finds the joint, of any instance, or the vertex that is nearest to a point of the picture. */
import { Matrix4, type PerspectiveCamera, Vector3 } from "three";
import type { CharacterView } from "./character";

const PICK_RADIUS = 22;

export interface Pane {
  slot: number;
  x: number;
  width: number;
  height: number;
}

export interface Picked {
  instance: number;
  joint: number;
}

/** Where a point is in the picture, in pixels of the viewport, with its depth (past 1: not in view). */
export function toScreen(point: Vector3, camera: PerspectiveCamera, pane: Pane): Vector3 {
  const p = point.project(camera);
  return p.set(pane.x + (p.x * 0.5 + 0.5) * pane.width, (0.5 - p.y * 0.5) * pane.height, p.z);
}

/** The joint nearest to (x, y), if one is near enough; of instances about as near, the one in front. */
export function pickJoint(character: CharacterView, camera: PerspectiveCamera, pane: Pane, x: number, y: number): Picked | null {
  let best: Picked | null = null;
  let least = Infinity;
  const m = new Matrix4();
  const point = new Vector3();
  for (let instance = 0; instance < character.count; instance++) {
    const distance = point.setFromMatrixPosition(character.joint(0, m, instance)).distanceTo(camera.position);
    let nearest = PICK_RADIUS;
    character.info.joints.forEach(({ helper }, joint) => {
      if (helper) return;
      const p = toScreen(point.setFromMatrixPosition(character.joint(joint, m, instance)), camera, pane);
      const away = Math.hypot(p.x - x, p.y - y);
      if (p.z > 1 || away >= nearest) return;
      nearest = away;
      // Standing a body's length further away weighs as much as the whole radius.
      const score = away + (PICK_RADIUS * distance) / character.size;
      if (score > least) return;
      least = score;
      best = { instance, joint };
    });
  }
  return best;
}

export interface PickedVertex {
  mesh: number;
  /** Its number in the mesh. */
  vertex: number;
}

const VERTEX_RADIUS = 14;

/** The vertex nearest to (x, y), of those about as near the one in front; `positions` of all meshes, one after the other. */
export function pickVertex(character: CharacterView, positions: Float32Array, camera: PerspectiveCamera, pane: Pane, x: number, y: number): PickedVertex | null {
  let best: PickedVertex | null = null;
  let least = Infinity;
  let at = 0;
  const point = new Vector3();
  character.parts.forEach((part, mesh) => {
    for (let vertex = 0; vertex < part.info.vertices; vertex++, at += 3) {
      if (!part.mesh.visible) continue;
      const away = point.fromArray(positions, at).distanceTo(camera.position);
      const p = toScreen(point, camera, pane);
      const off = Math.hypot(p.x - x, p.y - y);
      if (p.z > 1 || off > VERTEX_RADIUS) continue;
      // A tenth of the body behind weighs as much as the whole radius: the far side is not what was meant.
      const score = off + (10 * VERTEX_RADIUS * away) / character.size;
      if (score >= least) continue;
      least = score;
      best = { mesh, vertex };
    }
  });
  return best;
}

/** Hears of clicks: the pointer goes down and up in about one place. */
export function onClick(canvas: HTMLCanvasElement, frame: HTMLElement, clicked: (x: number, y: number) => void): void {
  let down: { x: number; y: number } | null = null;
  canvas.addEventListener("pointerdown", (event) => {
    down = event.button === 0 ? { x: event.clientX, y: event.clientY } : null;
  });
  canvas.addEventListener("pointerup", (event) => {
    const still = down && Math.hypot(event.clientX - down.x, event.clientY - down.y) < 4;
    down = null;
    if (!still) return;
    const { left, top } = frame.getBoundingClientRect();
    clicked(event.clientX - left, event.clientY - top);
  });
}
