"""Clips into a `GltfBuilder`: one animation each, one channel per track, one for all morph weights of a node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.gltf.builder import GltfBuilder
from marrow.io.gltf.curves import (
    CUBIC,
    STEP,
    ScalarCurve,
    channel_weights,
    through_in_betweens,
    together,
    unit_rotations,
)
from marrow.io.gltf.notes import ClipNotes, to_extras
from marrow.io.gltf.pointers import write_pointers
from marrow.io.gltf.quantization import quantized_rotations
from marrow.io.gltf.track_notes import noted_order
from marrow.math import quaternion
from marrow.model import Clip, Mesh, MorphTarget, Skeleton, Track
from marrow.model.clip import INTERPOLATIONS

__all__ = ["MorphNode", "target_rest", "write_clip"]

Array = NDArray[Any]
_INTERPOLATIONS = {"step": "STEP", "linear": "LINEAR", "cubic": "CUBICSPLINE"}


@dataclass(frozen=True, slots=True)
class MorphNode:
    """A node whose mesh has morph targets."""

    node: int
    mesh: Mesh

    @property
    def channels(self) -> list[int]:
        """The morph channels of the mesh, each once."""
        return list(dict.fromkeys(t.channel for t in self.mesh.morph_targets))


def write_clip(builder: GltfBuilder, clip: Clip, morph_nodes: Sequence[MorphNode]) -> None:
    """One animation, with what glTF cannot say in its notes."""
    place = f"clip {clip.name!r}"
    animation: dict[str, Any] = {"name": clip.name, "channels": [], "samplers": []}
    tracks = list(clip.tracks)
    # Of two tracks of one property the later one counts, as in sampling.
    last = {(t.path, t.target): k for k, t in enumerate(tracks)}
    morphs = {t.target: (k, t) for k, t in enumerate(tracks) if t.path == "morph"}
    read: list[int | None] = []  # the tracks that a reader finds, by their numbers in the clip
    exact: dict[int, int] = {}  # where it finds those that it reads as they are
    written: set[int] = set()
    for k, track in enumerate(tracks):
        builder.check_finite(track.values.reshape(len(track.times), -1), _name(clip, track))
        if last[track.path, track.target] != k:
            continue
        if track.path != "morph":
            keys = _keys(builder, track, _name(clip, track))
            _channel(builder, animation, track.target, track.path, *keys, _name(clip, track))
            if _is(track, *keys):
                exact[k] = len(read)
            read.append(k)
        elif track.target not in written:
            for morph_node in (n for n in morph_nodes if track.target in n.channels):
                found = _weights(builder, animation, morph_node, morphs, clip.skeleton, place)
                for channel, keys in found.items():
                    if channel not in written:
                        own = morphs.get(channel)
                        if own is not None and _is(own[1], *keys):
                            exact[own[0]] = len(read)
                        read.append(None if own is None else own[0])
                        written.add(channel)
    lost = [clip.skeleton.morph_names[c] for c in morphs if c not in written]
    if lost:
        builder.warn(
            f"{place}: {', '.join(map(repr, lost))} move no mesh, and glTF animates only morphs of meshes: "
            "other programs do not see their tracks"
        )
    write_pointers(builder, clip, animation, place)
    still = not animation["channels"]
    if still:
        # An animation without channels is not valid: hold the first joint where it rests.
        rest = clip.skeleton.rest.translation[:1]
        _channel(builder, animation, 0, "translation", np.zeros(1, np.float32), rest, "STEP", place)
    ends = [float(times[-1]) for times in (*(t.times for t in tracks), *(c.times for c in clip.curves))]
    own_tracks, order = noted_order(tracks, read, exact)
    noted = ClipNotes(
        events=[(float(e.time), e.name) for e in clip.events],
        curves=[(c.name, c.times.tolist(), c.values.tolist()) for c in clip.curves],
        windows=[(k, e.duration, e.payload) for k, e in enumerate(clip.events) if e.duration or e.payload],
        rate=clip.rate,
        additive=clip.additive,
        duration=None if clip.duration == max(ends, default=0.0) else clip.duration,
        tracks=own_tracks,
        order=order,
        still=still,
    )
    if clip.start:
        noted.start = clip.start
    extras = to_extras(noted)
    if extras:
        animation["extras"] = extras
    builder.add("animations", animation)


def _name(clip: Clip, track: Track) -> str:
    names = clip.skeleton.morph_names if track.path == "morph" else clip.skeleton.names
    return f"clip {clip.name!r}, {track.path} of {names[track.target]!r}"


def _is(track: Track, times: Array, values: Array, interpolation: str) -> bool:
    """Whether keys are just those of a track."""
    return bool(
        _INTERPOLATIONS[track.interpolation] == interpolation
        and np.array_equal(track.times, times)
        and np.array_equal(track.values.ravel(), values.ravel())
    )


def _keys(builder: GltfBuilder, track: Track, place: str) -> tuple[Array, Array, str]:
    """The keys of a track as glTF allows them: times from zero upward, rotations of unit length."""
    times, values = track.times, track.values
    if times[0] < 0:
        raise builder.refuse(
            f"starts at {times[0]} s; glTF has no times before zero", place, "shift the clip first"
        )
    interpolation = _INTERPOLATIONS[track.interpolation]
    if (np.diff(times) <= 0).any():
        times, values = _apart(times, values)
    if interpolation == "CUBICSPLINE" and len(times) == 1:
        interpolation, values = "STEP", values[:, 1]
    if track.path == "rotation":
        values = _unit_rotations(values)
    return times, values, interpolation


def _apart(times: Array, values: Array) -> tuple[Array, Array]:
    """Keys at one moment are a jump: the first of them moves to the instant before, those between the first
    and the last never show."""
    first = np.append(True, times[1:] != times[:-1])
    last = np.append(times[1:] != times[:-1], True)
    moved = np.where(first & ~last, np.nextafter(times, np.float32(-np.inf), dtype=np.float32), times)
    kept = (first | last) & (moved >= 0)
    moved, values = moved[kept], values[kept]
    rising = np.append(True, moved[1:] > moved[:-1])
    return moved[rising], values[rising]


def _unit_rotations(values: Array) -> Array:
    """Rotation keys of unit length; a spline's tangents are scaled along with their key."""
    if values.ndim == 2:
        return unit_rotations(values)
    length = np.linalg.norm(values[:, 1].astype(np.float64), axis=1)
    off = np.abs(length - 1) > 1e-3
    if not off.any():
        return values
    out = values.astype(np.float64)
    out[off] /= np.where(length[off] > 0, length[off], 1)[:, None, None]
    out[off, 1] = quaternion.normalize(out[off, 1])
    return out.astype(np.float32)


