"""Animation stacks as clips: baked by ufbx, cut to the stack's range, begun at zero.

FBX keys Euler angles axis by axis, with tangents, through pivots and layers. ufbx bakes that to keys of local
transforms, densely where a curve bends and at the file's own keys where those are dense already.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import ufbx
from numpy.typing import NDArray

from marrow.io.clips import free_name
from marrow.io.fbx.held import Held
from marrow.io.fbx.keys import NO_KEYS, Keys, cut, read_keys, rising
from marrow.io.fbx.unkeyed import read_unkeyed, swung
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
    unkeyed = read_unkeyed(scene, stack)
    found: list[tuple[int, Path, Keys]] = []
    for node in baked.nodes:
        joint = joint_of.get(node.typed_id)
        if joint is None:
            continue
        keys: dict[Path, Keys] = {
            "translation": read_keys(node.translation_keys, 3),
            "rotation": read_keys(node.rotation_keys, 4),
            "scale": read_keys(node.scale_keys, 3),
        }
        for path in unkeyed.still.get(node.typed_id, ()):
            keys[path] = NO_KEYS
        if node.typed_id in unkeyed.swinging:
            swing = unkeyed.swinging[node.typed_id]
            keys["translation"] = swung(swing, keys["rotation"], keys["scale"], 1 / options["resample_rate"])
        found += [(joint, path, k) for path, k in keys.items()]
    for element in baked.elements:
        channel = channel_of.get(element.element_id)
        for prop in element.props if channel is not None else ():
            if prop.name == "DeformPercent":
                percent = read_keys(prop.keys, 3)
                found.append((channel, "morph", Keys(percent.times, percent.values[:, :1] / 100)))  # type: ignore[arg-type]
    begin, end = _span(stack)
    tracks = []
    for target, path, whole in found:
        track = _track(target, path, cut(whole, begin, end, path == "rotation", fps), skeleton)
        if track is not None:
            tracks.append(track)
    return tracks, float(np.float32(end - begin))


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


def _track(target: int, path: Path, keys: Keys, skeleton: Skeleton) -> Track | None:
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
    return Track(target, path, rising(keys.times.astype(np.float32)), single)
