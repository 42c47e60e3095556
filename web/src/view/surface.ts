/** How three.js materials draw vertices that `skinning.ts` has skinned: the GLSL put into their programs. */
import type { IUniform, Material, WebGLProgramParametersWithUniforms } from "three";
import { LIGHT_GLSL, lightUp, SUN_DIRECTION } from "./light";
import { SKINNED_WIDTH, type SkinnedUniforms } from "./skinning";

export interface SurfaceUniforms extends SkinnedUniforms {
  mwHeat: IUniform<number>;
}

export interface LineUniforms extends SkinnedUniforms {
  mwLength: IUniform<number>;
  mwPlace: IUniform<number>;
}

const READ = /* glsl */ `
uniform highp sampler2D mwPositions, mwNormals, mwTangents;
uniform int mwVertexCount;
#ifdef MW_LINES
  uniform float mwLength;
  uniform int mwPlace;
  #define MW_VERTEX (mwPlace * mwVertexCount + gl_VertexID / 2)
#else
  #define MW_VERTEX (gl_InstanceID * mwVertexCount + gl_VertexID)
#endif
vec3 mwRead(highp sampler2D skinned) {
  int at = MW_VERTEX;
  return texelFetch(skinned, ivec2(at & ${SKINNED_WIDTH - 1}, at / ${SKINNED_WIDTH}), 0).xyz;
}
`;

const NORMAL_CHUNK = /* glsl */ `
  vec3 objectNormal = mwRead(mwNormals);
  #ifdef USE_TANGENT
    vec3 objectTangent = mwRead(mwTangents);
  #endif
`;

const POSITION_CHUNK = /* glsl */ `
  vec3 transformed = mwRead(mwPositions);
  #ifdef MW_LINES
    transformed += mwRead(mwNormals) * mwLength * float(gl_VertexID & 1);
  #endif
`;

/**
 * Cividis, made for colour-blind eyes: dark blue through grey to yellow, its lightness rising all the way. Nothing at all is a
 * plain grey, to be told from little, and from the stage of either theme.
 */
const CIVIDIS = /* glsl */ `
varying float mwHeatValue;
uniform int mwHeat;
vec3 mwCividis(float x) {
  const vec3 c0 = vec3(0.004, 0.032, 0.13), c1 = vec3(0.037, 0.060, 0.19), c2 = vec3(0.204, 0.201, 0.191),
             c3 = vec3(0.456, 0.391, 0.173), c4 = vec3(0.991, 0.816, 0.059);
  if (x < 0.002) return vec3(0.24, 0.26, 0.29);
  x = clamp(x, 0.0, 1.0) * 4.0;
  if (x < 1.0) return mix(c0, c1, x);
  if (x < 2.0) return mix(c1, c2, x - 1.0);
  if (x < 3.0) return mix(c2, c3, x - 2.0);
  return mix(c3, c4, x - 3.0);
}
`;

function readSkinned(shader: WebGLProgramParametersWithUniforms): void {
  shader.vertexShader = shader.vertexShader
    .replace("#include <common>", `#include <common>\n${READ}`)
    .replace("#include <beginnormal_vertex>", NORMAL_CHUNK)
    .replace("#include <begin_vertex>", POSITION_CHUNK);
}

function showHeat(shader: WebGLProgramParametersWithUniforms): void {
  shader.vertexShader = shader.vertexShader
    .replace("#include <common>", "#include <common>\nattribute float mwHeatWeight;\nvarying float mwHeatValue;")
    .replace("#include <project_vertex>", "#include <project_vertex>\nmwHeatValue = mwHeatWeight;");
  shader.fragmentShader = shader.fragmentShader
    .replace("#include <common>", `#include <common>\n${CIVIDIS}`)
    .replace(
      "#include <color_fragment>",
      "#include <color_fragment>\nif (mwHeat > 0) diffuseColor = vec4(mwCividis(mwHeatValue), 1.0);",
    )
    .replace(
      "#include <metalnessmap_fragment>",
      "#include <metalnessmap_fragment>\nif (mwHeat > 0) { metalnessFactor = 0.0; roughnessFactor = 0.9; }",
    );
}

/** Lets a material of a character draw its skinned instances, in the studio's light or in the colours of weights. */
export function skinnedSurface<T extends Material>(material: T, uniforms: SurfaceUniforms): T {
  material.onBeforeCompile = (shader, renderer) => {
    Object.assign(shader.uniforms, uniforms);
    readSkinned(shader);
    showHeat(shader);
    lightUp(shader, renderer);
  };
  material.customProgramCacheKey = () => "marrow surface";
  return material;
}

/** Lets a material without light draw skinned instances in the studio's light, worked out for each vertex: far away that is enough. */
export function skinnedPlain<T extends Material>(material: T, uniforms: SkinnedUniforms): T {
  const [x, y, z] = SUN_DIRECTION;
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, uniforms);
    readSkinned(shader);
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", `#include <common>\n${LIGHT_GLSL}\nvarying vec3 mwShade;`)
      .replace("#include <project_vertex>", `#include <project_vertex>
        vec3 mwFacing = normalize(mwRead(mwNormals));
        float mwSunny = max(0.0, dot(mwFacing, normalize(vec3(${x}, ${y}, ${z}))));
        mwShade = mwLight(mwFacing, MW_MATT) + mwSunny * vec3(0.6, 0.55, 0.48);`);
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", "#include <common>\nvarying vec3 mwShade;")
      .replace("#include <color_fragment>", "#include <color_fragment>\ndiffuseColor.rgb *= mwShade;");
  };
  material.customProgramCacheKey = () => "marrow plain";
  return material;
}

/** Lets a plain material draw skinned instances: for shadows and wireframes. */
export function skinnedShape<T extends Material>(material: T, uniforms: SkinnedUniforms): T {
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, uniforms);
    readSkinned(shader);
  };
  material.customProgramCacheKey = () => "marrow shape";
  return material;
}

/** Lets a material of lines draw the normals of the instance chosen `mwPlace`-th: two vertices for each of the mesh. */
export function normalLines<T extends Material>(material: T, uniforms: LineUniforms): T {
  material.defines = { ...material.defines, MW_LINES: 1 };
  return skinnedShape(material, uniforms);
}
