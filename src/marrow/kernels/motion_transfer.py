"""Motion from one skeleton to another: the keys of a clip in, the local tracks of the target out, 16 frames in lanes.

What is done is a list of steps over *slots* (x, y, z, w of 16 frames), which `marrow.motion.transfer` makes for two skeletons;
`reference.transfer_motion` says what they mean. A block of frames is read, turned and written before the next begins, so that
nothing but the result leaves the cache.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from marrow.kernels.language.annotations import ANY, Out, Records, f4, f8, i8
from marrow.kernels.language.kernel import kernel
from marrow.kernels.language.lanes import block
from marrow.kernels.poses import interpolate, inverse_norm4, last_key, slerped
from marrow.model.clip import TRACK_DTYPE

__all__ = [
    "BACK",
    "FIXED",
    "MULTIPLY",
    "PLACE",
    "SHARE",
    "SLIDE",
    "SLOT",
    "STAGE",
    "WIDE",
    "WRITE",
    "TransferWork",
    "transfer_motion",
]

SLOT = 64
"""Floats of a slot."""
STAGE = 256
"""Floats before the first slot, for the kernel's own use: two quaternions and a share in 16 lanes, 16 rows of a track."""
WIDE = 20
"""Float64 numbers before the first place, for the kernel's own use: a value, the shares of 16 frames."""
MULTIPLY, BACK, FIXED, SHARE, WRITE, SLIDE = range(6)
"""What the steps `(step, to, a, b, c)` do; `a`, `b` and `to` are where slots begin:
`MULTIPLY` to = a b; `BACK` to = a^-1 b; `FIXED` to = a constants[b]; `SHARE` to = the share constants[c] of the way from a to b;
`WRITE` to = constants[b] a, a 4 x 4 matrix, written to the track c; `SLIDE` the translation a, less three constants[b], through a
3 x 3 matrix, plus three more, written to the track c."""
PLACE = 9
"""Numbers of a place: its track, where its float64 numbers begin (a point, an offset, two affine matrices), the first and the
count of its links in the source, of those that turn the offset and of those above it; whether it stands on the ground."""


class TransferWork(NamedTuple):
    """The keys of a clip, the times of the frames, what to do (see `reference.transfer_motion`), and the result."""

    table: Records[TRACK_DTYPE, ANY]
    times: f4[ANY]
    values: f4[ANY]
    query: f8[ANY]
    reads: i8[ANY]
    steps: i8[ANY]
    constants: f4[ANY]
    links: i8[ANY]
    places: i8[ANY]
    numbers: f8[ANY]
    starts: i8[ANY]
    out: Out[f4[ANY]]
    room: Out[f4[ANY]]
    wide: Out[f8[ANY]]
    keys: Out[i8[16]]


def _slot(e: Any, room: Any, at: Any) -> list[Any]:
    return [e.load(room, e.at(at, 16 * i)) for i in range(4)]


def _put(e: Any, room: Any, to: Any, quaternion: list[Any]) -> None:
    for i in range(4):
        e.store(room, e.at(to, 16 * i), quaternion[i])


def emit_step(step: int, e: Any, to: Any, a: Any, b: Any, c: Any, work: Any) -> None:
    """A step that makes a slot of others."""
    p = _slot(e, work.room, a)
    if step == FIXED:
        made = e.multiply_quaternions(p, [e.broadcast(work.constants, e.at(b, i)) for i in range(4)])
    elif step == SHARE:
        made = slerped(e, p, _slot(e, work.room, b), e.broadcast(work.constants, c))
    elif step == BACK:
        made = e.multiply_quaternions([-p[0], -p[1], -p[2], p[3]], _slot(e, work.room, b))
    else:
        made = e.multiply_quaternions(p, _slot(e, work.room, b))
    _put(e, work.room, to, made)


def emit_write(e: Any, to: Any, a: Any, b: Any, row: Any, base: Any, work: Any, out: Any) -> None:
    """16 rotations, to their slot and to 16 rows of `out`."""
    q = _slot(e, work.room, a)
    made = [e.dot([e.broadcast(work.constants, e.at(b, 4 * i + k)) for k in range(4)], q) for i in range(4)]
    _put(e, work.room, to, made)
    e.scatter_run(out, row, made, base)


