/** `JointTree`: which joints of a skeleton the tree shows, and in which order. All of it takes time by the number of joints. */
import type { JointInfo } from "../protocol";

export class JointTree {
  readonly depth: Int32Array;
  readonly deepest: number;
  /** Of each joint: how many children it has, the first of them, and which child of its parent it is. */
  readonly children: Int32Array;
  private readonly first: Int32Array;
  readonly position: Int32Array;
  /** All joints, each followed by what is below it; and where in that order what is below a joint ends. */
  private readonly order: Int32Array;
  private readonly end: Int32Array;
  private readonly closed = new Set<number>();
  private names: string[] | null = null;
  /** What is shown, in order, and where each joint is in it (-1: it is not). */
  shown: number[] = [];
  private readonly at: Int32Array;
  private wanted = "";

  constructor(readonly joints: readonly JointInfo[]) {
    const count = joints.length;
    this.depth = new Int32Array(count);
    this.children = new Int32Array(count);
    this.first = new Int32Array(count).fill(-1);
    this.position = new Int32Array(count);
    this.order = new Int32Array(count);
    this.end = new Int32Array(count);
    this.at = new Int32Array(count);
    const next = new Int32Array(count).fill(-1);
    let root = -1;
    let deepest = 0;
    // Parents come before their children, but children of several may be mixed.
    for (let j = 0; j < count; j++) {
      const { parent } = joints[j];
      if (parent < 0) continue;
      this.depth[j] = this.depth[parent] + 1;
      this.position[j] = this.children[parent]++;
      deepest = Math.max(deepest, this.depth[j]);
    }
    this.deepest = deepest;
    for (let j = count - 1; j >= 0; j--) {
      const { parent } = joints[j];
      next[j] = parent < 0 ? root : this.first[parent];
      if (parent < 0) root = j;
      else this.first[parent] = j;
    }
    let at = 0;
    for (let j = root; j >= 0; ) {
      this.order[at++] = j;
      if (this.first[j] >= 0) {
        j = this.first[j];
        continue;
      }
      // Up to the first that has a sibling; whatever is left behind ends here.
      let up: number = j;
      this.end[up] = at;
      while (next[up] < 0 && joints[up].parent >= 0) {
        up = joints[up].parent;
        this.end[up] = at;
      }
      j = next[up];
    }
    this.list();
  }

  isOf(joints: readonly JointInfo[]): boolean {
    return joints.length === this.joints.length && joints.every(({ name, parent }, j) => name === this.joints[j].name && parent === this.joints[j].parent);
  }

  isClosed(joint: number): boolean {
    return this.closed.has(joint);
  }

  where(joint: number): number {
    return this.at[joint] ?? -1;
  }

  firstChild(joint: number): number {
    return this.first[joint];
  }

  get searching(): boolean {
    return this.wanted !== "";
  }

  fold(joint: number, close: boolean): void {
    if (close) this.closed.add(joint);
    else this.closed.delete(joint);
    this.list();
  }

  search(text: string): void {
    this.wanted = text.trim().toLowerCase();
    this.list();
  }

  /** Opens what is above a joint; true if something was closed. */
  open(joint: number): boolean {
    let closed = false;
    for (let p = this.joints[joint].parent; p >= 0; p = this.joints[p].parent) closed = this.closed.delete(p) || closed;
    if (closed) this.list();
    return closed;
  }

  private list(): void {
    const { order, wanted } = this;
    this.shown = [];
    this.at.fill(-1);
    this.names ??= wanted ? this.joints.map((joint) => joint.name.toLowerCase()) : null;
    for (let i = 0; i < order.length; ) {
      const j = order[i];
      if (!wanted || this.names![j].includes(wanted)) {
        this.at[j] = this.shown.length;
        this.shown.push(j);
      }
      i = !wanted && this.closed.has(j) ? this.end[j] : i + 1;
    }
  }
}
