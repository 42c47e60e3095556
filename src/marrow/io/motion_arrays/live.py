"""`live`: poses from key points as they come, frame by frame, from a camera or a suit."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError, UnknownNameError, ValidationError, WrongTypeError
from marrow.io.motion_arrays.preparation import filled, grounded, told_unit, told_up
from marrow.io.motion_arrays.recognition import PICTURE, in_a_picture
from marrow.io.source import UPS
from marrow.model import Pose, Skeleton, _validate
from marrow.motion.point_body import PointBody, body_of_skeleton, fitted_body, missing_points
from marrow.motion.point_layouts import LAYOUTS, point_name
from marrow.report import Report, ReportBuilder

__all__ = ["LivePoses", "live"]

Array = NDArray[Any]
SEEN = 1e-6


def live(
    frames: Iterable[Any],
    motion: str = "mediapipe",
    *,
    skeleton: Skeleton | None = None,
    rate: float = 30.0,
    up: str | None = None,
    fit: int = 15,
) -> LivePoses:
    """Poses of `frames` one by one: each is an array of points `(P, 3)` (a fourth number says how sure they are), a list of
    landmarks with `x`, `y`, `z`, places by name, or None where nobody is seen.

    `motion` says the order of points: `"mediapipe"`, `"coco"`, `"h36m"`, `"body25"`, `"smpl-joints"`, `"smpl24-joints"`;
    frames with names need none. The first `fit` frames tell the lengths of bones, which axis is up, and the unit;
    `skeleton` is one that was found before (`live(...).skeleton`). Frames in which nobody is seen give the pose before.
    """
    return LivePoses(frames, motion, skeleton=skeleton, rate=rate, up=up, fit=fit)


class LivePoses(Iterator[Pose]):
    """What `mw.live` gives: an iterator of poses, its `skeleton` and its `report`."""

    def __init__(
        self, frames: Iterable[Any], motion: str, *, skeleton: Skeleton | None, rate: float, up: str | None, fit: int
    ) -> None:  # fmt: skip
        if not isinstance(frames, Iterable):
            raise WrongTypeError(
                f"live: frames: expected something to iterate over, got {_validate.shown(frames)}"
            )
        if not isinstance(motion, str) or motion not in LAYOUTS:
            raise UnknownNameError("motion", motion, LAYOUTS)
        if skeleton is not None:
            _validate.instance("live", "skeleton", skeleton, Skeleton)
        self.rate = _validate.number("live", "rate", rate, low=0, above=True)
        self.up = None if up is None else _validate.one_of("live", "up", up, UPS).lstrip("+")
        self._fit = _validate.integer("live", "fit", fit, low=1)
        self._frames = iter(frames)
        self._layout = LAYOUTS[motion]
        self._given = skeleton
        self._report = ReportBuilder()
        self._waiting: deque[Array | None] = deque()
        self._names: tuple[str, ...] = ()
        self._body: PointBody | None = None
        self._last: Array | None = None
        self._pose: Pose | None = None
        self._count = 0

    @property
    def skeleton(self) -> Skeleton:
        """The body of the poses; where it is not known yet, frames are awaited until it is."""
        return self._known().skeleton

    @property
    def report(self) -> Report:
        """What the first frames told: unit, axes, missing points."""
        self._known()
        return self._report.build()

    def __next__(self) -> Pose:
        body = self._known()
        points = self._waiting.popleft() if self._waiting else self._points(next(self._frames))
        if points is None and self._pose is not None:
            return self._pose
        if points is not None:
            seen = (points[:, 3] > SEEN)[self._kept]
            new = points[self._kept, :3] @ self._turn.T * self._unit + self._ground
            last = new if self._last is None else self._last
            self._last = np.asarray(np.where(seen[:, None], new, last))
        solved = body.solve(self._last[None], rate=self.rate, around=self._around)  # type: ignore[index]
        pose = solved.pose[0]
        if self._pose is not None:
            same = (pose.rotation * self._pose.rotation).sum(-1, keepdims=True) >= 0
            pose = pose.replace(rotation=np.where(same, pose.rotation, -pose.rotation))
        self._pose = pose
        return pose

    def _known(self) -> PointBody:
        """The body, from the first frames that show one."""
        if self._body is not None:
            return self._body
        first: list[Array] = []
        while len(first) < self._fit:
            try:
                points = self._points(next(self._frames))
            except StopIteration:
                break
            if points is not None:
                first.append(points)
            if first:
                self._waiting.append(points)
        if not first:
            raise ValidationError("live: no frame shows a body")
        whole = np.stack(first)
        if in_a_picture(whole[..., :3]):
            raise ValidationError(f"live: {PICTURE}")
        try:
            names, points = filled(
                self._names, whole[..., :3], whole[..., 3] > SEEN, Path("live"), self._report
            )
        except FormatError as error:
            raise ValidationError(f"live: {error.message} of the first {len(first)}") from None
        self._kept = [self._names.index(name) for name in names]
        self._turn = told_up(names, points, self.up, self._report)
        points = points @ self._turn.T
        self._unit = told_unit(names, points, None, self._report)
        points = points * self._unit
        self._ground = grounded(names, points, self._report)
        lifted = points + self._ground
        self._last = lifted[0]
        self._body = (
            fitted_body(names, lifted) if self._given is None else body_of_skeleton(self._given, names)
        )
        self._around = np.zeros(self._body.solver.limbs, np.complex128)
        return self._body

    def _points(self, frame: Any) -> Array | None:
        """The points of a frame `(P, 4)` with how sure they are; None where nobody is seen."""
        self._count += 1
        if frame is None or (isinstance(frame, (list, tuple)) and not frame):
            return None
        if isinstance(frame, Mapping):
            return self._by_name(frame)
        frame = getattr(frame, "landmark", frame)  # MediaPipe's list
        if isinstance(frame, (list, tuple)) and hasattr(frame[0], "x"):
            frame = [[p.x, p.y, p.z, getattr(p, "visibility", 1.0)] for p in frame]
        values = self._numbers(frame)
        P = len(self._layout.points)
        if values.shape not in ((P, 3), (P, 4), (P, 5)):
            raise ValidationError(
                f"live: frame {self._count}: expected ({P}, 3) or ({P}, 4), {self._layout.words}; got {values.shape}"
            )
        used = [k for k, name in enumerate(self._layout.points) if name]
        self._names = tuple(name for name in self._layout.points if name)
        return _sure(values[used])

    def _by_name(self, frame: Mapping[Any, Any]) -> Array | None:
        found = {name: value for key, value in frame.items() if (name := point_name(str(key))) is not None}
        if not self._names:
            missing = missing_points(list(found))
            if missing:
                raise ValidationError(f"live: frame {self._count}: it has no {missing[0].replace('_', ' ')}")
            self._names = tuple(found)
        rows = []
        for name in self._names:
            value = self._numbers(found[name]) if found.get(name) is not None else np.full(3, np.nan)
            if value.shape not in ((3,), (4,)):
                raise ValidationError(f"live: frame {self._count}: {name}: expected (3,), got {value.shape}")
            rows.append(_sure(value[None])[0])
        out = np.array(rows)
        return out if (out[:, 3] > SEEN).any() else None

    def _numbers(self, given: Any) -> Array:
        try:
            return np.asarray(given, np.float64)
        except (TypeError, ValueError):
            raise WrongTypeError(
                f"live: frame {self._count}: expected numbers, got {_validate.shown(given)}"
            ) from None


def _sure(values: Array) -> Array:
    """Places with how sure they are, `(P, 4)`: not at all where they are no numbers."""
    finite = np.asarray(np.isfinite(values[:, :3]).all(axis=1) & (np.abs(values[:, :3]) < 1e9).all(axis=1))
    sure = np.asarray(np.nan_to_num(values[:, 3])) if values.shape[1] > 3 else np.ones(len(values))
    return np.concatenate([np.where(finite[:, None], values[:, :3], 0.0), (sure * finite)[:, None]], axis=1)
