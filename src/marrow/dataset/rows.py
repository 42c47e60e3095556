"""From one source file to its rows: a pure function of the recipe, the character and the bytes that are read."""

from __future__ import annotations

import hashlib
import math
import re
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from marrow.animation.frame_budget import check_frames
from marrow.dataset.features import FEATURES, Frames, Sizes
from marrow.dataset.recipe import Recipe, digest_of
from marrow.dataset.schema import Schema, fitted, kept_joints
from marrow.dataset.sources import SourceFile, bytes_at, opened, stamp
from marrow.errors import FormatError, MarrowError, ResourceLimitError, ValidationError
from marrow.graph.spring_baking import swung
from marrow.io import load_source
from marrow.io.clips import all_tracks
from marrow.io.scaling import scaled
from marrow.io.source import LoadOptions, Source
from marrow.model import Character, Clip, Skeleton
from marrow.model._derived import share_derived
from marrow.motion.calibration import cut_calibration
from marrow.motion.joint_names import other_side
from marrow.motion.profile import ENDING
from marrow.motion.rig import find_rig
from marrow.motion.sizes import unit_of, wrong_unit
from marrow.report import ReportBuilder

__all__ = ["ClipFacts", "Dependency", "Row", "SourceRows", "loaded"]

Array = NDArray[Any]
MOST_SKELETONS, MAX_BYTES = 16, 600_000_000
MADE_METRES, NOT_METRES = "lengths were made metres", "lengths are not in metres"
"""How lines about the unit of a source begin."""
SIDE_FILES = {"text": ".txt", "tags": ".tags"}


class Dependency(msgspec.Struct, frozen=True):
    """A file that rows were made of: where it is, what changes when it is written to, and its SHA-256 (None: not
    there)."""

    path: str
    stamp: str | None
    sha256: str | None


class ClipFacts(msgspec.Struct, frozen=True):
    """What became of one clip: its frames, its rows, and lines worth knowing."""

    name: str
    frames: int
    rows: int
    report: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """One sample: where it comes from, what is said of it, and its arrays by name."""

    id: str
    source: str
    clip: str
    start: int
    frames: int
    rate: float
    mirrored: bool
    skeleton: str
    tables: dict[str, Any]
    arrays: dict[str, Array]


