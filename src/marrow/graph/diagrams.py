"""How a graph looks: as a tree of text, and as a picture in SVG."""

from __future__ import annotations

import html
from dataclasses import dataclass, field

from marrow.graph.description import Graph, Montage, Parameter
from marrow.graph.nodes import AnyNode, ClipNode
from marrow.graph.nodes.base import check_size, told
from marrow.printing import one_line

__all__ = ["to_svg", "to_text"]


@dataclass(frozen=True)
class Drawn:
    """A node as it is drawn: what it is called where it stands, its kind, what it says, and what is below it."""

    role: str
    kind: str
    colour: str
    says: list[str]
    below: list[Drawn] = field(default_factory=list)


def _drawn(role: str, node: AnyNode) -> Drawn:
    if isinstance(node, str):
        return Drawn(role, "clip", ClipNode.colour, [node])
    below = [_drawn(child.role, child.node) for child in node.children()]
    return Drawn(role, type(node).__name__, type(node).colour, node.says(), below)


def _montage(name: str, m: Montage) -> str:
    sections = ", ".join(f"{section} {time:g} s" for section, time in m.sections.items())
    return f"{name}: montage of {m.clip} in {m.slot}: {sections}"


def _parameter(name: str, p: Parameter) -> str:
    parts = [p.type, f"= {told(p.default)}" if p.type != "trigger" else ""]
    parts += [f"in {told(p.range)}"] if p.range else []
    parts += [f"round {told(p.wrap)}"] if p.wrap else []
    parts += [f"smoothed {p.smoothing:g} s"] if p.smoothing else []
    parts += [f"held {p.hold:g} s"] if p.hold else []
    return f"{name}: {' '.join(x for x in parts if x)}"


def to_text(graph: Graph) -> str:
    """The graph as a tree of lines."""
    check_size(graph.root)
    lines = [graph.name or "graph"]
    for name, parameter in graph.parameters.items():
        lines.append(f"  {_parameter(name, parameter)}")
    for name, montage in graph.montages.items():
        lines.append(f"  {_montage(name, montage)}")

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
    return "\n".join(map(one_line, lines)) + "\n"


# -- SVG ----------------------------------------------------------------------------------------------------------

ROW, STEP, CHARACTER = 15, 28, 6.6


def escape(text: str) -> str:
    """Text as SVG shows it; XML has no word for control characters."""
    return html.escape(one_line(text), quote=True)


def to_svg(graph: Graph) -> str:
    """The graph as a picture: boxes from left to right, each with what it says."""
    check_size(graph.root)
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
        shapes.append(
            f'<rect x="{x:.0f}" y="{y:.1f}" width="{width:.0f}" height="{height}" rx="5" '
            f'fill="{node.colour}" stroke="#666"/>'
        )
        title = f"{node.role}: {node.kind}" if node.role else node.kind
        shapes.append(f'<text x="{x + 8:.0f}" y="{y + 16:.1f}" font-weight="bold">{escape(title)}</text>')
        for k, line in enumerate(node.says):
            shapes.append(f'<text x="{x + 8:.0f}" y="{y + 16 + ROW * (k + 1):.1f}">{escape(line)}</text>')
        return own, bottom

    lines = [graph.name or "graph", *(_parameter(n, p) for n, p in graph.parameters.items())]
    lines += [_montage(n, m) for n, m in graph.montages.items()]
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
