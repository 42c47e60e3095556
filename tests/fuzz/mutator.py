"""A small mutator for files of any kind: it damages bytes, numbers, lengths and structure, the same for the
same seed.
"""

from __future__ import annotations

import copy
import random
import re
import struct
from typing import Any

_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:e-?\d+)?")
_ODD_NUMBERS = (
    b"-1",
    b"0",
    b"1",
    b"255",
    b"65536",
    b"2147483647",
    b"4294967295",
    b"1e38",
    b"-1e999",
    b"nan",
    b"9" * 30,
)
_ODD_WORDS = (0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7F800000, 0x7FC00000)


def mutate(data: bytes, rng: random.Random) -> bytes:
    """`data` with one to a dozen changes."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 3, 5, 12))):
        if not out:
            break
        rng.choice(_MUTATIONS)(out, rng)
    return bytes(out)


def mutate_numbers(data: bytes, rng: random.Random) -> bytes:
    """A text file with a few of its numbers exchanged: its grammar holds, its counts and indices do not."""
    found = list(_NUMBER.finditer(data))
    out = bytearray(data)
    for match in sorted(rng.sample(found, min(len(found), rng.choice((1, 2, 4)))), key=lambda m: -m.start()):
        other = rng.choice(found)[0] if rng.random() < 0.5 else rng.choice(_ODD_NUMBERS)
        out[match.start() : match.end()] = other
    return bytes(out)


def _flip(out: bytearray, rng: random.Random) -> None:
    out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)


def _byte(out: bytearray, rng: random.Random) -> None:
    out[rng.randrange(len(out))] = rng.randrange(256)


def _word(out: bytearray, rng: random.Random) -> None:
    # Aligned, as binary formats keep their counts and offsets.
    at = rng.randrange(len(out)) & ~3
    out[at : at + 4] = struct.pack("<I", rng.choice(_ODD_WORDS))


def _number(out: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(out))
    match = _NUMBER.search(out, start, start + 4000)
    if match:
        out[match.start() : match.end()] = rng.choice(_ODD_NUMBERS)


def _cut(out: bytearray, rng: random.Random) -> None:
    at = rng.randrange(len(out))
    del out[at : at + rng.choice((1, 4, 16, 300))]


def _repeat(out: bytearray, rng: random.Random) -> None:
    at = rng.randrange(len(out))
    out[at:at] = out[at : at + rng.choice((1, 4, 16, 300))]


def _move(out: bytearray, rng: random.Random) -> None:
    size = rng.choice((4, 16, 64))
    a, b = rng.randrange(len(out)), rng.randrange(len(out))
    out[a : a + size] = out[b : b + size]


def _truncate(out: bytearray, rng: random.Random) -> None:
    del out[rng.randrange(len(out)) :]


def _line(out: bytearray, rng: random.Random) -> None:
    """Drops or doubles a line, or a value between commas: the structure of text formats."""
    pieces = re.split(rb"([\n,])", bytes(out), maxsplit=2000)
    i = rng.randrange(len(pieces))
    pieces[i : i + 1] = [] if rng.random() < 0.5 else [pieces[i], pieces[i]]
    out[:] = b"".join(pieces)


_MUTATIONS = (_flip, _byte, _word, _number, _number, _cut, _repeat, _move, _truncate, _line)


_ODD_VALUES = (
    None,
    True,
    -1,
    0,
    1,
    7,
    255,
    2**31 - 1,
    2**31,
    2**53,
    -(2**40),
    0.5,
    1e308,
    "",
    "x",
    "../../etc",
    [],
    {},
    [0],
)


def mutate_json(document: Any, rng: random.Random) -> None:
    """Changes a parsed JSON document in place, one to a few times: it stays JSON, but no longer means what it
    did.
    """
    for _ in range(rng.choice((1, 1, 2, 4))):
        holder = _place(document, rng)
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        if not keys:
            continue
        key, other = rng.choice(keys), rng.choice(keys)
        kind = rng.randrange(6)
        if kind == 0:
            del holder[key]
        elif kind == 1:
            holder[key] = copy.deepcopy(holder[other])
        elif kind == 2 and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        elif kind == 3 and isinstance(holder[key], (int, float)) and not isinstance(holder[key], bool):
            holder[key] += rng.choice((-1, 1, 2, 100, -1000))
        else:
            holder[key] = copy.deepcopy(rng.choice(_ODD_VALUES))


def _place(document: Any, rng: random.Random) -> Any:
    """A random object or list inside the document, deep ones as likely as shallow ones."""
    holders, stack = [], [document]
    while stack:
        item = stack.pop()
        if isinstance(item, (dict, list)):
            holders.append(item)
            stack.extend(item.values() if isinstance(item, dict) else item)
    return rng.choice(holders)
