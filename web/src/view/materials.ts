/** Materials of a character: glTF's metallic-roughness model on three.js materials. */
import {
  ClampToEdgeWrapping, Color, DoubleSide, FrontSide, LinearFilter, LinearMipmapLinearFilter, LinearSRGBColorSpace,
  type Material, MeshBasicMaterial, MeshStandardMaterial, MirroredRepeatWrapping, NearestFilter, NoColorSpace,
  RepeatWrapping, SRGBColorSpace, Texture, TextureSource, Vector2, type Wrapping,
} from "three";
import type { MaterialInfo, TextureInfo } from "../protocol";

const WRAP: Record<TextureInfo["wrap_u"], Wrapping> = {
  repeat: RepeatWrapping,
  clamp: ClampToEdgeWrapping,
  mirror: MirroredRepeatWrapping,
};

interface Picture {
  source: TextureSource<ImageBitmap | null>;
  /** What is shown of it before, and after, the image has come. */
  textures: Texture[];
}

/**
 * Gives textures out at once and fills them as their images arrive. An image is fetched once, and uploaded once for each
 * colour space and way of looking it up, however many meshes and materials use it.
 */
export class TextureLibrary {
  private readonly bitmaps = new Map<number, Promise<ImageBitmap | null>>();
  private readonly pictures = new Map<string, Picture>();
  private readonly textures = new Map<string, Texture>();
  private disposed = false;

  constructor(
    private readonly image: (number: number) => Promise<Blob>,
    private readonly arrived: () => void,
  ) {}

  get(info: TextureInfo | null, color: boolean): Texture | null {
    if (!info) return null;
    const key = JSON.stringify([color, info]);
    const known = this.textures.get(key);
    if (known) return known;
    // Textures of one source share what lies on the graphics card.
    const picture = this.picture(info.image, color);
    const texture = new Texture();
    texture.source = picture.source;
    texture.flipY = false;
    texture.channel = info.uv_set;
    texture.colorSpace = color ? SRGBColorSpace : NoColorSpace;
    texture.wrapS = WRAP[info.wrap_u];
    texture.wrapT = WRAP[info.wrap_v];
    texture.magFilter = info.mag_filter === "nearest" ? NearestFilter : LinearFilter;
    texture.minFilter = info.min_filter?.startsWith("nearest") ? NearestFilter : LinearMipmapLinearFilter;
    texture.anisotropy = 4;
    texture.offset.set(...info.offset);
    texture.rotation = info.rotation;
    texture.repeat.set(...info.scale);
    this.textures.set(key, texture);
    picture.textures.push(texture);
    if (picture.source.data) this.show(picture, texture);
    return texture;
  }

  private picture(image: number, color: boolean): Picture {
    const key = `${image} ${color}`;
    const known = this.pictures.get(key);
    if (known) return known;
    const picture: Picture = { source: new TextureSource<ImageBitmap | null>(null), textures: [] };
    this.pictures.set(key, picture);
    void this.bitmap(image).then((bitmap) => {
      if (!bitmap || this.disposed) return;
      picture.source.data = bitmap;
      picture.source.needsUpdate = true;
      const average = color ? averageColor(bitmap) : null;
      for (const texture of picture.textures) {
        if (average) texture.userData["average"] = average;
        this.show(picture, texture);
      }
      this.arrived();
    });
    return picture;
  }

  /** A texture's image is there. `needsUpdate` would have the source uploaded again for each of its textures. */
  private show(picture: Picture, texture: Texture): void {
    texture.userData["average"] ??= picture.textures[0].userData["average"];
    texture.version++;
  }

  private bitmap(image: number): Promise<ImageBitmap | null> {
    let found = this.bitmaps.get(image);
    if (!found) {
      found = this.image(image)
        .then((blob) => createImageBitmap(blob, { premultiplyAlpha: "none", colorSpaceConversion: "none", imageOrientation: "none" }))
        .catch(() => null);
      this.bitmaps.set(image, found);
    }
    return found;
  }

  /** Resolves when every image asked for so far is there, or will not come. */
  async settled(): Promise<void> {
    await Promise.all(this.bitmaps.values());
  }

  dispose(): void {
    this.disposed = true;
    for (const texture of this.textures.values()) texture.dispose();
    for (const bitmap of this.bitmaps.values()) void bitmap.then((one) => one?.close());
  }
}

/** The mean of an image, for those who show it from afar. */
function averageColor(bitmap: ImageBitmap): Color {
  const size = 8;
  const canvas = new OffscreenCanvas(size, size);
  const context = canvas.getContext("2d", { willReadFrequently: true })!;
  context.drawImage(bitmap, 0, 0, size, size);
  const { data } = context.getImageData(0, 0, size, size);
  const mean = new Color(0, 0, 0);
  for (let i = 0; i < data.length; i += 4) mean.add(new Color().setRGB(data[i] / 255, data[i + 1] / 255, data[i + 2] / 255, SRGBColorSpace));
  return mean.multiplyScalar(1 / (size * size));
}

export interface MeshTraits {
  colors: boolean;
  normals: boolean;
}

export function buildMaterial(info: MaterialInfo | null, library: TextureLibrary, traits: MeshTraits): Material {
  if (!info) {
    return new MeshStandardMaterial({
      color: traits.colors ? 0xffffff : 0xb9bfc9, metalness: 0, roughness: 0.65, vertexColors: traits.colors, flatShading: !traits.normals,
      side: DoubleSide,
    });
  }
  const [r, g, b, opacity] = info.base_color;
  const common = {
    name: info.name,
    color: new Color().setRGB(r, g, b, LinearSRGBColorSpace),
    map: library.get(info.base_color_texture, true),
    side: info.double_sided ? DoubleSide : FrontSide,
    vertexColors: traits.colors,
    opacity: info.alpha_mode === "blend" ? opacity : 1,
    transparent: info.alpha_mode === "blend",
    depthWrite: info.alpha_mode !== "blend",
    alphaTest: info.alpha_mode === "mask" ? info.alpha_cutoff : 0,
  };
  if (info.unlit) return new MeshBasicMaterial(common);
  const surface = library.get(info.metallic_roughness_texture, false);
  return new MeshStandardMaterial({
    ...common,
    flatShading: !traits.normals,
    metalness: info.metallic,
    roughness: info.roughness,
    metalnessMap: surface,
    roughnessMap: surface,
    normalMap: library.get(info.normal_texture, false),
    normalScale: new Vector2(info.normal_scale, info.normal_scale),
    aoMap: library.get(info.occlusion_texture, false),
    aoMapIntensity: info.occlusion_strength,
    emissive: new Color().setRGB(...info.emissive, LinearSRGBColorSpace),
    emissiveMap: library.get(info.emissive_texture, true),
  });
}
