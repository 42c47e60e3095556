"""Animation stacks as clips: as ufbx baked them, cut to the stack's range, begun at zero. The keys of all tracks of a stack
are worked on at once (`keys`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.clips import free_name
from marrow.io.fbx.cameras import Attributes, attribute_curves
from marrow.io.fbx.keyed_properties import ATTRIBUTES, MIN_RATE, SHOWN, TRANSFORMS
from marrow.io.fbx.keys import CutKeys, FbxKeys, cut, finite_keys
from marrow.io.fbx.plain_scene import PlainScene, PlainStack
from marrow.io.fbx.properties import property_curves, visibility_curves
from marrow.io.fbx.rotation_space import turned
from marrow.io.fbx.unkeyed import Unkeyed, read_unkeyed, swung
from marrow.math import quaternion
from marrow.model import Clip, Skeleton, Tracks
from marrow.model._validate import owned
from marrow.model.clip import INTERPOLATIONS, PATH_WIDTH, PATHS, TRACK_DTYPE, Path
from marrow.report import ReportBuilder

__all__ = ["read_clips"]

Array = NDArray[Any]
Channels = dict[tuple[int, str], int]
"""The morph channel that a property (of an element by its ufbx number) drives."""
Found = list[tuple[int, Path, FbxKeys]]


def read_clips(
    scene: PlainScene,
    skeleton: Skeleton,
    joint_of: dict[int, int],
    channel_of: Channels,
    rate: float | None,
    report: ReportBuilder,
    attributes: Attributes,
) -> list[Clip]:
    """A clip for every stack that moves something; the others are reported."""
    document = scene.document
    scene_rate = document.rate if document.rate is not None and 1 <= document.rate <= 1000 else MIN_RATE
    nodes = {node.element for node in document.nodes}
    own = {(element, name): width for element, name, width in document.own}
    clips: list[Clip] = []
    taken: set[str] = set()
    for i, stack in enumerate(document.stacks):
        name = stack.name or f"clip_{i}"
        place = f"animation {name!r}"
        kept = (*TRANSFORMS, SHOWN)
        moved = any(element in nodes and prop in kept for element, prop in stack.keyed)
        lit = any(element in attributes.owners and prop in ATTRIBUTES for element, prop in stack.keyed)
        if not moved and not lit and not set(stack.keyed) & (channel_of.keys() | own.keys()):
            # Exporters write an empty take for nothing.
            if stack.keyed:
                report.add("dropped", place, "it moves no joint, no morph and no property; left out")
            continue
        unique = free_name(name, taken)
        clip = _read_stack(
            unique, scene, stack, skeleton, joint_of, channel_of, own, rate, rate or scene_rate, attributes
        )
        if unique != name:
            report.add("repaired", place, f"another clip has this name; this one is called {unique!r}")
        taken.add(unique)
        clips.append(clip)
    return clips


def _read_stack(
    name: str,
    scene: PlainScene,
    stack: PlainStack,
    skeleton: Skeleton,
    joint_of: dict[int, int],
    channel_of: Channels,
    own: dict[tuple[int, str], int],
    rate: float | None,
    clip_rate: float,
    attributes: Attributes,
) -> Clip:
    begin, end = stack.begin, stack.end
    found = [*_sampled_nodes(scene, stack, joint_of), *_baked_nodes(scene, stack, joint_of)]
    found += [(channel, "morph", keys) for channel, keys in _morphs(scene, stack, channel_of).items()]
    others = visibility_curves(scene, stack, skeleton, joint_of)
    others += property_curves(scene, stack, own)
    others += attribute_curves(scene, stack, attributes)
    duration = float(np.float32(end - begin))
    tracks = _tracks(found, begin, end, rate, skeleton)
    return Clip(name, skeleton, tracks, duration, start=begin, curves=others, rate=clip_rate)


def _sampled_nodes(scene: PlainScene, stack: PlainStack, joint_of: dict[int, int]) -> Found:
    """Nodes that move beyond their keys."""
    found: Found = []
    for node, moments, rows in stack.sampled:
        if node in joint_of:
            times, table = scene.reals(moments), scene.reals(rows, 10)
            table = np.where(np.isfinite(table), table, 0)
            parts: tuple[tuple[Path, Array], ...] = (
                ("translation", table[:, :3]),
                ("rotation", table[:, 3:7]),
                ("scale", table[:, 7:]),
            )
            found += [(joint_of[node], path, FbxKeys(times, values)) for path, values in parts]
    return found


def _baked_nodes(scene: PlainScene, stack: PlainStack, joint_of: dict[int, int]) -> Found:
    found: Found = []
    unkeyed = read_unkeyed(scene, stack)
    for node, *blocks in stack.nodes:
        joint = joint_of.get(node)
        if joint is None:
            continue
        keys: dict[Path, FbxKeys] = {}
        still = unkeyed.still.get(node, ())
        paths: tuple[Path, ...] = ("translation", "rotation", "scale")
        for path, block in zip(paths, blocks):
            if path not in still:
                table = scene.keys(block, 4 if path == "rotation" else 3)
                keys[path] = FbxKeys(table["time"], table["value"])
        if len(blocks) > 3:
            angles = scene.reals(blocks[3], 3)
            rotation = keys["rotation"]
            good = np.isfinite(rotation.times) & np.isfinite(rotation.values).all(1)
            values = turned(scene, scene.document.nodes[node], angles[good])
            keys["rotation"] = FbxKeys(rotation.times[good], values)
        if node in unkeyed.swinging:
            keys["translation"] = _swung(unkeyed, node, keys, stack.step)
        found += [(joint, path, k) for path, k in keys.items()]
    return found


def _swung(unkeyed: Unkeyed, node: int, keys: dict[Path, FbxKeys], step: float) -> FbxKeys:
    rotation = finite_keys(keys["rotation"])
    scale = finite_keys(keys["scale"]) if "scale" in keys else None
    return swung(unkeyed.swinging[node], rotation, scale, step)


def _morphs(scene: PlainScene, stack: PlainStack, channel_of: Channels) -> dict[int, FbxKeys]:
    """Weights by their channel. Blender keys a shape twice, on the mesh and on the deformer: one track is enough."""
    weights: dict[int, FbxKeys] = {}
    for element, name, block, sampled in stack.properties:
        channel = channel_of.get((element, name))
        if channel is None:
            continue
        if sampled >= 0:
            times, percent = scene.reals(sampled).reshape(2, -1)
            weights[channel] = FbxKeys(times, np.nan_to_num(percent)[:, None] / 100)
        else:
            # A value has three numbers, of which a morph has the first: all must be finite.
            table = scene.keys(block, 3)
            percent_keys = finite_keys(FbxKeys(table["time"], table["value"]))
            weights[channel] = FbxKeys(percent_keys.times, percent_keys.values[:, :1] / 100)
    return weights


def _tracks(found: Found, begin: float, end: float, rate: float | None, skeleton: Skeleton) -> Tracks:
    """All keys as tracks, but those that say no more than the rest pose does."""
    rows: dict[int, tuple[Array, Array]] = {}
    for width in sorted(set(PATH_WIDTH)):
        group = [i for i, (_, path, _) in enumerate(found) if PATH_WIDTH[PATHS.index(path)] == width]
        if group:
            keys = cut([found[i][2] for i in group], begin, end, width == 4, rate)
            rest = np.stack([_at_rest(skeleton, *found[i][:2]) for i in group])
            made = _singles(keys, rest, width == 4)
            rows.update((i, row) for i, row in zip(group, made) if row is not None)
    table = np.zeros(len(rows), TRACK_DTYPE)
    order = sorted(rows)
    if not order:
        return Tracks(table, np.zeros(0, np.float32), np.zeros(0, np.float32))
    table["target"] = [found[i][0] for i in order]
    table["path"] = [PATHS.index(found[i][1]) for i in order]
    table["interpolation"] = INTERPOLATIONS.index("linear")
    table["keys"] = [len(rows[i][0]) for i in order]
    table["time_start"][1:] = np.cumsum(table["keys"], dtype=np.int64)[:-1]
    table["value_start"][1:] = np.cumsum([rows[i][1].size for i in order])[:-1]
    times = np.concatenate([rows[i][0] for i in order])
    values = np.concatenate([rows[i][1].ravel() for i in order])
    return Tracks(owned(table), owned(times), owned(values))


def _at_rest(skeleton: Skeleton, target: int, path: Path) -> Array:
    rest = skeleton.rest.morphs if path == "morph" else getattr(skeleton.rest, path)
    return np.atleast_1d(rest[target])


def _singles(keys: CutKeys, rest: Array, rotation: bool) -> list[tuple[Array, Array] | None]:
    """Times and values of every track as float32; None for one that has no keys or stays at `rest (tracks, C)`. One that
    stays elsewhere has one key."""
    counts, starts = keys.counts, keys.starts
    of = np.repeat(np.arange(len(counts)), counts)
    values = _continuous(quaternion.normalize(keys.values), starts, of) if rotation else keys.values
    single, times = values.astype(np.float32), keys.times.astype(np.float32)
    begins = np.minimum(starts, max(len(single) - 1, 0))
    moving = np.bincount(of, (single != single[begins][of]).any(1), len(counts)) > 0
    differs = (single[begins] != rest).any(1) if len(single) else np.zeros(len(counts), bool)
    falling = np.flatnonzero((np.diff(times) <= 0) & (of[1:] == of[:-1]))
    for i in falling[::-1]:  # of two keys at one moment (a step) the first moves back by the least there is
        times[i] = np.nextafter(times[i + 1], np.float32(-1))
    out: list[tuple[Array, Array] | None] = []
    zero = np.zeros(1, np.float32)
    for a, n, moves, off in zip(starts.tolist(), counts.tolist(), moving.tolist(), differs.tolist()):
        if moves:
            out.append((times[a : a + n], single[a : a + n]))
        else:
            out.append((zero, single[a : a + 1]) if n and off else None)
    return out


def _continuous(values: Array, starts: Array, of: Array) -> Array:
    """Quaternions of many tracks, each turned to the side of the one before it."""
    if not len(values):
        return values
    flips = np.zeros(len(values), np.int64)
    flips[1:] = ((values[1:] * values[:-1]).sum(1) < 0) & (of[1:] == of[:-1])
    turns = np.cumsum(flips)
    turns -= turns[np.minimum(starts, len(values) - 1)][of]
    return np.where((turns & 1)[:, None] == 1, -values, values)
