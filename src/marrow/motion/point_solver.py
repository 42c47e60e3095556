"""Rotations of a skeleton from the places of points on it, for all frames of a recording at once.

A start is found in closed form, parents first: joints that carry two or more points that are not in line with them (hips,
chest, head, feet with heels) turn as these do; others turn the shortest way to where their point is. What that leaves open,
the roll, is shared out along a spine between the frames of hips and chest, and is told in arms and legs by the plane they
bend in; where a limb is straight, by the moments around. Then the solver of `marrow.ik` brings all points as near to
their places as the lengths of bones allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError
from marrow.ik import Effector, Solver
from marrow.kernels.ik import work as layout
from marrow.math import quaternion
from marrow.model import Pose, Skeleton, _validate
from marrow.motion import rotation_rows as rows
from marrow.motion.facing import ahead_of

__all__ = ["PointOn", "PointSolver", "SolvedPoints"]

Array = NDArray[Any]
STEPS = 4
BLOCK = 4096
FLAT = 0.12
"""Points whose second extent is less than this share of the first are in line."""
NEAR = 1e-3
"""Joints nearer to each other than this share of the body are in one place."""
MIRRORED = 0.3
"""Points that are mirror images of each other up to this share of their distance are a left and a right one."""
AROUND, STRAIGHT, SECONDS = 0.05, 0.003, 0.15
"""How much the bends of the moments around count against a moment's own, how much the shortest turn does, and how long
these moments are."""
BACK = 0.07
"""Squares of sines of bends against the usual way up to which they are bends back, as of a knee that is pressed through;
beyond, the limb is rolled."""
ALIKE = 0.8
"""A bend at rest tells the axis of a knee or an elbow where the cosine of the angle to the usual one is larger: legs that
are knock-kneed bend sideways at rest and not when they walk."""
_LIMBS = {"Arm": ("UpperArm", "LowerArm", "Hand", 1.0), "Leg": ("UpperLeg", "LowerLeg", "Foot", -1.0)}


@dataclass(frozen=True)
class PointOn:
    """A point that is rigid with a joint: `offset (3,)` in the joint's frame."""

    joint: str | int
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class SolvedPoints:
    """Poses `(T,)`, and how far each point stays from its place `(T, P)`."""

    pose: Pose
    distance: Array


@dataclass(eq=False)
class _Turn:
    """How a joint turns: by two directions made of its points (`frame`), by one (`aim`), or with its parent."""

    points: Array
    along: Array | None = None
    aside: Array | None = None
    rest: Array | None = None
    hinge: tuple[int, int, Array] | None = None
    share: tuple[int, int] | None = None
    """The joint below whose roll is shared, and how many joints share what is left of it."""
    loose: bool = False
    """Its frame is told by points behind joints of their own (a chest by its shoulders): their line counts, and not
    how far they lean."""


