/** What the page itself draws over a character: the joint that is picked, and vertices that somebody points at. */
import { BufferAttribute, BufferGeometry, Color, Group, Matrix4, Mesh, MeshBasicMaterial, Points, PointsMaterial, SphereGeometry, Vector3 } from "three";
import type { CharacterView } from "./character";
import type { Palette } from "./palette";

function overlay<T extends { depthTest: boolean; transparent: boolean; depthWrite: boolean }>(material: T): T {
  material.depthTest = false;
  material.depthWrite = false;
  material.transparent = true;
  return material;
}

export class Overlays {
  readonly group = new Group();
  private readonly dots: Points;
  private readonly marker: Mesh<SphereGeometry, MeshBasicMaterial>;
  /** World positions of the joints of the instance that is shown. */
  readonly positions: Vector3[];

  constructor(
    private readonly character: CharacterView,
    palette: Palette,
  ) {
    this.positions = character.info.joints.map(() => new Vector3());
    this.marker = new Mesh(new SphereGeometry(1, 16, 12), overlay(new MeshBasicMaterial({ opacity: 0.95, toneMapped: false })));
    const spots = overlay(new PointsMaterial({ size: 7, sizeAttenuation: false, color: "#ff5470", toneMapped: false }));
    this.dots = new Points(new BufferGeometry(), spots);
    this.mark(0);
    this.setPalette(palette);
    [this.marker, this.dots].forEach((part, i) => {
      part.frustumCulled = false;
      part.renderOrder = 20 + i;
      this.group.add(part);
    });
  }

  setPalette(palette: Palette): void {
    this.marker.material.color = new Color(palette.accent);
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

  /** Moves everything to where one instance is now. */
  update(selected: number, instance: number): void {
    const { character } = this;
    const ready = character.count > 0;
    this.group.visible = ready;
    if (!ready) return;
    const m = new Matrix4();
    this.positions.forEach((at, j) => at.setFromMatrixPosition(character.joint(j, m, instance)));
    this.marker.visible = selected >= 0 && selected < this.positions.length;
    if (!this.marker.visible) return;
    this.marker.position.copy(this.positions[selected]);
    this.marker.scale.setScalar(0.011 * character.size);
  }

  dispose(): void {
    for (const part of [this.marker, this.dots]) part.geometry.dispose();
  }
}
