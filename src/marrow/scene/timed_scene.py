"""`TimedScene`: what a user names, as a scene that can be shown at any time: files, characters, clips, animators,
scenes, several of them side by side."""

from __future__ import annotations

import copy
import difflib
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.cached import cached_property
from marrow.errors import MissingFileError, ValidationError, WrongTypeError
from marrow.graph.animator import Animator
from marrow.graph.description import Graph, load_graph
from marrow.graph.spring_baking import swung
from marrow.io.scaling import scaled_clip
from marrow.math import affine, quaternion, transform
from marrow.model import _validate
from marrow.model.character import Character, Clips
from marrow.model.clip import Clip
from marrow.model.mesh import SKINNING_METHODS
from marrow.model.pose import Pose
from marrow.motion.sizes import unit_of
from marrow.scene.bounds import AXES, reach
from marrow.scene.orientation import facing, file_facing, scene_facing
from marrow.scene.scene import Actor, GpuInstances, Scene, chosen_clip

__all__ = ["Step", "TimedScene", "character_of", "named_graph", "timed_scene_of"]

Array = NDArray[Any]
Step = tuple[float, str, Any]
"""When a parameter is set, its name and its value; None pulls a trigger."""
GOLDEN = (math.sqrt(5) - 1) / 2
MOST_LOOKS = 48
"""Moments of a timed scene that are looked at to find out where the camera has to stand."""
CLOSE = 0.95
"""How much room each of a crowd has, in radii."""
ROOM = 1.15
"""How far things side by side are apart, in widths."""


class MovingPart:
    """Something in a timed scene that moves: `seek` brings it to a time."""

    duration = 0.0

    def seek(self, time: float) -> None:
        """Shows it at `time`, in seconds from the beginning of the scene."""


@dataclass(eq=False)
class ClipPart(MovingPart):
    """A clip, over and over again."""

    actor: Actor
    clip: Clip

    def __post_init__(self) -> None:
        self.duration = self.clip.duration

    def seek(self, time: float) -> None:
        length = self.clip.duration
        # Its last moment is one to look at, too: only what goes beyond it begins again.
        self.actor.time = time if time <= length else (time % length if length > 0 else 0.0)


@dataclass(eq=False)
class AnimatorPart(MovingPart):
    """An animator that runs on from where it is, with parameters that are set on the way."""

    animator: Animator
    steps: Sequence[Step] = ()
    duration: float = 0.0
    _now: float = 0.0
    _due: int = 0

    def __post_init__(self) -> None:
        self.steps = sorted(self.steps, key=lambda step: step[0])
        self._start = None if self.animator.graph is None else self.animator.snapshot()
        self._take(0.0)

    def seek(self, time: float) -> None:
        if time < self._now and self._start is None:  # playback by hand goes back as well
            self.animator.update(time - self._now)
            self._now = time
        elif time < self._now and self._start is not None:
            self.animator.restore(self._start)
            self._now, self._due = 0.0, 0
            self._take(0.0)
        while self._due < len(self.steps) and self.steps[self._due][0] <= time:
            self._run(self.steps[self._due][0])
            self._take(self._now)
        self._run(time)

    def _run(self, time: float) -> None:
        if time > self._now:
            self.animator.update(time - self._now)
            self._now = time

    def _take(self, time: float) -> None:
        while self._due < len(self.steps) and self.steps[self._due][0] <= time:
            _, name, value = self.steps[self._due]
            if value is None:
                self.animator.trigger(name)
            else:
                self.animator[name] = value
            self._due += 1


@dataclass(eq=False)
class TimedScene:
    """A scene and what moves in it. `duration` is how long that takes, in seconds; 0 where nothing moves, or never ends."""

    scene: Scene
    parts: Sequence[MovingPart] = ()
    made: bool = field(default=True)
    """Whether the scene was made here, and not by the user."""

    @cached_property
    def facing(self) -> float:
        """How far those who are shown are turned from +Z to +X, in radians; in a user's own scene, by their files alone."""
        return scene_facing(self.scene) if self.made else file_facing(self.scene)

    @property
    def duration(self) -> float:
        return max((part.duration for part in self.parts), default=0.0)

    @property
    def moves(self) -> bool:
        return bool(self.parts)

    @property
    def has_surface(self) -> bool:
        """Whether there is anything but joints to see."""
        return any(actor.character.vertex_count for actor in self.scene.actors)

    def seek(self, time: float) -> Scene:
        """The scene at a time."""
        for part in self.parts:
            part.seek(time)
        return self.scene

    def survey(self, times: Array, directions: Array) -> tuple[Array, list[Array]]:
        """Some of these times, and the points `(n, 3)` at each of them that are furthest in one of `directions (d, 3)` or
        along an axis."""
        chosen = (
            times
            if len(times) <= MOST_LOOKS
            else times[np.linspace(0, len(times) - 1, MOST_LOOKS).astype(int)]
        )
        return chosen, [reach(self.seek(float(time)), directions) for time in chosen]


