/** `Framing`: where the camera stands: around what is shown, around a joint, or along with a character that walks. */
import { Box3, Matrix4, PerspectiveCamera, Vector3 } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import type { CharacterView } from "./character";

/** From where a character is looked at first: from the front, a little from the side and above. */
const FIRST_LOOK = new Vector3(0.5, 0.24, 1);
const CROWD_LOOK = new Vector3(0.5, 0.42, 1);
/** How quickly the camera goes after a character, per second, and how far behind it may stay, of the character's size. */
const HASTE = 6;
const NEAR_ENOUGH = 0.003;

export class Framing {
  readonly camera = new PerspectiveCamera(35, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  private followed: Vector3 | null = null;
  private followedAt = 0;

  constructor(canvas: HTMLCanvasElement, changed: () => void) {
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.addEventListener("change", changed);
    this.camera.position.set(1.9, 1.75, 3.8);
    this.controls.target.set(0, 0.9, 0);
  }

  /** Moves the camera so that a box fills the picture; `all` is the largest thing it may later look at. */
  fit(box: Box3, all: Box3, aspect: number, reset: boolean, crowd: boolean): void {
    const center = box.getCenter(new Vector3());
    const anew = crowd ? CROWD_LOOK : FIRST_LOOK;
    const direction = (reset ? anew.clone() : this.camera.position.clone().sub(this.controls.target)).normalize();
    const distance = this.distanceFor(box, center, direction, aspect);
    const radius = Math.max(0.5 * box.getSize(new Vector3()).length(), 1e-3);
    this.camera.position.copy(center).addScaledVector(direction, distance);
    this.controls.target.copy(center);
    this.camera.near = Math.min(distance, radius) / 100;
    this.camera.far = 60 * Math.max(radius, all.getSize(new Vector3()).length()) + distance;
    this.camera.updateProjectionMatrix();
    this.controls.maxDistance = this.camera.far / 3;
    this.followed = null;
    this.controls.update();
  }

  /** How far away all corners of a box are in the picture, with some air around them. */
  private distanceFor(box: Box3, center: Vector3, direction: Vector3, aspect: number): number {
    const vertical = Math.tan((this.camera.fov * Math.PI) / 360) * 0.85;
    const right = new Vector3(0, 1, 0).cross(direction).normalize();
    const up = direction.clone().cross(right);
    const corner = new Vector3();
    let distance = 1e-3;
    for (let i = 0; i < 8; i++) {
      corner.set(i & 1 ? box.max.x : box.min.x, i & 2 ? box.max.y : box.min.y, i & 4 ? box.max.z : box.min.z).sub(center);
      const near = corner.dot(direction);
      const wide = Math.abs(corner.dot(right)) / (vertical * aspect);
      const high = Math.abs(corner.dot(up)) / vertical;
      distance = Math.max(distance, near + Math.max(wide, high));
    }
    return distance;
  }

  stopFollowing(): void {
    this.followed = null;
  }

  /** Goes along with one instance; true while it has not caught up. */
  follow(character: CharacterView, instance: number, now: number): boolean {
    const { joints } = character.info;
    if (!joints.length) return false;
    const middle = new Vector3();
    const m = new Matrix4();
    const at = new Vector3();
    joints.forEach((_, j) => middle.add(at.setFromMatrixPosition(character.joint(j, m, instance))));
    middle.divideScalar(joints.length).setY(0);
    this.followed ??= middle.clone();
    const seconds = Math.min(0.1, (now - this.followedAt) / 1000);
    this.followedAt = now;
    const move = middle.sub(this.followed);
    const behind = move.length();
    if (behind < NEAR_ENOUGH * character.size) return false;
    // A step is followed gently, so that the camera does not sway with the hips; a jump (a clip starts over) at once.
    if (behind < 0.35 * character.size) move.multiplyScalar(1 - Math.exp(-HASTE * seconds));
    this.followed.add(move);
    this.camera.position.add(move);
    this.controls.target.add(move);
    return true;
  }
}
