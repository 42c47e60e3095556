"""Levels of detail: made from a character, measured over its clips, chosen for a crowd.

hero = mw.lod.build(hero, triangles=(0.4, 0.1, 0.02))
hero.levels[1].lod.error    # metres
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from marrow.lod.builder import build, measured, settings
    from marrow.lod.level_joints import joint_map
    from marrow.lod.level_table import table
    from marrow.lod.selector import Selection, Selector
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
    "Selection": "marrow.lod.selector",
    "Selector": "marrow.lod.selector",
    "build": "marrow.lod.builder",
    "joint_map": "marrow.lod.level_joints",
    "measured": "marrow.lod.builder",
    "settings": "marrow.lod.builder",
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
