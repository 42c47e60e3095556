"""The numbers of packed motion as a stream of octets that is smaller still: predicted, and written by an adaptive range coder.

A number is predicted from the three before it in its channel, by four rules that are mixed by how well each has done there. What is left is
folded (0, -1, 1, -2 ... are 0, 1, 2, 3 ...) and split: as many low bits as are noise by what was left lately, as they are; of what is above, a bit that says
whether there is more, each with a likelihood that is learnt. All is computed in whole numbers and in float64, one operation after the other:
the same octets everywhere.
"""

from __future__ import annotations

import numpy as np

from marrow.kernels.language.annotations import ANY, Out, f8, i4, i8
from marrow.kernels.language.kernel import kernel

__all__ = ["HISTORY", "KNOWN", "LEARNT", "STREAM", "archive_numbers", "expand_numbers", "rates"]

STATES, DEPTH = 32, 20
TREES = 3
LEARNT = 2 * STATES * DEPTH + 2 * 256 * TREES
"""Whole numbers that the coder learns: how likely a bit is, and how often it was seen; behind them those of single octets."""
OCTETS = 2 * STATES * DEPTH
HISTORY = 8
"""Numbers that are kept of each channel: the three before, and how far off each rule was."""
KNOWN = 64
STREAM = 6
"""Whole numbers that are kept of the stream: low, range, what waits to be written and how often, where it is; and what is read."""
LOW, RANGE, WAITS, TIMES, AT, CODE = range(6)
HALF, TOP = 1 << 15, 1 << 24
MANY = 16
"""So many bits that say "more" are followed by how long the number is, and its bits."""


