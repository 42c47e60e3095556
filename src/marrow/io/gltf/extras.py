"""What authors and other programs put into `extras`, and names that marrow has no place for: kept with the character, and
written again.

`character.extras` has
- `asset`: `copyright`, `extras`; `root` (the file itself): `extras`; `scene`: `name`, `extras`
- `joints`, `meshes`, `materials`, `clips`, `images`: extras by name
- `skins`: `name`, `extras` and `skeleton` (the joint that is its root) by the name of the mesh
- `textures`: `name`, `extras` and `sampler` (again `name`, `extras`) by the name of the image

Where several of one name differ, `[3]` is the fourth of them all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Raw

from marrow.io.gltf.context import Context
from marrow.io.gltf.materials import image_of
from marrow.io.gltf.notes import KEY
from marrow.io.gltf.plain import MAX_BYTES, check_depth
from marrow.io.gltf.scene import Tree
from marrow.io.gltf.schema import NOTHING
from marrow.model import Clip, Image, Mesh
from marrow.model._asset import same

__all__ = ["COVERAGE", "ExtrasWriter", "by_name", "read_extras"]

_INDEX = re.compile(r"\[\d+\]")
# What is read elsewhere.
TARGET_NAMES, COVERAGE = "targetNames", "MSFT_screencoverage"


def read_extras(
    ctx: Context,
    tree: Tree,
    *,
    meshes: Sequence[tuple[Mesh, int]],
    clips: Mapping[int, Clip],
    images: Sequence[Image],
    coverage: Sequence[float] | None,
) -> dict[str, Any]:
    """The extras of a file, as plain data: those of its clips by the number of their animation, of its meshes by the node
    they are shown by. `coverage` is what the levels of detail say in the extras of nodes."""
    document, reader = ctx.document, _Reader(ctx)
    nodes = document.nodes
    reader.keep("asset", reader.record(document.asset.extras, copyright=document.asset.copyright))
    reader.keep("root", reader.record(document.extras))
    if tree.scene is not None:
        reader.keep("scene", reader.record(tree.scene.extras, name=tree.scene.name))
    joints = [reader.read(nodes[n].extras) for n in tree.nodes]
    if coverage is not None:
        joints = [_without(value, COVERAGE, coverage) for value in joints]
    reader.keep("joints", by_name(tree.names, joints))
    names = [mesh.name for mesh, _ in meshes]
    shown = [nodes[n] for _, n in meshes]
    reader.keep(
        "meshes",
        by_name(names, [reader.read(document.meshes[n.mesh or 0].extras, TARGET_NAMES) for n in shown]),
    )
    skins = [None if n.skin is None else document.skins[n.skin] for n in shown]
    joint_names = tree.names
    roots = [
        None if s is None else tree.joint_of.get(-1 if s.skeleton is None else s.skeleton) for s in skins
    ]
    reader.keep(
        "skins",
        by_name(
            names,
            [
                None
                if s is None
                else reader.record(
                    s.extras, name=s.name, skeleton=None if root is None else joint_names[root]
                )
                for s, root in zip(skins, roots)
            ],
        ),
    )
    materials = document.materials
    reader.keep(
        "materials", by_name([m.name or "" for m in materials], [reader.read(m.extras) for m in materials])
    )
    moves = [reader.read(document.animations[i].extras) for i in clips]
    reader.keep("clips", by_name([clip.name for clip in clips.values()], moves))
    titles = [image.name for image in images]
    reader.keep("images", by_name(titles, [reader.read(image.extras) for image in document.images]))
    reader.keep("textures", by_name(titles, _textures(ctx, reader)))
    lost = sum(reader.read(p.extras) is not None for mesh in document.meshes for p in mesh.primitives)
    if lost:
        ctx.report.add("dropped", "extras", f"those of {lost} primitives are not kept")
    return reader.found | (tree.scene_notes.extras or {})


class _Reader:
    """Decodes extras, up to a size and a depth that no author needs more of."""

    def __init__(self, ctx: Context) -> None:
        self._ctx, self._left = ctx, MAX_BYTES
        self.found: dict[str, Any] = {}

    def keep(self, kind: str, value: dict[str, Any]) -> None:
        if value:
            self.found[kind] = value

    def read(self, raw: Raw, own: str = KEY) -> Any:
        """The value of one `extras` without what is marrow's; None where nothing is left."""
        if raw is NOTHING:
            return None
        data = bytes(raw)
        if not data:
            return None
        self._left -= len(data)
        try:
            if self._left < 0:
                raise ValueError(f"there are more than {MAX_BYTES >> 20} MiB of them")
            value = msgspec.json.decode(data)
            check_depth(value)
        except (msgspec.MsgspecError, RecursionError, ValueError) as error:
            self._ctx.report.add("dropped", "extras", f"some could not be kept: {error}")
            return None
        if isinstance(value, dict):
            value = {key: inner for key, inner in value.items() if key not in (KEY, own)}
        return value if value not in ({}, None) else None

    def record(self, extras: Raw, **names: str | None) -> dict[str, Any]:
        """The names that are set, and the extras where there are any."""
        value = self.read(extras)
        return {k: name for k, name in names.items() if name} | ({} if value is None else {"extras": value})


