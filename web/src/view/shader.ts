/**
 * Skinning in the vertex shader: the GLSL, and how it is put into three.js materials.
 *
 * Tables are float textures 1024 texels wide, read by number. It computes what `mw.skin` does: morph targets first, then a
 * linear blend of matrices, or a blend of dual quaternions with scale and shear blended linearly and applied first, or a
 * mix of both; normals go through the cofactor of the matrix. Last comes the place where the instance stands.
 */
import type { IUniform, Material, WebGLProgramParametersWithUniforms } from "three";

export const METHODS = { linear: 0, dual_quaternion: 1, blended: 2 } as const;
export type Method = keyof typeof METHODS;

export interface SkinUniforms {
  [name: string]: IUniform;
  mwPalette: IUniform;
  mwDual: IUniform;
  mwInfluences: IUniform;
  mwPlacements: IUniform;
  mwMorphDeltas: IUniform;
  mwMorphWeights: IUniform;
  mwEntries: IUniform<number>;
  mwInfluenceCount: IUniform<number>;
  mwVertexCount: IUniform<number>;
  mwMorphSlots: IUniform<number>;
  mwMethod: IUniform<number>;
  mwHeat: IUniform<number>;
}

export const SKINNING_GLSL = /* glsl */ `
uniform highp sampler2D mwPalette;      // 3 texels a matrix: its rows
uniform highp sampler2D mwDual;         // 5 texels a matrix: real, dual, 3 rows of stretch
uniform highp sampler2D mwInfluences;   // (palette entry, weight), strongest first, zero ends
uniform highp sampler2D mwPlacements;   // 3 texels an instance
uniform highp sampler2D mwMorphDeltas;  // 2 texels a vertex and target: position, normal
uniform highp sampler2D mwMorphWeights; // (target, weight) of the targets that are on
uniform int mwEntries;
uniform int mwInfluenceCount;
uniform int mwVertexCount;
uniform int mwMorphSlots;
uniform int mwMethod;

bool mwReady = false;
vec3 mwPosition;
vec3 mwNormal;
vec3 mwTangent;

vec4 mwAt(highp sampler2D table, int i) { return texelFetch(table, ivec2(i & 1023, i >> 10), 0); }

void mwLinear(int vertex, int base, out vec4 r0, out vec4 r1, out vec4 r2) {
  r0 = r1 = r2 = vec4(0.0);
  for (int k = 0; k < mwInfluenceCount; k++) {
    vec2 pair = mwAt(mwInfluences, vertex * mwInfluenceCount + k).xy;
    if (pair.y == 0.0) break;
    int at = (base + int(pair.x)) * 3;
    r0 += pair.y * mwAt(mwPalette, at);
    r1 += pair.y * mwAt(mwPalette, at + 1);
    r2 += pair.y * mwAt(mwPalette, at + 2);
  }
}

void mwDualQuaternion(int vertex, int base, out vec4 r0, out vec4 r1, out vec4 r2) {
  vec4 real = vec4(0.0), dual = vec4(0.0), lead = vec4(0.0);
  vec4 s0 = vec4(0.0), s1 = vec4(0.0), s2 = vec4(0.0);
  for (int k = 0; k < mwInfluenceCount; k++) {
    vec2 pair = mwAt(mwInfluences, vertex * mwInfluenceCount + k).xy;
    if (pair.y == 0.0) break;
    int at = (base + int(pair.x)) * 5;
    vec4 q = mwAt(mwDual, at);
    if (k == 0) lead = q;
    float signed_weight = dot(q, lead) < 0.0 ? -pair.y : pair.y;
    real += signed_weight * q;
    dual += signed_weight * mwAt(mwDual, at + 1);
    s0 += pair.y * mwAt(mwDual, at + 2);
    s1 += pair.y * mwAt(mwDual, at + 3);
    s2 += pair.y * mwAt(mwDual, at + 4);
  }
  float size = length(real);
  real /= size;
  dual /= size;
  float x = real.x, y = real.y, z = real.z, w = real.w;
  vec3 t = 2.0 * (w * dual.xyz - dual.w * real.xyz + cross(real.xyz, dual.xyz));
  vec3 a0 = vec3(1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w));
  vec3 a1 = vec3(2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w));
  vec3 a2 = vec3(2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y));
  r0 = a0.x * s0 + a0.y * s1 + a0.z * s2; r0.w += t.x;
  r1 = a1.x * s0 + a1.y * s1 + a1.z * s2; r1.w += t.y;
  r2 = a2.x * s0 + a2.y * s1 + a2.z * s2; r2.w += t.z;
}

vec3 mwUnit(vec3 v) { float size = length(v); return size > 0.0 ? v / size : v; }

void mwCarry(vec4 r0, vec4 r1, vec4 r2, inout vec3 p, inout vec3 n, inout vec3 t) {
  vec4 q = vec4(p, 1.0);
  p = vec3(dot(r0, q), dot(r1, q), dot(r2, q));
  n = mwUnit(vec3(dot(cross(r1.xyz, r2.xyz), n), dot(cross(r2.xyz, r0.xyz), n), dot(cross(r0.xyz, r1.xyz), n)));
  t = vec3(dot(r0.xyz, t), dot(r1.xyz, t), dot(r2.xyz, t));
  t = mwUnit(t - n * dot(n, t));
}

void mwSkin(int vertex, int instance, vec3 p, vec3 n, vec3 t, float share) {
  if (mwReady) return;
  mwReady = true;
  for (int i = 0; i < mwMorphSlots; i++) {
    vec2 pair = mwAt(mwMorphWeights, instance * mwMorphSlots + i).xy;
    if (pair.y == 0.0) break;
    int at = (int(pair.x) * mwVertexCount + vertex) * 2;
    p += pair.y * mwAt(mwMorphDeltas, at).xyz;
    n += pair.y * mwAt(mwMorphDeltas, at + 1).xyz;
  }
  int base = instance * mwEntries;
  vec4 r0, r1, r2;
  mwPosition = p; mwNormal = n; mwTangent = t;
  if (mwMethod == 1) mwDualQuaternion(vertex, base, r0, r1, r2);
  else mwLinear(vertex, base, r0, r1, r2);
  mwCarry(r0, r1, r2, mwPosition, mwNormal, mwTangent);
  if (mwMethod == 2) {
    mwDualQuaternion(vertex, base, r0, r1, r2);
    mwCarry(r0, r1, r2, p, n, t);
    mwPosition = mix(mwPosition, p, share);
    mwNormal = mwUnit(mix(mwNormal, n, share));
    mwTangent = mwUnit(mix(mwTangent, t, share));
  }
  int at = instance * 3;
  r0 = mwAt(mwPlacements, at); r1 = mwAt(mwPlacements, at + 1); r2 = mwAt(mwPlacements, at + 2);
  mwCarry(r0, r1, r2, mwPosition, mwNormal, mwTangent);
}
`;