def timed_scene_of(
    thing: Any,
    *,
    clip: str | int | Clip | None = None,
    pose: Any = None,
    time: float | None = None,
    graph: Graph | str | os.PathLike[str] | None = None,
    parameters: Mapping[str, Any] | None = None,
    steps: Iterable[Step] = (),
    character: Character | None = None,
    crowd: int | None = None,
    skinning: str | None = None,
    springs: bool = True,
    moving: bool = False,
) -> TimedScene:
    """A timed scene of anything that can be drawn. `moving` plays the first clip where none is named."""
    if isinstance(thing, Scene):
        _none_of(
            "a Scene says itself what it shows",
            clip=clip,
            pose=pose,
            graph=graph,
            crowd=crowd,
            skinning=skinning,
        )
        parts = (
            [part for actor in thing.actors for part in _own_parts(actor)]
            if moving or time is not None
            else []
        )
        return TimedScene(thing, parts, made=False)
    steps = _steps(parameters, steps)
    springs = _validate.flag("render", "springs", springs)
    if character is not None:
        _validate.instance("render", "character", character, Character)
    if crowd is not None:
        crowd = _validate.integer("render", "crowd", crowd, low=1)
    if isinstance(thing, (list, tuple)):
        if not thing:
            raise ValidationError("render: the list is empty: there is nothing to draw")
        scenes = [
            timed_scene_of(
                one, clip=clip, pose=pose, time=time, graph=graph, steps=steps, character=character, crowd=crowd,
                skinning=skinning, springs=springs, moving=moving,
            )
            for one in thing
        ]  # fmt: skip
        return side_by_side(scenes)
    actor, part = _cast(
        thing, clip, pose, time, graph, steps, character, crowd,
        skinning, springs, moving,
    )  # fmt: skip
    return TimedScene(Scene(actor), () if part is None else (part,))


def _cast(
    thing: Any,
    clip: str | int | Clip | None,
    pose: Any,
    time: float | None,
    graph: Any,
    steps: Sequence[Step],
    character: Character | None,
    crowd: int | None,
    skinning: str | None,
    springs: bool,
    moving: bool,
) -> tuple[Actor, MovingPart | None]:
    """The actor that a thing becomes, and what moves it."""
    if isinstance(thing, Actor):
        _none_of("an Actor has them", clip=clip, pose=pose, graph=graph, crowd=crowd, skinning=skinning)
        parts = _own_parts(thing) if moving or time is not None else []
        return thing, parts[0] if parts else None
    if isinstance(thing, GpuInstances):
        _none_of("a gpu.Crowd has them", clip=clip, pose=pose, graph=graph, crowd=crowd, skinning=skinning)
        return Actor(thing), None
    if isinstance(thing, Animator):
        _none_of(
            "an Animator moves by itself", clip=clip, pose=pose, graph=graph, crowd=crowd, skinning=skinning
        )
        if not (moving or time is not None or steps):
            return Actor(thing), None
        twin = copy.deepcopy(thing)  # the user's own stays where it is
        return Actor(twin), AnimatorPart(twin, steps)
    if isinstance(thing, Clip):
        clip, thing = thing, character or _character_of_clip(thing)
    who, clip, pose = _in_metres(character_of(thing), clip, pose)
    if skinning is not None:
        method = _validate.one_of("render", "skinning", skinning, SKINNING_METHODS)
        who = who.with_meshes(lambda mesh: mesh.replace(skinning=method))
    if graph is not None:
        _none_of("a graph says what is played", clip=clip, pose=pose)
        animator = Animator(who, named_graph("render", graph), count=crowd, threads=None, springs=springs)
        _spread(animator, crowd)
        return Actor(animator), AnimatorPart(animator, steps)
    if steps:
        raise ValidationError(f"render: {steps[0][1]!r} is a parameter of a graph: pass graph= too")
    if pose is not None:
        _none_of("a pose is all there is to see", clip=clip, crowd=crowd)
        return Actor(who, pose), None
    chosen = _clip(who, clip, wanted=moving or time is not None or crowd is not None)
    if crowd is not None:
        animator = Animator(who, count=crowd, threads=None, springs=springs)
        if chosen is not None and chosen.name in who.clips:
            phases = np.arange(crowd) * GOLDEN % 1.0
            animator.play(chosen.name, start=phases * chosen.duration)
        _spread(animator, crowd)
        length = 0.0 if chosen is None else chosen.duration
        return Actor(animator), AnimatorPart(animator, duration=length)
    if chosen is None:
        return Actor(who), None
    chosen = swung(who, chosen) if springs else chosen
    actor = Actor(who, clip=chosen, time=0.0)
    return actor, ClipPart(actor, chosen)


