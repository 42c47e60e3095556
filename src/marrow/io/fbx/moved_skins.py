"""Skinned meshes that move away from where they were bound, as Maya deforms them.

A Maya skin works in the space of its mesh: what the joints make of it is moved once more by the mesh's own node,
`N(t) B^-1 J(t) I` with the node `N`, its matrix `B` when it was bound, the joint `J` and its inverse bind matrix
`I`. (3ds Max, and every skin whose node stays where it was bound, have `N = B`.) Here `N B^-1 J` is a joint of its
own below the mesh's node, with the motion that follows from the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import affine, transform
from marrow.model import Character, Clip, Pose, Skeleton, Track
from marrow.report import ReportBuilder

__all__ = ["with_moved_skins"]

Array = NDArray[Any]
_SAMPLES_PER_FRAME = 4
_MAX_SAMPLES = 100_000


def with_moved_skins(character: Character, bound_at: dict[int, Array]) -> Character:
    """The character with the skins of those meshes (numbers, with `B (3, 4)`) that move with their nodes."""
    moved = {i: b for i, b in bound_at.items() if np.isfinite(affine.invert(b)).all()}
    if not moved:
        return character
    skeleton = character.skeleton
    rest = skeleton.to_model(skeleton.rest).astype(np.float64)
    made = _Joints(skeleton, rest)
    meshes = list(character.meshes)
    for i, bind in moved.items():
        mesh = meshes[i]
        joints = [made.joint(mesh.node, int(j), affine.invert(bind)) for j in mesh.joint_list]
        meshes[i] = mesh.replace(joint_list=np.array(joints, np.int32))
    new = made.skeleton()
    clips = tuple(made.clip(clip, new) for clip in character.clips.values())
    report = ReportBuilder()
    report.extend(character.report)
    names = ", ".join(repr(meshes[i].name) for i in list(moved)[:5])
    report.add("info", "skins", f"{names} move with their own node on top of their joints, as in Maya")
    return character.replace(skeleton=new, meshes=tuple(meshes), clips=clips, report=report.build())


def _ancestors(skeleton: Skeleton, joint: int) -> set[int]:
    found = set()
    while joint >= 0:
        found.add(joint)
        joint = int(skeleton.parents[joint])
    return found


class _Joints:
    """The joints that are added, each once for a node, a joint and a binding."""

    def __init__(self, skeleton: Skeleton, rest: Array) -> None:
        self._old, self._rest = skeleton, rest
        self._known: dict[tuple[int, int, bytes], int] = {}
        self._added: list[tuple[int, int, Array]] = []  # the node, the joint it follows, B^-1

    def joint(self, node: int, follows: int, unbind: Array) -> int:
        key = (node, follows, unbind.tobytes())
        if key not in self._known:
            self._known[key] = len(self._old) + len(self._added)
            self._added.append((node, follows, unbind))
        return self._known[key]

    def skeleton(self) -> Skeleton:
        old = self._old
        local = [transform.decompose(affine.multiply(u, self._rest[j])) for _, j, u in self._added]
        names = [f"{old.names[j]}_on_{old.names[n]}" for n, j, _ in self._added]
        rest = Pose(
            np.concatenate([old.rest.translation, [t for t, _, _ in local]]),
            np.concatenate([old.rest.rotation, [r for _, r, _ in local]]),
            np.concatenate([old.rest.scale, [s for _, _, s in local]]),
            old.rest.morphs,
        )
        parents = np.concatenate([old.parents, [n for n, _, _ in self._added]]).astype(np.int32)
        return Skeleton(
            (*old.names, *names), parents, rest, old.morph_names, old.sockets, old.bones, old.hinges
        )

    def clip(self, clip: Clip, new: Skeleton) -> Clip:
        """The clip with tracks for the added joints: where the joints they follow go."""
        tracks = list(clip.tracks)
        times = self._moments(clip)
        if len(times):
            model = self._old.to_model(clip.sample(times)).astype(np.float64)
            for k, (_, follows, unbind) in enumerate(self._added):
                t, r, s = transform.decompose(affine.multiply(unbind, model[:, follows]))
                flips = np.cumprod(np.where((r[1:] * r[:-1]).sum(1) < 0, -1.0, 1.0))
                r[1:] *= flips[:, None]
                for path, values in (("translation", t), ("rotation", r), ("scale", s)):
                    tracks.append(Track(len(self._old) + k, path, times, values))  # type: ignore[arg-type]
        return clip.replace(skeleton=new, tracks=tuple(tracks))

    def _moments(self, clip: Clip) -> Array:
        """The keys of all joints that are followed, and moments between them: a product of turns bends."""
        above = set().union(*(_ancestors(self._old, j) for _, j, _ in self._added))
        keys = [t.times for t in clip.tracks if t.path != "morph" and t.target in above]
        if not keys:
            return np.zeros(0, np.float32)
        count = min(int(clip.duration * (clip.rate or 30.0) * _SAMPLES_PER_FRAME) + 1, _MAX_SAMPLES)
        between = np.linspace(0, clip.duration, max(count, 2), dtype=np.float32)
        return np.unique(np.concatenate([*keys, between])).astype(np.float32)
