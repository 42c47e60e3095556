"""The soles of a character's feet: the skin that goes with them, as its joints carry it.

How high a vertex is over the ground is linear in the matrices of its joints, so that a product of matrices gives the
heights of a whole clip. Of all vertices only those are kept that are the lowest in some way a foot may be tilted and its
toes bent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import affine, quaternion
from marrow.model import Character, Skeleton
from marrow.motion.contacts import FeetShape
from marrow.motion.detached_feet import detached_feet
from marrow.motion.posture import Posture, leg_length
from marrow.motion.rig import find_rig
from marrow.motion.tall_products import pieces, tall_product

__all__ = ["Soles", "find_soles", "same_soles", "skin_under_ankles", "with_balls"]

Array = NDArray[Any]
MINE = 0.5
"""A vertex is the foot's by this share of its weight."""
AROUND, TILTS, BENDS = 12, (0, 10, 20, 35, 50, 65, 80), (-35, -15, 0, 15, 30, 50, 70)
"""A sole is looked at from so many sides, tilted by these degrees, with its toes bent by these."""
BALL, FLAT = 0.7, 0.1
"""The ball of a foot without toes is so far from the ankle to the end of its skin; none is nearer than this, in legs."""
MODELLED = 0.005
"""Skin that is under the ground at rest may be so again, down to this (metres, for a person's leg)."""
THICK = 0.3
"""No foot is so thick under its ankle, in legs."""
ALIKE = 0.1
"""Soles that reach as far but for so much of it are alike."""
PATCH = (0.01, 0.04)
"""Skin counts as under a point of a foot by a third where it is so much higher than the lowest; about so much lies around
it (metres, for a person's leg)."""
UP = np.array([0.0, 1.0, 0.0])
ALL = slice(None)


@dataclass(frozen=True, eq=False)
class SoleSkin:
    """Vertices under one foot: `joints (Q,)` carry them, `carried (4 Q, P)` is where they are in each, times its weight,
    and `ground (P,)` the height in model space that they must not go below."""

    joints: Array
    carried: Array
    ground: Array
    patches: Array
    """The mean of the skin under heel and ball, `(4 Q, 2)` as `carried`."""

    @cached_property
    def single(self) -> tuple[Array, Array]:
        """`carried` and `ground` as float32."""
        return self.carried.astype(np.float32), self.ground.astype(np.float32)

    def heights(self, model: Array) -> Array:
        """How high the vertices are over their ground, `(T, P)`, from matrices `(T, J, 3, 4)` of float32."""
        carried, ground = self.single
        return tall_product(model[:, self.joints, 1].reshape(len(model), -1), carried) - ground

    def lowest(self, model: Array, up: Array = UP) -> Array:
        """How high the lowest is over its ground along `up (3,)`, `(T,)`."""
        picked = model[:, self.joints]
        rows = picked[:, :, 1] if up is UP else np.einsum("k,tqki->tqi", up, picked)
        rows = rows.reshape(len(model), -1)
        carried, ground = self.single
        if rows.dtype != np.float32:
            carried = self.carried
        out = np.empty(len(model), rows.dtype)
        for part in pieces(len(model), carried.size):
            np.min(rows[part] @ carried - ground, axis=1, out=out[part])
        return out

    def places(self, model: Array, some: Array | slice = ALL) -> Array:
        """Where the vertices are, or some of them, `(T, P, 3)`."""
        return self._at(model, self.carried[:, some])

    def stood_on(self, model: Array) -> Array:
        """Where the skin under heel and ball is, `(T, 2, 3)`."""
        return self._at(model, self.patches)

    def _at(self, model: Array, carried: Array) -> Array:
        rows = model[:, self.joints].astype(np.float64)
        return np.stack(
            [tall_product(rows[:, :, k].reshape(len(model), -1), carried) for k in range(3)], axis=-1
        )


@dataclass(frozen=True, eq=False)
class Soles:
    """The soles of the left and the right foot; None for one without skin."""

    feet: tuple[SoleSkin | None, SoleSkin | None]

    def heights(self, model: Array, up: Array = UP) -> Array:
        """The lowest vertex of each foot over its ground along `up (3,)`, `(T, 2)`, from matrices `(T, J, 3, 4)`; infinite
        without skin."""
        out = np.full((len(model), 2), np.inf)
        for k, sole in enumerate(self.feet):
            if sole is not None:
                out[:, k] = sole.lowest(model, up)
        return out

    def places(self, model: Array, foot: int) -> Array:
        """Where the vertices of a foot are, `(T, P, 3)`; none without skin."""
        sole = self.feet[foot]
        if sole is None:
            return np.zeros((len(model), 0, 3))
        return sole.places(model)


