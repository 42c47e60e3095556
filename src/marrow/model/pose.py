"""`Pose`: where every joint is relative to its parent, and how far each morph is on, for any batch."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import OutOfRangeError, ValidationError
from marrow.model import _validate
from marrow.model._asset import Replaceable, same

__all__ = ["Pose"]

Array = NDArray[Any]
MOST_POSES = 1 << 40


def _float(field: str, value: Any, width: int | None) -> Array:
    out = _validate.numbers(f"Pose.{field}", value)
    if out.dtype != np.float32 and out.dtype != np.float64:
        out = out.astype(np.float32)
    if width is None:
        if out.ndim < 1:
            raise ValidationError(f"Pose.{field}: expected shape (..., M), got {out.shape}")
    elif out.ndim < 2 or out.shape[-1] != width:
        raise ValidationError(f"Pose.{field}: expected shape (..., J, {width}), got {out.shape}")
    return out


def _shape(who: str, shape: Any, low: int = 0) -> tuple[int, ...]:
    sizes = shape if isinstance(shape, (tuple, list)) else (shape,)
    out = tuple(_validate.integer(who, "shape", size, low=low) for size in sizes)
    if math.prod(max(size, 1) for size in out) > MOST_POSES:
        raise ValidationError(f"{who}.shape: {out} is more than {MOST_POSES} poses")
    return out


@dataclass(frozen=True, eq=False, repr=False)
class Pose(Replaceable):
    """Local transforms of all joints of a skeleton, with free leading axes.

    `translation (..., J, 3)`, `rotation (..., J, 4)` unit quaternions `xyzw`, `scale (..., J, 3)` and
    `morphs (..., M)`, the weights of the skeleton's morph channels. A pose is runtime data: the arrays are not copied
    and stay writeable. `pose[i]` picks from the leading axes.
    """

    translation: Array
    rotation: Array
    scale: Array
    morphs: Array = None  # type: ignore[assignment]

    __array_ufunc__ = None

    def __post_init__(self) -> None:
        t = _float("translation", self.translation, 3)
        r = _float("rotation", self.rotation, 4)
        s = _float("scale", self.scale, 3)
        if not (t.shape[:-1] == r.shape[:-1] == s.shape[:-1]):
            raise ValidationError(
                "Pose: translation, rotation and scale must agree on (..., J), got "
                f"{t.shape}, {r.shape} and {s.shape}"
            )
        if self.morphs is None:
            m = np.zeros((*t.shape[:-2], 0), t.dtype)
        else:
            m = _float("morphs", self.morphs, None)
            if m.shape[:-1] != t.shape[:-2]:
                raise ValidationError(
                    f"Pose.morphs: expected shape {_validate.describe((*t.shape[:-2], 'M'))}, got {m.shape}"
                )
        _validate.set_fields(self, translation=t, rotation=r, scale=s, morphs=m)

    @classmethod
    def identity(cls, joints: int, morphs: int = 0, shape: tuple[int, ...] = ()) -> Pose:
        """No translation, no rotation, scale one."""
        joints = _validate.integer("Pose.identity", "joints", joints, low=0)
        morphs = _validate.integer("Pose.identity", "morphs", morphs, low=0)
        shape = _shape("Pose.identity", shape)
        rotation = np.zeros((*shape, joints, 4), np.float32)
        rotation[..., 3] = 1
        return cls(
            np.zeros((*shape, joints, 3), np.float32),
            rotation,
            np.ones((*shape, joints, 3), np.float32),
            np.zeros((*shape, morphs), np.float32),
        )

    def __eq__(self, other: object) -> bool:
        """Whether all poses of the batch have the same values."""
        if not isinstance(other, Pose):
            return NotImplemented
        return all(same(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    __hash__ = None  # type: ignore[assignment]  # its arrays may be written into

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The free leading axes; `()` for a single pose."""
        return self.translation.shape[:-2]

    @property
    def joint_count(self) -> int:
        return int(self.translation.shape[-2])

    @property
    def morph_count(self) -> int:
        return int(self.morphs.shape[-1])

    def __getitem__(self, index: Any) -> Pose:
        """Picks from the leading axes, as NumPy would: `poses[3]`, `poses[10:20]`, `poses[:, 0]`."""
        parts = index if isinstance(index, tuple) else (index,)
        lead = self.batch_shape
        try:
            np.broadcast_to(np.int8(0), lead)[parts]  # only the leading axes, and no memory
        except (IndexError, TypeError, ValueError) as error:
            raise OutOfRangeError(
                f"a pose of batch shape {lead} cannot be indexed with {_validate.shown(index)}: {error}"
            ) from None
        if not any(p is Ellipsis for p in parts):
            parts = (*parts, Ellipsis)
        rows = (*parts, slice(None))
        return Pose(
            self.translation[(*rows, slice(None))],
            self.rotation[(*rows, slice(None))],
            self.scale[(*rows, slice(None))],
            self.morphs[rows],
        )

    def __len__(self) -> int:
        if not self.batch_shape:
            raise TypeError("a single pose has no length")
        return self.batch_shape[0]

    def __bool__(self) -> bool:
        return True

    def broadcast_to(self, shape: tuple[int, ...]) -> Pose:
        """The same pose for every element of a batch, as read-only views."""
        shape = _shape("broadcast_to", shape)
        lead = self.batch_shape
        if len(shape) < len(lead) or any(a not in (1, b) for a, b in zip(lead[::-1], shape[::-1])):
            raise ValidationError(f"a pose of batch shape {lead} cannot be broadcast to {shape}")
        return Pose(
            np.broadcast_to(self.translation, (*shape, *self.translation.shape[-2:])),
            np.broadcast_to(self.rotation, (*shape, *self.rotation.shape[-2:])),
            np.broadcast_to(self.scale, (*shape, *self.scale.shape[-2:])),
            np.broadcast_to(self.morphs, (*shape, self.morphs.shape[-1])),
        )

    def reshape(self, *shape: int | tuple[int, ...]) -> Pose:
        """Other leading axes for the same poses."""
        first = shape[0] if shape else ()
        lead = _shape("reshape", first if isinstance(first, (tuple, list)) else shape, low=-1)
        try:
            lead = np.broadcast_to(np.int8(0), self.batch_shape).reshape(lead).shape
        except ValueError:
            raise ValidationError(f"{self!r} cannot be reshaped to {lead}") from None
        translation = self.translation.reshape(*lead, *self.translation.shape[-2:])
        return Pose(
            translation,
            self.rotation.reshape(*lead, *self.rotation.shape[-2:]),
            self.scale.reshape(*lead, *self.scale.shape[-2:]),
            self.morphs.reshape(*lead, self.morphs.shape[-1]),
        )

    def copy(self) -> Pose:
        """A pose with arrays of its own, to write into."""
        return Pose(self.translation.copy(), self.rotation.copy(), self.scale.copy(), self.morphs.copy())

    def __repr__(self) -> str:
        batch = f", batch={self.batch_shape}" if self.batch_shape else ""
        morphs = f", morphs={self.morph_count}" if self.morph_count else ""
        return f"Pose(joints={self.joint_count}{morphs}{batch}, {self.translation.dtype})"
