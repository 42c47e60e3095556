/**
 * marrow's crowds in three.js. Meshes come from the file that was baked, by three.js's own GLTFLoader; what moves them comes from a crowd.
 *
 *     const one = new CrowdSkin(mesh, crowd, 0);                  // a SkinnedMesh follows an instance
 *     const many = new InstancedCrowd(THREE, mesh, crowd);        // all instances in one draw call, palettes in a texture
 *     scene.add(many.mesh);
 *     crowd.update(dt); one.update(); many.update();              // every frame
 */

/** As three.js's loaders write names: without what its property paths are made of. */
const plain = (name) => name.replace(/\s/g, "_").replace(/[[\].:/]/g, "");

/** For each bone of a mesh, the entry of the character's palette that moves it. */
export function paletteOf(mesh, character) {
  const joints = new Map();
  character.joints.forEach((name, joint) => {
    if (!joints.has(name)) joints.set(name, joint);
    if (!joints.has(plain(name))) joints.set(plain(name), joint);
  });
  const { joints: owners, inverseBind } = character.palette;
  return mesh.skeleton.bones.map((bone, k) => {
    const joint = joints.get(bone.userData?.name ?? bone.name) ?? joints.get(plain(bone.name));
    if (joint === undefined) throw new Error(`the character ${character.name} has no joint ${JSON.stringify(bone.name)}: was another file baked?`);
    // Where meshes disagree about a bind pose, a joint has several entries.
    const bind = mesh.skeleton.boneInverses[k].elements;
    let best = -1;
    let least = Infinity;
    for (let p = 0; p < owners.length; p++) {
      if (owners[p] !== joint) continue;
      let gap = 0;
      for (let r = 0; r < 3; r++) for (let c = 0; c < 4; c++) gap = Math.max(gap, Math.abs(inverseBind[12 * p + 4 * r + c] - bind[4 * c + r]));
      if (gap < least) [best, least] = [p, gap];
    }
    if (best < 0) throw new Error(`no mesh of the character ${character.name} is bound to ${JSON.stringify(bone.name)}`);
    return best;
  });
}

/** A SkinnedMesh that follows one instance of a crowd. */
export class CrowdSkin {
  constructor(mesh, crowd, instance = 0) {
    this.mesh = mesh;
    this.crowd = crowd;
    this.instance = instance;
    this.palette = paletteOf(mesh, crowd.character);
    // Matrices are in the character's own space: where the mesh stands is up to its matrix alone.
    mesh.bindMode = "detached";
    mesh.bindMatrix.identity();
    mesh.bindMatrixInverse.identity();
    mesh.frustumCulled = false;
    mesh.skeleton.update = () => {};
    const { morphTargetDictionary } = mesh;
    this.morphs = morphTargetDictionary ? crowd.character.morphs.map((name) => morphTargetDictionary[name] ?? -1) : [];
    this.update();
  }

  /** Call it after every update of the crowd. */
  update() {
    const { mesh, crowd, palette } = this;
    const { matrices } = crowd;
    const { boneMatrices, boneTexture } = mesh.skeleton;
    const base = this.instance * crowd.character.palette.size;
    palette.forEach((entry, bone) => {
      const at = (base + entry) * 12;
      for (let c = 0; c < 4; c++) {
        for (let r = 0; r < 3; r++) boneMatrices[16 * bone + 4 * c + r] = matrices[at + 4 * r + c];
        boneMatrices[16 * bone + 4 * c + 3] = c === 3 ? 1 : 0;
      }
    });
    if (boneTexture) boneTexture.needsUpdate = true;
    if (this.morphs.length) {
      const weights = crowd.morphs.subarray(this.instance * this.morphs.length, (this.instance + 1) * this.morphs.length);
      this.morphs.forEach((target, k) => {
        if (target >= 0) mesh.morphTargetInfluences[target] = weights[k];
      });
    }
  }
}

const WIDTH = 1536; // texels in a row of the texture, a multiple of the three that a matrix takes

