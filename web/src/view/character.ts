/** `CharacterView`: a character's meshes as skinned instances, fed by frames. */
import { Box3, Color, Group, Matrix4, type MeshBasicMaterial, Vector3, type WebGLRenderer } from "three";
import type { CharacterInfo, Frame, LevelGroup } from "../protocol";
import { Body, type Crew } from "./body";
import type { JointStore } from "./joint_store";
import { TextureLibrary } from "./materials";
import type { LevelPaint } from "./paint";
import { Arrays, type Part, type Shared } from "./part";
import { Poser } from "./poser";
import type { Method } from "./skinning";

/** What a user may ask for: as each mesh's author did, or one method for all. */
export type MethodChoice = "file" | Exclude<Method, "blended">;

const IDENTITY_ROWS = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0]);

export class CharacterView implements Crew {
  readonly group = new Group();
  readonly library: TextureLibrary;
  /** The newest frame's placements, one identity until some come. */
  placements: Float32Array = IDENTITY_ROWS;
  count = 0;
  time = 0;
  /** Of all instances and palette entries; see `complete` for those that an instance was not sent. */
  matrices: Float32Array = new Float32Array(0);
  /** The level of detail that each instance was sent at; empty where all are in full. */
  levels: Uint8Array = new Uint8Array(0);
  readonly size: number;
  readonly width: number;
  readonly morphWeights: number;
  /** Where each palette entry turns, at bind, `(P, 3)` flat. */
  readonly pivots: Float32Array;
  morphs: Float32Array = new Float32Array(0);
  /** The bodies of all levels, the finest first; coarser ones are made when they are first drawn. */
  private readonly bodies: (Body | null)[];
  private readonly standIns: Uint32Array[];
  private readonly shared: Shared;
  private readonly binds: Matrix4[];
  private readonly paletteJoints: Uint32Array;
  /** Around what each palette entry moves, of the meshes that are shown. */
  private reach: (Box3 | null)[] = [];
  /** The palette entries that move some vertex. */
  readonly used: number[];
  /** A pose of the page's own, where one is wanted. */
  readonly poser: Poser;
  /** Weights of morph targets, by their number, that are set by hand. */
  readonly morphsByHand = new Map<number, number>();
  /** The newest frame, as it came. */
  private frame: Frame | null = null;
  /** The meshes that are not shown. */
  private readonly hidden = new Set<string>();
  /** From this level on, bodies are drawn plainly. */
  plainFrom = Infinity;
  /** Which instances have matrices for all entries. */
  private whole: Uint8Array = new Uint8Array(0);
  private paints = new Map<number, LevelPaint>();
  /** Compact joints, where the newest frame has them, and which of them are decoded into `matrices`. */
  private source: JointStore | null = null;
  private stamps: Uint32Array = new Uint32Array(0);

  constructor(
    readonly info: CharacterInfo,
    blob: ArrayBuffer,
    image: (number: number) => Promise<Blob>,
    changed: () => void,
  ) {
    this.library = new TextureLibrary(image, changed);
    const arrays = new Arrays(blob);
    const inverse = arrays.floats(info.buffers["inverse_bind"]);
    this.pivots = arrays.floats(info.buffers["bind_positions"]);
    this.paletteJoints = Uint32Array.from(arrays.get(info.buffers["palette_joints"]));
    this.binds = info.joints.map((_, j) => rows(inverse, 12 * j, new Matrix4()).invert());
    const [low, high] = info.bounds;
    this.size = Math.max(new Vector3(...low).distanceTo(new Vector3(...high)), 1e-3);
    this.width = info.palette;
    this.morphWeights = info.morph_weights;
    this.shared = { arrays, materials: info.materials, library: this.library, entries: info.palette, size: this.size };
    const first = new Body(info.meshes, this.shared);
    this.bodies = [first, ...info.levels.map(() => null)];
    this.standIns = info.levels.map((level) => arrays.get(level.buffers["stand_in"]) as Uint32Array);
    this.group.add(first.group);
    const reach = new Array<Box3 | null>(info.palette).fill(null);
    for (const part of first.parts) part.measure(reach);
    this.poser = new Poser(info, inverse, this.paletteJoints);
    this.used = [...reach.keys()].filter((entry) => reach[entry] !== null);
    for (const mesh of info.meshes) if (!mesh.visible) this.hidden.add(mesh.name);
    this.measure();
  }

