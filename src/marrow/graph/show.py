"""How a graph looks: as a tree of text, and as a picture in SVG."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Any

import msgspec

from marrow.graph import nodes
from marrow.graph.description import Graph, Parameter

__all__ = ["to_svg", "to_text"]


@dataclass(frozen=True)
class Drawn:
    """A node as it is drawn: what it is called where it stands, its kind, what it says, and what is below it."""

    role: str
    kind: str
    says: list[str]
    below: list[Drawn] = field(default_factory=list)


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return "(" + ", ".join(_value(v) for v in value) + ")"
    if isinstance(value, dict):
        return ", ".join(f"{k} {_value(v)}" for k, v in value.items())
    return str(value)


def _inputs(node: nodes.Node) -> Iterator[tuple[str, Any]]:
    """The nodes below a node, each with the name of its place."""
    if isinstance(node, nodes.Blend):
        for k, source in enumerate(node.inputs):
            weight = (
                node.weights[k]
                if len(node.weights) == len(node.inputs)
                else (f"1 - {node.weights[0]}", node.weights[0])[k]
            )
            yield f"x {_value(weight)}", source
    elif isinstance(node, nodes.Switch):
        for k, source in enumerate(node.inputs):
            yield str(k), source
    elif isinstance(node, (nodes.BlendSpace1D, nodes.BlendSpace2D)):
        for point in node.points:
            yield f"at {_value(point.at)}", point.source
    elif isinstance(node, nodes.StateMachine):
        for name, state in node.states.items():
            yield name, state.source
    else:
        for name in ("source", "base", "overlay", "addition"):
            if hasattr(node, name):
                yield name, getattr(node, name)


_HIDDEN = {"inputs", "weights", "points", "states", "transitions", "source", "base", "overlay", "addition"}


def _drawn(role: str, node: Any) -> Drawn:
    if isinstance(node, str):
        return Drawn(role, "clip", [node])
    says = []
    if isinstance(node, nodes.ClipNode):
        says.append(node.clip)
    for info in msgspec.structs.fields(node):
        value = getattr(node, info.name)
        if (
            info.name in _HIDDEN
            or value is None
            or (isinstance(node, nodes.ClipNode) and info.name == "clip")
        ):
            continue
        if info.default is not msgspec.NODEFAULT and value == info.default:
            continue
        if info.default_factory is not msgspec.NODEFAULT and value == info.default_factory():
            continue
        says.append(f"{info.name} {_value(value)}")
    if isinstance(node, nodes.StateMachine):
        says += [_transition(t) for t in node.transitions]
    return Drawn(role, type(node).__name__, says, [_drawn(name, below) for name, below in _inputs(node)])


def _transition(t: nodes.Transition) -> str:
    how = f"{t.blend} {t.seconds:g} s" if t.seconds else "at once"
    return f"{t.source} -> {t.to}: {' and '.join(t.when) or 'always'} ({how})"


def _parameter(name: str, p: Parameter) -> str:
    parts = [p.type, f"= {_value(p.default)}" if p.type != "trigger" else ""]
    parts += [f"in {_value(p.range)}"] if p.range else []
    parts += [f"smoothed {p.smoothing:g} s"] if p.smoothing else []
    parts += [f"held {p.hold:g} s"] if p.hold else []
    return f"{name}: {' '.join(x for x in parts if x)}"


def to_text(graph: Graph) -> str:
    """The graph as a tree of lines."""
    lines = [graph.name or "graph"]
    for name, parameter in graph.parameters.items():
        lines.append(f"  {_parameter(name, parameter)}")

    def walk(node: Drawn, lead: str, last: bool) -> None:
        head = f"{node.role}: " if node.role else ""
        first = [] if node.kind == "StateMachine" else node.says
        lines.append(f"{lead}{'└─ ' if last else '├─ '}{head}{node.kind} {', '.join(first)}".rstrip())
        inner = lead + ("   " if last else "│  ")
        if node.kind == "StateMachine":
            bar = "│" if node.below else " "
            lines.extend(f"{inner}{bar}    {line}" for line in node.says)
        for k, below in enumerate(node.below):
            walk(below, inner, k == len(node.below) - 1)

    walk(_drawn("", graph.root), "", True)
    return "\n".join(lines) + "\n"


# -- SVG ----------------------------------------------------------------------------------------------------------

ROW, STEP, CHARACTER = 15, 28, 6.6
_COLOURS = {
    "clip": "#e8f1fb", "ClipNode": "#e8f1fb", "PoseNode": "#e8f1fb", "StateMachine": "#fdf0dc", "Switch": "#fdf0dc",
    "LayerBlend": "#e9f6e9", "Additive": "#e9f6e9", "Slot": "#e9f6e9", "TwoBoneIK": "#f7e8f3", "LookAt": "#f7e8f3",
}  # fmt: skip


def to_svg(graph: Graph) -> str:
    """The graph as a picture: boxes from left to right, each with what it says."""
    shapes: list[str] = []

    def size(node: Drawn) -> tuple[float, float]:
        title = f"{node.role}: {node.kind}" if node.role else node.kind
        longest = max(len(title), *(len(s) for s in node.says)) if node.says else len(title)
        return 16 + CHARACTER * longest, 12 + ROW * (1 + len(node.says))

    def widths(node: Drawn, level: int, found: dict[int, float]) -> None:
        found[level] = max(found.get(level, 0.0), size(node)[0])
        for below in node.below:
            widths(below, level + 1, found)

    columns: dict[int, float] = {}
    root = _drawn("", graph.root)
    widths(root, 0, columns)
    left = [20.0]
    for level in range(len(columns)):
        left.append(left[-1] + columns[level] + STEP + 12)

    def place(node: Drawn, level: int, top: float) -> tuple[float, float]:
        """Draws a node and what is below it from `top` on; returns its middle and where the next one may begin."""
        width, height = size(node)
        middles, bottom = [], top
        for below in node.below:
            middle, bottom = place(below, level + 1, bottom)
            middles.append(middle)
        bottom = max(bottom, top + height + 10)
        own = (middles[0] + middles[-1]) / 2 if middles else top + height / 2
        own = max(own, top + height / 2)
        bottom = max(bottom, own + height / 2 + 10)
        x, y = left[level], own - height / 2
        for middle in middles:
            a, b = x + width, left[level + 1]
            shapes.append(
                f'<path d="M{a:.0f} {own:.1f}C{a + 20:.0f} {own:.1f} {b - 20:.0f} {middle:.1f} '
                f'{b:.0f} {middle:.1f}" fill="none" stroke="#999"/>'
            )
        colour = _COLOURS.get(node.kind, "#f2f2f2")
        shapes.append(
            f'<rect x="{x:.0f}" y="{y:.1f}" width="{width:.0f}" height="{height}" rx="5" fill="{colour}" stroke="#666"/>'
        )
        title = f"{node.role}: {node.kind}" if node.role else node.kind
        shapes.append(f'<text x="{x + 8:.0f}" y="{y + 16:.1f}" font-weight="bold">{escape(title)}</text>')
        for k, line in enumerate(node.says):
            shapes.append(f'<text x="{x + 8:.0f}" y="{y + 16 + ROW * (k + 1):.1f}">{escape(line)}</text>')
        return own, bottom

    lines = [graph.name or "graph", *(_parameter(n, p) for n, p in graph.parameters.items())]
    heading = [
        f'<text x="20" y="{24 + ROW * k}" font-weight="{"normal" if k else "bold"}">{escape(line)}</text>'
        for k, line in enumerate(lines)
    ]
    _, bottom = place(root, 0, 30.0 + ROW * len(lines))
    width = max(left[-1], 40 + CHARACTER * max(len(line) for line in lines))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{bottom + 10:.0f}" '
        f'font-family="ui-monospace,Menlo,Consolas,monospace" font-size="11" fill="#222">\n'
        f'<rect width="100%" height="100%" fill="white"/>\n' + "\n".join([*heading, *shapes]) + "\n</svg>\n"
    )
