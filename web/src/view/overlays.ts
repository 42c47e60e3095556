/** What is drawn over a character: bones and joints, axes, sockets, bounds, the path of a joint. */
import {
  Box3, Box3Helper, BufferAttribute, BufferGeometry, Color, DynamicDrawUsage, Group, InstancedMesh, LineBasicMaterial,
  LineSegments, Line, Matrix4, MeshBasicMaterial, OctahedronGeometry, Points, PointsMaterial, Quaternion, SphereGeometry,
  Vector3,
} from "three";
import type { CharacterView } from "./character";
import { ContactMarks } from "./contacts";
import type { Label } from "./labels";
import type { Palette } from "./palette";

export interface OverlayOptions {
  skeleton: boolean;
  axes: boolean;
  sockets: boolean;
  bounds: boolean;
  path: boolean;
  contacts: boolean;
}

const UP = new Vector3(0, 1, 0);

function overlay<T extends { depthTest: boolean; transparent: boolean; depthWrite: boolean }>(material: T): T {
  material.depthTest = false;
  material.depthWrite = false;
  material.transparent = true;
  return material;
}

/** A bone: a stretched octahedron whose widest ring is near its parent. */
function boneGeometry(): BufferGeometry {
  const geometry = new OctahedronGeometry(1, 0);
  const position = geometry.getAttribute("position");
  for (let i = 0; i < position.count; i++) {
    const y = position.getY(i);
    position.setXYZ(i, position.getX(i) * 0.07, y > 0.5 ? 1 : y < -0.5 ? 0 : 0.14, position.getZ(i) * 0.07);
  }
  return geometry;
}

export class Overlays {
  readonly group = new Group();
  private readonly bones: InstancedMesh;
  private readonly joints: InstancedMesh;
  private readonly axes: LineSegments;
  private readonly sockets: LineSegments;
  private readonly box = new Box3();
  private readonly boxHelper: Box3Helper;
  private path: Group | null = null;
  private readonly pathDot: Points;
  private readonly dots: Points;
  /** Where feet stand in the clip. */
  readonly contacts = new ContactMarks();
  private pathPoints: Vector3[] = [];
  private pathTimes: number[] = [];
  private readonly marker: InstancedMesh;
  /** World positions of the joints of the instance that is shown, for labels. */
  readonly positions: Vector3[];
  private values: ArrayLike<number> | null = null;

  constructor(
    private readonly character: CharacterView,
    private palette: Palette,
  ) {
    const { joints, sockets } = character.info;
    this.positions = joints.map(() => new Vector3());

    const bone = overlay(new MeshBasicMaterial({ opacity: 0.72, toneMapped: false }));
    this.bones = new InstancedMesh(boneGeometry(), bone, Math.max(1, joints.length));
    const ball = overlay(new MeshBasicMaterial({ opacity: 0.95, toneMapped: false }));
    this.joints = new InstancedMesh(new SphereGeometry(1, 12, 8), ball, Math.max(1, joints.length));
    const mark = overlay(new MeshBasicMaterial({ opacity: 0.95, toneMapped: false }));
    this.marker = new InstancedMesh(new SphereGeometry(1, 16, 12), mark, 1);
    this.axes = crosses(joints.length);
    this.sockets = crosses(sockets.length);
    this.boxHelper = new Box3Helper(this.box, new Color(palette.bounds));
    const dot = overlay(new PointsMaterial({ size: 10, sizeAttenuation: false, color: palette.accent, toneMapped: false }));
    this.pathDot = new Points(new BufferGeometry().setAttribute("position", new BufferAttribute(new Float32Array(3), 3)), dot);
    this.pathDot.visible = false;
    const spots = overlay(new PointsMaterial({ size: 7, sizeAttenuation: false, color: "#ff5470", toneMapped: false }));
    this.dots = new Points(new BufferGeometry(), spots);
    this.mark(0);
    this.group.add(this.contacts.group);
    const parts = [this.bones, this.joints, this.marker, this.axes, this.sockets, this.boxHelper, this.pathDot, this.dots];
    parts.forEach((part, i) => {
      part.frustumCulled = false;
      part.renderOrder = 10 + i;
      this.group.add(part);
    });
  }

  setPalette(palette: Palette): void {
    this.palette = palette;
    (this.boxHelper.material as LineBasicMaterial).color.set(palette.bounds);
    (this.pathDot.material as PointsMaterial).color.set(palette.accent);
    if (this.pathPoints.length) this.setPath(this.pathPoints, this.pathTimes);
  }

