/** Float textures 1024 texels wide that hold tables the shaders read by number. */
import { DataTexture, FloatType, NearestFilter, RGBAFormat, RGFormat } from "three";

const WIDTH = 1024;

/** A table of RGBA (4) or RG (2) texels that grows as needed; `texture` is replaced when it does. */
export class Table {
  texture: DataTexture;
  data: Float32Array;

  constructor(
    readonly channels: 2 | 4,
    floats = 0,
  ) {
    this.data = new Float32Array(0);
    this.texture = this.allocate(floats);
  }

  private allocate(floats: number): DataTexture {
    const rows = Math.max(1, Math.ceil(floats / (WIDTH * this.channels)));
    this.data = new Float32Array(rows * WIDTH * this.channels);
    const format = this.channels === 4 ? RGBAFormat : RGFormat;
    const texture = new DataTexture(this.data as Float32Array<ArrayBuffer>, WIDTH, rows, format, FloatType);
    texture.magFilter = texture.minFilter = NearestFilter;
    texture.generateMipmaps = false;
    texture.needsUpdate = true;
    return texture;
  }

  /** Makes room for that many floats; what was there is lost when it has to grow. */
  reserve(floats: number): void {
    const rows = Math.max(1, Math.ceil(floats / (WIDTH * this.channels)));
    const held = this.data.length / (WIDTH * this.channels);
    if (rows > held || rows * 4 < held) {
      this.texture.dispose();
      this.texture = this.allocate(floats);
    }
  }

  changed(): void {
    this.texture.needsUpdate = true;
  }

  dispose(): void {
    this.texture.dispose();
  }
}
