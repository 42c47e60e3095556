"""Materials as FBX's Phong, in the terms that Blender's importer and others make roughness and metalness of; textures in
the file or beside it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath

import numpy as np

from marrow.io.fbx.keyed_properties import NOTE
from marrow.io.fbx.material_notes import SLOTS, note_of
from marrow.io.fbx.writing.document import FbxDocument
from marrow.io.fbx.writing.properties import Properties
from marrow.io.images import Undecodable, as_png, media_type
from marrow.io.losses import Losses
from marrow.model import Image, Material, Texture

__all__ = ["MaterialWriter"]

_SUFFIX = {
    "image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp", "image/avif": ".avif", "image/ktx2": ".ktx2",
    "image/bmp": ".bmp", "image/gif": ".gif", "image/tiff": ".tif", "image/x-tga": ".tga", "image/vnd-ms.dds": ".dds",
    "image/vnd.adobe.photoshop": ".psd",
}  # fmt: skip
_RARE = ("image/webp", "image/avif", "image/ktx2")
_WRAP = {"repeat": 0, "clamp": 1, "mirror": 0}


@dataclass
class MaterialWriter:
    """Writes materials as they are asked for. `folder` is where textures lie beside the file (empty: they are in it);
    `files` are those that go there, by name."""

    document: FbxDocument
    images: tuple[Image, ...]
    folder: str
    losses: Losses
    files: dict[str, bytes] = field(default_factory=dict)
    _videos: dict[int, tuple[int, str]] = field(default_factory=dict)
    _textures: dict[Texture, int] = field(default_factory=dict)
    _names: set[str] = field(default_factory=set)

    def plain(self) -> int:
        """A material for what has none, beside others."""
        return self.write(Material("default"))

    def write(self, m: Material) -> int:
        """The material object; its number."""
        number, record = self.document.object("Material", m.name, "")
        record.add("Version", np.int32(102))
        record.add("ShadingModel", "phong")
        record.add("MultiLayer", np.int32(0))
        props = Properties(record)
        strength = max(1.0, *m.emissive)
        shine = (1.0 - min(max(m.roughness, 0.0), 1.0)) ** 2 * 100.0
        opacity = m.base_color[3] if m.alpha_mode != "opaque" else 1.0
        props.color("EmissiveColor", [c / strength for c in m.emissive])
        props.number("EmissiveFactor", strength if any(m.emissive) else 0.0, animated=True)
        props.color("AmbientColor", (0, 0, 0))
        props.color("DiffuseColor", m.base_color[:3])
        props.number("DiffuseFactor", 1.0, animated=True)
        props.color("TransparentColor", (1, 1, 1))
        props.number("TransparencyFactor", 1.0 - opacity, animated=True)
        props.number("Opacity", opacity, animated=True)
        props.color("SpecularColor", (1, 1, 1))
        props.number("SpecularFactor", 0.25, animated=True)
        props.number("Shininess", shine, animated=True)
        props.number("ShininessExponent", shine, animated=True)
        props.color("ReflectionColor", (1, 1, 1))
        props.number("ReflectionFactor", m.metallic, animated=True)
        props.text(NOTE, note_of(m), own=True)
        for slot, texture in m.textures.items():
            if self.images[texture.image].data:
                found = self._texture(texture)
                for prop in SLOTS[slot]:
                    self.document.connect(found, number, prop)
        self._report(m)
        return number

    def _texture(self, texture: Texture) -> int:
        known = self._textures.get(texture)
        if known is not None:
            return known
        video, file = self._video(texture.image)
        name = self.images[texture.image].name or "texture"
        number, record = self.document.object("Texture", name, "")
        record.add("Type", "TextureVideoClip")
        record.add("Version", np.int32(202))
        record.add("TextureName", f"{name}\0\1Texture")
        props = Properties(record)
        props.text("UVSet", f"UVMap_{texture.uv_set}" if texture.uv_set else "UVMap")
        props.flag("UseMaterial", True)
        props.enum("WrapModeU", _WRAP[texture.wrap_u])
        props.enum("WrapModeV", _WRAP[texture.wrap_v])
        (x, y), (a, d) = texture.offset, texture.scale
        if (x, y, a, d) != (0.0, 0.0, 1.0, 1.0):
            # FBX counts v from the bottom.
            props.vector("Translation", (x, 1.0 - d - y, 0.0))
            props.vector("Scaling", (a, d, 1.0))
        record.add("Media", f"{name}\0\1Video")
        record.add("FileName", file)
        record.add("RelativeFilename", file)
        record.add("ModelUVTranslation", 0.0, 0.0)
        record.add("ModelUVScaling", 1.0, 1.0)
        record.add("Texture_Alpha_Source", "None")
        self.document.connect(video, number)
        self._textures[texture] = number
        if texture.rotation:
            self.losses.add(f"texture {name!r}", "its rotation is seen by marrow alone")
        if "mirror" in (texture.wrap_u, texture.wrap_v):
            self.losses.add(f"texture {name!r}", "is mirrored beyond its borders; other programs repeat it")
        return number

    def _video(self, index: int) -> tuple[int, str]:
        """The picture of an image, and its file name."""
        if index not in self._videos:
            image = self.images[index]
            kind = media_type(image.data, image.media_type, name=image.name)
            data = image.data
            if kind in _RARE:
                try:
                    data, was, kind = as_png(data), kind, "image/png"
                    self.losses.add(
                        f"image {image.name!r}", f"{was}, which few programs read from FBX, was made PNG"
                    )
                except Undecodable as error:
                    told = f"is {kind}, which few programs read from FBX, and cannot be made PNG ({error})"
                    self.losses.add(f"image {image.name!r}", told)
            file = self._file_name(image.name, _SUFFIX.get(kind, ".bin"))
            if self.folder:
                self.files[file] = data
                file = f"{self.folder}/{file}"
            number, record = self.document.object("Video", image.name or "texture", "Clip")
            record.add("Type", "Clip")
            props = Properties(record)
            props.text("Path", file)
            record.add("UseMipMap", np.int32(0))
            record.add("Filename", file)
            record.add("RelativeFilename", file)
            if not self.folder:
                record.add("Content", data)
            self._videos[index] = number, file
        return self._videos[index]

    def _file_name(self, name: str, suffix: str) -> str:
        last = PurePosixPath(name.replace("\\", "/")).name
        stem = re.sub(r"[\x00-\x1f/:*?\"<>|]+", "_", last.removesuffix(suffix)).strip(". ")[:80] or "texture"
        unique, k = stem, 0
        while unique.lower() in self._names:
            k += 1
            unique = f"{stem}_{k}"
        self._names.add(unique.lower())
        return f"{unique}{suffix}"

    def _report(self, m: Material) -> None:
        place = f"material {m.name!r}"
        if m.base_color_texture is not None and m.base_color[:3] != (1.0, 1.0, 1.0):
            self.losses.add(
                place, "its colour is lost to programs in which a texture takes the place of a colour"
            )
        if m.metallic_roughness_texture is not None:
            self.losses.add(
                place,
                "metalness and roughness are one picture (blue and green), which other programs take as grey",
            )
        kept = {"unlit": m.unlit, "cut out by alpha": m.alpha_mode == "mask"}
        told = [what for what, there in kept.items() if there]
        if told:
            self.losses.add(place, f"is {', '.join(told)}, which marrow alone reads again")
        if m.extensions:
            self.losses.add(place, f"FBX has no place for its {', '.join(sorted(m.extensions))}")
