"""Whether a record of packed motion keeps to its words: what comes from a file is looked at once, before anything is read by it."""

from __future__ import annotations

from marrow.kernels.language.annotations import ANY, i4
from marrow.kernels.language.kernel import kernel
from marrow.kernels.packed_layout import (
    BLOCKS,
    EMPTY,
    FRAMES,
    GROUPS,
    HEAD,
    LENGTH,
    LONGEST,
    MORPH_GROUPS,
    MOST_BITS,
    NEAR_BITS,
    NEAR_ROW,
    NO_BLOCK,
    SEGMENTS,
    WIDEST,
    WORDS,
)

__all__ = ["FAULTS", "check_record"]

FAULTS = (
    "",
    "its head",
    "its table of segments",
    "a cell",
    "a segment",
    "a block",
    "a number that is not finite",
)
"""What may be wrong with a record."""


def half_at(words, at, number):
    word = words[at + (number >> 1)]
    return (word >> 16) & 65535 if (number & 1) != 0 else word & 65535


def octet_at(words, number):
    word, k = words[number >> 2], number & 3
    if k == 0:
        return word & 255
    if k == 1:
        return (word >> 8) & 255
    return (word >> 16) & 255 if k == 2 else (word >> 24) & 255


def count_bits(mask):
    count = 0
    for _ in range(16):
        count += mask & 1
        mask = mask >> 1
    return count


def finite(bits):
    """Whether the bits of a float32 are those of a number."""
    return ((bits >> 23) & 255) != 255


def check_cell(words, at, number, kind, blocks):
    """Whether a cell is sound."""
    size = len(words)
    if at < EMPTY or at + 2 > size:
        return 3
    tracks, own = half_at(words, at, 0) | half_at(words, at, 1) | half_at(words, at, 2), half_at(words, at, 3)
    if kind == 3 and (half_at(words, at, 1) != 0 or half_at(words, at, 2) != 0):
        return 3
    if (tracks != 0) != (number != NO_BLOCK) or (tracks != 0 and number >= blocks):
        return 3
    each = 1 if kind == 3 else 3
    begin = at + 2 + ((count_bits(tracks) + 3) >> 2)
    end = begin + each * count_bits(own)
    if kind == 1:
        end = at + 2 + ((count_bits(tracks) + 9 * count_bits(own) + 3) >> 2)
    if end > size:
        return 3
    if kind != 1:
        for k in range(begin, end):
            if not finite(words[k]):
                return 6
    return 0


def check_block(words, cell, begin, kind, frames):
    """Whether a block with so many frames is sound, that begins at an octet."""
    limit = 4 * len(words)
    if begin + 1 > limit:
        return 5
    head = octet_at(words, begin)
    constant, wide, degree = (head & 3) + 2, (head >> 2) & 3, (head >> 4) & 3
    if constant > 4 or (constant == 4 and kind == 1) or wide > degree or head > 127:
        return 5
    masks = (half_at(words, cell, 0), half_at(words, cell, 1), half_at(words, cell, 2))
    counts = (count_bits(masks[0]), count_bits(masks[1]), count_bits(masks[2]))
    count, first = counts[0] + counts[1] + counts[2], begin + 1
    octet = first + count * (1 + constant + wide + degree)
    if octet > limit:
        return 5
    for k in range(first, first + count):
        if octet_at(words, k) > WIDEST:
            return 5
        if (
            constant == 4
            and ((octet_at(words, k + 4 * count) & 127) << 1) + (octet_at(words, k + 3 * count) >> 7) == 255
        ):
            return 6
    bits, most, ranks = 0, 0, (first, first + counts[0], first + counts[0] + counts[1])
    for _ in range(16):
        own = 0
        a, b, c = masks[0] & 1, masks[1] & 1, masks[2] & 1
        if a != 0:
            own += octet_at(words, ranks[0])
        if b != 0:
            own += octet_at(words, ranks[1])
        if c != 0:
            own += octet_at(words, ranks[2])
        bits, most = bits + own, max(most, own)
        ranks = (ranks[0] + a, ranks[1] + b, ranks[2] + c)
        masks = (masks[0] >> 1, masks[1] >> 1, masks[2] >> 1)
    if most > MOST_BITS or (((head >> 6) & 1) == 0 and (most > NEAR_BITS or bits > NEAR_ROW)):
        return 5
    return 0 if 8 * octet + bits * frames <= 8 * limit else 5


@kernel
def check_record(words: i4[ANY], frames: int, groups: int, morph_groups: int) -> int:
    """What of `FAULTS` is wrong with a record of so many frames and groups; 0 for nothing."""
    size = len(words)
    cells = 3 * groups + morph_groups
    if frames < 1 or size < HEAD + cells:
        return 1
    if (
        words[FRAMES] != frames
        or words[GROUPS] != groups
        or words[MORPH_GROUPS] != morph_groups
        or words[WORDS] != len(words)
    ):
        return 1
    length, blocks, table = words[LENGTH], words[BLOCKS], words[SEGMENTS]
    if (
        length < 1
        or length > LONGEST
        or blocks < 0
        or blocks > cells
        or words[EMPTY] != 0
        or words[EMPTY + 1] != 0
    ):
        return 1
    segments = (frames + length - 1) // length
    if table < HEAD + cells or table + segments > size:
        return 2
    for k in range(cells):
        place = words[HEAD + k]
        kind = k % 3 if k < 3 * groups else 3
        wrong = check_cell(words, place & 65535, (place >> 16) & 65535, kind, blocks)
        if wrong != 0:
            return wrong
    for s in range(segments):
        at = words[table + s]
        if at < table + segments or at + 1 + ((blocks + 1) >> 1) > size or half_at(words, at, 0) > 255:
            return 4
        for k in range(cells):
            place = words[HEAD + k]
            number = (place >> 16) & 65535
            if number != NO_BLOCK:
                kind = k % 3 if k < 3 * groups else 3
                begin = 4 * at + 2 * half_at(words, at + 1, number)
                wrong = check_block(words, place & 65535, begin, kind, min(length, frames - s * length))
                if wrong != 0:
                    return wrong
    return 0
