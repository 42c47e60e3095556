"""The notebook that marrow runs in, as far as its kernel knows it."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

__all__ = ["CellRun", "Output", "cell_run", "in_notebook"]


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


class Output:
    """Something below the running cell that can be replaced later: data by media type, as notebooks keep it."""

    def __init__(self, data: dict[str, Any], metadata: dict[str, Any] | None = None) -> None:
        display = sys.modules["IPython"].display  # type: ignore[attr-defined]
        self._handle = display.display(data, metadata=metadata, raw=True, display_id=True)

    def replace(self, data: dict[str, Any], metadata: dict[str, Any] | None = None) -> None:
        self._handle.update(data, metadata=metadata, raw=True)
