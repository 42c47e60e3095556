"""A `Character` to `.glb`, `.gltf`, `.vrm` or `.vrma` (its motion alone).

The file is plain glTF 2.0 that any viewer shows; what glTF has no words for (sockets, events, channels that
drive several targets, ...) goes into `extras` under `marrow`, so that reading it back gives the character
that was saved.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from marrow._version import __version__
from marrow.errors import FormatError, UnknownNameError, ValidationError
from marrow.io.atomic import replacing
from marrow.io.finite_check import check_finite_data
from marrow.io.gltf.builder import GltfBuilder
from marrow.io.gltf.cameras import LIGHTS
from marrow.io.gltf.container import BIN_CHUNK, JSON_CHUNK, MAGIC
from marrow.io.gltf.kept_extensions import write_kept
from marrow.io.gltf.plain import NOTED_DEPTH, check_depth
from marrow.io.gltf.variants import VARIANTS
from marrow.io.gltf.write_check import note_what_is_read_otherwise
from marrow.io.gltf.write_clips import write_clip
from marrow.io.gltf.write_materials import write_images, write_materials
from marrow.io.gltf.write_scene import SceneNodes
from marrow.io.gltf.write_vrm import check_vrm, write_vrm
from marrow.io.losses import Losses
from marrow.model import Character, _validate
from marrow.printing import warn

__all__ = ["write"]

MAX_GLB_BYTES = (1 << 32) - 1
LEVELS = ("all", "split", "none")
METHODS = ("meshopt", "quantized", "quantized+meshopt", "draco")


def write(character: Character, path: Path, *, compress: bool | str = False, levels: str = "all") -> None:
    """Writes the character; a path that ends in `.gltf` gets its arrays in a `.bin` file beside it.

    `compress` makes the file smaller, for programs that know how it was done: `"meshopt"` (or True) packs all arrays
    without loss, `"quantized"` stores vertices and rotations in fewer bits, `"quantized+meshopt"` does both, `"draco"`
    packs meshes without morph targets by Draco. `levels` of detail go into the file (`all`, by `MSFT_lod`), into files of
    their own beside it (`split`: `hero.glb`, `hero_lod1.glb`...), or nowhere (`none`).
    """
    path = Path(path)
    _validate.one_of("save", "levels", levels, LEVELS)
    method = "meshopt" if compress is True else compress or None
    if method is not None and method not in METHODS:
        raise UnknownNameError("way to compress", method, METHODS)
    if levels != "all" and character.reduced:
        for k, level in enumerate(character.levels[1:] if levels == "split" else (), 1):
            write(level, path.with_stem(f"{path.stem}_lod{k}"), compress=compress)
        character = character.replace(reduced=())
    character, lost = _shallow(character)
    builder = GltfBuilder(
        path,
        character.extras,
        quantize="quantized" in (method or ""),
        exact=method in (None, "meshopt"),
        packs=method == "quantized+meshopt",
    )
    for line in lost:
        builder.warn(line)
    if path.suffix.lower() == ".vrm":
        check_vrm(builder, character)
    whole: dict[str, Any] = {}
    if path.suffix.lower() == ".vrma":
        from marrow.io.gltf.write_vrma import as_vrma

        losses = Losses()
        body = as_vrma(character, path, losses)
        for line in losses.lines():
            builder.warn(line)
        character, whole = body.character, {builder.extension("VRMC_vrm_animation"): body.extension()}
    document = _document(builder, character, method, whole)
    if path.suffix.lower() == ".gltf":
        _save_gltf(builder, document, path)
    else:
        _save_glb(builder, document, path)
    for line in builder.lines:
        warn(line)


def _shallow(character: Character) -> tuple[Character, list[str]]:
    """The character without data of other programs that is nested deeper than readers follow."""
    lost = []
    for field in ("extras", "vrm"):
        try:
            check_depth(getattr(character, field), NOTED_DEPTH)
        except (ValueError, RecursionError) as error:
            character = character.replace(**{field: {}})
            lost.append(f"{field}: {error}; left out")
    return character, lost


def _save_glb(builder: GltfBuilder, document: dict[str, Any], path: Path) -> None:
    if builder.size:
        document.setdefault("buffers", [{"byteLength": builder.size}])
    text = _encode(document, path)
    text += b" " * (-len(text) % 4)
    total = 12 + 8 + len(text) + (8 + builder.size if builder.size else 0)
    if total > MAX_GLB_BYTES:
        raise FormatError(f"would have {total} bytes; a GLB holds at most {MAX_GLB_BYTES}", path=path)
    with replacing(path) as file:
        file.write(MAGIC + struct.pack("<II", 2, total))
        file.write(struct.pack("<II", len(text), JSON_CHUNK) + text)
        if builder.size:
            file.write(struct.pack("<II", builder.size, BIN_CHUNK))
            file.writelines(builder.binary)


def _save_gltf(builder: GltfBuilder, document: dict[str, Any], path: Path) -> None:
    if not builder.size:
        with replacing(path) as file:
            file.write(msgspec.json.format(_encode(document, path), indent=1))
        return
    binary = path.with_suffix(".bin")
    document.setdefault("buffers", [{"byteLength": builder.size}])
    document["buffers"][0]["uri"] = quote(binary.name, errors="surrogateescape")
    text = msgspec.json.format(_encode(document, path), indent=1)
    # Both are complete before either takes its place.
    with replacing(path) as file, replacing(binary) as data:
        data.writelines(builder.binary)
        file.write(text)


def _encode(document: dict[str, Any], path: object) -> bytes:
    """The JSON of the document, which has no way to write numbers that are not finite."""
    try:
        check_finite_data("", document)
        return msgspec.json.encode(document)
    except ValidationError as error:
        raise FormatError(f"{error}: no number that glTF can hold", path=path) from None
    except UnicodeEncodeError as error:
        raise FormatError(f"a name cannot be written as text: {error}", path=path) from None


def _document(
    builder: GltfBuilder, character: Character, method: str | None, whole: dict[str, Any]
) -> dict[str, Any]:
    if not len(character.skeleton):
        raise builder.refuse("has no joints, and a glTF scene needs a node", "skeleton")
    images = write_images(builder, character.images)
    write_materials(builder, character.materials, images)
    scene = SceneNodes(builder, character)
    for i, clip in enumerate(character.clips.values()):
        write_clip(builder, clip, scene.morph_nodes)
        builder.extras.put(builder.objects["animations"][i], "clips", i, clip.name)
        if clip.skeleton != character.skeleton:
            builder.warn(
                f"clip {clip.name!r} was made for another skeleton of the same joints; it now has this one"
            )
    if character.vrm or character.constraints:
        whole = write_vrm(builder, character, scene.morph_nodes, scene.places, images)
    asset = {"version": "2.0", "generator": f"marrow {__version__}"}
    builder.extras.whole("asset", asset, "copyright")
    document: dict[str, Any] = {"asset": asset}
    builder.extras.whole("root", document)
    if character.variants:
        names = [{"name": name} for name in character.variants]
        whole[builder.extension(VARIANTS)] = {"variants": names}
    if builder.lights:
        whole[LIGHTS] = {"lights": builder.lights}
    if method == "draco":
        from marrow.io.gltf.write_draco import pack_meshes

        pack_meshes(builder)
    definition = scene.definition()
    write_kept(builder, character, (*scene.places, *scene.level_places), document, definition, images)
    if method is not None and "meshopt" in method:
        from marrow.io.gltf.compression import compress as packed

        document["buffers"] = packed(builder)
    if whole:
        document["extensions"] = document.get("extensions", {}) | whole
    document |= {"scene": 0, "scenes": [definition]} | builder.objects
    if character.vrm or character.extras or character.constraints:
        text = _encode(document, builder.path)
        note_what_is_read_otherwise(text, character, (*scene.places, *scene.level_places), scene.notes)
        document["scenes"] = [definition | {"extras": scene.definition()["extras"]}]
    used = builder.extensions_used | set(_extensions_in(document))
    if used:
        document["extensionsUsed"] = sorted(used)
    if builder.extensions_required:
        document["extensionsRequired"] = sorted(builder.extensions_required)
    return document


def _extensions_in(value: Any) -> Iterator[str]:
    """The names of all extensions in a document, also of those inside others."""
    if isinstance(value, list):
        for item in value:
            yield from _extensions_in(item)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key == "extensions" and isinstance(inner, dict):
                yield from inner
            if key != "extras":
                yield from _extensions_in(inner)