def _channel(
    builder: GltfBuilder,
    animation: dict[str, Any],
    node: int,
    path: str,
    times: Array,
    values: Array,
    interpolation: str,
    place: str,
) -> None:
    width = 1 if path == "weights" else values.shape[-1]
    rows = np.ascontiguousarray(values, np.float32).reshape(-1, width)
    if builder.quantize and path == "rotation" and interpolation != "CUBICSPLINE":
        rows = quantized_rotations(rows)
    sampler: dict[str, Any] = {
        "input": builder.accessor(np.asarray(times, np.float32)[:, None], place, bounds=True),
        "output": builder.accessor(rows, place, fractions=True),
    }
    if interpolation != "LINEAR":
        sampler["interpolation"] = interpolation
    animation["samplers"].append(sampler)
    animation["channels"].append(
        {"sampler": len(animation["samplers"]) - 1, "target": {"node": node, "path": path}}
    )


def _weights(
    builder: GltfBuilder,
    animation: dict[str, Any],
    morph_node: MorphNode,
    morphs: Mapping[int, tuple[int, Track]],
    skeleton: Skeleton,
    place: str,
) -> dict[int, tuple[Array, Array, str]]:
    """The weights of all targets of a node's mesh in one channel; what a reader makes of it, by morph channel."""
    targets = morph_node.mesh.morph_targets
    curves: list[ScalarCurve | None] = [None] * len(targets)
    start = min(float(morphs[c][1].times[0]) for c in morph_node.channels if c in morphs)
    for channel in morph_node.channels:
        members = [i for i, t in enumerate(targets) if t.channel == channel]
        if channel in morphs:
            track = morphs[channel][1]
            times, values, _ = _keys(builder, track, f"{place}, morph {skeleton.morph_names[channel]!r}")
            kind = INTERPOLATIONS.index(track.interpolation)
            if kind == CUBIC and values.ndim == 2:
                kind = STEP
            curve = ScalarCurve(times, values[..., 0], kind)
        else:
            curve = ScalarCurve.constant(float(skeleton.rest.morphs[channel]), max(start, 0.0))
        for i, on in zip(members, through_in_betweens(curve, [targets[i] for i in members])):
            curves[i] = on
    times, aligned = together([c for c in curves if c is not None])
    # Key by key: of a spline first all in-tangents, then all values, then all out-tangents.
    values = np.stack([c.values for c in aligned], axis=-1)
    name = ("STEP", "LINEAR", "CUBICSPLINE")[aligned[0].interpolation]
    _channel(builder, animation, morph_node.node, "weights", times, values, name, place)
    full = [t.full_weight for t in targets] if any(t.full_weight != 1.0 for t in targets) else None
    rows = np.ascontiguousarray(values, np.float32).reshape(len(times), -1, len(targets))
    found = channel_weights(rows, [t.channel for t in targets], full)
    return {channel: (times, track, name) for channel, track in found}


def target_rest(targets: Sequence[MorphTarget], skeleton: Skeleton) -> list[float]:
    """How far each target of a mesh is on in the rest pose."""
    out = [0.0] * len(targets)
    for channel in dict.fromkeys(t.channel for t in targets):
        members = [i for i, t in enumerate(targets) if t.channel == channel]
        curve = ScalarCurve.constant(float(skeleton.rest.morphs[channel]), 0.0)
        for i, on in zip(members, through_in_betweens(curve, [targets[i] for i in members])):
            out[i] = float(on.values[0])
    return out
