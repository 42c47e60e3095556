"""`Overrides`: joints that code places, over what clips and the graph do with them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from numpy.typing import ArrayLike

from marrow.errors import ValidationError
from marrow.graph.animator.playback import override_joint
from marrow.graph.animator.runtime import AnimatorRuntime
from marrow.graph.animator.thread_guard import exclusive
from marrow.graph.overrides import Override
from marrow.graph.slot_control import known

__all__ = ["OverrideInput", "Overrides"]


class OverrideInput:
    """One override: `animator.overrides["head"].set(rotation=...)`."""

    __slots__ = ("_runtime", "name")

    def __init__(self, runtime: AnimatorRuntime, name: str) -> None:
        self._runtime, self.name = runtime, name

    @exclusive(inside=True)
    def set(
        self,
        *,
        rotation: ArrayLike | None = None,
        translation: ArrayLike | None = None,
        weight: float | ArrayLike = 1.0,
        mode: Literal["set", "offset"] | None = None,
        space: Literal["local", "model"] | None = None,
    ) -> None:
        """Places its k joints from the next update on, until told otherwise: quaternions `(N, k, 4)` and translations
        `(N, k, 3)`, or the same for all; `weight` from 0 to 1, or one each.

        Without a graph: `mode="set"` replaces the transform of the joint, `"offset"` adds to it; in its own
        `space="local"` or in the `"model"`'s. In a graph the `JointOverride` says that."""
        runtime, name = self._runtime, self.name
        if not runtime.has_graph:
            name = override_joint(runtime, name, mode, space)
        elif mode is not None or space is not None:
            raise ValidationError("override: mode and space are what the JointOverride of the graph says")
        count = len(known("joint override", name, _nodes(runtime)).joints)
        runtime.store.overrides[name] = Override.of(runtime.count, count, rotation, translation, weight)

    def __repr__(self) -> str:
        return f"OverrideInput({self.name!r})"


class Overrides:
    """The `JointOverride`s of a graph, by name; without a graph the joints of the character."""

    __slots__ = ("_runtime",)

    def __init__(self, runtime: AnimatorRuntime) -> None:
        self._runtime = runtime

    def __getitem__(self, name: str) -> OverrideInput:
        if self._runtime.has_graph:
            known("joint override", name, _nodes(self._runtime))
        else:
            self._runtime.character.skeleton.index(name)
        return OverrideInput(self._runtime, name)

    def _names(self) -> tuple[str, ...]:
        runtime = self._runtime
        return tuple(_nodes(runtime)) if runtime.has_graph else runtime.character.skeleton.names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __contains__(self, name: object) -> bool:
        return name in self._names()

    def __len__(self) -> int:
        return len(self._names())

    def __repr__(self) -> str:
        return f"Overrides({len(self)})"


def _nodes(runtime: AnimatorRuntime) -> dict[str, Any]:
    return {e.name: e.override for e in runtime.control.compiled.functions if e.override is not None}
