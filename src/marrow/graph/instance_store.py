"""`InstanceStore`: the owner of everything that belongs to an instance of a crowd.

A field is registered once, with how a new instance begins and what one that starts over keeps. Instances then come, go,
start over, are saved and taken back with all their fields: no field can be forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError

if TYPE_CHECKING:
    from marrow.graph.ground import Ground
    from marrow.graph.overrides import Override
    from marrow.kernels.control_tables import CrowdState

__all__ = ["InstanceField", "InstanceStore", "mapped"]

Array = NDArray[Any]
_BOUND = frozenset(("state", "memory", "travel", "vectors", "handover", "levels"))


@dataclass(frozen=True)
class InstanceField:
    """A quantity that each instance has.

    `begin(n, store)` gives the rows of n new instances. `restart(old, new)` gives those of instances that start over, of
    what they had and what they would begin with; left out, they begin. `check(value, rows)` refuses a value of a
    snapshot's rows. A field `of_graph` means something to one graph only; one that is not `saved` follows from the
    others."""

    begin: Callable[[int, InstanceStore], Any]
    restart: Callable[[Any, Any], Any] = lambda old, new: new
    check: Callable[[Any, Mapping[str, Any]], None] = lambda value, rows: None
    of_graph: bool = False
    saved: bool = True


class InstanceStore:
    """The fields of N instances, as attributes. A value is an array with N rows, a tuple or dictionary of such arrays, or
    anything else, which then holds for all instances and those to come."""

    state: CrowdState
    memory: Array
    travel: Array
    vectors: Array
    lasting: Array
    handover: Array | None
    speed: float | Array
    ground: Ground | None
    levels: Array | None
    overrides: dict[str, Override]
    followed: dict[str, Array]
    matched: dict[str, dict[str, Array]]

    version = 0
    """Goes up when an array that kernels were given is replaced."""

    def __init__(self) -> None:
        self.fields: dict[str, InstanceField] = {}

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        if name in _BOUND:
            object.__setattr__(self, "version", self.version + 1)

    def register(self, name: str, value: Any, field: InstanceField) -> None:
        """Adds a field, with the value it has."""
        self.fields[name] = field
        setattr(self, name, value)

    @property
    def count(self) -> int:
        """N."""
        return len(self.state.instances)

    def arrays(self) -> Iterator[Array]:
        """All arrays that have a row for each instance."""
        found: list[Array] = []
        for name in self.fields:
            mapped(found.append, getattr(self, name))
        return iter(found)

    def add(self, count: int) -> None:
        """New instances behind the others."""
        new = {
            name: mapped(
                lambda old, more: np.concatenate([old, more]), getattr(self, name), field.begin(count, self)
            )
            for name, field in self.fields.items()
        }
        self._put(new)

    def remove(self, gone: Array) -> None:
        """Drops the instances of a mask `(N,)`; the others close up in order."""
        kept = ~gone
        self._put({name: mapped(lambda a: a[kept], getattr(self, name)) for name in self.fields})

    def restart(self, instances: Array) -> None:
        """Instances start over."""
        for name, field in self.fields.items():
            value, begin = getattr(self, name), field.begin(len(instances), self)
            old = mapped(lambda a: a[instances], value)
            mapped(lambda a, new: a.__setitem__(instances, new), value, field.restart(old, begin))

    def saved(self) -> dict[str, Any]:
        """A copy of all fields that do not follow from others."""
        return {
            name: mapped(lambda a: a.copy(), getattr(self, name))
            for name, f in self.fields.items()
            if f.saved
        }

    def restore(self, rows: Mapping[str, Any]) -> None:
        """Goes back to what `saved` gave, with as many instances as there were then. Nothing changes where it is
        refused."""
        names = {name for name, field in self.fields.items() if field.saved}
        if not isinstance(rows, Mapping) or set(rows) != names:
            raise ValidationError("restore: the snapshot has other fields: was it made by another version?")
        self.fields["state"].check(rows["state"], rows)
        count = len(rows["state"].instances)

        def fits(array: Array, name: str) -> None:
            if array.shape[:1] != (count,):
                raise ValidationError(f"restore: {name}: expected {count} rows, got shape {array.shape}")

        for name in names:
            mapped(lambda array, name=name: fits(array, name), rows[name])
            self.fields[name].check(rows[name], rows)
        new = {name: mapped(lambda a: a.copy(), rows[name]) for name in names}
        self._put(new | {name: self.fields[name].begin(count, self) for name in self.fields.keys() - names})

    def take_over(self, other: InstanceStore) -> None:
        """Has what as many instances of another graph had, as far as it means the same."""
        self._put({name: getattr(other, name) for name, f in self.fields.items() if not f.of_graph})

    def _put(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            setattr(self, name, value)


def mapped(function: Callable[..., Any], value: Any, *others: Any) -> Any:
    """A value with `function` applied to each of its arrays, and to those in the same places of `others`; what is no
    array stays."""
    if isinstance(value, tuple):
        return type(value)(*(mapped(function, *parts) for parts in zip(value, *others)))
    if isinstance(value, dict):
        return {k: mapped(function, v, *(other[k] for other in others)) for k, v in value.items()}
    # Also what stands for an array, as memory on a GPU does.
    return function(value, *others) if hasattr(value, "shape") and value.shape else value
