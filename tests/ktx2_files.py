"""KTX2 files made by hand: random blocks of every format, and ETC1S by a writer of its own."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence

SIZES = (
    (4, 4), (5, 4), (5, 5), (6, 5), (6, 6), (8, 5), (8, 6), (8, 8), (10, 5), (10, 6), (10, 8), (10, 10), (12, 10), (12, 12),
)  # fmt: skip
BLOCKS = 32
"""Blocks in each direction of files of random blocks."""


def ktx2(format, width, height, levels, *, scheme=0, model=0, channels=(0,), extra=b"", transfer=1):
    """A KTX2 file: header, places of levels, descriptor, what is global, levels, as the specification has them."""
    samples = b"".join(struct.pack("<2I2I", c << 24, 0, 0, 0) for c in channels)
    block = struct.pack("<2I4B4B8B", 0, 2, model, 1, transfer, 0, 3, 3, 0, 0, *[0] * 8) + samples
    described = struct.pack("<I", len(block) + 4) + block
    at = 80 + 24 * len(levels)
    begin = at + len(described) + len(extra)
    head = b"\xabKTX 20\xbb\r\n\x1a\n"
    head += struct.pack("<9I", format, 1, width, height, 0, 0, 1, len(levels), scheme)
    head += struct.pack("<4I2Q", at, len(described), 0, 0, at + len(described) if extra else 0, len(extra))
    for level in levels:
        head += struct.pack("<3Q", begin, len(level), 0 if scheme == 1 else len(level))
        begin += len(level)
    return head + described + extra + b"".join(levels)


def random_astc(size: tuple[int, int], srgb: bool) -> bytes:
    """Blocks of random bits, most with a mode there is."""
    rng = random.Random(f"astc {size} {srgb}")
    data = bytearray(rng.randbytes(BLOCKS * BLOCKS * 16))
    modes = [0x42, 0x53, 0x242, 0x441, 0x42 | 1 << 10, 0x108, 0x1A4, 0x2D, 0x8D, 0x49, 0x2C9, 0x14D]
    for k in range(0, len(data), 16):
        if rng.random() < 0.9:
            word = int.from_bytes(data[k : k + 4], "little") & ~0x1FFF
            word |= rng.choice(modes) | rng.choice((0, 0, 1, 2, 3)) << 11
            data[k : k + 4] = word.to_bytes(4, "little")
    across, down = size
    format = 157 + 2 * SIZES.index(size) + srgb
    return ktx2(format, across * BLOCKS - 1, down * BLOCKS - 2, [bytes(data)], model=162)


CODES = (
    (4, 0x1), (6, 0x35), (5, 0x1D), (5, 0x3), (5, 0x13), (5, 0xB), (5, 0x1B), (5, 0x7), (5, 0x17), (5, 0xF), (3, 0x2),
    (2, 0x0),
    (3, 0x6), (5, 0x1F), (5, 0xD), (7, 0x5), (6, 0x15), (6, 0x25), (4, 0x9),
)  # fmt: skip
HINTS = (15, 15, 15, 15, 15, 15, 15, 15, 0, 23, 17, 17, 17, 23, 23, 23, 23, 23, 15)
PATTERNS = {2: 30, 4: 30, 9: 30, 16: 30, 7: 19, 3: 11}


def random_uastc() -> bytes:
    """Blocks of all modes, random but for the number of the pattern, of which there are only so many."""
    rng = random.Random("uastc")
    blocks = []
    for _ in range(BLOCKS * BLOCKS):
        mode = rng.randrange(19)
        length, code = CODES[mode]
        word = rng.getrandbits(128) >> length << length | code
        if mode in PATTERNS:
            at, width = length + HINTS[mode], 4 if mode == 3 else 5
            word = word & ~(((1 << width) - 1) << at) | rng.randrange(PATTERNS[mode]) << at
        blocks.append(word.to_bytes(16, "little"))
    return ktx2(0, 4 * BLOCKS, 4 * BLOCKS, [b"".join(blocks)], model=166, channels=(3,))


def random_etc2(kind: int, size: int) -> bytes:
    data = random.Random(f"etc2 {kind}").randbytes(BLOCKS * BLOCKS * size)
    return ktx2(kind, 4 * BLOCKS, 4 * BLOCKS, [data], model=161)


class Bits:
    """Bits from the lowest on."""

    def __init__(self) -> None:
        self.value, self.length = 0, 0

    def put(self, value: int, count: int) -> None:
        self.value |= value << self.length
        self.length += count

    def bytes(self) -> bytes:
        return self.value.to_bytes((self.length + 7) // 8, "little")

    def table(self, lengths: Sequence[int]) -> dict[int, tuple[int, int]]:
        """Writes a Huffman table; the code of each symbol and its length."""
        self.put(len(lengths), 14)
        self.put(21, 5)
        order = (17, 18, 19, 20, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15, 16)
        # 11 codes of four bits and 10 of five are all there can be.
        own = [4] * 11 + [5] * 10
        for symbol in order:
            self.put(own[symbol], 3)
        codes = canonical(own)
        for n in lengths:
            self.put(*codes[n])
        return canonical(lengths)


def canonical(lengths: Sequence[int]) -> dict[int, tuple[int, int]]:
    """The codes of symbols by the lengths of them, the first bit lowest."""
    found, code = {}, 0
    for n in range(1, 17):
        for symbol, length in enumerate(lengths):
            if length == n:
                found[symbol] = int(f"{code:0{n}b}"[::-1], 2), n
                code += 1
        code <<= 1
    return found


def even(count: int) -> list[int]:
    """Lengths of a code for so many symbols, as even as can be."""
    bits = (count - 1).bit_length()
    short = (1 << bits) - count
    return [bits - 1] * short + [bits] * (count - short) if count > 1 else [1]


def random_etc1s(width: int, height: int, seed: int = 0, *, alpha: bool = False):
    """A file of ETC1S with random palettes and blocks, written with every way the format has: predictions, runs,
    history; and the
    pixels it must have, each block its colours and pattern."""
    rng = random.Random(seed)
    endpoints = [(*(rng.randrange(32) for _ in range(3)), rng.randrange(8)) for _ in range(37)]
    selectors = [tuple(rng.randrange(256) for _ in range(4)) for _ in range(29)]
    first = Bits()
    colors = [first.table(even(32)) for _ in range(3)]
    levels = first.table(even(8))
    first.put(0, 1)
    last, level = [16, 16, 16], 0
    for *color, inten in endpoints:
        first.put(*levels[(inten - level) % 8])
        level = inten
        for c in range(3):
            model = 0 if last[c] <= 9 else 1 if last[c] <= 21 else 2
            first.put(*colors[model][(color[c] - last[c]) % 32])
            last[c] = color[c]
    second = Bits()
    second.put(0, 3)
    changes = second.table(even(256))
    for i, rows in enumerate(selectors):
        for j, row in enumerate(rows):
            if i == 0:
                second.put(row, 8)
            else:
                second.put(*changes[row ^ selectors[i - 1][j]])
    history = 8
    third = Bits()
    models = [third.table(even(n)) for n in (257, len(endpoints), len(selectors) + history + 1, 64)]
    third.put(history, 13)
    across, down = (width + 3) // 4, (height + 3) // 4
    slices, pictures = [], []
    for _ in range(1 + alpha):
        data, blocks = _etc1s_slice(rng, across, down, len(endpoints), len(selectors), history, models)
        slices.append(data)
        pictures.append(_etc1s_pixels(blocks, endpoints, selectors, across, width, height))
    parts = [first.bytes(), second.bytes(), third.bytes()]
    sizes = [len(s) for s in slices] + [0]
    extra = struct.pack("<2H4I", len(endpoints), len(selectors), *map(len, parts), 0)
    extra += struct.pack("<5I", 0, 0, sizes[0], sizes[0] if alpha else 0, sizes[1] if alpha else 0)
    extra += b"".join(parts)
    channels = (0, 15) if alpha else (0,)
    file = ktx2(0, width, height, [b"".join(slices)], scheme=1, model=163, channels=channels, extra=extra)
    pixels = pictures[0]
    if alpha:
        pixels = [(*p[:3], q[1]) for p, q in zip(*pictures)]
    return file, pixels


def _etc1s_slice(rng, across, down, endpoints, selectors, history, models):
    """Chooses blocks and writes them: a writer's own account of the format, beside the reader's."""
    out = Bits()
    grid = [[(0, 0)] * across for _ in range(down)]
    kinds = [[3] * across for _ in range(down)]
    for y in range(down):
        for x in range(across):
            options = [3] + [0, 0] * (x > 0) + [1] * (y > 0) + [2] * (x > 0 and y > 0)
            kinds[y][x] = rng.choice(options)
    # The same prediction for a while, so that it is repeated.
    for y in range(2, down - 1, 2):
        if rng.random() < 0.5:
            for x in range(2, across):
                kinds[y][x], kinds[y + 1][x] = 1, 1
    recent, rover = [0] * history, history // 2
    previous, run, repeats, last = 0, 0, 0, 0
    for y in range(down):
        for x in range(across):
            if x % 2 == 0 and y % 2 == 0:
                symbol = 0
                for k, (dy, dx) in enumerate(((0, 0), (0, 1), (1, 0), (1, 1))):
                    if y + dy < down and x + dx < across:
                        symbol |= kinds[y + dy][x + dx] << (2 * k)
                if repeats:
                    repeats -= 1
                elif symbol == last and (count := _same_ahead(kinds, across, down, y, x, symbol)) >= 3:
                    out.put(*models[0][256])
                    left = count - 3
                    while True:
                        out.put(left & 15 | (16 if left > 15 else 0), 5)
                        left >>= 4
                        if not left:
                            break
                    repeats = count - 1
                else:
                    out.put(*models[0][symbol])
                    last = symbol
            kind = kinds[y][x]
            if kind == 0:
                endpoint = previous
            elif kind == 1:
                endpoint = grid[y - 1][x][0]
            elif kind == 2:
                endpoint = grid[y - 1][x - 1][0]
            else:
                endpoint = rng.randrange(endpoints)
                out.put(*models[1][(endpoint - previous) % endpoints])
            previous = endpoint
            ahead = across * down - y * across - x
            if run:
                run -= 1
                selector = recent[0]
            elif ahead > 80 and rng.random() < 0.05:
                length = rng.choice((3, 5, 40, 70))
                out.put(*models[2][selectors + history])
                if length - 3 < 63:
                    out.put(*models[3][length - 3])
                else:
                    out.put(*models[3][63])
                    out.put((length - 3) & 127, 8)
                run, selector = length - 1, recent[0]
            elif rng.random() < 0.4:
                used = rng.randrange(history)
                out.put(*models[2][selectors + used])
                selector = recent[used]
                recent[used], recent[used // 2] = recent[used // 2], recent[used]
            else:
                selector = rng.randrange(selectors)
                out.put(*models[2][selector])
                recent[rover] = selector
                rover = rover + 1 if rover + 1 < history else history // 2
            grid[y][x] = endpoint, selector
    return out.bytes(), grid


def _same_ahead(kinds, across, down, y0, x0, wanted):
    """How many symbols from here on are the same."""
    count = 0
    for y in range(y0, down, 2):
        for x in range(x0 if y == y0 else 0, across, 2):
            symbol = 0
            for k, (dy, dx) in enumerate(((0, 0), (0, 1), (1, 0), (1, 1))):
                if y + dy < down and x + dx < across:
                    symbol |= kinds[y + dy][x + dx] << (2 * k)
            if symbol != wanted:
                return count
            count += 1
    return count


STEPS = (2, 8), (5, 17), (9, 29), (13, 42), (18, 60), (24, 80), (33, 106), (47, 183)


def _etc1s_pixels(grid, endpoints, selectors, across, width, height):
    pixels = []
    for y in range(height):
        for x in range(width):
            endpoint, selector = grid[y // 4][x // 4]
            *color, inten = endpoints[endpoint]
            small, large = STEPS[inten]
            step = (-large, -small, small, large)[selectors[selector][y % 4] >> (2 * (x % 4)) & 3]
            pixels.append((*(max(0, min(255, (c << 3 | c >> 2) + step)) for c in color), 255))
    return pixels


ETC1S = (64, 64, False), (61, 39, True), (4, 4, False), (200, 120, True)
"""Sizes of the files that are tested, and whether they have alpha; their number is the seed."""
ETC2 = (147, 8, "decode_etc2"), (149, 8, "decode_etc2a1"), (151, 16, "decode_etc2a8")
"""Vulkan's number, octets of a block, and who decodes it in texture2ddecoder."""