def _character_of_clip(clip: Clip) -> Character:
    """Somebody to do a clip. What unit its lengths are in only the size of the body tells."""
    unit = unit_of(clip.skeleton) or 1.0
    return Character(clip.skeleton, clips=Clips([clip]), name=clip.name, unit=unit)


def _in_metres(who: Character, clip: Any, pose: Any) -> tuple[Character, Any, Any]:
    """A character, a clip and a pose of its own, in metres."""
    if who.unit == 1:
        return who, clip, pose
    metric = who.in_metres()
    if isinstance(clip, Clip) and clip.skeleton.names == metric.skeleton.names:
        clip = scaled_clip(clip, metric.skeleton, who.unit)
    if isinstance(pose, Pose):
        pose = pose.replace(translation=pose.translation * np.float32(who.unit))
    elif pose is not None:  # skinning matrices: only what they move by is a length
        matrices = np.array(_validate.numbers("render: pose", pose), np.float32)
        pose = matrices * np.array([1, 1, 1, who.unit], np.float32)
    return metric, clip, pose


def _steps(parameters: Any, steps: Any) -> tuple[Step, ...]:
    """What is set from the beginning and later, checked."""
    if parameters is not None and not isinstance(parameters, Mapping):
        raise WrongTypeError(
            f"render: parameters: expected names and values, got {_validate.shown(parameters)}"
        )
    try:
        later = [(time, name, value) for time, name, value in steps]
    except (TypeError, ValueError):
        raise ValidationError("render: steps: expected (seconds, parameter, value) of each") from None
    first = [(0.0, name, value) for name, value in (parameters or {}).items()]
    return tuple(
        (_validate.number("render", "steps", time, low=0), _validate.name("render", "steps", name), value)
        for time, name, value in (*first, *later)
    )


def _own_parts(actor: Actor) -> list[MovingPart]:
    """What moves of an actor of the user's own."""
    if actor.animator is not None and actor.crowd is None:
        return [AnimatorPart(actor.animator)]
    return [] if actor.clip is None else [ClipPart(actor, actor.clip)]


def _none_of(why: str, **options: Any) -> None:
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise ValidationError(f"render: leave out {' and '.join(given)}: {why}")


def character_of(thing: Any, who: str = "render") -> Character:
    """A character, or the one in a file or of a sample."""
    if isinstance(thing, Character):
        return thing
    if isinstance(thing, (str, os.PathLike)):
        from marrow import samples
        from marrow.io import load

        name = os.fspath(thing)
        if not os.path.exists(name):
            if name in samples.NAMES:
                return samples.load(name)
            raise MissingFileError(f"no such file{_close(name)}", path=name)
        return load(name)
    raise WrongTypeError(
        f"{who}: expected a file, the name of a sample, a Character, an Animator, a Clip, an Actor, a Scene or a list of "
        f"those, got {_validate.shown(thing)}"
    )


def named_graph(who: str, graph: Any) -> Graph:
    """A graph as a caller gives it: one, its file, or the name of a sample that has one."""
    if isinstance(graph, Graph):
        return graph
    if not isinstance(graph, (str, os.PathLike)):
        raise WrongTypeError(f"{who}: graph: expected a Graph or its file, got {_validate.shown(graph)}")
    from marrow import samples

    name = os.fspath(graph)
    if os.path.exists(name):
        return load_graph(name)
    own = getattr(samples, f"{name}_graph", None) if name in samples.NAMES else None
    if own is None:
        raise MissingFileError(f"no such graph file{_close(name)}", path=name)
    made: Graph = own()
    return made


