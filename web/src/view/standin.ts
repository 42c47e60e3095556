/**
 * A triangle that stands in for a character until there is one: the programs that almost every character is drawn with are
 * compiled for it, and used once, while the character is still on its way.
 */
import { BackSide, type Camera, Mesh, Scene, type WebGLRenderer, WebGLRenderTarget } from "three";
import type { MaterialInfo, MeshInfo } from "../protocol";
import { TextureLibrary } from "./materials";
import { Arrays, Part } from "./part";

const PLAIN: MaterialInfo = {
  name: "", base_color: [1, 1, 1, 1], metallic: 0, roughness: 1, emissive: [0, 0, 0], base_color_texture: null,
  metallic_roughness_texture: null, normal_texture: null, normal_scale: 1, occlusion_texture: null, occlusion_strength: 1,
  emissive_texture: null, alpha_mode: "opaque", alpha_cutoff: 0.5, double_sided: false, unlit: false,
};

/** Three vertices in one place. */
const TRIANGLE: MeshInfo = {
  name: "", vertices: 3, triangles: 1, influences: 1, sections: [{ first: 0, count: 1, material: 0, name: "" }],
  morph_targets: [], skinning: "linear", visible: true,
  buffers: {
    positions: { offset: 0, dtype: "float32", shape: [3, 3] },
    normals: { offset: 0, dtype: "float32", shape: [3, 3] },
    weights: { offset: 0, dtype: "float32", shape: [3, 1] },
    joints: { offset: 0, dtype: "uint16", shape: [3, 1] },
    triangles: { offset: 0, dtype: "uint32", shape: [1, 3] },
  },
};

export class StandIn {
  readonly part: Part;

  constructor() {
    const library = new TextureLibrary(() => Promise.reject(new Error("it has none")), () => {});
    this.part = new Part(TRIANGLE, { arrays: new Arrays(new ArrayBuffer(64)), materials: [PLAIN], library, entries: 1, size: 1 });
    this.part.count = 1;
  }

  /** Has the programs of a scene with the triangle in it compiled. That goes on aside; drawing now would wait for it. */
  prepare(renderer: WebGLRenderer, scene: Scene, camera: Camera): void {
    const { mesh, skinned } = this.part;
    renderer.compile(scene, camera);
    // Skinning and shadows are drawn into textures: their programs differ in what they put out.
    const target = new WebGLRenderTarget(1, 1);
    renderer.setRenderTarget(target);
    const depth = mesh.customDepthMaterial!;
    depth.side = BackSide;
    renderer.compile(new Scene().add(new Mesh(mesh.geometry, depth)), camera, scene);
    renderer.compile(skinned.scene, camera);
    renderer.setRenderTarget(null);
    target.dispose();
  }

  /** Asks all programs for what three.js wants to know before their first use: later, each answer would wait for a drawing. */
  ask(renderer: WebGLRenderer): void {
    for (const program of renderer.info.programs ?? []) {
      program.getUniforms();
      program.getAttributes();
    }
  }
}
