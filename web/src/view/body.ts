/** `Body`: the meshes of one level of detail, and the instances that are drawn with them. */
import { Group, type Texture, type WebGLRenderer } from "three";
import type { MeshInfo } from "../protocol";
import type { MethodChoice } from "./character";
import { splitMatrices } from "./dual";
import { Part, type Shared } from "./part";
import { JointDecoder } from "./joint_decoder";
import type { JointStore } from "./joint_store";
import { METHODS, SKINNED_MOST } from "./skinning";
import { Table } from "./tables";

/** What a body is drawn from: the newest frame, for all instances. */
export interface Crew {
  count: number;
  /** Skinning matrices, `width` entries for each instance, and where instances stand. */
  matrices: Float32Array;
  width: number;
  placements: Float32Array;
  morphs: Float32Array;
  morphWeights: number;
  pivots: Float32Array;
  /** Joints as they came, where they are compact and drawn as they are. */
  store: JointStore | null;
  /** Has the matrices of an instance at hand. */
  ensure(instance: number): void;
}

export class Body {
  readonly group = new Group();
  readonly parts: Part[];
  /** The instances drawn with it, in the order they are skinned in. */
  chosen: number[] = [];
  /** No more instances than this fit into the skinning pass. */
  readonly most: number;
  private readonly palette = new Table(4);
  private readonly dual = new Table(4);
  private readonly placed = new Table(4);
  private decoder: JointDecoder | null = null;
  private decoded: { matrices: Texture; dual: Texture | null } | null = null;
  /** Whether the tables hold the chosen instances of the newest frame. */
  private gathered = false;
  private split = false;
  /** The method whose result the skinned vertices hold, "" when they are out of date. */
  private skinnedBy: MethodChoice | "" = "";

  /** `shared.entries` are the first entries of the palette that its meshes use; `used` those that move some vertex. */
  constructor(
    readonly meshes: MeshInfo[],
    private readonly shared: Shared,
  ) {
    this.parts = meshes.map((mesh) => new Part(mesh, shared));
    for (const part of this.parts) this.group.add(part.mesh);
    const largest = Math.max(1, ...meshes.map((mesh) => mesh.vertices));
    this.most = Math.max(1, Math.floor(SKINNED_MOST / largest));
  }

  get triangles(): number {
    return this.parts.reduce((sum, { info, mesh }) => sum + (mesh.visible ? info.triangles : 0), 0);
  }

  outdate(): void {
    this.gathered = this.split = false;
    this.skinnedBy = "";
  }

  /** Says which instances are drawn with it. */
  choose(instances: number[]): void {
    const same = instances.length === this.chosen.length && instances.every((instance, i) => instance === this.chosen[i]);
    this.chosen = instances;
    this.group.visible = instances.length > 0;
    for (const part of this.parts) part.count = instances.length;
    if (!same) this.outdate();
  }

  /** Puts what skinning needs to know of the chosen instances into tables. */
  private gather(renderer: WebGLRenderer, crew: Crew, compact: boolean): void {
    if (this.gathered && Boolean(this.decoded) === compact) return;
    this.gathered = true;
    this.split = false;
    const { chosen } = this;
    this.placed.reserve(12 * chosen.length);
    chosen.forEach((instance, place) => this.placed.data.set(crew.placements.subarray(12 * instance, 12 * (instance + 1)), 12 * place));
    this.placed.changed();
    if (crew.store && compact) {
      this.decoder ??= new JointDecoder(this.shared.entries, crew.pivots);
      this.decoder.gather(crew.store, chosen);
      this.decoded = { matrices: this.decoder.run(renderer, 3), dual: null };
    } else {
      this.decoded = null;
      const [from, to] = [12 * crew.width, 12 * this.shared.entries];
      this.palette.reserve(to * chosen.length);
      chosen.forEach((instance, place) => {
        crew.ensure(instance);
        this.palette.data.set(crew.matrices.subarray(from * instance, from * instance + to), to * place);
      });
      this.palette.changed();
    }
    for (const part of this.parts) part.setMorphs(crew.morphs, crew.morphWeights, chosen);
  }

  /** Makes dual quaternions of the matrices. */
  private splitPalette(renderer: WebGLRenderer, crew: Crew, used: number[]): void {
    if (this.split) return;
    this.split = true;
    if (this.decoded) {
      this.decoded.dual = this.decoder!.run(renderer, 5);
      return;
    }
    const { entries } = this.shared;
    const total = entries * this.chosen.length;
    this.dual.reserve(20 * total);
    splitMatrices(this.palette.data.subarray(0, 12 * total), crew.pivots, entries, used.filter((entry) => entry < entries), this.dual.data);
    this.dual.changed();
  }

  /** Skins the chosen instances with a method, unless that has been done for this frame; `all`: hidden meshes too. */
  skin(renderer: WebGLRenderer, method: MethodChoice, crew: Crew, used: number[], all = false): void {
    if (this.skinnedBy === method || !crew.count || !this.chosen.length) return;
    this.skinnedBy = method;
    const dual = this.parts.some(({ info }) => (method === "file" ? info.skinning : method) !== "linear");
    // The pass that decodes joints knows no dual quaternions of joints with a scale.
    this.gather(renderer, crew, crew.store !== null && !(dual && crew.store.scaled));
    for (const { info, mesh, skinned, uniforms } of this.parts) {
      if (!mesh.visible && !all) continue;
      const chosenMethod = method === "file" ? info.skinning : method;
      if (chosenMethod !== "linear") this.splitPalette(renderer, crew, used);
      uniforms.mwMethod.value = METHODS[chosenMethod];
      uniforms.mwPalette.value = this.decoded?.matrices ?? this.palette.texture;
      uniforms.mwDual.value = this.decoded?.dual ?? this.dual.texture;
      uniforms.mwPlacements.value = this.placed.texture;
      skinned.run(renderer, this.chosen.length);
    }
  }

  dispose(): void {
    for (const part of this.parts) part.dispose();
    this.decoder?.dispose();
    for (const table of [this.palette, this.dual, this.placed]) table.dispose();
  }
}
