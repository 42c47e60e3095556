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
from marrow.io.fbx.extrapolation import curves_of, running_on, sampled_node, sampled_value
from marrow.io.fbx.keys import NO_KEYS, FbxKeys, cut, read_keys, rising
from marrow.io.fbx.properties import SHOWN, own_properties, property_curves, visibility_curves
from marrow.io.fbx.rotation_space import plain_rotation_keys, turns_plainly
from marrow.io.fbx.ufbx_binding import UfbxObject
from marrow.io.fbx.unkeyed import read_unkeyed, swung
from marrow.math import quaternion
from marrow.model import Clip, Skeleton, Track
from marrow.model.clip import Path
from marrow.report import ReportBuilder

__all__ = ["read_clips"]

Array = NDArray[Any]
MIN_RATE = 30.0
Channels = dict[tuple[int, str], int]
"""The morph channel that a property (of an element by its ufbx number) drives."""
# What may be keyed of a node and moves it.
TRANSFORMS = {
    "Lcl Translation",
    "Lcl Rotation",
    "Lcl Scaling",
    "RotationOffset",
    "RotationPivot",
    "ScalingOffset",
    "ScalingPivot",
    "PreRotation",
    "PostRotation",
}
# Between keys of a bent curve the baked motion is straight; at this many samples per frame the difference is
# gone.
_SAMPLES_PER_FRAME = 4
# How far a key may be off the straight line between its neighbours and still be left out, in metres or
# quaternion.
_NEGLIGIBLE = 1e-7


def read_clips(
    scene: UfbxObject,
    skeleton: Skeleton,
    joint_of: dict[int, int],
    channel_of: Channels,
    rate: float | None,
    report: ReportBuilder,
) -> list[Clip]:
    """A clip for every stack that moves something; the others are reported."""
    scene_rate = float(scene.settings.frames_per_second)
    scene_rate = scene_rate if np.isfinite(scene_rate) and 1 <= scene_rate <= 1000 else MIN_RATE
    nodes = {node.element_id for node in scene.nodes}
    own = own_properties(scene)
    clips: list[Clip] = []
    taken: set[str] = set()
    for i, stack in enumerate(scene.anim_stacks):
        name = stack.name or f"clip_{i}"
        place = f"animation {name!r}"
        curves = curves_of(stack)
        kept = (*TRANSFORMS, SHOWN)
        moved = [p for p, _ in curves if p.element.element_id in nodes and p.prop_name in kept]
        keyed = {(p.element.element_id, str(p.prop_name)) for p, _ in curves}
        if not moved and not keyed & (channel_of.keys() | own.keys()):
            # Exporters write an empty take for nothing.
            if len(curves):
                report.add("dropped", place, "it moves no joint, no morph and no property; left out")
            continue
        clip = _read_stack(
            name, scene, stack, curves, skeleton, joint_of, channel_of, own, max(MIN_RATE, scene_rate), rate
        )
        unique = free_name(name, taken)
        if unique != name:
            report.add("repaired", place, f"another clip has this name; this one is called {unique!r}")
        taken.add(unique)
        clips.append(clip.replace(name=unique, rate=rate or scene_rate))
    return clips


def _read_stack(
    name: str,
    scene: UfbxObject,
    stack: UfbxObject,
    curves: list[tuple[UfbxObject, UfbxObject]],
    skeleton: Skeleton,
    joint_of: dict[int, int],
    channel_of: Channels,
    own: dict[tuple[int, str], int],
    scene_rate: float,
    rate: float | None,
) -> Clip:
    anim = stack.anim
    options = {
        "resample_rate": max(scene_rate, rate or 0) * _SAMPLES_PER_FRAME,
        "minimum_sample_rate": MIN_RATE - 0.5,
        "max_keyframe_segments": 1 << 16,
        "key_reduction_enabled": True,
        "key_reduction_rotation": True,
        "key_reduction_threshold": _NEGLIGIBLE,
        "step_handling": ufbx.BakeStepHandling.IDENTICAL_TIME,
    }
    baked = UfbxObject(ufbx.bake_anim(scene.raw, anim.raw, **options))
    unkeyed = read_unkeyed(scene, stack)
    begin, end, running = _span(stack, curves)
    found: list[tuple[int, Path, FbxKeys]] = []
    beyond = {node.typed_id: node for node in scene.nodes if node.element_id in running} if running else {}
    plain = {node.typed_id: node for node in scene.nodes if turns_plainly(node)}
    for number, node in beyond.items():
        if number in joint_of:
            keys = sampled_node(anim, node, begin, end, options["resample_rate"])
            found += [(joint_of[number], path, k) for path, k in keys.items()]
    for node in baked.nodes:
        if node.typed_id in beyond:
            continue
        joint = joint_of.get(node.typed_id)
        if joint is None:
            continue
        keys = {
            "translation": read_keys(node.translation_keys, 3),
            "rotation": read_keys(node.rotation_keys, 4),
            "scale": read_keys(node.scale_keys, 3),
        }
        if node.typed_id in plain:
            keys["rotation"] = plain_rotation_keys(plain[node.typed_id], curves, keys["rotation"])
        for path in unkeyed.still.get(node.typed_id, ()):
            keys[path] = NO_KEYS
        if node.typed_id in unkeyed.swinging:
            swing = unkeyed.swinging[node.typed_id]
            keys["translation"] = swung(swing, keys["rotation"], keys["scale"], 1 / options["resample_rate"])
        found += [(joint, path, k) for path, k in keys.items()]
    weights: dict[int, FbxKeys] = {}
    for element in baked.elements:
        for prop in element.props:
            channel = channel_of.get((element.element_id, prop.name))
            if channel is None:
                continue
            percent = read_keys(prop.keys, 3)
            if element.element_id in running:
                curve = next(
                    c
                    for p, c in curves
                    if (p.element.element_id, p.prop_name) == (element.element_id, prop.name)
                )
                percent = sampled_value(curve, begin, end, options["resample_rate"])
            # Blender keys a shape twice, on the mesh and on the deformer: one track is enough.
            weights[channel] = FbxKeys(percent.times, percent.values[:, :1] / 100)
    found += [(channel, "morph", keys) for channel, keys in weights.items()]
    tracks = []
    for target, path, whole in found:
        track = _track(target, path, cut(whole, begin, end, path == "rotation", rate), skeleton)
        if track is not None:
            tracks.append(track)
    others = visibility_curves(scene, baked, skeleton, joint_of, begin, end)
    others += property_curves(scene, baked, own, begin, end)
    duration = float(np.float32(end - begin))
    return Clip(name, skeleton, tracks, duration, start=begin, curves=others)  # type: ignore[arg-type]


def _span(stack: UfbxObject, curves: list[tuple[UfbxObject, UfbxObject]]) -> tuple[float, float, set[int]]:
    """Begin and end of the clip, and which elements move beyond their keys: it is the stack's own span, but not
    past the last key where everything rests from there on.
    """
    begin, end = float(stack.time_begin), float(stack.time_end)
    first = min((float(c.min_time) for _, c in curves), default=0.0)
    last = max((float(c.max_time) for _, c in curves), default=0.0)
    if not np.isfinite(begin) or not np.isfinite(end) or end <= begin:
        begin, end = first, last
    running = running_on(curves, begin, end)
    return begin, max(begin, end if running else min(end, last)), running


def _track(target: int, path: Path, keys: FbxKeys, skeleton: Skeleton) -> Track | None:
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
