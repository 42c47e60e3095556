/** `Viewport`: the picture. Draws when something changed, and only then. */
import { Box3, Matrix4, NeutralToneMapping, PCFShadowMap, Scene, Vector3, WebGLRenderer } from "three";
import type { ViewOptions } from "../options";
import type { DrawingMessage, Frame, Look } from "../protocol";
import { finite, Framing } from "./camera";
import { Flight } from "./flight";
import type { CharacterView } from "./character";
import { Crowd } from "./crowd";
import { Hands } from "./gizmo";
import { Handles } from "./handles";
import { Drawing } from "./drawing";
import { DrawnViews } from "./drawn_views";
import type { JointStore } from "./joint_store";
import { type Label, Labels } from "./labels";
import { Legends } from "./legends";
import { LineScale } from "./lines";
import { lookThrough } from "./look";
import { Overlays } from "./overlays";
import { openContext, Pace } from "./pace";
import { type Palette, PALETTES } from "./palette";
import { type MethodPane, panesOf } from "./panes";
import { type MarkedVertices, Marks } from "./marks";
import { onClick, type Pane, type PickedVertex, pickJoint, pickVertex, toScreen } from "./picking";
import { inScene, sceneBounds, type Slot } from "./slots";
import { Stage } from "./stage";
import { StandIn } from "./standin";

/** After so long without motion (ms) the picture is drawn once more, as well as can be. */
const REST_MS = 200;
/** So long after a character has come (ms) its triangles are put in order. */
const ORDER_MS = 1000;
/** Around the letters of a drawing, whose colours are light. */
const DARK = "rgba(16,18,22,.85)";

export class Viewport {
  readonly element = document.createElement("div");
  readonly renderer: WebGLRenderer;
  readonly pace: Pace;
  /** Pictures drawn so far: tests and the recorder watch it. */
  drawn = 0;
  onPick: (joint: number) => void = () => {};
  /** Called when levels of detail should be chosen anew: the camera has moved, or they may be off by more or less. */
  onLook: (look: Look) => void = () => {};
  /** Called when what is shown comes into sight, or leaves it. */
  onSight: (seen: boolean) => void = () => {};
  /** While a video is made: the size of its pictures, and its own time, in milliseconds. */
  private film: { width: number; height: number; rate: number; now: number } | null = null;
  /** Called before a picture is drawn: the time to apply what has arrived. */
  beforeDraw: () => void = () => {};
  onPickVertex: (found: PickedVertex | null) => void = () => {};
  /** Whether a click picks a vertex of the surface, not a joint. */
  picksVertices = false;
  /** Poses of the page's own. */
  readonly hands: Hands;
  /** Joints that are dragged, and the body with them. */
  readonly handles: Handles;
  private readonly scene = new Scene();
  private readonly stage: Stage;
  readonly framing: Framing;
  /** Keys and sticks that move the camera. */
  readonly flight: Flight;
  private readonly labels = new Labels();
  private readonly note = document.createElement("p");
  private readonly standIn = new StandIn();
  private readonly legends = new Legends();
  private readonly lineScale = new LineScale();
  /** What views draw, by slot, as far as it has come. */
  private readonly received = new Map<number, Drawing>();
  private readonly marks = new Marks();
  /** Whether the programs are being compiled, or are; nothing is drawn before. */
  private prepared = false;
  private readonly slots: (Slot | null)[] = [null, null];
  private palette: Palette;
  private selected = -1;
  /** The instance of the first character that was clicked. */
  private instance = 0;
  private dirty = true;
  private movedAt = 0;
  /** Whether the picture that is seen was drawn for motion, with less than there could be. */
  private rough = false;
  /** Whether a character has been drawn yet. */
  private seen = false;
  private framedCount = 0;
  private followedTime = NaN;
  private outOfSight = false;
  /** The look that was told last. */
  private told = "";
  private width = 1;
  private height = 1;
  private ratio = 0;

