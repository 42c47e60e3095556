"""`DRIVE`: morphs and helper joints that follow the rotations of other joints, by radial basis functions over
examples; `COMBINE`: a morph that follows other morphs.

How far a rotation is from one of the examples is a chord, so that it costs no arc cosine and the system of equations
is always positive: of whole rotations twice that of their quaternions, of directions (swing) and of angles about an
axis (twist) that of unit vectors. Up to a right angle that is the angle itself to 3 % (whole) or 10 %. Several joints
add their squares.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from marrow.kernels.language.constants import Constants, choice, joint, memory, number, whole
from marrow.kernels.language.elementary import cos, exp, sin
from marrow.kernels.operations.record import Array, Operation, ReferenceWorld, Rows
from marrow.kernels.operations.spatial import (
    conjugated,
    dotted,
    local_rotation,
    multiplied,
    put_rotation,
    turned,
)
from marrow.math import quaternion

__all__ = ["COMBINE", "COMBINED", "DRIVE", "DRIVER", "Combined", "DrivenParts", "features", "radial"]

ROTATION, SWING, TWIST = range(3)
GAUSSIAN, THIN_PLATE = range(2)
MOST_EXAMPLES = 1024
MULTIPLY, LEAST, MOST, SUM, MEAN = range(5)
SET, ADD, SCALE = range(3)


def driver_fits(work, d):
    """Whether the numbers of a driver are as many as its joints, examples and outputs need."""
    outputs = d.morph_count + 6 * d.joint_count
    if d.sources < 1 or d.examples < 1 or outputs < 1 or d.outputs != outputs:
        return False
    if d.pairs != d.sources * d.examples or d.terms != d.examples * outputs:
        return False
    for k in range(d.morph_count):
        if d.morphs[k] < 0 or d.morphs[k] >= work.Mp:
            return False
    return d.radius > 0.0


def room_of(work, d):
    return d.examples


DRIVER = Constants(
    "driver",
    "joints whose rotations are compared with examples, and what follows them",
    rules=(driver_fits,),
    sources=choice("how many joints are looked at", MOST_EXAMPLES),
    examples=choice("how many examples there are", MOST_EXAMPLES),
    pairs=whole("joints times examples"),
    outputs=whole("how many numbers follow: a morph one, a joint six"),
    terms=whole("examples times outputs"),
    morph_count=choice("how many morphs follow", 1 << 16),
    joint_count=choice("how many joints follow", 1 << 12),
    measure=choice("what is compared: whole rotations, swing, twist", 3),
    kernel=choice("Gaussian or thin plate", 2),
    normalized=choice("1: the functions are made to add up to one", 2),
    memory=memory("room for what each example's function is", room_of),
    radius=number("how far an example reaches, in radians"),
    looked=joint("the joints that are looked at", each="sources"),
    axes=number("of each the axis of swing and twist, in its frame", 3, each="sources"),
    rests=number("and how it is turned at rest", 4, each="sources"),
    known=number("what is compared, joint after joint of each example", 4, each="pairs"),
    terms_of=number("what each example adds to each output", each="terms"),
    bounds=number("the least and the most of each output", 2, each="outputs"),
    morphs=whole("the morphs that follow", each="morph_count"),
    joints=joint("the joints that follow", each="joint_count"),
)


def combined_fits(work, c):
    if c.count < 1 or c.keys < 1 or c.morph < 0 or c.morph >= work.Mp:
        return False
    for k in range(c.count):  # noqa: SIM110 (the compiler knows no generators)
        if c.inputs[k] < 0 or c.inputs[k] >= work.Mp:
            return False
    return True


COMBINED = Constants(
    "combined morph",
    "a morph that follows others",
    rules=(combined_fits,),
    count=choice("how many it follows", 1 << 12),
    keys=choice("how many points its curve has", 1 << 12),
    morph=whole("the morph"),
    how=choice("multiplied, the least, the most, the sum, the mean", 5),
    mode=choice("it is set, added, or multiplied by", 3),
    inputs=whole("those that it follows", each="count"),
    curve=number(
        "from what comes in to what goes out, straight between points that go up; one point: as it is",
        2,
        each="keys",
    ),
)


def logarithm(x):
    """Of a number from 1e-30 on."""
    steps = 0.0
    for _ in range(100):
        if x > 1.4142135623730951:
            x *= 0.5
            steps += 1.0
        elif x < 0.7071067811865476:
            x *= 2.0
            steps -= 1.0
        else:
            break
    s = (x - 1.0) / (x + 1.0)
    q = s * s
    series = 1.0 + q * (0.3333333333333333 + q * (0.2 + q * (0.14285714285714285 + q * (
        0.1111111111111111 + q * (0.09090909090909091 + q * 0.07692307692307693)))))  # fmt: skip
    return 0.6931471805599453 * steps + 2.0 * s * series


def looked_at(q, measure, axis, rest):
    """What is compared of a rotation: itself, where it turns an axis to, or cosine and sine of its angle about that."""
    if measure == ROTATION:
        return q
    if measure == SWING:
        v = turned(q, axis)
        return (v[0], v[1], v[2], 0.0)
    d = multiplied(conjugated(rest), q)
    s = dotted((d[0], d[1], d[2]), axis)
    size = s * s + d[3] * d[3]
    if size < 1e-20:
        return (1.0, 0.0, 0.0, 0.0)
    return ((d[3] * d[3] - s * s) / size, 2.0 * s * d[3] / size, 0.0, 0.0)


def squared_chord(a, b, measure):
    along = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    if measure == ROTATION:
        return max(8.0 * (1.0 - abs(along)), 0.0)
    return max(2.0 * (1.0 - along), 0.0)


def radial_value(kernel, squared):
    """The radial basis function of a squared distance in radii."""
    if kernel == GAUSSIAN:
        return exp(-squared) if squared < 80.0 else 0.0
    return 0.5 * squared * logarithm(squared) if squared > 1e-30 else 0.0


def output_of(d, kept, k):
    """The k-th number that follows, where `kept` has what each example's function is."""
    value = 0.0
    for e in range(d.examples):
        value += kept[d.memory + e] * d.terms_of[e * d.outputs + k]
    return min(max(value, d.bounds[k][0]), d.bounds[k][1])


