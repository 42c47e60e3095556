"""`Material`, `Texture` and `Image`: the metallic-roughness model of glTF, kept as the file has it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from marrow.errors import ValidationError
from marrow.model import _validate
from marrow.model._asset import Comparable

__all__ = ["Image", "Material", "Texture"]

SLOTS = ("base_color", "metallic_roughness", "normal", "occlusion", "emissive")


def _floats(who: str, field: str, value: Any, size: int) -> tuple[float, ...]:
    if type(value) is tuple and len(value) == size and all(type(v) is float for v in value):
        return value
    found = _validate.items(who, field, value, object)
    if len(found) != size:
        raise ValidationError(f"{who}.{field}: expected {size} numbers, got {len(found)}")
    return tuple(_validate.number(who, field, v, finite=False) for v in found)


@dataclass(frozen=True, slots=True, eq=False)
class Image(Comparable):
    """An encoded picture, byte for byte as the file has it, with its media type (`image/png`, `image/jpeg`, ...)."""

    name: str
    media_type: str
    data: bytes

    def __post_init__(self) -> None:
        _validate.name("Image", "name", self.name)
        _validate.name("Image", "media_type", self.media_type)
        _validate.instance(f"Image({self.name!r})", "data", self.data, bytes)

    def __repr__(self) -> str:
        return f"Image({self.name!r}, {self.media_type}, {len(self.data)} bytes)"


@dataclass(frozen=True, slots=True, eq=False)
class Texture(Comparable):
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

    def __post_init__(self) -> None:
        for name in ("wrap_u", "wrap_v"):
            _validate.one_of("Texture", name, getattr(self, name), ("repeat", "clamp", "mirror"))
        if self.mag_filter is not None:
            _validate.one_of("Texture", "mag_filter", self.mag_filter, ("nearest", "linear"))
        if self.min_filter is not None:
            _validate.name("Texture", "min_filter", self.min_filter)
        _validate.set_fields(
            self,
            image=_validate.integer("Texture", "image", self.image),
            uv_set=_validate.integer("Texture", "uv_set", self.uv_set, low=0),
            offset=_floats("Texture", "offset", self.offset, 2),
            rotation=_validate.number("Texture", "rotation", self.rotation, finite=False),
            scale=_floats("Texture", "scale", self.scale, 2),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Material(Comparable):
    """A PBR material. Colours are linear; `base_color` has alpha. `extensions` is what its file says beyond that, as plain
    data: pictures show what they can of it (docs/rendering.md), and other programs find all of it."""

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
    extensions: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        who = f"Material({_validate.name('Material', 'name', self.name)!r})"
        changes: dict[str, object] = {}
        for name, size in (("base_color", 4), ("emissive", 3)):
            changes[name] = _floats(who, name, getattr(self, name), size)
        for name in ("metallic", "roughness", "normal_scale", "occlusion_strength", "alpha_cutoff"):
            changes[name] = _validate.number(who, name, getattr(self, name), finite=False)
        if not isinstance(self.extensions, dict) or self.extensions:
            changes["extensions"] = _validate.document(who, "extensions", self.extensions)
        _validate.set_fields(self, **changes)
        for slot in SLOTS:
            texture = getattr(self, f"{slot}_texture")
            if texture is not None:
                _validate.instance(who, f"{slot}_texture", texture, Texture)
        _validate.one_of(who, "alpha_mode", self.alpha_mode, ("opaque", "mask", "blend"))

    @property
    def textures(self) -> dict[str, Texture]:
        """The textures that are set, by slot."""
        found = {s: getattr(self, f"{s}_texture") for s in SLOTS}
        return {s: t for s, t in found.items() if t is not None}