class PointSolver:
    """Finds poses of `skeleton` from the places of `points`: joints (their origins) or `PointOn`."""

    def __init__(self, skeleton: Skeleton, points: Sequence[str | int | PointOn]) -> None:
        self.skeleton = skeleton
        self.points = tuple(p if isinstance(p, PointOn) else PointOn(p) for p in points)
        if not self.points:
            raise ValidationError("PointSolver.points: expected at least one")
        self._joint = [skeleton.index(p.joint) for p in self.points]
        self._offset = np.array([p.offset for p in self.points], np.float64)
        self._own = {j: p for p, j in reversed(list(enumerate(self._joint))) if not self._offset[p].any()}
        effectors = [
            Effector(j, point=p.offset, name=str(k)) for k, (j, p) in enumerate(zip(self._joint, self.points))
        ]
        self.solver = Solver(skeleton, effectors, steps=STEPS)
        self.mover = self.solver.mover
        if self.mover not in self._own:
            name = skeleton.names[self.mover] if self.mover >= 0 else "the joint that carries the others"
            raise ValidationError(
                f"PointSolver: {name!r} moves the body and has no point: give its place too"
            )
        self._rest = skeleton.rest.rotation.astype(np.float64)
        self._shift = skeleton.rest.translation.astype(np.float64)
        self._model = skeleton.rest_model.astype(np.float64)
        self._near = NEAR * self.solver.tree.size
        self._marks = self._marks_of_all()
        self._turns = {j: turn for j in self._marks if (turn := self._plan(j)) is not None}
        self._add_hinges()
        self._add_shares()

    def solve(self, places: ArrayLike, *, rate: float = 30.0, around: Array | None = None) -> SolvedPoints:
        """The poses whose points are nearest to `places (T, P, 3)`, in model space.

        `around (L,)`, for one frame after the other, holds how limbs bent lately and is renewed.
        """
        given = _validate.numbers("PointSolver.solve: places", places).astype(np.float64)
        if given.ndim != 3 or given.shape[1:] != (len(self.points), 3):
            raise ValidationError(
                f"PointSolver.solve: expected places (T, {len(self.points)}, 3), got {given.shape}"
            )
        if not np.isfinite(given).all():
            raise ValidationError("PointSolver.solve: places must be finite numbers")
        J, T = len(self.skeleton), len(given)
        rest = self.skeleton.rest
        translation = np.repeat(rest.translation[None], T, axis=0)
        rotation = np.empty((T, J, 4), np.float32)
        self._start(given, translation, rotation, rate, around)
        scale = np.repeat(rest.scale[None], min(T, BLOCK), axis=0)
        distance = np.empty((T, len(self.points)), np.float32)
        goals = np.full((min(T, BLOCK), len(self.points), layout.GOAL), np.nan, np.float32)
        goals[..., 13:] = (1.0, 0.0, 0.0, 0.0)
        for first in range(0, T, BLOCK):
            here = slice(first, min(first + BLOCK, T))
            N = here.stop - first
            goals[:N, :, :3] = given[here]
            residual = self.solver.run(
                translation[here].copy(), rotation[here].copy(), scale[:N], goals[:N],
                np.zeros((N, 0, 4), np.float32), translation[here], rotation[here], steps=STEPS, warm=True,
            )  # fmt: skip
            distance[here] = residual[..., 0]
        pose = Pose(translation, _continuous(rotation), np.broadcast_to(rest.scale, (T, J, 3)),
                    np.broadcast_to(rest.morphs, (T, len(rest.morphs))))  # fmt: skip
        return SolvedPoints(pose, distance)

    @property
    def limbs(self) -> int:
        """How many limbs have a bend that tells their roll."""
        return sum(turn.hinge is not None for turn in self._turns.values())

    def _marks_of_all(self) -> dict[int, list[tuple[int, Array]]]:
        """The points that turn with each joint, and where they are at rest in its frame."""
        known = set(self.skeleton.humanoid.values())
        self._loose: set[int] = set()
        out = {}
        for j in self.solver.tree.joints[1:].tolist():
            rigid, loose = self._below(j, j, known)
            offsets = [o for _, o in rigid]
            out[j] = rigid
            if loose and _rank(offsets, self._near) < 2:
                out[j] = rigid + loose
                self._loose.add(j)
        return out

    def _below(
        self, joint: int, at: int, known: set[int]
    ) -> tuple[list[tuple[int, Array]], list[tuple[int, Array]]]:
        """Points below `at` as `joint` sees them: those that are rigid with it, and those behind joints that lie in the
        same place as it, which are so in part."""
        turn, origin = self._model[joint, :, :3], self._model[joint, :, 3]
        scale = np.cbrt(max(abs(np.linalg.det(turn)), 1e-30))
        rigid: list[tuple[int, Array]] = []
        loose: list[tuple[int, Array]] = []

        def seen(at: int, offset: Array) -> Array:
            place = self._model[at, :, :3] @ offset + self._model[at, :, 3]
            return np.asarray(np.linalg.solve(turn, place - origin))

        for p, j in enumerate(self._joint):
            if j == at and self._offset[p].any():
                rigid.append((p, seen(j, self._offset[p])))
        for c in self.skeleton.children(at):
            offset = seen(c, np.zeros(3))
            if c in self._own and np.linalg.norm(offset) * scale > self._near:
                rigid.append((self._own[c], offset))
                continue
            own, behind = self._below(joint, c, known)
            (loose if c in self._own and c in known else rigid).extend(own)
            loose.extend(behind)
        return rigid, loose

    def _plan(self, j: int) -> _Turn | None:
        marks = self._marks[j]
        if not marks or j not in self.solver.joints:
            return None
        points, offsets = np.array([p for p, _ in marks]), np.array([o for _, o in marks])
        # Columns of `u` mix the points into the two directions in which they extend most.
        u = np.linalg.svd(offsets)[0][:, :2]
        along = u[:, 0] * np.sign(u[:, 0][np.argmax(np.abs(u[:, 0]))])
        first = along @ offsets
        if _rank(offsets, self._near) < 2:
            return _Turn(points, along, rest=first / np.linalg.norm(first))
        along, aside = self._sides(j, offsets) or (along, u[:, 1])
        first, second = along @ offsets, aside @ offsets
        x = first / np.linalg.norm(first)
        y = second - (second @ x) * x
        y /= np.linalg.norm(y)
        frame = np.stack([x, y, np.cross(x, y)], axis=1)
        return _Turn(points, along, aside, quaternion.from_matrix(frame), loose=j in self._loose)

    def _sides(self, j: int, offsets: Array) -> tuple[Array, Array] | None:
        """How the line from a right point to a left one and the way to the others are mixed, where there is such a pair."""
        across = np.cross([0.0, 1.0, 0.0], ahead_of(self.skeleton))
        places = offsets @ self._model[j, :, :3].T
        size, best = float(np.linalg.norm(places, axis=1).max()), None
        for a in range(len(places)):
            for b in range(len(places)):
                mirrored = places[b] - 2 * (places[b] @ across) * across
                wide = float((places[a] - places[b]) @ across)
                if np.linalg.norm(places[a] - mirrored) < MIRRORED * size and wide > max(
                    MIRRORED * size, best[0] if best else 0
                ):
                    best = wide, a, b
        if best is None:
            return None
        _, a, b = best
        along, aside = np.zeros(len(places)), np.full(len(places), 1.0)
        along[a], along[b] = 1.0, -1.0
        if len(places) > 2:
            aside[[a, b]] = 0.0
        first, second = along @ offsets, aside @ offsets
        sure = np.linalg.norm(np.cross(first, second)) > FLAT * np.linalg.norm(first) * np.linalg.norm(second)
        return (along, aside) if sure and np.linalg.norm(second) > self._near else None

    def frames(self, places: Array) -> dict[int, Array]:
        """Rotations `(T, 3, 3)` in model space of the joints whose points tell them wholly, from `places (T, P, 3)`."""
        P = np.ascontiguousarray(np.asarray(places, np.float64).transpose(1, 2, 0))
        return {
            j: quaternion.to_matrix(self._framed(turn, P, P[self._own[j]]).T)
            for j, turn in self._turns.items()
            if turn.aside is not None and j in self._own
        }

    def _add_hinges(self) -> None:
        """Which way arms and legs bend: as they do at rest, else elbows forward and knees back."""
        bones, ahead = self.skeleton.humanoid, ahead_of(self.skeleton)
        for side in ("left", "right"):
            for upper, lower, end, sign in _LIMBS.values():
                a, b, c = (bones.get(side + part, -1) for part in (upper, lower, end))
                turn = self._turns.get(a)
                if turn is None or turn.aside is not None or b not in self._own or c not in self._own:
                    continue
                at = self._model[[a, b, c], :, 3]
                way, on = at[1] - at[0], at[2] - at[1]
                way, on = (v / max(float(np.linalg.norm(v)), 1e-12) for v in (way, on))
                axis, bend = sign * np.cross(way, ahead), np.cross(way, on)
                axis = axis - (axis @ way) * way
                bent = float(np.linalg.norm(bend))
                if bent > 0.1 and bend @ axis > ALIKE * bent * np.linalg.norm(axis):
                    axis = bend
                if np.linalg.norm(axis) < 0.1:
                    continue
                local = np.linalg.solve(self._model[a, :, :3], axis)
                turn.hinge = (self._own[b], self._own[c], local / np.linalg.norm(local))

    def _add_shares(self) -> None:
        """Joints between two frames, such as those of a spine, share the roll from one to the other."""
        for j, turn in self._turns.items():
            if turn.aside is None or j not in self._own:
                continue
            chain, above = [], int(self.skeleton.parents[j])
            while above in self._turns and self._turns[above].aside is None:
                chain.append(above)
                above = int(self.skeleton.parents[above])
            if above in self._turns:
                for k, joint in enumerate(chain):
                    if self._turns[joint].hinge is None:
                        self._turns[joint].share = (j, k + 2)

    def _start(
        self, given: Array, translation: Array, rotation: Array, rate: float, around: Array | None
    ) -> None:
        """Fills in poses in closed form. Rotations are rows `(4, T)` here, places `(3, T)`."""
        skeleton, P = self.skeleton, np.ascontiguousarray(given.transpose(1, 2, 0))
        parents = skeleton.parents.tolist()
        turned: list[Array] = []
        place: list[Array] = []
        frames = {
            j: self._framed(turn, P, P[self._own[j]])
            for j, turn in self._turns.items()
            if turn.aside is not None and j in self._own
        }
        limb = 0
        for j, p in enumerate(parents):
            base = self._rest[j][:, None]
            here = self._shift[j][:, None]
            if p >= 0:
                base = rows.multiply(turned[p], base)
                here = place[p] + rows.rotate(turned[p], here)
            place.append(P[self._own[j]] if j in self._own else here)
            turn = self._turns.get(j)
            if turn is None:
                turned.append(base)
            elif turn.aside is not None and not turn.loose:
                turned.append(frames[j] if j in frames else self._framed(turn, P, place[j]))
            else:
                way = rows.unit(_mixed(turn.along, turn.points, P, place[j]))
                rest = self._first_axis(turn)
                q = rows.multiply(rows.between(rows.rotate(base, rest[:, None]), way), base)
                if turn.hinge is not None:
                    q = rows.multiply(self._roll(turn.hinge, q, way, P, place[j], rate, around, limb), q)
                    limb += 1
                elif turn.share is not None and turn.share[0] in frames:
                    q = rows.multiply(self._part_of_roll(j, turn.share, q, way, frames), q)
                turned.append(q)
        for j, p in enumerate(parents):
            local = turned[j] if p < 0 else rows.multiply(rows.conjugate(turned[p]), turned[j])
            rotation[:, j] = local.T
        m = self.mover
        if m >= 0:
            q = parents[m]
            at = P[self._own[m]]
            if q >= 0:  # what is above the hips rests
                inverse = np.linalg.inv(self._model[q, :, :3])
                at = inverse @ (at - self._model[q, :, 3][:, None])
            translation[:, m] = at.T

    @staticmethod
    def _first_axis(turn: _Turn) -> Array:
        """The direction in a joint's frame that its first direction of points has at rest."""
        if turn.aside is None:
            return turn.rest  # type: ignore[return-value]
        return quaternion.rotate(turn.rest, [1.0, 0.0, 0.0])  # type: ignore[arg-type]

    def _framed(self, turn: _Turn, P: Array, origin: Array) -> Array:
        """The rotation of a joint from two directions that its points make."""
        x = rows.unit(_mixed(turn.along, turn.points, P, origin))
        y = _mixed(turn.aside, turn.points, P, origin)
        y = rows.unit(y - rows.dot(x, y) * x)
        frame = rows.from_axes(x, y, rows.cross(x, y))
        return rows.multiply(frame, rows.conjugate(turn.rest[:, None]))  # type: ignore[index]

    def _roll(
        self, hinge: tuple[int, int, Array], q: Array, way: Array, P: Array, origin: Array, rate: float,
        around: Array | None, limb: int,
    ) -> Array:  # fmt: skip
        """The turn about a limb that brings its hinge to where the limb bends about."""
        mid, end, axis = hinge
        bend = rows.cross(way, rows.unit(P[end] - P[mid]))
        across = rows.rotate(q, axis[:, None])
        z = rows.dot(bend, across) + 1j * rows.dot(bend, rows.cross(way, across))
        z = z * np.abs(z)
        if around is None:
            near = _moving_mean(z, max(round(SECONDS * rate), 1))
        else:
            near, keep = np.empty_like(z), float(np.exp(-1.0 / max(SECONDS * rate, 1e-3)))
            for t in range(len(z)):
                around[limb] = near[t] = keep * around[limb] + (1 - keep) * z[t]
        usual = AROUND * near + STRAIGHT
        back = ((z * usual.conj()).real < 0) & (np.abs(z) < BACK)
        return rows.about(way, np.angle(np.where(back, -z, z) + usual))

    def _part_of_roll(
        self, j: int, share: tuple[int, int], q: Array, way: Array, frames: dict[int, Array]
    ) -> Array:
        below, count = share
        carried = q
        chain = [below]
        while chain[-1] != j:
            chain.append(int(self.skeleton.parents[chain[-1]]))
        for k in reversed(chain[:-1]):
            carried = rows.multiply(carried, self._rest[k][:, None])
        missing = rows.multiply(frames[below], rows.conjugate(carried))
        angle = 2.0 * np.arctan2(rows.dot(missing[:3], way), missing[3])
        angle = (angle + np.pi) % (2 * np.pi) - np.pi
        return rows.about(way, angle / count)


