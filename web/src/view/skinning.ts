/**
 * Skinning, once a picture: a pass that writes position, normal and tangent of every vertex of every instance drawn in full into
 * textures, which all that is drawn afterwards reads: colour, shadow, wireframe, normals.
 *
 * It computes what `mw.skin` does: morph targets first, then a linear blend of matrices, or a blend of dual quaternions with
 * scale and shear blended linearly and applied first, or a mix of both; normals go through the cofactor of the matrix, turned
 * round where it mirrors: what was outside stays outside. Last comes the place where the instance stands. Tables are float textures 1024 texels wide, read by number.
 */
import {
  BufferAttribute, BufferGeometry, Camera, FloatType, GLSL3, HalfFloatType, type IUniform, Mesh, NearestFilter, NoBlending,
  RawShaderMaterial, Scene, type Texture, WebGLRenderTarget, type WebGLRenderer,
} from "three";

export const METHODS = { linear: 0, dual_quaternion: 1, blended: 2 } as const;
export type Method = keyof typeof METHODS;

/** Skinned vertices lie in rows of this many texels, vertex after vertex, instance after instance. */
export const SKINNED_WIDTH = 2048;
const SKINNED_ROWS = 4096;
/** So many vertices can be skinned at once. */
export const SKINNED_MOST = SKINNED_WIDTH * SKINNED_ROWS;

export interface SkinUniforms {
  [name: string]: IUniform;
  mwPalette: IUniform<Texture>;
  mwDual: IUniform<Texture>;
  mwPlacements: IUniform<Texture>;
  mwRest: IUniform<Texture>;
  mwInfluences: IUniform<Texture>;
  mwMorphDeltas: IUniform<Texture>;
  mwMorphWeights: IUniform<Texture>;
  mwEntries: IUniform<number>;
  mwInfluencePairs: IUniform<number>;
  mwVertexCount: IUniform<number>;
  mwTotal: IUniform<number>;
  mwMorphSlots: IUniform<number>;
  mwMethod: IUniform<number>;
}

const FRAGMENT = /* glsl */ `
precision highp float;
precision highp int;
precision highp sampler2D;
uniform sampler2D mwPalette;      // 3 texels a matrix: its rows
uniform sampler2D mwDual;         // 5 texels a matrix: real, dual, 3 rows of stretch
uniform sampler2D mwPlacements;   // 3 texels an instance; tables of instances hold those that are skinned, in their order
uniform sampler2D mwRest;         // 3 texels a vertex: position and share of dual quaternions, normal, tangent
uniform sampler2D mwInfluences;   // (entry, weight, entry, weight), strongest first, zero ends
uniform sampler2D mwMorphDeltas;  // 3 texels a vertex and target: position, normal, tangent
uniform sampler2D mwMorphWeights; // (target, weight) of the targets that are on
uniform int mwEntries, mwInfluencePairs, mwVertexCount, mwTotal, mwMorphSlots, mwMethod;
layout(location = 0) out vec4 mwPosition;
layout(location = 1) out vec4 mwNormal;
#ifdef MW_TANGENTS
layout(location = 2) out vec4 mwTangent;
#endif

vec4 mwAt(sampler2D table, int i) { return texelFetch(table, ivec2(i & 1023, i >> 10), 0); }

void mwAdd(float weight, int at, inout vec4 r0, inout vec4 r1, inout vec4 r2) {
  r0 += weight * mwAt(mwPalette, at);
  r1 += weight * mwAt(mwPalette, at + 1);
  r2 += weight * mwAt(mwPalette, at + 2);
}

void mwLinear(int vertex, int base, out vec4 r0, out vec4 r1, out vec4 r2) {
  r0 = r1 = r2 = vec4(0.0);
  for (int k = 0; k < mwInfluencePairs; k++) {
    vec4 pair = mwAt(mwInfluences, vertex * mwInfluencePairs + k);
    if (pair.y == 0.0) break;
    mwAdd(pair.y, (base + int(pair.x)) * 3, r0, r1, r2);
    if (pair.w == 0.0) break;
    mwAdd(pair.w, (base + int(pair.z)) * 3, r0, r1, r2);
  }
}

void mwDualQuaternion(int vertex, int base, out vec4 r0, out vec4 r1, out vec4 r2) {
  vec4 real = vec4(0.0), dual = vec4(0.0), lead = vec4(0.0);
  vec4 s0 = vec4(0.0), s1 = vec4(0.0), s2 = vec4(0.0);
  for (int k = 0; k < 2 * mwInfluencePairs; k++) {
    vec4 both = mwAt(mwInfluences, vertex * mwInfluencePairs + k / 2);
    vec2 pair = (k & 1) == 0 ? both.xy : both.zw;
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

// Returns -1 where the surface is mirrored.
float mwCarry(vec4 r0, vec4 r1, vec4 r2, inout vec3 p, inout vec3 n, inout vec3 t) {
  vec4 q = vec4(p, 1.0);
  p = vec3(dot(r0, q), dot(r1, q), dot(r2, q));
  float side = dot(r0.xyz, cross(r1.xyz, r2.xyz)) < 0.0 ? -1.0 : 1.0;
  n = side * mwUnit(vec3(dot(cross(r1.xyz, r2.xyz), n), dot(cross(r2.xyz, r0.xyz), n), dot(cross(r0.xyz, r1.xyz), n)));
  #ifdef MW_TANGENTS
  t = vec3(dot(r0.xyz, t), dot(r1.xyz, t), dot(r2.xyz, t));
  t = mwUnit(t - n * dot(n, t));
  #endif
  return side;
}

void main() {
  ivec2 texel = ivec2(gl_FragCoord.xy);
  int at = texel.y * ${SKINNED_WIDTH} + texel.x;
  if (at >= mwTotal) discard;
  int instance = at / mwVertexCount, vertex = at - instance * mwVertexCount;
  vec4 rest = mwAt(mwRest, 3 * vertex);
  vec3 p = rest.xyz, n = mwAt(mwRest, 3 * vertex + 1).xyz, t = vec3(0.0);
  #ifdef MW_TANGENTS
  t = mwAt(mwRest, 3 * vertex + 2).xyz;
  #endif
  for (int i = 0; i < mwMorphSlots; i++) {
    vec2 pair = mwAt(mwMorphWeights, instance * mwMorphSlots + i).xy;
    if (pair.y == 0.0) break;
    int delta = (int(pair.x) * mwVertexCount + vertex) * 3;
    p += pair.y * mwAt(mwMorphDeltas, delta).xyz;
    n += pair.y * mwAt(mwMorphDeltas, delta + 1).xyz;
    t += pair.y * mwAt(mwMorphDeltas, delta + 2).xyz;
  }
  int base = instance * mwEntries;
  vec4 r0, r1, r2;
  vec3 position = p, normal = n, tangent = t;
  if (mwMethod == 1) mwDualQuaternion(vertex, base, r0, r1, r2);
  else mwLinear(vertex, base, r0, r1, r2);
  float side = mwCarry(r0, r1, r2, position, normal, tangent);
  if (mwMethod == 2) {
    mwDualQuaternion(vertex, base, r0, r1, r2);
    mwCarry(r0, r1, r2, p, n, t);
    position = mix(position, p, rest.w);
    normal = mwUnit(mix(normal, n, rest.w));
    tangent = mwUnit(mix(tangent, t, rest.w));
  }
  r0 = mwAt(mwPlacements, 3 * instance);
  r1 = mwAt(mwPlacements, 3 * instance + 1);
  r2 = mwAt(mwPlacements, 3 * instance + 2);
  side *= mwCarry(r0, r1, r2, position, normal, tangent);
  mwPosition = vec4(position, 1.0);
  mwNormal = vec4(normal, 0.0);
  #ifdef MW_TANGENTS
  mwTangent = vec4(tangent, side);
  #endif
}`;

