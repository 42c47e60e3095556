/** How three.js materials draw vertices that `skinning.ts` has skinned: the GLSL put into their programs. */
import type { Material, WebGLProgramParametersWithUniforms } from "three";
import { LIGHT_GLSL, lightUp, SUN_DIRECTION } from "./light";
import { type PaintUniforms, showPaint } from "./paint";
import { SKINNED_WIDTH, type SkinnedUniforms } from "./skinning";

const READ = /* glsl */ `
uniform highp sampler2D mwPositions, mwNormals, mwTangents;
uniform int mwVertexCount;
vec4 mwReadWhole(highp sampler2D skinned) {
  int at = gl_InstanceID * mwVertexCount + gl_VertexID;
  return texelFetch(skinned, ivec2(at & ${SKINNED_WIDTH - 1}, at / ${SKINNED_WIDTH}), 0);
}
vec3 mwRead(highp sampler2D skinned) { return mwReadWhole(skinned).xyz; }
`;

const NORMAL_CHUNK = /* glsl */ `
  vec3 objectNormal = mwRead(mwNormals);
  #ifdef USE_TANGENT
    vec3 objectTangent = mwRead(mwTangents);
  #endif
`;

const POSITION_CHUNK = /* glsl */ `
  vec3 transformed = mwRead(mwPositions);
`;

/** Where a surface is mirrored its normals stay outside, and the other tangent turns. */
const BITANGENT_CHUNK = /* glsl */ `
  #include <normal_vertex>
  #if defined(USE_TANGENT) && !defined(FLAT_SHADED)
    vBitangent *= mwReadWhole(mwTangents).w;
  #endif
`;

function readSkinned(shader: WebGLProgramParametersWithUniforms): void {
  shader.vertexShader = shader.vertexShader
    .replace("#include <common>", `#include <common>\n${READ}`)
    .replace("#include <beginnormal_vertex>", NORMAL_CHUNK)
    .replace("#include <normal_vertex>", BITANGENT_CHUNK)
    .replace("#include <begin_vertex>", POSITION_CHUNK);
}

/** Lets a material of a character draw its skinned instances, in the studio's light or in the colours of a view. */
export function skinnedSurface<T extends Material>(material: T, uniforms: SkinnedUniforms & PaintUniforms): T {
  material.onBeforeCompile = (shader, renderer) => {
    Object.assign(shader.uniforms, uniforms);
    showPaint(shader);
    readSkinned(shader);
    lightUp(shader, renderer);
  };
  material.customProgramCacheKey = () => "marrow surface";
  return material;
}

/** Lets a material without light draw skinned instances in the studio's light, worked out for each vertex: far away that is enough. */
export function skinnedPlain<T extends Material>(material: T, uniforms: SkinnedUniforms & PaintUniforms): T {
  const [x, y, z] = SUN_DIRECTION;
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, uniforms);
    showPaint(shader);
    readSkinned(shader);
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", `#include <common>\n${LIGHT_GLSL}\nvarying vec3 mwShade;`)
      .replace("#include <project_vertex>", `#include <project_vertex>
        vec3 mwFacing = normalize(mwRead(mwNormals));
        float mwSunny = max(0.0, dot(mwFacing, normalize(vec3(${x}, ${y}, ${z}))));
        mwShade = mwLight(mwFacing, MW_MATT) + mwSunny * vec3(0.6, 0.55, 0.48);`);
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", "#include <common>\nvarying vec3 mwShade;")
      .replace("#include <opaque_fragment>", "outgoingLight *= mwShade;\n#include <opaque_fragment>");
  };
  material.customProgramCacheKey = () => "marrow plain";
  return material;
}

/** Lets a plain material draw skinned instances: for shadows. */
export function skinnedShape<T extends Material>(material: T, uniforms: SkinnedUniforms): T {
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, uniforms);
    readSkinned(shader);
  };
  material.customProgramCacheKey = () => "marrow shape";
  return material;
}
