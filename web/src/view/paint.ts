/** Colours that a view gives a surface instead of its materials': tables of them, and the GLSL that shows them. */
import { DataTexture, type IUniform, NearestFilter, RGBAFormat, type Texture, UnsignedByteType, type WebGLProgramParametersWithUniforms } from "three";
import type { DrawingArray, PaintInfo } from "../protocol";

const WIDTH = 1024;
/** So many instances may have colours of their own; the others keep their materials. */
export const MOST_OWN = 8;
const MODES = { vertices: 1, checker: 2, normals: 4 };
/** Who is coloured: everybody by one row, those that are named by a row each, or every instance by its own row. */
const SHARED = 0;
const NAMED = 1;
const EACH = 2;

/** A paint of the engine's, with its colours where it has some. */
export interface LevelPaint {
  info: PaintInfo;
  colors: DrawingArray | null;
}

export interface PaintUniforms {
  mwPaint: IUniform<Texture | null>;
  mwPaintMode: IUniform<number>;
  mwPaintSingle: IUniform<boolean>;
  mwPaintWho: IUniform<number>;
  mwPaintRows: IUniform<Int32Array>;
  mwPaintStrength: IUniform<number>;
  mwPaintLit: IUniform<boolean>;
}

export class SurfacePaint {
  readonly uniforms: PaintUniforms = {
    mwPaint: { value: null }, mwPaintMode: { value: 0 }, mwPaintSingle: { value: true }, mwPaintWho: { value: SHARED },
    mwPaintRows: { value: new Int32Array(MOST_OWN).fill(-1) }, mwPaintStrength: { value: 1 }, mwPaintLit: { value: true },
  };
  private instances: number[] = [];

  /** `vertices` of a mesh, the first of which is number `first` of all meshes. */
  constructor(private readonly vertices: number) {
    this.fill(new Uint8Array(3), 1);
  }

  /** Colours the surface; null gives it its materials back. `first`: the number its first vertex has among all meshes. */
  show(paint: LevelPaint | null, first: number): void {
    const { uniforms } = this;
    uniforms.mwPaintMode.value = paint ? MODES[paint.info.mode] : 0;
    if (!paint) return;
    const { colors, info } = paint;
    uniforms.mwPaintStrength.value = info.strength;
    uniforms.mwPaintLit.value = info.lit;
    this.instances = info.instances;
    uniforms.mwPaintWho.value = info.instances.length ? NAMED : SHARED;
    const rows = colors && colors.shape.length === 3 ? colors.shape[0] : 1;
    const each = colors ? colors.shape[colors.shape.length - 2] : 0;
    uniforms.mwPaintSingle.value = each <= 1;
    if (!colors) return;
    if (each <= 1) this.fill(colors.data as Uint8Array, 1);
    else {
      const mine = new Uint8Array(3 * rows * this.vertices);
      for (let row = 0; row < rows; row++) mine.set((colors.data as Uint8Array).subarray(3 * (row * each + first), 3 * (row * each + first + this.vertices)), 3 * row * this.vertices);
      this.fill(mine, rows * this.vertices);
    }
  }

  /** Colours each instance by a colour of its own, `(N, 4)`. */
  showEach(colors: Uint8Array): void {
    const { uniforms } = this;
    uniforms.mwPaintMode.value = MODES.vertices;
    uniforms.mwPaintSingle.value = true;
    uniforms.mwPaintWho.value = EACH;
    this.fill(Uint8Array.from({ length: (3 * colors.length) / 4 }, (_, i) => colors[4 * Math.floor(i / 3) + (i % 3)]), colors.length / 4);
  }

  /** Says which instances are drawn, in their order. */
  arrange(chosen: number[]): void {
    const rows = this.uniforms.mwPaintRows.value;
    rows.fill(-1);
    for (let place = 0; place < Math.min(MOST_OWN, chosen.length); place++) rows[place] = this.instances.indexOf(chosen[place]);
  }

  private fill(colors: Uint8Array, count: number): void {
    this.uniforms.mwPaint.value?.dispose();
    const height = Math.max(1, Math.ceil(count / WIDTH));
    const data = new Uint8Array(4 * WIDTH * height);
    for (let i = 0; i < count; i++) for (let c = 0; c < 3; c++) data[4 * i + c] = colors[3 * i + c];
    const texture = new DataTexture(data, WIDTH, height, RGBAFormat, UnsignedByteType);
    texture.magFilter = texture.minFilter = NearestFilter;
    texture.generateMipmaps = false;
    texture.needsUpdate = true;
    this.uniforms.mwPaint.value = texture;
  }

