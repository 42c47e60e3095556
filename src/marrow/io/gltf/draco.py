"""`KHR_draco_mesh_compression`: compressed primitives, unpacked by DracoPy."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError, MissingExtraError

__all__ = ["installed", "unpack"]

Array = NDArray[Any]


def installed() -> bool:
    """Whether Draco data can be unpacked here."""
    return find_spec("DracoPy") is not None


def unpack(data: bytes, path: object, place: str) -> tuple[Array, dict[int, Array]]:
    """The triangle indices `(F, 3)` and the attributes `(V, C)` by their Draco id."""
    try:
        import DracoPy
    except ImportError:
        raise MissingExtraError("DracoPy", "draco", "a file with Draco compression") from None
    try:
        mesh = DracoPy.decode(data)
        attributes = {int(a["unique_id"]): np.asarray(a["data"]) for a in mesh.attributes}
        faces = np.asarray(getattr(mesh, "faces", np.zeros((0, 3), np.uint32)))
    except MemoryError:
        raise
    except Exception as error:  # the binding raises bare and module-private exceptions alike
        raise FormatError(f"its Draco data is damaged: {error}", path=path, place=place) from None
    return faces.reshape(-1, 3), {
        k: a if a.ndim == 2 else a.reshape(len(a), -1) for k, a in attributes.items()
    }
