"""Surfaces whose every vertex is stored for every moment (geometry caches, sampled points), as morphs.

The first moment is the mesh, each other one a morph target; all are in-betweens of one channel, and a track runs through
them. So a cache is played, blended, exported and shown as everything else is, straight from one stored moment to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import affine
from marrow.model import Character, Clip, Mesh, MorphTarget, Skeleton, Track
from marrow.model._validate import owned
from marrow.report import ReportBuilder

__all__ = ["MAX_BYTES", "VertexMotion", "with_vertex_motion"]

Array = NDArray[Any]
MAX_BYTES = 512 << 20


@dataclass(frozen=True)
class VertexMotion:
    """Where the vertices of a mesh are, `points (S, V, 3)` in the space of its node, at `times (S,)` in seconds."""

    mesh: int
    times: Array
    points: Array


def with_vertex_motion(
    character: Character, motions: Sequence[VertexMotion], *, name: str = "cache"
) -> Character:
    """The character with those meshes moved so: they follow their nodes, and no joints or morphs any more.

    Every clip gets the motion; where there is none, one called `name` is made. Stored moments beyond a limit of memory
    are thinned out, and the report says so.
    """
    if not motions:
        return character
    report = ReportBuilder()
    report.extend(character.report)
    stride = _stride(character, motions, report)
    meshes, channels = list(character.meshes), []
    names = list(character.skeleton.morph_names)
    for motion in motions:
        mesh = meshes[motion.mesh]
        channel = f"{mesh.name}_cache"
        channels.append((len(names), motion.times[::stride]))
        meshes[motion.mesh] = _mesh(mesh, channel, len(names), motion.points[::stride])
        names.append(channel)
        count = len(channels[-1][1])
        report.add(
            "info", f"mesh {mesh.name!r}", f"its geometry cache of {count} moments is the morph {channel!r}"
        )
    old = character.skeleton
    rest = old.rest.replace(morphs=np.concatenate([old.rest.morphs, np.zeros(len(channels), np.float32)]))
    skeleton: Skeleton = replace(old, rest=rest, morph_names=tuple(names))
    clips = [clip.replace(skeleton=skeleton) for clip in character.clips.values()]
    if not clips:
        first = min(float(times[0]) for _, times in channels)
        clips = [Clip(name, skeleton, start=first)]
    clips = [_moved(clip, channels) for clip in clips]
    return character.replace(skeleton=skeleton, meshes=tuple(meshes), clips=clips, report=report.build())


def _stride(character: Character, motions: Sequence[VertexMotion], report: ReportBuilder) -> int:
    # Positions and normals of every moment.
    size = sum(2 * 12 * m.points.shape[0] * m.points.shape[1] for m in motions)
    stride = -(-size // MAX_BYTES)
    if stride > 1:
        report.add(
            "warning",
            "geometry caches",
            f"they have {size >> 20} MiB; one moment of {stride} is kept, so that they fit {MAX_BYTES >> 20} MiB",
        )
    return max(stride, 1)


def _mesh(mesh: Mesh, name: str, channel: int, points: Array) -> Mesh:
    V = mesh.vertex_count
    first = np.asarray(points[0], np.float32)
    base = None if mesh.normals is None else _normals(first, mesh.triangles)
    targets = []
    for k in range(1, len(points)):
        at = np.asarray(points[k], np.float32)
        turned = None if base is None else owned(_normals(at, mesh.triangles) - base)
        targets.append(MorphTarget(f"{name}_{k}", channel, owned(at - first), turned, full_weight=float(k)))
    return mesh.replace(
        positions=owned(first.copy()),
        morph_targets=tuple(targets),
        joints=owned(np.zeros((V, 1), np.uint16)),
        weights=owned(np.ones((V, 1), np.float32)),
        joint_list=owned(np.array([max(mesh.node, 0)], np.int32)),
        inverse_bind=owned(affine.identity((1,))),
        skinning="linear",
        dual_quaternion_weights=None,
    )


def _normals(points: Array, triangles: Array) -> Array:
    """Smooth normals: of vertices that share a place and a triangle; where the file splits a vertex, edges stay hard."""
    a, b, c = (points[triangles[:, i]].astype(np.float64) for i in range(3))
    faces = np.cross(b - a, c - a)
    out = np.zeros((len(points), 3))
    for i in range(3):
        np.add.at(out, triangles[:, i], faces)
    length = np.linalg.norm(out, axis=1, keepdims=True)
    return (out / np.where(length > 0, length, 1)).astype(np.float32)


def _moved(clip: Clip, channels: Sequence[tuple[int, Array]]) -> Clip:
    """The clip with a track for each channel, which counts the stored moments."""
    tracks, last = list(clip.tracks), clip.duration
    for channel, times in channels:
        own = np.asarray(times, np.float64) - clip.start
        numbers = np.arange(len(own), dtype=np.float64)
        inside = own >= 0
        if not inside.all():  # the clip begins within the cache
            numbers = np.append(np.interp(0.0, own, numbers), numbers[inside])
            own = np.append(0.0, own[inside])
        if len(own):
            tracks.append(Track(channel, "morph", own, numbers[:, None]))
            last = max(last, float(own[-1]))
    return clip.replace(tracks=tuple(tracks), duration=last)
