/**
 * The floor: a pool of light with the grid on it, and the shadow, laid over it where one can fall. Where something reaches below
 * the floor, light and shadow are drawn before it and only the lines over it: nothing is veiled.
 */
import { Box3, Color, CustomBlending, type DirectionalLight, Group, Mesh, PlaneGeometry, NormalBlending, ShaderMaterial, type Texture, Vector3 } from "three";
import { shadowGlsl } from "./light";
import type { Palette } from "./palette";

const VERTEX = /* glsl */ `
uniform mat4 mwSun;
varying vec3 place;
varying vec3 shadowPlace;
void main() {
  vec4 world = modelMatrix * vec4(position, 1.0);
  place = world.xyz;
  shadowPlace = (mwSun * world).xyz;
  gl_Position = projectionMatrix * viewMatrix * world;
}`;

const FLOOR = /* glsl */ `
uniform float unit, fade, gridded, lit;
uniform vec3 middle, line, strong, floorColor;
varying vec3 place;

/** How much a grid line covers of this pixel; where lines come closer than pixels it fades instead of shimmering. */
float lines(vec2 p, vec2 width, vec2 narrow) {
  vec2 covered = clamp(1.0 - abs(fract(p - 0.5) - 0.5) * narrow, 0.0, 1.0) * clamp(1.57 - 2.86 * width, 0.0, 1.0);
  return max(covered.x, covered.y);
}

void main() {
  vec2 away = (place.xz - middle.xz) / fade;
  float near = clamp(1.15 - 1.15 * dot(away, away), 0.0, 1.0);
  near *= near;
  vec2 p = place.xz / unit, width = fwidth(p), narrow = 1.0 / max(width, vec2(1e-6));
  float small = 0.5 * lines(p, width, narrow), large = lines(0.2 * p, 0.2 * width, 5.0 * narrow);
  vec4 color = vec4(floorColor, 0.55 * near * lit);
  gl_FragColor = mix(color, vec4(large > small ? strong : line, 1.0), gridded * max(small, large) * near);
}`;

const shadow = (shadows: string): string => /* glsl */ `
uniform float darkness;
uniform vec2 shadowMapSize;
uniform highp sampler2DShadow mwShadowMap;
varying vec3 shadowPlace;
${shadows}
void main() {
  float lit = mwShadow(mwShadowMap, shadowMapSize, 1.0, 0.0, 2.2, vec4(shadowPlace, 1.0));
  gl_FragColor = vec4(0.0, 0.0, 0.0, darkness * (1.0 - lit));
}`;

/** Soles that reach below the floor by less than this share of the height still stand on it. */
const SUNKEN = 0.03;

export class Ground {
  readonly group = new Group();
  private readonly floor: Mesh<PlaneGeometry, ShaderMaterial>;
  private readonly shadow: Mesh<PlaneGeometry, ShaderMaterial>;
  /** The lines alone, over what is below the floor. */
  private readonly lines: Mesh<PlaneGeometry, ShaderMaterial>;
  private readonly uniforms: Record<string, { value: unknown }>;

  constructor(
    private readonly sun: DirectionalLight,
    software: boolean,
  ) {
    this.uniforms = {
      unit: { value: 1 }, fade: { value: 10 }, darkness: { value: 0 }, gridded: { value: 1 }, lit: { value: 1 },
      shadowMapSize: { value: sun.shadow.mapSize }, mwSun: { value: sun.shadow.matrix }, mwShadowMap: { value: null as Texture | null },
      middle: { value: new Vector3() }, line: { value: new Color() }, strong: { value: new Color() }, floorColor: { value: new Color() },
    };
    const plane = new PlaneGeometry(2, 2).rotateX(-Math.PI / 2);
    const mesh = (fragmentShader: string, renderOrder: number, uniforms = this.uniforms): Mesh<PlaneGeometry, ShaderMaterial> => {
      const material = new ShaderMaterial({
        transparent: true, depthWrite: false, toneMapped: false, vertexShader: VERTEX, fragmentShader, uniforms,
      });
      const made = new Mesh(plane, material);
      made.frustumCulled = false;
      made.renderOrder = renderOrder;
      this.group.add(made);
      return made;
    };
    this.floor = mesh(FLOOR, -2);
    this.shadow = mesh(shadow(shadowGlsl(software)), -1);
    this.lines = mesh(FLOOR, -2, { ...this.uniforms, lit: { value: 0 } });
    this.lines.visible = false;
    // The map of shadows comes into being with the first shadow.
    this.shadow.onBeforeRender = () => void (this.uniforms["mwShadowMap"].value = this.sun.shadow.map?.depthTexture ?? null);
  }

  setPalette(palette: Palette): void {
    // Colours of the page, as they are: the floor is mixed with the sky in the page's own colour space.
    const set = (name: string, color: string): void => void (this.uniforms[name].value as Color).set(color).convertLinearToSRGB();
    set("line", palette.grid);
    set("strong", palette.gridStrong);
    set("floorColor", palette.floor);
    this.uniforms["darkness"].value = palette.shadow;
  }

  show(grid: boolean, shadows: boolean): void {
    this.uniforms["gridded"].value = grid ? 1 : 0;
    this.shadow.visible = shadows;
  }

  /** Whether something reaches below the floor. Lines are drawn over it, the rest before it. */
  private set sunken(on: boolean) {
    if (this.lines.visible === on) return;
    this.lines.visible = on;
    for (const { material } of [this.floor, this.shadow]) {
      // What is not transparent is drawn first; it is blended all the same.
      material.transparent = !on;
      material.blending = on ? CustomBlending : NormalBlending;
      material.needsUpdate = true;
    }
  }

  /** Whether it is drawn as a box asks for that has moved. */
  fits(box: Box3): boolean {
    return this.lines.visible === reachesBelow(box);
  }

  /** Lies under a box, as far as `reach`, with lines `unit` apart; the box's shadow falls along `light`. */
  surround(box: Box3, reach: number, unit: number, light: Vector3): void {
    const center = box.getCenter(new Vector3());
    this.sunken = reachesBelow(box);
    for (const plane of [this.floor, this.lines]) {
      plane.position.set(center.x, 0, center.z);
      plane.scale.setScalar(reach);
    }
    this.uniforms["unit"].value = unit;
    this.uniforms["fade"].value = reach;
    (this.uniforms["middle"].value as Vector3).copy(center);
    // Room for what the character does next: it may jump, or stretch out an arm.
    const size = box.getSize(new Vector3());
    const room = 0.35 * Math.min(size.length(), 3 * size.y);
    const height = Math.max(0, box.max.y) + room;
    const cast = new Box3().copy(box).expandByVector(new Vector3(room, 0, room));
    const fall = light.clone().multiplyScalar(-height / light.y);
    cast.union(cast.clone().translate(fall));
    cast.getCenter(this.shadow.position).setY(0);
    cast.getSize(this.shadow.scale).multiplyScalar(0.5).setY(1);
  }
}

function reachesBelow(box: Box3): boolean {
  return box.min.y < -SUNKEN * (box.max.y - box.min.y);
}
