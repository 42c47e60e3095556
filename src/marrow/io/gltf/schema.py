"""The parts of the glTF 2.0 JSON that marrow reads, as typed structs.

msgspec checks types, required fields and signs while it decodes; indices into other arrays are checked where
they are followed. `extras` and extensions stay undecoded (`Raw`) until something asks for them.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Raw, Struct

__all__ = [
    "Accessor",
    "Animation",
    "AssetDef",
    "BufferDef",
    "BufferView",
    "CameraDef",
    "Channel",
    "Document",
    "Draco",
    "EmissiveStrength",
    "ImageDef",
    "MaterialDef",
    "MeshDef",
    "MeshExtras",
    "Meshopt",
    "NodeDef",
    "Primitive",
    "Sampler",
    "SamplerDef",
    "SceneDef",
    "SkinDef",
    "Sparse",
    "TextureDef",
    "TextureInfoDef",
    "TextureSource",
    "TextureTransform",
]

# Larger than any file, small enough that sums and products of two stay exact in int64.
Index = Annotated[int, Meta(ge=0, le=1 << 31)]
Size = Annotated[int, Meta(ge=0, le=1 << 40)]
Vec2 = tuple[float, float]
Vec3 = tuple[float, float, float]
Vec4 = tuple[float, float, float, float]
Extensions = dict[str, Raw]
NOTHING = Raw()


class AssetDef(Struct, gc=False):
    version: str = "2.0"
    minVersion: str | None = None
    copyright: str | None = None
    extensions: Extensions | None = None
    extras: Raw = NOTHING


class BufferDef(Struct, gc=False):
    byteLength: Size
    uri: str | None = None
    extensions: Extensions | None = None


class BufferView(Struct, gc=False):
    buffer: Index
    byteLength: Size
    byteOffset: Size = 0
    byteStride: Index | None = None
    extensions: Extensions | None = None


class Meshopt(Struct, gc=False):
    """`EXT_meshopt_compression` of a buffer view."""

    buffer: Index
    byteLength: Size
    byteStride: Index
    count: Size
    mode: str
    byteOffset: Size = 0
    filter: str = "NONE"


class SparseIndices(Struct, gc=False):
    bufferView: Index
    componentType: int
    byteOffset: Size = 0


class SparseValues(Struct, gc=False):
    bufferView: Index
    byteOffset: Size = 0


class Sparse(Struct, gc=False):
    count: Size
    indices: SparseIndices
    values: SparseValues


class Accessor(Struct, gc=False):
    componentType: int
    count: Size
    type: str
    bufferView: Index | None = None
    byteOffset: Size = 0
    normalized: bool = False
    sparse: Sparse | None = None


class Primitive(Struct, gc=False):
    attributes: dict[str, Index]
    indices: Index | None = None
    material: Index | None = None
    mode: int = 4
    targets: list[dict[str, Index]] | None = None
    extensions: Extensions | None = None
    extras: Raw = NOTHING


class Draco(Struct, gc=False):
    """`KHR_draco_mesh_compression` of a primitive."""

    bufferView: Index
    attributes: dict[str, Index]


class MeshDef(Struct, gc=False):
    primitives: list[Primitive]
    name: str | None = None
    weights: list[float] | None = None
    extensions: Extensions | None = None
    extras: Raw = NOTHING


class MeshExtras(Struct, gc=False):
    targetNames: list[str] | None = None


class NodeDef(Struct, gc=False):
    name: str | None = None
    children: list[Index] | None = None
    mesh: Index | None = None
    skin: Index | None = None
    camera: Index | None = None
    matrix: list[float] | None = None
    translation: Vec3 | None = None
    rotation: Vec4 | None = None
    scale: Vec3 | None = None
    weights: list[float] | None = None
    extensions: Extensions | None = None
    extras: Raw = NOTHING


class SceneDef(Struct, gc=False):
    nodes: list[Index] | None = None
    name: str | None = None
    extensions: Extensions | None = None
    extras: Raw = NOTHING


class SkinDef(Struct, gc=False):
    joints: list[Index]
    inverseBindMatrices: Index | None = None
    skeleton: Index | None = None
    name: str | None = None
    extensions: Extensions | None = None
    extras: Raw = NOTHING


class Sampler(Struct, gc=False):
    input: Index
    output: Index
    interpolation: str = "LINEAR"


class Target(Struct, gc=False):
    path: str
    node: Index | None = None
    extensions: Extensions | None = None


class Channel(Struct, gc=False):
    sampler: Index
    target: Target


class Animation(Struct, gc=False):
    channels: list[Channel]
    samplers: list[Sampler]
    name: str | None = None
    extensions: Extensions | None = None
    extras: Raw = NOTHING


class TextureInfoDef(Struct, gc=False):
    """A reference to a texture; normal textures add `scale`, occlusion textures `strength`."""

    index: Index
    texCoord: Index = 0
    scale: float = 1.0
    strength: float = 1.0
    extensions: Extensions | None = None


class TextureTransform(Struct, gc=False):
    """`KHR_texture_transform` of a texture reference."""

    offset: Vec2 = (0.0, 0.0)
    rotation: float = 0.0
    scale: Vec2 = (1.0, 1.0)
    texCoord: Index | None = None


class EmissiveStrength(Struct, gc=False):
    """`KHR_materials_emissive_strength` of a material."""

    emissiveStrength: float = 1.0


class MetallicRoughness(Struct, gc=False):
    baseColorFactor: Vec4 = (1.0, 1.0, 1.0, 1.0)
    baseColorTexture: TextureInfoDef | None = None
    metallicFactor: float = 1.0
    roughnessFactor: float = 1.0
    metallicRoughnessTexture: TextureInfoDef | None = None


class SpecularGlossiness(Struct, gc=False):
    """`KHR_materials_pbrSpecularGlossiness` of a material, as far as it carries over."""

    diffuseFactor: Vec4 = (1.0, 1.0, 1.0, 1.0)
    diffuseTexture: TextureInfoDef | None = None
    glossinessFactor: float = 1.0


class MaterialDef(Struct, gc=False):
    name: str | None = None
    pbrMetallicRoughness: MetallicRoughness | None = None
    normalTexture: TextureInfoDef | None = None
    occlusionTexture: TextureInfoDef | None = None
    emissiveTexture: TextureInfoDef | None = None
    emissiveFactor: Vec3 = (0.0, 0.0, 0.0)
    alphaMode: str = "OPAQUE"
    alphaCutoff: float = 0.5
    doubleSided: bool = False
    extensions: Extensions | None = None
    extras: Raw = NOTHING


class TextureDef(Struct, gc=False):
    sampler: Index | None = None
    source: Index | None = None
    name: str | None = None
    extensions: Extensions | None = None
    extras: Raw = NOTHING


class TextureSource(Struct, gc=False):
    """`EXT_texture_webp` or `EXT_texture_avif` of a texture."""

    source: Index


class SamplerDef(Struct, gc=False):
    magFilter: int | None = None
    minFilter: int | None = None
    wrapS: int = 10497
    wrapT: int = 10497
    name: str | None = None
    extras: Raw = NOTHING


class ImageDef(Struct, gc=False):
    name: str | None = None
    uri: str | None = None
    mimeType: str | None = None
    bufferView: Index | None = None
    extensions: Extensions | None = None
    extras: Raw = NOTHING


class Perspective(Struct, gc=False):
    yfov: float
    znear: float
    aspectRatio: float | None = None
    zfar: float | None = None


class Orthographic(Struct, gc=False):
    xmag: float
    ymag: float
    zfar: float
    znear: float


class CameraDef(Struct, gc=False):
    type: str
    name: str | None = None
    perspective: Perspective | None = None
    orthographic: Orthographic | None = None
    extensions: Extensions | None = None
    extras: Raw = NOTHING


class Document(Struct, gc=False):
    asset: AssetDef
    extensionsUsed: list[str] = []
    extensionsRequired: list[str] = []
    scene: Index | None = None
    scenes: list[SceneDef] = []
    nodes: list[NodeDef] = []
    cameras: list[CameraDef] = []
    meshes: list[MeshDef] = []
    skins: list[SkinDef] = []
    animations: list[Animation] = []
    materials: list[MaterialDef] = []
    textures: list[TextureDef] = []
    samplers: list[SamplerDef] = []
    images: list[ImageDef] = []
    accessors: list[Accessor] = []
    bufferViews: list[BufferView] = []
    buffers: list[BufferDef] = []
    extensions: Extensions | None = None
    extras: Raw = NOTHING
