"""Which source goes into which shard: a function of the names and sizes of the sources alone.

Sources are sorted by name, each goes to the split its name hashes to, and a split is cut into shards where the hash of
a name says so. So a source that is added or taken away changes the shard it falls into, seldom a neighbour, and no split.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import PurePosixPath

import msgspec

from marrow.dataset.recipe import SPLITS, Shares, digest_of
from marrow.dataset.sources import SourceFile

__all__ = ["Shard", "planned", "split_of"]

MOST_SOURCES = 256
"""The most sources of one shard. A shard is what is lost when a worker dies."""


class Shard(msgspec.Struct, frozen=True):
    """Sources that make one file, in order. `key` names it; it changes with the recipe and with the names of its
    sources."""

    key: str
    split: str
    sources: tuple[SourceFile, ...]

    @property
    def size(self) -> int:
        return sum(s.size for s in self.sources)


def _part(text: str, purpose: str) -> float:
    """A number in 0..1 that only a name decides."""
    return int.from_bytes(hashlib.sha256(f"{purpose}\0{text}".encode()).digest()[:7], "big") / (1 << 56)


def split_of(name: str, shares: Shares, by: str = "source", path: str = "") -> str:
    """The split of a source; with `by="folder"` all files of a folder go together (takes of one actor, say).

    A file that lies directly in what was given goes by the name of the folder at its `path`: `mocap` and
    `mocap/actor1 mocap/actor2` are split alike.
    """
    group = name
    if by == "folder":
        above = PurePosixPath(name).parent
        group = str(above) if above.parts else PurePosixPath(path.replace("\\", "/")).parent.name or "."
    at = _part(group, "split")
    for split, share in zip(SPLITS[:-1], shares):
        if at < share:
            return split
        at -= share
    return SPLITS[-1] if shares[2] else SPLITS[1] if shares[1] else SPLITS[0]


def planned(
    sources: Sequence[SourceFile],
    recipe_digest: str,
    shares: Shares,
    *,
    by: str = "source",
    shard_bytes: int = 16 << 20,
) -> list[Shard]:
    """The shards of all splits, those of training first."""
    out: list[Shard] = []
    for split in SPLITS:
        members = [s for s in sources if split_of(s.name, shares, by, s.path) == split]
        run: list[SourceFile] = []
        filled = 0.0
        for source in members:
            run.append(source)
            part = source.size / shard_bytes + 2 / MOST_SOURCES
            filled += part
            # A cut about every time it is full, never before a quarter, at places that names decide; after a change the
            # cuts behind it soon fall on the same places again.
            if filled >= 2 or (filled >= 0.25 and _part(source.name, "cut") < part / 0.75):
                out.append(_shard(split, run, recipe_digest))
                run, filled = [], 0.0
        if run:
            out.append(_shard(split, run, recipe_digest))
    return out


def _shard(split: str, run: list[SourceFile], recipe_digest: str) -> Shard:
    key = digest_of([recipe_digest, split, [s.name for s in run]])[:16]
    return Shard(key, split, tuple(run))
