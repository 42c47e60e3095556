"""Sampling clips into arrays, and writing them frame block by frame block, so that memory stays small."""

from __future__ import annotations

import contextlib
import json
import math
import re
import struct
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.cli._captured import named_take, without_surprises
from marrow.cli._errors import UsageError
from marrow.cli._files import chosen_clips, in_world, open_character
from marrow.graph.constrained_poses import constrained_poses
from marrow.graph.spring_baking import swung
from marrow.io.atomic import check_space, replacing
from marrow.math import quaternion
from marrow.model import Character, Clip, Pose
from marrow.skinning.vertex_budget import check_vertices

if TYPE_CHECKING:
    from marrow.dataset.file_batch import Making

__all__ = ["BakedMotion", "NpzWriter", "bake_file", "motions_of", "opened_motions", "write_index"]

Array = NDArray[Any]
Advance = Callable[[int], None]
_BLOCK_BYTES = 16 << 20
# Numbers for each joint: its position in the model, its rotation against its parent as a quaternion (xyzw) or as two
# columns of a matrix.
_PER_JOINT = {"joints": 3, "rotations": 4, "6d": 6}
MAX_BYTES, MAX_FRAMES, MAX_VERTICES = 1 << 40, 10_000_000, 8_000_000


@dataclass(frozen=True)
class BakedMotion:
    """One clip (or the rest pose) of a character at given times, field by field."""

    character: Character
    clip: Clip | None
    times: Array
    fields: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.clip.name if self.clip is not None else "rest"

    @property
    def frame_count(self) -> int:
        return len(self.times)

    def shape(self, field: str) -> tuple[int, ...]:
        """The shape of a field over all frames."""
        count = self.frame_count
        if field == "vertices":
            return count, self.character.vertex_count, 3
        if field in _PER_JOINT:
            return count, len(self.character.skeleton), _PER_JOINT[field]
        return count, len(self.character.palette), 3, 4

    @property
    def size(self) -> int:
        """Bytes of all fields."""
        return sum(4 * math.prod(self.shape(field)) for field in self.fields)

    def blocks(self, field: str) -> Iterator[Array]:
        """The values of a field, a few frames at a time."""
        joints = 10 * len(self.character.skeleton) + len(self.character.skeleton.morph_names)
        frame_bytes = 4 * max(1, joints, math.prod(self.shape(field)[1:]))
        step = max(1, _BLOCK_BYTES // frame_bytes)
        for start in range(0, self.frame_count, step):
            yield self._values(field, self._pose(self.times[start : start + step]))

    def _pose(self, times: Array) -> Pose:
        if self.clip is not None:
            return constrained_poses(self.character, self.clip.sample(times))
        return self.character.skeleton.rest.broadcast_to((len(times),))

    def _values(self, field: str, pose: Pose) -> Array:
        from marrow.skinning import skin, skinning_matrices

        if field == "vertices":
            surface = skin(self.character, pose, normals=False, tangents=False, threads=None)
            values = surface.positions
        elif field == "rotations":
            values = pose.rotation
        elif field == "6d":
            # The first two columns of the rotation matrix, end to end (Zhou et al. 2019).
            values = (
                quaternion.to_matrix(pose.rotation)[..., :2]
                .swapaxes(-1, -2)
                .reshape(*pose.rotation.shape[:-1], 6)
            )
        else:
            model = self.character.skeleton.to_model(pose)
            values = model[..., 3] if field == "joints" else skinning_matrices(self.character, model)
        return np.ascontiguousarray(values, "<f4")


def motions_of(
    character: Character,
    rate: float | None,
    moments: Sequence[float] | None,
    fields: Sequence[str],
) -> list[BakedMotion]:
    """What to bake of a character: its clips, else the rest pose."""
    if "vertices" in fields and not character.vertex_count:
        raise UsageError(f"{character.name!r} has no mesh; bake its motion with --what joints")
    if "vertices" in fields:
        check_vertices("bake", character, MAX_VERTICES)
    clips: list[Clip | None] = [*character.clips.values()] or [None]
    found = []
    for clip in clips:
        if moments is not None:
            times = np.array(moments)
        elif clip is None:
            times = np.zeros(1)
        else:
            each = rate or clip.rate or clip.key_rate or 30.0
            count = math.floor(clip.duration * each + 1e-3) + 1
            if count > MAX_FRAMES:
                raise UsageError(
                    f"clip {clip.name!r} lasts {clip.duration:g} s: {count:,} frames, over {MAX_FRAMES:,}; lower --rate"
                )
            times = np.arange(count) / each
        motion = BakedMotion(character, clip, times.astype("<f4"), tuple(fields))
        if motion.size > MAX_BYTES:
            raise UsageError(f"clip {motion.name!r} would take more than {MAX_BYTES >> 30} GiB; lower --rate")
        found.append(motion)
    return found


def opened_motions(source: str, options: dict[str, Any]) -> tuple[Character, list[BakedMotion], list[str]]:
    """A file's character, what to bake of it, and lines worth knowing."""
    named = {name: options[name] for name in ("scale", "units", "allow_outside")}
    character = open_character(source, **named)
    if options["clip"]:
        character = character.replace(clips=tuple(chosen_clips(character, options["clip"])))
    character = named_take(character, source)
    character, lines = without_surprises(character, source, options["calibration"])
    if options["springs"]:
        character = character.replace(clips=[swung(character, clip) for clip in character.clips.values()])
    if options["axes"] is not None:
        character = in_world(character, options["axes"])
    return character, motions_of(character, options["rate"], options["moments"], options["fields"]), lines


def _notes(lines: Sequence[str]) -> dict[str, list[str]]:
    return {"notes": list(lines)} if lines else {}


def _constants(character: Character, fields: Sequence[str]) -> dict[str, Array]:
    """What the arrays over time refer to: triangles over all meshes' vertices, parents of the joints."""
    out: dict[str, Array] = {"parents": np.ascontiguousarray(character.skeleton.parents, "<i4")}
    if "vertices" in fields:
        offsets = character.vertex_offsets
        parts = [m.triangles.astype("<u4") + np.uint32(o) for m, o in zip(character.meshes, offsets)]
        out["triangles"] = np.concatenate(parts).astype("<u4") if parts else np.zeros((0, 3), "<u4")
        out["mesh_offsets"] = np.array(offsets, "<i8")
    if "matrices" in fields:
        out["matrix_joints"] = np.ascontiguousarray(character.palette.joints, "<i4")
    return out


class NpzWriter:
    """Characters into one .npz: `CLIP/vertices`, `CLIP/times`, `joint_names`, `parents` and what else the arrays
    refer to; below `FILE/` where there are several files.
    """

    def __init__(self, path: Path, *, several: bool = False) -> None:
        self.path, self._several = path, several
        self._stack = contextlib.ExitStack()
        self._taken: set[str] = set()
        self._prefix, self._begun = "", False
        self.written: list[dict[str, Any]] = []

    def __enter__(self) -> NpzWriter:
        file = self._stack.enter_context(replacing(self.path))
        self._zip = self._stack.enter_context(zipfile.ZipFile(file, "w", zipfile.ZIP_STORED))
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def begin(self, file: str, character: Character, notes: Sequence[str] = ()) -> None:
        self._said = _notes(notes)
        self._file, self._character, self._begun = file, character, False
        if self._several:
            stem = unique = Path(file).stem
            n = 2
            while unique in self._taken:
                unique, n = f"{stem}_{n}", n + 1
            self._taken.add(unique)
            self._prefix = f"{unique}/"

    def write(self, motion: BakedMotion, advance: Advance) -> None:
        if not self._begun:
            self._begun = True
            skeleton = self._character.skeleton
            self._array("joint_names", np.array(skeleton.names or ("",), np.str_)[: len(skeleton)])
            for name, values in _constants(self._character, motion.fields).items():
                self._array(name, values)
        check_space(self.path, motion.size)
        self._array(f"{motion.name}/times", motion.times)
        for field in motion.fields:
            with self._member(f"{motion.name}/{field}") as member:
                head = {"descr": "<f4", "fortran_order": False, "shape": motion.shape(field)}
                np.lib.format.write_array_header_2_0(member, head)
                for block in motion.blocks(field):
                    member.write(block.tobytes())
                    advance(len(block))
        entry = {
            "prefix": self._prefix,
            "source": self._file,
            "clip": motion.name,
            "frames": motion.frame_count,
        }
        shapes = {field: list(motion.shape(field)) for field in motion.fields}
        self.written.append(entry | shapes | self._said)

    def summary(self) -> str:
        return f"{len(self.written)} clip{'s' if len(self.written) != 1 else ''}"

    def _array(self, name: str, values: Array) -> None:
        with self._member(name) as member:
            np.lib.format.write_array(member, values, allow_pickle=False)

    def _member(self, name: str) -> IO[bytes]:
        return self._zip.open(f"{self._prefix}{name}.npy", "w", force_zip64=True)


def bake_file(source: str, making: Making, options: dict[str, Any]) -> list[dict[str, Any]]:
    """One safetensors file for each clip of a file; what went where. For `marrow.dataset.file_batch`."""
    _, motions, lines = opened_motions(source, options)
    taken: set[str] = set()
    written = []
    for motion in motions:
        name = _shard_name(f"{Path(source).stem}.{motion.name}", options["number"], taken)
        with making(name) as path:
            _write_shard(path, source, motion)
        shapes = {field: list(motion.shape(field)) for field in motion.fields}
        written.append(
            {"file": name, "source": source, "clip": motion.name, "frames": motion.frame_count}
            | shapes
            | _notes(lines)
        )
    return written


def _write_shard(path: Path, source: str, motion: BakedMotion) -> None:
    check_space(path, motion.size)
    character = motion.character
    constants = _constants(character, motion.fields) | {"times": motion.times}
    header: dict[str, Any] = {
        "__metadata__": {
            "source": Path(source).name,
            "clip": motion.name,
            "joint_names": json.dumps(character.skeleton.names, ensure_ascii=False),
        }
    }
    end = 0
    shapes = [(n, a.dtype, a.shape) for n, a in constants.items()]
    shapes += [(f, np.dtype("<f4"), motion.shape(f)) for f in motion.fields]
    for key, dtype, shape in shapes:
        start, end = end, end + dtype.itemsize * math.prod(shape)
        header[key] = {
            "dtype": _SAFETENSORS[dtype.str],
            "shape": list(shape),
            "data_offsets": [start, end],
        }
    text = json.dumps(header, ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for values in constants.values():
            file.write(values.tobytes())
        for field in motion.fields:
            for block in motion.blocks(field):
                file.write(block.tobytes())


def write_index(folder: Path, shards: list[dict[str, Any]]) -> None:
    """index.json: what is in which file."""
    with replacing(folder / "index.json") as file:
        file.write(json.dumps({"shards": shards}, indent=2, ensure_ascii=False).encode() + b"\n")


def _shard_name(stem: str, number: int, taken: set[str]) -> str:
    """A file name that every system takes and no other clip has; `number` counts files of the same name."""
    safe = re.sub(r"[^\w.-]+", "_", stem)[:120].strip(".") or "clip"
    unique, n = (safe, 2) if number == 1 else (f"{safe}_{number}", number + 1)
    while unique.lower() in taken:
        unique, n = f"{safe}_{n}", n + 1
    taken.add(unique.lower())
    return f"{unique}.safetensors"


_SAFETENSORS = {"<f4": "F32", "<i4": "I32", "<u4": "U32", "<i8": "I64"}
