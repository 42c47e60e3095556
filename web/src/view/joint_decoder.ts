/**
 * Decodes compact joints on the graphics card: a pass that writes the matrices (3 texels an entry), or the dual quaternions and
 * stretches (5 texels), of the instances that are drawn, where skinning reads them.
 */
import {
  BufferAttribute, BufferGeometry, Camera, DataTexture, FloatType, GLSL3, Mesh, NearestFilter, NoBlending, RawShaderMaterial, RGBAIntegerFormat,
  Scene, type Texture, UnsignedIntType, WebGLRenderTarget, type WebGLRenderer,
} from "three";
import { ENTRY_WORDS, type JointStore } from "./joint_store";
import { Table } from "./tables";

const WIDTH = 1024;

const FRAGMENT = /* glsl */ `
precision highp float;
precision highp int;
precision highp sampler2D;
precision highp usampler2D;
uniform usampler2D mwWords;   // one texel an entry: px | py << 16, pz | q0 << 16, q1 | q2 << 16, scale
uniform sampler2D mwCenters;  // one texel an instance: where it is, and how far its joints reach
uniform sampler2D mwPivots;   // one texel an entry: where it is in the bind pose
uniform int mwEntries, mwTotal;
out vec4 mwOut;
ivec2 mwPlace(int i) { return ivec2(i & ${WIDTH - 1}, i >> 10); }
float mwTurn(uint v) { return (float(v & 0x7fffu) / 32767.0 * 2.0 - 1.0) * 0.70710678118654752; }
void main() {
  ivec2 texel = ivec2(gl_FragCoord.xy);
  int at = texel.y * ${WIDTH} + texel.x;
  if (at >= mwTotal * MW_TEXELS) discard;
  int slot = at / MW_TEXELS, row = at - slot * MW_TEXELS;
  int instance = slot / mwEntries, entry = slot - instance * mwEntries;
  uvec4 words = texelFetch(mwWords, mwPlace(slot), 0);
  vec4 center = texelFetch(mwCenters, mwPlace(instance), 0);
  vec3 pivot = texelFetch(mwPivots, mwPlace(entry), 0).xyz;
  vec3 place = center.xyz + center.w * (2.0 * vec3(float(words.x & 0xffffu), float(words.x >> 16), float(words.y & 0xffffu)) / 65535.0 - 1.0);
  uint a = words.y >> 16, b = words.z & 0xffffu, c = words.z >> 16;
  vec3 o = vec3(mwTurn(a), mwTurn(b), mwTurn(c));
  float most = sqrt(max(0.0, 1.0 - dot(o, o)));
  uint largest = (a >> 15) | ((b >> 15) << 1);
  vec4 q = largest == 0u ? vec4(most, o) : largest == 1u ? vec4(o.x, most, o.yz) : largest == 2u ? vec4(o.xy, most, o.z) : vec4(o, most);
  float s = uintBitsToFloat(words.w);
  float x = q.x, y = q.y, z = q.z, w = q.w;
  vec3 r0 = vec3(1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w));
  vec3 r1 = vec3(2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w));
  vec3 r2 = vec3(2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y));
  vec3 t = place - s * vec3(dot(r0, pivot), dot(r1, pivot), dot(r2, pivot));
#if MW_TEXELS == 3
  mwOut = row == 0 ? vec4(s * r0, t.x) : row == 1 ? vec4(s * r1, t.y) : vec4(s * r2, t.z);
#else
  vec4 dual = 0.5 * vec4(t * w + cross(t, q.xyz), -dot(t, q.xyz));
  mwOut = row == 0 ? q : row == 1 ? dual : row == 2 ? vec4(1.0, 0.0, 0.0, 0.0) : row == 3 ? vec4(0.0, 1.0, 0.0, 0.0) : vec4(0.0, 0.0, 1.0, 0.0);
#endif
}`;
const VERTEX = "in vec3 position;\nvoid main() { gl_Position = vec4(position, 1.0); }";

