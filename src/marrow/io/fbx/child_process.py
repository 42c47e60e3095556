"""What the process that reads FBX files does with one: bytes in, the scene as plain data out (see `blocks`).

This process imports neither NumPy nor marrow's packages, which would take longer than most files do: it starts with
`marrow.io.reader_worker`, the `*_walk` modules, `blocks`, `ufbx_binding` and `ufbx` alone. They import nothing else of
marrow's. What the scene means is worked out in the caller's process (`convert`).
"""

from __future__ import annotations

from typing import Any

from marrow.io.fbx.ufbx_import import ufbx  # isort: skip

from marrow.io.fbx.blocks import Blocks, Buffer
from marrow.io.fbx.scene_walk import walk_scene
from marrow.io.fbx.ufbx_binding import hold, learn_layout

__all__ = ["answer", "prepare"]

_TRIANGLE = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


def prepare() -> None:
    """Learns from a scene of one triangle how the binding's lists lie in memory."""
    scene = hold(ufbx.load_memory(_TRIANGLE, file_format=ufbx.FileFormat.OBJ))
    learn_layout(hold(hold(hold(scene.meshes)[0]).vertices))


def answer(data: bytes, options: dict[str, Any]) -> list[Buffer | bytearray]:
    """The scene of an FBX file; or, where ufbx cannot read it, what it says. `options` are `scale` and `rate`."""
    blocks = Blocks()
    try:
        return blocks.answer(
            walk_scene(data, options["scale"], options["rate"], blocks, cages=bool(options.get("cages")))
        )
    except ufbx.UfbxError as error:
        return blocks.answer({"error": type(error).__name__, "said": str(error)})