def find_soles(
    character: Character | None, chains: Mapping[str, tuple[int, ...]], stance: Posture, ankle: float
) -> Soles | None:
    """The soles of a character that stands in `stance` with its ankles so high; None without a mesh on its feet."""
    if character is None or not character.meshes:
        return None
    skeleton = character.skeleton
    size = leg_length(skeleton.rest_model[..., 3].astype(np.float64), chains) / 0.85
    feet = {end: foot for foot, end in detached_feet(skeleton).items()}
    found = []
    for side in ("left", "right"):
        foot = chains[f"{side}_leg"][2]
        # Its own toes, whether or not they are mapped.
        toes = chains.get(f"{side}_toes", ()) or find_rig(skeleton).chains.get(f"{side}_toes", ())
        if foot in feet:  # it goes where the end of the leg goes, toes and all
            toes = ()
        found.append(_sole(character, foot, feet.get(foot, foot), toes, stance, ankle, size))
    return None if found[0] is None and found[1] is None else Soles((found[0], found[1]))


def skin_under_ankles(
    character: Character | None, chains: Mapping[str, tuple[int, ...]], stance: Posture
) -> float | None:
    """How high ankles are over the skin of their feet, in a stance that does not stand on the ground of its model; None
    without a mesh on both feet, or where that is no foot."""
    if character is None or not character.meshes:
        return None
    rest, high = character.skeleton.rest_model.astype(np.float64), []
    detached = {end: foot for foot, end in detached_feet(character.skeleton).items()}
    for side in ("left", "right"):
        foot = chains[f"{side}_leg"][2]
        members = set(character.skeleton.descendants(detached.get(foot, foot)).tolist())
        joints, carried = _vertices(character, members, foot if foot in detached else None)
        if not len(joints):
            return None
        model = rest[joints].copy()
        model[..., 3] -= rest[foot, :, 3]
        model = _turned(model, _stood(character.skeleton, foot, stance))
        at = np.stack([model[:, k].reshape(-1) @ carried for k in range(3)], axis=-1)
        high.append(-float((at @ stance.frame[:, 1]).min()))
    leg = leg_length(rest[..., 3], chains)
    return float(np.mean(high)) if min(high) > 0 and max(high) < THICK * leg else None


def _stood(skeleton: Skeleton, foot: int, stance: Posture) -> Array:
    """What turns a foot from how it rests to how it stands."""
    own = skeleton.rest_model[foot, :, :3].astype(np.float64)
    own = own / np.maximum(np.linalg.norm(own, axis=0), 1e-12)
    return np.asarray(
        quaternion.multiply(stance.rotation[foot], quaternion.conjugate(quaternion.from_matrix(own)))
    )


def same_soles(
    theirs: Soles | None,
    mine: Soles | None,
    source: Skeleton,
    target: Skeleton,
    source_chains: Mapping[str, tuple[int, ...]],
    chains: Mapping[str, tuple[int, ...]],
    ratio: float,
) -> bool:
    """Whether the soles of two bodies reach as far from their ankles, but for `ratio`, where both have some."""
    if theirs is None or mine is None:
        return mine is None
    reach = []
    for soles, skeleton, parts in ((theirs, source, source_chains), (mine, target, chains)):
        rest = skeleton.rest_model.astype(np.float64)[None]
        away = [
            np.linalg.norm(soles.places(rest, k)[0] - rest[0, parts[f"{side}_leg"][2], :, 3], axis=-1)
            for k, side in enumerate(("left", "right"))
        ]
        reach.append(max(float(a.max(initial=0.0)) for a in away))
    return abs(reach[1] - ratio * reach[0]) < ALIKE * reach[1]


def with_balls(
    shape: FeetShape,
    soles: Soles | None,
    skeleton: Skeleton,
    chains: Mapping[str, tuple[int, ...]],
    stance: Posture,
) -> FeetShape:
    """The shape of feet, where one has no joint but its ankle with the ball where its skin says it is."""
    if soles is None or shape.ball.max() > FLAT * shape.leg:
        return shape
    rest = skeleton.rest_model.astype(np.float64)
    offset, reach = shape.offset.copy(), shape.ball.copy()
    for k, side in enumerate(("left", "right")):
        foot = chains[f"{side}_leg"][2]
        skin = soles.places(rest[None], k)[0]
        if not len(skin):
            return shape
        turn = _stood(skeleton, foot, stance)
        away = quaternion.rotate(turn, skin - rest[foot, :, 3])
        far = BALL * float((away @ stance.frame[:, 2]).max())
        if far <= FLAT * shape.leg:
            return shape
        way = quaternion.rotate(quaternion.conjugate(turn), stance.frame[:, 2] * far)
        offset[k, 1] = offset[k, 0] + np.linalg.solve(rest[foot, :, :3], way)
        reach[k] = float(np.hypot(far, shape.ankle))
    return replace(shape, offset=offset, rest=np.stack([shape.rest[:, 0]] * 2, axis=1), ball=reach)


