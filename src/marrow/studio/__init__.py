"""The studio: a page in the browser to see, scrub and steer any character."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from marrow.studio.effectors import StudioEffectors
    from marrow.studio.handle import StudioView, view
    from marrow.studio.page.export import ExportedPage, export_page

__all__ = ["ExportedPage", "StudioEffectors", "StudioView", "export_page", "view"]
_ROOMS = {"StudioEffectors": "effectors", "ExportedPage": "page.export", "export_page": "page.export"}


def __getattr__(name: str) -> Any:
    # The web server is imported when a studio is opened; the protocol alone needs none of it.
    if name not in __all__:
        raise AttributeError(f"module 'marrow.studio' has no attribute {name!r}")
    import importlib

    room = _ROOMS.get(name, "handle")
    value = globals()[name] = getattr(importlib.import_module(f"marrow.studio.{room}"), name)
    return value
