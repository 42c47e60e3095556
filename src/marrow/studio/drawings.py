"""What views draw of a picture: the drawings that `mw.render` makes, from the matrices that pages are sent.

Of a few instances all are drawn; of a crowd the one that was picked. Colours that all instances of a level share are
given to every level that is shown.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import MarrowError, UnknownNameError, ValidationError
from marrow.math import affine
from marrow.model import Character
from marrow.model._derived import derived
from marrow.scene.views import View, parse_views
from marrow.scene.views.drawing import Drawing, Legend
from marrow.scene.views.joint_values import draw_joint_values
from marrow.scene.views.parsing import draw_views
from marrow.scene.views.stage import Posed, PosedEffector, Stage

if TYPE_CHECKING:
    from marrow.studio.actor import Picture
    from marrow.studio.protocol import SetViews

__all__ = ["MOST_DRAWN", "PictureDrawing", "ViewRequest", "draw_picture", "posed_instances"]

Array = NDArray[Any]
MOST_DRAWN = 8
"""Of so many instances all are drawn; of more, only the one that was picked."""


@dataclass(frozen=True)
class ViewRequest:
    """What a page wants to see drawn. `pose`: the joints of the first instance `(J, 3, 4)` in model space, where the page
    shows a pose of its own; as bytes, float32."""

    views: tuple[View, ...] = ()
    method: str | None = None
    picked: int = -1
    compare: str = "skinning"
    mask: str | None = None
    pose: bytes = field(default=b"", repr=False)

    @property
    def empty(self) -> bool:
        return not self.views and self.mask is None

    @staticmethod
    def of(message: SetViews) -> ViewRequest:
        """What a message asks for; a `MarrowError` where that makes no sense."""
        try:
            pose = base64.b64decode(message.pose or "", validate=True)
        except (binascii.Error, ValueError):
            raise ValidationError("views: the pose is not base64") from None
        if len(pose) % 48:
            raise ValidationError("views: the pose has no 12 float32 for each joint")
        views = parse_views([View(choice.name, choice.argument) for choice in message.views])
        method = None if message.method == "file" else message.method
        return ViewRequest(views, method, message.picked, message.compare, message.mask, pose)


@dataclass(frozen=True, eq=False)
class PictureDrawing:
    """What views draw of a picture, and of which instances, by level of detail."""

    drawing: Drawing = field(default_factory=Drawing)
    instances: dict[int, list[int]] = field(default_factory=dict)


def draw_picture(picture: Picture, request: ViewRequest, other: Character | None = None) -> PictureDrawing:
    """What the views of a request draw of a picture. `other` is the character in the second slot. What cannot be drawn is a
    note."""
    if request.empty or not picture.count:
        return PictureDrawing()
    few = picture.count <= MOST_DRAWN
    picked = request.picked if 0 <= request.picked < picture.count else 0
    things = posed_instances(picture, range(picture.count) if few else [picked], request)
    drawing = _draw(picture, request, Stage(tuple(things), _compared(picture, request, other)))
    missing = {group.level: int(group.instances[0]) for group in picture.groups if len(group.instances)}
    for level in missing.keys() - {posed.level for posed in things}:
        stage = Stage(tuple(posed_instances(picture, [missing[level]], request)))
        shared = _draw(picture, request, stage)
        for key, paint in shared.paints.items():
            if paint.colors is None or paint.colors.ndim == 2:  # the same for all at that level
                drawing.paints.setdefault(key, paint)
        drawing.legends = _joined(drawing.legends, shared.legends)
    return PictureDrawing(drawing, {posed.level: posed.instances.tolist() for posed in things})


def _draw(picture: Picture, request: ViewRequest, stage: Stage) -> Drawing:
    drawing = Drawing()
    for view in request.views:
        try:
            draw_views([view], stage, drawing)
        except UnknownNameError as error:
            if picture.slot == 0:  # the others need not have the joints of the first
                drawing.notes.append(str(error))
        except MarrowError as error:
            drawing.notes.append(str(error))
    mask = None if request.mask is None or picture.slot else _mask(picture, request.mask)
    if mask is not None:
        draw_joint_values(stage, mask, "how much of each joint the layer takes", drawing)
    return drawing


def _mask(picture: Picture, path: str) -> list[float] | None:
    graph = picture.actor.graph_info
    return next((mask.weights for mask in graph.masks if mask.path == path), None) if graph else None


def _compared(picture: Picture, request: ViewRequest, other: Character | None) -> Character | None:
    """What the view `difference` compares with; None for the other way of skinning."""
    if request.compare == "before":
        return picture.actor.before
    return other if request.compare == "second" and picture.slot == 0 else None


def posed_instances(picture: Picture, instances: Iterable[int], request: ViewRequest) -> list[Posed]:
    """Some instances of a picture as views see them, by level of detail."""
    whole = picture.actor.drawn
    back = _bind(whole)
    by_level: dict[int, list[int]] = {}
    found: dict[int, Array] = {}
    for n in instances:
        level, found[n] = picture.of(n)
        by_level.setdefault(level, []).append(n)
    out = []
    for level, who in sorted(by_level.items()):
        character = whole.levels[level]
        joints = len(character.skeleton)
        matrices = np.stack([found[n][:joints] for n in who]).astype(np.float64)
        model = affine.multiply(matrices, back[:joints])
        if request.pose and len(request.pose) == 48 * len(whole.skeleton) and who[0] == 0:
            model[0] = np.frombuffer(request.pose, "<f4").reshape(-1, 3, 4)[:joints]
        out.append(
            Posed(
                picture.slot,
                character,
                model.astype(np.float32),
                picture.placements[who],
                np.ascontiguousarray(picture.channels[who]) if picture.channels.shape[1] else None,
                level,
                np.array(who),
                picture.clip,
                picture.times[who] if picture.clip is not None else np.zeros(0),
                request.method,
                effectors=_effectors(picture, who, joints),
                springs=picture.actor.animator.springs.plans,
            )
        )
    return out


def _effectors(picture: Picture, who: list[int], joints: int) -> tuple[PosedEffector, ...]:
    """Where joints of some instances should be, by their graph or as they are held; NaN for instances without."""
    out = [PosedEffector(e.joint, e.translation[who], tuple(e.point.tolist())) for e in picture.reaching]
    held = picture.held
    if held is not None:
        _, mine, theirs = np.intersect1d(who, held.instances, return_indices=True)
        for joint, target, point in held.effectors:
            places = np.full((len(who), 3), np.nan)
            places[mine] = target[theirs]
            out.append(PosedEffector(joint, places, point))
    return tuple(e for e in out if e.joint < joints)


def _bind(character: Character) -> Array:
    """What brings skinning matrices back to the joints, `(J, 3, 4)`: the first entries of the palette are those of the
    joints."""

    def build() -> Array:
        inverse = character.palette.inverse_bind[: len(character.skeleton)].astype(np.float64)
        flat = np.linalg.det(inverse[:, :, :3]) == 0  # such a joint is a point, wherever it is
        inverse[flat, :, :3] = np.eye(3)
        return affine.invert(inverse)

    found: Array = derived(character, "studio bind", build)
    return found


def _joined(legends: list[Legend], more: list[Legend]) -> list[Legend]:
    """Legends of one title in one."""
    out = {legend.title: legend for legend in legends}
    for legend in more:
        mine = out.get(legend.title)
        if mine is None:
            out[legend.title] = legend
        elif legend.entries:
            both = dict([*mine.entries, *legend.entries])
            out[legend.title] = Legend(legend.title, entries=tuple(sorted(both.items())))
    return list(out.values())
