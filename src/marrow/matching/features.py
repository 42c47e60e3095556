"""What a frame of motion is compared by: where the feet are and go, how fast the hips are, and where the body goes next.

Everything is seen from the character's root as `RootMotion` has it: on the ground, facing where the body does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.bank import ClipBank
from marrow.errors import ValidationError
from marrow.graph.root_tracks import carried_by_hips, root_tracks, travelling_joint
from marrow.model._derived import derived
from marrow.model.character import Character
from marrow.model.clip import Clip
from marrow.motion.rig import find_rig

__all__ = ["Features", "Group", "RootPath", "clip_loops", "clip_rows"]

Array = NDArray[Any]
AXES = ("x", "z", "yaw")
CLOSED = 0.02
"""How far joints may be apart at both ends of a loop, as a part of the body's height."""


@dataclass(frozen=True)
class Group:
    """Some neighbouring columns: `name`, from `begin` to before `end`, weighed by `weight`."""

    name: str
    begin: int
    end: int
    weight: float


@dataclass(frozen=True)
class Features:
    """What frames are compared by.

    `positions` and `velocities` name joints whose place and velocity count; left out, they are the feet, and the feet
    and hips.
    `times` are the seconds ahead at which the way and the facing of the root count, three or any number. Weights are
    those of the
    groups `positions`, `velocities`, `path` and `facing`; left out 0.75, 1, 1 and 1.5.
    """

    positions: tuple[str, ...] = ()
    velocities: tuple[str, ...] = ()
    times: tuple[float, ...] = (1 / 3, 2 / 3, 1.0)
    weights: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        if (
            not self.times
            or min(self.times) <= 0
            or max(self.times) > 10
            or list(self.times) != sorted(set(self.times))
        ):
            raise ValidationError(
                f"times: expected seconds ahead in order, above 0 and 10 at most, got {self.times}"
            )
        known = {"positions", "velocities", "path", "facing"}
        for name, weight in self.weights:
            if name not in known:
                raise ValidationError(f"weights: {name!r} is none of {', '.join(sorted(known))}")
            if not (np.isfinite(weight) and 0 <= weight <= 1000):
                raise ValidationError(f"weights: {name}: expected 0 to 1000, got {weight!r}")

    def weight(self, name: str) -> float:
        usual = {"positions": 0.75, "velocities": 1.0, "path": 1.0, "facing": 1.5}
        return float(dict(self.weights).get(name, usual[name]))

    def joints(self, character: Character) -> tuple[list[int], list[int]]:
        """The joints whose places, and those whose velocities count."""
        skeleton = character.skeleton
        if self.positions and self.velocities:
            feet, hips = [], []
        else:
            chains = find_rig(skeleton).chains
            missing = [side for side in ("left_leg", "right_leg") if len(chains.get(side, ())) < 3]
            if missing or not chains.get("hips"):
                what = " and ".join(name.replace("_", " ") for name in missing) or "hips"
                raise ValidationError(
                    f"{character.name or 'the character'} has no {what} to compare frames by: name joints with "
                    "Features(positions=..., velocities=...)"
                )
            feet, hips = [chains["left_leg"][2], chains["right_leg"][2]], [chains["hips"][0]]
        named = [skeleton.index(name) for name in self.positions] or feet
        return named, [skeleton.index(name) for name in self.velocities] or [*feet, *hips]

    def groups(self, character: Character) -> tuple[Group, ...]:
        """The columns of a row, in order."""
        places, speeds = self.joints(character)
        names, at, out = character.skeleton.names, 0, []
        for kind, joints in (("positions", places), ("velocities", speeds)):
            for joint in joints:
                out.append(Group(f"{kind} {names[joint]}", at, at + 3, self.weight(kind)))
                at += 3
        for kind in ("path", "facing"):
            out.append(Group(kind, at, at + 2 * len(self.times), self.weight(kind)))
            at += 2 * len(self.times)
        return tuple(out)


