"""Fingerprints of file contents at the speed of memory.

A cache that is checked on every load cannot afford a cryptographic hash: SHA-256 takes longer over a
character than building it does. Here the bytes are laid out as rows of 64-bit words, every row is reduced by
a multilinear universal hash (a dot product with fixed random keys, modulo 2**64), and BLAKE2b digests the few
sums that remain.

The top bits of a word barely reach a sum modulo 2**64, so the high halves are summed on their own as well: a
change anywhere in a row then goes unseen with a chance of at most 2**-32 for each pair of key rows, whatever
the change. Against someone who builds collisions on purpose the keys must be secret: pass a `seed` nobody
else knows.
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
_BLOCK = 64  # rows at a time, so that the passes over a block find it in the CPU's cache


@lru_cache(maxsize=8)
def _keys(seed: bytes, lanes: int) -> NDArray[np.uint64]:
    """Odd random multipliers `(lanes, 2, _ROW)`, the same for the same seed everywhere."""
    raw = hashlib.shake_256(b"marrow fingerprint" + seed).digest(lanes * 2 * _ROW * 8)
    return np.frombuffer(raw, "<u8").reshape(lanes, 2, _ROW).astype(np.uint64) | np.uint64(1)


def fingerprint(*parts: Buffer, seed: bytes = b"", lanes: int = 1) -> bytes:
    """16 bytes that change whenever a byte, the order or the lengths of `parts` change.

    `lanes` is the number of key rows each word is multiplied with: one guards against accidents, two are for
    telling files apart.
    """
    keys = _keys(seed, lanes)
    state = hashlib.blake2b(seed[:64], digest_size=16)
    for part in parts:
        view = memoryview(part).cast("B")
        whole = len(view) // (_ROW * 8) * (_ROW * 8)
        state.update(len(view).to_bytes(8, "little"))
        if whole:
            words: NDArray[Any] = np.frombuffer(view[:whole], "<u8").reshape(-1, _ROW)
            for start in range(0, len(words), _BLOCK):
                block = words[start : start + _BLOCK]
                high = block >> np.uint64(32)
                for low_key, high_key in keys:
                    state.update(np.einsum("ij,j->i", block, low_key).astype("<u8").tobytes())
                    state.update(np.einsum("ij,j->i", high, high_key).astype("<u8").tobytes())
        state.update(view[whole:])
    return state.digest()
