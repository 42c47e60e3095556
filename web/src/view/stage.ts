/** The stage a character stands on: sky, sun and floor. The rest of the light is a formula: `light.ts`. */
import { Box3, Color, DirectionalLight, type Scene, Vector3, Vector4, type WebGLRenderer } from "three";
import { Ground } from "./ground";
import { SUN_DIRECTION } from "./light";
import type { Palette } from "./palette";

/** More stripes than a screen can tell colours apart between the ends of the sky. */
const SKY_STRIPES = 32;

const UP = new Vector3(0, 1, 0);

export class Stage {
  readonly sun = new DirectionalLight(0xfff3e4, 1.9);
  private readonly ground: Ground;
  /** Half the size of what is surrounded. */
  private radius = 1;
  private readonly sky: Color[] = Array.from({ length: SKY_STRIPES }, () => new Color());

  constructor(
    scene: Scene,
    private readonly software: boolean,
  ) {
    const { shadow } = this.sun;
    shadow.mapSize.setScalar(software ? 512 : 1024);
    shadow.bias = -0.0006;
    shadow.radius = 1.5;
    this.sun.castShadow = true;
    this.ground = new Ground(this.sun, software);
    scene.add(this.ground.group, this.sun, this.sun.target);
  }

  setPalette(palette: Palette): void {
    const top = new Color(palette.skyTop).convertLinearToSRGB();
    const bottom = new Color(palette.skyBottom).convertLinearToSRGB();
    this.sky.forEach((color, i) => color.lerpColors(bottom, top, i / (SKY_STRIPES - 1)));
    this.ground.setPalette(palette);
  }

  /** Clears a part of the canvas, in its pixels, to the sky: stripes of one colour each cost next to nothing. */
  drawSky(renderer: WebGLRenderer, x: number, width: number, height: number): void {
    const gl = renderer.getContext();
    const { state } = renderer;
    const area = new Vector4();
    state.setScissorTest(true);
    this.sky.forEach((color, i) => {
      const low = Math.round((i * height) / SKY_STRIPES);
      area.set(x, low, width, Math.round(((i + 1) * height) / SKY_STRIPES) - low);
      state.scissor(area);
      state.buffers.color.setClear(color.r, color.g, color.b, 1, false);
      gl.clear(gl.COLOR_BUFFER_BIT);
    });
    state.scissor(area.set(x, 0, width, height));
    gl.clear(gl.DEPTH_BUFFER_BIT);
    state.setScissorTest(false);
  }

  /** Whether sun and floor still lie well around a box that has moved or grown. */
  fits(box: Box3, size: number): boolean {
    const center = box.getCenter(new Vector3());
    const lit = this.sun.target.position;
    const radius = 0.5 * box.getSize(new Vector3()).length();
    const near = Math.hypot(center.x - lit.x, center.z - lit.z) <= 0.25 * size;
    return near && radius < 1.25 * this.radius && radius > 0.4 * this.radius && this.ground.fits(box);
  }

  /** Puts sun and floor around what is shown; lines of the grid are `unit` apart. Light falls on the face of what looks `facing`
   * radians away from +Z. */
  surround(box: Box3, unit: number, facing = 0): void {
    const center = box.getCenter(new Vector3()).setY(Math.max(0, 0.5 * (box.min.y + box.max.y)));
    const radius = 0.5 * box.getSize(new Vector3()).length();
    this.radius = radius;
    const { shadow, position, target } = this.sun;
    target.position.copy(center);
    const light = new Vector3(...SUN_DIRECTION).normalize().applyAxisAngle(UP, facing);
    position.copy(center).addScaledVector(light, 3 * radius);
    const camera = shadow.camera;
    camera.left = camera.bottom = -1.3 * radius;
    camera.right = camera.top = 1.3 * radius;
    camera.near = radius;
    camera.far = 6 * radius;
    camera.updateProjectionMatrix();
    shadow.normalBias = 0.004 * radius;
    const reach = Math.max(7 * radius, 12 * unit);
    this.ground.surround(box, reach, unit, light);
  }

  /** Has shadows drawn anew; where the processor draws, every second moving picture has those of the one before. */
  prepare(renderer: WebGLRenderer, moving: boolean, turn: number): void {
    renderer.shadowMap.needsUpdate = this.sun.shadow.intensity > 0 && !(this.software && moving && turn % 2 === 1);
  }

  show(grid: boolean, shadows: boolean): void {
    this.ground.show(grid, shadows);
    // The lamp still counts as one that casts shadows: without, every program would have to be compiled anew.
    this.sun.shadow.intensity = shadows ? 1 : 0;
  }
}