  /** Looks again how far what is shown reaches. */
  private measure(): void {
    this.reach = new Array<Box3 | null>(this.info.palette).fill(null);
    for (const part of this.parts) if (part.mesh.visible) part.measure(this.reach);
  }

  /** Whether a mesh is shown. */
  shows(mesh: number): boolean {
    return this.parts[mesh]?.mesh.visible ?? false;
  }

  /** Whether there is no mesh to be seen: then its bones are. */
  get bare(): boolean {
    return !this.parts.some(({ info, mesh }) => mesh.visible && info.triangles > 0);
  }

  /** Shows or hides a mesh, at all levels of detail. */
  showMesh(mesh: number, on: boolean): void {
    const part = this.parts[mesh];
    if (!part || part.mesh.visible === on) return;
    part.mesh.visible = on;
    const { name } = part.info;
    if (on) this.hidden.delete(name);
    else this.hidden.add(name);
    for (const body of this.bodies.slice(1)) for (const other of body?.parts ?? []) if (other.info.name === name) other.mesh.visible = on;
    for (const body of this.bodies) body?.outdate();
    this.measure();
  }

  /** Lets the same character, read again, hide what was hidden here. */
  handOver(next: CharacterView): void {
    this.info.meshes.forEach(({ name }, mesh) => {
      const there = next.info.meshes.findIndex((other) => other.name === name);
      if (there >= 0) next.showMesh(there, this.shows(mesh));
    });
  }

  /** Shows or hides all that has a material. */
  showMaterial(material: number, on: boolean): void {
    for (const body of this.bodies)
      for (const part of body?.parts ?? [])
        part.info.sections.forEach((section, i) => {
          if (section.material === material) part.mesh.material[i].visible = on;
        });
  }

  /** The meshes of the character itself. */
  get parts(): Part[] {
    return this.bodies[0]!.parts;
  }

  /** The instances drawn in full, in the order they are skinned in. */
  get chosen(): number[] {
    return this.bodies[0]!.chosen;
  }

  get most(): number {
    return this.bodies[0]!.most;
  }

  /** The body of a level, made when it is first asked for. */
  body(level: number): Body {
    const known = this.bodies[level];
    if (known) return known;
    const { meshes, entries } = this.info.levels[level - 1];
    const plain = level >= this.plainFrom ? (material: number): Color => this.plainColor(material) : undefined;
    const body = new Body(meshes, { ...this.shared, entries, plain });
    for (const part of body.parts) {
      part.orderTriangles();
      if (this.hidden.has(part.info.name)) part.mesh.visible = false;
    }
    this.bodies[level] = body;
    this.group.add(body.group);
    this.paintBody(body, level);
    return body;
  }

  /** The colour of a material: with a texture, its mean. */
  private plainColor(material: number): Color {
    for (const { info, mesh } of this.parts) {
      const section = info.sections.findIndex((one) => one.material === material);
      if (section < 0) continue;
      const { color, map } = mesh.material[section] as MeshBasicMaterial;
      const average = map?.userData["average"] as Color | undefined;
      return average ? color.clone().multiply(average) : color;
    }
    return new Color(0.7, 0.7, 0.7);
  }

  /** The joint of a palette entry. */
  jointOf(entry: number): number {
    return this.paletteJoints[entry];
  }

  get levelCount(): number {
    return this.bodies.length;
  }

