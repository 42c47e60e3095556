"""Reads BVH: the hierarchy becomes a skeleton at rest, the motion a clip with one key per frame.

A BVH file has no unit and says nothing about its axes; numbers are taken as they are (Y up is the custom). What
unit they are in is told by the size of the body (`Character.unit`). Position channels take the place of a joint's
OFFSET, as the tools that write them (MotionBuilder, Blender) mean it; where that would make one point of the body they
are added to it (MakeHuman). Position comes before rotation, whatever the channel order says.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError, ResourceLimitError
from marrow.io.bvh.hierarchy import BvhJoint, parse_hierarchy
from marrow.io.bvh.motion import first_numbers, rotations
from marrow.io.source import LoadOptions, Source
from marrow.model import Character, Clip, Pose, Skeleton, Tracks
from marrow.model.clip import PATHS, TRACK_DTYPE
from marrow.report import ReportBuilder

__all__ = ["read"]

Array = NDArray[Any]
MAX_FRAMES = 10_000_000
_MOTION = re.compile(rb"^[ \t]*MOTION\b", re.MULTILINE | re.IGNORECASE)
_HEADER = re.compile(rb"\s*(Frames|Frame\s*Time)\s*:?\s*(\S+)", re.IGNORECASE)
_COMMA = re.compile(rb"(?<=\d),(?=\d)")
_INTERPOLATION_LINEAR = 1
COLLAPSED = 0.1
"""Bones that position channels would make shorter than this share of their OFFSET: those channels are added to it."""


def read(source: Source, options: LoadOptions) -> Character:
    """The skeleton and the clip (`clip_0`) of a BVH file."""
    report = ReportBuilder()
    data = _bytes(bytes(source.data), source.path, report)
    scale = options.scale if options.scale is not None else 1.0
    motion = _MOTION.search(data)
    head = data[: motion.start()] if motion else data
    joints = parse_hierarchy(_text(head), source.path, report, goes_on=motion is not None)
    skeleton = _skeleton(joints, scale, source.path, report)
    clips: list[Clip] = []
    if motion is None:
        report.add("warning", "MOTION", "the file has no motion, only a skeleton")
    else:
        clip = _clip(data, motion.end(), joints, skeleton, scale, options.rate, source.path, report)
        if clip is not None:
            clips.append(clip)
    unit = _unit(skeleton, report)
    return Character(skeleton, clips=clips, name=source.path.stem, report=report.build(), unit=unit)  # type: ignore[arg-type]


def _bytes(data: bytes, path: Path, report: ReportBuilder) -> bytes:
    """The file with plain line ends, in UTF-8 where it was in UTF-16, with points in numbers that had commas."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            data = data.decode("utf-16").encode()
        except UnicodeError as error:
            raise FormatError(f"begins as UTF-16 and is none: {error}", path=path) from None
    data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if re.search(rb"Frame\s*Time\s*:?\s*\d*,\d", data, re.IGNORECASE):
        report.add("repaired", "file", "has commas in its numbers: they were taken as points")
        data = _COMMA.sub(b".", data)
    return data


def _unit(skeleton: Skeleton, report: ReportBuilder) -> float:
    """Metres per unit, as far as the body tells."""
    from marrow.motion.sizes import unit_of

    unit = unit_of(skeleton)
    if unit is None:
        report.add("info", "units", "its unit is not known, no body tells it: taken as metres")
        return 1.0
    told = f"a unit is {unit:.4g} m, told by the size of the body"
    report.add("info", "units", told if unit == 1 else f"{told}; units='metres' makes metres of them")
    return unit


def _text(head: bytes) -> str:
    try:
        return head.decode("utf-8-sig")
    except UnicodeDecodeError:
        return head.decode("latin-1")


def _skeleton(joints: list[BvhJoint], scale: float, path: Path, report: ReportBuilder) -> Skeleton:
    with np.errstate(over="ignore"):
        offsets = (np.array([j.offset for j in joints]) * scale).astype(np.float32)
    if not np.isfinite(offsets).all():
        raise FormatError("an OFFSET is too large to be a length", path=path)
    rest = Pose.identity(len(joints)).replace(translation=offsets)
    names = [j.name for j in joints]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        report.add("warning", "HIERARCHY", f"joint names occur more than once: {', '.join(twice[:10])}")
    return Skeleton(tuple(names), np.array([j.parent for j in joints], np.int32), rest)


