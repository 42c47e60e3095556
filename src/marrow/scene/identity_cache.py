"""`IdentityCache`: values made for an object, kept while it lives. By identity: characters compare all their arrays."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["IdentityCache"]

V = TypeVar("V")


class IdentityCache(Generic[V]):
    """A dictionary whose keys are objects themselves, not what they are equal to, and are not kept alive by it."""

    def __init__(self) -> None:
        self._values: dict[int, tuple[weakref.ref[object], V]] = {}

    def get(self, key: object) -> V | None:
        found = self._values.get(id(key))
        return found[1] if found is not None and found[0]() is key else None

    def put(self, key: object, value: V) -> V:
        number, values = id(key), self._values

        def forget(ref: weakref.ref[object]) -> None:
            if number in values and values[number][0] is ref:
                del values[number]

        values[number] = weakref.ref(key, forget), value
        return value

    def made(self, key: object, make: Callable[[], V]) -> V:
        found = self.get(key)
        return self.put(key, make()) if found is None else found