const CALL = /* glsl */ `
  vec3 mwInTangent = vec3(0.0);
  #ifdef USE_TANGENT
    mwInTangent = tangent.xyz;
  #endif
  #ifdef MW_LINES
    mwSkin(gl_VertexID / 2, gl_InstanceID, position, normal, mwInTangent, mwShare);
  #else
    mwSkin(gl_VertexID, gl_InstanceID, position, normal, mwInTangent, mwShare);
  #endif
`;

const NORMAL_CHUNK = /* glsl */ `{ ${CALL} }
  vec3 objectNormal = mwNormal;
  #ifdef USE_TANGENT
    vec3 objectTangent = mwTangent;
  #endif
`;

const POSITION_CHUNK = /* glsl */ `{ ${CALL} }
  vec3 transformed = mwPosition;
  #ifdef MW_LINES
    transformed += mwNormal * mwLength * float(gl_VertexID & 1);
  #endif
  mwHeatValue = mwHeatWeight;
`;

const VERTEX_HEAD = /* glsl */ `
attribute float mwShare;
attribute float mwHeatWeight;
varying float mwHeatValue;
uniform float mwLength;
${SKINNING_GLSL}
`;

/** Cividis, made for colour-blind eyes: dark blue through grey to yellow, its lightness rising all the way. */
const FRAGMENT_HEAD = /* glsl */ `
varying float mwHeatValue;
uniform float mwHeat;
vec3 mwCividis(float x) {
  const vec3 c0 = vec3(0.0, 0.022, 0.075), c1 = vec3(0.037, 0.060, 0.152), c2 = vec3(0.204, 0.201, 0.191),
             c3 = vec3(0.456, 0.391, 0.173), c4 = vec3(0.991, 0.816, 0.059);
  x = clamp(x, 0.0, 1.0) * 4.0;
  if (x < 1.0) return mix(c0, c1, x);
  if (x < 2.0) return mix(c1, c2, x - 1.0);
  if (x < 3.0) return mix(c2, c3, x - 2.0);
  return mix(c3, c4, x - 3.0);
}
`;

/** Lets a material draw skinned instances. `normalLines` is for lines along normals, two vertices for each of the mesh. */
export function skinned<T extends Material>(material: T, uniforms: SkinUniforms, normalLines = false): T {
  material.defines = { ...material.defines, ...(normalLines ? { MW_LINES: 1 } : {}) };
  material.onBeforeCompile = (shader: WebGLProgramParametersWithUniforms) => {
    Object.assign(shader.uniforms, uniforms);
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", `#include <common>\n${VERTEX_HEAD}`)
      .replace("#include <beginnormal_vertex>", NORMAL_CHUNK)
      .replace("#include <begin_vertex>", POSITION_CHUNK);
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", `#include <common>\n${FRAGMENT_HEAD}`)
      .replace(
        "#include <color_fragment>",
        "#include <color_fragment>\nif (mwHeat > 0.5) diffuseColor = vec4(mwCividis(mwHeatValue), 1.0);",
      )
      .replace(
        "#include <metalnessmap_fragment>",
        "#include <metalnessmap_fragment>\nif (mwHeat > 0.5) { metalnessFactor = 0.0; roughnessFactor = 0.9; }",
      );
  };
  material.customProgramCacheKey = () => (normalLines ? "marrow lines" : "marrow");
  return material;
}
