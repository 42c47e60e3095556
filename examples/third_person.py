"""A third-person character: it is steered over hills, and its feet stay where they stand, on the ground.

The game decides where the character is; the graph follows. What feet do is measured with and without `FootLock` and
`FootPlacement`: how far the ball of a foot slides in a step, and how deep the soles are in the ground. Where both walks
end is drawn to third_person.png.
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

players = []

for name, graph in graphs.items():
    player = mw.Animator(hero, graph)
    players.append(player)
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

# The hill that they stand on, as a mesh around the last place, and both of them on it.
side = np.linspace(-4, 4, 81)
x, z = np.meshgrid(place[0] + side, place[2] + side)
hill = np.stack([x, ground(np.stack([x.ravel(), z.ravel()], axis=1)).reshape(x.shape), z], axis=-1)
corner = (np.arange(80)[:, None] * 81 + np.arange(80)).ravel()
faces = np.concatenate(
    [np.stack([corner + a, corner + b, corner + c], 1) for a, b, c in ((0, 81, 1), (1, 81, 82))]
)
grass = mw.Material("grass", base_color=(0.30, 0.42, 0.22, 1.0), metallic=0.0, roughness=1.0)
mesh = mw.Mesh.rigid("hill", hill.reshape(-1, 3), faces, 0, sections=(mw.Section(0, len(faces), 0),))
land = mw.Character(mw.Skeleton(("ground",), [-1]), (mesh,), materials=(grass,))
beside = place + quaternion.rotate(facing, np.array([0.8, 0.0, 0.0]))
beside[1] = ground(beside[None, [0, 2]])[0]
players[0].root.set(beside, facing)
scene = mw.Scene(*players, land, ground=False)
eye = place + quaternion.rotate(facing, np.array([-1.2, 1.1, 3.0]))
middle = 0.5 * (place + beside) + np.array([0.0, 0.75, 0.0])
view = mw.Camera.perspective(eye, middle, width=960, height=540)
mw.render(scene, camera=view, size=(960, 540)).save("third_person.png")
print("third_person.png: with locked and placed feet in front, as animated beside")
