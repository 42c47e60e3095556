"""How long ufbx itself takes for a file: reading the scene and baking its stacks, with the options marrow gives it. That
is what `marrow bench io` compares with. A reader of its own (see `marrow.io.reader_worker`)."""

from __future__ import annotations

import struct
import time
from typing import Any

from marrow.io.fbx.ufbx_import import ufbx  # isort: skip

from marrow.io.fbx.scene_walk import load_scene
from marrow.io.fbx.stack_walk import bake
from marrow.io.fbx.ufbx_binding import elements, hold

__all__ = ["SECONDS", "answer", "prepare"]

SECONDS = struct.Struct("<d")


def prepare() -> None:
    """Nothing is to be done beforehand."""


def answer(data: bytes, options: dict[str, Any]) -> bytes:
    """The seconds; not a number for a file that ufbx cannot read."""
    start = time.perf_counter()
    try:
        scene = load_scene(data, None)
    except ufbx.UfbxError:
        return SECONDS.pack(float("nan"))
    for stack in elements(scene.anim_stacks):
        bake(scene, hold(stack.anim), options["rate"])
    return SECONDS.pack(time.perf_counter() - start)
