"""`Effectors`: joints of an actor that are held at places, and the body that bends for them (`mw.ik`).

What is shown depends on the pose that is played and on the places alone, not on the way they were dragged there: each
picture is solved from the played pose, so pages, scripts and the code that is copied agree, and nothing drifts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import UnknownNameError, ValidationError
from marrow.model import Character, Pose, _validate
from marrow.scene.views.stage import PosedEffector
from marrow.studio import protocol as p

if TYPE_CHECKING:
    from marrow.ik import Effector, Solver
    from marrow.studio.actor import StudioActor

__all__ = ["HANDLES", "Effectors", "StudioEffectors", "handles_of"]

Array = NDArray[Any]
HANDLES = ("hips", "head", "leftHand", "rightHand", "leftFoot", "rightFoot")
"""Parts of a body that have a handle in the page."""
FEET = ("leftFoot", "rightFoot")
"""Parts that stay where the pose has them, and as it has them turned, until they are let go."""
FOOT_POSITION, FOOT_ROTATION = 10.0, 3.0
"""How much feet weigh against what is dragged: who reaches too far does not lift off."""
REACH, ROUNDS = 0.95, 4
"""A joint is dragged no further from one that stays than this share of the bones between them; how often that is seen to,
where several stay."""
MOST = 32
"""Joints that can be held at once."""
STEPS = 24
"""Steps of the solver: as exact from rest, for a drag of a metre, as from the picture before."""
MOST_TOLD = 64
"""Pages are told the places of so many instances."""


def handles_of(character: Character) -> list[int]:
    """The joints that have a handle in the page: hips, head, hands and feet, where they are known."""
    body = character.skeleton.humanoid
    return [body[part] for part in HANDLES if part in body]


class Effectors:
    """The joints of an actor that are held. For all instances a joint is held or free; each instance has its own place
    for it, and where it has none the joint stays where the pose has it."""

    def __init__(self, character: Character, count: int) -> None:
        self.character, self.count = character, count
        self.places: dict[int, Array] = {}
        """By joint `(N, 3)`, in model space; NaN: where the pose has it."""
        self._solver: Solver | None = None
        self.reset()

    def reset(self) -> None:
        """Nothing is held but the feet, where the pose has them."""
        body = self.character.skeleton.humanoid
        self.places = {body[part]: self._nowhere() for part in FEET if part in body}
        self._solver = None

    def _nowhere(self) -> Array:
        return np.full((self.count, 3), np.nan)

    def resize(self, count: int) -> None:
        """Another number of instances: those who come hold nothing."""
        if count == self.count:
            return
        kept, self.count = min(count, self.count), count
        for joint, before in self.places.items():
            self.places[joint] = after = self._nowhere()
            after[:kept] = before[:kept]

    def go_on(self, before: Effectors) -> None:
        """Holds what the actor before held, by the names of joints."""
        names, old = self.character.skeleton.names, before.character.skeleton.names
        self.places = {names.index(old[j]): at for j, at in before.places.items() if old[j] in names}
        self.count, self._solver = before.count, None

    # -- changes ---------------------------------------------------------------------------------------------
    def apply(self, message: p.SetEffector | p.FreeEffector | p.ResetEffectors) -> None:
        """What a page asks for; what cannot be done is a `MarrowError` in words."""
        if isinstance(message, p.ResetEffectors):
            self.reset()
            return
        joints = len(self.character.skeleton)
        if message.joint >= joints:
            raise ValidationError(f"effector: there is no joint {message.joint}: the skeleton has {joints}")
        if message.instance >= self.count:
            raise ValidationError(f"effector: there is no instance {message.instance} of {self.count}")
        if isinstance(message, p.FreeEffector):
            self.free(message.joint, message.instance)
        else:
            self.hold(message.joint, message.place, message.instance)

    def hold(self, joint: int, place: ArrayLike | None, instance: int | None = None) -> None:
        """Holds a joint at a place `(3,)`, or `(N, 3)` of all instances; None: where the pose has it."""
        found = np.full(3, np.nan)
        if place is not None:
            found = np.asarray(_validate.numbers("effectors: place", place), np.float64)
            if found.shape not in ((3,), (self.count, 3)):
                raise ValidationError(
                    f"effectors: expected a place (3,) or ({self.count}, 3), got shape {found.shape}"
                )
            if not np.isfinite(found).all() or np.abs(found).max() > 1e9:
                raise ValidationError(
                    "effectors: a place has three finite numbers of at most 1e9; None: as played"
                )
        if joint not in self.places:
            if len(self.places) >= MOST:
                raise ValidationError(f"effectors: {MOST} joints are held already: let one go first")
            # Another solver, made here: what is wrong with the joint is said to whoever asked.
            self._solver = self._made([*self.places, joint])
            self.places[joint] = self._nowhere()
        self.places[joint][slice(None) if instance is None else instance] = found

    def free(self, joint: int, instance: int | None = None) -> None:
        """Lets a joint go. While other instances hold theirs at places it stays where the pose has it."""
        places = self.places.get(joint)
        if places is None:
            return
        if instance is not None:
            places[instance] = np.nan
            if np.isfinite(places).any():
                return
        del self.places[joint]
        self._solver = None

    # -- solving ---------------------------------------------------------------------------------------------
    def _made(self, joints: list[int]) -> Solver:
        from marrow.ik import Solver

        return Solver(self.character, [self.effector(j) for j in joints], steps=STEPS)

    def effector(self, joint: int) -> Effector:
        """A joint as the solver takes it: feet keep the way they are turned."""
        from marrow.ik import Effector

        body = self.character.skeleton.humanoid
        if joint in [body.get(part) for part in FEET]:
            return Effector(joint, position=FOOT_POSITION, rotation=FOOT_ROTATION)
        return Effector(joint)

    @property
    def holding(self) -> Array:
        """The instances that hold a joint at a place; all others are as they are played."""
        if not self.places:
            return np.zeros(0, np.int64)
        return np.flatnonzero(np.isfinite([at[:, 0] for at in self.places.values()]).any(axis=0))

    def solved(self, pose: Pose, instances: Array) -> tuple[Pose, tuple[PosedEffector, ...]]:
        """The poses `(n, J)` of some instances with their joints where they are held, and where that is, by joint
        `(n, 3)`."""
        if self._solver is None:
            self._solver = self._made(list(self.places))
        played = self.character.skeleton.to_model(pose)[..., 3].astype(np.float64)
        goals = self.goals(played, instances)
        found = self._solver.solve(pose, {str(joint): at for joint, at in goals.items()}).pose
        given = ((j, at[instances]) for j, at in self.places.items())
        return found, tuple(PosedEffector(j, np.where(np.isfinite(at), at, played[:, j])) for j, at in given)

    def goals(self, played: Array, instances: Array) -> dict[int, Array]:
        """What the solver is asked for, by joint `(n, 3)`, NaN for what stays, where the joints are `played (n, J, 3)`: the
        places, but no further from a joint that stays than the body reaches. A solver that is asked for more has to
        choose what to miss, and shakes."""
        goals = {joint: at[instances].copy() for joint, at in self.places.items()}
        stay = {joint: np.isnan(at[:, 0]) for joint, at in goals.items()}
        pairs = [(j, k) for j in goals for k in goals if (stay[k] & ~stay[j]).any()]
        most = {
            (j, k): np.maximum(
                REACH * self._bones(played, j, k), np.linalg.norm(played[:, j] - played[:, k], axis=-1)
            )
            for j, k in pairs
        }
        for _ in range(ROUNDS):
            for j, k in pairs:
                away = goals[j] - played[:, k]
                far = np.linalg.norm(away, axis=-1)
                over = stay[k] & (far > most[j, k])  # never where this one stays itself: that is NaN
                goals[j][over] = (played[:, k] + away * (most[j, k] / np.maximum(far, 1e-30))[:, None])[over]
        return goals

    def _bones(self, played: Array, a: int, b: int) -> Array:
        """The length of the bones between two joints, `(n,)`."""
        skeleton = self.character.skeleton
        up = [{j, *skeleton.ancestors(j)} for j in (a, b)]
        way = [j for j in up[0] ^ up[1] if skeleton.parents[j] >= 0]
        if not (up[0] & up[1]):  # under different roots: nothing holds them together
            return np.full(len(played), np.inf)
        bones = played[:, way] - played[:, skeleton.parents[way]]
        return np.asarray(np.linalg.norm(bones, axis=-1).sum(axis=-1))

    def state(self) -> list[p.EffectorState]:
        """What pages are told."""
        told = self.holding[:MOST_TOLD].tolist()
        return [
            p.EffectorState(
                joint, [(n, *np.round(at[n], 6).tolist()) for n in told if np.isfinite(at[n]).all()]
            )
            for joint, at in self.places.items()
        ]


class StudioEffectors(MutableMapping[str, Array]):
    """The joints that are held in the studio, by name, and where: `(3,)` in model space, `(N, 3)` of a crowd; NaN where
    a joint stays where the pose has it. A page's handles are the same ones.

        studio.effectors["@left_hand"] = (0.3, 1.4, 0.4)   # in a crowd: of all, or (N, 3)
        studio.effectors["@head"] = None                   # stays where the pose has it
        del studio.effectors["@left_foot"]                 # goes along with the body
        studio.effectors.reset()                           # as it was: the feet stay, the rest is free
    """

    def __init__(self, call: Callable[[Callable[[StudioActor], Any], bool], Any]) -> None:
        self._call = call

    def __setitem__(self, joint: str, place: ArrayLike | None) -> None:
        def hold(actor: StudioActor) -> None:
            actor.effectors.hold(actor.character.skeleton.index(joint), place)

        self._call(hold, True)

    def __delitem__(self, joint: str) -> None:
        def free(actor: StudioActor) -> None:
            self._at(actor, joint)
            actor.effectors.free(actor.character.skeleton.index(joint))

        self._call(free, True)

    def __getitem__(self, joint: str) -> Array:
        def read(actor: StudioActor) -> Array:
            at = self._at(actor, joint)
            return at[0].copy() if len(at) == 1 else at.copy()

        found: Array = self._call(read, False)
        return found

    @staticmethod
    def _at(actor: StudioActor, joint: str) -> Array:
        names, held = actor.character.skeleton.names, actor.effectors.places
        at = held.get(actor.character.skeleton.index(joint))
        if at is None:
            raise UnknownNameError("joint that is held", joint, [names[j] for j in held])
        return at

    def _names(self) -> list[str]:
        found: list[str] = self._call(
            lambda actor: [actor.character.skeleton.names[j] for j in actor.effectors.places], False
        )
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def reset(self) -> None:
        """Holds nothing but the feet, where the pose has them."""
        self._call(lambda actor: actor.effectors.reset(), True)

    def __repr__(self) -> str:
        return f"StudioEffectors({', '.join(self._names())})"
