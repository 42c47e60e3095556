/** `Viewport`: the picture. Draws when something changed, and only then. */
import {
  Box3, Matrix4, NeutralToneMapping, PCFShadowMap, PerspectiveCamera, Scene, Vector3, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import type { ViewOptions } from "../options";
import type { Frame } from "../protocol";
import type { CharacterView, MethodChoice } from "./character";
import { type Label, Labels } from "./labels";
import { Overlays } from "./overlays";
import { type Palette, PALETTES } from "./palette";
import { drawnInSoftware, Pace } from "./pace";
import { readPositions } from "./readback";
import { Stage } from "./stage";

interface Slot {
  character: CharacterView;
  overlays: Overlays;
}

interface Pane {
  slot: number;
  method: MethodChoice;
  x: number;
  width: number;
}

const PICK_RADIUS = 22;

export class Viewport {
  readonly element = document.createElement("div");
  readonly renderer: WebGLRenderer;
  readonly camera = new PerspectiveCamera(35, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  readonly pace = new Pace();
  /** Frames drawn so far: tests and the recorder watch it. */
  drawn = 0;
  onPick: (joint: number) => void = () => {};
  /** Called before a picture is drawn: the time to apply what has arrived. */
  beforeDraw: () => void = () => {};
  private readonly scene = new Scene();
  private readonly stage: Stage;
  private readonly labels = new Labels();
  private readonly slots: (Slot | null)[] = [null, null];
  private palette: Palette;
  private selected = -1;
  private mask: ArrayLike<number> | null = null;
  private dirty = true;
  private followed: Vector3 | null = null;
  private readonly software = drawnInSoftware();
  private shadowLags = false;
  private framedCount = 0;
  private width = 1;
  private height = 1;

  constructor(private options: ViewOptions) {
    this.palette = PALETTES[options.theme];
    this.renderer = new WebGLRenderer({ antialias: !this.software, powerPreference: "high-performance" });
    this.renderer.toneMapping = NeutralToneMapping;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.renderer.shadowMap.autoUpdate = !this.software;
    const canvas = this.renderer.domElement;
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "The character. Drag to turn, right-drag to move, wheel to zoom, click to pick a joint.");
    this.element.className = "viewport";
    this.element.append(canvas, this.labels.canvas);
    this.stage = new Stage(this.scene, this.renderer, this.software);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.addEventListener("change", () => this.invalidate());
    this.camera.position.set(2.2, 1.6, 3.6);
    this.controls.target.set(0, 0.9, 0);
    this.listen(canvas);
    new ResizeObserver(() => this.resize()).observe(this.element);
    this.setOptions(options);
    const loop = (now: number): void => {
      requestAnimationFrame(loop);
      this.tick(now);
    };
    requestAnimationFrame(loop);
  }

  // -- contents ---------------------------------------------------------------------------------------------------
  setCharacter(slot: number, character: CharacterView | null): void {
    const old = this.slots[slot];
    if (old) {
      this.scene.remove(old.character.group, old.overlays.group);
      old.overlays.dispose();
      old.character.dispose();
    }
    this.slots[slot] = null;
    if (character) {
      const overlays = new Overlays(character, this.palette);
      this.slots[slot] = { character, overlays };
      this.scene.add(character.group, overlays.group);
      this.applyHeat();
      if (slot === 0) {
        this.followed = null;
        this.framedCount = 0;
        this.selected = -1;
      }
    }
    this.setOptions(this.options);
  }

  character(slot = 0): CharacterView | null {
    return this.slots[slot]?.character ?? null;
  }

  overlays(slot = 0): Overlays | null {
    return this.slots[slot]?.overlays ?? null;
  }

  apply(frame: Frame): void {
    const slot = this.slots[frame.slot];
    if (!slot) return;
    slot.character.apply(frame);
    // The camera is set once for a character, and again when a crowd comes or goes.
    if (frame.slot === 0 && this.framedCount !== frame.count) {
      const first = this.framedCount === 0;
      this.framedCount = frame.count;
      this.frame(first);
    }
    this.invalidate();
  }

  setOptions(options: ViewOptions): void {
    this.options = options;
    this.palette = PALETTES[options.theme];
    this.stage.setPalette(this.palette);
    this.stage.show(options.grid, options.shadows);
    for (const slot of this.slots) {
      if (!slot) continue;
      slot.overlays.setPalette(this.palette);
      slot.character.showWireframe(options.wireframe, this.palette.wire);
      slot.character.showNormals(options.normals, this.palette.normals);
    }
    this.applyHeat();
    if (!options.follow) this.followed = null;
    this.invalidate();
  }

  select(joint: number): void {
    this.selected = joint;
    this.applyHeat();
    this.invalidate();
  }

  /** Shows how much of each joint a layer takes; null ends it. */
  showMask(weights: ArrayLike<number> | null): void {
    this.mask = weights;
    this.applyHeat();
    this.invalidate();
  }

  private applyHeat(): void {
    const slot = this.slots[0];
    if (!slot) return;
    slot.overlays.colorJoints(this.mask);
    let heat = this.mask;
    if (!heat && this.options.heat && this.selected >= 0) {
      const one = new Float32Array(slot.character.info.joints.length);
      one[this.selected] = 1;
      heat = one;
    }
    slot.character.showHeat(heat);
  }

  invalidate(): void {
    this.dirty = true;
  }

  // -- camera -----------------------------------------------------------------------------------------------------
  /** Moves the camera so that all is seen: the picked joint's surroundings, or the character or crowd. */
  frame(reset = false, joint = -1): void {
    const slot = this.slots[0];
    if (!slot) return;
    const box = new Box3();
    const all = slot.character.crowdBounds(new Box3());
    if (joint >= 0) {
      const half = 0.12 * slot.character.size;
      const at = new Vector3().setFromMatrixPosition(slot.character.joint(joint, new Matrix4()));
      box.setFromCenterAndSize(at, new Vector3(2 * half, 2 * half, 2 * half));
    } else box.copy(all);
    const other = this.slots[1];
    if (other && this.options.compare === "files") box.union(other.character.bounds(new Box3()));
    if (box.isEmpty()) return;
    const center = box.getCenter(new Vector3());
    const radius = Math.max(0.5 * box.getSize(new Vector3()).length(), 1e-3);
    const direction = reset
      ? new Vector3(0.55, 0.28, 1)
      : this.camera.position.clone().sub(this.controls.target);
    const vertical = Math.tan((this.camera.fov * Math.PI) / 360);
    const distance = (1.02 * radius) / Math.sin(Math.atan(vertical * Math.min(1, this.paneAspect())));
    this.camera.position.copy(center).add(direction.normalize().multiplyScalar(distance));
    this.controls.target.copy(center);
    this.camera.near = Math.min(distance, radius) / 100;
    this.camera.far = 60 * Math.max(radius, all.getSize(new Vector3()).length()) + distance;
    this.camera.updateProjectionMatrix();
    this.controls.maxDistance = this.camera.far / 3;
    this.surround(all);
    this.followed = null;
    this.controls.update();
    this.invalidate();
  }

  private surround(box: Box3): void {
    const center = box.getCenter(new Vector3());
    const radius = 0.5 * box.getSize(new Vector3()).length();
    const size = this.slots[0]?.character.size ?? 1;
    // Grid lines a round length apart, about a third of the character's height.
    const unit = 10 ** Math.round(Math.log10(size / 3));
    this.stage.surround(new Vector3(center.x, Math.max(0, center.y), center.z), radius, unit);
  }

  /** Keeps the light on the character, and the camera too when it follows. */
  private follow(slot: Slot): void {
    const box = slot.character.crowdBounds(new Box3());
    const center = box.getCenter(new Vector3());
    const stray = new Vector3(center.x, 0, center.z).distanceTo(new Vector3(this.stage.sun.target.position.x, 0, this.stage.sun.target.position.z));
    if (stray > 0.25 * slot.character.size) this.surround(box);
    if (!this.options.follow || slot.character.count > 1) return;
    const points = slot.overlays.positions;
    if (!points.length) return;
    const middle = new Vector3();
    for (const p of points) middle.add(p);
    middle.divideScalar(points.length).setY(0);
    this.followed ??= middle.clone();
    const move = middle.sub(this.followed);
    // A step is followed gently, so that the camera does not sway with the hips; a jump (a clip starts over) at once.
    if (move.length() < 0.35 * slot.character.size) move.multiplyScalar(0.2);
    this.followed.add(move);
    this.camera.position.add(move);
    this.controls.target.add(move);
  }

  // -- drawing ----------------------------------------------------------------------------------------------------
  private panes(): Pane[] {
    const { compare, method } = this.options;
    const half = this.width / 2;
    if (compare === "skinning")
      return [
        { slot: 0, method: "linear", x: 0, width: half },
        { slot: 0, method: "dual_quaternion", x: half, width: half },
      ];
    if (compare === "files" && this.slots[1])
      return [
        { slot: 0, method, x: 0, width: half },
        { slot: 1, method, x: half, width: half },
      ];
    return [{ slot: 0, method, x: 0, width: this.width }];
  }

  private paneAspect(): number {
    return this.panes()[0].width / this.height;
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.element;
    if (!clientWidth || !clientHeight) return;
    this.width = clientWidth;
    this.height = clientHeight;
    this.applySize();
    this.invalidate();
    this.draw();
  }

  private applySize(): void {
    const ratio = Math.min(window.devicePixelRatio || 1, 2) * this.pace.scale;
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(this.width, this.height);
    this.labels.resize(this.width, this.height, Math.min(window.devicePixelRatio || 1, 2));
  }

  private tick(now: number): void {
    this.controls.update();
    if (!this.dirty) {
      this.pace.rested();
      if (this.shadowLags && this.options.shadows) this.draw();
      return;
    }
    this.beforeDraw();
    this.draw();
    if (!this.pace.drew(now)) return;
    // A canvas of another size is empty: it is drawn on at once, or it would stay so while nothing moves.
    this.applySize();
    this.draw();
  }

  private draw(): void {
    this.dirty = false;
    const first = this.slots[0];
    for (const slot of this.slots) slot?.overlays.update(this.options, slot === first ? this.selected : -1);
    if (first && first.character.count) this.follow(first);
    const panes = this.panes();
    const renewed = !this.software || panes.length > 1 || this.shadowLags || !this.drawn;
    this.renderer.setScissorTest(panes.length > 1);
    for (const pane of panes) {
      this.renderer.shadowMap.needsUpdate = renewed;
      this.slots.forEach((slot, i) => {
        if (!slot) return;
        const shown = i === pane.slot;
        slot.character.group.visible = shown;
        slot.overlays.group.visible = shown && slot.character.count > 0;
        if (shown) slot.character.useMethod(pane.method);
      });
      this.camera.aspect = pane.width / this.height;
      this.camera.updateProjectionMatrix();
      this.renderer.setViewport(pane.x, 0, pane.width, this.height);
      this.renderer.setScissor(pane.x, 0, pane.width, this.height);
      this.renderer.render(this.scene, this.camera);
    }
    this.drawLabels(panes[0]);
    this.drawn++;
    // The processor draws a new shadow with every second picture only; `tick` draws the one a motion ends with.
    this.shadowLags = this.software && !renewed;
  }

  private drawLabels(pane: Pane): void {
    const slot = this.slots[pane.slot];
    const labels: Label[] = [];
    if (slot && slot.character.count) {
      const { joints, sockets } = slot.character.info;
      slot.overlays.positions.forEach((position, j) => {
        if (this.options.names || j === this.selected) labels.push({ text: joints[j].name, position, strong: j === this.selected });
      });
      if (this.options.sockets)
        for (const socket of sockets) {
          const m = slot.overlays.socketMatrix(socket, slot.character.joint(socket.joint, new Matrix4()));
          labels.push({ text: socket.name, position: new Vector3().setFromMatrixPosition(m), strong: true });
        }
    }
    this.labels.draw(labels, this.camera, { x: pane.x, y: 0, width: pane.width, height: this.height }, this.palette);
  }

  /** Draws now and hands the canvas over while its pixels are valid. */
  snapshot(): Promise<Blob> {
    this.draw();
    return new Promise((resolve, reject) =>
      this.renderer.domElement.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png"),
    );
  }

  /** Positions the GPU computes for one instance with the chosen method, `(V, 3)` flat. */
  skinnedPositions(slot = 0, instance = 0): Float32Array {
    const character = this.slots[slot]?.character;
    if (!character) return new Float32Array(0);
    character.useMethod(this.options.method);
    return readPositions(this.renderer, character, instance);
  }

  // -- picking ----------------------------------------------------------------------------------------------------
  /** Where a joint is on the page, in pixels of the viewport. */
  screenPosition(joint: number): { x: number; y: number } | null {
    const slot = this.slots[0];
    if (!slot || !slot.overlays.positions[joint]) return null;
    const pane = this.panes()[0];
    const p = slot.overlays.positions[joint].clone().project(this.camera);
    return { x: pane.x + (p.x * 0.5 + 0.5) * pane.width, y: (0.5 - p.y * 0.5) * this.height };
  }

  private listen(canvas: HTMLCanvasElement): void {
    let down: { x: number; y: number } | null = null;
    canvas.addEventListener("pointerdown", (event) => {
      down = event.button === 0 ? { x: event.clientX, y: event.clientY } : null;
    });
    canvas.addEventListener("pointerup", (event) => {
      if (down && Math.hypot(event.clientX - down.x, event.clientY - down.y) < 4) this.pick(event);
      down = null;
    });
  }

  private pick(event: PointerEvent): void {
    const slot = this.slots[0];
    if (!slot) return;
    const frame = this.element.getBoundingClientRect();
    const panes = this.panes().filter((pane) => pane.slot === 0);
    const x = event.clientX - frame.left;
    const y = event.clientY - frame.top;
    const pane = panes.find((p) => x >= p.x && x < p.x + p.width);
    if (!pane) return;
    let best = -1;
    let nearest = PICK_RADIUS;
    slot.overlays.positions.forEach((position, j) => {
      const p = position.clone().project(this.camera);
      if (p.z > 1) return;
      const away = Math.hypot(pane.x + (p.x * 0.5 + 0.5) * pane.width - x, (0.5 - p.y * 0.5) * this.height - y);
      if (away < nearest) {
        nearest = away;
        best = j;
      }
    });
    this.onPick(best);
  }
}
