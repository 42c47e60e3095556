/**
 * Lines of a drawing, as the engine's pictures have them: so many pixels wide, round at both ends, and fainter where they are
 * behind a surface. A line of no length is a round point.
 */
import {
  AddEquation, BufferAttribute, CustomBlending, GreaterDepth, Group, InstancedBufferAttribute, InstancedBufferGeometry, type IUniform, LessEqualDepth,
  Mesh, OneFactor, OneMinusSrcAlphaFactor, ShaderMaterial, Sphere, Vector2,
} from "three";
import { SKINNED_WIDTH, type SkinnedUniforms } from "./skinning";

/** Widths are for a picture so many pixels high. */
const HEIGHT = 720;
/** Lines are taken to be nearer by this part of their distance, so that those on a surface are seen. */
const NEARER = 0.002;

const VERTEX = /* glsl */ `
attribute vec4 mwColor;
#ifdef MW_SURFACE
  attribute float mwFrom, mwTo;
  uniform highp sampler2D mwPositions, mwNormals;
  uniform int mwVertexCount, mwPlace;
  uniform float mwLength, mwWidth, mwHidden;
  vec3 mwRead(highp sampler2D skinned, float vertex) {
    int at = mwPlace * mwVertexCount + int(vertex);
    return texelFetch(skinned, ivec2(at & ${SKINNED_WIDTH - 1}, at / ${SKINNED_WIDTH}), 0).xyz;
  }
#else
  attribute vec3 mwStart, mwEnd;
  attribute vec2 mwWidth;
  attribute float mwHidden;
#endif
uniform vec2 mwSize;
uniform float mwScale;
varying vec4 mwLineColor;
varying vec3 mwAlong, mwHalf;
vec4 mwInView(vec3 p) {
  return projectionMatrix * vec4((viewMatrix * vec4(p, 1.0)).xyz * (1.0 - ${NEARER}), 1.0);
}
void main() {
  gl_Position = vec4(2.0, 2.0, 0.5, 1.0);
  #ifdef MW_SURFACE
    vec3 from = mwRead(mwPositions, mwFrom);
    vec3 to = mwLength > 0.0 ? from + mwLength * normalize(mwRead(mwNormals, mwFrom)) : mwRead(mwPositions, mwTo);
    vec2 width = vec2(mwWidth);
  #else
    vec3 from = mwStart, to = mwEnd;
    vec2 width = mwWidth;
  #endif
  vec4 a = mwInView(from), b = mwInView(to);
  // What lies behind the camera is cut off where it begins to be seen.
  float least = 1e-6 * max(abs(a.w), abs(b.w));
  if (a.w <= least && b.w <= least) return;
  if (a.w <= least) a = mix(a, b, (least - a.w) / (b.w - a.w));
  if (b.w <= least) b = mix(b, a, (least - b.w) / (a.w - b.w));
  vec2 pa = (a.xy / a.w * 0.5 + 0.5) * mwSize, pb = (b.xy / b.w * 0.5 + 0.5) * mwSize;
  float length = distance(pa, pb);
  vec2 dir = length > 1e-4 ? (pb - pa) / length : vec2(1.0, 0.0);
  vec2 radii = 0.5 * width * mwScale;
  float r = max(radii.x, radii.y) + 1.0;
  float along = position.x > 0.0 ? length + r : -r;
  vec2 pixel = pa + dir * along + vec2(-dir.y, dir.x) * position.y * r;
  float share = length <= 1e-4 ? 0.0 : clamp(along / length, 0.0, 1.0);
  gl_Position = vec4(pixel / mwSize * 2.0 - 1.0, clamp(mix(a.z / a.w, b.z / b.w, share), -1.0, 1.0), 1.0);
  mwLineColor = mwColor;
  mwAlong = vec3(along, position.y * r, length);
  mwHalf = vec3(radii, mwHidden);
}
`;

const FRAGMENT = /* glsl */ `
uniform float mwBehind;
varying vec4 mwLineColor;
varying vec3 mwAlong, mwHalf;
void main() {
  float share = clamp(mwAlong.x / max(mwAlong.z, 1e-4), 0.0, 1.0);
  float wide = mix(mwHalf.x, mwHalf.y, share);
  float past = max(max(-mwAlong.x, mwAlong.x - mwAlong.z), 0.0);
  // Thinner than a pixel it fades instead.
  float alpha = mwLineColor.a * clamp(max(wide, 0.5) - length(vec2(past, mwAlong.y)) + 0.5, 0.0, 1.0) * min(1.0, wide / 0.5);
  alpha *= mix(1.0, mwHalf.z, mwBehind);
  if (alpha <= 0.002) discard;
  gl_FragColor = vec4(mwLineColor.rgb * alpha, alpha);
}
`;

