"""The LOD groups of an FBX file as levels of detail."""

from __future__ import annotations

import msgspec

from marrow.model import Character, Level, Lod, Mesh
from marrow.report import Report, ReportLine

__all__ = ["GroupNotes", "with_lod_groups"]


class GroupNotes(msgspec.Struct):
    """The group and the level of each mesh that is in one, by its number; the screen sizes of each group's levels."""

    meshes: dict[int, tuple[int, int]] = {}
    sizes: list[list[float]] = []


def with_lod_groups(character: Character, notes: GroupNotes) -> Character:
    """The character with what its groups show first, and the rest as coarser levels. A mesh in no group is there at
    every level; a group with fewer levels than others keeps showing its last. A mesh is called at every level as it
    is at first."""
    deepest: dict[int, int] = {}
    for group, level in notes.meshes.values():
        deepest[group] = max(deepest.get(group, 0), level)
    count = max(deepest.values(), default=0)
    if count < 1:
        return character

    def shown(at: int) -> tuple[Mesh, ...]:
        out, seen = [], dict.fromkeys(deepest, 0)
        for i, mesh in enumerate(character.meshes):
            group, level = notes.meshes.get(i, (-1, 0))
            if group < 0:
                out.append(mesh)
            elif level == min(at, deepest[group]):
                names = first[group] if at else []
                name = names[seen[group]] if seen[group] < len(names) else mesh.name
                seen[group] += 1
                out.append(mesh.replace(name=name, visible=True))
        return tuple(out)

    first: dict[int, list[str]] = {group: [] for group in deepest}
    for i, mesh in enumerate(character.meshes):
        group, level = notes.meshes.get(i, (-1, 0))
        if group >= 0 and level == 0:
            first[group].append(mesh.name)
    sizes = next((s for s in notes.sizes if len(s) == count), [None] * count)
    J = len(character.skeleton)
    levels = []
    for k in range(1, count + 1):
        meshes = shown(k)
        levels.append(Level(meshes, Lod.of(meshes, J, screen_size=sizes[k - 1])))
    line = ReportLine("info", "levels", f"{len(deepest)} LOD groups give {count + 1} levels of detail")
    report = character.report + Report((line,))
    return character.replace(meshes=shown(0), reduced=tuple(levels), lod=None, report=report)
