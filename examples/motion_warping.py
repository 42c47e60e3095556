"""Motion warping: one jump for many boxes.

Five people walk, each turned towards a box of its own by `RootSteering`, and leap. The jump is the same clip for all, made
on the spot; `WarpTo` warps it so that everybody lands on the middle of the box, facing the camera, and a second one has a
hand touch the lamp that hangs over it on the way. Boxes are near and far, low and high. The same run is made at three frame
rates, and how far each landed from its mark is told. A moment of it is drawn to motion_warping.png.
"""

import numpy as np

import marrow as mw
from marrow.graph import (
    ClipNode,
    Graph,
    Parameter,
    RootMotion,
    RootSteering,
    State,
    StateMachine,
    Transition,
    WarpTo,
)

hero = mw.samples.mannequin()
COUNT = 5
column = np.arange(COUNT)
heights = np.array([0.25, 0.55, 0.4, 0.7, 0.3])
boxes = np.stack([1.3 * (column - 2.0), heights, 2.6 + 0.35 * (column % 2)], axis=1)
marks = boxes.copy()
lamps = marks + np.array([-0.25, 1.75, -0.25])
starts = np.stack(
    [1.3 * (column - 2.0) + 0.6 * np.cos(2.0 * column), 0 * heights, -1.5 - 0.2 * column], axis=1
)

# The jump takes off at the event "jump" and lands at "foot_l"; the hand has its own window, in seconds.
leap = WarpTo(ClipNode("jump", loop=False), reach={"hand_r": "lamp"}, window=(0.55, 0.85))
leap = WarpTo(leap, "mark", (0.0, 0.0, 1.0), window=("jump", "foot_l"), axes=("x", "y", "z", "yaw"))
moves = StateMachine(
    {"walk": State(RootSteering("walk", "way", half_life=0.25)), "leap": State(leap)},
    (Transition("walk", "leap", ("leap",), seconds=0.25),),
)
parameters = {
    "way": Parameter("vector"),
    "mark": Parameter("vector"),
    "lamp": Parameter("vector"),
    "leap": Parameter("trigger"),
}
graph = Graph(RootMotion(moves, axes=("x", "y", "z", "yaw")), parameters)


def run(rate, seconds=5.0):
    """Everybody lands. How far from the marks all are then, how near hands came to the lamps, and a moment in between."""
    crowd = mw.Animator(hero, graph, count=COUNT)
    crowd.root.set(starts)
    crowd["mark"], crowd["lamp"] = marks, lamps
    jumped, touched, moment = np.zeros(COUNT, bool), np.full(COUNT, np.inf), None
    hand = hero.skeleton.index("hand_r")
    for frame in range(round(seconds * rate)):
        way = marks - crowd.root.translation
        near = ~jumped & (np.linalg.norm(way[:, [0, 2]], axis=1) < 1.9)
        crowd.trigger("leap", instances=near)
        jumped |= near
        crowd["way"] = np.where(jumped[:, None], (0.0, 0.0, 1.0), way)
        crowd.update(1 / rate)
        world = crowd.root.matrices
        hands = (world[:, :, :3] @ crowd.model_matrices[:, hand, :, 3:])[..., 0] + world[:, :, 3]
        touched = np.minimum(touched, np.linalg.norm(hands - lamps, axis=1))
        if frame == round(SHOWN * rate):
            moment = crowd.snapshot()
    landed = np.linalg.norm(crowd.root.translation - marks, axis=1)
    crowd.restore(moment)
    return crowd, landed, touched


SHOWN = 2.85
for rate in (24, 60, 144):
    crowd, landed, touched = run(rate)
    print(f"{rate:>4} Hz: landed {1000 * landed.max():.3f} mm from the marks at most,", end="")
    print(f" hands came within {1000 * touched.max():.0f} mm of the lamps")


def box(name, at, size, color):
    """A box that stands with its top at a place."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * np.asarray(size) / 2
    quads = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    # Sides have corners of their own, so that edges are sharp.
    points = np.concatenate([corners[list(quad)] for quad in quads]) + at - [0, size[1] / 2, 0]
    faces = np.concatenate([[[4 * k, 4 * k + 1, 4 * k + 2], [4 * k, 4 * k + 2, 4 * k + 3]] for k in range(6)])
    paint = mw.Material(name, base_color=color, metallic=0.0, roughness=0.9)
    mesh = mw.Mesh.rigid(name, points, faces, 0, sections=(mw.Section(0, len(faces), 0),))
    return mw.Character(mw.Skeleton((name,), [-1]), (mesh,), materials=(paint,))


things = [box("box", m, (0.8, m[1], 0.8), (0.45, 0.33, 0.22, 1.0)) for m in marks]
things += [box("lamp", b + np.array([0, 0.05, 0]), (0.1, 0.1, 0.1), (0.9, 0.25, 0.1, 1.0)) for b in lamps]
view = mw.Camera.perspective((2.6, 2.2, 7.0), (0.1, 1.15, 2.0), width=1200, height=560)
mw.render(mw.Scene(crowd, *things), view="warps", camera=view, size=(1200, 560)).save("motion_warping.png")
print("motion_warping.png: one jump, five boxes, and how far the windows are")
