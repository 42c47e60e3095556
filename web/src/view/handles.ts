/**
 * `Handles`: joints to drag, for which the whole body bends. The engine solves it; the page says where they shall be. A ring is a joint
 * that goes along, a disc one that is held at a place, a square one that stays where the pose has it.
 */
import { type Camera, CanvasTexture, Matrix4, Object3D, type PerspectiveCamera, type Scene, Sprite, SpriteMaterial, SRGBColorSpace, Vector3 } from "three";
import { TransformControls } from "three/addons/controls/TransformControls.js";
import type { EffectorState } from "../protocol";
import type { CharacterView } from "./character";
import { type Pane, toScreen } from "./picking";

/** Pixels of a handle, and how near the pointer must come to take it: a finger is wider than a mouse. */
const SIZE = 20;
const PICKED_SIZE = 26;
const NEAR = 13;
const NEAR_TOUCH = 26;

/** How a joint is held: it goes along with the body, stays where the pose has it, or is at a place. */
export type Hold = "free" | "posed" | "placed";

export class Handles {
  /** Called when a handle is dragged: the joint, its place in the space of the instance, and the instance. */
  onHold: (joint: number, place: [number, number, number], instance: number) => void = () => {};
  /** Called when a handle is taken. */
  onPick: (joint: number) => void = () => {};
  private shown = false;
  private character: CharacterView | null = null;
  private instance = 0;
  private picked = -1;
  /** The joints that are held, and where, in the space of each instance that has a place. */
  private held = new Map<number, Map<number, Vector3>>();
  private readonly sprites = new Map<number, Sprite>();
  private readonly controls: TransformControls;
  private readonly target = new Object3D();
  private readonly materials = new Map<string, SpriteMaterial>();
  /** What the pointer has: where the handle is in the world, how deep in the picture, and how far beside the pointer, in pixels. */
  private drag: { joint: number; pointer: number; at: Vector3; depth: number; aside: [number, number] } | null = null;

  constructor(
    private readonly scene: Scene,
    private readonly camera: PerspectiveCamera,
    canvas: HTMLCanvasElement,
    private readonly element: HTMLElement,
    private readonly pane: () => Pane,
    taken: (on: boolean) => void,
    private readonly changed: () => void,
  ) {
    this.controls = new TransformControls(camera as Camera, canvas);
    this.controls.size = 0.7;
    this.controls.setMode("translate");
    this.controls.addEventListener("dragging-changed", (event) => taken(event.value as boolean));
    this.controls.addEventListener("change", () => changed());
    this.controls.addEventListener("objectChange", () => this.hold(this.picked, this.target.position));
    // Before the camera hears of it.
    element.addEventListener("pointerdown", (event) => this.take(event, canvas), { capture: true });
    element.addEventListener("pointermove", (event) => this.move(event), { capture: true });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"] as const) element.addEventListener(end, (event) => this.letGo(event), { capture: true });
  }

  get on(): boolean {
    return this.shown;
  }

  /** Whether a handle, or one of its arrows, is being dragged. */
  get dragging(): boolean {
    return this.drag !== null || this.controls.dragging;
  }

  /** Whether the pointer is on an arrow: a click there picks nothing. */
  get touched(): boolean {
    return this.active && this.picked >= 0 && this.controls.axis !== null;
  }

  /** Handles are of what is played: a pose of the page's own has its own tools. */
  private get active(): boolean {
    return this.shown && this.character !== null && this.character.count > 0 && this.character.poser.kind === "played";
  }

  show(on: boolean): void {
    this.shown = on;
    this.changed();
  }

  setCharacter(character: CharacterView | null): void {
    this.character = character;
    this.drag = null;
    for (const sprite of this.sprites.values()) this.scene.remove(sprite);
    this.sprites.clear();
    this.controls.detach();
  }

  /** What the engine says is held. */
  takeState(effectors: EffectorState[]): void {
    const before = this.held;
    this.held = new Map(effectors.map(({ joint, places }) => [joint, new Map(places.map(([instance, x, y, z]) => [instance, new Vector3(x, y, z)]))]));
    // What is in somebody's hand is where that is.
    const mine = this.dragging ? (this.drag?.joint ?? this.picked) : -1;
    const kept = before.get(mine);
    if (kept) this.held.set(mine, kept);
    this.changed();
  }

  /** The joints that have a handle: those of a body, those that are held, and the picked one. */
  get joints(): number[] {
    const { character } = this;
    if (!character) return [];
    const all = new Set([...character.info.handles, ...this.held.keys(), ...(this.picked >= 0 ? [this.picked] : [])]);
    return [...all].filter((joint) => joint < character.info.joints.length);
  }

  how(joint: number): Hold {
    const places = this.held.get(joint);
    return !places ? "free" : places.has(this.instance) ? "placed" : "posed";
  }

  /** Where a joint is now, in the space of the instance. */
  place(joint: number): Vector3 {
    const model = this.character!.joint(joint, new Matrix4(), this.instance).premultiply(this.character!.placement(this.instance, new Matrix4()).invert());
    return new Vector3().setFromMatrixPosition(model);
  }

  /** Where a joint shall be, in the space of the instance: where it is, unless it is held somewhere. */
  wanted(joint: number): Vector3 {
    return this.held.get(joint)?.get(this.instance)?.clone() ?? this.place(joint);
  }

