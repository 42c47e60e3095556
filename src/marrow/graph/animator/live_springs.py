"""`LiveSprings`: the settings of what swings, by chain, as they are changed while an animator runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import UnknownNameError, ValidationError
from marrow.graph.animator.runtime import AnimatorRuntime
from marrow.graph.animator.thread_guard import exclusive
from marrow.graph.spring_plan import SpringPlan, named_chains, retuned
from marrow.graph.spring_sets import STIFFEST
from marrow.kernels.operations.spring_set import SPRING_SET
from marrow.kernels.operations.springs_reference import SwingingJoint
from marrow.model import _validate
from marrow.model._asset import freeze

__all__ = ["LiveChain", "LiveSprings", "carry_tuning"]

Array = NDArray[Any]
DOWN = np.array([0.0, -1.0, 0.0])
RANGES = {
    "stiffness": (0.0, STIFFEST), "drag": (0.0, 1.0), "gravity": (-STIFFEST, STIFFEST), "radius": (0.0, STIFFEST),
    "limit": (0.0, math.pi),
}  # fmt: skip
"""The settings of a chain and what they may be."""


class LiveChain:
    """A chain that swings: `stiffness`, `drag`, `gravity`, `radius` and `limit` as `SpringChain` has them. They may be set
    at any time, of all instances; what swings goes on swinging. Where joints of a chain differ they are those of its first
    joint, and others keep their ratio to it."""

    __slots__ = ("_path", "_springs", "joints", "name")

    def __init__(self, springs: LiveSprings, path: str, name: str, joints: tuple[str, ...]) -> None:
        self._springs, self._path, self.name, self.joints = springs, path, name, joints

    def _read(self, setting: str) -> float:
        return self._springs._read(self._path, self.joints[0], setting)

    def set(self, **settings: float) -> None:
        """Changes some settings at once."""
        self._springs._change(self._path, self.joints, settings)

    @property
    def stiffness(self) -> float:
        """How strongly it is drawn back to its rest pose."""
        return self._read("stiffness")

    @stiffness.setter
    def stiffness(self, value: float) -> None:
        self.set(stiffness=value)

    @property
    def drag(self) -> float:
        """How much of its speed it loses in a sixtieth of a second, from 0 to 1."""
        return self._read("drag")

    @drag.setter
    def drag(self, value: float) -> None:
        self.set(drag=value)

    @property
    def gravity(self) -> float:
        """How strongly it is drawn in the direction it has, or down."""
        return self._read("gravity")

    @gravity.setter
    def gravity(self, value: float) -> None:
        self.set(gravity=value)

    @property
    def radius(self) -> float:
        """How far from its tail it touches colliders."""
        return self._read("radius")

    @radius.setter
    def radius(self, value: float) -> None:
        self.set(radius=value)

    @property
    def limit(self) -> float:
        """How far it turns from rest at most, in radians."""
        return self._read("limit")

    @limit.setter
    def limit(self, value: float) -> None:
        self.set(limit=value)

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={self._read(name):.3g}" for name in RANGES)
        return f"LiveChain({self.name!r}, {len(self.joints)} joints, {told})"


class LiveSprings(Mapping[str, LiveChain]):
    """The chains that swing in an animator, by name: that of the spring in its file, or of the joint it begins with.

    animator.springs["tail"].stiffness = 2.5
    animator.springs.wind = (0.5, 0.0, 0.0)
    animator.springs.reset()
    """

    __slots__ = ("_runtime",)

    def __init__(self, runtime: AnimatorRuntime) -> None:
        self._runtime = runtime

    @property
    def plans(self) -> tuple[SpringPlan, ...]:
        """What swings, as it is set now."""
        return tuple(self._plans().values())

    def _plans(self) -> dict[str, SpringPlan]:
        return {**self._runtime.control.compiled.springs, **self._runtime.tuned}

    def _chains(self) -> dict[str, LiveChain]:
        names = self._runtime.character.skeleton.names
        return {
            called: LiveChain(self, path, called, tuple(names[j] for j in joints))
            for called, (path, joints) in named_chains(self._runtime.control.compiled.springs).items()
        }

    def __getitem__(self, name: str) -> LiveChain:
        chains = self._chains()
        if name not in chains:
            raise UnknownNameError("chain", name, chains)
        return chains[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._chains())

    def __len__(self) -> int:
        return len(self._chains())

    def _read(self, path: str, joint: str, setting: str) -> float:
        number = self._runtime.character.skeleton.index(joint)
        spring = next(s for s in self._plans()[path].joints if s.joint == number)
        return _setting(spring, setting)

    @exclusive()
    def _change(self, path: str, joints: tuple[str, ...], settings: Mapping[str, float]) -> None:
        for name, value in settings.items():
            if name not in RANGES:
                raise UnknownNameError("setting", name, RANGES)
            low, high = RANGES[name]
            _validate.number("springs", name, value, low=low, high=high)
        skeleton, plan = self._runtime.character.skeleton, self._plans()[path]
        numbers = [skeleton.index(j) for j in joints]
        first = next(s for s in plan.joints if s.joint == numbers[0])
        changed = tuple(_changed(s, first, settings) if s.joint in numbers else s for s in plan.joints)
        self._show({**self._runtime.tuned, path: retuned(plan, changed)})

    def _show(self, tuned: dict[str, SpringPlan]) -> None:
        """From now on these plans hold, in place of those of the graph."""
        runtime = self._runtime
        compiled = runtime.control.compiled
        given = compiled.procedurals
        ints, floats = given.ints.copy(), given.floats.copy()
        for plan in tuned.values():
            some_ints: list[int] = []
            some_floats: list[float] = []
            SPRING_SET.put(some_ints, some_floats, **plan.place, **plan.fields)
            first = int(ints[plan.at])
            ints[plan.at + 1 : plan.at + len(some_ints)] = some_ints[1:]
            floats[first : first + len(some_floats)] = some_floats
        runtime.tuned = tuned
        runtime.tune(replace(given, ints=ints, floats=floats))

    @property
    def wind(self) -> Array:
        """The wind in the world, metres a second `(3,)`."""
        control = self._runtime.control
        for plan in control.compiled.springs.values():
            if plan.wind in control.winds:
                return freeze(control.winds[plan.wind].copy())
            refs = control.compiled.world_vectors[plan.wind].refs
            constants = control.compiled.tables.constants
            return freeze(
                np.array([control.state.values[0, r] if r >= 0 else constants[-1 - r] for r in refs])
            )
        return freeze(np.zeros(3))

    @wind.setter
    @exclusive()
    def wind(self, wind: ArrayLike) -> None:
        found = np.asarray(_validate.numbers("springs: wind", wind), np.float64)
        if found.shape != (3,) or not np.isfinite(found).all() or np.abs(found).max() > STIFFEST:
            raise ValidationError(
                f"springs.wind: expected three numbers of at most {STIFFEST:g}, got {wind!r}"
            )
        control = self._runtime.control
        for path, plan in control.compiled.springs.items():
            if max(control.compiled.world_vectors[plan.wind].refs) >= 0:
                raise ValidationError(
                    f"springs.wind: the wind of {path} is a parameter of the graph: set that"
                )
        control.winds = {plan.wind: found for plan in control.compiled.springs.values()}
        self._runtime.changed()

    @property
    def exact(self) -> bool:
        """Whether updates are made in parts that end where springs step (60 times a second), so that they swing in the same
        way at every frame rate. A part takes what an update takes without matrices. False: poses of steps are guessed from
        those of the last updates."""
        return self._runtime.control.exact_springs

    @exact.setter
    @exclusive()
    def exact(self, exact: bool) -> None:
        if not isinstance(exact, (bool, np.bool_)):
            raise ValidationError(f"springs.exact: expected True or False, got {exact!r}")
        self._runtime.control.exact_springs = bool(exact)

    def settings(self) -> dict[str, dict[str, float]]:
        """The settings of all chains, as plain numbers."""
        return {name: {s: chain._read(s) for s in RANGES} for name, chain in self._chains().items()}

    @exclusive()
    def reset(self) -> None:
        """As the file or the graph has them."""
        self._runtime.control.winds = {}
        self._show({})

    def __repr__(self) -> str:
        return f"LiveSprings({', '.join(self)})"


def carry_tuning(
    runtime: AnimatorRuntime, tuned: Mapping[str, SpringPlan], winds: Mapping[int, Array]
) -> None:
    """Sets springs as they were set in an animator, or a graph, with the same ones."""
    plans, carried = runtime.control.compiled.springs, {}
    for path, plan in tuned.items():
        own = {s.joint: s for s in plan.joints}
        if path in plans and own.keys() == {s.joint for s in plans[path].joints}:
            new = plans[path]
            carried[path] = retuned(new, [own[s.joint] for s in new.joints])
    if carried:
        LiveSprings(runtime)._show(carried)
    if winds:
        wind = next(iter(winds.values()))
        runtime.control.winds = {plan.wind: wind for plan in plans.values()}


def _setting(spring: SwingingJoint, name: str) -> float:
    if name == "gravity":
        x, y, z = spring.gravity.tolist()
        size = math.sqrt(x * x + y * y + z * z)
        return -size if y > 0 and x == z == 0 else size
    return float(getattr(spring, name))


def _changed(spring: SwingingJoint, first: SwingingJoint, settings: Mapping[str, float]) -> SwingingJoint:
    """A joint of a chain whose first joint is to have these settings."""
    new: dict[str, Any] = {}
    for name, value in settings.items():
        own, before = _setting(spring, name), _setting(first, name)
        wanted = value if name == "limit" or before == 0 else own * (value / before)
        low, high = RANGES[name]
        new[name] = min(max(float(wanted), low), high)
        if name == "gravity":
            new[name] = new[name] * (spring.gravity / own if own else DOWN)
    return replace(spring, **new)