def _clip(
    data: bytes,
    start: int,
    joints: list[BvhJoint],
    skeleton: Skeleton,
    scale: float,
    rate: float | None,
    path: Path,
    report: ReportBuilder,
) -> Clip | None:
    said: dict[bool, bytes] = {}  # whether it is the time of a frame, or how many there are
    while (line := _HEADER.match(data, start)) and len(said) < 2:
        said[line[1].lower() != b"frames"] = line[2]
        start = line.end()
    if not said:
        raise FormatError("expected 'Frames:' and 'Frame Time:'", path=path, place="MOTION")
    width = sum(len(j.channels) for j in joints)
    if False in said:
        frames = _frame_count(said[False], path)
    else:
        frames = len(data[start:].split()) // max(width, 1)
        report.add("repaired", "MOTION", f"does not say how many frames it has: it has {frames}")
    if frames == 0 or width == 0:
        report.add("dropped", "MOTION", "the motion is empty and was left out")
        return None
    frame_time = _frame_time(said.get(True, b"0"), frames, rate, path, report)
    values = _numbers(data, start, frames, width, path, report)
    added = _added_positions(values, joints)
    if added:
        report.add(
            "info",
            "MOTION",
            f"positions of {len(added)} joints are added to their OFFSET, as MakeHuman means it",
        )
    return _tracks(values, joints, added, skeleton, scale, frame_time, path)


def _frame_count(word: bytes, path: Path) -> int:
    try:
        frames = int(word.removesuffix(b".0"))
    except ValueError:
        raise FormatError(f"Frames is {_shown(word)}, not a count", path=path, place="MOTION") from None
    if frames < 0:
        raise FormatError(f"Frames is {frames}", path=path, place="MOTION")
    if frames > MAX_FRAMES:
        raise ResourceLimitError(f"has {frames} frames, more than {MAX_FRAMES}", path=path)
    return frames


def _frame_time(word: bytes, frames: int, rate: float | None, path: Path, report: ReportBuilder) -> float:
    try:
        frame_time = float(word)
    except ValueError:
        raise FormatError(f"Frame Time is {_shown(word)}, not a number", path=path, place="MOTION") from None
    if 0 < frame_time < 1e6 and frame_time * frames < 1e9:
        return frame_time
    if rate is not None:
        report.add("repaired", "MOTION", f"Frame Time is {frame_time:g}; rate={rate:g} was used")
        return 1 / rate
    if frames == 1:
        report.add(
            "repaired", "MOTION", f"Frame Time is {frame_time:g}; 1/30 s was used for the single frame"
        )
        return 1 / 30
    raise FormatError(
        f"Frame Time is {frame_time:g} for {frames} frames",
        path=path,
        place="MOTION",
        remedy="pass rate= to set it",
    )


