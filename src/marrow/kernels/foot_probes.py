"""Where the ground is asked for below the feet of many poses."""

from __future__ import annotations

from marrow.kernels.language.annotations import ANY, F, J, N, Out, f4, f8, i4, i8
from marrow.kernels.language.kernel import kernel
from marrow.kernels.operations.footholds import (
    FAR,
    HEEL_CLEAR,
    HEEL_ROOM,
    LEG_VECTORS,
    NEAR,
    PROBES,
    SUPPORT,
    heading,
    landing,
    looks,
    swings,
)
from marrow.kernels.operations.limbs import scaled_turn
from marrow.kernels.operations.spatial import local_rotation, multiplied, plus, turned, unit_or

__all__ = ["SHAPE", "foot_probes", "put_heights"]

SHAPE = 16
"""Numbers that tell the shape of a foot: ball (3), where it points (3), end of the heel (3) in the frame of its joint; heel, ankle and
toes along the sole, half its width; tip of the toes (3) in the frame of their joint."""


def foot_frame(rows, top, Jp, parents, foot, toes, front):
    """A foot in model space, in one walk up its chain: where it is (3), how it is turned (4), and a point of its toes (3)."""
    j = toes
    while j >= 0 and j != foot:
        front = scaled_turn(rows, top, Jp, j, local_rotation(rows, top, Jp, j), front)
        j = parents[j]
    p, q = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)
    while j >= 0:
        r = local_rotation(rows, top, Jp, j)
        p, front = scaled_turn(rows, top, Jp, j, r, p), scaled_turn(rows, top, Jp, j, r, front)
        q = multiplied(r, q)
        j = parents[j]
    return (p[0], p[1], p[2], q[0], q[1], q[2], q[3], front[0], front[1], front[2])


@kernel
def foot_probes(
    memory: f4[ANY, ANY],
    parents: i4[J],
    instances: i8[N],
    places: f8[ANY, ANY],
    vectors: f4[ANY, ANY],
    feet: i8[F],
    toes: i8[F],
    shapes: f8[F, ANY],
    points: Out[f8[ANY, ANY]],
    owners: Out[i8[ANY, 2]],
    top: int,
    first: int,
    header: int,
    Jp: int,
) -> int:
    """Points in the world, at the height of the root, where the feet of instances ask for the ground, whose poses are in memory from
    `top` on; and for each its instance, and the column of the vectors where the answer goes. Feet that stand need no probes
    of their way. Returns how many there are. What a leg is told begins at column `first` of the vectors."""
    count = 0
    for n in range(len(instances)):
        who = instances[n]
        row, told, place = memory[who], vectors[who], places[who]
        at = (place[0], place[1], place[2])
        q = (place[3], place[4], place[5], place[6])
        for k in range(len(feet)):
            shape = shapes[k]
            frame = foot_frame(row, top, Jp, parents, feet[k], toes[k], (shape[13], shape[14], shape[15]))
            p, turn = (frame[0], frame[1], frame[2]), (frame[3], frame[4], frame[5], frame[6])
            u = heading(turned(turn, (shape[3], shape[4], shape[5])))
            ball = plus(p, turned(turn, (shape[0], shape[1], shape[2])))
            x, z = landing(told, first + LEG_VECTORS * k, header)
            swinging = swings(x, z)
            heel, toe, way = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
            if swinging:
                heel = plus(p, turned(turn, (shape[6], shape[7], shape[8])))
                room = HEEL_CLEAR * shape[9]
                heel = (heel[0] - room * u[0], 0.0, heel[2] - room * u[1])
                toe = (frame[7], frame[8], frame[9])
                way = unit_or((x, 0.0, z), (0.0, 0.0, 1.0))
            for probe in range(PROBES):
                along, side = 0.0, 0.0
                if probe == 0:
                    along = -HEEL_ROOM * shape[9]
                elif probe == 1:
                    along = -shape[10]
                elif probe == 2:
                    side = -shape[12]
                elif probe == 3:
                    side = shape[12]
                elif probe == 4:
                    along = shape[11]
                spot = (
                    ball[0] + x + along * u[0] + side * u[1],
                    0.0,
                    ball[2] + z + along * u[1] - side * u[0],
                )
                if probe >= 5:
                    if not swinging:
                        continue
                    ahead = looks(NEAR, x, z) if probe == 7 else (looks(FAR, x, z) if probe == 8 else 0.0)
                    spot = (toe[0] + ahead * way[0], 0.0, toe[2] + ahead * way[2])
                    if probe == 5:
                        spot = heel
                    elif probe == 9:
                        spot = ball
                spot = plus(turned(q, (spot[0], 0.0, spot[2])), at)
                points[count, 0], points[count, 1], points[count, 2] = spot[0], at[1], spot[2]
                owners[count, 0], owners[count, 1] = who, first + LEG_VECTORS * k + SUPPORT + probe
                count += 1
    return count


@kernel
def put_heights(heights: f8[N], points: f8[N, 3], owners: i8[N, 2], vectors: Out[f4[ANY, ANY]]) -> None:
    """Puts heights over the points that were asked for where the programs of their instances look for them."""
    for i in range(len(heights)):
        vectors[owners[i, 0], owners[i, 1]] = heights[i] - points[i, 1]
