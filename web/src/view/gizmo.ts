/**
 * `Hands`: a pose made by hand. The picked joint gets rings to turn it or arrows to move it (three.js' own); "reach" bends the two
 * bones above so that the joint gets where it is dragged.
 */
import { type Camera, Matrix4, Object3D, Quaternion, type Scene, Vector3 } from "three";
import { TransformControls } from "three/addons/controls/TransformControls.js";
import type { CharacterView } from "./character";
import type { LocalTransform, PoseKind } from "./poser";

export type HandTool = "rotate" | "reach" | "move";

export class Hands {
  onChange: () => void = () => {};
  private readonly controls: TransformControls;
  private readonly handle = new Object3D();
  private chosen: HandTool = "rotate";
  private character: CharacterView | null = null;
  private joint = -1;
  private startAt = new Map<number, Vector3>();

  constructor(
    private readonly scene: Scene,
    camera: Camera,
    canvas: HTMLCanvasElement,
    dragging: (on: boolean) => void,
    private readonly changed: () => void,
  ) {
    this.controls = new TransformControls(camera, canvas);
    this.controls.size = 0.8;
    this.controls.setMode("rotate");
    this.controls.addEventListener("dragging-changed", (event) => dragging(event.value as boolean));
    this.controls.addEventListener("change", () => this.changed());
    this.controls.addEventListener("objectChange", () => this.follow());
  }

  /** Whether the pointer is on a ring or an arrow: a click there picks nothing. */
  get held(): boolean {
    return this.joint >= 0 && this.controls.axis !== null;
  }

  get kind(): PoseKind {
    return this.character?.poser.kind ?? "played";
  }

  /** How many joints were put by hand. */
  get moved(): number {
    return this.kind === "hand" ? (this.character?.poser.moved.size ?? 0) : 0;
  }

  get tool(): HandTool {
    return this.chosen;
  }

  set tool(tool: HandTool) {
    this.chosen = tool;
    this.controls.setMode(tool === "rotate" ? "rotate" : "translate");
    this.attach();
  }

  /** Another character, or none: it shows what is played. */
  setCharacter(character: CharacterView | null): void {
    this.character = character;
    this.joint = -1;
    this.attach();
    this.onChange();
  }

  show(kind: PoseKind): void {
    const { character } = this;
    if (!character) return;
    if (kind === "hand") this.take(character);
    else character.poser.kind = kind;
    character.refresh();
    this.attach();
  }

  private take(character: CharacterView): void {
    character.takePose();
    this.startAt = new Map(character.info.joints.map((_, j) => [j, character.poser.local(j).translation]));
  }

  /** Puts all joints back where they were before hands were laid on them. */
  reset(): void {
    const { character } = this;
    if (!character) return;
    character.poser.kind = "played";
    character.refresh();
    this.take(character);
    this.attach();
    this.onChange();
  }

  select(joint: number): void {
    this.joint = joint;
    this.attach();
  }

  /** The joints that were put by hand, with their transforms relative to their parents. */
  transforms(): [number, LocalTransform][] {
    const { character } = this;
    return character ? [...character.poser.moved].sort((a, b) => a - b).map((joint) => [joint, character.poser.local(joint)]) : [];
  }

  /** Whether a joint is elsewhere relative to its parent than it was. */
  shifted(joint: number): boolean {
    const before = this.startAt.get(joint);
    return Boolean(before && this.character && before.distanceTo(this.character.poser.local(joint).translation) > 1e-6 * this.character.size);
  }

  private attach(): void {
    const helper = this.controls.getHelper();
    const on = this.character !== null && this.kind === "hand" && this.joint >= 0;
    if (!on) {
      this.controls.detach();
      this.scene.remove(helper, this.handle);
    } else {
      this.scene.add(this.handle, helper);
      this.place();
      this.controls.attach(this.handle);
    }
    this.changed();
  }

  /** Puts the handle where the joint is. */
  private place(): void {
    const m = this.character!.joint(this.joint, new Matrix4());
    m.decompose(this.handle.position, this.handle.quaternion, new Vector3());
    this.handle.updateMatrixWorld();
  }

  /** The handle was dragged: the joint goes along. */
  private follow(): void {
    const { character, joint } = this;
    if (!character || joint < 0) return;
    const placed = character.placement(0, new Matrix4());
    const turn = new Quaternion().setFromRotationMatrix(placed).invert();
    const at = this.handle.position.clone().applyMatrix4(placed.invert());
    if (this.chosen === "rotate") character.poser.turn(joint, turn.multiply(this.handle.quaternion));
    else if (this.chosen === "reach") character.poser.reach(joint, at);
    else character.poser.move(joint, at);
    character.refresh();
    this.onChange();
    this.changed();
  }
}
