"""Which meshes are shown: what a character says of them, and what the curves `visibility:NAME` of a clip say of a joint
and all that hangs below it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.model import Character, Clip, Curve

__all__ = ["VISIBILITY", "switches", "visible_joints", "visible_meshes"]

Array = NDArray[Any]
VISIBILITY = "visibility:"


def switches(curve: Curve) -> tuple[Array, Array]:
    """When a curve goes on (0.5 or more) or off: increasing times `(S,)` and what holds from then on `(S,)` bool."""
    times, values = curve.times.astype(np.float64), curve.values.astype(np.float64)
    found, on = [float(times[0])], [bool(values[np.flatnonzero(times == times[0])[-1]] >= 0.5)]
    for a in range(len(times) - 1):
        if (values[a] >= 0.5) == (values[a + 1] >= 0.5):
            continue
        share = (0.5 - values[a]) / (values[a + 1] - values[a])
        at, now = float(times[a] + share * (times[a + 1] - times[a])), bool(values[a + 1] >= 0.5)
        if at <= found[-1]:
            on[-1] = now
        elif now != on[-1]:
            found.append(at)
            on.append(now)
    whole = np.array(found, np.float32)
    kept = np.append(np.diff(whole) > 0, True)
    return whole[kept], np.array(on)[kept]


def visible_joints(clip: Clip, time: ArrayLike) -> tuple[Array, Array]:
    """Whether a clip shows each joint at `time (...)`, `(..., J)` bool, and of which joints it says anything `(J,)`."""
    when = np.asarray(time, np.float64)
    skeleton = clip.skeleton
    shown = np.ones((*when.shape, len(skeleton)), bool)
    said = np.zeros(len(skeleton), bool)
    for curve in clip.curves:
        name = curve.name.removeprefix(VISIBILITY)
        if curve.name.startswith(VISIBILITY) and name in skeleton:
            times, on = switches(curve)
            at = np.maximum(np.searchsorted(times.astype(np.float64), when, side="right") - 1, 0)
            shown[..., skeleton.index(name)] = on[at]
            said[skeleton.index(name)] = True
    for j, parent in enumerate(skeleton.parents.tolist()):
        if parent >= 0:
            shown[..., j] &= shown[..., parent]
            said[j] |= said[parent]
    return shown, said


def visible_meshes(character: Character, clip: Clip, time: ArrayLike) -> Array:
    """Whether each mesh is shown at `time (...)` of `clip`, `(..., meshes)` bool. Where a clip says it of a mesh's joint,
    or of one above it, that counts instead of `mesh.visible`."""
    when = np.asarray(time, np.float64)
    shown, said = visible_joints(clip, when)
    out = np.empty((*when.shape, len(character.meshes)), bool)
    for m, mesh in enumerate(character.meshes):
        out[..., m] = shown[..., mesh.node] if mesh.node >= 0 and said[mesh.node] else mesh.visible
    return out
