"""Where the ground is asked for below the feet of many poses."""

from __future__ import annotations

from marrow.kernels.language.annotations import ANY, F, J, N, Out, f4, f8, i4, i8
from marrow.kernels.language.kernel import kernel
from marrow.kernels.operations.footholds import (
    FAR,
    HEEL_ROOM,
    LEG_VECTORS,
    NEAR,
    PROBES,
    heading,
    landing,
    looks,
    swings,
)
from marrow.kernels.operations.spatial import model_place, model_point, model_rotation, plus, turned, unit_or

__all__ = ["SHAPE", "foot_probes"]

SHAPE = 16
"""Numbers that tell the shape of a foot: ball (3), where it points (3), end of the heel (3) in the frame of its joint; heel, ankle and
toes along the sole, half its width; tip of the toes (3) in the frame of their joint."""


@kernel
def foot_probes(
    rows: f4[N, ANY],
    parents: i4[J],
    instances: i8[N],
    places: f8[ANY, ANY],
    vectors: f4[ANY, ANY],
    feet: i8[F],
    toes: i8[F],
    shapes: f8[F, ANY],
    points: Out[f8[ANY, ANY]],
    owners: Out[i8[ANY]],
    first: int,
    header: int,
    Jp: int,
) -> int:
    """Points in the world, at the height of the root, where the feet of pose rows ask for the ground; and for each the number of
    its instance, foot and probe: `(n * F + k) * PROBES + probe`. Feet that stand need no probes of their way. Returns how many
    there are. What a leg is told begins at column `first` of the vectors."""
    count = 0
    for n in range(len(rows)):
        row, who = rows[n], instances[n]
        told, place = vectors[who], places[who]
        at = (place[0], place[1], place[2])
        q = (place[3], place[4], place[5], place[6])
        for k in range(len(feet)):
            shape = shapes[k]
            p, turn = model_place(row, 0, Jp, parents, feet[k]), model_rotation(row, 0, Jp, parents, feet[k])
            u = heading(turn, (shape[3], shape[4], shape[5]))
            ball = plus(p, turned(turn, (shape[0], shape[1], shape[2])))
            x, z = landing(told, first + LEG_VECTORS * k, header)
            swinging = swings(x, z)
            heel, toe, way = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
            if swinging:
                heel = plus(p, turned(turn, (shape[6], shape[7], shape[8])))
                toe = model_point(row, 0, Jp, parents, toes[k], (shape[13], shape[14], shape[15]))
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
                    spot = heel if probe == 5 else (toe[0] + ahead * way[0], 0.0, toe[2] + ahead * way[2])
                spot = plus(turned(q, (spot[0], 0.0, spot[2])), at)
                points[count, 0], points[count, 1], points[count, 2] = spot[0], at[1], spot[2]
                owners[count] = (n * len(feet) + k) * PROBES + probe
                count += 1
    return count
