"""`RandomPlayer` and `SequencePlayer`: one clip after another."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

from marrow.errors import ValidationError
from marrow.graph.nodes.base import AnyNode, Node
from marrow.graph.nodes.clip import ClipNode
from marrow.graph.nodes.state_machine import State, StateMachine, Transition

__all__ = ["RandomPlayer", "SequencePlayer"]


def _once(node: AnyNode) -> AnyNode:
    return ClipNode(node, loop=False) if isinstance(node, str) else node


class SequencePlayer(Node, frozen=True):
    """Plays `clips` one after the other, each faded over the end of the one before in `seconds`; round and round, or once
    (the last one is then held). Where each begins is its `ClipNode.start`."""

    clips: tuple[AnyNode, ...]
    seconds: float = 0.2
    loop: bool = True
    blend: Literal["fade", "inertia"] = "fade"

    colour: ClassVar[str] = "#fdf0dc"

    def expand(self) -> AnyNode:
        if not self.clips:
            raise ValidationError("a SequencePlayer needs at least one clip")
        count = len(self.clips)
        if count == 1:
            return self.clips[0] if self.loop else _once(self.clips[0])
        ways = [
            Transition(
                str(k),
                str((k + 1) % count),
                (f"remaining <= {self.seconds!r}",),
                self.seconds,
                blend=self.blend,
            )
            for k in range(count if self.loop else count - 1)
        ]
        return StateMachine({str(k): State(_once(c)) for k, c in enumerate(self.clips)}, tuple(ways))


class RandomPlayer(Node, frozen=True):
    """Plays `clips` in an order of its own for each instance, by `weights` (all alike when left out), never the same
    one twice in a row. The order is the same whenever it is run with the same `animator.instances.seeds`."""

    clips: tuple[AnyNode, ...]
    weights: tuple[float, ...] = ()
    seconds: float = 0.2
    blend: Literal["fade", "inertia"] = "fade"

    colour: ClassVar[str] = "#fdf0dc"

    def expand(self) -> AnyNode:
        count = len(self.clips)
        weights = self.weights or (1.0,) * count
        if not count:
            raise ValidationError("a RandomPlayer needs at least one clip")
        if len(weights) != count or not all(math.isfinite(w) and w > 0 for w in weights):
            raise ValidationError(f"RandomPlayer.weights: expected {count} numbers above zero, got {weights}")
        if count == 1:
            return self.clips[0]
        # Where it begins is drawn too: the first state is left in the moment it is entered.
        ways = self._ways("begin", range(count), weights, (), 0.0)
        for k in range(count):
            others = [i for i in range(count) if i != k]
            ways += self._ways(str(k), others, weights, (f"remaining <= {self.seconds!r}",), self.seconds)
        states = {"begin": State(_once(self.clips[0]))} | {
            str(k): State(_once(c)) for k, c in enumerate(self.clips)
        }
        return StateMachine(states, tuple(ways))

    def _ways(
        self,
        source: str,
        to: range | list[int],
        weights: tuple[float, ...],
        when: tuple[str, ...],
        seconds: float,
    ) -> list[Transition]:
        total, summed, found = sum(weights[k] for k in to), 0.0, []
        for k in to:
            summed += weights[k]
            chance = (f"random < {summed / total!r}",) if k != to[-1] else ()
            found.append(Transition(source, str(k), (*when, *chance), seconds, blend=self.blend))
        return found
