"""`Material`, `Texture` and `Image`: the metallic-roughness model of glTF, kept as the file has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from marrow.errors import ValidationError

__all__ = ["Image", "Material", "Texture"]


@dataclass(frozen=True, slots=True)
class Image:
    """An encoded picture, byte for byte as the file has it, with its media type (`image/png`, `image/jpeg`, ...)."""

    name: str
    media_type: str
    data: bytes

    def __repr__(self) -> str:
        return f"Image({self.name!r}, {self.media_type}, {len(self.data)} bytes)"


@dataclass(frozen=True, slots=True)
class Texture:
    """How an image is looked up: `image` indexes `Character.images`; the UV transform is `KHR_texture_transform`'s."""

    image: int
    uv_set: int = 0
    wrap_u: Literal["repeat", "clamp", "mirror"] = "repeat"
    wrap_v: Literal["repeat", "clamp", "mirror"] = "repeat"
    mag_filter: Literal["nearest", "linear"] | None = None
    min_filter: str | None = None
    offset: tuple[float, float] = (0.0, 0.0)
    rotation: float = 0.0
    scale: tuple[float, float] = (1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Material:
    """A PBR material. Colours are linear; `base_color` has alpha."""

    name: str = ""
    base_color: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    metallic: float = 1.0
    roughness: float = 1.0
    emissive: tuple[float, float, float] = (0.0, 0.0, 0.0)
    base_color_texture: Texture | None = None
    metallic_roughness_texture: Texture | None = None
    normal_texture: Texture | None = None
    normal_scale: float = 1.0
    occlusion_texture: Texture | None = None
    occlusion_strength: float = 1.0
    emissive_texture: Texture | None = None
    alpha_mode: Literal["opaque", "mask", "blend"] = "opaque"
    alpha_cutoff: float = 0.5
    double_sided: bool = False
    unlit: bool = False

    def __post_init__(self) -> None:
        for field, size in (("base_color", 4), ("emissive", 3)):
            value = tuple(map(float, getattr(self, field)))
            if len(value) != size:
                raise ValidationError(
                    f"Material({self.name!r}).{field}: expected {size} numbers, got {len(value)}"
                )
            object.__setattr__(self, field, value)
        if self.alpha_mode not in ("opaque", "mask", "blend"):
            raise ValidationError(
                f"Material({self.name!r}).alpha_mode: expected opaque, mask or blend, got {self.alpha_mode!r}"
            )

    @property
    def textures(self) -> dict[str, Texture]:
        """The textures that are set, by slot."""
        slots = ("base_color", "metallic_roughness", "normal", "occlusion", "emissive")
        found = {s: getattr(self, f"{s}_texture") for s in slots}
        return {s: t for s, t in found.items() if t is not None}