  /** How far a joint is from where it is held, in metres; 0 where it is not. */
  distance(joint: number): number {
    return this.character?.count ? this.wanted(joint).distanceTo(this.place(joint)) : 0;
  }

  /** Puts the handles where they belong, before a picture is drawn. */
  update(picked: number, instance: number, height: number): void {
    this.picked = picked;
    this.instance = instance;
    const { active } = this;
    const joints = new Set(active ? this.joints : []);
    for (const [joint, sprite] of this.sprites) sprite.visible = joints.has(joint);
    const helper = this.controls.getHelper();
    if (active && picked >= 0) {
      if (!this.controls.dragging) this.target.position.copy(this.world(picked));
      if (this.controls.object !== this.target) {
        this.scene.add(this.target, helper);
        this.controls.attach(this.target);
      }
      this.target.updateMatrixWorld();
    } else if (this.controls.object) {
      this.controls.detach();
      this.scene.remove(this.target, helper);
    }
    const pixel = (2 * Math.tan((this.camera.fov * Math.PI) / 360)) / height;
    for (const joint of joints) {
      const sprite = this.sprites.get(joint) ?? this.made(joint);
      sprite.material = this.material(this.how(joint), joint === picked);
      sprite.scale.setScalar((joint === picked ? PICKED_SIZE : SIZE) * pixel);
      sprite.position.copy(this.world(joint));
    }
  }

  private made(joint: number): Sprite {
    const sprite = new Sprite(this.material("free", false));
    sprite.renderOrder = 30;
    sprite.frustumCulled = false;
    this.sprites.set(joint, sprite);
    this.scene.add(sprite);
    return sprite;
  }

  private material(how: Hold, picked: boolean): SpriteMaterial {
    const key = `${how} ${picked}`;
    const known = this.materials.get(key) ?? new SpriteMaterial({ map: drawn(how, picked), depthTest: false, depthWrite: false, sizeAttenuation: false, toneMapped: false, transparent: true });
    this.materials.set(key, known);
    return known;
  }

  /** Where a handle is in the world. */
  private world(joint: number): Vector3 {
    if (this.drag?.joint === joint) return this.drag.at.clone();
    return this.wanted(joint).applyMatrix4(this.character!.placement(this.instance, new Matrix4()));
  }

  /** Holds a joint at a place of the world. */
  private hold(joint: number, at: Vector3): void {
    const { character, instance } = this;
    if (!character || joint < 0) return;
    const place = at.clone().applyMatrix4(character.placement(instance, new Matrix4()).invert());
    if (!place.toArray().every(Number.isFinite)) return;
    const places = this.held.get(joint) ?? new Map<number, Vector3>();
    this.held.set(joint, places.set(instance, place));
    this.onHold(joint, place.toArray(), instance);
    this.changed();
  }

  // -- the pointer ------------------------------------------------------------------------------------------------
  private at(event: PointerEvent): [number, number] {
    const { left, top } = this.element.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  }

  private take(event: PointerEvent, canvas: HTMLCanvasElement): void {
    if (!this.active || this.dragging || event.button !== 0 || event.shiftKey || event.target !== canvas) return;
    const [x, y] = this.at(event);
    let nearest = event.pointerType === "touch" ? NEAR_TOUCH : NEAR;
    for (const joint of this.joints) {
      const at = this.world(joint);
      const p = toScreen(at.clone(), this.camera, this.pane());
      const away = Math.hypot(p.x - x, p.y - y);
      if (p.z > 1 || away > nearest) continue;
      nearest = away;
      this.drag = { joint, pointer: event.pointerId, at, depth: p.z, aside: [p.x - x, p.y - y] };
    }
    if (!this.drag) return;
    event.stopPropagation();
    event.preventDefault();
    canvas.focus({ preventScroll: true });
    canvas.setPointerCapture(event.pointerId);
    this.onPick(this.drag.joint);
    this.changed();
  }

  private move(event: PointerEvent): void {
    const { drag } = this;
    if (!drag || event.pointerId !== drag.pointer) return;
    event.stopPropagation();
    const [x, y] = this.at(event);
    const pane = this.pane();
    const [across, down] = [x + drag.aside[0] - pane.x, y + drag.aside[1]];
    drag.at.set((2 * across) / pane.width - 1, 1 - (2 * down) / pane.height, drag.depth).unproject(this.camera);
    this.hold(drag.joint, drag.at);
  }

  private letGo(event: PointerEvent): void {
    if (!this.drag || event.pointerId !== this.drag.pointer) return;
    event.stopPropagation();
    this.drag = null;
    this.changed();
  }
}

/** A handle as it is seen: light with a dark rim, so that it stands out from any body. */
function drawn(how: Hold, picked: boolean): CanvasTexture {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 64;
  const pen = canvas.getContext("2d")!;
  const outline = new Path2D();
  if (how === "posed") outline.rect(14, 14, 36, 36);
  else outline.arc(32, 32, 20, 0, 2 * Math.PI);
  for (const [color, width] of [["rgba(16,18,22,.9)", 16], [picked ? "#ffffff" : "#5cc8d7", 8]] as const) {
    pen.strokeStyle = color;
    pen.lineWidth = width;
    pen.stroke(outline);
  }
  pen.fillStyle = how === "free" ? "rgba(16,18,22,.35)" : "#5cc8d7";
  pen.fill(outline);
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = SRGBColorSpace;
  return texture;
}
