"""The skins of a baked character: its meshes as blocks of 16 vertices, as the skinning kernels take them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.model.character import Character
from marrow.model.morph import MorphTarget
from marrow.runtime.layout import array_leaves
from marrow.skinning.deform import skin_plan

__all__ = ["SkinSections", "skin_sections"]

Array = NDArray[Any]
WAYS = ("linear", "dual_quaternion", "blended")
_NONE = {"vertices": 0, "skins": 0, "has_normals": 0, "has_tangents": 0}


@dataclass(frozen=True)
class SkinSections:
    """Sections of a file, and the sizes that belong to them."""

    sections: dict[str, Array] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=lambda: dict(_NONE))


def skin_sections(character: Character) -> SkinSections:
    """The groups of meshes that are skinned in one way, each with its layout: `skin0.positions` and so on."""
    plan = skin_plan(character)
    found: dict[str, Array] = {}
    for k, group in enumerate(plan.groups):
        layout = group.layout
        own: dict[str, Array] = {
            n.partition(".")[2]: getattr(layout, n.partition(".")[2]) for n in array_leaves("skin")
        }
        own["pivots"], own["used"] = group.pivots, np.asarray(group.used, np.int32)
        own["touched"] = np.asarray(group.rows, np.int32)
        own["channels"], own["stops"] = _stops(layout.targets)
        way = WAYS.index(group.skinning)
        own["facts"] = np.array(
            [way, group.blocks, group.targets, layout.has_normals, layout.has_tangents], np.int64
        )
        found |= {f"skin{k}.{name}": np.ascontiguousarray(array) for name, array in own.items()}
    sizes = {
        "vertices": plan.vertex_count, "skins": len(plan.groups), "has_normals": int(plan.has_normals),
        "has_tangents": int(plan.has_tangents),
    }  # fmt: skip
    return SkinSections(found, sizes)


def _stops(meshes: Sequence[Sequence[MorphTarget]]) -> tuple[Array, Array]:
    """How channels move targets (see `model.morph.target_weights`): for each channel of a mesh its number, the first
    of its stops and how
    many; and the stops, each a weight and the target that is fully on there, -1 for the base shape."""
    channels: list[tuple[int, int, int]] = []
    stops: list[tuple[float, float]] = []
    base = 0
    for targets in meshes:
        members: dict[int, list[int]] = {}
        for i, target in enumerate(targets):
            members.setdefault(target.channel, []).append(i)
        for channel, own in members.items():
            row = [(targets[i].full_weight, float(base + i)) for i in own]
            if len(row) > 1:
                row = sorted([*row, (0.0, -1.0)])
            channels.append((channel, len(stops), len(row)))
            stops += row
        base += len(targets)
    return np.array(channels, np.int64).reshape(-1, 3), np.array(stops, np.float64).reshape(-1, 2)