def rates() -> np.ndarray:
    """How much of the difference a bit's likelihood moves by, of 65536, by how often it was seen."""
    return np.array([65536 * 2 // (2 * n + 3) for n in range(KNOWN)], np.int64)


def put_octet(octets, stream, value):
    if stream[AT] < len(octets):
        octets[stream[AT]] = value
    stream[AT] = stream[AT] + 1


def shift_low(octets, stream):
    """Writes the highest octet of what is known, unless a carry may still change it."""
    low = stream[LOW]
    if low < 4278190080 or low >= 4294967296:
        carry = low >> 32
        if stream[TIMES] > 0:
            put_octet(octets, stream, (stream[WAITS] + carry) & 255)
            for _ in range(stream[TIMES] - 1):
                put_octet(octets, stream, (255 + carry) & 255)
        stream[TIMES] = 0
        stream[WAITS] = (low >> 24) & 255
    stream[TIMES] = stream[TIMES] + 1
    stream[LOW] = (low & 16777215) << 8


def learn(learnt, rate, at, bit):
    p, n = learnt[at], learnt[at + 1]
    goal = 65536 - 32 if bit == 0 else 32
    learnt[at] = p + (((goal - p) * rate[n]) >> 16)
    if n < KNOWN - 1:
        learnt[at + 1] = n + 1


def put_bit(octets, stream, learnt, rate, at, bit):
    bound = (stream[RANGE] >> 16) * learnt[at]
    if bit == 0:
        stream[RANGE] = bound
    else:
        stream[LOW] = stream[LOW] + bound
        stream[RANGE] = stream[RANGE] - bound
    learn(learnt, rate, at, bit)
    while stream[RANGE] < TOP:
        stream[RANGE] = stream[RANGE] << 8
        shift_low(octets, stream)


def put_plain(octets, stream, value, width, powers):
    """Bits as they are, 16 at most."""
    if width > 0:
        stream[RANGE] = stream[RANGE] // powers[width]
        stream[LOW] = stream[LOW] + value * stream[RANGE]
        while stream[RANGE] < TOP:
            stream[RANGE] = stream[RANGE] << 8
            shift_low(octets, stream)


def next_octet(octets, stream):
    at = stream[AT]
    stream[AT] = at + 1
    return octets[at] if at < len(octets) else 0


def take_bit(octets, stream, learnt, rate, at):
    bound = (stream[RANGE] >> 16) * learnt[at]
    bit = 0
    if stream[CODE] < bound:
        stream[RANGE] = bound
    else:
        stream[CODE] = stream[CODE] - bound
        stream[RANGE] = stream[RANGE] - bound
        bit = 1
    learn(learnt, rate, at, bit)
    while stream[RANGE] < TOP:
        stream[RANGE] = stream[RANGE] << 8
        stream[CODE] = (stream[CODE] << 8) + next_octet(octets, stream)
    return bit


def take_plain(octets, stream, width, powers):
    value = 0
    if width > 0:
        stream[RANGE] = stream[RANGE] // powers[width]
        value = min(stream[CODE] // stream[RANGE], powers[width] - 1)
        stream[CODE] = stream[CODE] - value * stream[RANGE]
        while stream[RANGE] < TOP:
            stream[RANGE] = stream[RANGE] << 8
            stream[CODE] = (stream[CODE] << 8) + next_octet(octets, stream)
    return value


def state_of(size):
    """How large what is left is lately, of which 16 times is told: a state, two for each doubling; and the bits of it that are noise."""
    state, x = 0, size
    while x >= 4 and state < STATES - 4:
        x = x >> 1
        state += 2
    state += x & 1 if x < 2 else 2 + (x & 1)
    return min(state, STATES - 1)


def noise_of(size):
    bits, x = 0, size >> 5
    while x > 0 and bits < 15:
        x = x >> 1
        bits += 1
    return bits


def guessed(history, h):
    """What comes next in a channel."""
    a, b, c = history[h], history[h + 1], history[h + 2]
    p1, p2, p3 = a, 2.0 * a - b, 3.0 * (a - b) + c
    p4 = 0.5 * (p2 + p3)
    w1, w2 = 1.0 / (history[h + 3] * history[h + 3]), 1.0 / (history[h + 4] * history[h + 4])
    w3, w4 = 1.0 / (history[h + 5] * history[h + 5]), 1.0 / (history[h + 6] * history[h + 6])
    return ((w1 * p1 + w2 * p2) + (w3 * p3 + w4 * p4)) / ((w1 + w2) + (w3 + w4))


def noticed(history, h, x):
    """A number of a channel, and how far off each rule was."""
    a, b, c = history[h], history[h + 1], history[h + 2]
    p2, p3 = 2.0 * a - b, 3.0 * (a - b) + c
    history[h + 3] = 0.85 * history[h + 3] + 0.15 * abs(x - a) + 0.02
    history[h + 4] = 0.85 * history[h + 4] + 0.15 * abs(x - p2) + 0.02
    history[h + 5] = 0.85 * history[h + 5] + 0.15 * abs(x - p3) + 0.02
    history[h + 6] = 0.85 * history[h + 6] + 0.15 * abs(x - 0.5 * (p2 + p3)) + 0.02
    history[h + 2], history[h + 1], history[h] = b, a, x


def rescaled(history, columns, by):
    """Numbers of another segment, whose steps are another."""
    for c in range(columns):
        for k in range(7):
            history[HISTORY * c + k] = history[HISTORY * c + k] * by


def seen(sizes, c, left):
    """Keeps how large what is left was, 16 times."""
    sizes[c] = sizes[c] + (((min(left, 1048576) << 5) - sizes[c] * 2 + 4) >> 3)


@kernel
def archive_numbers(
    head: i4[ANY],
    numbers: i4[ANY],
    factors: f8[ANY],
    octets: Out[i4[ANY]],
    learnt: Out[i8[ANY]],
    history: Out[f8[ANY]],
    sizes: Out[i8[ANY]],
    stream: Out[i8[ANY]],
    rate: i8[ANY],
    powers: i8[ANY],
    columns: int,
    frames: int,
    length: int,
    tree: int,
    last: int,
) -> int:
    """Writes the octets of `head`, of which there are three kinds, then the numbers of all frames; `factors` has what the steps of each segment are multiplied
    by. Returns how many octets there are so far, more than there is room for where that is too little; whatever waits is written where it is the `last` call."""
    for k in range(len(head)):
        node = 1
        for b in range(8):
            bit = (head[k] // powers[7 - b]) & 1
            put_bit(octets, stream, learnt, rate, OCTETS + 512 * tree + 2 * node, bit)
            node = 2 * node + bit
    for f in range(frames):
        if f > 0 and f % length == 0:
            rescaled(history, columns, factors[f // length - 1] / factors[f // length])
        before = 0
        for c in range(columns):
            h, x = HISTORY * c, numbers[f * columns + c]
            left = x - int(np.floor(guessed(history, h) + 0.5))
            folded = 2 * left if left >= 0 else -2 * left - 1
            size = (3 * sizes[c] + before) >> 2
            at, width = 2 * DEPTH * state_of(size), noise_of(size)
            above = folded >> width
            for k in range(min(above, MANY)):
                put_bit(octets, stream, learnt, rate, at + 2 * k, 1)
            if above < MANY:
                put_bit(octets, stream, learnt, rate, at + 2 * above, 0)
                put_plain(octets, stream, folded - (above << width), width, powers)
            else:
                put_plain(octets, stream, (folded >> 16) & 65535, 16, powers)
                put_plain(octets, stream, folded & 65535, 16, powers)
            noticed(history, h, x)
            before = min(folded, 1048576) << 3
            seen(sizes, c, folded)
    if last != 0:
        for _ in range(5):
            shift_low(octets, stream)
    return stream[AT]


@kernel
def expand_numbers(
    head: Out[i4[ANY]],
    numbers: Out[i4[ANY]],
    factors: f8[ANY],
    octets: i4[ANY],
    learnt: Out[i8[ANY]],
    history: Out[f8[ANY]],
    sizes: Out[i8[ANY]],
    stream: Out[i8[ANY]],
    rate: i8[ANY],
    powers: i8[ANY],
    columns: int,
    frames: int,
    length: int,
    tree: int,
) -> int:
    """Reads what `archive_numbers` wrote, from where `stream` is; 0 for whatever is missing."""
    for k in range(len(head)):
        node = 1
        for _ in range(8):
            node = 2 * node + take_bit(octets, stream, learnt, rate, OCTETS + 512 * tree + 2 * node)
        head[k] = node - 256
    for f in range(frames):
        if f > 0 and f % length == 0:
            rescaled(history, columns, factors[f // length - 1] / factors[f // length])
        before = 0
        for c in range(columns):
            h = HISTORY * c
            size = (3 * sizes[c] + before) >> 2
            at, width = 2 * DEPTH * state_of(size), noise_of(size)
            above = 0
            while above < MANY and take_bit(octets, stream, learnt, rate, at + 2 * above) == 1:
                above += 1
            if above < MANY:
                folded = (above << width) + take_plain(octets, stream, width, powers)
            else:
                folded = take_plain(octets, stream, 16, powers) << 16
                folded += take_plain(octets, stream, 16, powers)
            left = folded >> 1 if (folded & 1) == 0 else -((folded + 1) >> 1)
            guess = int(np.floor(min(max(guessed(history, h), -1e9), 1e9) + 0.5))
            x = min(max(guess + left, -1073741824), 1073741823)
            numbers[f * columns + c] = x
            noticed(history, h, x)
            before = min(folded, 1048576) << 3
            seen(sizes, c, folded)
    return stream[AT]