def emit_slide(e: Any, a: Any, b: Any, row: Any, base: Any, work: Any, out: Any) -> None:
    """16 translations to 16 rows of `out`."""
    off = [e.load(work.room, e.at(a, 16 * i)) - e.broadcast(work.constants, e.at(b, i)) for i in range(3)]
    made = []
    for i in range(3):
        turned = e.dot([e.broadcast(work.constants, e.at(b, 3 + 3 * i + k)) for k in range(3)], off)
        made.append(turned + e.broadcast(work.constants, e.at(b, 12 + i)))
    e.scatter_run(out, row, made, base)


def emit_turns(e: Any, to: Any, stage: Any, room: Any) -> None:
    """16 spherical interpolations from the quaternions at `stage` to those behind them, by the shares behind these."""
    a, b = (e.unit(_slot(e, room, e.at(stage, at))) for at in (0, 64))
    _put(e, room, to, slerped(e, a, b, e.load(room, e.at(stage, 128))))


multiply, back, fixed, share = (block(emit_step, step) for step in (MULTIPLY, BACK, FIXED, SHARE))
write, slide, turns = block(emit_write), block(emit_slide), block(emit_turns)


def find_keys(work, t0, n, f0):
    """Which keys 16 frames lie behind, into `keys`, and how far on the way to the next, into `wide`."""
    low = last_key(work.times, t0, n, work.query[f0])
    for i in range(16):
        time = work.query[min(f0 + i, len(work.query) - 1)]
        while low + 1 < n and work.times[t0 + low + 1] <= time:
            low += 1
        u = 0.0
        if low + 1 < n and time > work.times[t0]:
            span = work.times[t0 + low + 1] - work.times[t0 + low]
            u = (time - work.times[t0 + low]) / span if span > 0.0 else 0.0
        work.keys[i], work.wide[4 + i] = low, u


def read_turns(work, v0, n, to):
    """The rotations of a linear track at the 16 frames."""
    for i in range(16):
        a = v0 + 4 * work.keys[i]
        b = a + 4 if work.keys[i] + 1 < n else a
        for c in range(4):
            work.room[16 * c + i], work.room[64 + 16 * c + i] = work.values[a + c], work.values[b + c]
        work.room[128 + i] = work.wide[4 + i]
    turns(to, 0, work.room)


def read_values(work, row, to):
    """The values of any other track at the 16 frames."""
    track = work.table[row]
    n, t0, v0, kind = track["keys"], track["time_start"], track["value_start"], track["path"]
    interpolation = track["interpolation"]
    width = 4 if kind == 1 else 3
    stride = 3 * width if interpolation == 2 else width
    for i in range(16):
        low, u = work.keys[i], work.wide[4 + i]
        span = work.times[t0 + low + 1] - work.times[t0 + low] if low + 1 < n else 0.0
        a = v0 + low * stride
        b = a + stride if low + 1 < n else a
        interpolate(work.values, a, b, u, span, interpolation, width, work.wide)
        scale = 1.0
        if kind == 1:
            scale = inverse_norm4(work.wide[0], work.wide[1], work.wide[2], work.wide[3])
            if scale == 0.0:
                work.wide[3], scale = 1.0, 1.0
        for c in range(width):
            work.room[to + 16 * c + i] = work.wide[c] * scale


def turned(room, at, i, x, y, z, side):
    """A vector turned by the quaternion of lane `i` (backwards with `side` -1)."""
    qx, qy, qz, w = side * room[at + i], side * room[at + 16 + i], side * room[at + 32 + i], room[at + 48 + i]
    ux, uy, uz = qy * z - qz * y + w * x, qz * x - qx * z + w * y, qx * y - qy * x + w * z
    return x + 2.0 * (qy * uz - qz * uy), y + 2.0 * (qz * ux - qx * uz), z + 2.0 * (qx * uy - qy * ux)


def mapped(numbers, at, x, y, z):
    """A point through an affine matrix."""
    return (
        numbers[at] * x + numbers[at + 1] * y + numbers[at + 2] * z + numbers[at + 3],
        numbers[at + 4] * x + numbers[at + 5] * y + numbers[at + 6] * z + numbers[at + 7],
        numbers[at + 8] * x + numbers[at + 9] * y + numbers[at + 10] * z + numbers[at + 11],
    )


