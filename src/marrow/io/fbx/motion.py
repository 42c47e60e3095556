"""Animation stacks as clips: baked by ufbx, cut to the stack's range, begun at zero.

FBX keys Euler angles axis by axis, with tangents, through pivots and layers. ufbx bakes that to keys of local
transforms, densely where a curve bends and at the file's own keys where those are dense already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import ufbx
from numpy.typing import NDArray

from marrow.errors import ResourceLimitError
from marrow.io.clips import free_name
from marrow.io.fbx.held import Held, elements
from marrow.math import quaternion
from marrow.model import Clip, Skeleton, Track
from marrow.model.clip import Path
from marrow.report import ReportBuilder

__all__ = ["read_clips"]

Array = NDArray[Any]
MIN_RATE = 30.0
# Between keys of a bent curve the baked motion is straight; at this many samples per frame the difference is
# gone.
_SAMPLES_PER_FRAME = 4
# How far a key may be off the straight line between its neighbours and still be left out, in metres or
# quaternion.
_NEGLIGIBLE = 1e-7
_MAX_KEYS = 20_000_000
# A key this much of a second past the stop time is still on it.
_SLACK = 1e-5


@dataclass
class _Keys:
    times: Array  # seconds from the start of the file
    values: Array  # (T, C)


def read_clips(
    scene: Held,
    skeleton: Skeleton,
    joint_of: dict[int, int],
    channel_of: dict[int, int],
    fps: float | None,
    report: ReportBuilder,
) -> list[Clip]:
    """A clip for every stack that moves something; the others are reported."""
    rate = float(scene.settings.frames_per_second)
    rate = rate if np.isfinite(rate) and 1 <= rate <= 1000 else MIN_RATE
    movable = {node.element_id for node in scene.nodes} | set(channel_of)
    clips: list[Clip] = []
    taken: set[str] = set()
    for i, stack in enumerate(scene.anim_stacks):
        name = stack.name or f"clip_{i}"
        place = f"animation {name!r}"
        if not any(p.element.element_id in movable for layer in stack.layers for p in layer.anim_props):
            report.add("dropped", place, "an animation stack that moves no joint and no morph was left out")
            continue
        tracks, duration = _read_stack(scene, stack, skeleton, joint_of, channel_of, max(MIN_RATE, rate), fps)
        unique = free_name(name, taken)
        if unique != name:
            report.add("repaired", place, f"another clip has this name; this one is called {unique!r}")
        taken.add(unique)
        clips.append(Clip(unique, skeleton, tracks, duration, rate=fps or rate))  # type: ignore[arg-type]
    return clips


def _read_stack(
    scene: Held,
    stack: Held,
    skeleton: Skeleton,
    joint_of: dict[int, int],
    channel_of: dict[int, int],
    rate: float,
    fps: float | None,
) -> tuple[list[Track], float]:
    anim = stack.anim
    options = {
        "resample_rate": max(rate, fps or 0) * _SAMPLES_PER_FRAME,
        "minimum_sample_rate": MIN_RATE - 0.5,
        "max_keyframe_segments": 1 << 16,
        "key_reduction_enabled": True,
        "key_reduction_rotation": True,
        "key_reduction_threshold": _NEGLIGIBLE,
        "step_handling": ufbx.BakeStepHandling.IDENTICAL_TIME,
    }
    baked = Held(ufbx.bake_anim(scene.raw, anim.raw, **options))
    still = _still_properties(scene, stack)
    found: list[tuple[int, Path, _Keys]] = []
    for node in baked.nodes:
        joint = joint_of.get(node.typed_id)
        if joint is None:
            continue
        for path, keys in (
            ("translation", node.translation_keys),
            ("rotation", node.rotation_keys),
            ("scale", node.scale_keys),
        ):
            if (node.typed_id, path) not in still:
                found.append((joint, path, _keys(keys, 4 if path == "rotation" else 3)))  # type: ignore[arg-type]
    for element in baked.elements:
        channel = channel_of.get(element.element_id)
        for prop in element.props if channel is not None else ():
            if prop.name == "DeformPercent":
                keys = _keys(prop.keys, 3)
                found.append((channel, "morph", _Keys(keys.times, keys.values[:, :1] / 100)))  # type: ignore[arg-type]
    begin, end = _span(stack)
    tracks = []
    for target, path, keys in found:
        cut = _cut(keys, begin, end, path == "rotation", fps)
        track = _track(target, path, cut, skeleton)
        if track is not None:
            tracks.append(track)
    return tracks, float(np.float32(end - begin))


def _keys(items: Held, width: int) -> _Keys:
    n = len(items)
    if n > _MAX_KEYS:
        raise ResourceLimitError(f"has a track of {n} keys, more than the {_MAX_KEYS} marrow reads")
    keys = elements(items)
    times = np.fromiter((key.time for key in keys), np.float64, n)
    values = np.array([key.value for key in keys], np.float64).reshape(n, width)
    good = np.isfinite(times) & np.isfinite(values).all(1)
    return _Keys(times[good], values[good])


def _still_properties(scene: Held, stack: Held) -> set[tuple[int, str]]:
    """Nodes and paths that no curve of the stack moves, and that nothing else can move either.

    ufbx up to 0.18 evaluates a node that is animated in rotation alone with the translation or scale of the
    element after it. Where a node has no curve for a path, and no pivot or inherited scale that would couple
    it to one that has, its static value is the right one.
    """
    animated: dict[int, set[str]] = {}
    for layer in stack.layers:
        for prop in layer.anim_props:
            animated.setdefault(prop.element.element_id, set()).add(prop.prop_name)
    pivots = ("RotationOffset", "RotationPivot", "ScalingOffset", "ScalingPivot")
    still = set()
    for node in scene.nodes:
        names = animated.get(node.element_id, set())
        coupled = int(node.original_inherit_mode) != 0 or node.is_scale_helper or names & set(pivots)
        parent = node.parent
        coupled = coupled or (
            parent is not None and (parent.is_scale_compensate_parent or parent.scale_helper is not None)
        )
        if coupled:
            continue
        if "Lcl Scaling" not in names:
            still.add((node.typed_id, "scale"))
        pivot = [node.props.find_prop(name) for name in pivots]
        pivoted = any(any(p.value_vec4[:3]) for p in pivot if p is not None)
        if "Lcl Translation" not in names and not pivoted:
            still.add((node.typed_id, "translation"))
    return still


def _span(stack: Held) -> tuple[float, float]:
    """Begin and end of the clip: the stack's own, but not past the last key of any curve."""
    begin, end = float(stack.time_begin), float(stack.time_end)
    curves = [
        Held(curve)
        for layer in stack.layers
        for prop in layer.anim_props
        for curve in prop.anim_value.curves
        if curve is not None
    ]
    keyed = [curve for curve in curves if len(curve.keyframes)]
    first = min((float(c.min_time) for c in keyed), default=0.0)
    last = max((float(c.max_time) for c in keyed), default=0.0)
    if not np.isfinite(begin) or not np.isfinite(end) or end <= begin:
        begin, end = first, last
    return begin, max(begin, min(end, last))


