"""Where two characters differ."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from marrow.model import Character, Clips, Tracks
from marrow.model._asset import same


def assert_same(a: Character, b: Character) -> None:
    """Equal in every bit; otherwise the first difference is said."""
    assert a == b, difference(a, b)
    assert difference(a, b) == ""


def difference(a: Any, b: Any, at: str = "") -> str:
    """The first place where two values differ, and how; empty where they do not."""
    if type(a) is not type(b) and not {type(a), type(b)} <= {int, float}:
        return f"{at}: {type(a).__name__} and {type(b).__name__}"
    if isinstance(a, np.ndarray):
        if a.shape != b.shape:
            return f"{at}: shapes {a.shape} and {b.shape}"
        if not same(a, b):
            k = int(np.flatnonzero((a != b).ravel())[0])
            return f"{at}, number {k}: {a.ravel()[k]} and {b.ravel()[k]}"
        return ""
    parts: list[tuple[Any, Any, str]] = []
    if is_dataclass(a):
        skipped = ("skeleton",) if at.startswith(".clips") else ()  # every clip has it again
        names = [f.name for f in fields(a) if f.compare and f.name not in skipped]
        parts = [(getattr(a, n), getattr(b, n), f"{at}.{n}") for n in names]
    elif isinstance(a, (dict, Clips)):
        if list(a) != list(b) and (isinstance(a, Clips) or set(a) != set(b)):
            return f"{at}: {list(a)} and {list(b)}"
        parts = [(a[key], b[key], f"{at}[{key!r}]") for key in a]
    elif isinstance(a, (tuple, list, Tracks)):
        if len(a) != len(b):
            return f"{at}: {len(a)} and {len(b)} of them"
        parts = [(x, y, f"{at}[{i}]") for i, (x, y) in enumerate(zip(a, b))]
    elif not same(a, b):
        return f"{at}: {str(a)[:80]} and {str(b)[:80]}"
    return next(filter(None, (difference(*part) for part in parts)), "")
