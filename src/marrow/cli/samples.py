"""`marrow samples`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

__all__ = ["samples"]


def samples(*, json: Annotated[bool, Parameter(negative=())] = False) -> None:
    """List the built-in characters; their names work wherever a file does.

    Parameters
    ----------
    json
        Print JSON.
    """
    from marrow.samples import describe

    known = describe()
    if json:
        from marrow.cli._output import print_json

        print_json(known)
        return
    for name, words in known.items():
        print(f"{name:12} {words}")