def _close(name: str) -> str:
    """The sample that may have been meant."""
    from marrow import samples

    found = difflib.get_close_matches(name, samples.NAMES, n=1)
    return f"; did you mean the sample {found[0]!r}?" if found else ""


def _clip(character: Character, clip: str | int | Clip | None, *, wanted: bool) -> Clip | None:
    """The clip that is meant; where none is named and one is wanted, the first that moves."""
    if clip is not None:
        return chosen_clip("render", character, clip)
    if not wanted:
        return None
    usable = [c for c in character.clips.values() if not c.additive]
    return next((c for c in usable if c.duration > 0), usable[0] if usable else None)


def _spread(animator: Animator, count: int | None) -> None:
    """Puts a crowd around the origin, each at a distance and turned a little."""
    if count is None:
        return
    from marrow.lod.bounding_spheres import moving_bounding_sphere

    x, _, z, radius = moving_bounding_sphere(animator.character)[0].astype(np.float64)
    gap = CLOSE * max(float(radius), 1e-9)
    # Like the seeds of a sunflower: as dense everywhere, in no rows.
    k = np.arange(count)
    away, around = gap * np.sqrt((k + 0.5) / math.pi), 2 * math.pi * GOLDEN * k
    places = np.stack([away * np.cos(around) - x, 0 * away, away * np.sin(around) - z], axis=1)
    angle = 0.5 * ((k * GOLDEN * 7) % 1 - 0.5)
    turns = np.stack([0 * angle, np.sin(angle / 2), 0 * angle, np.cos(angle / 2)], axis=1)
    animator.root.set(places, turns)


def side_by_side(scenes: Sequence[TimedScene]) -> TimedScene:
    """Several scenes in one, from left to right as a viewer in front of them sees it, all looking the same way (+Z)."""
    for one in scenes:
        moving = [part.animator for part in one.parts if isinstance(part, AnimatorPart)]
        for actor in one.scene.actors:
            _turn_ahead(actor, moving)
    scene = Scene()
    parts: list[MovingPart] = []
    at, before = 0.0, 0.0
    for k, timed in enumerate(scenes):
        times = np.linspace(0.0, timed.duration, 9) if timed.moves else np.zeros(1)
        points = np.concatenate([*timed.survey(times, AXES)[1], np.zeros((0, 3))])
        low, high = (points.min(axis=0), points.max(axis=0)) if len(points) else (np.zeros(3), np.zeros(3))
        width = float(high[0] - low[0])
        at += ROOM * (before + width) / 2 if k else 0.0
        before = width
        move = affine.identity((), np.float64)
        move[0, 3] = at - (low[0] + high[0]) / 2
        for actor in timed.scene.actors:
            _shift(actor, move)
            scene.add(actor)
        parts += timed.parts
    return TimedScene(scene, parts)


def _turn_ahead(actor: Actor, moving: list[Animator]) -> None:
    """Lets an actor that its file turned elsewhere look along +Z, unless the user said where it is. An animator that does
    not move in this scene is the user's own, and stays where it is."""
    half = -facing(actor.character) / 2
    if actor.parent is not None or actor.transforms is not None or not half:
        return
    turn = np.array([0.0, math.sin(half), 0.0, math.cos(half)])
    if actor.animator in moving:
        root = actor.animator.root  # type: ignore[union-attr]
        root.set(rotation=quaternion.multiply(np.asarray(root.rotation, np.float64), turn))
        return
    own = transform.compose(np.zeros(3), turn, np.ones(3))
    actor.transforms = own if actor.animator is None else affine.multiply(actor.animator.root.matrices, own)


def _shift(actor: Actor, move: Array) -> None:
    if actor.parent is not None:
        return
    if actor.transforms is None and actor.animator is not None:
        place = actor.animator.root
        actor.animator.root.set(np.asarray(place.translation) + move[:, 3])
        return
    given = (
        affine.identity((), np.float64)
        if actor.transforms is None
        else np.asarray(actor.transforms, np.float64)
    )
    actor.transforms = affine.multiply(move, given[..., :3, :])
