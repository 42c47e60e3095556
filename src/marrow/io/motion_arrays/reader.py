"""Reads motion that is bare numbers: from the bytes of a file to a character with clips."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError, ValidationError
from marrow.io.motion_arrays.c3d import from_c3d
from marrow.io.motion_arrays.humanml3d import joint_places
from marrow.io.motion_arrays.kimodo import read_kimodo
from marrow.io.motion_arrays.markers import marker_character
from marrow.io.motion_arrays.preparation import filled, grounded, told_unit, told_up
from marrow.io.motion_arrays.recognition import HUMANML3D, KeyPoints, key_points
from marrow.io.motion_arrays.tables import Table, from_csv, from_json, from_trc
from marrow.io.numpy_files import npy_array, npz_arrays, npz_names
from marrow.io.scaling import scaled
from marrow.io.source import LoadOptions, Source
from marrow.model import Character, Clip
from marrow.motion.point_body import fitted_body, unlikely_body
from marrow.motion.point_layouts import LAYOUTS
from marrow.report import ReportBuilder

__all__ = ["read"]

Array = NDArray[Any]
_NAMED = (
    "joints", "joints3d", "joints_3d", "keypoints", "keypoints3d", "keypoints_3d", "positions", "motion", "xyz",
    "landmarks", "pose_landmarks", "world_landmarks", "points", "joint_positions", "arr_0", "positions_3d",
)  # fmt: skip
_RATES = ("fps", "rate", "mocap_framerate", "mocap_frame_rate", "frame_rate", "framerate")
FASTEST = 10_000
MOMENTS = 2000
"""Frames that are looked at to tell unit, axes and ground."""
FAR = 0.04
"""Metres between points and the body from which the report warns."""


def read(source: Source, options: LoadOptions) -> Character:
    """The motion in a file of numbers."""
    report = ReportBuilder()
    made = _read(source, options, report)
    return scaled(made, options.scale).replace(report=report.build())


def _read(source: Source, options: LoadOptions, report: ReportBuilder) -> Character:
    data, path = source.data, source.path
    head = bytes(data[:512])
    motion = options.motion
    if motion in ("smpl", "kimodo") and not head.startswith(b"PK") and motion == "kimodo":
        raise FormatError("is no archive of Kimodo's: these are .npz files", path=path)
    if head.startswith(b"PK"):
        names = npz_names(data)
        if "posed_joints" in names and motion in (None, "kimodo"):
            arrays = npz_arrays(data, path, ("posed_joints", "global_rot_mats", "local_rot_mats"))
            return read_kimodo(arrays, options.rate, path, report)
        table = _in_archive(data, names, path)
    elif head.startswith(b"\x93NUMPY"):
        table = Table(npy_array(data, path))
    elif head.startswith(b"PathFileType"):
        table = from_trc(data, path)
    elif path.suffix.lower() == ".c3d" or head[1:2] == b"\x50":
        table = from_c3d(data, path)
    elif re.match(rb"(\xef\xbb\xbf)?\s*[\[{]", head):
        table = from_json(data, path)
    else:
        table = from_csv(data, path)
    if table.note:
        report.add("warning", "file", table.note)
    values = np.asarray(table.values)
    if motion == "markers":
        return marker_character(table, path, options.rate, options.up, report)
    if motion == "smpl":
        return _rotations(values, table.rate, options, path, report)
    if motion == "humanml3d" or (motion is None and values.ndim == 2 and values.shape[1] == HUMANML3D):
        found = _humanml3d(values, table, path)
    else:
        found = key_points(table, path, motion)
    if options.rate is not None:
        found.rate, found.rate_told = options.rate, "as it was said"
    elif not 0 < found.rate <= FASTEST:
        raise FormatError(
            f"its rate is no number of frames a second ({found.rate:g}): expected more than 0 and at most {FASTEST:,}",
            path=path,
            remedy="rate=30, or --motion-rate 30, says another",
        )
    return _character(found, options, path, report)


def _rotations(
    values: Array, rate: float | None, options: LoadOptions, path: Path, report: ReportBuilder
) -> Character:
    """Rotation vectors of SMPL's joints without a name, `(T, 3 J)`: there is no path to go."""
    from marrow.io.smpl import motion_character

    if values.ndim not in (2, 3) or not len(values):
        raise FormatError(
            f"an array {values.shape} holds no rotations of SMPL: expected (T, 66), (T, 72), (T, 156) or (T, 165)",
            path=path,
        )
    arrays = {"poses": values.reshape(len(values), -1), "trans": np.zeros((len(values), 3))}
    if rate or options.rate:
        arrays["fps"] = np.array(rate or options.rate)
    report.add("warning", "trans", "the file has rotations alone: the body turns and bends in one place")
    try:
        return motion_character(arrays, options, report)
    except (ValueError, IndexError, TypeError) as error:
        raise FormatError(f"its arrays do not fit together: {error}", path=path) from None


