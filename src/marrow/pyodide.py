"""A browser's Python (Pyodide): what it lacks, and what to say about it.

There are no threads, no processes, no sockets and no files but those in memory, and some packages that marrow builds on
have no build for it. Whoever would use one of them asks here.
"""

from __future__ import annotations

import sys

__all__ = ["ABSENT", "IN_BROWSER"]

IN_BROWSER = sys.platform == "emscripten"
"""Whether this is a browser's Python."""

ABSENT = frozenset(
    {
        *("ufbx", "usd-core", "DracoPy", "meshoptimizer", "wgpu", "rendercanvas", "glfw", "av", "pygfx"),
        *(
            "cyclopts",
            "starlette",
            "uvicorn",
            "websockets",
            "torch",
            "ray",
            "llvmlite",
            "anywidget",
            "simplejpeg",
        ),
    }
)
"""Packages that have no build for it, or are of no use there."""
