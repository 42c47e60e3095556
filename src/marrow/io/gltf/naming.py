"""Names for what files leave unnamed or name twice; the reader and the writer must agree on them."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["UniqueNames", "target_names"]


class UniqueNames:
    """Hands out each name once: `Walk`, `Walk_2`, `Walk_3`."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def claim(self, name: str) -> str:
        if name in self._taken:
            number = self._next.get(name, 2)
            while f"{name}_{number}" in self._taken:
                number += 1
            self._next[name] = number + 1
            name = f"{name}_{number}"
        self._taken.add(name)
        return name


def target_names(names: Sequence[str] | None, count: int, owner: str) -> list[str]:
    """The names of a mesh's morph targets: those in its extras, or the owner's name and a number."""
    given = list(names or ())[:count]
    return given + [f"{owner}_{i}" for i in range(len(given), count)]
