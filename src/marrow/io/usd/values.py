"""NumPy arrays as USD's values and back, and names that USD takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import affine

__all__ = [
    "PrimNames", "column_affine", "define", "floats", "halves3", "identifier", "ints", "matrices", "matrix", "quaternions",
    "vectors2", "vectors3", "vectors4",
]  # fmt: skip

Array = NDArray[Any]


def _filled(kind: str, values: Any, dtype: Any) -> Any:
    from pxr import Vt

    return getattr(Vt, kind).FromNumpy(np.ascontiguousarray(values, dtype))


def vectors2(values: Any) -> Any:
    return _filled("Vec2fArray", values, np.float32)


def vectors3(values: Any) -> Any:
    return _filled("Vec3fArray", values, np.float32)


def vectors4(values: Any) -> Any:
    return _filled("Vec4fArray", values, np.float32)


def halves3(values: Any) -> Any:
    return _filled("Vec3hArray", values, np.float16)


def quaternions(values: Any) -> Any:
    """Quaternions `(n, 4)` as xyzw, which is how USD has them in memory."""
    return _filled("QuatfArray", values, np.float32)


def floats(values: Any) -> Any:
    return _filled("FloatArray", np.asarray(values).reshape(-1), np.float32)


def ints(values: Any) -> Any:
    return _filled("IntArray", np.asarray(values).reshape(-1), np.int32)


def matrices(m: Array) -> Any:
    """Affine matrices `(n, 3, 4)` as USD has them: 4x4, for row vectors."""
    rows = affine.to_4x4(np.asarray(m, np.float64)).swapaxes(-1, -2)
    return _filled("Matrix4dArray", rows + 0.0, np.float64)  # no zeros with a sign


def matrix(m: Array) -> Any:
    """One affine matrix."""
    from pxr import Gf

    return Gf.Matrix4d(*affine.to_4x4(np.asarray(m, np.float64)).T.ravel().tolist())


def column_affine(found: Any) -> Array:
    """USD's 4x4 for row vectors as marrow's `(..., 3, 4)` for column vectors."""
    return affine.from_4x4(np.swapaxes(np.asarray(found, np.float64), -1, -2))


def identifier(name: str) -> str:
    """A name as USD takes it: letters, digits and `_` of ASCII, which programs of any age read."""
    from pxr import Tf

    return str(Tf.MakeValidIdentifier(name.encode("ascii", "replace").decode())) if name else "unnamed"


def define(stage: Any, parent: Any, prims: Sequence[tuple[str, str]]) -> list[Any]:
    """Prims of names and kinds below another, all at once: one after the other, each is compared with those before it."""
    from pxr import Sdf

    layer = stage.GetRootLayer()
    above = layer.GetPrimAtPath(parent)
    with Sdf.ChangeBlock():
        for name, kind in prims:
            Sdf.PrimSpec(above, name, Sdf.SpecifierDef, kind)
    return [stage.GetPrimAtPath(f"{parent}/{name}") for name, _ in prims]


class PrimNames:
    """Names that USD takes, each once below its parent."""

    def __init__(self) -> None:
        self._taken: set[tuple[object, str]] = set()
        self._next: dict[tuple[object, str], int] = {}

    def of(self, name: str, parent: object) -> str:
        stem = unique = identifier(name)
        while (parent, unique) in self._taken:
            n = self._next.get((parent, stem), 2)
            self._next[parent, stem] = n + 1
            unique = f"{stem}_{n}"
        self._taken.add((parent, unique))
        return unique
