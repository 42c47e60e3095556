"""`Use`: a node that stands elsewhere, shown here too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from marrow.errors import ValidationError
from marrow.graph.nodes.base import AnyNode, Node
from marrow.graph.tables import Part, Place

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler

__all__ = ["Use", "written_once"]


class Use(Node, frozen=True):
    """Shows the node that is called `of`, which stands elsewhere in the graph. It is evaluated once, wherever it is seen:
    one time, one state, one pose. In Python the same named node can simply be put in several places."""

    of: str

    colour: ClassVar[str] = "#ece8fb"

    def compile(self, compiler: Compiler, at: Place) -> Part:
        raise ValidationError(f"{at.path}: no node of this graph is called {self.of!r}")


def written_once(root: AnyNode) -> Any:
    """The tree with every named node in one place: where it occurs again there is a `Use`."""
    known: dict[str, Node] = {}
    seen: set[str] = set()

    def rebuilt(value: Any) -> Any:
        if isinstance(value, Node) and value.name:
            other = known.setdefault(value.name, value)
            if value.name in seen and (other is value or other == value):
                return Use(of=value.name)
            seen.add(value.name)
        if isinstance(value, msgspec.Struct):
            if type(value).__name__ in ("Graph", "Parameter", "Transition"):
                return value
            changed = {
                f: new
                for f in value.__struct_fields__
                if (new := rebuilt(getattr(value, f))) is not getattr(value, f)
            }
            return msgspec.structs.replace(value, **changed) if changed else value
        if isinstance(value, tuple):
            parts = tuple(rebuilt(v) for v in value)
            return parts if any(a is not b for a, b in zip(parts, value)) else value
        if isinstance(value, dict):
            items = {k: rebuilt(v) for k, v in value.items()}
            return items if any(items[k] is not v for k, v in value.items()) else value
        return value

    return rebuilt(root)
