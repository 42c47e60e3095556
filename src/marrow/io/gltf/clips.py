"""Animations: channels gathered into the flat tracks of a `Clip`, keys kept as the file has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.io.camera_space import resized_curves
from marrow.io.gltf import notes
from marrow.io.gltf.cameras import CamerasAndLights
from marrow.io.gltf.context import Context
from marrow.io.gltf.curves import EXACT_UNIT, channel_weights, unit_rotations
from marrow.io.gltf.extensions import PointerChannel
from marrow.io.gltf.geometry import MorphChannels
from marrow.io.gltf.naming import UniqueNames
from marrow.io.gltf.notes import ClipNotes
from marrow.io.gltf.pointers import pointer_curves
from marrow.io.gltf.scene import UNIT_TOLERANCE, Tree
from marrow.io.gltf.schema import Animation, Sampler
from marrow.io.gltf.track_notes import as_noted
from marrow.math.counting import repeat
from marrow.math.elementary import dot
from marrow.model import Clip, Curve, Event, Skeleton, Tracks
from marrow.model._asset import trusted
from marrow.model._validate import owned
from marrow.model.clip import INTERPOLATIONS, PATHS, TRACK_DTYPE, value_sizes

__all__ = ["read_clips"]

Array = NDArray[Any]
_INTERPOLATIONS = {"STEP": 0, "LINEAR": 1, "CUBICSPLINE": 2}
_PATHS = {"translation": 0, "rotation": 1, "scale": 2}
_KINDS = ("VEC3", "VEC4", "VEC3", "SCALAR")
_WIDTHS = (3, 4, 3)
PLAIN = ClipNotes()
STEP, LINEAR, CUBIC = range(len(INTERPOLATIONS))
TRANSLATION, ROTATION, SCALE, MORPH = range(len(PATHS))


@dataclass(slots=True)
class _Rows:
    """The tracks of one clip, column by column."""

    target: list[int] = field(default_factory=list)
    path: list[int] = field(default_factory=list)
    interpolation: list[int] = field(default_factory=list)
    times: list[Array] = field(default_factory=list)
    values: list[Array] = field(default_factory=list)
    morphs: set[int] = field(default_factory=set)

    def add(self, target: int, path: int, interpolation: int, times: Array, values: Array) -> None:
        if len(times):
            self.target.append(target)
            self.path.append(path)
            self.interpolation.append(interpolation)
            self.times.append(times)
            self.values.append(values)


def read_clips(
    ctx: Context,
    tree: Tree,
    channels: MorphChannels,
    skeleton: Skeleton,
    pointers: dict[int, list[PointerChannel]],
    placed: CamerasAndLights,
) -> dict[int, Clip]:
    """The clips of a file, by the number of their animation; animations that move nothing are left out and reported."""
    reader = _Reader(ctx, tree, channels)
    names, clips = UniqueNames(), {}
    for i, animation in enumerate(ctx.document.animations):
        place = f"animations[{i}]"
        noted = notes.read(animation.extras, ClipNotes, ctx.report, place)
        plain = None if noted != PLAIN or i in pointers else reader.plain_tracks(animation, place)
        wanted = animation.name or f"clip_{i}"
        if plain is not None:
            tracks, last = plain
            name = _claimed(ctx, names, wanted)
            clips[i] = trusted(Clip, name=name, skeleton=skeleton, tracks=tracks, duration=last)
            continue
        tracks = reader.tracks(animation, noted, skeleton, place)
        pointed = pointer_curves(ctx, tree, animation, pointers[i], placed) if i in pointers else []
        if not len(tracks) and not noted.still and not pointed:
            ctx.report.add("dropped", wanted, "the animation moves nothing")
            continue
        clip = Clip(
            _claimed(ctx, names, wanted),
            skeleton,
            tracks,
            duration=_positive(noted.duration),  # type: ignore[arg-type]
            rate=_positive(noted.rate) or None,
            additive=noted.additive,
            start=noted.start,
        )
        curves = {c.name: c for c in _curves(clip, noted, ctx)}
        curves |= {c.name: c for c in pointed if c.name not in curves}
        if ctx.scale != 1:
            curves = {c.name: c for c in resized_curves(curves.values(), ctx.scale)}
        last = max((float(c.times[-1]) for c in curves.values()), default=0.0)
        if noted.duration is None and last > clip.duration:
            clip = clip.replace(duration=last)
        events = _events_inside(clip, noted, ctx)
        clips[i] = clip.replace(events=events, curves=tuple(curves.values())) if events or curves else clip
    return clips


def _claimed(ctx: Context, names: UniqueNames, wanted: str) -> str:
    name = names.claim(wanted)
    if name != wanted:
        ctx.report.add("repaired", wanted, f"another clip has this name; this one is called {name!r}")
    return name


def _events_inside(clip: Clip, noted: ClipNotes, ctx: Context) -> tuple[Event, ...]:
    """The events that lie in the clip; key times are float32, and may end a hair before the last event."""
    last = clip.duration + 1e-6 * (1 + clip.duration)
    for time, event in noted.events:
        if not 0 <= time <= last:
            ctx.report.add(
                "dropped",
                clip.name,
                f"the event {event!r} at {time:g} s is outside the clip's {clip.duration:g} s",
            )
    lasting = {k: (max(seconds, 0.0), payload) for k, seconds, payload in noted.windows}
    found = []
    for k, (time, name) in enumerate(noted.events):
        if 0 <= time <= last:
            seconds, payload = lasting.get(k, (0.0, ""))
            if time + seconds > last:
                seconds = max(clip.duration - time, 0.0)
            found.append(Event(time, name, seconds, payload))
    return tuple(found)


def _curves(clip: Clip, noted: ClipNotes, ctx: Context) -> tuple[Curve, ...]:
    """The curves of a clip; what is no curve is dropped and said."""
    found: dict[str, Curve] = {}
    for name, times, values in noted.curves:
        try:
            found.setdefault(name, Curve(name, np.array(times), np.array(values)))
        except ValidationError as error:
            ctx.report.add("dropped", clip.name, f"a curve: {error}")
    return tuple(found.values())


def _positive(value: float | None) -> float | None:
    return value if value is not None and value >= 0 else None


class _Reader:
    """Reads samplers; times shared by many samplers are checked once."""

    def __init__(self, ctx: Context, tree: Tree, channels: MorphChannels) -> None:
        self._ctx, self._tree, self._channels = ctx, tree, channels
        self._times: dict[int, tuple[Array, Array | None]] = {}
        self._clocks: dict[int, Array | None] = {}

    def tracks(self, animation: Animation, noted: ClipNotes, skeleton: Skeleton, place: str) -> Tracks:
        found = Tracks.pack(()) if noted.still else self._of_channels(animation, place)
        if noted.order is None:
            return found
        try:
            return as_noted(found, noted, skeleton, self._ctx.scale)
        except ValidationError as error:
            self._ctx.report.add("dropped", place, f"marrow's notes on its tracks do not fit: {error}")
            return found

    def _of_channels(self, animation: Animation, place: str) -> Tracks:
        rows = _Rows()
        seen: set[tuple[int, int]] = set()
        lost = 0
        for c, channel in enumerate(animation.channels):
            target = channel.target
            if target.node is None or target.path not in ("translation", "rotation", "scale", "weights"):
                self._ctx.report.add(
                    "dropped", place, f"a channel animates {target.path!r}, which is not kept"
                )
                continue
            known = self._channels.of_node if target.path == "weights" else self._tree.joint_of
            path = _PATHS.get(target.path, MORPH)
            if target.node not in known or (target.node, path) in seen:
                lost += 1
                continue
            seen.add((target.node, path))
            sampler = self._ctx.pick(
                animation.samplers, channel.sampler, "samplers", f"{place}.channels[{c}]"
            )
            self._add(rows, sampler, target.node, path, place)
        if lost:
            self._ctx.report.add(
                "dropped",
                place,
                f"{lost} channels animate nodes outside the skeleton, or the same thing twice",
            )
        return self._packed(rows, place)

    def plain_tracks(self, animation: Animation, place: str) -> tuple[Tracks, float] | None:
        """All tracks at once and when the last ends, where every channel is what nearly all exporters write: packed floats
        with increasing times that move a joint or the morphs of a mesh. None where one is not: then each is read, and
        mended, by itself."""
        joint_of, samplers, clocks = self._tree.joint_of, animation.samplers, self._clocks
        packed, seen = self._ctx.accessors.packed, set()
        rows: list[tuple[int, int, int, int, int]] = []
        all_times: list[Array] = []
        all_values: list[Array] = []
        rotations: list[Array] = []
        for channel in animation.channels:
            target = channel.target
            path, node = _PATHS.get(target.path, MORPH), target.node
            if channel.sampler >= len(samplers) or node is None:
                return None
            sampler = samplers[channel.sampler]
            interpolation, clock = _INTERPOLATIONS.get(sampler.interpolation), sampler.input
            if clock not in clocks:  # most tracks share their times
                clocks[clock] = packed(clock, "SCALAR")
            times, values = clocks[clock], packed(sampler.output, _KINDS[path])
            if interpolation is None or times is None or values is None:
                return None
            keys, per_key = len(times), 3 if interpolation == CUBIC else 1
            if path == MORPH:
                channels = self._plain_channels(target.path, node)
                if channels is None or not keys or len(values) != keys * per_key * len(channels):
                    return None
                for morph, track in zip(channels, values.reshape(-1, len(channels)).T):
                    seen.add((morph, MORPH))
                    rows.append((morph, MORPH, interpolation, keys, keys * per_key))
                    all_times.append(times)
                    all_values.append(track)
                continue
            joint, size = joint_of.get(node), len(values)
            if joint is None or not keys or size != keys * _WIDTHS[path] * per_key:
                return None
            seen.add((joint, path))
            rows.append((joint, path, interpolation, keys, size))
            all_times.append(times)
            all_values.append(values)
            if path == ROTATION and interpolation != CUBIC:
                rotations.append(values)
        if not rows or len(seen) < len(rows):
            return None
        return self._joined(rows, all_times, all_values, rotations, place)

    def _plain_channels(self, path: str, node: int) -> list[int] | None:
        """The morph channels of a node, where each is one target's own."""
        channels = self._channels.of_node.get(node)
        return None if path != "weights" or node in self._channels.full_weights else channels

    def _joined(
        self,
        rows: list[tuple[int, int, int, int, int]],
        all_times: list[Array],
        all_values: list[Array],
        rotations: list[Array],
        place: str,
    ) -> tuple[Tracks, float] | None:
        """Tracks end to end: target, path, interpolation, keys and size of each, and the keys of those that turn joints;
        None where numbers are damaged."""
        columns = np.array(rows, np.int64).T
        self._ctx.budget.charge(8 * int(columns[3:].sum()), "animations")
        times, values = np.concatenate(all_times), np.concatenate(all_values)
        table = np.zeros(len(rows), TRACK_DTYPE)
        for name, column in zip(("target", "path", "interpolation", "keys"), columns):
            table[name] = column
        ends = np.cumsum(columns[3:], axis=1)
        table["time_start"][1:], table["value_start"][1:] = ends[:, :-1]
        grows = times[1:] > times[:-1]
        grows[ends[0, :-1] - 1] = True  # from the last key of a track to the first of the next
        if not (grows.all() and np.isfinite(times).all() and np.isfinite(values).all()):
            return None
        if rotations:
            keys = np.concatenate(rotations).reshape(-1, 4)
            if (np.abs(dot(keys, keys) - np.float32(1)) > EXACT_UNIT).any():
                self._normalize_rotations(table, columns[4], values, place)
        if self._ctx.scale != 1:
            values[repeat(columns[1] == TRANSLATION, columns[4])] *= np.float32(self._ctx.scale)
        return Tracks.trusted(table, times, values), float(times[ends[0] - 1].max(initial=0.0))

    def _add(self, rows: _Rows, sampler: Sampler, node: int, path: int, place: str) -> None:
        interpolation = _INTERPOLATIONS.get(sampler.interpolation)
        if interpolation is None:
            raise self._ctx.refuse(f"interpolation {sampler.interpolation!r} does not exist", place)
        times, kept = self._key_times(sampler.input, place)
        values = self._ctx.accessors.floats(sampler.output, _KINDS[path])
        per_key = 3 if interpolation == CUBIC else 1
        T = len(times) if kept is None else self._ctx.accessors.definition(sampler.input).count
        M = len(self._channels.of_node[node]) if path == MORPH else 1
        if len(values) != T * per_key * M:
            raise self._ctx.refuse(
                f"accessors[{sampler.output}] should have {T * per_key * M} values for {T} keys, "
                f"not {len(values)}",
                place,
            )
        values = values.reshape(T, -1)
        if kept is not None:
            values = values[kept]
        if path == MORPH:
            self._add_morphs(rows, interpolation, times, values.reshape(len(times), per_key, M), node, place)
        else:
            self._ctx.budget.charge(times.nbytes + values.nbytes, place)
            rows.add(self._tree.joint_of[node], path, interpolation, times, values)

    def _add_morphs(
        self, rows: _Rows, interpolation: int, times: Array, values: Array, node: int, place: str
    ) -> None:
        """One track for each channel that no other mesh has given yet."""
        channels, full = self._channels.of_node[node], self._channels.full_weights.get(node)
        self._ctx.budget.charge(len(channels) * times.nbytes + values.nbytes, place)
        for channel, track in channel_weights(values, channels, full):
            if channel not in rows.morphs:
                rows.morphs.add(channel)
                rows.add(channel, MORPH, interpolation, times, track)

    def _key_times(self, index: int, place: str) -> tuple[Array, Array | None]:
        """Increasing key times, and which keys of the file they are where some had to go."""
        found = self._times.get(index)
        if found is None:
            times = self._ctx.accessors.floats(index, "SCALAR")[:, 0]
            kept = None
            if not (np.isfinite(times).all() and (times[1:] > times[:-1]).all()):
                kept = np.flatnonzero(np.isfinite(times))
                kept = kept[np.argsort(times[kept], kind="stable")]
                sorted_times = times[kept]
                last = (
                    np.append(sorted_times[1:] != sorted_times[:-1], True) if len(kept) else np.zeros(0, bool)
                )
                kept = kept[last]
                self._ctx.report.add(
                    "repaired",
                    place,
                    f"key times did not increase; {len(times) - len(kept)} keys were dropped",
                )
                times = times[kept]
            found = self._times[index] = (times, kept)
        return found

    def _packed(self, rows: _Rows, place: str) -> Tracks:
        if not rows.target:
            return Tracks.pack(())
        values = np.concatenate([v.ravel() for v in rows.values])
        if not np.isfinite(values).all():
            rows = self._without_bad_keys(rows, place)
            if not rows.target:
                return Tracks.pack(())
            values = np.concatenate([v.ravel() for v in rows.values])
        table = np.zeros(len(rows.target), TRACK_DTYPE)
        table["target"], table["path"], table["interpolation"] = rows.target, rows.path, rows.interpolation
        table["keys"] = list(map(len, rows.times))
        sizes = value_sizes(table)
        table["time_start"][1:] = np.cumsum(table["keys"], dtype=np.int64)[:-1]
        table["value_start"][1:] = np.cumsum(sizes)[:-1]
        self._normalize_rotations(table, sizes, values, place)
        if self._ctx.scale != 1:
            values[repeat(table["path"] == TRANSLATION, sizes)] *= np.float32(self._ctx.scale)
        return Tracks(owned(table), owned(np.concatenate(rows.times)), owned(values))

    def _normalize_rotations(self, table: Array, sizes: Array, values: Array, place: str) -> None:
        """Gives the keys of linear and step rotations unit length, in place; those of splines mean what they
        are."""
        which = repeat((table["path"] == ROTATION) & (table["interpolation"] != CUBIC), sizes)
        keys = values[which].reshape(-1, 4)
        off = np.abs(dot(keys, keys) - np.float32(1))
        if (off > EXACT_UNIT).any():
            values[which] = unit_rotations(keys).ravel()
            count = int((off > 2 * UNIT_TOLERANCE).sum())
            if count:
                self._ctx.report.add("repaired", place, f"{count} rotation keys were not of unit length")

    def _without_bad_keys(self, rows: _Rows, place: str) -> _Rows:
        out, dropped = _Rows(), 0
        for target, path, interpolation, times, values in zip(
            rows.target, rows.path, rows.interpolation, rows.times, rows.values
        ):
            keys = values.reshape(len(times), -1)
            good = np.isfinite(keys).all(axis=1)
            dropped += int((~good).sum())
            out.add(target, path, interpolation, times[good], keys[good])
        self._ctx.report.add("repaired", place, f"{dropped} keys were not finite and were dropped")
        return out