const VERTEX = /* glsl */ `
in vec3 position;
void main() { gl_Position = vec4(position, 1.0); }`;

/** What drawing needs to read skinned vertices. */
export interface SkinnedUniforms {
  [name: string]: IUniform;
  mwPositions: IUniform<Texture | null>;
  mwNormals: IUniform<Texture | null>;
  mwTangents: IUniform<Texture | null>;
  mwVertexCount: IUniform<number>;
}

const camera = new Camera();
const screen = new BufferGeometry().setAttribute("position", new BufferAttribute(new Float32Array([-1, -1, 0, 3, -1, 0, -1, 3, 0]), 3));

/** The skinned vertices of one mesh. */
export class SkinnedVertices {
  readonly results: SkinnedUniforms;
  private target: WebGLRenderTarget | null = null;
  /** The pass: one triangle over all texels. */
  readonly scene = new Scene();
  private readonly material: RawShaderMaterial;

  constructor(
    private readonly vertices: number,
    readonly uniforms: SkinUniforms,
    private readonly tangents: boolean,
  ) {
    this.results = {
      mwPositions: { value: null }, mwNormals: { value: null }, mwTangents: { value: null }, mwVertexCount: { value: vertices },
    };
    this.material = new RawShaderMaterial({
      glslVersion: GLSL3, vertexShader: VERTEX, fragmentShader: FRAGMENT, uniforms, defines: tangents ? { MW_TANGENTS: 1 } : {},
      depthTest: false, depthWrite: false, blending: NoBlending,
    });
    const quad = new Mesh(screen, this.material);
    quad.frustumCulled = false;
    this.scene.add(quad);
  }

  private reserve(rows: number): WebGLRenderTarget {
    const held = this.target?.height ?? 0;
    if (this.target && rows <= held && 4 * rows >= held) return this.target;
    this.target?.dispose();
    const target = new WebGLRenderTarget(SKINNED_WIDTH, rows, {
      count: this.tangents ? 3 : 2, type: FloatType, minFilter: NearestFilter, magFilter: NearestFilter, depthBuffer: false,
    });
    for (const texture of target.textures.slice(1)) texture.type = HalfFloatType;
    [this.results.mwPositions.value, this.results.mwNormals.value, this.results.mwTangents.value = null] = target.textures;
    return (this.target = target);
  }

  /** Skins `count` instances. */
  run(renderer: WebGLRenderer, count: number): void {
    const total = count * this.vertices;
    if (!total) return;
    const rows = Math.ceil(total / SKINNED_WIDTH);
    const target = this.reserve(rows);
    target.viewport.set(0, 0, SKINNED_WIDTH, rows);
    this.uniforms.mwTotal.value = total;
    renderer.setRenderTarget(target);
    renderer.render(this.scene, camera);
    renderer.setRenderTarget(null);
  }

  /** Reads skinned positions back, `(V, 3)` flat, of the instance skinned `place`-th. */
  read(renderer: WebGLRenderer, place: number): Float32Array {
    const out = new Float32Array(3 * this.vertices);
    if (!this.target) return out;
    const texels = new Float32Array(4 * SKINNED_WIDTH * this.target.height);
    renderer.readRenderTargetPixels(this.target, 0, 0, SKINNED_WIDTH, this.target.height, texels);
    const first = place * this.vertices;
    for (let v = 0; v < this.vertices; v++) for (let c = 0; c < 3; c++) out[3 * v + c] = texels[4 * (first + v) + c];
    return out;
  }

  dispose(): void {
    this.target?.dispose();
    this.material.dispose();
  }
}
