"""Levels of detail: made from a character, measured over its clips, chosen for a crowd.

hero = mw.lod.build(hero, triangles=(0.4, 0.1, 0.02))
hero.levels[1].lod.error    # metres
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from marrow.lod.building import build, measured, settings
    from marrow.lod.level_table import table
    from marrow.lod.mapping import joint_map
    from marrow.lod.select import Selection, Selector
    from marrow.lod.thresholds import with_screen_sizes
    from marrow.model.level import Reduction

__all__ = [
    "Reduction",
    "Selection",
    "Selector",
    "build",
    "joint_map",
    "measured",
    "settings",
    "table",
    "with_screen_sizes",
]

# Each is imported when it is first asked for.
_LATE = {
    "Reduction": "marrow.model.level",
    "Selection": "marrow.lod.select",
    "Selector": "marrow.lod.select",
    "build": "marrow.lod.building",
    "joint_map": "marrow.lod.mapping",
    "measured": "marrow.lod.building",
    "settings": "marrow.lod.building",
    "table": "marrow.lod.level_table",
    "with_screen_sizes": "marrow.lod.thresholds",
}


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'marrow.lod' has no attribute {name!r}")
    value = getattr(importlib.import_module(_LATE[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