/** The size of what is drawn into, shared by all lines of a picture. */
export class LineScale {
  readonly size: IUniform<Vector2> = { value: new Vector2(1, 1) };
  readonly scale: IUniform<number> = { value: 1 };

  set(width: number, height: number): void {
    this.size.value.set(width, height);
    this.scale.value = height / HEIGHT;
  }
}

/** Quads of lines: drawn where they are in front, and again, fainter, where they are behind. */
class LineQuads {
  readonly group = new Group();
  private readonly geometry = new InstancedBufferGeometry();

  constructor(uniforms: Record<string, IUniform>, scale: LineScale, surface: boolean, behind: boolean) {
    this.geometry.setAttribute("position", new BufferAttribute(new Float32Array([-1, -1, 0, 1, -1, 0, -1, 1, 0, 1, 1, 0]), 3));
    this.geometry.setIndex([0, 1, 2, 2, 1, 3]);
    this.geometry.boundingSphere = new Sphere();
    for (const far of behind ? [0, 1] : [0]) {
      const material = new ShaderMaterial({
        vertexShader: VERTEX, fragmentShader: FRAGMENT, defines: surface ? { MW_SURFACE: 1 } : {}, transparent: true, depthWrite: false, toneMapped: false,
        uniforms: { ...uniforms, mwSize: scale.size, mwScale: scale.scale, mwBehind: { value: far } },
        blending: CustomBlending, blendEquation: AddEquation, blendSrc: OneFactor, blendDst: OneMinusSrcAlphaFactor, premultipliedAlpha: true,
        depthFunc: far ? GreaterDepth : LessEqualDepth,
      });
      const mesh = new Mesh(this.geometry, material);
      mesh.frustumCulled = false;
      // Lines that are hidden lie below those that are not.
      mesh.renderOrder = far ? 10 : 11;
      this.group.add(mesh);
    }
  }

  /** Says how many there are; their attributes are `[name, values, width, normalized]`, one row for all or one for each. */
  show(count: number, attributes: [string, Float32Array | Uint8Array, number, boolean][]): void {
    if (count !== this.geometry.instanceCount) this.geometry.dispose(); // its buffers have another size
    for (const [name, values, width, normalized] of attributes) {
      const known = this.geometry.getAttribute(name) as InstancedBufferAttribute | undefined;
      if (known && known.array.length === values.length && count === this.geometry.instanceCount) {
        known.array.set(values);
        known.needsUpdate = true;
      } else {
        const each = values.length === width ? Math.max(1, count) : 1;
        this.geometry.setAttribute(name, new InstancedBufferAttribute(values.slice(), width, normalized, each));
      }
    }
    this.geometry.instanceCount = count;
    this.group.visible = count > 0;
  }

  dispose(): void {
    this.geometry.dispose();
    for (const mesh of this.group.children as Mesh<InstancedBufferGeometry, ShaderMaterial>[]) mesh.material.dispose();
  }
}

/** Lines of the world. */
export class WorldLines {
  private readonly quads: LineQuads;

  constructor(scale: LineScale) {
    this.quads = new LineQuads({}, scale, false, true);
  }

  get group(): Group {
    return this.quads.group;
  }

  show(start: Float32Array, end: Float32Array, colors: Uint8Array, widths: Float32Array, hidden: Float32Array): void {
    const count = hidden.length;
    this.quads.show(count, count ? [["mwStart", start, 3, false], ["mwEnd", end, 3, false], ["mwColor", colors, 4, true], ["mwWidth", widths, 2, false], ["mwHidden", hidden, 1, false]] : []);
  }

  dispose(): void {
    this.quads.dispose();
  }
}

/** Lines on a surface that the graphics card skins: from vertex to vertex, or along normals. */
export class MeshLines {
  private readonly quads: LineQuads;
  private readonly place: IUniform<number> = { value: 0 };

  constructor(
    scale: LineScale, skinned: SkinnedUniforms, line: { length: number; width: number; hidden: number },
    from: Float32Array, to: Float32Array, colors: Uint8Array,
  ) {
    const uniforms = {
      mwPositions: skinned.mwPositions, mwNormals: skinned.mwNormals, mwVertexCount: skinned.mwVertexCount,
      mwPlace: this.place, mwLength: { value: line.length }, mwWidth: { value: line.width }, mwHidden: { value: line.hidden },
    };
    this.quads = new LineQuads(uniforms, scale, true, line.hidden > 0);
    this.quads.show(from.length, [["mwFrom", from, 1, false], ["mwTo", to, 1, false], ["mwColor", colors, 4, true]]);
  }

  get group(): Group {
    return this.quads.group;
  }

  /** Which of the skinned instances they lie on; -1: none of them. */
  set on(place: number) {
    this.group.visible = place >= 0;
    this.place.value = Math.max(0, place);
  }

  dispose(): void {
    this.quads.dispose();
  }
}
