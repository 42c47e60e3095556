/**
 * A triangle that is drawn, unseen, before there is a character: it makes the graphics card compile, while the character is
 * still on its way, the programs that almost every character is drawn with.
 */
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

export function standIn(): Part {
  const part = new Part(TRIANGLE, {
    arrays: new Arrays(new ArrayBuffer(64)), materials: [PLAIN], library: new TextureLibrary(() => "", () => {}), entries: 1, size: 1,
  });
  part.count = 1;
  return part;
}