def _cut(keys: _Keys, begin: float, end: float, rotation: bool, fps: float | None) -> _Keys:
    """The keys from `begin` to `end`, counted from `begin`, with a key on each border; at `fps` where that is
    given.
    """
    if not len(keys.times):
        return keys
    if fps is not None:
        count = int(np.floor((end - begin) * fps + _SLACK)) + 1
        times = np.minimum(np.arange(count) / fps, end - begin)
        return _Keys(times, _at(keys, times + begin, rotation))
    inside = (keys.times > begin + _SLACK) & (keys.times <= end + _SLACK)
    times, values = np.minimum(keys.times[inside], end), keys.values[inside]
    times = np.concatenate([[begin], times])
    values = np.concatenate([_at(keys, times[:1], rotation), values])
    if times[-1] < end - _SLACK:
        times = np.append(times, end)
        values = np.concatenate([values, _at(keys, times[-1:], rotation)])
    return _Keys(times - begin, values)


def _at(keys: _Keys, times: Array, rotation: bool) -> Array:
    right = np.clip(np.searchsorted(keys.times, times, side="right"), 1, max(1, len(keys.times) - 1))
    left = right - 1
    right = np.minimum(right, len(keys.times) - 1)
    span = keys.times[right] - keys.times[left]
    # Two keys at one moment are a step: the second one holds from there on.
    t = np.where(span > 0, np.clip((times - keys.times[left]) / np.where(span > 0, span, 1), 0, 1), 1.0)
    a, b = keys.values[left], keys.values[right]
    return quaternion.slerp(a, b, t) if rotation else a + (b - a) * t[:, None]


def _track(target: int, path: Path, keys: _Keys, skeleton: Skeleton) -> Track | None:
    """The keys as a track; None where they say no more than the rest pose does."""
    if not len(keys.times):
        return None
    values = keys.values
    if path == "rotation":
        values = quaternion.normalize(values)
        flips = np.cumprod(np.where((values[1:] * values[:-1]).sum(1) < 0, -1.0, 1.0))
        values[1:] *= flips[:, None]
    single = values.astype(np.float32)
    if (single == single[0]).all():
        rest = skeleton.rest.morphs if path == "morph" else getattr(skeleton.rest, path)
        at_rest = rest[target]
        if np.array_equal(single[0], np.atleast_1d(at_rest)):
            return None
        return Track(target, path, np.zeros(1, np.float32), single[:1])
    return Track(target, path, _rising(keys.times.astype(np.float32)), single)


def _rising(times: Array) -> Array:
    """Times that strictly increase: of two keys at one moment (a step) the first moves back by the least
    there is.
    """
    for i in np.flatnonzero(np.diff(times) <= 0)[::-1]:
        times[i] = np.nextafter(times[i + 1], np.float32(-1))
    return times
