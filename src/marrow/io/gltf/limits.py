"""What a file may ask for before it is refused.

A few bytes of JSON can ask for gigabytes (an accessor without data, ten thousand primitives over one array),
so whatever a reader allocates is charged to a `Budget` first. The limits lie far above real characters.
"""

from __future__ import annotations

from dataclasses import dataclass

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
# What a small file may grow to: so much, and so many bytes for each of its own. Draco packs about twenty to one.
BASE_DECODED_BYTES, DECODED_PER_BYTE = 192 << 20, 40
MAX_IMAGE_BYTES = 512 << 20


def limit(count: int, most: int, what: str, path: object) -> None:
    """Refuses a file that has more than `most` of something."""
    if count > most:
        raise ResourceLimitError(f"has {count} {what}; marrow reads at most {most}", path=path)


@dataclass(slots=True)
class Budget:
    """How many bytes a file may still grow to in memory."""

    path: object
    size: int = MAX_DECODED_BYTES
    """The bytes of the file, with those it refers to."""
    used: int = 0

    @property
    def most(self) -> int:
        return min(MAX_DECODED_BYTES, BASE_DECODED_BYTES + DECODED_PER_BYTE * self.size)

    def charge(self, size: int, place: str) -> None:
        self.used += size
        if self.used > BASE_DECODED_BYTES and self.used > self.most:
            raise ResourceLimitError(
                f"unpacks to more than {self.most >> 20} MiB, which is what marrow makes of a file of {self.size:,} bytes",
                path=self.path,
                place=place,
                remedy="what many parts of it share counts for each of them",
            )