class RootPath:
    """Where the root is along every clip of a character, as `RootMotion` takes it out of the poses."""

    def __init__(self, character: Character, joint: int | None, smooth: float | None) -> None:
        self.bank = ClipBank.of(character).unpacked()
        self.joint = travelling_joint(character) if joint is None else joint
        if smooth is None:
            smooth = 1.0 if joint is None and carried_by_hips(character.skeleton, self.joint) else 0.0
        self.smooth = smooth
        self._rows, _ = root_tracks(self.bank, self.joint, AXES, smooth)

    @classmethod
    def of(cls, character: Character, joint: int | None = None, smooth: float | None = None) -> RootPath:
        made: RootPath = derived(
            character, ("root path", joint, smooth), lambda: cls(character, joint, smooth)
        )
        return made

    def at(self, clip: Clip, times: Array, *, loops: bool) -> tuple[Array, Array]:
        """Translations `(T, 3)` and turns about the vertical `(T,)` at times of a clip. Beyond its ends a loop goes on
        where it arrives; another goes on straight, as fast as it was."""
        k = self.bank.index[clip.name]
        size, rate = self.bank.layout.size, float(self.bank.rate[k])
        first, count = int(self.bank.start[k]) // size, int(self.bank.frames[k])
        rows = self._rows[first : first + count]
        yaw = np.unwrap(2 * np.arctan2(rows[:, 4], rows[:, 6]))
        last = max(clip.duration, 1e-9)

        def inside(t: Array) -> tuple[Array, Array]:
            at = np.clip(t * rate, 0, count - 1)
            low = np.minimum(at.astype(int), max(count - 2, 0))
            share = (at - low)[:, None]
            high = np.minimum(low + 1, count - 1)
            return (
                rows[low, :3] + share * (rows[high, :3] - rows[low, :3]),
                yaw[low] + share[:, 0] * (yaw[high] - yaw[low]),
            )

        times = np.asarray(times, np.float64)
        if loops:
            laps = np.floor(times / last)
            place, turn = inside(times - laps * last)
            (begin, end), (begin_yaw, end_yaw) = inside(np.array([0.0, last]))
            angle = end_yaw - begin_yaw
            # A lap more brings what was seen from the beginning to where the lap before arrived.
            for lap in range(1, int(np.abs(laps).max(initial=0)) + 1):
                on, back = laps >= lap, laps <= -lap
                place[on], turn[on] = end + _turned(place[on] - begin, angle), turn[on] + angle
                place[back], turn[back] = begin + _turned(place[back] - end, -angle), turn[back] - angle
            return place, turn
        place, turn = inside(times)
        step = min(0.1, last)
        for edge, ahead in ((last, times - last), (0.0, times)):
            who = ahead > 0 if edge else ahead < 0
            if who.any():
                there, there_yaw = inside(np.array([edge, edge - step if edge else step]))
                speed = (there[0] - there[1]) / (step if edge else -step)
                place[who] = there[0] + ahead[who, None] * speed
                turn[who] = there_yaw[0]
        return place, turn


def _turned(vectors: Array, yaw: Any) -> Array:
    """Vectors `(T, 3)` turned about the vertical."""
    c, s = np.cos(yaw), np.sin(yaw)
    x, y, z = np.moveaxis(np.asarray(vectors, np.float64), -1, 0)
    return np.stack([c * x + s * z, y, c * z - s * x], axis=-1)


def clip_loops(character: Character, clip: Clip, path: RootPath) -> bool:
    """Whether a clip ends in the pose it begins with, so that it can go round."""
    if clip.duration < 0.2:
        return False
    times = np.array([0.0, clip.duration, 1 / 60, max(clip.duration - 1 / 60, 0.0)])
    model = np.asarray(character.skeleton.to_model(clip.sample(times)), np.float64)[..., 3]
    place, yaw = path.at(clip, times, loops=False)
    seen = _turned(model - place[:, None], -yaw[:, None])
    height = max(float(np.ptp(character.skeleton.rest_model[:, 1, 3])), 1e-6)
    apart = np.linalg.norm(seen[0] - seen[1], axis=-1).max()
    pace = np.linalg.norm((seen[2] - seen[0]) - (seen[1] - seen[3]), axis=-1).max()
    return bool(apart < CLOSED * height and pace < CLOSED * height)


def clip_rows(
    character: Character, clip: Clip, features: Features, path: RootPath, rate: float, *, loops: bool
) -> Array:
    """The features of a clip's frames, at `rate` from its beginning on, `(T, D)` float64. A loop has no frame at its
    end, which is its beginning."""
    count = max(1, round(clip.duration * rate) + (0 if loops else 1))
    times = np.arange(count) / rate
    places, speeds = features.joints(character)
    step = 0.5 / rate
    joints = sorted({*places, *speeds})
    column = {joint: k for k, joint in enumerate(joints)}

    def seen(t: Array) -> Array:
        """Places of joints in the world of the clip `(T, joints, 3)`."""
        if loops:
            inside = t - np.floor(t / clip.duration) * clip.duration
        else:
            inside = np.clip(t, 0, clip.duration)
        model = np.asarray(character.skeleton.to_model(clip.sample(inside)), np.float64)[..., 3][:, joints]
        if loops:
            here, here_yaw = path.at(clip, inside, loops=False)
            there, there_yaw = path.at(clip, t, loops=True)
            model = there[:, None] + _turned(model - here[:, None], (there_yaw - here_yaw)[:, None])
        return model

    model = seen(times)
    velocity = (seen(times + step) - seen(times - step)) / (2 * step)
    if not loops and count > 1:
        for k, t in ((0, times[:1] + step), (count - 1, times[-1:] - step)):
            velocity[k] = (seen(t + step) - seen(t - step))[0] / (2 * step)
    place, yaw = path.at(clip, times, loops=loops)
    back = -yaw[:, None]
    parts = [_turned(model - place[:, None], back)[:, column[j]] for j in places]
    parts += [_turned(velocity, back)[:, column[j]] for j in speeds]
    ahead = [path.at(clip, times + t, loops=loops) for t in features.times]
    parts += [_turned(there - place, -yaw)[:, [0, 2]] for there, _ in ahead]
    facing = character.facing
    front = np.array([0.0, 0.0, 1.0]) if facing is None else np.asarray(facing, np.float64)
    parts += [_turned(np.broadcast_to(front, (count, 3)), turn - yaw)[:, [0, 2]] for _, turn in ahead]
    return np.concatenate(parts, axis=1)
