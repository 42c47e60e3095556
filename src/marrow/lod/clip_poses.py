"""The poses a character takes in its clips: candidates from all of them, and a few that differ most."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.frame_budget import MAX_JOINT_FRAMES
from marrow.errors import ValidationError
from marrow.math.transform import nearest_rotation
from marrow.model import Character, Mesh, Pose
from marrow.printing import warn
from marrow.skinning import skin

__all__ = ["ClipPoses", "at_rest", "cut_pose", "joined_poses", "posed", "with_area"]

Array = NDArray[Any]
RATE = 30.0
"""Candidates a second of a clip."""
MOST = 600
"""Candidates of all clips together, and two at least of a clip."""
FLAT = 1e-14
"""Triangles of less area than this, as a part of the square of the body's size, show nothing."""
PROBES = 600
"""Vertices that poses are compared by."""


def joined_poses(poses: list[Pose]) -> Pose:
    """Batches of poses end to end."""
    return Pose(
        *(
            np.concatenate([getattr(p, k) for p in poses])
            for k in ("translation", "rotation", "scale", "morphs")
        )
    )


def cut_pose(pose: Pose, joints: int) -> Pose:
    """The pose of a level with the first `joints` joints."""
    return Pose(
        pose.translation[..., :joints, :],
        pose.rotation[..., :joints, :],
        pose.scale[..., :joints, :],
        pose.morphs,
    )


def posed(character: Character, poses: Pose) -> Array:
    """Where the vertices of all meshes are, `(F, V, 3)` float32."""
    return skin(character, poses, normals=False, tangents=False, threads=None).positions


def at_rest(character: Character) -> Array:
    """Where the vertices are in the rest pose, `(V, 3)`."""
    return posed(character, character.skeleton.rest)


def with_area(triangles: Array, forms: list[Array]) -> Array:
    """The numbers of the triangles `(F, 3)` that have an area in some of the forms `(V, 3)`; of all where none has."""
    found = np.zeros(len(triangles), bool)
    for form in forms:
        a, b, c = (form[triangles[:, k]].astype(np.float64) for k in range(3))
        size = max(float(np.ptp(form[triangles].reshape(-1, 3), axis=0).max(initial=0.0)), 1e-30)
        found |= np.linalg.norm(np.cross(b - a, c - a), axis=1) > FLAT * size**2
    return np.flatnonzero(found) if found.any() else np.arange(len(found))


class ClipPoses:
    """The candidates `poses (F,)` of a character: its rest pose first, then its clips at even times. Additive clips are
    changes to other poses and are left out."""

    def __init__(self, character: Character, *, clips: bool = True) -> None:
        rest = character.skeleton.rest.broadcast_to((1,))
        batches, sources, moments = [rest], [np.zeros(1, np.int64)], [np.zeros(1)]
        moving = [c for c in character.clips.values() if not c.additive and len(c.tracks)] if clips else []
        # Of very many clips, some at even places in their order.
        most = max(4, min(MOST, MAX_JOINT_FRAMES // max(len(character.skeleton), 1)))
        if len(moving) > most // 2:
            some = moving[:: -(-len(moving) // (most // 2))]
            warn(f"lod.build: poses of {len(some)} of {len(moving)} clips are looked at")
            moving = some
        seconds = sum(c.duration for c in moving)
        rate = min(RATE, most / seconds) if seconds > 0 else RATE
        for k, clip in enumerate(moving):
            count = max(2, round(clip.duration * rate) + 1)
            batches.append(clip.sample(np.linspace(0, clip.duration, count)))
            sources.append(np.full(count, k + 1))
            moments.append(np.linspace(0, clip.duration, count))
        self.poses, self._moving = joined_poses(batches), moving
        self.clip, self.time = np.concatenate(sources), np.concatenate(moments)
        """Which clip each pose is of, counted from 1, and when; 0 is the rest pose."""
        self.apart = _distances(_aligned(posed(_probe(character), self.poses)))
        """How far the surface is apart between any two candidates (root mean square after moving one onto the
        other)."""
        fine = np.isfinite(np.diag(self.apart))
        if not fine[0]:
            raise ValidationError(
                "lod.build: the rest pose puts vertices where no number is; see `marrow check`"
            )
        if not fine.all():  # a clip that leads nowhere does not count
            self.poses, self.apart = self.poses[fine], self.apart[fine][:, fine]
            self.clip, self.time = self.clip[fine], self.time[fine]

    def __len__(self) -> int:
        return len(self.clip)

    def around(self, pose: int, count: int) -> Pose | None:
        """`count` poses of the same clip between the candidates before and after one; None for the rest pose."""
        k = int(self.clip[pose])
        if k == 0:
            return None
        times = self.time[self.clip == k]
        at = int(np.flatnonzero(times == self.time[pose])[0])
        low, high = times[max(at - 1, 0)], times[min(at + 1, len(times) - 1)]
        return self._moving[k - 1].sample(np.linspace(low, high, count + 2)[1:-1])

    def diverse(self, count: int) -> Array:
        """The numbers of `count` candidates, each as far as can be from those before it; the rest pose first."""
        chosen = [0]
        nearest = self.apart[0].copy()
        while len(chosen) < min(count, len(self)):
            k = int(nearest.argmax())
            if nearest[k] <= 0:
                break
            chosen.append(k)
            nearest = np.minimum(nearest, self.apart[k])
        return np.array(chosen)


def _probe(character: Character) -> Character:
    """The character with some of its vertices and no triangles."""
    step = max(1, character.vertex_count // PROBES)
    meshes = tuple(_some_vertices(m, np.arange(0, m.vertex_count, step)) for m in character.meshes)
    return character.replace(meshes=meshes, reduced=())


def _some_vertices(mesh: Mesh, rows: Array) -> Mesh:
    return Mesh(
        mesh.name,
        mesh.positions[rows],
        np.zeros((0, 3), np.uint32),
        mesh.joints[rows],
        mesh.weights[rows],
        mesh.joint_list,
        mesh.inverse_bind,
    )


def _aligned(points: Array) -> Array:
    """Point sets `(F, V, 3)`, each turned and moved onto the first (Kabsch), as `(F, 3 V)` float64."""
    p = points.astype(np.float64)
    p -= p.mean(axis=1, keepdims=True) if p.shape[1] else 0
    with np.errstate(invalid="ignore", over="ignore"):
        cross = np.einsum("fvi,vj->fij", p, p[0])
    good = np.isfinite(cross).all(axis=(1, 2))
    out = p @ nearest_rotation(np.where(good[:, None, None], cross, np.eye(3)))
    out[~good] = np.nan
    return out.reshape(len(p), -1)


def _distances(rows: Array) -> Array:
    """Root mean square distances between rows, `(F, F)`; NaN for those that are not finite."""
    square = (rows * rows).sum(axis=1)
    between = square[:, None] + square[None] - 2 * (rows @ rows.T)
    return np.sqrt(np.maximum(between, 0) / max(1, rows.shape[1] // 3))