def run_drive(work, n, top, at, time, weight):
    d = DRIVER(work, at)
    kept, total = work.memory[n], 0.0
    for e in range(d.examples):
        kept[d.memory + e] = 0.0
    for source in range(d.sources):
        here = looked_at(
            local_rotation(work.stack, top, work.Jp, d.looked[source]),
            d.measure,
            d.axes[source],
            d.rests[source],
        )
        for e in range(d.examples):
            kept[d.memory + e] += squared_chord(here, d.known[e * d.sources + source], d.measure)
    closer = 1.0 / (d.radius * d.radius)
    for e in range(d.examples):
        value = radial_value(d.kernel, kept[d.memory + e] * closer)
        kept[d.memory + e] = value
        total += value
    if d.normalized != 0 and total > 1e-30:
        for e in range(d.examples):
            kept[d.memory + e] /= total
    for k in range(d.morph_count):
        work.stack[top + 10 * work.Jp + d.morphs[k]] += weight * output_of(d, kept, k)
    for k in range(d.joint_count):
        first, j = d.morph_count + 6 * k, d.joints[k]
        for c in range(3):
            work.stack[top + c * work.Jp + j] += weight * output_of(d, kept, first + c)
        x, y, z = output_of(d, kept, first + 3), output_of(d, kept, first + 4), output_of(d, kept, first + 5)
        size = math.sqrt(x * x + y * y + z * z)
        half = 0.5 * weight * size
        s = sin(half) / size if size > 1e-9 else 0.5 * weight
        q = multiplied(local_rotation(work.stack, top, work.Jp, j), (s * x, s * y, s * z, cos(half)))
        put_rotation(work.stack, top, work.Jp, j, q, 1.0)


def run_combine(work, n, top, at, time, weight):
    c = COMBINED(work, at)
    morphs = top + 10 * work.Jp
    value = work.stack[morphs + c.inputs[0]] + 0.0
    for k in range(1, c.count):
        other = work.stack[morphs + c.inputs[k]]
        if c.how == MULTIPLY:
            value *= other
        elif c.how == LEAST:
            value = min(value, other)
        elif c.how == MOST:
            value = max(value, other)
        else:
            value += other
    if c.how == MEAN:
        value /= c.count
    value = along_curve(c, value)
    at_morph = morphs + c.morph
    now = work.stack[at_morph]
    if c.mode == SET:
        work.stack[at_morph] = now + weight * (value - now)
    elif c.mode == ADD:
        work.stack[at_morph] = now + weight * value
    else:
        work.stack[at_morph] = now * (1.0 + weight * (value - 1.0))


def along_curve(c, value):
    """Straight between the points of a curve, held outside."""
    if c.keys == 1:
        return value
    k = 0
    while k < c.keys - 2 and c.curve[k + 1][0] < value:
        k += 1
    a, b = c.curve[k], c.curve[k + 1]
    s = min(max((value - a[0]) / (b[0] - a[0]), 0.0), 1.0)
    return a[1] + s * (b[1] - a[1])


