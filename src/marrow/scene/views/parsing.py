"""From the words `skeleton+weights:hand_l` to views, and from views to a drawing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from marrow.errors import UnknownNameError, ValidationError, WrongTypeError
from marrow.model import _validate
from marrow.scene.views.bounds import BOUNDS
from marrow.scene.views.difference import DIFFERENCE
from marrow.scene.views.drawing import Drawing
from marrow.scene.views.effectors import EFFECTORS
from marrow.scene.views.kind import View, ViewKind
from marrow.scene.views.motion import CONTACTS, GHOSTS, TRAILS
from marrow.scene.views.skeleton import SKELETON, SOCKETS
from marrow.scene.views.springs import SPRING_VIEW
from marrow.scene.views.stage import Stage
from marrow.scene.views.surface import INFLUENCES, LEVELS, NORMALS, TANGENTS, UV, WEIGHTS, WIREFRAME
from marrow.scene.views.trajectories import TRAJECTORIES
from marrow.scene.views.warps import WARPS

__all__ = ["KINDS", "draw_views", "parse_views", "shows_whole_clip"]

KINDS: dict[str, ViewKind] = {
    kind.name: kind
    for kind in (
        SKELETON, SOCKETS, WEIGHTS, INFLUENCES, NORMALS, TANGENTS, WIREFRAME, UV, BOUNDS, LEVELS, TRAILS, GHOSTS,
        CONTACTS, WARPS, EFFECTORS, TRAJECTORIES, SPRING_VIEW, DIFFERENCE,
    )
}  # fmt: skip


def parse_views(view: str | View | Iterable[str | View] | None) -> tuple[View, ...]:
    """The views that a text such as "skeleton+weights:hand_l", or a list of such texts, names; none for None, "" and
    "shaded", the plain picture. A joint's name may have a plus or a colon in it: what follows "+" is a view of its own
    only where it begins with the name of one."""
    if view is None:
        return ()
    if isinstance(view, View):
        return (_checked(view),)
    if not isinstance(view, str):
        if not isinstance(view, Iterable):
            raise WrongTypeError(f"view: expected a text such as 'skeleton', got {_validate.shown(view)}")
        return tuple(v for item in view for v in parse_views(item))
    parts: list[str] = []
    for word in view.split("+"):
        name = word.partition(":")[0].strip()
        if (
            parts
            and name not in KINDS
            and name != "shaded"
            and KINDS.get(parts[-1].partition(":")[0].strip())
            and ":" in parts[-1]
        ):
            parts[-1] += "+" + word  # a part of the name before it
        else:
            parts.append(word)
    out = []
    for part in parts:
        name, _, argument = (p.strip() for p in part.partition(":"))
        if name not in ("", "shaded") or argument:
            out.append(_checked(View(name, argument)))
    return tuple(out)


def _checked(view: View) -> View:
    kind = KINDS.get(view.name)
    if kind is None:
        raise UnknownNameError("view", view.name, KINDS)
    if view.argument and not kind.argument:
        raise ValidationError(f"view {view.name!r}: nothing may follow it, got {view.argument!r}")
    if not view.argument and kind.argument and not kind.argument.startswith("["):
        raise ValidationError(f"view {view.name!r}: write {view.name}:{kind.argument}")
    return view


def shows_whole_clip(view: str | View | Iterable[str | View] | None) -> bool:
    """Whether a view shows more of a clip than one moment."""
    return any(KINDS[v.name].whole_clip for v in parse_views(view))


def draw_views(views: Sequence[View], stage: Stage, into: Drawing | None = None) -> Drawing:
    """What views show of a stage, added to a drawing or in a new one."""
    out = Drawing() if into is None else into
    for view in views:
        KINDS[view.name].draw(stage, view.argument, out)
    return out
