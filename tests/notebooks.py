"""A notebook without Jupyter: what marrow asks of IPython, kept in lists. Real ones were tried by hand."""

from __future__ import annotations

import itertools
import sys
from types import SimpleNamespace
from typing import Any

import pytest

__all__ = ["FakeNotebook"]


class FakeNotebook:
    """`outputs` are what its cells show now, by number, data by media type; `run` begins the run of a cell."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.outputs: list[dict[str, Any]] = []
        self._runs = itertools.count()
        self._request: dict[str, Any] = {}
        shell = SimpleNamespace(kernel=object(), get_parent=lambda: self._request)
        module = SimpleNamespace(get_ipython=lambda: shell, display=SimpleNamespace(display=self._display))
        patch.setitem(sys.modules, "IPython", module)  # type: ignore[arg-type]

    def run(self, cell: str = "", *, code: str = "") -> None:
        metadata = {"cellId": cell} if cell else {}
        header = {"msg_id": f"run {next(self._runs)}"}
        self._request = {"header": header, "metadata": metadata, "content": {"code": code}}

    def _display(self, data: Any, *, raw: bool = False, display_id: Any = None) -> Any:
        at = len(self.outputs)
        self.outputs.append(data if raw else bundle_of(data))

        def update(data: Any, *, raw: bool = False) -> None:
            self.outputs[at] = data if raw else bundle_of(data)

        return SimpleNamespace(update=update)


def bundle_of(thing: Any) -> dict[str, Any]:
    """What a notebook keeps of a value."""
    if hasattr(thing, "_repr_mimebundle_"):
        return dict(thing._repr_mimebundle_())
    found = {"text/plain": repr(thing)}
    for kind, method in (("text/html", "_repr_html_"), ("image/png", "_repr_png_")):
        if hasattr(thing, method):
            found[kind] = getattr(thing, method)()
    return found
