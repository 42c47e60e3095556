"""Extensions that marrow does not know: kept as plain data in `character.extras["extensions"]`, and written again.

They are there by what carries them (`root`, `asset`, `scene`, `joints`, `meshes`, `primitives`, `skins`, `clips`,
`images`), named as in `character.extras`. What they refer to by number is there itself, since numbers change:

    {"@bytes": "base64..."}          a buffer view
    {"@accessor": {...}}             an accessor: its type and its numbers
    {"@joint": "Hips"}               a node, by its name, or by its number where several share the name
    {"@material": 3}, {"@image": 2}  a material, an image of the character
    {"@texture": {...}}              a texture, as in `material.extensions`

An extension that refers to anything else is left out as a whole, with a line in the report.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

import msgspec
import numpy as np

from marrow.errors import FormatError, ResourceLimitError
from marrow.io.gltf.accessors import COMPONENTS, WIDTHS
from marrow.io.gltf.builder import KINDS, GltfBuilder
from marrow.io.gltf.container import SUPPORTED
from marrow.io.gltf.context import Context
from marrow.io.gltf.extras import ExtrasWriter, by_name
from marrow.io.gltf.materials import _texture as read_texture
from marrow.io.gltf.plain import MAX_BYTES, check_depth
from marrow.io.gltf.scene import Tree
from marrow.io.gltf.schema import Extensions, TextureInfoDef
from marrow.io.gltf.write_materials import _texture as write_texture
from marrow.model import Character, Clip, Image, Mesh, Texture

__all__ = ["KEPT", "read_kept", "report_extensions", "write_kept"]

KEPT = "extensions"
MAX_KEPT_BYTES = 64 << 20
_NOUNS = {
    "bufferview": "bytes", "accessor": "accessor", "node": "joint", "material": "material", "image": "image",
    "texture": "texture",
}  # fmt: skip
"""What an integer under a key that ends so is, whatever the extension."""
_OTHERS = ("mesh", "skin", "animation", "camera", "scene", "light", "sampler", "buffer", "primitive")
"""The same, where it cannot be said without its number."""
_OWN = {
    "EXT_lights_image_based": {"light": "", "specularImages": "image"},
    "EXT_mesh_features": {"attribute": "", "propertyTable": ""},
    "EXT_structural_metadata": {"values": "bytes", "arrayOffsets": "bytes", "stringOffsets": "bytes"},
    "KHR_physics_rigid_bodies": {"physicsMaterial": "", "joint": ""},
}
"""Keys of some extensions: what they refer to, or nothing but what the extension itself holds."""
_UNSAYABLE = (
    "index",
    "indices",
    "source",
    "value",
    "joint",
    "skeleton",
    "attribute",
    "target",
    "vertex",
    "vertice",
)
"""Keys that may mean anything: of extensions that nobody here has read, one with a number is left out."""
_READ = (
    *_OWN, "KHR_audio_emitter", "KHR_gaussian_splatting", "KHR_implicit_shapes", "KHR_techniques_webgl", "KHR_xmp",
    "KHR_xmp_json_ld",
)  # fmt: skip
_NEVER = {
    "EXT_instance_features": "its instances became nodes",
    "EXT_mesh_manifold": "it names vertices by their numbers",
    "EXT_mesh_primitive_edge_visibility": "it names triangles by their numbers",
    "EXT_mesh_primitive_restart": "it names primitives by their numbers",
}
_POINTER = re.compile(
    r"/(?:nodes|meshes|materials|animations|cameras|skins|scenes|textures|images|extensions)/\d"
)
_FIELDS = ("image", "wrap_u", "wrap_v", "mag_filter", "min_filter")


class _CannotKeep(Exception):
    pass


def read_kept(
    ctx: Context,
    tree: Tree,
    *,
    meshes: Sequence[tuple[Mesh, int]],
    clips: Mapping[int, Clip],
    images: Sequence[Image],
) -> dict[str, Any]:
    """What is kept of a file, by what carries it."""
    document, reader = ctx.document, _Reader(ctx, tree)
    nodes = document.nodes
    shown = [nodes[n] for _, n in meshes]
    drawn = [document.meshes[n.mesh or 0] for n in shown]
    names = [mesh.name for mesh, _ in meshes]
    skins = [None if n.skin is None else document.skins[n.skin].extensions for n in shown]
    places: dict[str, tuple[Sequence[str], Sequence[Extensions | None]]] = {
        "joints": (tree.names, [nodes[n].extensions for n in tree.nodes]),
        "meshes": (names, [m.extensions for m in drawn]),
        "primitives": (
            [f"{name}[{i}]" for name, m in zip(names, drawn) for i in range(len(m.primitives))],
            [p.extensions for m in drawn for p in m.primitives],
        ),
        "skins": (names, skins),
        "clips": ([c.name for c in clips.values()], [document.animations[i].extensions for i in clips]),
        "images": ([image.name for image in images], [d.extensions for d in document.images]),
    }
    found: dict[str, Any] = {"root": reader.read(document.extensions)}
    found["scene"] = reader.read(None if tree.scene is None else tree.scene.extensions)
    found["asset"] = reader.read(document.asset.extensions)
    listed = {kind: (owners, [reader.read(e) for e in given]) for kind, (owners, given) in places.items()}
    for name, why in reader.refused.items():
        ctx.report.add("dropped", "extensions", f"{name}: not kept ({why})")
    ctx.kept.update({name: name not in reader.refused for name in reader.seen})
    out = {kind: kept for kind, value in found.items() if (kept := reader.without_refused(value))}
    for kind, (owners, values) in listed.items():
        kept = by_name(owners, [reader.without_refused(v) for v in values])
        out |= {kind: kept} if kept else {}
    return out


def report_extensions(ctx: Context) -> None:
    """Says of the extensions that a file names what becomes of them."""
    document = ctx.document
    named = dict.fromkeys((*document.extensionsUsed, *document.extensionsRequired))
    shown = [e for e in named if e.partition("_")[2].startswith("materials_") and e not in SUPPORTED]
    kept = [e for e, whole in ctx.kept.items() if whole]
    lost = [e for e in named if e not in SUPPORTED and e not in shown and e not in ctx.kept]
    for group, kind, place, what in (
        (shown, "info", "materials", "kept for other programs, not shown"),
        (kept, "info", "extensions", "kept for other programs, not used"),
        (
            lost,
            "dropped",
            "extensions",
            "not kept: marrow does not know it, or it says nothing of what is kept",
        ),
    ):
        if group:
            ctx.report.add(kind, place, f"{', '.join(group)}: {what}")  # type: ignore[arg-type]


class _Reader:
    """Decodes extensions, up to a size that no author needs more of."""

    def __init__(self, ctx: Context, tree: Tree) -> None:
        self._ctx, self._tree = ctx, tree
        self._left, self._bytes_left = MAX_BYTES, MAX_KEPT_BYTES
        self.refused: dict[str, str] = {}
        self.seen: set[str] = set()
        self._strict = True
        self._unique = (
            {n for n in tree.names if tree.names.count(n) == 1} if len(tree.names) < 5000 else set()
        )

    def read(self, extensions: Extensions | None) -> dict[str, Any] | None:
        out = {}
        for name, raw in (extensions or {}).items():
            if name in SUPPORTED or name in self.refused:
                continue
            self.seen.add(name)
            self._strict = name not in _READ
            try:
                if name in _NEVER:
                    raise _CannotKeep(_NEVER[name])
                self._left -= len(bytes(raw))
                if self._left < 0:
                    raise _CannotKeep("there is too much of it")
                value = msgspec.json.decode(raw)
                check_depth(value)
                self._ctx.budget.charge(8 * len(bytes(raw)), "extensions")
                out[name] = self._known(value, "", _OWN.get(name, {}))
            except ResourceLimitError:
                raise
            except FormatError as error:
                self.refused[name] = f"{error.place} {error.message}"
            except (msgspec.MsgspecError, RecursionError, ValueError, _CannotKeep) as error:
                self.refused[name] = str(error)
        return out or None

    def without_refused(self, value: dict[str, Any] | None) -> dict[str, Any] | None:
        """An extension is kept everywhere or nowhere: its parts refer to each other."""
        if value is None:
            return None
        return {name: body for name, body in value.items() if name not in self.refused} or None

    def _known(self, value: Any, key: str, own: dict[str, str]) -> Any:
        """`value`, found under `key`, with what it refers to in place of numbers."""
        if isinstance(value, bool) or value is None or isinstance(value, float):
            return value
        if isinstance(value, str):
            if _POINTER.search(value):
                raise _CannotKeep("it points into the file")
            return value
        if isinstance(value, int):
            noun = own[key] if key in own else _noun(key)
            if self._strict and not noun and key.lower().removesuffix("s").endswith(_UNSAYABLE):
                raise _CannotKeep(f"what its {key!r} means is not known")
            return self._referred(noun, value) if noun else value
        if isinstance(value, list):
            return [self._known(item, key, own) for item in value]
        if any(k.startswith("@") for k in value):
            raise _CannotKeep("it has keys that marrow uses itself")
        if _noun(key) == "texture" and isinstance(value.get("index"), int):
            rest = {k: self._known(v, k, own) for k, v in value.items() if k != "index"}
            return rest | self._referred("texture", value["index"])
        return {k: self._known(v, k, own) for k, v in value.items()}

    def _referred(self, noun: str, index: int) -> dict[str, Any]:
        document, ctx = self._ctx.document, self._ctx
        if index < 0 or index > 1 << 31:
            raise _CannotKeep(f"it refers to {noun} {index}")
        if noun == "bytes":
            return {"@bytes": self._text(bytes(ctx.accessors.view(index, "extensions")[0]))}
        if noun == "accessor":
            definition = ctx.accessors.definition(index)
            values = np.ascontiguousarray(ctx.accessors.raw(index))
            said: dict[str, Any] = {
                "componentType": definition.componentType,
                "type": definition.type,
                "data": self._text(values.tobytes()),
            }
            return {"@accessor": said | ({"normalized": True} if definition.normalized else {})}
        if noun == "joint":
            joint = self._tree.joint_of.get(index)
            if joint is None or self._tree.nodes[joint] != index:
                raise _CannotKeep("it refers to a node outside the scene")
            name = self._tree.names[joint]
            return {"@joint": name if name in self._unique else joint}
        if noun in ("material", "image") and index < len(getattr(document, f"{noun}s")):
            return {f"@{noun}": index}
        if noun == "texture":
            found = read_texture(ctx, TextureInfoDef(index), "extensions")
            if found is not None:
                plain = Texture(0)
                how = {
                    k: getattr(found, k)
                    for k in _FIELDS
                    if k == "image" or getattr(found, k) != getattr(plain, k)
                }
                return {"@texture": how}
        raise _CannotKeep(f"it refers to a {noun} by its number")

    def _text(self, data: bytes) -> str:
        self._bytes_left -= len(data)
        if self._bytes_left < 0:
            raise _CannotKeep("there is too much data with it")
        self._ctx.budget.charge(2 * len(data), "extensions")
        return base64.b64encode(data).decode()


def _noun(key: str) -> str:
    """What an integer under a key is, if anything of the file."""
    low = key.lower().removesuffix("s")
    for noun, meaning in _NOUNS.items():
        if low.endswith(noun):
            return meaning
    return next((noun for noun in _OTHERS if low in (noun, noun.removesuffix("s"), f"{noun}e")), "")


# -------------------- writing


def write_kept(
    builder: GltfBuilder,
    character: Character,
    places: Sequence[int],
    document: dict[str, Any],
    scene: dict[str, Any],
    images: Set[int],
) -> None:
    """Puts what is kept onto the objects of a file."""
    kept = character.extras.get(KEPT)
    if not isinstance(kept, dict):
        return
    writer = _Writer(builder, character, images)
    for kind, item in (("root", document), ("asset", document["asset"]), ("scene", scene)):
        writer.put(item, kept.get(kind))
    found, objects = ExtrasWriter(kept), builder.objects
    for j, name in enumerate(character.skeleton.names):
        writer.put(objects["nodes"][j], found.kept("joints", j, name))
    levels = (m for level in character.reduced for m in level.meshes)
    number = 0
    for i, (mesh, n) in enumerate(zip((*character.meshes, *levels), places)):
        node = objects["nodes"][n]
        drawn = objects["meshes"][node["mesh"]]
        writer.put(drawn, found.kept("meshes", i, mesh.name))
        for k, primitive in enumerate(drawn["primitives"]):
            writer.put(primitive, found.kept("primitives", number, f"{mesh.name}[{k}]"))
            number += 1
        if "skin" in node:
            writer.put(objects["skins"][node["skin"]], found.kept("skins", i, mesh.name))
    for i, name in enumerate(character.clips):
        writer.put(objects["animations"][i], found.kept("clips", i, name))
    for i, image in enumerate(character.images):
        if i < len(objects.get("images", [])):
            writer.put(objects["images"][i], found.kept("images", i, image.name))


class _Writer:
    def __init__(self, builder: GltfBuilder, character: Character, images: Set[int]) -> None:
        self._builder, self._character, self._images = builder, character, images

    def put(self, item: dict[str, Any], extensions: Any) -> None:
        for name, body in extensions.items() if isinstance(extensions, dict) else ():
            if name in item.get("extensions", {}):
                continue
            try:
                written = self._numbered(body)
            except (KeyError, ValueError, TypeError, IndexError, _CannotKeep) as error:
                self._builder.warn(f"extension {name!r}: left out, what it refers to is not there ({error})")
                continue
            item.setdefault("extensions", {})[self._builder.extension(name)] = written

    def _numbered(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._numbered(item) for item in value]
        if not isinstance(value, dict):
            return value
        reference = next((key for key in value if key.startswith("@")), None)
        if reference is None:
            return {key: self._numbered(item) for key, item in value.items()}
        index = _REFERENCES[reference](self, value[reference])
        rest = {key: self._numbered(item) for key, item in value.items() if key != reference}
        return rest | {"index": index} if rest or reference == "@texture" else index

    def _bytes(self, text: str) -> int:
        return self._builder.view(base64.b64decode(text, validate=True))

    def _accessor(self, said: dict[str, Any]) -> int:
        dtype, width = COMPONENTS[said["componentType"]], WIDTHS[said["type"]]
        values = np.frombuffer(base64.b64decode(said["data"], validate=True), dtype).reshape(-1, width)
        if said["type"] != KINDS.get(width):
            raise _CannotKeep(f"accessors of {said['type']}")
        return self._builder.accessor(values, "extensions", fractions=bool(said.get("normalized")))

    def _joint(self, name: str | int) -> int:
        return self._character.skeleton.index(name)

    def _of(self, kind: str) -> Callable[[Any], int]:
        def number(index: Any) -> int:
            if not isinstance(index, int) or not 0 <= index < len(self._builder.objects.get(kind, [])):
                raise _CannotKeep(f"{kind}[{index}]")
            return index

        return number

    def _texture(self, said: dict[str, Any]) -> int:
        if said["image"] not in self._images:
            raise _CannotKeep("its texture")
        return write_texture(self._builder, Texture(**{k: said[k] for k in _FIELDS if k in said}))


_REFERENCES: dict[str, Callable[[_Writer, Any], int]] = {
    "@bytes": _Writer._bytes,
    "@accessor": _Writer._accessor,
    "@joint": _Writer._joint,
    "@material": lambda w, i: w._of("materials")(i),
    "@image": lambda w, i: w._of("images")(i),
    "@texture": _Writer._texture,
}
