"""Skinned characters in pygfx: plain `gfx.Mesh` objects over the skinner's own buffers, so that everything pygfx does with
a mesh, shadows included, sees the pose of the moment.

    from marrow.gpu import Skinner, pygfx as mpg

    skinner = Skinner(character, mpg.device())
    figures = mpg.Figures(skinner)
    scene.add(figures.group)
    ...
    figures.update(animator)          # each frame, before renderer.render(scene, camera)
"""

from __future__ import annotations

import importlib
import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import MissingExtraError, ValidationError
from marrow.gpu.buffers import Pages
from marrow.gpu.device import Device, adapters
from marrow.gpu.skinner import Skinner
from marrow.model.character import Character
from marrow.model.material import Material, Texture

__all__ = ["Figures", "device"]

Array = NDArray[Any]
_WRAP = {"repeat": "repeat", "clamp": "clamp", "mirror": "mirror"}
_devices: dict[int, Device] = {}


def _gfx() -> Any:
    try:
        return importlib.import_module("pygfx")
    except ImportError as error:
        raise MissingExtraError("pygfx", "pygfx", "marrow.gpu.pygfx") from error


def device() -> Device:
    """The device that pygfx draws with. A skinner on it shares its buffers with pygfx; one on another device cannot."""
    adapters()  # finds drivers that pygfx would not find by itself
    raw = _gfx().renderers.wgpu.get_shared().device
    if id(raw) not in _devices:
        _devices[id(raw)] = Device.of(raw)
    return _devices[id(raw)]


class Figures:
    """All instances of a level of a skinner as a `gfx.Group` of meshes, one for each section (run of triangles with one
    material). The buffers of positions and normals are the skinner's; nothing is copied."""

    def __init__(self, skinner: Skinner, *, level: int = 0) -> None:
        if skinner.device.raw is not _gfx().renderers.wgpu.get_shared().device:
            raise ValidationError(
                "Figures: pygfx draws with another device: make the skinner with device=pygfx.device()"
            )
        self.skinner, self.level = skinner, skinner.levels[level]
        if self.level.vertices.octahedral:
            raise ValidationError(
                "Figures: pygfx reads normals as floats: make the skinner with vectors='float'"
            )
        self.group = _gfx().Group()
        self._state: Any = None
        if skinner.count:
            self._rebuild()

    def update(self, poses: Any, **options: Any) -> Figures:
        """`skinner.update`, and what follows from it for the meshes: a new number of instances, grown buffers."""
        self.skinner.update(poses, **options)
        self._rebuild()
        return self

    def _rebuild(self) -> None:
        level = self.level
        buffers = [p for p in (level.positions, level.normals) if p is not None]
        state = (len(level.instances), *(p.version for p in buffers))
        if state == self._state:
            return
        self._state = state
        for child in tuple(self.group.children):
            self.group.remove(child)
        if not len(level.instances) or not level.vertices.count:
            return
        gfx = _gfx()
        count, V = len(level.instances), level.vertices.count
        shared = {"positions": _lent(level.positions, count * V)}
        if level.normals is not None:
            shared["normals"] = _lent(level.normals, count * V)
        coordinates = _coordinates(level.character)
        if coordinates is not None:
            shared["texcoords"] = gfx.Buffer(np.tile(coordinates, (count, 1)))
        for mesh, first in zip(level.character.meshes, level.character.vertex_offsets):
            if not mesh.visible:
                continue
            for section in mesh.sections:
                corners = mesh.triangles[section.first : section.first + section.count]
                if not len(corners):
                    continue
                rows = (np.arange(count, dtype=np.uint32) * V + first)[:, None, None]
                indices = (corners[None] + rows).astype(np.uint32).reshape(-1, 3)
                geometry = gfx.Geometry(indices=gfx.Buffer(indices), **shared)
                made = gfx.Mesh(
                    geometry, _material(level.character, section.material, coordinates is not None)
                )
                made.cast_shadow = made.receive_shadow = True
                self.group.add(made)


def _lent(pages: Pages, items: int) -> Any:
    """A `gfx.Buffer` around a buffer of ours."""
    raw = pages.raw
    buffer = _gfx().Buffer(nbytes=items * 12, nitems=items, format="3xf4", usage=raw.usage)
    buffer._wgpu_object = raw
    return buffer


def _coordinates(character: Character) -> Array | None:
    """Texture coordinates `(V, 2)` over all meshes; zero for those that have none, None when all have none."""
    if not any(m.uvs for m in character.meshes):
        return None
    parts = [m.uvs[0] if m.uvs else np.zeros((m.vertex_count, 2), np.float32) for m in character.meshes]
    return np.concatenate(parts).astype(np.float32)


def _material(character: Character, number: int | None, textured: bool) -> Any:
    """A pygfx material that looks as the character's does: colours, metalness, roughness and their textures."""
    gfx = _gfx()
    m = Material(metallic=0.0) if number is None else character.materials[number]
    kind = gfx.MeshBasicMaterial if m.unlit else gfx.MeshStandardMaterial
    red, green, blue = (_srgb(c) for c in m.base_color[:3])
    made = kind(color=(red, green, blue, m.base_color[3]))
    made.side = "both" if m.double_sided else "front"
    if not m.unlit:
        made.metalness, made.roughness = m.metallic, m.roughness
    if m.base_color_texture is not None and textured and m.base_color_texture.uv_set == 0:
        made.map = _texture(character, m.base_color_texture)
    return made


def _texture(character: Character, texture: Texture) -> Any:
    from PIL import Image

    gfx = _gfx()
    with Image.open(io.BytesIO(character.images[texture.image].data)) as picture:
        pixels = np.ascontiguousarray(picture.convert("RGBA"))
    image = gfx.Texture(pixels, dim=2, colorspace="srgb", generate_mipmaps=True)
    wrap = f"{_WRAP[texture.wrap_u]}-{_WRAP[texture.wrap_v]}"
    return gfx.TextureMap(image, wrap=wrap.replace("repeat-repeat", "repeat"))


def _srgb(c: float) -> float:
    return float(12.92 * c if c <= 0.0031308 else 1.055 * c ** (1 / 2.4) - 0.055)
