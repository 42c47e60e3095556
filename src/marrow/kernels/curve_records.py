"""Animation curves as FBX holds them: keys with the same tangents make a run, and records say where they end."""

from __future__ import annotations

from marrow.kernels.language.annotations import B, C, G, L, N, Out, P, R, S, V, f4, f8, i1, i4, i8, u1
from marrow.kernels.language.kernel import kernel

__all__ = ["curve_records", "curve_runs"]

LINEAR, CUBIC = 4, 3080


@kernel
def curve_runs(
    first: i8[S],
    width: i8[P],
    whole: i1[P],
    values: f8[R, 3],
    kind: i4[R, 3],
    slopes: f8[R, 3, 2],
    weights: float,
    numbers: Out[f4[V]],
    flags: Out[i4[V]],
    data: Out[f4[V, 4]],
    counts: Out[i4[V]],
    table: Out[i8[C, 4]],
) -> tuple[int, int]:
    """Curve by curve the values of its keys (`numbers`), and runs of keys that agree in kind and slopes: kind, four numbers and how
    many. Property p has the keys `first[p] .. first[p + 1] - 1` and `width[p]` curves; one that never changes keeps one key, unless
    its keys are wanted `whole`. `table`: first number, count, first run, count. Returns how many numbers and runs there are."""
    at, run, curve = 0, 0, 0
    for p in range(len(width)):
        begin, end = first[p], first[p + 1]
        for c in range(width[p]):
            start = at
            still = whole[p] == 0
            for r in range(begin, end):
                numbers[at] = values[r, c]
                if numbers[at] != numbers[start]:
                    still = False
                at += 1
            begin_run = run
            for r in range(begin, end):
                cubic = kind[r, c] == CUBIC
                flags[run], counts[run] = kind[r, c], 1
                data[run, 0], data[run, 1] = 0.0, 0.0
                data[run, 2], data[run, 3] = weights, 0.0
                if cubic:
                    data[run, 0], data[run, 1] = slopes[r, c, 0], slopes[r, c, 1]
                    if data[run, 0] != 0.0 or data[run, 1] != 0.0:
                        still = False
                same = False
                if run > begin_run:
                    o = run - 1
                    same = (
                        flags[o] == flags[run] and data[o, 0] == data[run, 0] and data[o, 1] == data[run, 1]
                    )
                if same:
                    counts[run - 1] += 1
                else:
                    run += 1
            if still:
                at, run = start + 1, begin_run + 1
                flags[begin_run], counts[begin_run] = LINEAR, 1
                data[begin_run, 0], data[begin_run, 1] = 0.0, 0.0
            table[curve, 0], table[curve, 1] = start, at - start
            table[curve, 2], table[curve, 3] = begin_run, run - begin_run
            curve += 1
    return at, run


def number(out, at, value, size):
    """A whole number of `size` bytes, the low ones first; where it ends."""
    for k in range(size):
        out[at + k] = (value >> (8 * k)) & 255
    return at + size


def piece(out, at, source, first, last):
    """Bytes of another array; where they end."""
    for k in range(last - first):
        out[at + k] = source[first + k]
    return at + last - first


def head(out, at, end, count, size, letters, w):
    """The head of a record: its end, its properties, their size, the length of its name."""
    at = number(out, at, end, w)
    at = number(out, at, count, w)
    at = number(out, at, size, w)
    out[at] = letters
    return at + 1


@kernel
def curve_records(
    identity: i8[C],
    arrays: i8[C, 5, 4],
    pool: u1[B],
    values: i8[C],
    words: u1[L],
    bounds: i8[G],
    base: int,
    w: int,
    out: Out[u1[N]],
) -> int:
    """The records of curves, one after the other, from `base` of the file on, with whole numbers of `w` bytes. An array property is
    bytes of `pool`: (first, length, count of numbers, 1 where they are packed). `values`: the bits of what a curve is before its
    keys. `words`: the record's name, the rest of its properties, the first two leaves' names, and letter and name of each array,
    cut at `bounds`. Returns how many bytes there are."""
    at = 0
    null = 3 * w + 1
    for c in range(len(identity)):
        total = (
            null
            + bounds[2]
            + 9
            + (null + bounds[3] - bounds[2] + 9)
            + (null + bounds[4] - bounds[3] + 5)
            + null
        )
        for k in range(5):
            total += null + bounds[5 + k] - bounds[4 + k] - 1 + 13 + arrays[c, k, 1]
        begin = at
        at = head(out, at, base + begin + total, 3, 9 + bounds[2] - bounds[1], bounds[1], w)
        at = piece(out, at, words, 0, bounds[1])
        out[at] = 76
        at = number(out, at + 1, identity[c], 8)
        at = piece(out, at, words, bounds[1], bounds[2])
        letters = bounds[3] - bounds[2]
        at = head(out, at, base + at + null + letters + 9, 1, 9, letters, w)
        at = piece(out, at, words, bounds[2], bounds[3])
        out[at] = 68
        at = number(out, at + 1, values[c], 8)
        letters = bounds[4] - bounds[3]
        at = head(out, at, base + at + null + letters + 5, 1, 5, letters, w)
        at = piece(out, at, words, bounds[3], bounds[4])
        out[at] = 73
        at = number(out, at + 1, 4008, 4)
        for k in range(5):
            letters = bounds[5 + k] - bounds[4 + k] - 1
            size = 13 + arrays[c, k, 1]
            at = head(out, at, base + at + null + letters + size, 1, size, letters, w)
            at = piece(out, at, words, bounds[4 + k] + 1, bounds[5 + k])
            out[at] = words[bounds[4 + k]]
            at = number(out, at + 1, arrays[c, k, 2], 4)
            at = number(out, at, arrays[c, k, 3], 4)
            at = number(out, at, arrays[c, k, 1], 4)
            at = piece(out, at, pool, arrays[c, k, 0], arrays[c, k, 0] + arrays[c, k, 1])
        for k in range(null):
            out[at + k] = 0
        at += null
    return at