def _without(value: Any, key: str, known: Sequence[float]) -> Any:
    """Extras without a key, where that says what is known anyway."""
    if not isinstance(value, dict) or value.get(key) != list(known):
        return value
    return {k: v for k, v in value.items() if k != key} or None


def _textures(ctx: Context, reader: _Reader) -> list[dict[str, Any] | None]:
    """The names and extras of textures and their samplers, by the image they show."""
    document = ctx.document
    records: dict[int, dict[str, Any]] = {}
    for i, texture in enumerate(document.textures):
        image = image_of(ctx, texture, f"textures[{i}]")
        if image is None or image >= len(document.images):
            continue
        record = reader.record(texture.extras, name=texture.name)
        if texture.sampler is not None and texture.sampler < len(document.samplers):
            used = document.samplers[texture.sampler]
            sampler = reader.record(used.extras, name=used.name)
            record |= {"sampler": sampler} if sampler else {}
        if not same(records.setdefault(image, record), record):
            ctx.report.add(
                "dropped", "textures", "names and extras of several textures of one image; the first counts"
            )
    return [records.get(i) for i in range(len(document.images))]


def by_name(names: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    """Values by the name of what they belong to; by index where those of one name differ."""
    if not any(value is not None and value != {} for value in values):
        return {}
    members: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        members.setdefault(name, []).append(i)
    out: dict[str, Any] = {}
    for name, at in members.items():
        first = values[at[0]]
        if not _INDEX.fullmatch(name) and all(same(values[i], first) for i in at):
            at = []
            out |= {} if first in (None, {}) else {name: first}
        out |= {f"[{i}]": values[i] for i in at if values[i] not in (None, {})}
    return out


class ExtrasWriter:
    """The extras of a character on their way onto the objects of a file."""

    def __init__(self, extras: dict[str, Any]) -> None:
        self._extras = extras

    def put(self, item: dict[str, Any], kind: str, index: int, name: str) -> None:
        """Adds what is kept for a thing to its definition, beside marrow's own notes."""
        _put(item, self._found(kind, index, name))

    def record(self, kind: str, index: int, name: str) -> dict[str, Any]:
        """The `name`, `extras`, ... that are kept for a thing that is no part of the character."""
        value = self._found(kind, index, name)
        return dict(value) if _is_record(value) else {}

    def kept(self, kind: str, index: int, name: str) -> Any:
        """What is kept for a thing, as it is."""
        return self._found(kind, index, name)

    def whole(self, kind: str, item: dict[str, Any], *names: str) -> None:
        """Adds what is kept for the file, its asset or its scene: texts by their names, and extras."""
        group = self._extras.get(kind)
        if isinstance(group, dict):
            item |= {key: group[key] for key in names if isinstance(group.get(key), str)}
            _put(item, group.get("extras"))

    def _found(self, kind: str, index: int, name: str) -> Any:
        group = self._extras.get(kind)
        keys = (f"[{index}]", *(() if _INDEX.fullmatch(name) else (name,)))
        return next((group[key] for key in keys if key in group), None) if isinstance(group, dict) else None


def _put(item: dict[str, Any], value: Any) -> None:
    if isinstance(value, dict):
        item["extras"] = value | item.get("extras", {})
    elif value is not None and "extras" not in item:
        item["extras"] = value


def _is_record(value: Any) -> bool:
    """Whether a value says a name, extras, a sampler or the root of a skin, and nothing else."""
    if (
        not isinstance(value, dict)
        or not value
        or not value.keys() <= {"name", "extras", "sampler", "skeleton"}
    ):
        return False
    sampler = value.get("sampler")
    texts = (value.get("name", ""), value.get("skeleton", ""))
    return all(isinstance(text, str) for text in texts) and (sampler is None or _is_record(sampler))
