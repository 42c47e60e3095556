"""The soles of a character's feet, found in its mesh: a foot may reach further than its joints do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import affine, transform
from marrow.model import Character, Mesh
from marrow.motion.detached_feet import detached_feet
from marrow.motion.posture import Posture, leg_length
from marrow.motion.rig import find_rig

__all__ = ["Soles", "find_soles"]

Array = NDArray[Any]
MINE, AROUND, TILTS = 0.6, 8, (15, 40, 65)
"""A vertex is the foot's by this share of its weight; a sole is looked at from so many sides, tilted by these degrees."""

UP = np.array([0.0, 1.0, 0.0])


@dataclass(frozen=True, eq=False)
class Soles:
    """Points under both feet: each is rigid with the joint `joint (P,)`, at `offset (P, 3)` in its frame; `foot (P,)` is 0
    for the left, and `ground (P,)` the height in model space that it must not go below."""

    joint: Array
    offset: Array
    foot: Array
    ground: Array

    def heights(self, model: Array, up: Array = UP) -> Array:
        """The lowest point of each foot over its ground along `up (3,)`, `(T, 2)`, from matrices `(T, J, 3, 4)`; infinite
        without points."""
        at = np.einsum("k,tpki->tpi", up, model[:, self.joint].astype(np.float64))
        height = np.einsum("tpi,pi->tp", at[..., :3], self.offset) + at[..., 3] - self.ground
        return np.stack([height[:, self.foot == k].min(axis=1, initial=np.inf) for k in (0, 1)], axis=1)


def find_soles(
    character: Character | None, chains: Mapping[str, tuple[int, ...]], stance: Posture, ankle: float
) -> Soles | None:
    """The soles of a character that stands in `stance` with its ankles so high; None without a mesh on its feet."""
    if character is None or not character.meshes:
        return None
    skeleton = character.skeleton
    size = leg_length(skeleton.rest_model[..., 3].astype(np.float64), chains) / max(
        leg_length(stance.place, chains), 1e-12
    )
    rest = skeleton.rest_model.astype(np.float64)
    if stance.of == "motion":
        rest = transform.compose(stance.place, stance.rotation, np.ones_like(stance.place))
    feet = {end: foot for foot, end in detached_feet(skeleton).items()}
    parts: list[tuple[int, Array, int, Array]] = []
    for k, side in enumerate(("left", "right")):
        foot = chains[f"{side}_leg"][2]
        # Its own toes, whether or not they are mapped.
        toes = chains.get(f"{side}_toes", ()) or find_rig(skeleton).chains.get(f"{side}_toes", ())
        carriers = (feet.get(foot, foot), *toes[:1])
        below = [set(skeleton.descendants(j).tolist()) for j in carriers]
        for carrier, mine in zip(carriers, (below[0] - (below[1] if toes else set()), *below[1:])):
            points = [_points(mesh, mine, below[0], stance, rest) for mesh in character.meshes]
            at = np.concatenate([p for p in points if len(p)]) if any(map(len, points)) else np.zeros((0, 3))
            picked = _under(at, stance.frame)
            height = ((at[picked] - stance.place[foot]) * size) @ stance.frame[:, 1] + ankle
            model = _bound(character, carrier) if stance.of == "bind pose" else rest[carrier]
            if not len(picked) or model is None:
                continue
            offset = affine.apply(affine.invert(model), at[picked])
            parts.append((carrier, offset, k, np.minimum(height, 0.0)))
    if not parts:
        return None
    return Soles(
        np.concatenate([np.full(len(o), j) for j, o, _, _ in parts]),
        np.concatenate([o for _, o, _, _ in parts]),
        np.concatenate([np.full(len(o), k) for _, o, k, _ in parts]),
        np.concatenate([g for *_, g in parts]),
    )


def _bound(character: Character, joint: int) -> Array | None:
    """The matrix of a joint when the meshes were bound; None where none knows it."""
    for mesh in character.meshes:
        known = np.flatnonzero(mesh.joint_list == joint)
        if len(known) and mesh.rigid_joint is None:
            return affine.invert(mesh.inverse_bind[known[0]].astype(np.float64))
    return None


def _points(mesh: Mesh, joints: set[int], whole: set[int], stance: Posture, rest: Array) -> Array:
    """The vertices `(n, 3)` of `mesh` that go with `joints`, a part of the foot `whole`, as they are in `stance`."""
    mine, foot = (np.isin(mesh.joint_list, list(wanted))[mesh.joints] for wanted in (joints, whole))
    share, all_of_it = (mesh.weights * mine).sum(axis=1), (mesh.weights * foot).sum(axis=1)
    picked = np.flatnonzero((all_of_it > MINE) & (share > all_of_it / 2))
    at = mesh.positions[picked].astype(np.float64)
    if stance.of == "bind pose" or not len(picked):
        return at
    local = mesh.joints[picked, np.argmax(mesh.weights[picked] * mine[picked], axis=1)]
    carried = affine.multiply(rest[mesh.joint_list[local]], mesh.inverse_bind[local].astype(np.float64))
    return np.einsum("nij,nj->ni", carried[..., :3], at) + carried[..., 3]


def _under(at: Array, frame: Array) -> Array:
    """Indices of points around the underside of a foot or of its toes: the lowest of each way it may be tilted."""
    if not len(at):
        return np.zeros(0, np.intp)
    angle, tilt = (
        v.ravel() for v in np.meshgrid(np.arange(AROUND) * (2 * np.pi / AROUND), np.radians(TILTS))
    )
    ways = np.stack([np.sin(angle) * np.sin(tilt), -np.cos(tilt), np.cos(angle) * np.sin(tilt)])
    return np.unique(np.argmax(at @ frame @ ways, axis=0))