def _numbers(data: bytes, start: int, frames: int, width: int, path: Path, report: ReportBuilder) -> Array:
    """The motion block `(frames, width)`."""
    wanted = frames * width
    body = data[start:].strip()
    most = (len(body) + 1) // 2  # as many as fit into the file
    values, rest = first_numbers(body, min(wanted, most))
    if wanted > most:
        raise _cut_short(len(values) // width, frames, path)
    if len(values) < wanted:
        values = _one_by_one(body, wanted, width, path)
    elif rest and (more := _count(rest)):
        report.add("dropped", "MOTION", f"{more} numbers after the last of {frames} frames")
    block = values.reshape(frames, width)
    if not np.isfinite(block).all():
        frame = int(np.argwhere(~np.isfinite(block))[0, 0])
        raise FormatError("a channel is not a finite number", path=path, place=f"frame {frame}")
    return block


def _count(text: bytes) -> int:
    """How many numbers a text is; 0 where not all of it is numbers."""
    try:
        return sum(1 for word in text.split() if float(word) == float(word))
    except ValueError:
        return 0


def _one_by_one(body: bytes, wanted: int, width: int, path: Path) -> Array:
    """The slow way, for files with something after the motion, or to say where it breaks off."""
    words = body.split(None, wanted)[:wanted]
    values = np.empty(len(words))
    for i, word in enumerate(words):
        try:
            values[i] = float(word)
        except ValueError:
            raise FormatError(
                f"expected a number, found {_shown(word)}", path=path, place=f"frame {i // width}"
            ) from None
    if len(words) < wanted:
        raise _cut_short(len(words) // width, wanted // width, path)
    return values


def _cut_short(whole: int, frames: int, path: Path) -> FormatError:
    return FormatError(
        f"the motion is cut short: {whole} whole frames of {frames}, {frames - whole} are missing",
        path=path,
        place="MOTION",
    )


def _shown(word: bytes) -> str:
    return repr(word[:40].decode("utf-8", "replace"))


def _added_positions(values: Array, joints: list[BvhJoint]) -> set[int]:
    """Joints below the root whose position channels are added to the OFFSET: all or none, whichever leaves a body."""
    found, shares, first = set(), [], 0
    for j, joint in enumerate(joints):
        columns = [first + c for c, (kind, _) in enumerate(joint.channels) if kind == "position"]
        first += len(joint.channels)
        if joint.parent < 0 or len(columns) != 3:
            continue
        found.add(j)
        length = float(np.linalg.norm(joint.offset))
        if length > 1e-9:
            shares.append(float(np.median(np.linalg.norm(values[:, columns], axis=1))) / length)
    return found if len(shares) >= 3 and np.median(shares) < COLLAPSED else set()


def _tracks(
    values: Array,
    joints: list[BvhJoint],
    added: set[int],
    skeleton: Skeleton,
    scale: float,
    frame_time: float,
    path: Path,
) -> Clip:
    frames = len(values)
    rows: list[tuple[int, str]] = []
    sizes: list[int] = []
    placed: list[tuple[int, Array, list[tuple[int, int]], float, bool]] = []
    turning: list[tuple[int, int, int]] = []
    turns: list[tuple[int, int]] = []
    first = at = 0
    for j, joint in enumerate(joints):
        kinds: dict[str, list[tuple[int, int]]] = {"position": [], "rotation": [], "scale": []}
        for c, (kind, axis) in enumerate(joint.channels):
            kinds[kind].append((axis, first + c))
        first += len(joint.channels)
        # In the order of PATHS, so that the tracks of a joint stand together.
        for kind, target in (("position", "translation"), ("rotation", "rotation"), ("scale", "scale")):
            if not kinds[kind]:
                continue
            if kind == "rotation":
                turning.append((at, len(turns), len(kinds[kind])))
                turns += kinds[kind]
            elif kind == "position":
                placed.append((at, np.asarray(joint.offset) * scale, kinds[kind], scale, j in added))
            else:
                placed.append((at, np.ones(3), kinds[kind], 1.0, False))
            rows.append((j, target))
            sizes.append(frames * (4 if kind == "rotation" else 3))
            at += sizes[-1]
    flat = np.empty(at, np.float32)
    with np.errstate(over="ignore"):
        for start, rest, columns, factor, more in placed:
            block = flat[start : start + 3 * frames].reshape(frames, 3)
            block[:] = rest
            for axis, column in columns:
                block[:, axis] = values[:, column] * factor + (rest[axis] if more else 0.0)
    rotations(values, turning, turns, flat)
    table = np.zeros(len(rows), TRACK_DTYPE)
    table["target"] = [j for j, _ in rows]
    table["path"] = [PATHS.index(p) for _, p in rows]  # type: ignore[arg-type]
    table["interpolation"] = _INTERPOLATION_LINEAR
    table["keys"] = frames  # all tracks share one row of times: time_start stays 0
    table["value_start"][1:] = np.cumsum(sizes[:-1])
    if not np.isfinite(flat).all():
        raise FormatError("a position is too large to be a length", path=path, place="MOTION")
    times = (np.arange(frames) * frame_time).astype(np.float32)
    return Clip("clip_0", skeleton, Tracks(table, times, flat), rate=1 / frame_time)
