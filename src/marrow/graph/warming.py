"""Graphs that run before their kernel is there.

The control kernel takes half a minute to compile, once per machine and version. Its functions are plain Python too, fast
enough for a few characters: those are moved that way while another process compiles the kernel and keeps it for this and
all later processes. Set `MARROW_KERNELS=wait` to have it compiled before the first update instead, so that every update is
computed by the same code.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from marrow.kernels import control
from marrow.kernels.compiler import cache_folder

__all__ = ["PATIENCE", "Warming", "compile_control", "warming"]

PATIENCE = 32
"""Instances that are worth moving without the kernel; more wait for it."""
LOOK_SECONDS = 0.2


class Warming:
    """The process that compiles the control kernel, if there is one."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._looked = 0.0

    def ready(self, arguments: tuple[Any, ...], count: int) -> bool:
        """Whether to use the kernel for a call with these arguments: because it is there, or because it has to be
        waited for. Sees to it that it will be there."""
        now = time.monotonic()
        if self._child is not None and count <= PATIENCE and now - self._looked < LOOK_SECONDS:
            return False
        self._looked = now
        if control.update_graph.is_there(arguments) or not self._start():
            return True
        assert self._child is not None
        if count > PATIENCE:
            self._child.wait()
        # A process that has ended without a kernel has failed: compiling it here will tell why.
        return self._child.poll() is not None

    @property
    def busy(self) -> bool:
        """Whether a process compiles just now."""
        return self._child is not None and self._child.poll() is None

    def _start(self) -> bool:
        """Starts the process, where that can help and be done: False where it cannot."""
        if self._child is not None:
            return True
        # Inside another program the executable is not Python, and without a folder nothing would be left of the work.
        python = Path(sys.executable or "").stem.lower().startswith("python")
        if not python or os.environ.get("MARROW_KERNELS") == "wait" or cache_folder() is None:
            return False
        try:
            self._child = subprocess.Popen(
                [sys.executable, "-c", "from marrow.graph.warming import compile_control; compile_control()"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "MARROW_KERNELS": "wait"},
                start_new_session=True,
            )
        except OSError:
            return False
        return True


warming = Warming()


def compile_control() -> None:
    """Compiles the control kernel by moving the smallest of all graphs."""
    from marrow.graph import ClipNode, Graph, compile_graph
    from marrow.graph.control import GraphControl
    from marrow.model import Character, Clip, Clips, Skeleton

    if hasattr(os, "nice"):
        os.nice(5)
    skeleton = Skeleton(("root",), np.array([-1]))
    clips = Clips([Clip("still", skeleton, duration=1.0)])
    graph = compile_graph(Graph(ClipNode("still")), Character(skeleton, clips=clips))
    GraphControl(graph, 1, compiled_kernel=True).update(np.zeros(1))
