"""What all nodes share: they are frozen, comparable data, written to JSON with their class name as the tag `node`."""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ["Ease", "Node", "Value"]

Value = float | str
"""A number, or the name of a parameter."""

Ease = Literal["linear", "smooth", "smoother", "in", "out"]
"""How a fade runs from 0 to 1: `s`, `3s^2 - 2s^3`, `6s^5 - 15s^4 + 10s^3`, `s^2`, `1 - (1 - s)^2`."""


class Node(
    msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="node", tag=str
):
    """A piece of a graph: it describes a pose over time. Descriptions hold no state and may be shared."""
