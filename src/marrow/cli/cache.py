"""`marrow cache info` and `marrow cache clear`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from marrow.cli._errors import note
from marrow.cli._output import bytes_text, print_json, say

__all__ = ["clear", "info"]


def info(*, json: Annotated[bool, Parameter(negative=())] = False) -> None:
    """Show where the cache is and how full.

    Parameters
    ----------
    json
        Print JSON.
    """
    from marrow.io import cache

    facts = cache.info()
    if json:
        place = str(facts.path) if facts.path else None
        told = {"path": place, "entries": facts.entries, "bytes": facts.bytes, "limit": facts.limit}
        print_json(told | {"problem": facts.problem or None})
    elif facts.path is None:
        print("the cache is off (MARROW_CACHE=off)")
    else:
        say(f"folder   {facts.path}")
        print(f"entries  {facts.entries}")
        print(f"size     {bytes_text(facts.bytes)} of {bytes_text(facts.limit)}")
        if facts.problem:
            say(f"not used: this folder {facts.problem}")


def clear() -> None:
    """Remove every entry of the cache."""
    from marrow.io import cache

    problem = cache.info().problem
    count = cache.clear()
    if problem:
        note(f"{cache.folder()}: this folder {problem}")
    print(f"{count} {'entry' if count == 1 else 'entries'} removed")
