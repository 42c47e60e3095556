/** Finds the joint, of any instance, that is nearest to a point of the picture. */
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
    character.info.joints.forEach((_, joint) => {
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