@dataclass
class SourceRows:
    """The rows of one source. Iterate once; then `clips`, `report` and `skeletons` say what was found."""

    recipe: Recipe
    schema: Schema
    source: SourceFile
    onto: Character | None = None
    clips: list[ClipFacts] = field(default_factory=list)
    report: list[str] = field(default_factory=list)
    dependencies: list[Dependency] = field(default_factory=list)
    skeletons: dict[str, Any] = field(default_factory=dict)
    sha256: str = ""

    def __iter__(self) -> Iterator[Row]:
        recipe = self.recipe
        source = self.note_file()
        try:
            character = loaded(source, recipe)
        finally:
            self._note_neighbours(source)
        side = {name: self._side_file(name) for name in self.schema.tables if name in SIDE_FILES}
        self.report += [self._without_place(str(line)) for line in character.report if line.kind != "info"]
        clips = self._chosen(character)
        clips = self._without_calibration(clips)
        if self.onto is not None:
            character, clips = self._onto(character, clips, self.onto)
        elif (unit := unit_of(character.skeleton) or 1.0) != 1.0:
            times = unit * (recipe.scale or 1.0)
            self.report.append(
                f"{NOT_METRES}: by the size of the body a unit is {unit:.4g} m; scale={times:.4g} makes metres"
            )
        if recipe.springs:
            clips = [swung(character, clip) for clip in clips]
        loose = recipe.skeletons == "any" and self.onto is None
        kept = kept_joints(recipe, character.skeleton) if loose else fitted(self.schema, recipe, character)
        skeleton = self._skeleton(character)
        for clip in clips:
            yield from self._clip(character, clip, kept, skeleton, side)

    def note_file(self) -> Source:
        """Reads the file and keeps what it was."""
        mark = stamp(self.source.path)
        source = opened(self.source.path, allow_outside=self.recipe.allow_outside)
        self.sha256 = hashlib.sha256(source.data).hexdigest()
        self.dependencies.append(Dependency(self.source.path, mark, self.sha256))
        return source

    def _note_neighbours(self, source: Source) -> None:
        for path, data in source.neighbours.items():
            self.dependencies.append(
                Dependency(str(path), stamp(str(path)), hashlib.sha256(data).hexdigest())
            )

    def _chosen(self, character: Character) -> list[Clip]:
        wanted = self.recipe.clips
        found = [
            clip
            for clip in character.clips.values()
            if not wanted or any(fnmatchcase(clip.name, w) for w in wanted)
        ]
        if not found:
            first = list(character.clips)[:12]
            more = f", ... ({len(character.clips)} in all)" if len(character.clips) > len(first) else ""
            names = ", ".join(first) + more or "none"
            raise FormatError(
                f"has no clip called {' or '.join(wanted)}: it has {names}" if wanted else "has no motion",
                path=self.source.name,
            )
        return found

    def _without_calibration(self, clips: list[Clip]) -> list[Clip]:
        if self.recipe.calibration == "keep":
            return clips
        cut = [cut_calibration(clip) for clip in clips]
        self.report += [f"clip {clip.name!r}: {line}" for clip, line in cut if line is not None]
        return [clip for clip, _ in cut]

    def _onto(self, character: Character, clips: list[Clip], onto: Character) -> tuple[Character, list[Clip]]:
        from marrow.motion.retarget import Retargeter

        self._beside(ENDING)
        names = (self.source.name, onto.name or "the character")
        tool = Retargeter(character, onto, clip=all_tracks(character), names=names)
        # One thread: as many files as there are cores are read beside this one.
        made = [tool.retarget(clip, calibration="keep", threads=1) for clip in clips]
        self.report += [f"{line}" for line in tool.report if line.kind != "info"]
        return onto, made

    def _skeleton(self, character: Character) -> str:
        """The rest pose of the rows' skeleton is kept once, under its digest: motion is against it."""
        rig = character.skeleton
        plain = {
            "joints": list(rig.names),
            "parents": rig.parents.tolist(),
            "translation": rig.rest.translation.astype(np.float64).tolist(),
            "rotation": rig.rest.rotation.astype(np.float64).tolist(),
            "scale": rig.rest.scale.astype(np.float64).tolist(),
        }
        name = digest_of(plain)[:16]
        self.skeletons[name] = plain
        return name

    def _beside(self, ending: str) -> bytes | None:
        """The file of another ending beside the source, noted as one that rows depend on; None where there is none."""
        path = re.sub(r"\.[^./\\]*$", "", self.source.path) + ending
        mark = stamp(path)
        if mark is None:
            self.dependencies.append(Dependency(path, None, None))
            return None
        data = bytes_at(path)
        self.dependencies.append(Dependency(path, mark, hashlib.sha256(data).hexdigest()))
        return data

    def _side_file(self, name: str) -> list[str]:
        data = self._beside(SIDE_FILES[name])
        if data is None:
            return []
        text = data.decode("utf-8-sig", "replace")
        if "\ufffd" in text:
            beside = PurePosixPath(self.source.name).with_suffix(SIDE_FILES[name]).name
            self.report.append(f"{beside} is not UTF-8 throughout: what is not was replaced by \ufffd")
        if name == "tags":
            text = text.replace(",", "\n")
        return [line.strip() for line in text.splitlines() if line.strip()]

    def _clip(
        self, character: Character, clip: Clip, kept: Array, skeleton: str, side: dict[str, list[str]]
    ) -> Iterator[Row]:
        recipe, lines, made, frames = self.recipe, [], 0, 0
        variants = [False]
        if recipe.mirror:
            if find_rig(character.skeleton).complete:
                variants.append(True)
            else:
                lines.append(
                    "not mirrored: the skeleton is no body with a left and a right side that marrow recognises"
                )
        if clip.additive:
            lines.append("left out: it is additive, a difference to other motion")
            variants = []
        for mirrored in variants:
            times = _times(clip, recipe.rate, self.source.name)
            frames = len(times)
            if recipe.window is not None and frames < recipe.window:
                lines.append(f"left out: its {frames} frames are fewer than a window of {recipe.window}")
                break
            words = {n: [swapped_sides(t) for t in v] if mirrored else v for n, v in side.items()}
            try:
                for row in self._rows(
                    Frames(character, clip, times, recipe, kept, mirrored), skeleton, words
                ):
                    made += 1
                    yield row
            except MarrowError as error:
                lines.append(f"left out{' mirrored' if mirrored else ''}: {self.failure(error)}")
        self.clips.append(ClipFacts(clip.name, frames, made, tuple(lines)))

    def _rows(self, frames: Frames, skeleton: str, side: dict[str, list[str]]) -> Iterator[Row]:
        recipe, clip, mirrored = self.recipe, frames.clip, frames.mirrored
        count = len(frames.times)
        length = recipe.window or count
        whole = {f.name: _made(f.name, frames) for f in self.schema.fields if not FEATURES[f.name].alone}
        for start in range(0, count - length + 1, recipe.stride or length):
            stop = start + length
            part = frames.part(start, stop)
            arrays = {
                f.name: whole[f.name][start:stop] if f.name in whole else _made(f.name, part)
                for f in self.schema.fields
            }
            tables: dict[str, Any] = dict(side)
            if "events" in self.schema.tables:
                tables["events"] = _events(clip, start / recipe.rate, stop / recipe.rate, mirrored)
            mark = "m" if mirrored else ""
            name = f"{self.source.name}#{clip.name}@{start}{mark}"
            yield Row(
                name,
                self.source.name,
                clip.name,
                start,
                length,
                recipe.rate,
                mirrored,
                skeleton,
                tables,
                arrays,
            )

    def _without_place(self, text: str) -> str:
        """Words without the folder of this machine: data sets are the same wherever their sources lie."""
        return text.replace(self.source.path, self.source.name)

    def failure(self, error: MarrowError) -> str:
        """Why the source could not be used, as one line."""
        text = self._without_place(" ".join(str(error).split()))
        head = f"{self.source.name}: "
        short = f"{PurePosixPath(self.source.name).name}: "
        return text.removeprefix(head).removeprefix(short)