def _in_archive(data: bytes | memoryview, names: list[str], path: Path) -> Table:
    """The one array of an archive that holds points, and its frame rate."""
    wanted = [name for name in names if name.lower() in _NAMED]
    if not wanted and len(names) == 1:
        wanted = names
    if len(wanted) != 1:
        listed = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
        what = (
            f"which of {', '.join(wanted)} is the motion is not clear"
            if wanted
            else "none of its arrays is known to be motion"
        )
        raise FormatError(
            f"{what}; it has {listed or 'no arrays'}",
            path=path,
            remedy="save the one that is (places of joints, (T, P, 3)) with np.save",
        )
    found = npz_arrays(data, path, (*wanted, *(n for n in names if n.lower() in _RATES)))
    values = found.pop(wanted[0])
    rates = [float(v.reshape(-1)[0]) for v in found.values() if v.dtype.kind in "fiu" and v.size]
    good = [r for r in rates if 1 <= r <= 10_000]
    return Table(values, rate=good[0] if good else None)


def _humanml3d(values: Array, table: Table, path: Path) -> KeyPoints:
    if values.ndim != 2 or values.shape[1] != HUMANML3D:
        raise FormatError(
            f"an array {values.shape} is none of HumanML3D's: expected (T, {HUMANML3D})", path=path
        )
    if not len(values):
        raise FormatError("has no frames", path=path)
    if values.dtype.kind not in "fiu" or not np.isfinite(values).all():
        raise FormatError("is not made of finite numbers", path=path)
    places = joint_places(values)
    layout = LAYOUTS["smpl-joints"]
    names = tuple(str(name) for name in layout.points)
    wrong = unlikely_body(names, places[:: max(1, len(places) // 500)])
    if wrong:
        raise FormatError(
            f"its numbers make no body: {wrong}",
            path=path,
            remedy="normalised features must be multiplied by Std and added to Mean",
        )
    told = "as the file says" if table.rate else "HumanML3D's own"
    return KeyPoints(
        names,
        [(places, np.ones(places.shape[:2]))],
        f"HumanML3D's features (T, {HUMANML3D})",
        table.rate or 20.0,
        told,
        1.0,
        "y",
    )


def _character(found: KeyPoints, options: LoadOptions, path: Path, report: ReportBuilder) -> Character:
    """The body of all recordings together, and a clip of each."""
    report.add(
        "info",
        "motion",
        f"{found.words}; {found.rate:g} frames a second ({found.rate_told}); rate= says another",
    )
    lengths = [len(places) for places, _ in found.clips]
    names, points = filled(
        found.names,
        np.concatenate([p for p, _ in found.clips]),
        np.concatenate([s for _, s in found.clips]),
        path,
        report,
    )
    wrong = unlikely_body(names, points[:: max(1, len(points) // 500)])
    if "no length" in wrong:
        raise FormatError(f"its points are no body: {wrong}", path=path)
    if wrong:
        report.add("warning", "points", f"they are hardly a body: {wrong}")
    try:
        few = slice(None, None, max(1, len(points) // MOMENTS))
        turn = told_up(names, points[few], options.up or found.up, report)
        turn = turn * told_unit(names, points[few], found.unit, report)
        points = points @ turn.T
        points += grounded(names, points[few], report)
        body = fitted_body(names, points)
        clips, far = [], []
        for k, places in enumerate(np.split(points, np.cumsum(lengths)[:-1])):
            solved = body.solve(places, rate=found.rate)
            far.append(solved.distance)
            name = "motion" if len(lengths) == 1 else f"motion_{k}"
            clips.append(Clip.from_poses(name, body.skeleton, solved.pose, rate=found.rate))
    except ValidationError as error:
        raise FormatError(str(error), path=path) from None
    distance = np.concatenate(far)
    middle, most = float(np.median(distance)), float(np.percentile(distance, 95))
    report.add(
        "warning" if middle > FAR else "info", "points",
        f"bones of one length are within {1000 * middle:.1f} mm of them (median; {1000 * most:.1f} mm in 95 %)",
    )  # fmt: skip
    return Character(body.skeleton, clips=clips)  # type: ignore[arg-type]
