"""Pictures for the page of `marrow retarget --html`: a motion and its result side by side, at the moments that matter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.cli._errors import note
from marrow.errors import GpuError, MarrowError, MissingExtraError
from marrow.motion.quality_figures import FEET, Figure

if TYPE_CHECKING:
    from marrow.cli._retarget_page import ClipEntry
    from marrow.model import Character, Clip
    from marrow.motion import Retargeter

__all__ = ["add_pictures"]

Array = NDArray[Any]
SIZE = (260, 300)
SMALL, MOMENTS = (150, 180), 8


def add_pictures(
    entry: ClipEntry, tool: Retargeter, source: Character, clip: Clip, target: Character, made: Clip
) -> bool:
    """Draws what a clip's entry is about. False where nothing can be drawn on this machine, with a note why."""
    try:
        pair = (_upright(tool, source, clip), target.replace(clips=(made,)))
        late = max(clip.duration - made.duration, 0.0)  # frames before the motion that were left out
        entry.strip = _strip(pair, late, made.duration)
        for figure in entry.figures:
            if figure.at is not None:
                entry.pictures[figure.name, figure.at] = _moment(pair, late, figure, tool)
    except (MissingExtraError, GpuError) as error:
        note(f"the page has no pictures: {error}")
        return False
    except MarrowError as error:
        note(f"clip {entry.name!r}: not all of it could be drawn: {error}")
    return True


def _upright(tool: Retargeter, source: Character, clip: Clip) -> Character:
    """The source with its one clip, turned as the retargeter turned its world (Z-up files lie on their face)."""
    from marrow.animation.sampling import sample
    from marrow.math import quaternion
    from marrow.motion.facing import axis_name

    alone = source.replace(clips=(clip,))
    if tool.exact or not tool.map.humanoid:
        return alone
    world = tool.world(sample(clip, np.linspace(0.0, clip.duration, 32)))
    up = quaternion.rotate(quaternion.conjugate(world), np.array([0.0, 1.0, 0.0]))
    return alone if up[1] > 0.9 else alone.converted(up=axis_name(np.round(up)), back=True)


def _strip(pair: tuple[Character, Character], late: float, duration: float) -> bytes:
    from marrow.pictures.picture import render_moments

    times = np.linspace(0.0, duration, MOMENTS, endpoint=False)
    rows = []
    for body, begin in zip(pair, (late, 0.0)):
        frames = render_moments(body, (times + begin).tolist(), clip=_name(body), size=SMALL)
        rows.append(np.concatenate([frame.pixels for frame in frames], axis=1))
    return _webp(np.concatenate(rows, axis=0))


def _moment(pair: tuple[Character, Character], late: float, figure: Figure, tool: Retargeter) -> bytes:
    from marrow.pictures.picture import render

    at = figure.at or 0.0
    shown = [
        render(body, clip=_name(body), time=at + begin, size=SIZE).pixels
        for body, begin in zip(pair, (late, 0.0))
    ]
    if figure.name in FEET and not tool.exact:
        camera = _feet_camera(pair[1], at, tool)
        shown.append(
            render(pair[1], clip=_name(pair[1]), time=at, size=SIZE, camera=camera, ground=0.0).pixels
        )
    return _webp(np.concatenate(shown, axis=1))


def _feet_camera(body: Character, at: float, tool: Retargeter) -> Any:
    """Close to the lower foot, from its side, a hand over the ground."""
    from marrow.scene.camera import Camera

    model = body.skeleton.to_model(body.clips[0].sample(at)).astype(np.float64)
    chains = tool.chains("target")
    feet = [model[chains[f"{side}_leg"][2], :, 3] for side in ("left", "right")]
    low = int(np.argmin([foot[1] for foot in feet]))
    hips = model[[chains[f"{side}_leg"][0] for side in ("left", "right")], :, 3]
    aside = (hips[0] - hips[1]) * (1 if low == 0 else -1) * [1, 0, 1]
    aside = aside / max(float(np.linalg.norm(aside)), 1e-9)
    # A toy with short legs may have large feet.
    size = max(tool.leg_t, 0.45 * float(np.ptp(body.skeleton.rest_model[:, 1, 3])))
    target = feet[low] * [1, 0, 1]
    eye = target + aside * 0.95 * size + np.array([0.0, 0.12 * size, 0.0])
    return Camera.perspective(
        eye,
        target + np.array([0.0, 0.07 * size, 0.0]),
        fov=np.radians(32),
        width=SIZE[0],
        height=SIZE[1],
        near=0.02 * size,
    )


def _name(body: Character) -> str:
    return next(iter(body.clips))


def _webp(pixels: Array) -> bytes:
    from marrow.rendering.frame import Frame

    return Frame(np.ascontiguousarray(pixels)).encoded(".webp")