  /** Triangles that are drawn now, and instances at each level. */
  drawn(): { triangles: number; instances: number[] } {
    const instances = this.bodies.map((body) => body?.chosen.length ?? 0);
    const triangles = this.bodies.reduce((sum, body) => sum + (body ? body.triangles * body.chosen.length : 0), 0);
    return { triangles, instances };
  }

  /** The palette entry that moves most vertices: where it is, the instance is. */
  get busiest(): number {
    if (this.busiestEntry < 0) {
      const moved = new Float64Array(Math.max(1, this.info.palette));
      for (const { joints, weights } of this.parts) weights.forEach((weight, i) => (moved[joints[i]] += weight));
      this.busiestEntry = moved.indexOf(Math.max(...moved));
    }
    return this.busiestEntry;
  }
  private busiestEntry = -1;

  // -- frames -----------------------------------------------------------------------------------------------------
  apply(frame: Frame, store: JointStore | null = null): void {
    if (frame.palette !== this.info.palette || frame.morphWeights !== this.info.morph_weights) return;
    this.frame = frame;
    this.count = frame.count;
    this.time = frame.time;
    this.source = frame.compact ? store : null;
    if (this.source) this.takeStore(this.source);
    else {
      if (frame.groups) this.spread(frame.groups);
      else {
        this.matrices = frame.matrices;
        this.levels = new Uint8Array(0);
      }
      this.morphs = frame.morphs;
    }
    this.byHand();
    this.placements = frame.placements ?? (this.placements.length === 12 * frame.count ? this.placements : standing(frame.count));
    for (const body of this.bodies) {
      if (!body) continue;
      body.outdate();
      body.choose(body.chosen.filter((instance) => instance < frame.count));
    }
    if (this.bodies.every((body) => !body?.chosen.length)) this.choose([0]);
  }

  /** Joints that came compact are decoded when they are asked for: here those that something on the processor looks at. */
  private takeStore(store: JointStore): void {
    const { palette } = this.info;
    if (this.matrices.length !== 12 * palette * this.count || this.stamps.length !== this.count) {
      this.matrices = new Float32Array(12 * palette * this.count);
      this.stamps = new Uint32Array(this.count);
      this.whole = new Uint8Array(this.count);
    }
    this.levels = this.levelCount > 1 ? store.levels : new Uint8Array(0);
    this.morphs = store.morphs;
  }

  /** What is drawn straight from what came: not where hands have changed it. */
  get store(): JointStore | null {
    return this.poser.kind === "played" ? this.source : null;
  }

  ensure(instance: number): void {
    const { source } = this;
    if (!source || this.stamps[instance] === source.stamps[instance] || this.poser.kind !== "played") return;
    this.stamps[instance] = source.stamps[instance];
    this.whole[instance] = 0;
    source.decode(instance, this.pivots, this.matrices, 12 * this.info.palette * instance);
  }

  /** Where an instance is: the pivot of the entry that moves most of it. */
  middle(instance: number, out: Vector3): Vector3 {
    const { busiest, source } = this;
    if (source && this.poser.kind === "played") source.place(instance, busiest, out);
    else out.fromArray(this.pivots, 3 * busiest).applyMatrix4(rows(this.matrices, 12 * (instance * this.info.palette + busiest), scratch));
    return out.applyMatrix4(this.placement(instance, scratch));
  }

  /** Puts what was set by hand in the place of what came. */
  private byHand(): void {
    const { poser, info } = this;
    if (poser.kind !== "played") {
      if (this.source) for (let n = 0; n < this.count; n++) this.source.decode(n, this.pivots, this.matrices, 12 * info.palette * n);
      else this.matrices = this.matrices.slice();
      this.stamps.fill(0);
      const all = poser.kind === "bind" ? this.count : 1;
      for (let n = 0; n < all; n++) poser.write(this.matrices, 12 * n * info.palette, this.busiest);
      if (poser.kind === "bind") this.morphs = new Float32Array(this.morphs.length);
    }
    if (!this.morphsByHand.size) return;
    this.morphs = this.morphs.slice();
    for (const [target, weight] of this.morphsByHand) for (let n = 0; n < this.count; n++) this.morphs[n * info.morph_weights + target] = weight;
  }

