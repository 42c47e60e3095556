"""Scenes and crowds as files: `mw.save(scene, "crowd.usdc")` writes every instance over a stretch of time.

Actors that play a clip share it: it is written once, as long as the stage needs it, and every instance begins at its own
moment of it. Animators are run from where they are, recorded, and brought back to that moment.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError, ResourceLimitError, ValidationError
from marrow.graph.animator import Animator
from marrow.io.losses import Losses
from marrow.io.usd.writing.crowd import CrowdLight, CrowdPart, write_crowd
from marrow.model import Clip, JointLight, Pose, Track, _validate
from marrow.scene.actor_state import actor_states
from marrow.scene.lights import DirectionalLight, SpotLight
from marrow.scene.scene import Actor, GpuInstances, Scene

__all__ = ["is_scene", "save_scene"]

Array = NDArray[Any]
USD = (".usd", ".usda", ".usdc", ".usdz")
MOST_VALUES = 400_000_000
"""Numbers of poses that are kept while animators are recorded."""


def is_scene(thing: Any) -> bool:
    """Whether it is something that `save_scene` writes."""
    return isinstance(thing, (Scene, Actor, Animator, GpuInstances))


def save_scene(
    thing: Scene | Actor | Animator | GpuInstances, path: Path, *, seconds: float | None = None, rate: float | None = None,
    textures: str | None = None,
) -> None:  # fmt: skip
    """Writes a scene as USD. `seconds`: how long (None: as long as the longest clip that plays; animators where they are),
    `rate`: frames a second (None: that of the clips, else 30)."""
    if path.suffix.lower() not in USD:
        raise FormatError(
            f"a scene cannot be written as {path.suffix or 'a file without a suffix'}",
            path=path,
            remedy="scenes and crowds are written as USD: .usdc, .usda or .usdz; a character of its own as anything",
        )
    scene = thing if isinstance(thing, Scene) else Scene(thing)
    if not scene.actors:
        raise ValidationError("save: the scene has no actors")
    clips = [actor.clip for actor in scene.actors if actor.clip is not None]
    if seconds is None:
        length = max((clip.duration for clip in clips), default=0.0)
    else:
        length = _validate.number("save", "seconds", seconds, low=0, high=1e6)
    rates = [clip.rate or clip.key_rate for clip in clips]
    frames = _validate.frame_rate("save", rate) if rate is not None else next((r for r in rates if r), 30.0)
    losses = Losses()
    parts = _Recorder(scene, length, float(frames), path, losses).parts()
    if scene.ground is not None:
        losses.add("", "the ground and what is around are left out")
    lights = [_light(light, k) for k, light in enumerate(scene.lights)]
    write_crowd(parts, lights, path, seconds=length, rate=float(frames), textures=textures, losses=losses)


class _Recorder:
    def __init__(self, scene: Scene, seconds: float, rate: float, path: Path, losses: Losses) -> None:
        self.scene, self.seconds, self.rate, self.path, self.losses = scene, seconds, rate, path, losses
        self.frames = int(seconds * rate + 1e-6) + 1

    def parts(self) -> list[CrowdPart]:
        scene = self.scene
        animators = list(
            {id(a.animator): a.animator for a in scene.actors if a.animator is not None}.values()
        )
        numbers = sum(a.count * len(a.character.skeleton) * 10 * self.frames for a in animators)
        if numbers > MOST_VALUES:
            raise ResourceLimitError(
                f"{self.frames} frames of the animators are {numbers} numbers; marrow keeps {MOST_VALUES}",
                path=self.path,
                remedy="fewer seconds, or a lower rate",
            )
        carried = any(a.parent is not None for a in scene.actors)
        runs = bool(animators) or (carried and any(a.clip is not None for a in scene.actors))
        kept = [(a, a.snapshot()) for a in animators if a.graph is not None]
        if self.frames > 1 and len(kept) < len(animators):
            self.losses.add(
                "",
                "an animator without a graph cannot be brought back: it has gone on by {} seconds",
                self.seconds,
            )
        times = [(a, a.time) for a in scene.actors if a.clip is not None]
        poses: dict[int, list[Pose]] = {id(a): [] for a in animators}
        worlds: list[list[Array]] = []
        try:
            for frame in range(self.frames if runs else 1):
                if frame:
                    for animator in animators:
                        animator.update(1 / self.rate)
                    for actor, time in times:
                        actor.time = np.asarray(time, np.float64) + frame / self.rate
                        _wrap(actor)
                for animator in animators:
                    poses[id(animator)].append(_batch(animator.pose))
                worlds.append([np.array(state.world) for state in actor_states(scene)])
        finally:
            for animator, snapshot in kept:
                animator.restore(snapshot)
            for actor, time in times:
                actor.time = time
        return [
            self._part(actor, np.stack([w[k] for w in worlds]), poses.get(id(actor.animator), []))
            for k, actor in enumerate(scene.actors)
        ]

    def _part(self, actor: Actor, places: Array, poses: list[Pose]) -> CrowdPart:
        count = places.shape[1]
        if len(places) > 1 and all(np.array_equal(places[0], p) for p in places[1:]):
            places = places[:1]
        motion, offset = np.full(count, -1), np.zeros(count)
        motions: list[Clip] = []
        if actor.animator is not None:
            motions, motion = self._recorded(actor, poses, count)
        elif actor.clip is not None:
            time = np.broadcast_to(np.asarray(actor.time, np.float64), (count,))
            length = actor.clip.duration
            offset = np.where(time <= length, time, time % length if length > 0 else 0.0)
            motions, motion = (
                [_repeated(actor.clip, float(offset.max()) + self.seconds)],
                np.zeros(count, int),
            )
        elif actor.pose is not None or actor.morphs is not None:
            motions, motion = self._still(actor, count)
        if actor.tint is not None:
            self.losses.add(f"actor {actor.name!r}", "tints are left out")
        shown = None
        if actor.visible is not None:
            seen = np.broadcast_to(
                np.atleast_2d(np.asarray(actor.visible, bool)), (count, len(actor.character.meshes))
            )
            shown = np.asarray(seen.any(axis=1))
            if (seen.any(axis=1) != seen.all(axis=1)).any():
                self.losses.add(f"actor {actor.name!r}", "which single meshes are shown is left out")
        return CrowdPart(actor.name, actor.character, motions, motion, offset, places, shown)

    def _recorded(self, actor: Actor, poses: list[Pose], count: int) -> tuple[list[Clip], Array]:
        """A clip for each instance; those that do the same share one."""
        skeleton = actor.character.skeleton
        fields = [
            np.stack([getattr(p, f) for p in poses]) for f in ("translation", "rotation", "scale", "morphs")
        ]
        motions: list[Clip] = []
        known: dict[tuple[bytes, ...], int] = {}
        motion = np.zeros(count, int)
        for i in range(count):
            rows = [np.ascontiguousarray(f[:, i if f.shape[1] > 1 else 0]) for f in fields]
            key = tuple(r.tobytes() for r in rows)
            if key not in known:
                known[key] = len(motions)
                name = f"{actor.name or 'actor'}_{i}"
                motions.append(
                    Clip.from_poses(name, skeleton, Pose(rows[0], rows[1], rows[2], rows[3]), rate=self.rate)
                )
            motion[i] = known[key]
        return motions, motion

    def _still(self, actor: Actor, count: int) -> tuple[list[Clip], Array]:
        if actor.pose is not None and not isinstance(actor.pose, Pose):
            raise ValidationError(f"save: {actor!r} has skinning matrices; USD needs a Pose")
        pose = _batch(actor.character.skeleton.rest if actor.pose is None else actor.pose)
        if actor.morphs is not None:
            given = np.atleast_2d(np.asarray(actor.morphs, np.float32))
            rows = max(len(given), len(pose.translation))
            parts = [
                np.broadcast_to(p, (rows, *p.shape[1:]))
                for p in (pose.translation, pose.rotation, pose.scale)
            ]
            pose = Pose(parts[0], parts[1], parts[2], np.broadcast_to(given, (rows, given.shape[1])))
        return self._recorded(actor, [pose], count)


def _batch(pose: Pose) -> Pose:
    """A pose with one leading axis."""
    count = int(np.prod(pose.batch_shape, dtype=np.int64))
    parts = ((pose.translation, 2), (pose.rotation, 2), (pose.scale, 2), (pose.morphs, 1))
    translation, rotation, scale, morphs = (np.array(p).reshape(count, *np.shape(p)[-n:]) for p, n in parts)
    return Pose(translation, rotation, scale, morphs)


def _wrap(actor: Actor) -> None:
    length = actor.clip.duration  # type: ignore[union-attr]
    time = np.asarray(actor.time, np.float64)
    actor.time = np.where(time <= length, time, time % length if length > 0 else 0.0)


def _repeated(clip: Clip, seconds: float) -> Clip:
    """The clip over and over again for so long, key by key."""
    length = clip.duration
    loops = int(np.ceil(seconds / length - 1e-9)) if length > 0 else 1
    if loops <= 1:
        return clip
    tracks = []
    for track in clip.tracks:
        times, values = np.asarray(track.times, np.float64), track.values
        cubic = track.interpolation == "cubic"
        if times[0] > 0:  # what is before the first key is that key
            first = values[:1].copy()
            if cubic:
                first[:, ::2] = 0
                values = values.copy()
                values[0, 0] = 0
            times, values = np.concatenate([[0.0], times]), np.concatenate([first, values])
        if times[-1] < length:
            last = values[-1:].copy()
            if cubic:
                last[:, ::2] = 0
                values = values.copy()
                values[-1, 2] = 0
            times, values = np.concatenate([times, [length]]), np.concatenate([values, last])
        every = np.concatenate([times + k * length for k in range(loops)])
        tracks.append(
            Track(track.target, track.path, every, np.concatenate([values] * loops), track.interpolation)
        )
    return clip.replace(tracks=tuple(tracks), duration=loops * length, events=(), curves=())  # type: ignore[arg-type]


def _light(light: Any, k: int) -> CrowdLight:
    place = np.eye(3, 4)
    if isinstance(light, DirectionalLight):
        made = JointLight(f"sun_{k}", 0, "directional", light.color, light.intensity, shadows=light.shadows)
    elif isinstance(light, SpotLight):
        made = JointLight(
            f"spot_{k}", 0, "spot", light.color, light.intensity, light.range, light.inner, light.outer
        )
    else:
        made = JointLight(f"lamp_{k}", 0, "point", light.color, light.intensity, light.range)
    if hasattr(light, "direction"):
        back = -np.asarray(light.direction, np.float64)  # lights shine along -Z
        side = np.cross([0.0, 1.0, 0.0] if abs(back[1]) < 0.99 else [1.0, 0.0, 0.0], back)
        side /= np.linalg.norm(side)
        place[:, 0], place[:, 1], place[:, 2] = side, np.cross(back, side), back
    if hasattr(light, "position"):
        place[:, 3] = light.position
    return CrowdLight(made, place)
