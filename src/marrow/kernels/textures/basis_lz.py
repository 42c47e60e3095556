"""BasisLZ: the Huffman-coded palettes and slices of ETC1S textures (Basis Universal).

A Huffman table is 65,536 numbers: whatever the next 16 bits are, the symbol and the length of its code in the low five
bits. Where
the data ends, zeros follow; who calls looks at how far was read.
"""

from __future__ import annotations

from marrow.kernels.language.annotations import ANY, E, H, Out, S, X, Y, i4, u1, u4
from marrow.kernels.language.kernel import kernel

__all__ = ["etc1s_endpoints", "etc1s_selectors", "etc1s_slice"]

REPEAT_LAST = 256
LONGEST_RUN = 63


def next_bits(data, at, count):
    """Up to 16 bits from bit `at` on. `data` ends in at least four zeros."""
    i = min(at >> 3, len(data) - 3)
    return ((data[i] | (data[i + 1] << 8) | (data[i + 2] << 16)) >> (at & 7)) & ((1 << count) - 1)


def symbol(data, at, table):
    """The next symbol, and where the one after it begins."""
    entry = table[next_bits(data, at, 16)]
    return entry >> 5, at + (entry & 31)


def variable_length(data, at, chunk):
    """A number in chunks of bits, each with a bit that says whether more follow; and where it ends."""
    value, shift, more = 0, 0, 1
    while more == 1 and shift < 32:
        part = next_bits(data, at, chunk + 1)
        at += chunk + 1
        value |= (part & ((1 << chunk) - 1)) << shift
        shift += chunk
        more = part >> chunk
    return value, at


@kernel
def etc1s_endpoints(data: u1[ANY], tables: u4[4, 65536], grey: int, begin: int, colors: Out[u1[E, 4]]) -> int:
    """The palette of colours: red, green, blue in five bits each, and the table of intensities. Returns where it ended."""
    at = begin
    r, g, b, level = 16, 16, 16, 0
    for i in range(len(colors)):
        step, at = symbol(data, at, tables[3])
        level = (level + step) & 7
        step, at = symbol(data, at, tables[0 if r <= 9 else 1 if r <= 21 else 2])
        r = (r + step) & 31
        if grey == 0:
            step, at = symbol(data, at, tables[0 if g <= 9 else 1 if g <= 21 else 2])
            g = (g + step) & 31
            step, at = symbol(data, at, tables[0 if b <= 9 else 1 if b <= 21 else 2])
            b = (b + step) & 31
        else:
            g, b = r, r
        colors[i, 0], colors[i, 1], colors[i, 2], colors[i, 3] = r, g, b, level
    return at


@kernel
def etc1s_selectors(data: u1[ANY], table: u4[65536], raw: int, begin: int, rows: Out[u1[S, 4]]) -> int:
    """The palette of patterns, a byte for each row of four texels. Returns where it ended."""
    at = begin
    for i in range(len(rows)):
        for j in range(4):
            if raw == 1 or i == 0:
                rows[i, j] = next_bits(data, at, 8)
                at += 8
            else:
                change, at = symbol(data, at, table)
                rows[i, j] = rows[i - 1, j] ^ change
    return at


@kernel
def etc1s_slice(
    data: u1[ANY],
    tables: u4[4, 65536],
    endpoint_count: int,
    selector_count: int,
    history: Out[i4[H]],
    above: Out[i4[2, X]],
    endpoints: Out[i4[Y, X]],
    selectors: Out[i4[Y, X]],
) -> tuple[int, int]:
    """Which colours and which pattern each block has. `tables`: predictions, steps between endpoints, selectors, runs.
    `history` is
    room for the patterns used last. Returns 0, or what is wrong with it, and where the data ended."""
    at = 0
    width, height = len(endpoints[0]), len(endpoints)
    repeats, last_prediction, prediction = 0, 0, 0
    run, previous = 0, 0
    half = len(history) // 2
    rover = half
    for k in range(len(history)):
        history[k] = 0
    for y in range(height):
        for x in range(width):
            if x & 1 == 0:
                if y & 1 == 0:
                    if repeats > 0:
                        repeats -= 1
                        prediction = last_prediction
                    else:
                        prediction, at = symbol(data, at, tables[0])
                        if prediction == REPEAT_LAST:
                            repeats, at = variable_length(data, at, 4)
                            repeats += 2
                            prediction = last_prediction
                        else:
                            last_prediction = prediction
                    above[0, x] = prediction >> 4
                else:
                    prediction = above[0, x]
            kind = prediction & 3
            prediction >>= 2
            if kind == 0:
                if x == 0:
                    return 1, at
                endpoint = previous
            elif kind == 1:
                if y == 0:
                    return 2, at
                endpoint = endpoints[y - 1, x]
            elif kind == 2:
                if x == 0 or y == 0:
                    return 3, at
                endpoint = endpoints[y - 1, x - 1]
            else:
                endpoint, at = symbol(data, at, tables[1])
                endpoint += previous
                if endpoint >= endpoint_count:
                    endpoint -= endpoint_count
            previous = endpoint
            if run > 0:
                run -= 1
                chosen = selector_count
            else:
                chosen, at = symbol(data, at, tables[2])
                if chosen == selector_count + len(history):
                    run, at = symbol(data, at, tables[3])
                    if run == LONGEST_RUN:
                        run, at = variable_length(data, at, 7)
                    run += 3
                    if run > width * height:
                        return 4, at
                    chosen = selector_count
                    run -= 1
            if chosen >= selector_count:
                used = chosen - selector_count
                if used >= len(history):
                    return 5, at
                chosen = history[used]
                if used > 0:
                    history[used] = history[used // 2]
                    history[used // 2] = chosen
            else:
                history[rover] = chosen
                rover += 1
                if rover == len(history):
                    rover = half
            if endpoint >= endpoint_count or chosen >= selector_count:
                return 6, at
            endpoints[y, x], selectors[y, x] = endpoint, chosen
    return 7 if repeats != 0 else 0, at