def loaded(source: Source, recipe: Recipe) -> Character:
    """The character in a file, as the recipe wants it. The cache is for what is opened again: these are not."""
    options = LoadOptions(recipe.scale, None, None, recipe.allow_outside)
    try:
        character = load_source(source, options, cache=False)
        if recipe.scale is None:
            character = _in_metres(character)
        _recognise(character)
        return character
    except FormatError as error:
        if "rate=" in error.remedy:  # an option of mw.load that builds have not
            error = type(error)(
                error.message,
                path=error.path,
                place=error.place,
                remedy="mend it: marrow convert --rate sets it",
            )
        raise error from None
    except MarrowError:
        raise
    except MemoryError:
        raise ResourceLimitError("needs more memory than there is", path=source.path) from None


def _in_metres(character: Character) -> Character:
    """The character in metres, with a line that says so where it was not."""
    unit = character.unit if character.unit != 1 else wrong_unit(character.skeleton)
    if unit is None:
        return character
    report = ReportBuilder()
    report.extend(character.report)
    report.add(
        "repaired",
        "units",
        f"{MADE_METRES}: a unit of the file is {unit:.4g} m, told by the size of the body (scale=1 keeps them)",
    )
    return scaled(character, unit).replace(report=report.build())


_skeletons: OrderedDict[str, Skeleton] = OrderedDict()


def _recognise(character: Character) -> None:
    """Takes of one actor have one skeleton: what was found out about it is not found out again."""
    skeleton = character.skeleton
    rest = skeleton.rest
    state = hashlib.sha256(repr((skeleton.names, dict(skeleton.bones))).encode())
    for part in (skeleton.parents, rest.translation, rest.rotation, rest.scale):
        state.update(np.ascontiguousarray(part).tobytes())
    key = state.hexdigest()
    known = _skeletons.get(key)
    if known is not None and known == skeleton:
        share_derived(skeleton, known)
    _skeletons[key] = skeleton
    _skeletons.move_to_end(key)
    if len(_skeletons) > MOST_SKELETONS:
        _skeletons.popitem(last=False)


def _times(clip: Clip, rate: float, name: str) -> Array:
    count = math.floor(clip.duration * rate + 1e-3) + 1
    try:
        check_frames("data set", clip, count)
    except ValidationError as error:
        raise ResourceLimitError(str(error).replace("rate=", "--rate"), path=name) from None
    return np.arange(count) / rate


def _made(name: str, frames: Frames) -> Array:
    feature = FEATURES[name]
    assert feature.make is not None
    character = frames.character
    sizes = Sizes(
        len(frames.kept), len(character.palette), character.vertex_count, len(character.skeleton.morph_names)
    )
    shape = [n or 0 for n in sizes.of(feature.axes)]
    size = 4 * len(frames.times) * math.prod(shape)
    if size > MAX_BYTES:
        raise ResourceLimitError(
            f"{name} of clip {frames.clip.name!r}: {len(frames.times):,} frames of {' x '.join(map(str, shape))} numbers "
            f"take {size / 1e9:.1f} GB, more than the {MAX_BYTES / 1e9:.1f} GB of a row; cut rows shorter (--window)"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        out = np.ascontiguousarray(feature.make(frames), feature.dtype)
    if out.dtype.kind == "f" and not np.isfinite(out).all():
        frame = int(np.argwhere(~np.isfinite(out.reshape(len(out), -1)).all(axis=1))[0, 0])
        raise FormatError(f"{name} of clip {frames.clip.name!r} is not finite at frame {frame}")
    return out


def _events(clip: Clip, begin: float, end: float, mirrored: bool) -> list[dict[str, Any]]:
    """The events that happen, or last, inside a row; times count from its start."""
    inside = [e for e in clip.events if begin - 1e-6 <= e.time < end - 1e-6 or (e.time < begin < e.end)]
    return [
        {
            "time": e.time - begin,
            "name": other_side(e.name) if mirrored else e.name,
            "duration": e.duration,
            "payload": e.payload,
        }
        for e in inside
    ]


_OTHER = {"left": "right", "right": "left", "clockwise": "counterclockwise", "counterclockwise": "clockwise"}


def swapped_sides(text: str) -> str:
    """A description of the motion in a mirror: left is right."""

    def other(match: re.Match[str]) -> str:
        word = match[0]
        new = _OTHER[word.lower()]
        return new.upper() if word.isupper() else new.capitalize() if word[0].isupper() else new

    return re.sub(r"\b(?:counterclockwise|clockwise|left|right)\b", other, text, flags=re.IGNORECASE)
