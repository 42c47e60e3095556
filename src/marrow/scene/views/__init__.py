"""Views: pictures that answer a question about a character. `view="skeleton+weights:hand_l"` names them.

Each is a record (`ViewKind`): its name, what it shows, what may follow the colon, and the function that draws it.
"""

from __future__ import annotations

from marrow.scene.views.drawing import Drawing, Label, Legend, Lines, Paint
from marrow.scene.views.kind import View, ViewKind
from marrow.scene.views.parsing import KINDS, draw_views, parse_views, shows_whole_clip
from marrow.scene.views.stage import Posed, Stage

__all__ = [
    "KINDS",
    "Drawing",
    "Label",
    "Legend",
    "Lines",
    "Paint",
    "Posed",
    "Stage",
    "View",
    "ViewKind",
    "draw_views",
    "parse_views",
    "shows_whole_clip",
]
