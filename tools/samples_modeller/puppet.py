"""The puppet the clips are played on: body curves in, joint rotations out.

A clip describes a body by what an animator thinks in (where the pelvis and the feet are, how the spine
leans, how an arm swings) over T frames. `Puppet.solve` turns that into local rotations of all joints; the
legs by two-bone inverse kinematics, so that a foot stays where the clip puts it.

Angles are in degrees: pitch bows forward, yaw turns to the left, roll tips to the right (left side up).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from marrow.math import quaternion as quat
from samples_modeller import rig
from samples_modeller.ik import bone_turn, solve_two_bones
from samples_modeller.sdf import Array
from samples_modeller.stage import Stage, about

__all__ = ["Arm", "Body", "Foot", "Solved", "solve", "turn"]

HANG = 90 - np.degrees(rig.ARM_SLOPE)  # from the bind pose to arms hanging straight down
FINGER_CURL = np.array([72.0, 95.0, 62.0])
THUMB_CURL = np.array([14.0, 38.0, 52.0])
# How much of a limb's twist its twist joint takes: near the shoulder it undoes, towards the wrist it
# follows.
TWIST_SHARE = {
    "upperarm_twist_01": -0.65,
    "thigh_twist_01": -0.65,
    "lowerarm_twist_01": 0.55,
    "calf_twist_01": 0.5,
}


@dataclass
class Arm:
    """An arm, starting from hanging at the side. `swing` forward, `spread` sideways, `twist` outward,
    `elbow` flexion, `pronation` of the forearm (palm to the back), `wrist` (flexion, towards the thumb),
    `shoulder` (up, forward), `curl` of the fingers (0 flat to 1 a fist), and how far they `fan` out."""

    swing: Array
    spread: Array
    twist: Array
    elbow: Array
    pronation: Array
    wrist: Array
    shoulder: Array
    curl: Array
    fan: Array

    @classmethod
    def hanging(cls, frames: int, curl: float = 0.28) -> Arm:
        def constant(value: float, *shape: int) -> Array:
            return np.full((frames, *shape), float(value))

        return cls(
            constant(0), constant(9), constant(4), constant(12), constant(12), constant(0, 2), constant(0, 2),
            constant(curl), constant(0),
        )  # fmt: skip


@dataclass
class Foot:
    """A foot in the world: the `ankle (T, 3)`, `yaw`, `pitch` (toes up), `roll`, the bend of the `toes`
    (up), and where the knee points, `knee` degrees outward of the foot."""

    ankle: Array
    yaw: Array
    pitch: Array
    toes: Array
    roll: Array
    knee: Array


@dataclass
class Body:
    """A body over T frames. `pelvis (T, 3)` is its place in the world; turns are (pitch, yaw, roll)."""

    frames: int
    root: Array = None  # type: ignore[assignment]
    root_yaw: Array = None  # type: ignore[assignment]
    pelvis: Array = None  # type: ignore[assignment]
    pelvis_turn: Array = None  # type: ignore[assignment]
    spine: Array = None  # type: ignore[assignment]
    neck: Array = None  # type: ignore[assignment]
    head: Array = None  # type: ignore[assignment]
    arms: dict[str, Arm] = None  # type: ignore[assignment]
    feet: dict[str, Foot] = field(default_factory=dict)
    morphs: dict[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        T = self.frames
        self.root, self.root_yaw = np.zeros((T, 3)), np.zeros(T)
        self.pelvis = np.tile(np.array(rig.LANDMARKS["pelvis"]), (T, 1))
        self.pelvis_turn, self.spine = np.zeros((T, 3)), np.zeros((T, 3))
        self.neck, self.head = np.zeros((T, 3)), np.zeros((T, 3))
        # The right hand is closed around whatever its socket holds.
        self.arms = {"l": Arm.hanging(T), "r": Arm.hanging(T, curl=0.93)}


@dataclass(frozen=True)
class Solved:
    """Local transforms of every frame: `translation (T, J, 3)`, `rotation (T, J, 4)`; how far each foot was
    from where it should be, `miss (T, 2)` in metres."""

    translation: Array
    rotation: Array
    miss: Array


def turn(angles: Array, order: str = "yxz") -> Array:
    """Quaternions of (pitch, yaw, roll) in degrees: yaw, then pitch, then roll, about the axes they leave
    behind."""
    pitch, yaw, roll = np.moveaxis(np.radians(np.asarray(angles, float)), -1, 0)
    return quat.from_euler(np.stack([yaw, pitch, roll], axis=-1), order)


class _Solver(Stage):
    """The mannequin's joints, filled in from the curves of a body."""

    def __init__(self, body: Body) -> None:
        super().__init__(*rig.bind_frames(), body.frames)
        self.body = body
        self.miss = np.zeros((body.frames, 2))

    def twist(self, joint: str, source: str, along: str) -> None:
        """A twist joint: its share of the twist of `source` about the bone."""
        j = self.index[source]
        relative = quat.multiply(quat.conjugate(self.turns[:, self.parents[j]]), self.turns[:, j])
        axis = self.axis(along, 1)
        angle = 2 * np.arctan2(relative[:, :3] @ axis, relative[:, 3])
        angle = np.degrees((angle + np.pi) % (2 * np.pi) - np.pi)
        self.place(joint, about(axis, TWIST_SHARE[joint[:-2]] * np.clip(angle, -120, 120)))

    def trunk(self) -> None:
        b = self.body
        self.places[:, 0] = b.root
        self.turns[:, 0] = about(np.array([0, 1.0, 0]), b.root_yaw)
        pelvis = self.index["pelvis"]
        self.places[:, pelvis] = b.pelvis
        self.turns[:, pelvis] = quat.multiply(self.turns[:, 0], turn(b.pelvis_turn))
        for k, share in ((1, 0.3), (2, 0.35), (3, 0.35)):
            self.place(f"spine_0{k}", turn(b.spine * share))
        self.place("neck", turn(b.neck))
        self.place("head", turn(b.head))

    def arm(self, side: str) -> None:
        a, s = self.body.arms[side], 1.0 if side == "l" else -1.0
        x, y, z = np.eye(3)
        up, forward = a.shoulder.T
        self.place(f"clavicle_{side}", quat.multiply(about(z, s * up), about(y, -s * forward)))
        swing = quat.multiply(about(x, -a.swing), about(z, s * a.spread))
        hang = quat.multiply(about(y, s * a.twist), about(z, np.full(len(a.twist), -s * HANG)))
        self.place(f"upperarm_{side}", quat.multiply(swing, hang))
        lower, hand = f"lowerarm_{side}", f"hand_{side}"
        self.place(lower, about(self.axis(lower, 0), a.elbow))
        flexion, to_thumb = a.wrist.T
        wrist = quat.multiply(about(self.axis(hand, 2), s * to_thumb), about(self.axis(hand, 0), flexion))
        self.place(hand, quat.multiply(about(self.axis(lower, 1), -s * a.pronation), wrist))
        self.twist(f"upperarm_twist_01_{side}", f"upperarm_{side}", f"upperarm_{side}")
        self.twist(f"lowerarm_twist_01_{side}", hand, lower)
        for finger, shape in rig.FINGERS.items():
            curls = THUMB_CURL if finger == "thumb" else FINGER_CURL
            for k in range(3):
                joint = f"{finger}_0{k + 1}_{side}"
                bend = about(self.axis(joint, 0), curls[k] * a.curl)
                if k == 0:
                    # Fingers close up as they curl, and fan out when asked to.
                    gather = -s * shape.spread * (0.0 if finger == "thumb" else 1.0) * (0.75 * a.curl - a.fan)
                    bend = quat.multiply(about(self.axis(hand, 2), -gather), bend)
                self.place(joint, bend)

    def leg(self, side: str) -> None:
        foot, s = self.body.feet[side], 1.0 if side == "l" else -1.0
        thigh, calf = f"thigh_{side}", f"calf_{side}"
        hip_joint, knee_joint = self.index[thigh], self.index[calf]
        self.place(thigh)
        upper = float(np.linalg.norm(self.offset(calf)))
        lower = float(np.linalg.norm(self.offset(f"foot_{side}")))
        _, y, z = np.eye(3)
        pole = quat.rotate(about(y, foot.yaw + s * foot.knee), z)
        knee, ankle = solve_two_bones(self.places[:, hip_joint], foot.ankle, pole, upper, lower)
        self.miss[:, 0 if side == "l" else 1] = np.linalg.norm(ankle - foot.ankle, axis=1)
        self.turns[:, hip_joint] = bone_turn(knee - self.places[:, hip_joint], pole, self.bind[hip_joint])
        self.place(calf, world=bone_turn(ankle - knee, pole, self.bind[knee_joint]))
        aim = turn(np.stack([-foot.pitch, foot.yaw, foot.roll], axis=-1))
        self.place(f"foot_{side}", world=aim)
        self.place(f"ball_{side}", about(np.array([1.0, 0, 0]), -foot.toes))
        self.twist(f"thigh_twist_01_{side}", thigh, thigh)
        self.twist(f"calf_twist_01_{side}", f"foot_{side}", calf)


def solve(body: Body) -> Solved:
    """Local transforms of the body's frames."""
    solver = _Solver(body)
    solver.trunk()
    for side in "lr":
        solver.arm(side)
        solver.leg(side)
    return Solved(*solver.local(), solver.miss)