  /** Whether the surface is coloured by a view. */
  get on(): boolean {
    return this.uniforms.mwPaintMode.value > 0;
  }

  dispose(): void {
    this.uniforms.mwPaint.value?.dispose();
  }
}

const VERTEX = /* glsl */ `
uniform highp sampler2D mwPaint;
uniform int mwPaintMode, mwPaintWho, mwPaintRows[${MOST_OWN}];
uniform bool mwPaintSingle;
uniform float mwPaintStrength;
varying vec4 mwPainted;
varying vec2 mwPaintUv;
varying vec3 mwPaintFacing;
vec4 mwPaintHere() {
  if (mwPaintMode == 0) return vec4(0.0);
  int row = mwPaintWho == ${SHARED} ? 0 : mwPaintWho == ${EACH} ? gl_InstanceID : gl_InstanceID < ${MOST_OWN} ? mwPaintRows[gl_InstanceID] : -1;
  if (row < 0) return vec4(0.0);
  int at = mwPaintSingle ? row : row * mwVertexCount + gl_VertexID;
  return vec4(texelFetch(mwPaint, ivec2(at & ${WIDTH - 1}, at / ${WIDTH}), 0).rgb, mwPaintStrength);
}
`;

/** The same squares and colours as the engine's pictures have. */
const FRAGMENT = /* glsl */ `
uniform int mwPaintMode;
uniform bool mwPaintLit;
varying vec4 mwPainted;
varying vec2 mwPaintUv;
varying vec3 mwPaintFacing;
vec3 mwPaintLinear(vec3 c) {
  return mix(pow((c + 0.055) / 1.055, vec3(2.4)), c / 12.92, vec3(lessThanEqual(c, vec3(0.04045))));
}
vec3 mwPaintChecker(vec2 uv) {
  vec2 at = uv * 16.0, cell = floor(at), wide = fwidth(at), within = fract(uv);
  bool odd = fract((cell.x + cell.y) * 0.5) > 0.25;
  float sharp = clamp(1.5 - 1.5 * max(wide.x, wide.y), 0.0, 1.0);
  vec3 hue = mix(vec3(0.13, 0.42, 0.80), vec3(0.86, 0.38, 0.15), within.x) * mix(0.75, 1.1, within.y);
  vec3 dark = mix(hue, hue * 0.7, sharp), light = mix(hue, mix(hue, vec3(1.0), 0.6), sharp);
  return clamp(odd ? light : dark, 0.0, 1.0);
}
vec3 mwPaintColor(vec3 facing) {
  if (mwPaintMode == ${MODES.checker}) return mwPaintChecker(mwPaintUv);
  return mwPaintMode == ${MODES.normals} ? 0.88 * (0.5 + 0.5 * facing) : mwPainted.rgb;
}
`;

/** Puts a paint into the program of a material that draws skinned vertices. */
export function showPaint(shader: WebGLProgramParametersWithUniforms): void {
  shader.vertexShader = shader.vertexShader
    .replace("#include <common>", `#include <common>\n${VERTEX}`)
    .replace("#include <project_vertex>", "#include <project_vertex>\nmwPainted = mwPaintHere();\nmwPaintUv = uv;\nmwPaintFacing = mwRead(mwNormals);");
  const lit = shader.fragmentShader.includes("#include <emissivemap_fragment>");
  const after = lit ? "#include <emissivemap_fragment>" : "#include <color_fragment>";
  const facing = lit ? "transformDirectionByInverseViewMatrix(normal, viewMatrix)" : "normalize(mwPaintFacing)";
  const matt = "metalnessFactor *= 1.0 - mwPainted.a; roughnessFactor = mix(roughnessFactor, 1.0, mwPainted.a); totalEmissiveRadiance *= 1.0 - mwPainted.a;";
  shader.fragmentShader = shader.fragmentShader
    .replace("#include <common>", `#include <common>\n${FRAGMENT}`)
    .replace(after, `${after}
      vec3 mwPaintShown = mwPaintMode > 0 ? mwPaintColor(${facing}) : vec3(0.0);
      if (mwPaintMode > 0) { diffuseColor.rgb = mix(diffuseColor.rgb, mwPaintLinear(mwPaintShown), mwPainted.a); ${lit ? matt : ""} }`)
    // What no light falls on is seen as it was painted.
    .replace("#include <colorspace_fragment>", "#include <colorspace_fragment>\nif (mwPaintMode > 0 && !mwPaintLit) gl_FragColor.rgb = mix(gl_FragColor.rgb, mwPaintShown, mwPainted.a);");
}
