"""`Surface`: deformed vertices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

__all__ = ["Surface"]


@dataclass(frozen=True, eq=False, repr=False)
class Surface:
    """What skinning makes: `positions (..., V, 3)` over all meshes in file order, unit `normals (..., V, 3)` and
    `tangents (..., V, 4)` with handedness; None where the meshes have none or they were not asked for. Vertices of a
    mesh that lacks what another has are zero."""

    positions: NDArray[Any]
    normals: NDArray[Any] | None = None
    tangents: NDArray[Any] | None = None

    def __repr__(self) -> str:
        also = [name for name in ("normals", "tangents") if getattr(self, name) is not None]
        return f"Surface(positions {self.positions.shape}{''.join(', ' + name for name in also)})"