# -- the specification ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DrivenParts:
    """What `DRIVE` needs in the reference: joints that are looked at, what is compared and how, coefficients
    `(examples, outputs)`."""

    looked: tuple[int, ...]
    measure: int
    axes: Array
    rests: Array
    known: Array
    kernel: int
    normalized: bool
    radius: float
    terms: Array
    bounds: Array
    morphs: tuple[int, ...]
    joints: tuple[int, ...]


def features(rotations: Array, measure: int, axes: Array, rests: Array) -> Array:
    """What is compared of rotations `(..., sources, 4)`: four numbers each."""
    q = quaternion.normalize(np.asarray(rotations, np.float64))
    if measure == ROTATION:
        return q
    out = np.zeros_like(q)
    if measure == SWING:
        out[..., :3] = quaternion.rotate(q, axes)
        return out
    d = quaternion.multiply(quaternion.conjugate(rests), q)
    angle = 2 * np.arctan2((d[..., :3] * axes).sum(-1), d[..., 3])
    out[..., 0], out[..., 1] = np.cos(angle), np.sin(angle)
    return out


def radial(
    a: Array, b: Array, *, measure: int, kernel: int, radius: float, normalized: bool = False
) -> Array:
    """The functions `(..., examples)` at features `a (..., sources, 4)`, around examples `b (examples, sources, 4)`."""
    along = (a[..., None, :, :] * b).sum(-1)
    squared = 8 * (1 - np.abs(along)) if measure == ROTATION else 2 * (1 - along)
    d = np.maximum(squared, 0).sum(-1) / radius**2
    if kernel == GAUSSIAN:
        values = np.exp(-d)
    else:
        values = 0.5 * d * np.log(np.where(d > 1e-30, d, 1.0))
    if not normalized:
        return np.asarray(values)
    total = values.sum(-1, keepdims=True)
    return np.asarray(values / np.where(total > 1e-30, total, 1.0))


def rotation_from(vector: Array) -> Array:
    """The rotation of a rotation vector: axis times angle."""
    size = float(np.linalg.norm(vector))
    axis = vector / size if size > 1e-12 else np.array([1.0, 0.0, 0.0])
    return quaternion.from_axis_angle(axis, size)


def reference_drive(
    stack: list[Rows], world: ReferenceWorld, argument: int, time: float, weight: float
) -> None:
    d: DrivenParts = world.constants[argument]
    t, q, s, m = (a.copy() for a in stack[-1])
    here = features(q[list(d.looked)], d.measure, d.axes, d.rests)
    values = radial(
        here, d.known, measure=d.measure, kernel=d.kernel, radius=d.radius, normalized=d.normalized
    )
    out = np.clip(values @ d.terms, d.bounds[:, 0], d.bounds[:, 1])
    for k, morph in enumerate(d.morphs):
        m[morph] += weight * out[k]
    for k, j in enumerate(d.joints):
        six = out[len(d.morphs) + 6 * k :][:6]
        t[j] += weight * six[:3]
        q[j] = quaternion.multiply(quaternion.normalize(q[j]), rotation_from(weight * six[3:]))
    stack[-1] = [t, q, s, m]


@dataclass(frozen=True)
class Combined:
    """What `COMBINE` needs in the reference."""

    morph: int
    inputs: tuple[int, ...]
    how: int
    mode: int
    curve: Array | None


def reference_combine(
    stack: list[Rows], world: ReferenceWorld, argument: int, time: float, weight: float
) -> None:
    c: Combined = world.constants[argument]
    t, q, s, m = stack[-1]
    m = m.copy()
    value = float((np.prod, np.min, np.max, np.sum, np.mean)[c.how](m[list(c.inputs)]))
    if c.curve is not None:
        value = float(np.interp(value, c.curve[:, 0], c.curve[:, 1]))
    m[c.morph] = (
        m[c.morph] + weight * (value - m[c.morph]),
        m[c.morph] + weight * value,
        m[c.morph] * (1 + weight * (value - 1)),
    )[c.mode]
    stack[-1] = [t, q, s, m]


DRIVE = Operation(
    name="DRIVE",
    code=22,
    meaning="adds to morphs and helper joints what radial basis functions make of the rotations of other joints",
    pops=1,
    pushes=1,
    argument=DRIVER,
    time="",
    weight="how much of it is added",
    run=run_drive,
    reference=reference_drive,
)
COMBINE = Operation(
    name="COMBINE",
    code=23,
    meaning="a morph that is set by, added to or multiplied by what others are together",
    pops=1,
    pushes=1,
    argument=COMBINED,
    time="",
    weight="how much of the way",
    run=run_combine,
    reference=reference_combine,
)
