"""Levels of detail as a LOD group: a node with a child for every level, and from which size on it is shown."""

from __future__ import annotations

from marrow.io.fbx.writing.document import FbxDocument
from marrow.io.fbx.writing.nodes import Names, write_model
from marrow.io.fbx.writing.properties import Properties
from marrow.model import Character

__all__ = ["LevelNodes"]


class LevelNodes:
    """The nodes below which the meshes of each level hang; false where a character has one level."""

    def __init__(self, document: FbxDocument, character: Character, names: Names) -> None:
        self._nodes: list[int] = []
        if not character.reduced:
            return
        title = names.of(f"{character.name or 'character'}_LodGroup")
        group, _, _ = write_model(document, title, "LodGroup")
        document.connect(group, 0)
        attribute, record = document.object("NodeAttribute", title, "LodGroup")
        props = Properties(record)
        sizes = [level.lod.screen_size for level in character.reduced]
        if all(size is not None for size in sizes):
            props.flag("ThresholdsUsedAsPercentage", True)
            for k, size in enumerate(sizes):
                props.number(f"Thresholds|Level{k}", 100.0 * (size or 0.0))
        record.add("TypeFlags", "LodGroup")
        document.connect(attribute, group)
        for k in range(len(sizes) + 1):
            node, _, _ = write_model(document, names.of(f"LOD{k}"), "Null")
            document.connect(node, group)
            self._nodes.append(node)

    def __bool__(self) -> bool:
        return bool(self._nodes)

    def node(self, level: int) -> int:
        return self._nodes[level]