const camera = new Camera();
const screen = new BufferGeometry().setAttribute("position", new BufferAttribute(new Float32Array([-1, -1, 0, 3, -1, 0, -1, 3, 0]), 3));

export class JointDecoder {
  private words: DataTexture | null = null;
  private readonly centers = new Table(4);
  private readonly pivots: Table;
  private readonly passes = new Map<number, { scene: Scene; material: RawShaderMaterial; target: WebGLRenderTarget | null }>();
  private readonly uniforms;
  private held = 0;

  constructor(
    private readonly entries: number,
    pivots: Float32Array,
  ) {
    this.pivots = new Table(4, 4 * entries);
    for (let e = 0; e < entries; e++) this.pivots.data.set(pivots.subarray(3 * e, 3 * e + 3), 4 * e);
    this.uniforms = { mwWords: { value: null as Texture | null }, mwCenters: { value: null as Texture | null }, mwPivots: { value: this.pivots.texture as Texture }, mwEntries: { value: entries }, mwTotal: { value: 0 } };
  }

  /** Brings the joints of instances, in their order, to the graphics card. */
  gather(store: JointStore, instances: number[]): void {
    const { entries } = this;
    const data = this.reserve(entries * instances.length);
    this.centers.reserve(4 * instances.length);
    instances.forEach((instance, place) => {
      const from = ENTRY_WORDS * store.palette * instance;
      data.set(store.words.subarray(from, from + ENTRY_WORDS * entries), ENTRY_WORDS * entries * place);
      this.centers.data.set(store.centers.subarray(4 * instance, 4 * instance + 4), 4 * place);
    });
    this.words!.needsUpdate = true;
    this.centers.changed();
    this.uniforms.mwWords.value = this.words;
    this.uniforms.mwCenters.value = this.centers.texture;
    this.uniforms.mwTotal.value = entries * instances.length;
  }

  private reserve(texels: number): Uint32Array {
    const rows = Math.max(1, Math.ceil(texels / WIDTH));
    if (!this.words || rows > this.held || 4 * rows < this.held) {
      this.words?.dispose();
      this.held = rows;
      this.words = new DataTexture(new Uint32Array(4 * WIDTH * rows), WIDTH, rows, RGBAIntegerFormat, UnsignedIntType);
      this.words.internalFormat = "RGBA32UI";
      this.words.magFilter = this.words.minFilter = NearestFilter;
    }
    return this.words.image.data as unknown as Uint32Array;
  }

  /** Runs the pass: 3 texels an entry are matrices, 5 are dual quaternions with stretches. */
  run(renderer: WebGLRenderer, texels: 3 | 5): Texture {
    let pass = this.passes.get(texels);
    if (!pass) {
      const material = new RawShaderMaterial({ glslVersion: GLSL3, vertexShader: VERTEX, fragmentShader: FRAGMENT, uniforms: this.uniforms, defines: { MW_TEXELS: texels }, depthTest: false, depthWrite: false, blending: NoBlending });
      const quad = new Mesh(screen, material);
      quad.frustumCulled = false;
      pass = { scene: new Scene().add(quad), material, target: null };
      this.passes.set(texels, pass);
    }
    const rows = Math.max(1, Math.ceil((texels * this.uniforms.mwTotal.value) / WIDTH));
    if (!pass.target || rows > pass.target.height || 4 * rows < pass.target.height) {
      pass.target?.dispose();
      pass.target = new WebGLRenderTarget(WIDTH, rows, { type: FloatType, minFilter: NearestFilter, magFilter: NearestFilter, depthBuffer: false });
    }
    pass.target.viewport.set(0, 0, WIDTH, rows);
    renderer.setRenderTarget(pass.target);
    renderer.render(pass.scene, camera);
    renderer.setRenderTarget(null);
    return pass.target.texture;
  }

  dispose(): void {
    this.words?.dispose();
    for (const table of [this.centers, this.pivots]) table.dispose();
    for (const { material, target } of this.passes.values()) {
      material.dispose();
      target?.dispose();
    }
  }
}
