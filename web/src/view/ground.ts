/** The floor: grid, shadow and the pool of light around the character, drawn in one pass. */
import { Color, type DirectionalLight, Mesh, PlaneGeometry, ShaderMaterial, type Texture, Vector3 } from "three";
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

const fragment = (shadows: string): string => /* glsl */ `
uniform float unit, fade, darkness, gridded;
uniform vec3 middle, line, strong, floorColor;
uniform vec2 shadowMapSize;
uniform highp sampler2DShadow mwShadowMap;
varying vec3 place;
varying vec3 shadowPlace;

/** How much a grid line covers of this pixel; where lines come closer than pixels it fades instead of shimmering. */
float lines(vec2 p, vec2 width) {
  vec2 covered = 1.0 - min(abs(fract(p - 0.5) - 0.5) / max(width, vec2(1e-6)), vec2(1.0));
  covered *= 1.0 - smoothstep(vec2(0.2), vec2(0.55), width);
  return max(covered.x, covered.y);
}

${shadows}
void main() {
  float near = 1.0 - smoothstep(0.3, 1.0, length(place.xz - middle.xz) / fade);
  vec4 color = vec4(floorColor, 0.55 * near * near);
  vec2 p = place.xz / unit, width = fwidth(p);
  float small = 0.5 * lines(p, width), large = lines(0.2 * p, 0.2 * width);
  color = mix(color, vec4(large > small ? strong : line, 1.0), gridded * max(small, large) * near);
  float dark = near * darkness * (1.0 - mwShadow(mwShadowMap, shadowMapSize, 1.0, 0.0, 2.2, vec4(shadowPlace, 1.0)));
  // Black laid over the floor, which itself lies over the sky.
  color = vec4(color.rgb * (1.0 - dark), 1.0 - (1.0 - color.a) * (1.0 - dark));
  gl_FragColor = color;
}`;

export class Ground {
  readonly mesh: Mesh<PlaneGeometry, ShaderMaterial>;
  private darkness = 0;
  private shadowed = true;

  constructor(
    private readonly sun: DirectionalLight,
    software: boolean,
  ) {
    const material = new ShaderMaterial({
      transparent: true, depthWrite: false, toneMapped: false, vertexShader: VERTEX, fragmentShader: fragment(shadowGlsl(software)),
      uniforms: {
        unit: { value: 1 }, fade: { value: 10 }, darkness: { value: 0 }, gridded: { value: 1 },
        shadowMapSize: { value: sun.shadow.mapSize },
        middle: { value: new Vector3() }, line: { value: new Color() }, strong: { value: new Color() },
        floorColor: { value: new Color() }, mwShadowMap: { value: null as Texture | null }, mwSun: { value: sun.shadow.matrix },
      },
    });
    this.mesh = new Mesh(new PlaneGeometry(2, 2).rotateX(-Math.PI / 2), material);
    this.mesh.frustumCulled = false;
    // The map of shadows comes into being with the first shadow.
    this.mesh.onBeforeRender = () => void (material.uniforms["mwShadowMap"].value = this.sun.shadow.map?.depthTexture ?? null);
  }

  setPalette(palette: Palette): void {
    const { uniforms } = this.mesh.material;
    // Colours of the page, as they are: the floor is mixed with the sky in the page's own colour space.
    const set = (name: string, color: string): void => void (uniforms[name].value as Color).set(color).convertLinearToSRGB();
    set("line", palette.grid);
    set("strong", palette.gridStrong);
    set("floorColor", palette.floor);
    this.darkness = palette.shadow;
    this.applyDarkness();
  }

  show(grid: boolean, shadows: boolean): void {
    this.shadowed = shadows;
    this.mesh.material.uniforms["gridded"].value = grid ? 1 : 0;
    this.applyDarkness();
  }

  private applyDarkness(): void {
    this.mesh.material.uniforms["darkness"].value = this.shadowed ? this.darkness : 0;
  }

  /** `center` on the floor, `reach` of what is seen of it, `unit` of the grid. */
  surround(center: Vector3, reach: number, unit: number): void {
    this.mesh.position.set(center.x, 0, center.z);
    this.mesh.scale.setScalar(reach);
    const { uniforms } = this.mesh.material;
    uniforms["unit"].value = unit;
    uniforms["fade"].value = reach;
    (uniforms["middle"].value as Vector3).copy(center);
  }
}