def _rank(offsets: Any, near: float) -> int:
    """How many directions points take: 0, 1 (in line with their joint) or 2."""
    if not len(offsets):
        return 0
    s = np.linalg.svd(np.asarray(offsets), compute_uv=False)
    return 0 if s[0] < near else 2 if len(s) > 1 and s[1] > max(FLAT * s[0], near) else 1


def _mixed(weights: Array | None, points: Array, P: Array, origin: Array) -> Array:
    """A direction: the sum of the ways from `origin` to points, by weights."""
    out = -float(np.sum(weights)) * origin  # type: ignore[arg-type]
    for w, p in zip(weights.tolist(), points.tolist()):  # type: ignore[union-attr]
        out = out + w * P[p]
    return out


def _moving_mean(z: Array, half: int) -> Array:
    """The mean over `half` frames before and after, fewer at the ends."""
    T = len(z)
    total = np.concatenate([[0.0], np.cumsum(z)])
    at = np.arange(T)
    low, high = np.maximum(at - half, 0), np.minimum(at + half + 1, T)
    return np.asarray((total[high] - total[low]) / (high - low))


def _continuous(q: Array) -> Array:
    """Rotations `(T, J, 4)` with signs that do not jump from frame to frame."""
    if len(q) > 1:
        near = np.einsum("tjc,tjc->tj", q[1:], q[:-1])
        q[1:] *= np.cumprod(np.where(near < 0, np.float32(-1), np.float32(1)), axis=0)[..., None]
    return q
