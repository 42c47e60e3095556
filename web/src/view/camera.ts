/** `Framing`: where the camera stands: around what is shown, around a joint, or along with a character that walks. */
import { Box3, Frustum, Matrix4, MOUSE, PerspectiveCamera, Spherical, Vector3 } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

/** From where a character is looked at first: from the front, a little from the side and above. */
const FIRST_LOOK = new Vector3(0.5, 0.24, 1);
const CROWD_LOOK = new Vector3(0.5, 0.42, 1);
const UP = new Vector3(0, 1, 0);
/** How quickly the camera goes after a character, per second, and how far behind it may stay, of the character's size. */
const HASTE = 6;
const NEAR_ENOUGH = 0.003;
/** A character may bob up and down by this much of its size before the camera rises or sinks with it. */
const BOB = 0.12;
/** How far what moves may reach into the air around it before the camera steps back. */
const AIR = 0.12;
/** What is seen as smaller than this share of the picture's height, or larger than this many times, is out of sight. */
const SMALLEST = 0.15;
const LARGEST = 8;
/** Radians that a pixel of dragging looks around, and how steeply up or down: as in marrow's window. */
const TURN = (0.35 * Math.PI) / 180;
const STEEPEST = (89 * Math.PI) / 180;

export class Framing {
  readonly camera = new PerspectiveCamera(35, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  /** The point that is followed, as far as the camera has come. */
  private followed: Vector3 | null = null;
  private followedAt = 0;
  /** How far it is behind; and whether what it follows has another shape since. */
  private readonly behind = new Vector3();
  private reshaped = false;
  private heldAt = 0;
  /** Whether it was set on a part of what is shown: the rest may lie outside. */
  private joint = false;
  /** Whether someone has turned or moved the camera since it was last set: then it is theirs. */
  taken = false;
  /** How large what it was last set on is, in metres: how fast it flies. */
  size = 1;

  constructor(canvas: HTMLCanvasElement, changed: () => void) {
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.mouseButtons = { LEFT: MOUSE.ROTATE, MIDDLE: MOUSE.PAN, RIGHT: null };
    this.controls.addEventListener("change", changed);
    this.controls.addEventListener("start", () => (this.taken = true));
    this.lookAround(canvas, changed);
    this.camera.position.set(1.9, 1.75, 3.8);
    this.controls.target.set(0, 0.9, 0);
  }

  /** Moves the camera so that a box fills the picture; `all` is the largest thing it may later look at. Anew, it stands in
   * front of what looks `facing` radians away from +Z, towards +X. */
  fit(box: Box3, all: Box3, aspect: number, reset: boolean, crowd: boolean, facing: number): void {
    const center = box.getCenter(new Vector3());
    const anew = (crowd ? CROWD_LOOK : FIRST_LOOK).clone().applyAxisAngle(UP, facing);
    const direction = (reset ? anew : this.camera.position.clone().sub(this.controls.target)).normalize();
    const distance = this.distanceFor(box, center, direction, aspect);
    const radius = Math.max(0.5 * box.getSize(new Vector3()).length(), 1e-3);
    this.camera.position.copy(center).addScaledVector(direction, distance);
    this.controls.target.copy(center);
    this.controls.maxDistance = 20 * Math.max(radius, all.getSize(new Vector3()).length()) + distance;
    this.size = 2 * radius;
    this.followed = center.clone();
    this.behind.set(0, 0, 0);
    this.taken = false;
    this.joint = !box.equals(all);
    this.reach(all);
    this.controls.update();
  }

  /** The right button, held, turns the camera where it stands. */
  private lookAround(canvas: HTMLCanvasElement, changed: () => void): void {
    let held: { x: number; y: number } | null = null;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 2 || event.pointerType !== "mouse" || !this.controls.enabled) return;
      held = { x: event.clientX, y: event.clientY };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!held) return;
      this.look((event.clientX - held.x) * TURN, (held.y - event.clientY) * TURN);
      held = { x: event.clientX, y: event.clientY };
      changed();
    });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"] as const) canvas.addEventListener(end, () => (held = null));
  }

  /** Turns where it stands, by radians: to the right, and up. */
  look(right: number, up: number): void {
    const away = this.away();
    away.theta -= right;
    away.phi = clampPitch(away.phi + up);
    this.controls.target.copy(this.camera.position).sub(new Vector3().setFromSpherical(away));
    this.taken = true;
  }

  /** Goes around what it looks at, by radians: to the right of it, and under it. */
  orbit(right: number, down: number): void {
    const away = this.away();
    away.theta += right;
    away.phi = clampPitch(away.phi + down);
    this.camera.position.copy(this.controls.target).add(new Vector3().setFromSpherical(away));
    this.taken = true;
  }

  /** Moves with what it looks at, in metres: across, straight up, and where it looks. */
  fly(right: number, up: number, ahead: number): void {
    const { position } = this.camera;
    const forward = this.controls.target.clone().sub(position).normalize();
    const move = new Vector3(-forward.z, 0, forward.x).normalize().multiplyScalar(right).addScaledVector(forward, ahead);
    move.y += up;
    position.add(move);
    this.controls.target.add(move);
    this.taken = true;
  }

  /** From what it looks at to where it stands. */
  private away(): Spherical {
    return new Spherical().setFromVector3(this.camera.position.clone().sub(this.controls.target));
  }

  /** Sets what is near and far enough to be drawn, for the size things have now. */
  reach(all: Box3): void {
    const radius = Math.max(0.5 * all.getSize(new Vector3()).length(), 1e-4);
    const distance = this.camera.position.distanceTo(this.controls.target);
    const near = Math.min(distance, radius) / 100;
    const far = 60 * radius + 3 * (distance + all.getCenter(new Vector3()).distanceTo(this.camera.position));
    const fits = (now: number, wanted: number): boolean => now > 0.5 * wanted && now < 2 * wanted;
    if (fits(this.camera.near, near) && fits(this.camera.far, far)) return;
    this.camera.near = near;
    this.camera.far = far;
    this.camera.updateProjectionMatrix();
  }

  /** Whether anything of a box can be made out: it is in front of the camera, in the picture, and of a size to be seen. */
  sees(box: Box3): boolean {
    const { camera } = this;
    camera.updateMatrixWorld();
    const view = new Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
    if (!new Frustum().setFromProjectionMatrix(view).intersectsBox(box)) return false;
    const size = box.getSize(new Vector3()).length();
    const away = Math.max(box.getCenter(new Vector3()).distanceTo(camera.position), camera.near);
    const share = size / (2 * away * Math.tan((camera.fov * Math.PI) / 360));
    return share > SMALLEST && share < LARGEST;
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

  /** Steps back where a box reaches out of the picture, gently or, where that would take long, at once; true while it does. */
  hold(box: Box3, aspect: number, now: number): boolean {
    const seconds = Math.min(0.1, (now - this.heldAt) / 1000);
    this.heldAt = now;
    if (this.taken || this.joint || box.isEmpty()) return false;
    const away = this.camera.position.clone().sub(this.controls.target);
    const distance = away.length();
    const needed = this.distanceFor(box, this.controls.target, away.clone().normalize(), aspect) / (1 + AIR);
    if (!(needed > distance) || !Number.isFinite(needed)) return false;
    const step = needed > 2 * distance ? 1 : 1 - Math.exp(-HASTE * seconds);
    this.camera.position.copy(this.controls.target).addScaledVector(away.normalize(), distance + step * ((1 + AIR) * needed - distance));
    this.controls.maxDistance = Math.max(this.controls.maxDistance, 2 * needed);
    return true;
  }

  /** What is followed from now on is brought into the middle of the picture; or kept where it is, if `from` says where. */
  stopFollowing(from: Vector3 | null = null): void {
    this.followed = from;
  }

  /** What is followed was changed, not moved: a camera that is someone's own stays where it is. */
  reshape(): void {
    this.reshaped = this.taken;
  }

  /** Goes along with what is in a box, and keeps it in the middle; true while it has not caught up. */
  follow(box: Box3, now: number): boolean {
    if (box.isEmpty()) return false;
    const size = box.getSize(new Vector3()).length();
    this.followed ??= this.controls.target.clone();
    const seconds = Math.min(0.1, (now - this.followedAt) / 1000);
    this.followedAt = now;
    const center = box.getCenter(new Vector3());
    if (this.reshaped) this.followed.copy(center).sub(this.behind);
    this.reshaped = false;
    const move = center.clone().sub(this.followed);
    this.behind.copy(move);
    move.y = Math.sign(move.y) * Math.max(0, Math.abs(move.y) - BOB * size);
    const away = move.length();
    if (away < NEAR_ENOUGH * size) return false;
    // A step is followed gently, so that the camera does not sway with the hips; a jump (a clip starts over) at once.
    if (away < 0.35 * size) move.multiplyScalar(1 - Math.exp(-HASTE * seconds));
    this.followed.add(move);
    this.behind.sub(move);
    this.camera.position.add(move);
    this.controls.target.add(move);
    return true;
  }
}

/** An angle from straight up, not too near to that, nor to straight down. */
function clampPitch(phi: number): number {
  return Math.min(Math.PI / 2 + STEEPEST, Math.max(Math.PI / 2 - STEEPEST, phi));
}

/** Whether a box holds something, somewhere. */
export function finite(box: Box3): boolean {
  return [...box.min.toArray(), ...box.max.toArray()].every(Number.isFinite);
}
