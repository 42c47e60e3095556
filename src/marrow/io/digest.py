"""Fingerprints of file contents at the speed of memory.

A cache that is checked on every load cannot afford a cryptographic hash: SHA-256 takes longer over a
character than building it does. Here the bytes are laid out as rows of 64-bit words, every row is reduced by
a multilinear universal hash (a dot product with random odd keys, modulo 2**64), and BLAKE2b digests the few
sums that remain.

One changed word always shows, the keys being odd. The top bits of a word barely reach a sum modulo 2**64, so
the high halves are summed on their own as well: whatever changes in a row then goes unseen with a chance of
2**-33 at most (signs flipped in pairs), and mostly of 2**-128. Against someone who builds collisions on
purpose the keys must be secret: pass a `seed` nobody else knows.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["fingerprint"]

Buffer = bytes | bytearray | memoryview
_ROW = 512  # words


@lru_cache(maxsize=8)
def _keys(seed: bytes) -> NDArray[np.uint64]:
    """Odd random multipliers `(2, _ROW)`, the same for the same seed everywhere."""
    raw = hashlib.shake_256(b"marrow fingerprint" + seed).digest(2 * _ROW * 8)
    return np.frombuffer(raw, "<u8").reshape(2, _ROW).astype(np.uint64) | np.uint64(1)


def fingerprint(*parts: Buffer, seed: bytes = b"") -> bytes:
    """16 bytes that change whenever a byte, the order or the lengths of `parts` change."""
    low_keys, high_keys = _keys(seed)
    state = hashlib.blake2b(seed[:64], digest_size=16)
    for part in parts:
        view = memoryview(part).cast("B")
        whole = len(view) // (_ROW * 8) * (_ROW * 8)
        state.update(len(view).to_bytes(8, "little"))
        if whole:
            words: NDArray[Any] = np.frombuffer(view[:whole], "<u8").reshape(-1, _ROW)
            high = words.view("<u4")[:, 1::2]
            for half, keys in ((words, low_keys), (high, high_keys)):
                state.update(np.einsum("ij,j->i", half, keys).astype("<u8", copy=False).tobytes())
        state.update(view[whole:])
    return state.digest()
