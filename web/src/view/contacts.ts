/** Where feet stand in a clip: a ring on each place, filled while the foot is down. */
import { CircleGeometry, Group, Matrix4, Mesh, MeshBasicMaterial, RingGeometry } from "three";
import type { FootContacts } from "../protocol";

/** Told apart with any colour vision (Okabe and Ito): left and right. */
const COLORS = ["#56b4e9", "#e69f00", "#009e73", "#cc79a7"];

export class ContactMarks {
  readonly group = new Group();
  private marks: { span: [number, number]; disc: Mesh }[] = [];

  constructor() {
    this.group.matrixAutoUpdate = false;
  }

  show(feet: FootContacts[], size: number): void {
    this.group.clear();
    this.marks = [];
    feet.forEach((foot, f) => {
      const material = new MeshBasicMaterial({ color: COLORS[f % COLORS.length], transparent: true, opacity: 0.9, depthTest: false, toneMapped: false });
      foot.spans.forEach((span, i) => {
        const ring = new Mesh(new RingGeometry(0.022 * size, 0.028 * size, 24), material);
        const disc = new Mesh(new CircleGeometry(0.022 * size, 24), material);
        for (const mesh of [ring, disc]) {
          const [x, , z] = foot.points[i] ?? [0, 0, 0];
          mesh.rotation.x = -Math.PI / 2;
          mesh.position.set(x, 0.002 * size, z);
          mesh.renderOrder = 8;
          mesh.frustumCulled = false;
          this.group.add(mesh);
        }
        this.marks.push({ span, disc });
      });
    });
  }

  /** Fills the rings of the feet that are down at a time. */
  update(time: number, placed: Matrix4): void {
    this.group.matrix.copy(placed);
    for (const { span, disc } of this.marks) disc.visible = time >= span[0] - 1e-6 && time <= span[1] + 1e-6;
  }
}
