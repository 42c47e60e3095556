"""What pose programs are told of where instances are in the world: see `HEADER`, and targets that are given in the world."""

from __future__ import annotations

from marrow.kernels.control_tables import INSTANCE_STATE
from marrow.kernels.language.annotations import ANY, C, N, Out, Records, f4, f8, i8
from marrow.kernels.language.kernel import kernel
from marrow.kernels.operations.limbs import TICKS

__all__ = ["SLACK", "write_root_vectors"]

SLACK = 1e-4
"""The part of a tick by which a clock may be early or late: times are sums of steps."""


def turned_by(x, y, z, w, v):
    """`v + 2 u x (u x v + w v)`."""
    a, b, c = y * v[2] - z * v[1] + w * v[0], z * v[0] - x * v[2] + w * v[1], x * v[1] - y * v[0] + w * v[2]
    return (v[0] + 2.0 * (y * c - z * b), v[1] + 2.0 * (z * a - x * c), v[2] + 2.0 * (x * b - y * a))


@kernel
def write_root_vectors(
    instances: Records[INSTANCE_STATE, N],
    place: f8[N, 7],
    placed: f8[N, 7],
    values: f8[N, ANY],
    constants: f8[ANY],
    given: i8[C, 5],
    vectors: Out[f4[N, ANY]],
    header: int,
) -> None:
    """Writes the header of each instance (below zero: nobody asks for it): the number of its update, seconds, how model space moved, ticks, whether
    its pose was cut; and vectors of the world in model space: `given` has for each where its three numbers are (below zero: -1 - the place
    of a constant), its column, and whether it is a direction."""
    for n in range(len(place)):
        x, y, z, w = -place[n, 3], -place[n, 4], -place[n, 5], place[n, 6]
        if header >= 0:
            told, bx, by, bz, bw = vectors[n], placed[n, 3], placed[n, 4], placed[n, 5], placed[n, 6]
            told[header], told[header + 1] = float(instances[n]["stamp"]), instances[n]["since"]
            away = (placed[n, 0] - place[n, 0], placed[n, 1] - place[n, 1], placed[n, 2] - place[n, 2])
            moved = turned_by(x, y, z, w, away)
            told[header + 2], told[header + 3], told[header + 4] = moved[0], moved[1], moved[2]
            told[header + 5] = w * bx + x * bw + y * bz - z * by
            told[header + 6] = w * by - x * bz + y * bw + z * bx
            told[header + 7] = w * bz + x * by - y * bx + z * bw
            told[header + 8] = w * bw - x * bx - y * by - z * bz
            now = instances[n]["clock"] * TICKS
            last = int(now + SLACK)
            before = int(max((instances[n]["clock"] - instances[n]["since"]) * TICKS + SLACK, 0.0))
            told[header + 9], part = float(last - before), now - last
            told[header + 10] = part if part > SLACK else 0.0
            told[header + 11] = 1.0 if instances[n]["cut"] == 1 else 0.0
        for k in range(len(given)):
            a, b, c, column = given[k, 0], given[k, 1], given[k, 2], given[k, 3]
            there = (
                values[n, a] if a >= 0 else constants[-1 - a],
                values[n, b] if b >= 0 else constants[-1 - b],
                values[n, c] if c >= 0 else constants[-1 - c],
            )
            if given[k, 4] == 0:
                there = (there[0] - place[n, 0], there[1] - place[n, 1], there[2] - place[n, 2])
            seen = turned_by(x, y, z, w, there)
            vectors[n, column], vectors[n, column + 1], vectors[n, column + 2] = seen[0], seen[1], seen[2]
