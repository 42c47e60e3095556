"""A third-person character to play: it walks, runs and jumps over hills, and strikes posts down with its baton.

    python examples/third_person_game.py
    python examples/third_person_game.py --headless 600 --pictures shots/    # no screen: a scripted player

W A S D or the left stick walk where the camera looks, Shift or the right trigger run, Space or A jump, F, a
click or X strike. The mouse or the right stick turn the camera, the wheel brings it nearer, Esc ends.
"""

import argparse
import math
from pathlib import Path

import numpy as np

import marrow as mw
from marrow.graph import (
    ClipNode,
    FootLock,
    FootPlacement,
    Graph,
    Parameter,
    RootMotion,
    Slot,
    State,
    StateMachine,
    Transition,
)
from marrow.math import quaternion

WALK, RUN, TURN = 1.4, 3.4, math.radians(360)
"""Metres a second, and how far it turns in a second."""
UP = np.array([0.0, 1.0, 0.0])


# -- the world ------------------------------------------------------------------------------------------------------------
def ground(places):
    """Hills: heights at places (n, 2), x and z in the world."""
    x, z = np.asarray(places, np.float64).T
    return 0.35 * np.sin(0.45 * x) * np.cos(0.38 * z) + 0.15 * np.sin(0.8 * z + 1.0)


def solid(name, positions, triangles, color, normals=None):
    """Something that does not move by itself: a mesh with one joint."""
    bones = mw.Skeleton((name,), [-1])
    paint = mw.Material(name, base_color=(*color, 1.0), metallic=0.0, roughness=0.9)
    section = mw.Section(0, len(triangles), 0)
    mesh = mw.Mesh.rigid(name, positions, triangles, 0, normals=normals, sections=(section,))
    return mw.Character(bones, (mesh,), materials=(paint,), name=name)


def terrain(side=24.0, step=0.4):
    line = np.arange(-side, side + step / 2, step)
    x, z = np.meshgrid(line, line, indexing="ij")
    places = np.stack([x.ravel(), z.ravel()], axis=1)
    positions = np.column_stack([places[:, 0], ground(places), places[:, 1]])
    slopes = [(ground(places + d) - ground(places - d)) / 0.02 for d in ([0.01, 0.0], [0.0, 0.01])]
    normals = np.column_stack([-slopes[0], np.ones(len(places)), -slopes[1]])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    corner = (np.arange(len(line) - 1)[:, None] * len(line) + np.arange(len(line) - 1)).ravel()[:, None]
    halves = np.array([[0, 1, len(line)], [1, len(line) + 1, len(line)]])
    triangles = (corner[:, None] + halves).reshape(-1, 3)
    return solid("hills", positions, triangles, (0.36, 0.42, 0.28), normals)


def post(width=0.14, height=1.5):
    low, high = np.array([-width, 0, -width]) / 2, np.array([width, 2 * height, width]) / 2
    faces, positions, normals = [], [], []
    for axis in range(3):
        for side in (0, 1):
            u, v = (axis + 1) % 3, (axis + 2) % 3
            corners = np.tile((low, high)[side], (4, 1))
            for k, (a, b) in enumerate(((0, 0), (1, 0), (1, 1), (0, 1))):
                corners[k, u], corners[k, v] = (low, high)[a][u], (low, high)[b][v]
            first = 4 * len(normals)
            order = (0, 1, 2, 3) if side else (3, 2, 1, 0)
            faces += [[first + order[i] for i in three] for three in ((0, 1, 2), (0, 2, 3))]
            positions.append(corners)
            normals.append(np.eye(3)[axis] * (2 * side - 1))
    return solid("post", np.concatenate(positions), faces, (0.55, 0.33, 0.18), np.repeat(normals, 4, axis=0))


