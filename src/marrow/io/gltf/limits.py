"""What a file may ask for before it is refused.

A few bytes of JSON can ask for gigabytes (an accessor without data, ten thousand primitives over one array),
so whatever a reader allocates is charged to a `Budget` first. The limits lie far above real characters.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from marrow.errors import ResourceLimitError

__all__ = ["MAX_CHANNELS", "MAX_LISTED", "MAX_MORPHS", "MAX_NODES", "MAX_PRIMITIVES", "Budget", "limit"]

MAX_JSON_BYTES = 256 << 20
MAX_JSON_OBJECTS = 2_000_000
MAX_JSON_VALUES = 4_000_000
MAX_NODES = 200_000
MAX_PRIMITIVES = 10_000
MAX_MESHES = 50_000
# Over all nodes that show a mesh: what skinning, bounds and checks go through.
MAX_VERTICES = 256_000_000
MAX_CHANNELS = 200_000
MAX_MORPHS = 50_000
MAX_LISTED = 50_000
MAX_DECODED_BYTES = 1 << 30
MAX_IMAGE_BYTES = 512 << 20


def limit(count: int, most: int, what: str, path: object) -> None:
    """Refuses a file that has more than `most` of something."""
    if count > most:
        raise ResourceLimitError(f"has {count} {what}; marrow reads at most {most}", path=path)


@dataclass(slots=True)
class Budget:
    """How many bytes a file may still grow to in memory."""

    path: object
    left: int = field(default_factory=lambda: MAX_DECODED_BYTES)

    def charge(self, size: int, place: str) -> None:
        self.left -= size
        if self.left < 0:
            raise ResourceLimitError(
                f"unpacks to more than the {MAX_DECODED_BYTES >> 20} MiB marrow reads",
                path=self.path,
                place=place,
            )
