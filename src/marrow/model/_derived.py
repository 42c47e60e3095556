"""What is computed from a frozen asset once and kept beside it: layouts, palettes, banks."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

__all__ = ["derived", "share_derived"]


def derived(owner: object, key: Hashable, build: Callable[[], Any]) -> Any:
    """The value kept under `key` with `owner`, built on first use. It lives as long as the owner, is no field of it, and
    does not follow when the owner is copied with changes. Two threads may build it twice; one result stays."""
    kept = owner.__dict__.get("_derived")
    if kept is None:
        kept = owner.__dict__.setdefault("_derived", {})
    value = kept.get(key)
    if value is None:
        value = kept.setdefault(key, build())
    return value


def share_derived(owner: object, like: object) -> None:
    """Lets `owner` have what is kept with an equal asset: what is computed of one holds for the other."""
    owner.__dict__["_derived"] = like.__dict__.setdefault("_derived", {})
