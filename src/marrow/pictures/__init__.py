"""Pictures, contact sheets and videos: what `mw.render` and its kin make.

Needs the extra `render`: pip install 'marrow-engine[render]'.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from marrow.pictures.batch import PictureBatch, render_batch
    from marrow.pictures.picture import render, render_video
    from marrow.pictures.player import Video
    from marrow.pictures.sheet import contact_sheet
    from marrow.pictures.video import VideoWriter

_LATE = {
    "PictureBatch": "batch",
    "Video": "player",
    "VideoWriter": "video",
    "contact_sheet": "sheet",
    "render": "picture",
    "render_batch": "batch",
    "render_video": "picture",
}

__all__ = [
    "PictureBatch",
    "Video",
    "VideoWriter",
    "contact_sheet",
    "render",
    "render_batch",
    "render_video",
]


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'marrow.pictures' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"marrow.pictures.{_LATE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
