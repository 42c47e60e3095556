"""What is done between the programs of a graph, for the runtimes: joints that code places, the ground, solvers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.graph.compiled import CompiledGraph, FunctionEntry
from marrow.graph.ground_probes import GroundEntry
from marrow.graph.ik_steps import IkStep, fixed_fields, schedule
from marrow.graph.overrides import sorted_joints
from marrow.kernels.foot_probes import SHAPE
from marrow.kernels.joint_overrides import OVERRIDE_HEAD, OVERRIDE_JOINT
from marrow.runtime.layout import IK_LEAVES, IK_NUMBERS, IK_WHOLE, STEPS

__all__ = ["BakedSteps", "baked_steps", "overridden"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class BakedSteps:
    """The steps of a graph: tables of all of them, the sections of solvers, and sizes."""

    tables: dict[str, Any]
    sections: dict[str, Array]
    sizes: dict[str, int]


def overridden(compiled: CompiledGraph) -> list[str]:
    """The names of the `JointOverride`s of a graph."""
    return list(dict.fromkeys(entry.name for entry in compiled.functions if entry.override is not None))


def baked_steps(compiled: CompiledGraph) -> BakedSteps:
    """What a graph does between its programs; an error where only Python can."""
    made = _Maker(compiled)
    for entry in compiled.functions:
        if entry.override is not None:
            made.override(entry)
        elif entry.ground is not None:
            made.ground(entry.ground)
        elif entry.ik is not None:
            made.solver(entry.ik)
        else:
            raise _refused(entry)
    return made.finish()


def _refused(entry: FunctionEntry) -> ValidationError:
    """What cannot be done without Python."""
    what = "a function of Python's"
    if entry.source is not None:
        what = (
            "Retarget, which shows another animator, and the runtimes know one character each (retarget its clips "
            "instead: marrow retarget)"
        )
    return ValidationError(f"bake_runtime: {entry.path} is {what}: bake a graph without it")


class _Maker:
    """Lays steps out one by one."""

    def __init__(self, compiled: CompiledGraph) -> None:
        self.skeleton = compiled.character.skeleton
        self.steps: list[tuple[int, ...]] = []
        self.values: list[float] = []
        self.joints: list[Array] = []
        self.feet: list[GroundEntry] = []
        self.sections: dict[str, Array] = {}
        self.solvers = self.legs = self.listed = self.width = 0
        self.places: dict[str, tuple[int, int]] = {}
        """Where in a row of what instances are told each override begins, and how many joints it has."""

    def add(self, kind: str, *given: int, value: float = 0.0) -> None:
        self.steps.append((STEPS.index(kind), *given, *[0] * (4 - len(given))))
        self.values.append(value)

    def override(self, entry: FunctionEntry) -> None:
        node = entry.override
        joints = sorted_joints(node.joints, self.skeleton)
        if entry.name not in self.places:
            self.places[entry.name] = self.width, len(joints)
            self.width += OVERRIDE_HEAD + OVERRIDE_JOINT * len(joints)
        number = list(self.places).index(entry.name)
        self.add("override", number, self.listed, int(node.mode == "offset"), int(node.space == "model"))
        self.joints.append(joints)
        self.listed += len(joints)

    def ground(self, entry: GroundEntry) -> None:
        self.add("ground", entry.column, self.legs, len(entry.feet), value=entry.reach)
        self.feet.append(entry)
        self.legs += len(entry.feet)

    def solver(self, step: IkStep) -> None:
        solver = step.solver
        assert solver is not None
        if not np.array_equal(solver.skeleton.parents, self.skeleton.parents):
            raise ValidationError("bake_runtime: a solver is for another skeleton")
        cold, warm, inner = schedule(step)
        fixed, rows = solver.fixed, fixed_fields(step)
        found = {**rows, **fixed, "refs": step.targets.refs, "floors": step.floors}
        found |= {"cold": np.stack([*cold.values()]), "warm": np.stack([*warm.values()])}
        whole = {**found, "weight": step.weight, "kept": step.kept, "steps": step.steps}
        found["whole"] = [int(whole[name]) for name in IK_WHOLE]
        found["numbers"] = [float({**found, "inner": inner}[name]) for name in IK_NUMBERS]
        assert list(cold) == list(warm) == ["fades", "cares", "tauts"]
        for name, (dtype, axes) in IK_LEAVES.items():
            array = np.ascontiguousarray(found[name], dtype)
            assert array.ndim == axes, name
            self.sections[f"ik{self.solvers}.{name}"] = array
        self.add("ik", self.solvers)
        self.solvers += 1

    def finish(self) -> BakedSteps:
        def joined(arrays: list[Array], *shape: int) -> Array:
            return np.concatenate([np.zeros((0, *shape)), *arrays])

        tables = {
            "steps": self.steps,
            "step_values": self.values,
            "override_joints": joined(self.joints, 2),
            "override_places": list(self.places.values()),
            "feet": joined([e.feet for e in self.feet]),
            "toes": joined([e.toes for e in self.feet]),
            "foot_shapes": joined([e.shapes for e in self.feet], SHAPE),
        }
        return BakedSteps(tables, self.sections, {"override_width": self.width, "ik_steps": self.solvers})
