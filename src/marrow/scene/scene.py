"""`Scene` and `Actor`: what is drawn, and where."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import UnknownNameError, ValidationError, WrongTypeError
from marrow.graph.animator import Animator
from marrow.model import _validate
from marrow.model.character import Character
from marrow.model.clip import Clip
from marrow.model.mesh import SKINNING_METHODS
from marrow.model.pose import Pose
from marrow.scene.lights import SUN, DirectionalLight, Environment, Light, PointLight, SpotLight
from marrow.scene.stand_in import with_stand_in

__all__ = ["Actor", "GpuInstances", "Scene"]

Array = NDArray[Any]


class GpuInstances:
    """What poses the instances of its `animator` on a GPU and keeps them there: a `gpu.Crowd`."""

    animator: Animator

    def update(self, dt: float) -> None:
        """Goes on by `dt` seconds."""
        raise NotImplementedError


class Actor:
    """Something to draw: a character in one pose or in N, each with its own place.

        mw.Actor(hero)                                              # at rest
        mw.Actor(hero, clip="walk", time=0.4)                       # name, number or Clip; time=(N,): one instance each
        mw.Actor(hero, pose, transforms=places)                     # a Pose or skinning matrices, (3, 4) or (N, 3, 4)
        mw.Actor(crowd)                                             # an Animator or gpu.Crowd, where it has gone
        mw.Actor(sword, parent=actor, socket="hand_r")              # follows a socket or joint of another

    - `transforms`: where it is in the world; with a `parent`, relative to that (or to its `socket`). An animator that
      travels by root motion is where it went unless this says otherwise.
    - `tint`: a colour that multiplies, `(3,)` or `(N, 3)`.
    - `levels`: `"auto"` chooses each instance's level of detail by one pixel of error; a number or `(N,)` says it. An
      animator whose own `levels` are set keeps those.
    - `visible`: which meshes are shown, `(meshes,)` or `(N, meshes)`; None goes by the file and the clip.
    - `shadows`: whether it casts any. `skinning`: how it is skinned, as in `mw.skin`.
    - `targets`: where joints should be, by their names, `(3,)` or `(N, 3)` in model space as `mw.ik` takes them: the view
      `effectors` draws how far they are off.

    `pose`, `clip`, `time`, `transforms`, `tint`, `levels`, `visible`, `shadows` and `targets` may be changed between
    pictures; what is wrong is an error where it is set.
    """

    def __init__(
        self,
        what: Character | Animator | GpuInstances,
        pose: Pose | ArrayLike | None = None,
        *,
        clip: str | int | Clip | None = None,
        time: ArrayLike = 0.0,
        transforms: ArrayLike | None = None,
        parent: Actor | None = None,
        socket: str = "",
        morphs: ArrayLike | None = None,
        tint: ArrayLike | None = None,
        levels: ArrayLike | str = "auto",
        visible: ArrayLike | None = None,
        shadows: bool = True,
        skinning: str | None = None,
        targets: Mapping[str, ArrayLike] | None = None,
        name: str = "",
    ) -> None:
        self.animator: Animator | None = None
        self.crowd: GpuInstances | None = None
        if isinstance(what, GpuInstances):
            self.crowd, self.animator = what, what.animator
        elif isinstance(what, Animator):
            self.animator = what
        elif not isinstance(what, Character):
            raise WrongTypeError(
                f"Actor: expected a Character, an Animator or a gpu.Crowd, got {_validate.shown(what)}"
            )
        who = what if isinstance(what, Character) else self.animator.character  # type: ignore[union-attr]
        self.character: Character = with_stand_in(who)  # bones alone have a body to look at
        if self.animator is not None and (pose is not None or clip is not None or morphs is not None):
            raise ValidationError("Actor: an Animator has poses of its own: leave out pose, clip and morphs")
        if pose is not None and clip is not None:
            raise ValidationError("Actor: pose and clip: one of them")
        self.pose: Pose | ArrayLike | None = pose
        self.morphs: ArrayLike | None = morphs
        self.clip: Clip | None = clip  # type: ignore[assignment]  # a name becomes the clip
        self.time: ArrayLike = time
        self.parent: Actor | None = parent
        self.socket: str = socket
        self.transforms: ArrayLike | None = transforms
        self.tint: ArrayLike | None = tint
        self.levels: ArrayLike | str = levels
        self.visible: ArrayLike | None = visible
        self.shadows: bool = shadows
        self.skinning: str | None = skinning
        self.targets: Mapping[str, ArrayLike] | None = targets
        self.name = _validate.name("Actor", "name", name) or self.character.name

    def __setattr__(self, name: str, value: Any) -> None:
        """Checks what can be checked here; numbers for each instance are counted when they are drawn."""
        check = _CHECKS.get(name)
        if check is not None:
            value = check(self, value)
        elif name not in _OTHERS:
            raise UnknownNameError("attribute of an Actor", name, (*_CHECKS, *_OTHERS))
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        what = f"{self.animator.count} instances" if self.animator is not None else "a character"
        on = f", on {self.socket!r} of {self.parent.name!r}" if self.parent is not None else ""
        return f"Actor({self.name!r}, {what}{on})"


def chosen_clip(who: str, character: Character, clip: str | int | Clip) -> Clip:
    """A clip of a character: itself, or by name or number in file order."""
    if isinstance(clip, Clip):
        if clip.skeleton.names != character.skeleton.names:
            raise ValidationError(
                f"{who}: the clip {clip.name!r} is for another skeleton: mw.retarget(clip, character) fits it"
            )
        return clip
    if isinstance(clip, bool) or not isinstance(clip, (str, int, np.integer)):
        raise ValidationError(f"{who}: expected a Clip, its name or its number, got {_validate.shown(clip)}")
    return character.clips[clip]  # type: ignore[index]


def _clip(actor: Actor, value: Any) -> Clip | None:
    clip = None if value is None else chosen_clip("Actor.clip", actor.character, value)
    if clip is not None and actor.animator is not None:
        raise ValidationError("Actor.clip: an Animator has poses of its own: animator.play(...) plays a clip")
    return clip


def _pose(actor: Actor, value: Any) -> Any:
    if value is not None and not isinstance(value, Pose):
        _validate.numbers("Actor.pose", value)
    return value


def _socket(actor: Actor, value: Any) -> str:
    name = _validate.name("Actor", "socket", value)
    if name and actor.parent is None:
        raise ValidationError("Actor: a socket is one of the parent's: pass parent= too")
    if name:
        skeleton = actor.parent.character.skeleton  # type: ignore[union-attr]
        sockets = [s.name for s in skeleton.sockets]
        if name not in sockets and name not in skeleton:
            try:
                skeleton.index(name)
            except UnknownNameError as error:
                raise UnknownNameError(
                    f"socket or {error.kind}", name, (*sockets, *error.known), error.near, error.listed
                ) from None
    return name


def _levels(actor: Actor, value: Any) -> Any:
    if (
        value != "auto"
        if isinstance(value, str)
        else _validate.numbers("Actor.levels", value).dtype.kind not in "iu"
    ):
        raise ValidationError(
            f"Actor.levels: expected 'auto', a level or one each, got {_validate.shown(value)}"
        )
    return value


def _visible(actor: Actor, value: Any) -> Any:
    if value is not None:
        given, meshes = _validate.numbers("Actor.visible", value), len(actor.character.meshes)
        if given.ndim not in (1, 2) or given.shape[-1] != meshes:
            raise ValidationError(
                f"Actor.visible: expected ({meshes},) or (N, {meshes}), got shape {given.shape}"
            )
        if not np.isin(given, (0, 1)).all():
            raise ValidationError("Actor.visible: expected True or False for each mesh, got other numbers")
    return value


def _numbers(field: str) -> Callable[[Actor, Any], Any]:
    def check(actor: Actor, value: Any) -> Any:
        if value is not None:
            _validate.numbers(f"Actor.{field}", value)
        return value

    return check


def _targets(actor: Actor, value: Any) -> dict[str, Array] | None:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise WrongTypeError(f"Actor.targets: expected places by joint, got {_validate.shown(value)}")
    out = {}
    for joint, given in value.items():
        actor.character.skeleton.index(joint)
        places = _validate.numbers(f"Actor.targets[{joint!r}]", given)
        if places.ndim not in (1, 2) or places.shape[-1] != 3:
            raise ValidationError(
                f"Actor.targets[{joint!r}]: expected (3,) or (N, 3), got shape {places.shape}"
            )
        out[joint] = places
    return out


def _time(actor: Actor, value: Any) -> Any:
    if _validate.numbers("Actor.time", value).ndim > 1:
        raise ValidationError(f"Actor.time: expected a number or (N,), got shape {np.shape(value)}")
    return value


_CHECKS: dict[str, Callable[[Actor, Any], Any]] = {
    "pose": _pose,
    "morphs": _numbers("morphs"),
    "clip": _clip,
    "time": _time,
    "parent": lambda _, value: (
        value if value is None else _validate.instance("Actor", "parent", value, Actor)
    ),
    "socket": _socket,
    "transforms": _numbers("transforms"),
    "tint": _numbers("tint"),
    "levels": _levels,
    "visible": _visible,
    "shadows": lambda _, value: _validate.flag("Actor", "shadows", value),
    "skinning": lambda _, value: (
        value if value is None else _validate.one_of("Actor", "skinning", value, SKINNING_METHODS)
    ),
    "targets": _targets,
    "name": lambda _, value: _validate.name("Actor", "name", value),
}
_OTHERS = ("character", "animator", "crowd")


class Scene:
    """Things to draw together: actors (Characters, Animators and Crowds become some), lights, a ground and what is around.

        scene = mw.Scene(mw.Actor(hero, clip="walk", time=0.4), crowd, lights=[mw.PointLight((0, 2, 1))])

    - `lights`: the first `DirectionalLight` among them is the sun, which casts shadows; without one the studio's shines.
    - `ground`: True puts a floor at height 0, a number elsewhere, False none. `grid`: whether it has lines.
    """

    def __init__(
        self,
        *things: Any,
        lights: Iterable[Light] = (),
        ground: bool | float = True,
        grid: bool = True,
        environment: Environment | None = None,
    ) -> None:
        if len(things) == 1 and isinstance(things[0], (list, tuple)):
            things = tuple(things[0])
        self.actors: list[Actor] = []
        for thing in things:
            self.add(thing)
        if isinstance(lights, (DirectionalLight, PointLight, SpotLight)):
            raise WrongTypeError(
                f"Scene.lights: expected a list of lights, got a {type(lights).__name__}: write it in brackets, [light]"
            )
        if not isinstance(lights, Iterable):
            raise WrongTypeError(f"Scene.lights: expected a list of lights, got {_validate.shown(lights)}")
        self.lights: list[Light] = list(lights)
        for light in self.lights:
            if not isinstance(light, (DirectionalLight, PointLight, SpotLight)):
                raise WrongTypeError(
                    "Scene.lights: expected DirectionalLight, PointLight or SpotLight, got "
                    f"{_validate.shown(light)}"
                )
        self.ground: float | None = None
        if ground is not False and ground is not None:
            self.ground = 0.0 if ground is True else _validate.number("Scene", "ground", ground)
        self.grid = _validate.flag("Scene", "grid", grid)
        if environment is not None:
            _validate.instance("Scene", "environment", environment, Environment)
        self.environment = environment or Environment()

    def add(self, thing: Actor | Character | Animator | GpuInstances, **options: Any) -> Actor:
        """Adds an actor, or makes one of a character, an animator or a crowd."""
        actor = thing if isinstance(thing, Actor) else Actor(thing, **options)
        if actor in self.actors:
            raise ValidationError(f"Scene: {actor!r} is in the scene already")
        self.actors.append(actor)
        return actor

    def remove(self, actor: Actor) -> None:
        """Takes an actor out of the scene."""
        if actor not in self.actors:
            raise ValidationError(f"Scene: {actor!r} is not in the scene")
        self.actors.remove(actor)

    @property
    def sun(self) -> DirectionalLight | None:
        """The light that casts shadows; None where lights are given and none comes from afar."""
        for light in self.lights:
            if isinstance(light, DirectionalLight):
                return light
        return None if self.lights else SUN

    def __iter__(self) -> Iterator[Actor]:
        return iter(self.actors)

    def __len__(self) -> int:
        return len(self.actors)

    def __repr__(self) -> str:
        return f"Scene({len(self.actors)} actors, {len(self.lights)} lights)"
