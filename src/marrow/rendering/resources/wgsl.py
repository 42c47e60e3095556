"""Shaders: pieces of WGSL that are joined, and structs that Python and WGSL share by one definition."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["Struct", "piece", "source"]

_FOLDER = Path(__file__).parents[1] / "shaders"
_TYPES = {
    "f32": (4, 4, "f4", ()),
    "u32": (4, 4, "u4", ()),
    "vec2f": (8, 8, "f4", (2,)),
    "vec4f": (16, 16, "f4", (4,)),
    "vec4u": (16, 16, "u4", (4,)),
    "mat4x4f": (64, 16, "f4", (4, 4)),
}


class Struct:
    """A struct of a uniform or storage buffer: its NumPy `dtype`, and `wgsl`, the same in the shader. `put` takes matrices
    row by row, as everywhere in Python, and turns them round: WGSL keeps columns."""

    def __init__(self, name: str, fields: Sequence[tuple[str, str | Struct, int]]) -> None:
        """Fields are `(name, type, how many)`; 0 for a single one, not an array."""
        self.name = name
        self.dtype: np.dtype[Any]
        shape: tuple[int, ...]
        names, formats, offsets, lines, at, align = [], [], [], [], 0, 16
        for field, kind, count in fields:
            if isinstance(kind, Struct):
                size, step, base, shape = kind.dtype.itemsize, 16, kind.dtype, ()
            else:
                size, step, code, shape = _TYPES[kind]
                base = np.dtype(code)
            if count:
                step = max(
                    step, 16
                )  # elements of an array in a uniform buffer begin at multiples of 16 bytes
                if size % 16:
                    raise ValueError(f"{name}.{field}: array elements of {size} bytes")
            at = -(-at // step) * step
            word = kind.name if isinstance(kind, Struct) else kind
            names.append(field)
            formats.append(
                np.dtype((base, ((count, *shape) if count else shape))) if count or shape else base
            )
            offsets.append(at)
            lines.append(f"  {field}: array<{word}, {count}>," if count else f"  {field}: {word},")
            at += size * max(1, count)
            align = max(align, step)
        self.dtype = np.dtype(
            {"names": names, "formats": formats, "offsets": offsets, "itemsize": -(-at // align) * align}
        )
        self._matrices = {field for field, kind, _ in fields if kind == "mat4x4f"}
        self.wgsl = f"struct {name} {{\n" + "\n".join(lines) + "\n}\n"

    def put(self, record: Any, **values: Any) -> None:
        """Writes fields of a record; short vectors leave the rest of theirs as it is."""
        for field, value in values.items():
            value = np.asarray(value)
            if field in self._matrices:
                record[field] = np.swapaxes(value, -1, -2)
            elif value.ndim == 1 and record[field].ndim == 1 and len(value) < len(record[field]):
                record[field][: len(value)] = value
            else:
                record[field] = value


@cache
def piece(name: str) -> str:
    """The text of `shaders/NAME.wgsl`."""
    return (_FOLDER / f"{name}.wgsl").read_text("utf-8")


def source(*parts: str) -> str:
    """Pieces joined; what has a line break is WGSL itself, anything else the name of a piece."""
    return "\n".join(p if "\n" in p else piece(p) for p in parts)
