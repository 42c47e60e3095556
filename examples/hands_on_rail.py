"""Full-body IK in a graph: hands on a rail, and a handshake.

Six people stand at a rail. `FullBodyIK` brings both hands of each to the rail, wherever and however tall the rail is there,
keeps the feet where the clip has them and turns the head to a balloon that flies by. Two more shake hands: the hand of the
one is the target of the other. All are one crowd with one graph: what differs is what its parameters say. How far the
hands are from their targets is told, and a moment of it is drawn to hands_on_rail.png.
"""

import numpy as np

import marrow as mw
from marrow.graph import FullBodyIK, Graph, IKEffector, Parameter

hero = mw.samples.mannequin()
AT_RAIL, COUNT = 6, 8
column = np.arange(AT_RAIL)

# The palms are a little beyond the wrists.
palm = (0.0, 0.07, 0.0)
reach = FullBodyIK(
    "idle",
    (
        IKEffector("@left_hand", "left", space="world", weight="left_grip", point=palm),
        IKEffector("@right_hand", "right", space="world", weight="right_grip", point=palm),
        IKEffector("@head", aim="balloon", space="world", aim_strength=0.3),
        IKEffector("@left_foot"),
        IKEffector("@right_foot"),
    ),
    stiffness={"@head": 2.0, "@neck": 2.0},
)
parameters = {name: Parameter("vector") for name in ("left", "right", "balloon")}
parameters |= {name: Parameter(default=1.0, smoothing=0.3) for name in ("left_grip", "right_grip")}
crowd = mw.Animator(hero, Graph(reach, parameters), count=COUNT)

# A rail that climbs from 0.8 to 1.25 m; the pair stands in front of it, face to face.
stand = np.stack([0.85 * (column - 2.5), 0 * column, 0 * column], axis=1)
pair = np.array([[-0.45, 0.0, 1.7], [0.45, 0.0, 1.7]])
ways = np.concatenate([np.tile([0.0, 0.0, 1.0], (AT_RAIL, 1)), [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]])
crowd.root.set(np.concatenate([stand, pair]), facing=ways)


def rail(x):
    """The top of the rail at some places."""
    return np.stack([x, 1.02 + 0.09 * x, np.full_like(x, 0.42)], axis=-1)


left = np.concatenate([rail(stand[:, 0] + 0.2), np.zeros((2, 3))])
right = np.concatenate([rail(stand[:, 0] - 0.2), np.tile([0.0, 1.05, 1.7], (2, 1))])
crowd["left"], crowd["right"] = left, right
crowd["left_grip"] = np.arange(COUNT) < AT_RAIL


def palms(side):
    """Where the palms of a side are in the world."""
    frame = crowd.socket(f"@{side}_hand", space="world")
    return frame[:, :, :3] @ np.array(palm) + frame[:, :, 3]


for frame in range(120):
    time = frame / 60
    crowd["balloon"] = (2.0 * np.sin(time), 2.2 + 0.3 * np.sin(3 * time), 4.0)
    # The first shakes; the second holds on to that hand, as it was a moment ago.
    right[AT_RAIL] = (0.0, 1.05 + 0.05 * np.sin(12 * time), 1.7)
    if frame:
        right[AT_RAIL + 1] = palms("right")[AT_RAIL]
    crowd["right"] = right
    crowd.update(1 / 60)

found = {
    side: np.linalg.norm(palms(side) - goal, axis=1) for side, goal in (("left", left), ("right", right))
}
print(f"hands on the rail: {1000 * max(f[:AT_RAIL].max() for f in found.values()):.2f} mm off at most")
print(
    f"hand in hand: {1000 * np.linalg.norm(np.diff(palms('right')[AT_RAIL:], axis=0)):.1f} mm apart while they shake"
)


def bar(start, end, thickness, color):
    """A square bar from one place to another."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    side = np.array([0.0, 0.0, thickness / 2])
    up = np.cross(side, end - start)
    up *= thickness / 2 / np.linalg.norm(up)
    corners = np.array([p + a * side + b * up for p in (start, end) for a in (-1, 1) for b in (-1, 1)])
    quads = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    points = np.concatenate([corners[list(quad)] for quad in quads])
    faces = np.concatenate([[[4 * k, 4 * k + 1, 4 * k + 2], [4 * k, 4 * k + 2, 4 * k + 3]] for k in range(6)])
    paint = mw.Material("bar", base_color=color, metallic=0.0, roughness=0.8, double_sided=True)
    mesh = mw.Mesh.rigid("bar", points, faces, 0, sections=(mw.Section(0, len(faces), 0),))
    return mw.Character(mw.Skeleton(("bar",), [-1]), (mesh,), materials=(paint,))


wood = (0.45, 0.33, 0.22, 1.0)
ends = rail(np.array([-2.9, 2.9])) - [0, 0.05, 0]
things = [bar(*ends, 0.05, wood)]
things += [bar(p - [0.0, p[1], 0.0], p, 0.06, wood) for p in rail(np.linspace(-2.8, 2.8, 5)) - [0, 0.05, 0]]
view = mw.Camera.perspective((1.7, 1.9, 4.6), (0.0, 0.9, 0.6), width=1200, height=560)
mw.render(mw.Scene(crowd, *things), camera=view, size=(1200, 560)).save("hands_on_rail.png")
print("hands_on_rail.png: eight people, one graph")