class Posts:
    """Posts to strike down: where they stand, and how far each has fallen."""

    def __init__(self, count=24, seed=3):
        rng = np.random.default_rng(seed)
        self.places = rng.uniform((1.5, 2.0), (8.0, 20.0), (count, 2)) * rng.choice([(1, 1), (-1, 1)], count)
        self.places[:2] = (1.2, 12.4), (0.5, 19.3)  # on the way of the one who plays by script
        self.away = np.zeros(count)  # the way they fall, radians around Y
        self.angle, self.speed = np.zeros(count), np.zeros(count)
        self.actor = mw.Actor(post(), transforms=self.transforms(), name="posts")

    def transforms(self):
        turn = quaternion.from_axis_angle(UP, self.away)
        tip = quaternion.from_axis_angle(np.array([1.0, 0.0, 0.0]), self.angle)
        rotation = quaternion.multiply(turn, quaternion.multiply(tip, quaternion.conjugate(turn)))
        at = np.column_stack([self.places[:, 0], ground(self.places), self.places[:, 1]])
        return np.concatenate([quaternion.to_matrix(rotation), at[..., None]], axis=-1)

    def strike(self, place, heading):
        """Hits what stands in front of a character."""
        way = self.places - place[[0, 2]]
        ahead = way @ [math.sin(heading), math.cos(heading)]
        hit = (np.linalg.norm(way, axis=1) < 1.5) & (ahead > 0.2) & (self.angle == 0)
        self.away[hit], self.speed[hit] = heading, 1.5
        return int(hit.sum())

    def update(self, dt):
        falling = (self.speed > 0) & (self.angle < math.radians(86))
        self.speed[falling] += 9.0 * np.sin(self.angle[falling] + 0.1) * dt
        self.angle[falling] = np.minimum(self.angle[falling] + self.speed[falling] * dt, math.radians(86))
        self.actor.transforms = self.transforms()


# -- the character ---------------------------------------------------------------------------------------------------------
def graph():
    """Legs that walk to run, feet that stay where they stand, a jump, and an arm that strikes over all of it."""
    walk = mw.samples.locomotion_graph().root.source
    moves = StateMachine(
        {
            "move": State(FootLock(walk)),
            "jump": State(ClipNode("jump", loop=False, speed=1.5, start=0.3)),
        },
        (
            Transition("move", "jump", ("jump",), seconds=0.12),
            Transition("jump", "move", ("remaining <= 0.35",), seconds=0.25),
        ),
    )
    body = Slot("action", moves, joints=("@spine",), depth_falloff=1.0)
    steered = {
        "speed": Parameter(range=(0.0, RUN), smoothing=0.2),
        "strafe": Parameter(),
        "jump": Parameter("trigger", hold=0.2),
    }
    return Graph(RootMotion(FootPlacement(body)), steered, "third person")


class Player:
    """Where the character is, where it faces, and what it was told to do."""

    def __init__(self, hero):
        self.animator = mw.Animator(hero, graph())
        self.animator.ground = ground
        self.heading, self.place = 0.0, np.array([0.0, float(ground([[0.0, 0.0]])[0]), 0.0])
        self.drift = np.zeros(3)
        self.hits = 0

    def update(self, wish, run, dt, posts):
        """`wish` is where to go in the world, at most 1 long."""
        share = min(float(np.linalg.norm(wish)), 1.0)
        jumps = self.animator.state() == "jump"
        if share > 0.01 and not jumps:
            turn = math.remainder(math.atan2(wish[0], wish[2]) - self.heading, math.tau)
            self.heading += min(max(turn, -TURN * dt), TURN * dt)
        self.animator["speed"] = share * (RUN if run else WALK)
        self.animator.update(dt)
        ahead = (math.sin(self.heading), 0.0, math.cos(self.heading))
        self.animator.root.set(facing=ahead)  # whichever way its file has it look
        way = quaternion.rotate(self.animator.root.rotation, self.animator.root.motion.translation)
        if jumps:
            way = self.drift * dt  # nothing to push against in the air
        elif dt > 0:
            self.drift = way / dt
        self.place = self.place + way
        self.place[1] = ground(self.place[None, [0, 2]])[0]
        self.animator.root.set(self.place)
        for event in self.animator.events.names:
            if event == "hit":
                self.hits += posts.strike(self.place, self.heading)


