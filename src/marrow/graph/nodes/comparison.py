"""Comparing descriptions: trees of any depth, with nodes that stand in many places, or within themselves."""

from __future__ import annotations

from typing import Any

import msgspec

from marrow.model._asset import same

__all__ = ["same_tree"]


def same_tree(first: Any, second: Any) -> bool:
    """Whether two descriptions say the same. Each pair of parts is looked at once, without recursion."""
    pairs, seen = [(first, second)], set()
    while pairs:
        a, b = pairs.pop()
        if a is b or (id(a), id(b)) in seen:
            continue
        if isinstance(a, msgspec.Struct):
            if type(a) is not type(b):
                return False
            pairs += [(getattr(a, name), getattr(b, name)) for name in a.__struct_fields__]
        elif isinstance(a, (tuple, list)):
            if type(a) is not type(b) or len(a) != len(b):
                return False
            pairs += zip(a, b)
        elif isinstance(a, dict):
            if not isinstance(b, dict) or a.keys() != b.keys():
                return False
            pairs += [(value, b[key]) for key, value in a.items()]
        elif not same(a, b):
            return False
        # Parts are kept alive by the two, so that no other takes over their number.
        seen.add((id(a), id(b)))
    return True