  /** Shows the newest frame again, with what is set by hand now. */
  refresh(): void {
    if (this.frame) this.apply(this.frame, this.source);
  }

  /** Lets joints be put by hand, from the pose that is shown. */
  takePose(): void {
    this.complete(0);
    if (this.poser.kind !== "hand") this.poser.take(this.matrices.subarray(0, 12 * this.info.palette));
    this.refresh();
  }

  /** Puts the matrices of instances at their levels where those of all entries are looked for. */
  private spread(groups: LevelGroup[]): void {
    const P = this.info.palette;
    if (this.matrices.length !== 12 * P * this.count || !this.levels.length) this.matrices = new Float32Array(12 * P * this.count);
    if (this.levels.length !== this.count) this.levels = new Uint8Array(this.count);
    this.whole = new Uint8Array(this.count);
    for (const { level, instances, entries, matrices } of groups)
      instances.forEach((instance, i) => {
        if (instance >= this.count) return;
        this.levels[instance] = level;
        this.matrices.set(matrices.subarray(12 * entries * i, 12 * entries * (i + 1)), 12 * P * instance);
      });
  }

  /** Lets the entries that an instance was not sent follow the joint above: few instances are ever asked for those. */
  private complete(instance: number): void {
    this.ensure(instance);
    const level = this.levels[instance] ?? 0;
    if (level === 0 || this.whole[instance]) return;
    this.whole[instance] = 1;
    const standIn = this.standIns[level - 1];
    const at = 12 * this.info.palette * instance;
    for (let p = this.info.levels[level - 1].entries; p < standIn.length; p++) {
      const from = at + 12 * standIn[p];
      this.matrices.copyWithin(at + 12 * p, from, from + 12);
    }
  }

  /** Says which instances are drawn in full; no others are. */
  choose(instances: number[]): void {
    this.chooseLevels([instances]);
  }

  /** Says which instances are drawn at each level. */
  chooseLevels(instances: number[][]): void {
    this.bodies.forEach((body, level) => {
      const some = this.count ? (instances[level] ?? []) : [];
      if (body || some.length) this.body(level).choose(some);
    });
  }

  /** Skins the chosen instances with a method, unless that has been done for this frame. */
  skin(renderer: WebGLRenderer, method: MethodChoice, all = false): void {
    for (const body of this.bodies) body?.skin(renderer, method, this, this.used, all);
  }

  /** Positions of one instance as the graphics card skins them, all meshes in file order, `(V, 3)` flat. */
  skinnedPositions(renderer: WebGLRenderer, method: MethodChoice, instance: number): Float32Array {
    const level = this.levels[instance] ?? 0;
    const body = this.body(level);
    const before = this.bodies.map((one) => one?.chosen ?? []);
    this.chooseLevels(before.map((_, k) => (k === level ? [instance] : [])));
    body.outdate();
    this.skin(renderer, method, true);
    const all = body.parts.map((part) => part.skinned.read(renderer, 0));
    this.chooseLevels(before);
    body.outdate();
    const out = new Float32Array(all.reduce((sum, one) => sum + one.length, 0));
    all.reduce((at, one) => (out.set(one, at), at + one.length), 0);
    return out;
  }

  // -- ways to show it --------------------------------------------------------------------------------------------
  /** Colours the surface of levels; those that are not named have their materials. */
  showPaints(paints: LevelPaint[]): void {
    this.paints = new Map(paints.map((paint) => [paint.info.level, paint]));
    this.bodies.forEach((body, level) => body && this.paintBody(body, level));
  }

  private paintBody(body: Body, level: number): void {
    let first = 0;
    for (const part of body.parts) {
      part.paint.show(this.paints.get(level) ?? null, first);
      first += part.info.vertices;
    }
  }