def place(work, p, i, lift):
    """Where a joint goes in lane `i`, in float64: a point carried by joints of the source and brought to the target, less what the
    target's own joints carry it aside, as seen from the joints above it."""
    at, numbers = work.places[PLACE * p + 1], work.numbers
    x, y, z = numbers[at], numbers[at + 1], numbers[at + 2]
    first, count = work.places[PLACE * p + 2], work.places[PLACE * p + 3]
    for k in range(count):
        link = 4 * (first + k)
        t, r, s = work.links[link], work.links[link + 1], work.links[link + 2]
        x, y, z = x * work.room[s + i], y * work.room[s + 16 + i], z * work.room[s + 32 + i]
        x, y, z = turned(work.room, r, i, x, y, z, 1.0)
        x, y, z = x + work.room[t + i], y + work.room[t + 16 + i], z + work.room[t + 32 + i]
    x, y, z = mapped(numbers, at + 6, x, y, z)
    if work.places[PLACE * p + 8] == 1:
        y += lift
    first, count = work.places[PLACE * p + 4], work.places[PLACE * p + 5]
    ax, ay, az = numbers[at + 3], numbers[at + 4], numbers[at + 5]
    for k in range(count):
        ax, ay, az = turned(work.room, work.links[4 * (first + k) + 1], i, ax, ay, az, 1.0)
    if count > 0:
        x, y, z = x - ax, y - ay, z - az
    x, y, z = mapped(numbers, at + 18, x, y, z)
    first, count = work.places[PLACE * p + 6], work.places[PLACE * p + 7]
    for k in range(count):
        link = 4 * (first + k)
        t, r, s, known = work.links[link], work.links[link + 1], work.links[link + 2], work.links[link + 3]
        if known >= 0:
            w = WIDE + 48 * known + i
            x, y, z = x - work.wide[w], y - work.wide[w + 16], z - work.wide[w + 32]
        else:
            x, y, z = x - work.room[t + i], y - work.room[t + 16 + i], z - work.room[t + 32 + i]
        x, y, z = turned(work.room, r, i, x, y, z, -1.0)
        x, y, z = x / work.room[s + i], y / work.room[s + 16 + i], z / work.room[s + 32 + i]
    return x, y, z


@kernel
def transfer_motion(work: TransferWork, lift: float, first: int, last: int) -> None:
    """The frames `first..last`, of which the first is a multiple of 16. `starts` says where tracks begin in `out`, `lift` how much
    higher the places over the ground are. `room` holds the rest poses in its slots; it, `wide` and `keys` are for the kernel's own
    use."""
    T = len(work.query)
    for n in range((last - first + 15) // 16):
        f0 = first + 16 * n
        whole = min(16, T - f0)
        t_before, n_before = -1, -1
        for k in range(len(work.reads) // 2):
            row, to = work.reads[2 * k], work.reads[2 * k + 1]
            track = work.table[row]
            count, t0 = track["keys"], track["time_start"]
            if t0 != t_before or count != n_before:
                find_keys(work, t0, count, f0)
                t_before, n_before = t0, count
            if track["path"] == 1 and track["interpolation"] == 1:
                read_turns(work, track["value_start"], count, to)
            else:
                read_values(work, row, to)
        for k in range(len(work.steps) // 5):
            step, to, a = work.steps[5 * k], work.steps[5 * k + 1], work.steps[5 * k + 2]
            b, c = work.steps[5 * k + 3], work.steps[5 * k + 4]
            if step == WRITE:
                c = work.starts[c]
                if whole == 16:
                    write(to, a, b, f0, c, work, work.out)
                else:
                    write(to, a, b, 0, 144, work, work.room)
                    for j in range(4 * whole):
                        work.out[c + 4 * f0 + j] = work.room[144 + j]
            elif step == SLIDE:
                c = work.starts[c]
                if whole == 16:
                    slide(a, b, f0, c, work, work.out)
                else:
                    slide(a, b, 0, 144, work, work.room)
                    for j in range(3 * whole):
                        work.out[c + 3 * f0 + j] = work.room[144 + j]
            elif step == MULTIPLY:
                multiply(to, a, b, c, work)
            elif step == BACK:
                back(to, a, b, c, work)
            elif step == FIXED:
                fixed(to, a, b, c, work)
            else:
                share(to, a, b, c, work)
        for p in range(len(work.places) // PLACE):
            base = work.starts[work.places[PLACE * p]]
            for i in range(whole):
                x, y, z = place(work, p, i, lift)
                w, at = WIDE + 48 * p + i, base + 3 * (f0 + i)
                work.wide[w], work.wide[w + 16], work.wide[w + 32] = x, y, z
                work.out[at], work.out[at + 1], work.out[at + 2] = x, y, z