  constructor(private options: ViewOptions) {
    this.palette = PALETTES[options.theme];
    const context = openContext();
    const canvas = context.canvas as HTMLCanvasElement;
    this.renderer = new WebGLRenderer({ canvas, context });
    // Asking for errors waits for the compiler.
    this.renderer.debug.checkShaderErrors = false;
    this.pace = new Pace(context);
    this.renderer.toneMapping = NeutralToneMapping;
    this.renderer.autoClear = false;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.renderer.shadowMap.autoUpdate = false;
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "The character. Drag to turn, right-drag to look around, W A S D Q E to fly, wheel to zoom, click to pick a joint.");
    this.note.className = "viewport-note";
    this.element.className = "viewport";
    this.element.append(canvas, this.labels.canvas, this.legends.element, this.note);
    this.stage = new Stage(this.scene, this.pace.software);
    this.scene.add(this.standIn.part.mesh);
    this.framing = new Framing(canvas, () => this.invalidate());
    this.flight = new Flight(this.framing);
    for (const input of ["pointerdown", "pointerup", "keydown"] as const) window.addEventListener(input, () => this.pace.giveWay(), { capture: true });
    onClick(canvas, this.element, (x, y) => this.click(x, y));
    this.hands = new Hands(this.scene, this.camera, canvas, (on) => (this.controls.enabled = !on), () => this.invalidate());
    this.handles = new Handles(this.scene, this.camera, canvas, this.element, () => ({ ...this.panes()[0], height: this.height }), (on) => (this.controls.enabled = !on), () => this.invalidate());
    this.handles.onPick = (joint) => this.onPick(joint);
    this.setOptions(options);
    new ResizeObserver(() => this.resize()).observe(this.element);
    const loop = (now: number): void => {
      requestAnimationFrame(loop);
      this.tick(now);
    };
    requestAnimationFrame(loop);
  }

  // -- contents ---------------------------------------------------------------------------------------------------
  /** Shows another character in a slot; one that is `kept` is the same with something changed, and so is the camera. */
  setCharacter(slot: number, character: CharacterView | null, kept = false): void {
    const old = this.slots[slot];
    if (kept && character) old?.character.handOver(character);
    if (old) {
      this.scene.remove(old.character.group, old.overlays.group, old.views.group, old.crowd.group);
      old.views.dispose();
      old.overlays.dispose();
      old.crowd.dispose();
      old.character.dispose();
    }
    this.slots[slot] = null;
    if (slot === 0) {
      this.hands.setCharacter(character);
      this.handles.setCharacter(character);
    }
    if (character) {
      const overlays = new Overlays(character, this.palette);
      const crowd = new Crowd(character, this.pace);
      const views = new DrawnViews(character, this.lineScale);
      this.slots[slot] = { character, overlays, views, crowd };
      this.scene.add(character.group, overlays.group, views.group, crowd.group);
      if (slot === 0 && kept) this.framing.reshape();
      else if (slot === 0) {
        this.framing.stopFollowing();
        this.told = "";
        this.framedCount = 0;
        this.selected = -1;
        this.instance = 0;
      }
      this.pace.reset();
      performance.mark("marrow: character");
    }
    this.setOptions(this.options);
    // The first picture does not wait for what only makes the next ones quicker.
    window.setTimeout(() => character && character === this.character(slot) && this.renderer.compile(this.overlays(slot)!.group, this.camera, this.scene), ORDER_MS);
    for (const part of character?.parts ?? []) window.setTimeout(() => character === this.character(slot) && part.orderTriangles(), ORDER_MS);
  }

  character(slot = 0): CharacterView | null {
    return this.slots[slot]?.character ?? null;
  }

  overlays(slot = 0): Overlays | null {
    return this.slots[slot]?.overlays ?? null;
  }

  get camera(): Framing["camera"] {
    return this.framing.camera;
  }

  get controls(): Framing["controls"] {
    return this.framing.controls;
  }

  /** Shows a frame; of a compact one, what has come of all instances so far. */
  apply(frame: Frame, store: JointStore | null = null): void {
    const slot = this.slots[frame.slot];
    if (!slot) return;
    const arrives = slot.character.count === 0;
    slot.character.apply(frame, store);
    if (frame.slot > 1 && arrives && this.framedCount) this.frame(true);
    if (frame.slot === 0) {
      if (this.instance >= frame.count) this.instance = 0;
      // The camera is set once for a character, and again when a crowd comes or goes.
      if (this.framedCount !== frame.count) {
        const anew = this.framedCount === 0 || this.framedCount > 1 !== frame.count > 1;
        this.framedCount = frame.count;
        this.frame(anew);
      }
    }
    this.invalidate();
    // The first picture of all does not wait for its turn.
    if (!this.seen && this.prepared && !this.pace.busy(performance.now())) this.draw(true);
  }

  setOptions(options: ViewOptions): void {
    this.options = options;
    this.palette = PALETTES[options.theme];
    this.stage.setPalette(this.palette);
    this.stage.show(options.grid, options.shadows);
    for (const slot of this.slots) slot?.overlays.setPalette(this.palette);
    if (!options.follow) this.framing.stopFollowing();
    this.invalidate();
  }

  select(joint: number): void {
    this.selected = joint;
    this.hands.select(joint);
    // A crowd's next picture may take its time: the name of what was picked does not wait for it.
    this.slots[0]?.overlays.update(joint, this.instance);
    this.drawLabels(this.panes()[0]);
    this.invalidate();
  }

  /** Shows or hides a mesh. */
  showMesh(slot: number, mesh: number, on: boolean): void {
    this.character(slot)?.showMesh(mesh, on);
    this.invalidate();
  }

  /** Points at vertices; null ends it. */
  mark(marked: MarkedVertices | null): void {
    this.marks.set(marked, this.overlays());
    this.invalidate();
  }

  invalidate(): void {
    this.dirty = true;
  }

  // -- camera -----------------------------------------------------------------------------------------------------
  /** Moves the camera so that all is seen: the picked joint's surroundings, or the character or crowd. */
  frame(reset = false, joint = -1): void {
    const slot = this.slots[0];
    if (!slot) return;
    const all = sceneBounds(this.slots);
    const box = all.clone();
    if (joint >= 0) {
      const half = 0.12 * slot.character.size;
      const at = new Vector3().setFromMatrixPosition(slot.character.joint(joint, new Matrix4(), this.instance));
      box.setFromCenterAndSize(at, new Vector3(2 * half, 2 * half, 2 * half));
    }
    const other = this.slots[1];
    if (other && this.options.compare === "files") box.union(other.character.bounds(new Box3()));
    if (!finite(box)) return;
    const scene = inScene(this.slots);
    const facing = scene ? 0 : slot.character.info.facing;
    this.framing.fit(box, all, this.panes()[0].width / this.height, reset, slot.character.count > 1 || scene, facing);
    this.surround(all);
    this.invalidate();
  }

  private surround(box: Box3): void {
    const extent = box.getSize(new Vector3()).length();
    // Grid lines a round length apart, about a third of the character's height, or more around a crowd.
    const wanted = Math.max(Math.min(this.slots[0]?.character.size ?? 1, extent) / 3, extent / 20, 1e-6);
    this.stage.surround(box, 10 ** Math.round(Math.log10(wanted)), inScene(this.slots) ? 0 : this.slots[0]?.character.info.facing);
  }

  /** Keeps the light on what is shown, and the camera too: it follows, steps back, and looks again where nothing is left to see. */
  private follow({ character }: Slot): void {
    const { framing, options } = this;
    // While a body is dragged about, and time stands, the camera stays where it is.
    const still = this.handles.dragging || (this.handles.on && character.time === this.followedTime);
    this.followedTime = character.time;
    const box = sceneBounds(this.slots);
    const many = character.count > 1 || inScene(this.slots);
    if (!finite(box)) return;
    if (!this.stage.fits(box, many ? 2 * character.size : box.getSize(new Vector3()).length())) this.surround(box);
    const now = this.film?.now ?? performance.now();
    const followed = options.follow && (character.count === 1 || this.selected >= 0);
    let moved = followed && !still && framing.follow(many ? character.bounds(new Box3(), this.instance) : box, now);
    if (!many && !still) moved = framing.hold(box, this.panes()[0].width / this.height, now) || moved;
    framing.reach(box);
    const seen = framing.sees(box);
    if (!seen && !framing.taken) this.frame();
    if (this.outOfSight === seen) this.onSight(!(this.outOfSight = !seen));
    if (moved) this.invalidate();
  }

  // -- drawing ----------------------------------------------------------------------------------------------------
  private panes(): MethodPane[] {
    return panesOf(this.options, this.width, this.height, this.slots[1] !== null);
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.element;
    if (!clientWidth || !clientHeight || this.film) return;
    this.width = clientWidth;
    this.height = clientHeight;
    this.ratio = 0;
    this.dirty = true;
    if (this.prepared) {
      this.draw(true);
      return;
    }
    this.prepared = true;
    this.applySize(true);
    this.standIn.prepare(this.renderer, this.scene, this.camera);
    this.pace.began("programs");
  }

  /** Whether the picture that is seen is the last one: nothing moves, and it was drawn as well as can be. */
  get resting(): boolean {
    return this.drawn > 0 && !this.dirty && !this.rough && this.pace.idle && performance.now() - this.movedAt > REST_MS;
  }

  /** Gives the canvas the resolution of a moving or a resting picture. */
  private applySize(moving: boolean): void {
    const screen = Math.min(window.devicePixelRatio || 1, 2);
    const best = Math.max(screen, this.pace.restRatio);
    const ratio = this.film ? Math.max(1, Math.min(best, 4096 / Math.max(this.width, this.height))) : moving ? screen * this.pace.scale : best;
    if (ratio === this.ratio) return;
    this.ratio = ratio;
    this.renderer.setDrawingBufferSize(this.width, this.height, ratio);
    this.labels.resize(this.width, this.height, screen);
  }

  private tick(now: number): void {
    if (!this.film && this.flight.tick(now)) this.invalidate();
    this.controls.update();
    if (!this.prepared || this.film || this.pace.busy(now)) return;
    if (this.dirty) {
      this.beforeDraw();
      if (this.dirty) this.draw(true);
      this.movedAt = now;
    } else if (this.rough && this.pace.idle && now - this.movedAt > REST_MS) this.draw(false);
  }

  private draw(moving: boolean): void {
    this.dirty = false;
    this.applySize(moving);
    const first = this.slots[0];
    if (first?.character.count && moving) this.follow(first);
    if (first?.character.count) {
      this.marks.place(first.character, first.overlays, this.renderer, this.options.method, this.instance);
    }
    const panes = this.panes();
    this.handles.update(this.selected, this.instance, this.height);
    this.tellLook();
    this.rough = moving && (this.pace.software || this.ratio < this.pace.restRatio);
    if (!this.drawn) {
      this.standIn.ask(this.renderer);
      this.standIn.part.skinned.run(this.renderer, 1);
    }
    for (const pane of panes) this.drawPane(pane, moving, panes.length === 1);
    this.scene.remove(this.standIn.part.mesh);
    this.drawLabels(panes[0]);
    this.note.textContent = first?.crowd.words ?? "";
    if (!this.drawn++) performance.mark("marrow: stage");
    if (first?.character.count && !this.seen) {
      this.seen = true;
      performance.mark("marrow: first picture");
    }
    this.pace.began(moving ? "motion" : "still");
  }

  /** Says how the crowd is looked at, where that matters and has changed. */
  private tellLook(): void {
    const slot = this.slots[0];
    if (!slot || slot.character.count <= 1 || slot.character.levelCount <= 1) {
      this.told = "";
      return;
    }
    const { camera } = this;
    camera.aspect = this.panes()[0].width / this.height;
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld();
    // Of the page, and not of this drawing: a picture at rest has more pixels, and would ask for other levels.
    const height = this.height * Math.min(window.devicePixelRatio || 1, 2);
    const look = lookThrough(camera, height, slot.crowd.pixels, this.selected >= 0 ? this.instance : -1);
    const text = JSON.stringify(look);
    if (text === this.told) return;
    this.told = text;
    this.onLook(look);
  }

  /** What is drawn of the crowd now: triangles, instances at each level, and how many pixels levels may be off. */
  get drawnLevels(): { triangles: number; instances: number[]; pixels: number } | null {
    const slot = this.slots[0];
    return slot ? { ...slot.character.drawn(), pixels: slot.crowd.pixels } : null;
  }

  private drawPane(pane: MethodPane, moving: boolean, alone: boolean): void {
    const { camera, renderer } = this;
    camera.aspect = pane.width / this.height;
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld();
    this.slots.forEach((slot, i) => {
      if (!slot) return;
      const shown = (i === pane.slot || i > 1) && slot.character.count > 0;
      slot.character.group.visible = slot.crowd.group.visible = shown;
      const instance = i === 0 ? this.instance : 0;
      if (i < 2) slot.overlays.update(i === 0 ? this.selected : -1, instance);
      slot.overlays.group.visible = shown && i < 2;
      slot.views.group.visible = shown;
      if (!shown) return;
      this.rough = slot.crowd.arrange(camera, this.selected >= 0 ? instance : -1, moving) || this.rough;
      const drawing = this.received.get(i);
      if (drawing) slot.views.take(drawing);
      slot.character.skin(renderer, pane.method);
      slot.views.update(renderer, pane.method);
    });
    const pixels = (x: number): number => Math.round(x * renderer.getPixelRatio());
    const { width: whole, height } = renderer.domElement;
    const x = Math.min(pixels(pane.x), whole);
    this.lineScale.set(pixels(pane.width), height);
    this.stage.prepare(renderer, moving && alone, this.drawn);
    this.stage.drawSky(renderer, x, Math.min(pixels(pane.width), whole - x), height);
    renderer.setViewport(pane.x, 0, pane.width, this.height);
    renderer.render(this.scene, camera);
  }

  private drawLabels(pane: Pane): void {
    const slot = this.slots[pane.slot];
    const drawings = this.drawings(pane);
    const labels: Label[] = drawings.flatMap((drawing) => {
      const at = drawing.floats("label_at");
      return drawing.text.labels.map(({ text, color }, i) => ({
        text, position: new Vector3().fromArray(at, 5 * i), color: `rgb(${color.map((v) => Math.round(255 * v)).join(" ")})`, halo: DARK, rank: at[5 * i + 3], length: at[5 * i + 4],
      }));
    });
    const picked = slot?.character.count && pane.slot === 0 ? slot.character.info.joints[this.selected] : undefined;
    if (picked) labels.push({ text: picked.name, position: slot!.overlays.positions[this.selected], color: this.palette.accent, halo: this.palette.labelHalo, rank: Infinity, length: 0 });
    this.labels.draw(labels, this.camera, { x: pane.x, y: 0, width: pane.width, height: this.height });
    this.legends.show(drawings.flatMap(({ text }) => text.legends), drawings.flatMap(({ text }) => text.notes));
  }

  /** The drawings of what a pane shows, of the first actor first. */
  private drawings(pane: Pane): Drawing[] {
    return this.slots.flatMap((slot, i) => {
      const drawing = slot && (i === pane.slot || i > 1) ? this.received.get(i) : undefined;
      return drawing ? [drawing] : [];
    });
  }

  /** Something new of what views draw over an actor; it is shown with the next frame. */
  takeDrawing(message: DrawingMessage): void {
    const known = this.received.get(message.slot) ?? new Drawing();
    known.take(message);
    this.received.set(message.slot, known);
  }

  /** Another connection brings all drawings anew. */
  forgetDrawings(): void {
    this.received.clear();
  }

  /** Draws now and hands the canvas over while its pixels are valid. */
  snapshot(): Promise<Blob> {
    this.draw(false);
    return new Promise((resolve, reject) =>
      this.renderer.domElement.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png"),
    );
  }

  /** Begins a video, whose pictures have a size of their own, or ends it. */
  record(film: { width: number; height: number; rate: number } | null): void {
    this.film = film && { ...film, now: performance.now() };
    if (film) [this.width, this.height, this.ratio] = [film.width, film.height, 0];
    else this.resize();
  }

  /** Draws the next picture of a video, as well as can be. */
  drawInto(context: OffscreenCanvasRenderingContext2D): void {
    const slot = this.slots[0];
    if (!this.film) return;
    this.film.now += 1000 / this.film.rate;
    if (slot?.character.count) this.follow(slot);
    this.draw(false);
    context.drawImage(this.renderer.domElement, 0, 0, this.film.width, this.film.height);
  }

  /** Positions the graphics card computes for one instance with the chosen method, `(V, 3)` flat. */
  skinnedPositions(slot = 0, instance = 0): Float32Array {
    return this.slots[slot]?.character.skinnedPositions(this.renderer, this.options.method, instance) ?? new Float32Array(0);
  }

  // -- picking ----------------------------------------------------------------------------------------------------
  /** Where a joint of an instance is on the page, in pixels of the viewport. */
  screenPosition(joint: number, instance = this.instance): { x: number; y: number } | null {
    const character = this.character();
    if (!character || !character.info.joints[joint]) return null;
    const point = new Vector3().setFromMatrixPosition(character.joint(joint, new Matrix4(), instance));
    const { x, y } = toScreen(point, this.camera, this.panes()[0]);
    return { x, y };
  }

  /** The instance that was clicked: overlays are drawn for it. */
  get pickedInstance(): number {
    return this.instance;
  }

  /** A click at a point of the viewport picks a joint of anyone, or a vertex. */
  private click(x: number, y: number): void {
    const character = this.character();
    const pane = this.panes().find((p) => p.slot === 0 && x >= p.x && x < p.x + p.width);
    if (!character || !pane || this.hands.held || this.handles.touched) return;
    if (this.picksVertices) {
      const positions = character.skinnedPositions(this.renderer, pane.method, this.instance);
      this.onPickVertex(pickVertex(character, positions, this.camera, pane, x, y));
      this.invalidate();
      return;
    }
    const found = pickJoint(character, this.camera, pane, x, y);
    // Of a crowd, the one that was clicked is followed from where it stands in the picture.
    if (found && character.count > 1) this.framing.stopFollowing(character.bounds(new Box3(), found.instance).getCenter(new Vector3()));
    if (found) this.instance = found.instance;
    this.onPick(found?.joint ?? -1);
  }
}
