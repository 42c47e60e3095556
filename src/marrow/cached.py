"""`cached_property` without a lock.

Python 3.11's holds one lock for an attribute of all objects while any of them computes it: a process that forks meanwhile
has a child that waits for it for ever. Later ones have none. Two threads may compute a value twice; one of them stays.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

__all__ = ["cached_property"]

if sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(functools.cached_property):  # the name that everybody knows
        """`functools.cached_property` as it is from Python 3.12 on."""

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            kept = instance.__dict__
            value = kept.get(self.attrname, kept)
            return kept.setdefault(self.attrname, self.func(instance)) if value is kept else value