const PARS = `
uniform highp sampler2D marrowPalette;
uniform int marrowEntries;
attribute vec4 marrowJoints;
attribute vec4 marrowWeights;
mat4 marrowMatrix(float entry) {
  int at = (gl_InstanceID * marrowEntries + int(entry + 0.5)) * 3;
  ivec2 place = ivec2(at % ${WIDTH}, at / ${WIDTH});
  return transpose(mat4(texelFetch(marrowPalette, place, 0), texelFetch(marrowPalette, place + ivec2(1, 0), 0),
    texelFetch(marrowPalette, place + ivec2(2, 0), 0), vec4(0.0, 0.0, 0.0, 1.0)));
}
`;
const SKIN = `
mat4 marrowSkin = marrowWeights.x * marrowMatrix(marrowJoints.x) + marrowWeights.y * marrowMatrix(marrowJoints.y)
  + marrowWeights.z * marrowMatrix(marrowJoints.z) + marrowWeights.w * marrowMatrix(marrowJoints.w);
`;

/** All instances of a crowd in one draw call: an InstancedMesh whose palettes lie in a texture. */
export class InstancedCrowd {
  constructor(THREE, source, crowd) {
    const { character } = crowd;
    this.crowd = crowd;
    this.capacity = crowd.count;
    const palette = paletteOf(source, character);
    const geometry = source.geometry.clone();
    geometry.morphAttributes = {}; // instances share one mesh: morphs are for `CrowdSkin`
    const { skinIndex, skinWeight } = geometry.attributes;
    const entries = new Float32Array(skinIndex.count * 4);
    for (let v = 0; v < skinIndex.count; v++) for (let k = 0; k < 4; k++) entries[4 * v + k] = palette[skinIndex.getComponent(v, k)];
    geometry.setAttribute("marrowJoints", new THREE.BufferAttribute(entries, 4));
    geometry.setAttribute("marrowWeights", skinWeight);
    geometry.deleteAttribute("skinIndex");
    geometry.deleteAttribute("skinWeight");
    const rows = Math.ceil((crowd.count * character.palette.size * 3) / WIDTH);
    this.texels = new Float32Array(WIDTH * rows * 4);
    this.texture = new THREE.DataTexture(this.texels, WIDTH, rows, THREE.RGBAFormat, THREE.FloatType);
    const material = source.material.clone();
    const before = material.onBeforeCompile;
    material.onBeforeCompile = (shader, renderer) => {
      before?.call(material, shader, renderer);
      shader.uniforms.marrowPalette = { value: this.texture };
      shader.uniforms.marrowEntries = { value: character.palette.size };
      shader.vertexShader = shader.vertexShader
        .replace("#include <common>", `#include <common>\n${PARS}`)
        .replace("#include <uv_vertex>", `${SKIN}\n#include <uv_vertex>`)
        .replace("#include <beginnormal_vertex>", "#include <beginnormal_vertex>\nobjectNormal = mat3(marrowSkin) * objectNormal;\n#ifdef USE_TANGENT\nobjectTangent = mat3(marrowSkin) * objectTangent;\n#endif")
        .replace("#include <begin_vertex>", "#include <begin_vertex>\ntransformed = (marrowSkin * vec4(transformed, 1.0)).xyz;");
    };
    this.mesh = new THREE.InstancedMesh(geometry, material, crowd.count);
    this.mesh.frustumCulled = false;
    const unit = new THREE.Matrix4();
    for (let n = 0; n < crowd.count; n++) this.mesh.setMatrixAt(n, unit);
    this.update();
  }

  /** Call it after every update of the crowd. With `roots`, instances stand where their root transforms say. */
  update({ roots = false } = {}) {
    const { crowd, mesh } = this;
    if (crowd.count > this.capacity) throw new Error(`this InstancedCrowd was made for ${this.capacity} instances, and there are ${crowd.count}: make another`);
    mesh.count = crowd.count;
    this.texels.set(crowd.matrices);
    this.texture.needsUpdate = true;
    if (!roots) return;
    const { root } = crowd;
    const out = mesh.instanceMatrix.array;
    for (let n = 0; n < crowd.count; n++) {
      const [tx, ty, tz, x, y, z, w] = root.subarray(7 * n, 7 * n + 7);
      out.set([
        1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y), 0,
        2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x), 0,
        2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y), 0,
        tx, ty, tz, 1,
      ], 16 * n);
    }
    mesh.instanceMatrix.needsUpdate = true;
  }

  dispose() {
    this.texture.dispose();
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
    this.mesh.dispose();
  }
}
