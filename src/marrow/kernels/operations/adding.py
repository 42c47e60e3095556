"""How weighted rotations are put on the stack of a pose program, in lanes."""

from __future__ import annotations

from typing import Any

__all__ = ["STRAIGHT", "add_rotation"]

STRAIGHT = (0, 1, 2, 7, 8, 9)
"""Rows that are mixed number by number: translation and scale."""


def add_rotation(e: Any, q: list[Any], w: Any, present: list[Any] | None, stack: Any, at: list[Any]) -> None:
    """Puts `w` of a rotation on the stack, or adds it to what is `present` there, on the side of that."""
    scale = w * e.inverse_length(e.dot(q, q))
    if present is None:
        for c in range(4):
            e.store(stack, at[c], scale * q[c])
        return
    scale = e.select(e.dot(present, q).compare("<", 0.0), -scale, scale)
    for c in range(4):
        e.store(stack, at[c], e.fma(scale, q[c], present[c]))
