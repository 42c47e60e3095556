"""The numbers of packed motion as a stream of octets that is smaller still: predicted, and written by an adaptive range coder.

A number is predicted from the five before it in its channel, by rules that are mixed by how well each has done there. What is left is
folded (0, -1, 1, -2 ... are 0, 1, 2, 3 ...) and split: as many low bits as are noise by what was left lately, as they are; of what is above, a bit that says
whether there is more, each with a likelihood that is learnt. In the first three frames, and where what is left is far larger than lately, it is how long the
number is and its bits. All is computed in whole numbers and in float64, one operation after the other: the same octets everywhere.
"""

from __future__ import annotations

import numpy as np

from marrow.kernels.language.annotations import ANY, Out, f8, i4, i8
from marrow.kernels.language.kernel import kernel

__all__ = ["HISTORY", "KNOWN", "LEARNT", "STREAM", "archive_numbers", "expand_numbers", "rates"]

STATES, DEPTH = 32, 20
TREES = 3
BEGINNING = 3
"""Frames in which how long a number is is written."""
OCTETS = 2 * STATES * DEPTH
LENGTHS = OCTETS + 2 * 256 * TREES
LEARNT = LENGTHS + 2 * 64 * (BEGINNING + 1)
"""Whole numbers that the coder learns: how likely a bit is, and how often it was seen; behind them those of single octets, and of lengths."""
PAST, RULES = 5, 5
HISTORY = PAST + RULES
"""Numbers that are kept of each channel: those before, and how far off each rule was."""
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


def put_length(octets, stream, learnt, rate, tree, folded, powers):
    """How long a number is, and its bits below the highest."""
    length, x = 0, folded
    while x > 0:
        x = x >> 1
        length += 1
    node = 1
    for b in range(6):
        bit = (length // powers[5 - b]) & 1
        put_bit(octets, stream, learnt, rate, LENGTHS + 128 * tree + 2 * node, bit)
        node = 2 * node + bit
    if length > 17:
        put_plain(octets, stream, (folded >> 16) & (powers[length - 17] - 1), length - 17, powers)
        put_plain(octets, stream, folded & 65535, 16, powers)
    elif length > 1:
        put_plain(octets, stream, folded & (powers[length - 1] - 1), length - 1, powers)


def take_length(octets, stream, learnt, rate, tree, powers):
    node = 1
    for _ in range(6):
        node = 2 * node + take_bit(octets, stream, learnt, rate, LENGTHS + 128 * tree + 2 * node)
    length = min(node - 64, 33)
    folded = 1 if length > 0 else 0
    if length > 17:
        folded = (folded << (length - 17)) + take_plain(octets, stream, length - 17, powers)
        folded = (folded << 16) + take_plain(octets, stream, 16, powers)
    elif length > 1:
        folded = (folded << (length - 1)) + take_plain(octets, stream, length - 1, powers)
    return folded


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


def guess_of(history, h, rule):
    """What comes next in a channel by one rule: the same, a line, a parabola, half-way between both, the parabola nearest to five."""
    a, b, c = history[h], history[h + 1], history[h + 2]
    if rule == 0:
        return a
    if rule == 1:
        return 2.0 * a - b
    if rule == 2:
        return 3.0 * (a - b) + c
    if rule == 3:
        return 2.5 * (a - b) + 0.5 * (c + b)
    return 0.2 * (9.0 * a - 4.0 * c + 3.0 * (history[h + 4] - history[h + 3]))


def guessed(history, h, f):
    """What comes next in a channel: the whole number nearest to it, of any size that numbers have."""
    guess = 0.0
    if f >= BEGINNING:
        over, under = 0.0, 0.0
        for rule in range(RULES):
            e = history[h + PAST + rule]
            w = 1.0 / ((e * e) * (e * e))
            over, under = over + w * guess_of(history, h, rule), under + w
        guess = over / under
    elif f > 0:
        guess = guess_of(history, h, f - 1)
    return int(np.floor(min(max(guess, -1e9), 1e9) + 0.5))


def noticed(history, h, f, x):
    """A number of a channel, and how far off each rule was."""
    if f >= BEGINNING:
        for rule in range(RULES):
            if rule < 4 or f >= PAST:
                e = history[h + PAST + rule]
                history[h + PAST + rule] = 0.85 * e + 0.15 * abs(x - guess_of(history, h, rule)) + 0.02
    elif f == BEGINNING - 1:
        off = 0.5 + abs(x - guess_of(history, h, 1))
        for rule in range(RULES):
            history[h + PAST + rule] = off
        history[h + PAST] = 0.5 + abs(x - history[h])
        history[h + PAST + 4] = 4.0 * off
    for k in range(PAST - 1):
        history[h + PAST - 1 - k] = history[h + PAST - 2 - k]
    history[h] = x


def rescaled(history, columns, by):
    """Numbers of another segment, whose steps are another."""
    for k in range(HISTORY * columns):
        history[k] = history[k] * by


def seen(sizes, c, left, f):
    """Keeps how large what is left was, 16 times."""
    if f < BEGINNING:
        sizes[c] = min(left, 1048576) << 4
    else:
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
            left = x - guessed(history, h, f)
            folded = 2 * left if left >= 0 else -2 * left - 1
            if f < BEGINNING:
                put_length(octets, stream, learnt, rate, f, folded, powers)
            else:
                size = (3 * sizes[c] + before) >> 2
                at, width = 2 * DEPTH * state_of(size), noise_of(size)
                above = folded >> width
                for k in range(min(above, MANY)):
                    put_bit(octets, stream, learnt, rate, at + 2 * k, 1)
                if above < MANY:
                    put_bit(octets, stream, learnt, rate, at + 2 * above, 0)
                    put_plain(octets, stream, folded - (above << width), width, powers)
                else:
                    put_length(octets, stream, learnt, rate, BEGINNING, folded, powers)
            noticed(history, h, f, x)
            before = min(folded, 1048576) << 3
            seen(sizes, c, folded, f)
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
            if f < BEGINNING:
                folded = take_length(octets, stream, learnt, rate, f, powers)
            else:
                size = (3 * sizes[c] + before) >> 2
                at, width = 2 * DEPTH * state_of(size), noise_of(size)
                above = 0
                while above < MANY and take_bit(octets, stream, learnt, rate, at + 2 * above) == 1:
                    above += 1
                if above < MANY:
                    folded = (above << width) + take_plain(octets, stream, width, powers)
                else:
                    folded = take_length(octets, stream, learnt, rate, BEGINNING, powers)
            left = folded >> 1 if (folded & 1) == 0 else -((folded + 1) >> 1)
            x = min(max(guessed(history, h, f) + left, -1073741824), 1073741823)
            numbers[f * columns + c] = x
            noticed(history, h, f, x)
            before = min(folded, 1048576) << 3
            seen(sizes, c, folded, f)
    return stream[AT]
