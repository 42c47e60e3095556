"""What a graph is in one line, and as a card in a notebook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from marrow.display.cards import card, counted, escape, some, table
from marrow.errors import MarrowError
from marrow.graph.nodes.base import Node
from marrow.printing import one_line

if TYPE_CHECKING:
    from marrow.graph.description import Graph

__all__ = ["graph_card", "graph_line"]

PARAMETERS, CLIPS, LINES = 8, 8, 60


def _nodes(root: Any) -> Iterator[Any]:
    """The nodes, each once, and the names of clips wherever they stand. A graph that makes no sense is shown too."""
    waiting, seen = [root], set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            yield node
        if not isinstance(node, Node) or id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        try:
            waiting += [child.node for child in reversed(node.children())]
        except (AttributeError, TypeError, ValueError):
            continue


def graph_line(graph: Graph) -> str:
    """`Graph('legs', 3 nodes, 1 parameter: speed)`."""
    parts = [repr(graph.name)] if graph.name else []
    parts.append(counted(sum(1 for _ in _nodes(graph.root)), "node"))
    names = [one_line(name)[:40] for name in graph.parameters]
    if names:
        parts.append(f"{counted(len(names), 'parameter')}: {some(names, 4)}")
    if graph.montages:
        parts.append(counted(len(graph.montages), "montage"))
    return f"Graph({', '.join(parts)})"


def graph_card(graph: Graph) -> str:
    """Parameters, kinds of nodes, clips, and the tree to unfold."""
    from marrow.graph.diagrams import to_text

    nodes = list(_nodes(graph.root))
    kinds = Counter(type(node).__name__ for node in nodes if not isinstance(node, str))
    clips = list(dict.fromkeys(one_line(_clip(node)) for node in nodes if _clip(node)))
    parameters = [f"{one_line(name)[:40]} ({p.type})" for name, p in graph.parameters.items()]
    rows = [
        ("nodes", f"{len(nodes)}: {some([f'{n} {kind}' for kind, n in kinds.most_common()], 6)}"),
        ("parameters", f"{len(parameters)}: {some(parameters, PARAMETERS)}" if parameters else "none"),
        ("clips", f"{len(clips)}: {some(clips, CLIPS)}" if clips else "none"),
    ]
    if graph.montages:
        rows.append(("montages", some([one_line(name) for name in graph.montages], CLIPS)))
    try:
        lines = to_text(graph).splitlines()
    except (MarrowError, AttributeError, TypeError):  # it is shown as far as it goes
        lines = []
    more = (
        [f"... {len(lines) - LINES} more lines: marrow.graph.diagrams.to_text(graph)"]
        if len(lines) > LINES
        else []
    )
    tree = "\n".join(escape(line, longest=110) for line in [*lines[:LINES], *more])
    fold = (
        '<details><summary style="cursor:pointer">tree</summary>'
        f'<pre style="font-size:11px;line-height:1.35;overflow-x:auto">{tree}</pre></details>'
        if tree
        else ""
    )
    return card("Graph", graph.name, table(rows, longest=300), fold)


def _clip(node: Any) -> str:
    """The clip that a node plays; none for those that blend."""
    found = node if isinstance(node, str) else getattr(node, "clip", "")
    return found if isinstance(found, str) else ""
