"""A third-person character: it is steered over hills, and its feet stay where they stand, on the ground.

The game decides where the character is; the graph follows. What feet do is measured with and without `FootLock` and
`FootPlacement`: how far the ball of a foot slides in a step, and how deep the soles are in the ground.
"""

import numpy as np

import marrow as mw
from marrow.graph import FootLock, FootPlacement, Graph, Parameter, RootMotion
from marrow.math import quaternion

STEP = 1 / 60
hero = mw.samples.mannequin()
walk = mw.samples.locomotion_graph().root.source  # every direction at a walk, ahead up to a run
steered = {"speed": Parameter(smoothing=0.2), "strafe": Parameter(smoothing=0.2)}
graphs = {
    "as animated": Graph(RootMotion(walk), steered),
    "locked and placed": Graph(RootMotion(FootPlacement(FootLock(walk))), steered),
}


def ground(places):
    """Hills: heights at places (n, 2), x and z in the world."""
    x, z = places.T
    return 0.12 * z + 0.25 * np.sin(0.7 * z) + 0.1 * np.sin(0.9 * x)


def stick(time):
    """What the player wants: metres a second ahead, and radians a second to the left."""
    return (1.4 if time < 5 else 2.4), 0.5 * np.sin(0.8 * time)


def moved(place, way):
    """The game's own idea of walking: slower where it is steep, and always on the ground."""
    flat = np.linalg.norm(way)
    if flat < 1e-9:
        return place
    rise = ground((place + way)[None, [0, 2]])[0] - place[1]
    place = place + way * flat / np.hypot(flat, rise)
    return np.array([place[0], ground(place[None, [0, 2]])[0], place[2]])


balls = {side: hero.skeleton.index(f"ball_{side}") for side in "lr"}
soles = max(hero.meshes, key=lambda m: m.vertex_count).positions[:, 1] < 0.02

for name, graph in graphs.items():
    player = mw.Animator(hero, graph)
    player.ground = ground
    place, heading = np.array([0.0, ground(np.zeros((1, 2)))[0], 0.0]), 0.0
    landed, start, toes, slides, depths = {}, {}, {}, [], []
    for frame in range(480):
        player["speed"], turn = stick(frame * STEP)
        player.update(STEP)

        heading += turn * STEP
        facing = quaternion.from_axis_angle(np.array([0.0, 1.0, 0.0]), np.array(heading))
        place = moved(place, quaternion.rotate(facing, player.root.motion.translation))
        player.root.set(place, facing)

        world = player.root.matrices
        for event in player.events.names:
            side = event[5]
            if event.endswith("_lift"):
                if side in start:
                    slides.append(np.linalg.norm((toes[side] - start.pop(side))[[0, 2]]))
                landed.pop(side, None)
            else:
                landed[side] = frame
        toes = {s: world[:, :3] @ player.model_matrices[j, :, 3] + world[:, 3] for s, j in balls.items()}
        for side, since in landed.items():
            if frame - since >= 6:  # the heel lands first
                start.setdefault(side, toes[side])
        skin = player.skin(normals=False).positions[: len(soles)][soles] @ world[:, :3].T + world[:, 3]
        depths.append(max(0.0, np.max(ground(skin[:, [0, 2]]) - skin[:, 1])))
    print(f"{name:>17}: {len(slides)} steps slide {1000 * np.mean(slides):.1f} mm", end="")
    print(f" (worst {1000 * np.max(slides):.1f}), soles are {1000 * np.mean(depths):.1f} mm", end="")
    print(f" in the ground (worst {1000 * np.max(depths):.1f})")