  /** Colours joints by a number from 0 to 1 each (a layer's mask); null ends it. */
  colorJoints(values: ArrayLike<number> | null): void {
    this.values = values;
  }

  /** Puts dots on vertices: of one mesh, by their numbers; null ends it. Where they are is told with every picture. */
  mark(count: number): void {
    this.dots.visible = count > 0;
    this.dots.geometry.setAttribute("position", new BufferAttribute(new Float32Array(3 * Math.max(1, count)), 3));
  }

  /** Moves the dots. */
  placeDots(places: Float32Array): void {
    const position = this.dots.geometry.getAttribute("position") as BufferAttribute;
    (position.array as Float32Array).set(places.subarray(0, position.array.length));
    position.needsUpdate = true;
  }

  /** Where a joint goes over the clip, drawn as a line with a dot for every few frames: an onion skin. */
  setPath(points: Vector3[], times: number[]): void {
    this.clearPath();
    this.pathPoints = points;
    this.pathTimes = times;
    if (points.length < 2) return;
    const geometry = new BufferGeometry().setFromPoints(points);
    const colors = new Float32Array(3 * points.length);
    const from = new Color(this.palette.pathStart);
    const to = new Color(this.palette.accent);
    points.forEach((_, i) => new Color().lerpColors(from, to, i / (points.length - 1)).toArray(colors, 3 * i));
    geometry.setAttribute("color", new BufferAttribute(colors, 3));
    const line = new Line(geometry, overlay(new LineBasicMaterial({ vertexColors: true, toneMapped: false })));
    const dots = new Points(
      geometry,
      overlay(new PointsMaterial({ size: 4, sizeAttenuation: false, vertexColors: true, toneMapped: false })),
    );
    this.path = new Group();
    this.path.matrixAutoUpdate = false;
    for (const part of [line, dots]) {
      part.frustumCulled = false;
      part.renderOrder = 9;
      this.path.add(part);
    }
    this.group.add(this.path);
  }

  clearPath(): void {
    this.pathPoints = [];
    this.pathTimes = [];
    if (!this.path) return;
    this.group.remove(this.path);
    (this.path.children[0] as Line).geometry.dispose();
    this.path = null;
  }

  /** Moves everything to where one instance is now. */
  update(options: OverlayOptions, selected: number, instance: number): void {
    const { character } = this;
    const { joints, sockets } = character.info;
    const ready = character.count > 0;
    this.group.visible = ready;
    if (!ready) return;
    const world = joints.map((_, j) => character.joint(j, new Matrix4(), instance));
    world.forEach((m, j) => this.positions[j].setFromMatrixPosition(m));
    const bones = options.skeleton || character.bare;
    this.bones.visible = this.joints.visible = bones;
    if (bones) this.drawBones(selected);
    this.contacts.group.visible = options.contacts;
    if (options.contacts) this.contacts.update(character.time, character.placement(instance, new Matrix4()));
    this.axes.visible = options.axes;
    const length = 0.035 * character.size;
    if (options.axes) fillCrosses(this.axes, world, length);
    this.sockets.visible = options.sockets && sockets.length > 0;
    if (this.sockets.visible) fillCrosses(this.sockets, sockets.map((s) => this.socketMatrix(s, world[s.joint])), 1.6 * length);
    this.boxHelper.visible = options.bounds;
    if (options.bounds) character.bounds(this.box, instance);
    this.marker.visible = selected >= 0 && selected < joints.length;
    if (this.marker.visible) {
      const r = 0.011 * character.size;
      this.marker.setMatrixAt(0, new Matrix4().makeScale(r, r, r).setPosition(this.positions[selected]));
      this.marker.setColorAt(0, new Color(this.palette.accent));
      this.marker.instanceMatrix.needsUpdate = true;
      this.marker.instanceColor!.needsUpdate = true;
    }
    if (this.path) {
      this.path.visible = options.path;
      character.placement(instance, this.path.matrix);
    }
    this.pathDot.visible = options.path && this.pathPoints.length > 0;
    if (this.pathDot.visible) this.moveDot(instance);
  }

  /** The names that are shown: of the picked joint, and of joints and sockets where they are wanted. */
  labels(options: { names: boolean; sockets: boolean }, selected: number, instance: number): Label[] {
    const { joints, sockets } = this.character.info;
    const shown = joints.flatMap((joint, j) => {
      const strong = j === selected;
      return strong || (options.names && !joint.helper) ? [{ text: joint.name, position: this.positions[j], strong }] : [];
    });
    if (!options.sockets) return shown;
    const placed = sockets.map((socket) => {
      const m = this.socketMatrix(socket, this.character.joint(socket.joint, new Matrix4(), instance));
      return { text: socket.name, position: new Vector3().setFromMatrixPosition(m), strong: true };
    });
    return [...shown, ...placed];
  }

