"""`Scene` and `Actor`: what is drawn, and where."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike, NDArray

from marrow.errors import UnknownNameError, ValidationError
from marrow.graph.animator import Animator
from marrow.model import _validate
from marrow.model.character import Character
from marrow.model.clip import Clip
from marrow.model.pose import Pose
from marrow.rendering.lights import SUN, DirectionalLight, Environment, Light, PointLight, SpotLight

if TYPE_CHECKING:
    from marrow.gpu.crowd import Crowd

__all__ = ["Actor", "Scene", "is_crowd"]

Array = NDArray[Any]


def is_crowd(thing: object) -> bool:
    """Whether something is a `gpu.Crowd`; asked without importing what crowds on the GPU need."""
    module = sys.modules.get("marrow.gpu.crowd")
    return module is not None and isinstance(thing, module.Crowd)


class Actor:
    """Something to draw: a character in one pose or in N, each with its own place.

        mw.Actor(hero)                                              # at rest
        mw.Actor(hero, clip="walk", time=0.4)                       # or time=(N,): one instance each
        mw.Actor(hero, pose, transforms=places)                     # a Pose or skinning matrices, (3, 4) or (N, 3, 4)
        mw.Actor(crowd)                                             # an Animator or gpu.Crowd, where it has gone
        mw.Actor(sword, parent=actor, socket="hand_r")              # follows a socket or joint of another

    - `transforms`: where it is in the world; with a `parent`, relative to that (or to its `socket`). An animator that
      travels by root motion is where it went unless this says otherwise.
    - `tint`: a colour that multiplies, `(3,)` or `(N, 3)`.
    - `levels`: `"auto"` chooses each instance's level of detail by one pixel of error; a number or `(N,)` says it. An
      animator whose own `levels` are set keeps those.
    - `visible`: which meshes are shown, `(meshes,)` or `(N, meshes)`; None goes by the file and the clip.
    - `shadows`: whether it casts any. `method`: how it is skinned, as in `mw.skin`.

    `pose`, `clip`, `time`, `transforms`, `tint`, `levels`, `visible` and `shadows` may be changed between pictures.
    """

    def __init__(
        self,
        what: Character | Animator | Crowd,
        pose: Pose | ArrayLike | None = None,
        *,
        clip: str | Clip | None = None,
        time: ArrayLike = 0.0,
        transforms: ArrayLike | None = None,
        parent: Actor | None = None,
        socket: str = "",
        morphs: ArrayLike | None = None,
        tint: ArrayLike | None = None,
        levels: ArrayLike | str = "auto",
        visible: ArrayLike | None = None,
        shadows: bool = True,
        method: str | None = None,
        name: str = "",
    ) -> None:
        self.animator: Animator | None = None
        self.crowd: Crowd | None = None
        if is_crowd(what):
            self.crowd, self.animator = what, what.animator  # type: ignore[assignment, union-attr]
        elif isinstance(what, Animator):
            self.animator = what
        elif not isinstance(what, Character):
            raise ValidationError(
                f"Actor: expected a Character, an Animator or a gpu.Crowd, got {_validate.shown(what)}"
            )
        self.character: Character = what if isinstance(what, Character) else self.animator.character  # type: ignore[union-attr]
        if self.animator is not None and (pose is not None or clip is not None or morphs is not None):
            raise ValidationError("Actor: an Animator has poses of its own: leave out pose, clip and morphs")
        if pose is not None and clip is not None:
            raise ValidationError("Actor: pose and clip: one of them")
        if parent is not None:
            _validate.instance("Actor", "parent", parent, Actor)
        if socket and parent is None:
            raise ValidationError("Actor: a socket is one of the parent's: pass parent= too")
        if socket:
            names = (*(s.name for s in parent.character.skeleton.sockets), *parent.character.skeleton.names)  # type: ignore[union-attr]
            if _validate.name("Actor", "socket", socket) not in names:
                raise UnknownNameError("socket or joint", socket, names)
        self.pose, self.morphs, self.time = pose, morphs, time
        self.clip: Clip | None = None
        if clip is not None:
            self.clip = clip if isinstance(clip, Clip) else self.character.clips[clip]
        self.parent, self.socket = parent, socket
        self.transforms: ArrayLike | None = transforms
        self.tint: ArrayLike | None = tint
        self.levels: ArrayLike | str = levels
        self.visible: ArrayLike | None = visible
        self.shadows = _validate.flag("Actor", "shadows", shadows)
        self.method = method
        self.name = _validate.name("Actor", "name", name) or self.character.name

    def __repr__(self) -> str:
        what = f"{self.animator.count} instances" if self.animator is not None else "a character"
        on = f", on {self.socket!r} of {self.parent.name!r}" if self.parent is not None else ""
        return f"Actor({self.name!r}, {what}{on})"


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
        self.lights: list[Light] = list(_validate.items("Scene", "lights", lights, object))
        for light in self.lights:
            if not isinstance(light, (DirectionalLight, PointLight, SpotLight)):
                raise ValidationError(
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

    def add(self, thing: Actor | Character | Animator | Crowd, **options: Any) -> Actor:
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
