"""`GraphControls`: the parameters of a graph, on the keyboard."""

from __future__ import annotations

from typing import Any

import numpy as np

from marrow.graph.animator import Animator
from marrow.windows.inputs import InputState
from marrow.windows.text_overlay import ACCENT, DIM, PAD, ROW, TextOverlay

__all__ = ["GraphControls"]

ACROSS = 2.0
"""Seconds a key takes to go through the range of a number."""
TOP = 48.0
"""Logical pixels at the top of a picture that are for other words."""


class GraphControls:
    """Up and Down choose a parameter, Left and Right change it, Enter pulls a trigger or turns a switch."""

    def __init__(self, animator: Animator) -> None:
        self.animator = animator
        graph = animator.graph
        parameters = graph.parameters if graph is not None else {}
        self.names = [n for n, p in parameters.items() if p.type != "vector"]
        self._parameters = parameters
        self.values: dict[str, float | bool] = {
            n: _first(animator[n]) for n in self.names if parameters[n].type != "trigger"
        }
        self.chosen = 0

    def step(self, inputs: InputState, seconds: float) -> None:
        """What the keys of a frame do."""
        if not self.names:
            return
        by = ("down" in inputs.repeated) - ("up" in inputs.repeated)
        self.chosen = (self.chosen + by) % len(self.names)
        name = self.names[self.chosen]
        kind = self._parameters[name].type
        if kind == "trigger":
            if inputs.pressed("enter"):
                self.animator.trigger(name)
        elif kind == "bool":
            if inputs.pressed("enter", "left", "right"):
                self._set(name, not self.values[name])
        elif way := inputs.axis("left", "right"):
            low, high = self._range(name)
            value = float(self.values[name]) + way * (high - low) / ACROSS * seconds
            self._set(name, min(max(value, low), high))

    def _range(self, name: str) -> tuple[float, float]:
        return self._parameters[name].range or (-1.0, 1.0)

    def _set(self, name: str, value: float | bool) -> None:
        self.values[name] = value
        self.animator[name] = value

    def lines(self) -> list[str]:
        """The parameters as they are."""
        out = []
        for name in self.names:
            if name not in self.values:
                out.append(f"{name}   Enter")
            elif isinstance(self.values[name], bool):
                out.append(f"{name}   {'on' if self.values[name] else 'off'}")
            else:
                out.append(f"{name}   {float(self.values[name]):.2f}")
        return out

    def paint(self, overlay: TextOverlay, x: float, bottom: float) -> None:
        lines = self.lines()
        colors = [ACCENT if i == self.chosen else DIM for i in range(len(lines))]
        # Where they do not all fit, those around the chosen one.
        most = max(1, int((bottom - TOP - PAD) // ROW))
        first = min(max(self.chosen - most // 2, 0), max(len(lines) - most, 0))
        lines, colors = lines[first : first + most], colors[first : first + most]
        overlay.lines(x, bottom - ROW * len(lines) - PAD, lines, colors)


def _first(value: Any) -> float | bool:
    first = np.asarray(value).reshape(-1)[0]
    return bool(first) if first.dtype == np.bool_ else float(first)