  private socketMatrix(socket: CharacterView["info"]["sockets"][number], joint: Matrix4): Matrix4 {
    const local = new Matrix4().compose(
      new Vector3(...socket.translation), new Quaternion(...socket.rotation), new Vector3(...socket.scale),
    );
    return local.premultiply(joint);
  }

  private moveDot(instance: number): void {
    const { time } = this.character;
    let i = this.pathTimes.findIndex((t) => t >= time);
    if (i < 0) i = this.pathPoints.length - 1;
    const position = this.pathDot.geometry.getAttribute("position") as BufferAttribute;
    const point = this.pathPoints[i].clone().applyMatrix4(this.character.placement(instance, new Matrix4()));
    position.setXYZ(0, point.x, point.y, point.z);
    position.needsUpdate = true;
  }

  private jointColor(j: number, selected: number): Color {
    if (this.values) return new Color(this.palette.maskOff).lerp(new Color(this.palette.maskOn), this.values[j] ?? 0);
    return new Color(j === selected ? this.palette.accent : this.palette.bone);
  }

  private drawBones(selected: number): void {
    const { joints } = this.character.info;
    const radius = 0.0055 * this.character.size;
    const m = new Matrix4();
    const direction = new Vector3();
    const turn = new Quaternion();
    joints.forEach((joint, j) => {
      const here = this.positions[j];
      const from = joint.parent >= 0 ? this.positions[joint.parent] : here;
      direction.subVectors(here, from);
      const length = direction.length();
      // The long step from a root that stands on the floor to the hips is no bone.
      const step = joint.parent >= 0 && joints[joint.parent].parent < 0 && length > 0.3 * this.character.size;
      const shown = !joint.helper && joint.parent >= 0 && !joints[joint.parent].helper && length > 1e-6 && !step;
      if (shown) {
        turn.setFromUnitVectors(UP, direction.divideScalar(length));
        const width = Math.min(length, 0.28 * this.character.size);
        m.compose(from, turn, new Vector3(width, length, width));
      } else m.makeScale(0, 0, 0);
      this.bones.setMatrixAt(j, m);
      this.bones.setColorAt(j, this.jointColor(this.values ? j : joint.parent, selected));
      const ball = joint.helper ? 0 : radius;
      m.makeScale(ball, ball, ball).setPosition(here);
      this.joints.setMatrixAt(j, m);
      this.joints.setColorAt(j, this.jointColor(j, selected));
    });
    for (const mesh of [this.bones, this.joints]) {
      mesh.instanceMatrix.needsUpdate = true;
      mesh.instanceColor!.needsUpdate = true;
    }
  }

  dispose(): void {
    this.clearPath();
    this.contacts.show([], 1);
    for (const part of [this.bones, this.joints, this.marker, this.axes, this.sockets, this.pathDot, this.dots]) part.geometry.dispose();
  }
}

const AXIS_COLORS = ["#e0604c", "#7fb13c", "#4c8fe0"];

function crosses(count: number): LineSegments {
  const geometry = new BufferGeometry();
  const positions = new BufferAttribute(new Float32Array(18 * Math.max(1, count)), 3);
  positions.setUsage(DynamicDrawUsage);
  const colors = new Float32Array(18 * Math.max(1, count));
  for (let i = 0; i < count * 6; i++) new Color(AXIS_COLORS[(i >> 1) % 3]).toArray(colors, 3 * i);
  geometry.setAttribute("position", positions);
  geometry.setAttribute("color", new BufferAttribute(colors, 3));
  return new LineSegments(geometry, overlay(new LineBasicMaterial({ vertexColors: true, toneMapped: false })));
}

function fillCrosses(lines: LineSegments, frames: Matrix4[], length: number): void {
  const position = lines.geometry.getAttribute("position") as BufferAttribute;
  const origin = new Vector3();
  const axis = new Vector3();
  frames.forEach((m, i) => {
    origin.setFromMatrixPosition(m);
    for (let a = 0; a < 3; a++) {
      axis.setFromMatrixColumn(m, a).normalize().multiplyScalar(length).add(origin);
      position.setXYZ(6 * i + 2 * a, origin.x, origin.y, origin.z);
      position.setXYZ(6 * i + 2 * a + 1, axis.x, axis.y, axis.z);
    }
  });
  position.needsUpdate = true;
}