def _sole(
    character: Character,
    foot: int,
    skin: int,
    toes: tuple[int, ...],
    stance: Posture,
    ankle: float,
    size: float,
) -> SoleSkin | None:
    """Of the joint `foot`; its vertices go with the joint `skin`, which may hang elsewhere."""
    members = set(character.skeleton.descendants(skin).tolist())
    joints, carried = _vertices(character, members, None if skin == foot else foot)
    if not len(joints):
        return None
    rest = character.skeleton.rest_model.astype(np.float64)
    # The foot as it stands: it need not at rest.
    turn = _stood(character.skeleton, foot, stance)
    across = stance.frame[:, 0]
    below = character.skeleton.descendants(toes[0]) if toes else np.zeros(0, np.intp)
    picked: set[int] = set()
    ground, patches = np.zeros(carried.shape[1]), np.zeros((len(carried), 2))
    for bend in BENDS if toes else (0,):
        model = rest.copy()
        model[..., 3] -= rest[foot, :, 3]
        model = _turned(model, turn)
        if bend:
            pivot = model[toes[0], :, 3].copy()
            model[below, :, 3] -= pivot
            model[below] = _turned(model[below], quaternion.from_axis_angle(across, np.radians(-bend)))
            model[below, :, 3] += pivot
        at = np.stack([model[joints, k].reshape(-1) @ carried for k in range(3)], axis=-1)
        if not bend:
            ground = np.clip(at @ stance.frame[:, 1] + ankle, -MODELLED * size, 0.0)
            patches = carried @ _patches(
                at @ stance.frame, model[toes[0], :, 3] @ stance.frame if toes else None, size
            )
        picked |= set(np.argmin(at @ stance.frame @ _downs(), axis=0).tolist())
    kept = np.array(sorted(picked))
    return SoleSkin(joints, carried[:, kept], ground[kept], patches)


def _patches(at: Array, ball: Array | None, size: float) -> Array:
    """How much each vertex counts for what lies under heel and ball, `(P, 2)`; `at (P, 3)` are left, up and ahead of the
    ankle, `ball (3,)` is the first joint of the toes (without one, where most feet have it)."""
    ahead = BALL * at[:, 2].max() if ball is None else ball[2]
    points = np.array([[0.0, 0.0], [0.0 if ball is None else ball[0], ahead]])
    far = np.linalg.norm(at[:, None, ::2] - points, axis=-1) / (PATCH[1] * size)
    cost = 0.5 * far**2 + (at[:, 1:2] - at[:, 1].min()) / (PATCH[0] * size)
    share = np.exp(cost.min(axis=0) - cost)
    return np.asarray(share / share.sum(axis=0))


def _turned(model: Array, turn: Array) -> Array:
    matrix = quaternion.to_matrix(turn)
    return np.concatenate([matrix @ model[..., :3], (matrix @ model[..., 3, None])], axis=-1)


def _vertices(character: Character, joints: set[int], end: int | None) -> tuple[Array, Array]:
    """All vertices that go with `joints`: the joints `(Q,)` that carry any of them, and `(4 Q, P)`. Where `joints` are
    carried by the joint `end` in the end, they are taken as rigid with it."""
    rest = character.skeleton.rest_model.astype(np.float64)
    parts = []
    for mesh in character.meshes:
        mine = np.isin(mesh.joint_list, list(joints))[mesh.joints]
        picked = np.flatnonzero((mesh.weights * mine).sum(axis=1) > MINE)
        if len(picked):
            parts.append((mesh, picked))
    if not parts:
        return np.zeros(0, np.intp), np.zeros((0, 0))
    used: set[int] = set()
    for mesh, picked in parts:
        used |= set(mesh.joint_list[mesh.joints[picked]][mesh.weights[picked] > 0].tolist())
    carriers = sorted(used if end is None else (used - joints) | {end})
    at = {j: k for k, j in enumerate(carriers)}
    columns = []
    for mesh, picked in parts:
        place = mesh.positions[picked].astype(np.float64)
        out = np.zeros((len(carriers), 4, len(picked)))
        for k in range(mesh.joints.shape[1]):
            local, weight = mesh.joints[picked, k], mesh.weights[picked, k].astype(np.float64)
            bind = mesh.inverse_bind[local].astype(np.float64)
            known = mesh.joint_list[local]
            if end is not None:
                moved = np.isin(known, list(joints))
                along = affine.multiply(affine.invert(rest[end]), rest[known])
                bind = np.where(moved[:, None, None], affine.multiply(along, bind), bind)
                known = np.where(moved, end, known)
            seen = np.einsum("vij,vj->vi", bind[..., :3], place) + bind[..., 3]
            held = np.flatnonzero(weight > 0)
            rows = np.array([at[int(j)] for j in known[held]], np.intp)
            # A vertex may name a joint twice, but not in one column.
            out[rows, :3, held] += weight[held, None] * seen[held]
            out[rows, 3, held] += weight[held]
        columns.append(out.reshape(4 * len(carriers), -1))
    return np.array(carriers, np.intp), np.concatenate(columns, axis=1)


def _downs() -> Array:
    """Directions `(3, n)` that may be down for a foot."""
    angle, tilt = (
        v.ravel() for v in np.meshgrid(np.arange(AROUND) * (2 * np.pi / AROUND), np.radians(TILTS))
    )
    return np.stack([np.sin(angle) * np.sin(tilt), np.cos(tilt), np.cos(angle) * np.sin(tilt)])
