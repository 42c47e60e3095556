"""The notebook that marrow runs in, as far as its kernel knows it."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple, Protocol

__all__ = ["CellRun", "Output", "cell_run", "close_earlier", "in_notebook", "owned_by_cell"]


class CellRun(NamedTuple):
    """One run of a cell: which `cell` it is, and which `run` of it."""

    cell: str
    run: str


def _kernel_shell() -> Any | None:
    """IPython's shell where it serves a notebook; None in a terminal and in plain Python."""
    module = sys.modules.get("IPython")
    found = module.get_ipython() if module is not None else None
    return found if found is not None and hasattr(found, "kernel") else None


def in_notebook() -> bool:
    """Whether this runs in a notebook's kernel, which keeps what is shown in its file."""
    return _kernel_shell() is not None


def cell_run() -> CellRun | None:
    """The run of the cell that calls this; None outside notebooks. A cell whose notebook gives it no number is known by
    its text."""
    shell = _kernel_shell()
    request: Any = getattr(shell, "get_parent", dict)()
    if not isinstance(request, dict) or not request.get("header"):
        return None
    cell = (request.get("metadata") or {}).get("cellId") or (request.get("content") or {}).get("code")
    return CellRun(str(cell), str(request["header"].get("msg_id"))) if cell else None


class Closable(Protocol):
    def close(self) -> None: ...


_opened: dict[str, tuple[str, list[Closable]]] = {}
"""What cells have opened, by cell: in which run, and what."""


def close_earlier() -> None:
    """Closes what the cell that runs now opened when it ran before: its output is gone."""
    here = cell_run()
    if here is not None and here.cell in _opened and _opened[here.cell][0] != here.run:
        for thing in _opened.pop(here.cell)[1]:
            thing.close()


def owned_by_cell(thing: Closable) -> None:
    """Has something closed when the cell that runs now runs again; outside notebooks nothing happens."""
    here = cell_run()
    if here is not None:
        _opened.setdefault(here.cell, (here.run, []))[1].append(thing)


class Output:
    """Something below the running cell that can be replaced later: an object that shows itself, or data by media type."""

    def __init__(self, shown: Any) -> None:
        display = sys.modules["IPython"].display  # type: ignore[attr-defined]
        self._handle = display.display(shown, raw=isinstance(shown, dict), display_id=True)

    def replace(self, shown: Any) -> None:
        self._handle.update(shown, raw=isinstance(shown, dict))
