"""`Narrator`: tells what a running graph does, and remembers which states were entered when."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from marrow.studio import protocol as p

if TYPE_CHECKING:
    from marrow.graph.inspection import GraphMoment
    from marrow.studio.description import GraphInfo

__all__ = ["Narrator"]

HISTORY = 200


class Narrator:
    """What has been told of the graph: the last message, and the history of its machines."""

    def __init__(self) -> None:
        self.history: deque[p.HistoryEntry] = deque(maxlen=HISTORY)
        self.last: p.Live | None = None
        self._machines: dict[str, str] = {}

    def forget(self) -> None:
        """Another graph begins."""
        self.history.clear()
        self._machines.clear()
        self.last = None

    def tell(self, moment: GraphMoment, graph: GraphInfo, *, instance: int, clock: float) -> p.Live | None:
        """What the graph does at `clock`, for the instance that was looked at; None where nothing has changed."""
        entered = []
        for path, machine in moment.machines.items():
            if self._machines.get(path) != machine.state:
                self._machines[path] = machine.state
                entered.append(p.HistoryEntry(path, machine.state, round(clock, 3)))
        self.history.extend(entered)
        message = p.Live(
            instance,
            round(clock, 3),
            [
                p.MachineState(path, m.state, m.source, round(m.progress, 3))
                for path, m in moment.machines.items()
            ],
            [round(moment.weights.get(node.path, float(node.path == "root")), 3) for node in graph.nodes],
            {name: round(value, 4) for name, value in moment.values.items()},
            entered,
        )
        last, self.last = self.last, message
        return None if last is not None and not entered and _same(last, message) else message


def _same(a: p.Live, b: p.Live) -> bool:
    return (a.machines, a.weights, a.values, a.instance) == (b.machines, b.weights, b.values, b.instance)
