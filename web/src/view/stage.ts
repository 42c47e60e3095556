/** The stage a character stands on: sky, light, shadow and grid. */
import {
  CanvasTexture, Color, DataTexture, DirectionalLight, EquirectangularReflectionMapping, FloatType, Group,
  HemisphereLight, LinearSRGBColorSpace, Mesh, PlaneGeometry, PMREMGenerator, RGBAFormat, type Scene, ShaderMaterial,
  ShadowMaterial, SRGBColorSpace, type Texture, Vector3, type WebGLRenderer,
} from "three";
import type { Palette } from "./palette";

export class Stage {
  readonly ground = new Group();
  readonly sun = new DirectionalLight(0xfff4e6, 2.1);
  private readonly fill = new HemisphereLight(0xdfe9ff, 0x6b6459, 0.35);
  private readonly back = new DirectionalLight(0xcfe0ff, 0.6);
  private readonly grid: Mesh<PlaneGeometry, ShaderMaterial>;
  private readonly shadow: Mesh<PlaneGeometry, ShadowMaterial>;
  private sky: Texture | null = null;

  constructor(
    private readonly scene: Scene,
    renderer: WebGLRenderer,
    software: boolean,
  ) {
    if (software) {
      // Blurring an environment takes the processor seconds: plain lamps stand in for it.
      this.fill.intensity = 1.5;
      this.back.intensity = 0.9;
      this.back.position.set(-2, 1.6, -2.5);
      scene.add(this.back);
    } else {
      scene.environment = softbox(renderer);
      scene.environmentIntensity = 0.75;
    }
    const shadowSize = software ? 512 : 2048;
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(shadowSize, shadowSize);
    this.sun.shadow.bias = -0.0004;
    this.sun.shadow.normalBias = 0.01;
    this.sun.shadow.radius = 3;
    const plane = new PlaneGeometry(2, 2).rotateX(-Math.PI / 2);
    this.shadow = new Mesh(plane, new ShadowMaterial({ opacity: 0.4, depthWrite: false }));
    this.shadow.receiveShadow = true;
    this.grid = new Mesh(plane, gridMaterial());
    this.shadow.renderOrder = -1;
    this.grid.renderOrder = -2;
    this.ground.add(this.grid, this.shadow);
    scene.add(this.ground, this.sun, this.sun.target, this.fill);
  }

  setPalette(palette: Palette): void {
    this.sky?.dispose();
    this.sky = gradient(palette.skyTop, palette.skyBottom);
    this.scene.background = this.sky;
    this.grid.material.uniforms["line"].value = new Color(palette.grid);
    this.grid.material.uniforms["strong"].value = new Color(palette.gridStrong);
    this.shadow.material.opacity = palette.shadow;
  }

  /** Puts light and ground around what is shown: `center` on the floor, `radius` of it all, `unit` of the grid. */
  surround(center: Vector3, radius: number, unit: number): void {
    this.sun.target.position.copy(center);
    this.sun.position.copy(center).add(new Vector3(0.55, 1.25, 0.75).multiplyScalar(2.2 * radius));
    const camera = this.sun.shadow.camera;
    camera.left = camera.bottom = -1.35 * radius;
    camera.right = camera.top = 1.35 * radius;
    camera.near = 0.05 * radius;
    camera.far = 7 * radius;
    camera.updateProjectionMatrix();
    this.sun.shadow.normalBias = 0.004 * radius;
    this.ground.position.set(center.x, 0, center.z);
    this.ground.scale.setScalar(Math.max(9 * radius, 12 * unit));
    const uniforms = this.grid.material.uniforms;
    uniforms["unit"].value = unit;
    uniforms["fade"].value = Math.max(8 * radius, 10 * unit);
    (uniforms["middle"].value as Vector3).copy(center);
  }

  show(grid: boolean, shadows: boolean): void {
    this.grid.visible = grid;
    this.shadow.visible = shadows;
    this.sun.castShadow = shadows;
  }
}

function gradient(top: string, bottom: string): Texture {
  const canvas = document.createElement("canvas");
  canvas.width = 2;
  canvas.height = 256;
  const context = canvas.getContext("2d")!;
  const fill = context.createLinearGradient(0, 0, 0, 256);
  fill.addColorStop(0, top);
  fill.addColorStop(1, bottom);
  context.fillStyle = fill;
  context.fillRect(0, 0, 2, 256);
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = SRGBColorSpace;
  return texture;
}

/** A small studio to reflect: bright overhead, a soft box at each side, a dim floor. */
function softbox(renderer: WebGLRenderer): Texture {
  const W = 128;
  const H = 64;
  const data = new Float32Array(4 * W * H);
  const lamp = (u: number, v: number, cu: number, cv: number, ru: number, rv: number): number => {
    const du = Math.min(Math.abs(u - cu), 1 - Math.abs(u - cu)) / ru;
    const dv = (v - cv) / rv;
    return Math.max(0, 1 - (du * du * du * du + dv * dv * dv * dv));
  };
  for (let y = 0; y < H; y++)
    for (let x = 0; x < W; x++) {
      const u = (x + 0.5) / W;
      const v = (y + 0.5) / H; // 0 is down
      const base = 0.28 + 0.75 * v * v;
      const light = 5 * lamp(u, v, 0.62, 0.78, 0.1, 0.13) + 2.6 * lamp(u, v, 0.15, 0.66, 0.08, 0.2) + 1.2 * lamp(u, v, 0.9, 0.6, 0.05, 0.22);
      const i = 4 * (y * W + x);
      data[i] = base + light;
      data[i + 1] = base * 1.01 + light * 0.98;
      data[i + 2] = base * 1.06 + light * 0.95;
      data[i + 3] = 1;
    }
  const texture = new DataTexture(data, W, H, RGBAFormat, FloatType);
  texture.mapping = EquirectangularReflectionMapping;
  texture.colorSpace = LinearSRGBColorSpace;
  texture.needsUpdate = true;
  const generator = new PMREMGenerator(renderer);
  const { texture: environment } = generator.fromEquirectangular(texture);
  generator.dispose();
  texture.dispose();
  return environment;
}

function gridMaterial(): ShaderMaterial {
  return new ShaderMaterial({
    transparent: true,
    depthWrite: false,
    uniforms: {
      unit: { value: 1 }, fade: { value: 10 }, middle: { value: new Vector3() },
      line: { value: new Color() }, strong: { value: new Color() },
    },
    vertexShader: `
      varying vec3 place;
      void main() {
        vec4 world = modelMatrix * vec4(position, 1.0);
        place = world.xyz;
        gl_Position = projectionMatrix * viewMatrix * world;
      }`,
    fragmentShader: `
      uniform float unit, fade;
      uniform vec3 middle, line, strong;
      varying vec3 place;
      float lines(float step) {
        vec2 p = place.xz / step;
        vec2 w = fwidth(p);
        vec2 d = abs(fract(p - 0.5) - 0.5) / max(w, 1e-6);
        float solid = 1.0 - min(min(d.x, d.y), 1.0);
        return solid * (1.0 - smoothstep(0.25, 0.6, max(w.x, w.y)));
      }
      void main() {
        float near = 1.0 - smoothstep(0.35, 1.0, length(place.xz - middle.xz) / fade);
        float small = lines(unit), large = lines(unit * 5.0);
        float alpha = max(small * 0.55, large * 0.9) * near;
        if (alpha < 0.004) discard;
        gl_FragColor = vec4(large > 0.02 ? strong : line, alpha);
        #include <colorspace_fragment>
      }`,
  });
}