  /** Gives instances with colours of their own those, wherever they are among those that are drawn. */
  arrangePaints(): void {
    this.bodies.forEach((body, level) => {
      if (body && this.paints.get(level)?.info.instances.length) for (const part of body.parts) part.paint.arrange(body.chosen);
    });
  }

  /** The meshes again, to draw other instances with. */
  another(): Body {
    return new Body(this.info.meshes, this.shared);
  }

  // -- where things are -------------------------------------------------------------------------------------------
  placement(instance: number, out: Matrix4): Matrix4 {
    return 12 * instance + 12 <= this.placements.length ? rows(this.placements, 12 * instance, out) : out.identity();
  }

  /** The world matrix of a joint of one instance. */
  joint(j: number, out: Matrix4, instance = 0): Matrix4 {
    const at = 12 * (instance * this.info.palette + j);
    if (at + 12 > this.matrices.length) return out.identity();
    this.complete(instance);
    rows(this.matrices, at, out).multiply(this.binds[j]);
    return out.premultiply(this.placement(instance, scratch));
  }

  /** The joints of an instance in its own space, `(J, 3, 4)` flat. */
  models(instance = 0): Float32Array {
    const out = new Float32Array(12 * this.info.joints.length);
    const m = new Matrix4();
    this.complete(instance);
    this.info.joints.forEach((_, j) => {
      const { elements } = rows(this.matrices, 12 * (instance * this.info.palette + j), m).multiply(this.binds[j]);
      for (let row = 0; row < 3; row++) for (let column = 0; column < 4; column++) out[12 * j + 4 * row + column] = elements[4 * column + row];
    });
    return out;
  }

  /** A box that holds one instance as it is posed now: what every joint carries, and the joints themselves. */
  bounds(out: Box3, instance = 0): Box3 {
    out.makeEmpty();
    const box = new Box3();
    const m = new Matrix4();
    const placed = this.placement(instance, new Matrix4());
    if (this.matrices.length < 12 * this.info.palette * (instance + 1)) {
      out.set(new Vector3(...this.info.bounds[0]), new Vector3(...this.info.bounds[1]));
      return out;
    }
    this.complete(instance);
    this.reach.forEach((reach, entry) => {
      if (!reach) return;
      rows(this.matrices, 12 * (instance * this.info.palette + entry), m).premultiply(placed);
      out.union(box.copy(reach).applyMatrix4(m));
    });
    if (out.isEmpty()) {
      const point = new Vector3();
      this.info.joints.forEach(({ helper }, j) => !helper && out.expandByPoint(point.setFromMatrixPosition(this.joint(j, m, instance))));
    }
    return out;
  }

  /** A box around all instances, from their places and the first one's size. */
  crowdBounds(out: Box3): Box3 {
    this.bounds(out);
    if (this.count <= 1) return out;
    const first = new Vector3().setFromMatrixPosition(this.placement(0, new Matrix4()));
    const one = out.clone();
    const offset = new Vector3();
    const moved = new Box3();
    for (let i = 1; i < this.count; i++) {
      offset.setFromMatrixPosition(this.placement(i, scratch)).sub(first);
      out.union(moved.copy(one).translate(offset));
    }
    return out;
  }

  dispose(): void {
    for (const body of this.bodies) body?.dispose();
    this.library.dispose();
  }
}

const scratch = new Matrix4();

function rows(m: Float32Array, i: number, out: Matrix4): Matrix4 {
  return out.set(
    m[i], m[i + 1], m[i + 2], m[i + 3],
    m[i + 4], m[i + 5], m[i + 6], m[i + 7],
    m[i + 8], m[i + 9], m[i + 10], m[i + 11],
    0, 0, 0, 1,
  );
}

function standing(count: number): Float32Array {
  const all = new Float32Array(12 * count);
  for (let i = 0; i < count; i++) all.set(IDENTITY_ROWS, 12 * i);
  return all;
}
