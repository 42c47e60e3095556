"""Where the instances of a crowd are in the world, and what their pose programs are told of it.

A root transform is a translation and a rotation, in the world. It goes where the root goes (`RootMotion`), unless it is
set. Programs work in model space: targets given in the world are brought there, and feet that hold still are told how
model space has moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError
from marrow.kernels.root_vectors import write_root_vectors
from marrow.math import quaternion
from marrow.math.elementary import arctan2, sincos
from marrow.model._derived import derived

if TYPE_CHECKING:
    from marrow.graph.control import GraphControl

__all__ = ["WorldVector", "keep_transforms", "refresh", "set_transforms", "turned_ahead"]

Array = NDArray[Any]


@dataclass(frozen=True)
class WorldVector:
    """A vector that a graph is given in the world: the columns where programs look for it, the values it is made of
    (columns of the state, or -1 - k for constant k), and whether it is a direction."""

    column: int
    refs: tuple[int, int, int]
    direction: bool = False


def set_transforms(
    current: Array, translation: ArrayLike | None, rotation: ArrayLike | None, rows: Array
) -> Array:
    """Root transforms `(n, 7)` of some instances with what is given put in."""
    out = current[rows].copy()
    for name, value, first, width in (("translation", translation, 0, 3), ("rotation", rotation, 3, 4)):
        if value is None:
            continue
        try:
            array = np.broadcast_to(np.asarray(value, np.float64), (len(rows), width))
        except (TypeError, ValueError):
            raise ValidationError(
                f"root.set: {name} must have shape ({width},) or ({len(rows)}, {width}), got {np.shape(value)}"
            ) from None
        if not np.isfinite(array).all():
            raise ValidationError(f"root.set: {name} must be finite")
        if width == 4:
            if (np.abs((array * array).sum(-1) - 1) > 1e-2).any():
                raise ValidationError("root.set: rotation must be unit quaternions, xyzw")
            array = quaternion.normalize(array)
        out[:, first : first + width] = array
    return out


def turned_ahead(own: Array | None, facing: ArrayLike, count: int) -> Array:
    """Rotations `(n, 4)` about the vertical by which those who look along `own` (None: +Z) look along `facing`."""
    try:
        wanted = np.broadcast_to(np.asarray(facing, np.float64), (count, 3))
    except (TypeError, ValueError):
        raise ValidationError(
            f"root.set: facing must have shape (3,) or ({count}, 3), got {np.shape(facing)}"
        ) from None
    if not np.isfinite(wanted).all() or (wanted[:, 0] ** 2 + wanted[:, 2] ** 2 < 1e-18).any():
        raise ValidationError("root.set: facing must be a direction that is not straight up or down")
    angle = arctan2(wanted[:, 0], wanted[:, 2])
    half = (angle - (0.0 if own is None else arctan2(own[0], own[2]))) / 2
    sin, cos = sincos(half)
    return np.stack([0 * half, sin, 0 * half, cos], axis=-1)


def keep_transforms(control: GraphControl, rows: Array | None = None) -> None:
    """Before an update, or a part that some `rows` have: where those who had one are, that their next one starts from. Who
    was moved after its poses were used was moved for the next update."""
    state = control.state
    instances, ahead = state.instances, state.instances["ahead"] != 0
    done = instances["waited"] == 0 if control.interpolates else np.ones(len(instances), bool)
    if rows is not None:
        has = np.zeros(len(instances), bool)
        has[rows] = True
        done &= has
    state.placed[done] = np.where(ahead[:, None], state.shown_at, state.place)[done]
    instances["ahead"][done] = 0
    instances["cut"][done] = np.maximum(instances["cut"][done] - 1, 0)


def refresh(
    control: GraphControl, instances: Array, place: Array, placed: Array, values: Array, vectors: Array
) -> None:
    """Before poses are made: tells the programs, in `vectors`, which update it is, how model space moved, and where in it
    targets are."""
    compiled = control.compiled
    given: Array = derived(compiled, "world vectors", lambda: _table(compiled.world_vectors))
    constants = compiled.tables.constants
    if control.winds:
        given = given.copy()
        for k, wind in control.winds.items():
            given[k, :3] = -1 - np.arange(len(constants), len(constants) + 3)
            constants = np.concatenate([constants, wind])
    write_root_vectors(
        instances, place, placed, values, constants, given, vectors, compiled.header,
    )  # fmt: skip


def _table(vectors: tuple[WorldVector, ...]) -> Array:
    rows = [(*v.refs, v.column, int(v.direction)) for v in vectors]
    return np.array(rows, np.int64).reshape(-1, 5)