def steer(frame):
    """What the player wants: a way in the world, running, jumping, striking."""
    pad, camera = frame.gamepad, frame.camera
    right = frame.axis("a", "d") + frame.axis("left", "right") + pad.left[0]
    ahead = frame.axis("s", "w") + frame.axis("down", "up") + pad.left[1]
    wish = right * camera.right + ahead * camera.heading
    wish /= max(np.linalg.norm(wish), 1.0)
    run = frame.down("shift") or pad.right_trigger > 0.3
    jump = frame.pressed("space") or "a" in pad.pressed
    strike = frame.pressed("f") or "left" in frame.mouse.pressed or "x" in pad.pressed
    return wish, run, jump, strike


def follow(camera, place, dt):
    """The camera keeps up with the character, softly."""
    target = place + 1.15 * UP
    camera.target = target if dt == 0 else target + (camera.target - target) * math.exp(-8 * dt)
    while camera.eye[1] < ground(camera.eye[None, [0, 2]])[0] + 0.2 and camera.pitch < 1.4:
        camera.pitch += 0.02  # not through a hill


def scripted(inputs, time, rate):
    """Plays by itself, for those who have no hands: the keys a player would hold at this time."""
    held = {"w": time > 0.3, "a": 2.5 < time < 3.4, "shift": 1.6 < time < 5.0, "d": 6.0 < time < 6.8}
    for key, down in held.items():
        inputs.key(key, down)
    for key, moment in (("space", 2.2), ("f", 4.2), ("space", 7.2), ("f", 9.0)):
        if moment <= time < moment + 1 / rate:
            inputs.tap(key)


def main():
    arguments = argparse.ArgumentParser(description="A third-person character to play.")
    arguments.add_argument(
        "--headless", type=int, metavar="FRAMES", help="no window: so many frames of a script"
    )
    arguments.add_argument("--pictures", type=Path, metavar="FOLDER", help="pictures of some frames")
    arguments.add_argument(
        "--every", type=int, default=30, metavar="FRAMES", help="how far apart pictures are"
    )
    wanted = arguments.parse_args()

    player, posts = Player(mw.samples.mannequin()), Posts()
    scene = mw.Scene(player.animator, mw.Actor(terrain()), posts.actor, ground=False)
    camera = mw.windows.CameraControls((0, 1.2, 0), 4.2, yaw=math.pi, pitch=0.22)
    options = {"capture": True}
    if wanted.headless:
        options = {"frames": wanted.headless, "offscreen": True, "size": (640, 360)}
    window = mw.window(scene, camera=camera, controls="orbit", title="Third person", **options)

    for frame in window:
        if wanted.headless:
            scripted(window.inputs, frame.time, 60)
        wish, run, jump, strike = steer(frame)
        if jump:
            player.animator.trigger("jump")
        if strike:
            player.animator.slots["action"].play("attack", seconds=0.1)
        player.update(wish, run, frame.dt, posts)
        posts.update(frame.dt)
        follow(camera, player.place, frame.dt)
        frame.print(f"{player.hits} of {len(posts.angle)} posts   W A S D, Shift, Space, F")
        if wanted.pictures and frame.index % wanted.every == 0:
            wanted.pictures.mkdir(parents=True, exist_ok=True)
            frame.picture().save(wanted.pictures / f"{frame.index:05d}.png")
    way = np.linalg.norm(player.place[[0, 2]])
    print(
        f"{window.meter.count} frames; the character is {way:.1f} m from where it began, {player.hits} posts fell"
    )


if __name__ == "__main__":
    main()
