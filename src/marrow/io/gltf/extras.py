"""What authors and other programs put into `extras`, and the file's copyright: kept with the character, and written
again.

`character.extras` has `asset` (`copyright`, `extras`), and by name what lies on `joints`, `meshes`, `materials` and
`clips`. Of several with one name the first counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Raw

from marrow.io.gltf.context import Context
from marrow.io.gltf.scene import Tree
from marrow.io.gltf.schema import NOTHING

__all__ = ["check_depth", "read_extras", "with_extras"]

MAX_BYTES = 16 << 20
MAX_DEPTH = 32
# What marrow reads itself.
_OWN = ("marrow", "targetNames")


def read_extras(ctx: Context, tree: Tree) -> dict[str, Any]:
    """The extras of a file, as plain data."""
    document = ctx.document
    found: dict[str, Any] = {}
    reader = _Reader(ctx)
    asset: dict[str, Any] = {"copyright": document.asset.copyright} if document.asset.copyright else {}
    own = reader.read(document.asset.extras)
    if own is not None:
        asset["extras"] = own
    if asset:
        found["asset"] = asset
    names = tree.names(ctx)
    groups: dict[str, Iterable[tuple[str, Raw]]] = {
        "joints": ((names[j], document.nodes[n].extras) for j, n in enumerate(tree.nodes)),
        "meshes": ((m.name or f"mesh_{i}", m.extras) for i, m in enumerate(document.meshes)),
        "materials": ((m.name or "", m.extras) for m in document.materials),
        "clips": ((a.name or f"clip_{i}", a.extras) for i, a in enumerate(document.animations)),
    }
    for kind, items in groups.items():
        kept: dict[str, Any] = {}
        for name, raw in items:
            if raw is not NOTHING and name not in kept:
                value = reader.read(raw)
                if value is not None:
                    kept[name] = value
        if kept:
            found[kind] = kept
    return found


class _Reader:
    """Decodes extras, up to a size and a depth that no author needs more of."""

    def __init__(self, ctx: Context) -> None:
        self._ctx, self._left = ctx, MAX_BYTES

    def read(self, raw: Raw) -> Any:
        data = bytes(raw)
        if raw is NOTHING or not data:
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
            value = {key: inner for key, inner in value.items() if key not in _OWN}
        return value if value not in ({}, None) else None


def check_depth(value: Any, left: int = MAX_DEPTH) -> None:
    """Refuses data that is nested deeper than anybody needs."""
    if left < 0:
        raise ValueError(f"they are nested more than {MAX_DEPTH} deep")
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        check_depth(inner, left - 1)


def with_extras(item: dict[str, Any], extras: dict[str, Any], kind: str, name: str) -> None:
    """Adds what is kept for a thing of that name to its definition, beside marrow's own notes."""
    group = extras.get(kind)
    value = group.get(name) if isinstance(group, dict) else None
    if value is None:
        return
    if isinstance(value, dict):
        item["extras"] = value | item.get("extras", {})
    elif "extras" not in item:
        item["extras"] = value
