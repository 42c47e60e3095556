"""What the graph compiler fills: growing tables, columns of the state, values, masks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import UnknownNameError, ValidationError
from marrow.graph.compiled import ParameterEntry
from marrow.kernels import control_tables as ct
from marrow.kernels.memory import readonly
from marrow.model.skeleton import Skeleton

if TYPE_CHECKING:
    from marrow.graph.description import Parameter

__all__ = ["Builder", "Part", "Place", "Scope", "seconds", "unknown"]

Array = NDArray[Any]
LARGEST = 1e9
"""Parameters are kept within this, so that nothing computed from them overflows."""


RESERVED = ("and", "or", "not", "true", "false")


@dataclass(frozen=True)
class Part:
    """A compiled subtree: its first node, how many poses it stacks up, how many operations it takes, whether it holds a
    pose of its own inside a sum."""

    node: int
    depth: int
    length: int
    apart: bool = False


@dataclass(frozen=True)
class Scope:
    """What a node is in: the sum its pose is part of, the sync group, whether poses are differences."""

    region: int
    sync: str | None = None
    additive: bool = False


@dataclass(frozen=True)
class Place:
    """Where a node stands: its path from the root, its number in the tables, and what it is in."""

    path: str
    number: int
    scope: Scope


def unknown(kind: str, name: object, known: Any, path: str) -> UnknownNameError:
    """An unknown name, with the node that uses it."""
    return UnknownNameError(f"{kind} (used by {path})", name, known)


def named_joint(skeleton: Skeleton, name: str, path: str) -> int:
    """The joint that a node names, by its own name or as a part (`@spine`)."""
    try:
        return skeleton.index(name)
    except UnknownNameError as error:
        used = f"{error.kind} (used by {path})"
        raise UnknownNameError(used, name, error.known, error.near, error.listed) from None


def seconds(value: float, path: str) -> float:
    """A length of time, or an error."""
    if not (math.isfinite(value) and value >= 0):
        raise ValidationError(f"{path}: expected zero or more seconds, got {value}")
    return value


class Builder:
    """Tables under construction. Rows are tuples in the order of their record's fields."""

    def __init__(self, skeleton: Skeleton, parameters: Mapping[str, Parameter]) -> None:
        self.skeleton = skeleton
        self.values: list[float] = []
        self.goals: list[float] = []
        self.links: list[int] = []
        self.numbers: list[float] = []
        self.constants: list[float] = []
        self.rows: dict[str, list[tuple[Any, ...]]] = {
            name: [] for name in ("groups", "machines", "states", "transitions", "rules", "layers", "slots",
                                  "spaces", "procedurals", "functions", "parameters", "warps", "steerings",
                                  "curve_changes")
        }  # fmt: skip
        self.masks: list[Array] = []
        self._mask_index: dict[bytes, int] = {}
        self._constants: dict[float, int] = {}
        self.parameters: dict[str, ParameterEntry] = {}
        for name, parameter in parameters.items():
            self.declare(name, parameter)

    # -- values ---------------------------------------------------------------------------------------------------
    def declare(self, name: str, parameter: Parameter) -> None:
        """A parameter of the graph."""
        where = f"parameters.{name}"
        if not name or name != name.strip() or any(c in name for c in "<>=! ") or name in RESERVED:
            raise ValidationError(
                f"{where}: a name has no spaces, none of < > = !, and is none of {', '.join(RESERVED)}"
            )
        vector = parameter.type == "vector"
        default = parameter.default
        if vector:
            values = tuple(default) if isinstance(default, tuple) else (float(default),) * 3
        else:
            if isinstance(default, tuple):
                raise ValidationError(f"{where}.default: only a vector has three numbers")
            values = (0.0,) if parameter.type == "trigger" else (float(default),)
        if parameter.wrap is not None and (parameter.range is not None or parameter.type != "float"):
            raise ValidationError(f"{where}.wrap: only a float wraps, and it then has no range besides")
        bounds = parameter.wrap or parameter.range
        low, high = bounds if bounds is not None else (-LARGEST, LARGEST)
        if not (-LARGEST <= low < high <= LARGEST):
            field = "range" if parameter.wrap is None else "wrap"
            raise ValidationError(f"{where}.{field}: expected low < high, got {bounds}")
        numbers = {"smoothing": parameter.smoothing, "hold": parameter.hold}
        for field, number in numbers.items():
            if not (math.isfinite(number) and number >= 0):
                raise ValidationError(f"{where}.{field}: expected zero or more seconds, got {number}")
        if not all(math.isfinite(v) and low <= v <= high for v in values):
            raise ValidationError(
                f"{where}.default: expected a number from {low:g} to {high:g}, got {default}"
            )
        column = len(self.values)
        self.values += values
        self.goals += values
        kind = {
            "float": ct.FLOAT,
            "bool": ct.BOOL,
            "trigger": ct.TRIGGER,
            "vector": ct.VECTOR,
            "curve": ct.CURVE,
        }[parameter.type]
        index = len(self.rows["parameters"])
        for k in range(len(values)):
            self.rows["parameters"].append(
                (kind, column + k, int(parameter.wrap is not None), parameter.smoothing, low, high)
            )
        self.parameters[name] = ParameterEntry(parameter.type, column, len(values), parameter.hold, index)

    def value(self, value: float | str, path: str) -> int:
        """Where a node finds a value: the column of a parameter, or -1 - k for constant k."""
        if isinstance(value, str):
            if value not in self.parameters:
                raise unknown("parameter", value, self.parameters, path)
            entry = self.parameters[value]
            if entry.type not in ("float", "bool", "curve"):
                raise ValidationError(
                    f"{path}: {value!r} is a {entry.type}; expected a float or bool parameter"
                )
            return entry.column
        if not math.isfinite(value) or abs(value) > LARGEST:
            raise ValidationError(f"{path}: expected a finite number up to {LARGEST:,.0f}, got {value}")
        if value not in self._constants:
            self.constants.append(float(value))
            self._constants[value] = -len(self.constants)
        return self._constants[value]

    def vector(self, value: str | Sequence[float], path: str) -> list[int]:
        """Where a node finds the three values of a vector parameter or of a constant."""
        if isinstance(value, str):
            if value not in self.parameters:
                raise unknown("parameter", value, self.parameters, path)
            entry = self.parameters[value]
            if entry.type != "vector":
                raise ValidationError(f"{path}: {value!r} is a {entry.type}; expected a vector parameter")
            return [entry.column, entry.column + 1, entry.column + 2]
        return [self.value(float(v), path) for v in value]

    # -- tables ---------------------------------------------------------------------------------------------------
    def add(self, table: str, *row: Any) -> int:
        """A new row; returns its number."""
        self.rows[table].append(row)
        return len(self.rows[table]) - 1

    def link(self, numbers: Sequence[int]) -> int:
        at = len(self.links)
        self.links.extend(int(n) for n in numbers)
        return at

    def number(self, numbers: Sequence[float]) -> int:
        at = len(self.numbers)
        self.numbers.extend(float(n) for n in numbers)
        return at

    def morph_mask(self, morphs: Sequence[str], path: str) -> Array:
        """Weights `(M,)`: one for each morph channel that is named."""
        out = np.zeros(len(self.skeleton.morph_names), np.float32)
        for name in morphs:
            if name not in self.skeleton.morph_names:
                raise unknown("morph", name, self.skeleton.morph_names, path)
            out[self.skeleton.morph_index(name)] = 1
        return out

    # -- masks ----------------------------------------------------------------------------------------------------
    def joint_mask(
        self,
        joints: Sequence[str],
        explicit: Mapping[str, float],
        depth_falloff: float,
        path: str,
        *,
        below: bool = False,
    ) -> Array:
        """Weights `(J,)` of a layer: from `joints` downward, then `explicit` ones by name, with `below` also of all joints
        below them, down to the next one that is named."""
        for name in (*joints, *explicit):
            named_joint(self.skeleton, name, path)
        if not (math.isfinite(depth_falloff) and depth_falloff >= 0):
            raise ValidationError(f"{path}.depth_falloff: expected zero or more, got {depth_falloff}")
        mask = self.skeleton.mask(list(joints), depth_falloff=depth_falloff)
        for name in sorted(explicit, key=lambda n: self.skeleton.depth[self.skeleton.index(n)]):
            weight = explicit[name]
            if not 0 <= weight <= 1:
                raise ValidationError(f"{path}.mask: {name!r} has weight {weight}; expected 0 to 1")
            mask[self.skeleton.mask([name]) > 0 if below else self.skeleton.index(name)] = weight
        return mask

    def mask(self, *rows: tuple[Array, Array]) -> int:
        """Masks that lie one behind the other, each the weights of joints `(J,)` and of morphs `(M,)`."""
        table = np.stack([np.concatenate(row) for row in rows]).astype(np.float32)
        key = table.tobytes()
        if key not in self._mask_index:
            self._mask_index[key] = len(self.masks)
            self.masks.extend(table)
        return self._mask_index[key]

    def array(self, table: str, dtype: np.dtype[Any]) -> Array:
        return readonly(np.array(self.rows[table], dtype))
