"""`mw.render`: a picture of anything in one line; `mw.render_video`: a file that moves."""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.display.progress import Progress, shown_progress
from marrow.errors import UnknownNameError, ValidationError, told_at_the_call
from marrow.model import _validate
from marrow.model.character import Character
from marrow.pictures.player import Video
from marrow.pictures.video import Codec, VideoWriter
from marrow.rendering.frame import Frame
from marrow.rendering.passes.outputs import check_outputs
from marrow.rendering.renderer import Renderer
from marrow.scene.camera import Camera
from marrow.scene.camera_fit import direction_of, edges
from marrow.scene.camera_track import CameraTrack
from marrow.scene.file_cameras import FileCamera, FileLights
from marrow.scene.lights import SUN, DirectionalLight, Environment, Light
from marrow.scene.scene import Scene
from marrow.scene.timed_scene import Step, TimedScene, timed_scene_of
from marrow.scene.views import parse_views, shows_whole_clip

if TYPE_CHECKING:
    from marrow.graph import Graph
    from marrow.model.clip import Clip

__all__ = ["Framing", "render", "render_moments", "render_video", "shared_renderer"]

Array = NDArray[Any]
STILL = 4.0
"""Seconds that a camera takes to go round something that does not move."""
CROWDED, ABOVE = 20, math.radians(24)
"""From so many on, `three-quarter` looks down on a crowd from so high, so that it fills the picture."""
FLOOR = 0.02
"""A ground at height 0 may cut off this much of what stands on it, of its height, before it is put lower."""


@told_at_the_call
def render(
    thing: Any,
    *,
    clip: str | int | Clip | None = None,
    time: float | None = None,
    pose: Any = None,
    graph: Graph | str | os.PathLike[str] | None = None,
    parameters: Mapping[str, Any] | None = None,
    steps: Iterable[Step] = (),
    character: Character | None = None,
    crowd: int | None = None,
    compare: Any = None,
    skinning: str | None = None,
    springs: bool = True,
    size: tuple[int, int] = (1280, 720),
    camera: str | Sequence[float] | Camera = "three-quarter",
    view: str | None = None,
    background: Any = None,
    transparent: bool = False,
    ground: bool | float | None = None,
    lights: Iterable[Light] | str | None = None,
    environment: Any = None,
    render_path: str = "forward",
    outputs: Sequence[str] = ("color",),
    renderer: Renderer | None = None,
) -> Frame:
    """A picture of a file, a sample, a `Character`, a `Clip`, an `Animator`, an `Actor`, a `Scene`, or a list of those side
    by side. It shows itself in a notebook; `frame.save("hero.png")` writes it, `np.asarray(frame)` are its pixels.

    What it does: `clip` (a name, its number, or a `Clip`) at `time` in seconds; or `graph` with `parameters`, run for
    `time` (`steps` as in `mw.render_video`); or a `pose`; at rest without any of them. A `Clip` takes the `character` that
    does it. `crowd=500` shows that many, each at another moment.

    How it is seen: `camera` is `front`, `back`, `side`, `left`, `right`, `three-quarter`, `top`, degrees around and above
    like `"45,20"`, a camera of the file by its name (`"Camera.001"`), or a `Camera`; `lights` are the scene's, or
    `"file"`: those of the file; `view` shows a skeleton, weights and more (see docs/rendering.md); `background` is
    `studio`, `dark`, `sky` or a colour, `transparent` leaves it out; `ground` is one or none, or its height;
    `environment` is the light around: `studio`, `softboxes`, `outdoors`, a `.hdr` file, or an `Environment`. `compare`
    puts another thing beside it, or, with `view="difference"`, colours by how far they differ. `skinning` is `linear` or
    `dual_quaternion`, whatever the file says; `springs=False` keeps hair and clothes of a VRM from swinging.

    `outputs` asks for more than colours: `frame["depth"]`, `normals`, `ids`, `parts`, `joints`.
    """
    if time is not None:
        time = _validate.number("render", "time", time, low=0)
    options = {
        "clip": clip, "pose": pose, "time": time, "graph": graph, "parameters": parameters, "steps": steps,
        "character": character, "crowd": crowd, "skinning": skinning, "springs": springs,
    }  # fmt: skip
    timed, other = _staged(thing, compare, view, options)
    when = time or 0.0
    timed.seek(when)
    width_height = _size(size)
    camera, seen_by = _chosen_camera(camera, timed, crowd, width_height)
    times, points = timed.survey(np.array([when]), edges(camera, width_height))
    if shows_whole_clip(view) and timed.duration > 0:
        # What lies before and after is in the picture too.
        _, more = timed.survey(np.linspace(0.0, timed.duration, 9), edges(camera, width_height))
        points = [np.concatenate([*points, *more])]
        timed.seek(when)
    lit_by = _dress(timed, points, ground, background, transparent, lights, environment)
    if lit_by is not None:
        timed.scene.lights = lit_by.at()
    at = (seen_by or CameraTrack(camera, width_height, times, points)).at(when)
    chosen = renderer or shared_renderer(render_path)
    chosen.size = width_height
    return chosen.render(timed.scene, at, **_extra(timed, view, outputs, other))


@told_at_the_call
def render_video(
    thing: Any,
    path: str | os.PathLike[str],
    *,
    clip: str | int | Clip | None = None,
    time: float = 0.0,
    duration: float | None = None,
    rate: float = 30.0,
    graph: Graph | str | os.PathLike[str] | None = None,
    parameters: Mapping[str, Any] | None = None,
    steps: Iterable[Step] = (),
    character: Character | None = None,
    crowd: int | None = None,
    compare: Any = None,
    skinning: str | None = None,
    springs: bool = True,
    size: tuple[int, int] = (1280, 720),
    camera: str | Sequence[float] | Camera = "three-quarter",
    follow: bool | None = None,
    turntable: bool = False,
    view: str | None = None,
    background: Any = None,
    transparent: bool = False,
    ground: bool | float | None = None,
    lights: Iterable[Light] | str | None = None,
    environment: Any = None,
    render_path: str = "forward",
    codec: Codec | None = None,
    renderer: Renderer | None = None,
    progress: Progress = None,
) -> Video:
    """A video of anything `mw.render` takes: `.mp4`, `.webm`, `.mkv`, `.mov` (`pip install 'marrow-engine[video]'`),
    `.gif`, `.webp` or `.apng`. Returns the `Video`, which plays in a notebook.

    It shows the clip once, from `time` on, or `duration` seconds; the first clip where none is named. `turntable` goes
    round once meanwhile, also around what does not move. The camera follows what travels; `follow` says whether it does.
    `steps` are `(seconds, parameter, value)` for a graph; the value None pulls a trigger. `codec` is `h264`, `vp9` or
    `av1`. `progress(done, frames)` is called after each frame; left out, a call that takes long shows by itself how far it
    is, and with False nothing. The other options are those of `mw.render`.
    """
    begin = _validate.number("render", "time", time, low=0)
    turntable = _validate.flag("render", "turntable", turntable)
    follow = None if follow is None else _validate.flag("render", "follow", follow)
    options = {
        "clip": clip, "graph": graph, "parameters": parameters, "steps": steps, "character": character,
        "crowd": crowd, "skinning": skinning, "springs": springs, "time": begin, "moving": True,
    }  # fmt: skip
    if turntable:
        camera = _turning(camera)
    timed, other = _staged(thing, compare, view, options)
    turns = turntable or camera == "orbit"
    times = begin + np.arange(_count(timed, begin, duration, rate, turns)) / rate
    writer = VideoWriter(path, _size(size), rate=rate, codec=codec, transparent=transparent)
    camera, seen_by = _chosen_camera(camera, timed, crowd, writer.size)
    looked_at, points = timed.survey(times, edges(camera, writer.size))
    lit_by = _dress(timed, points, ground, background, transparent, lights, environment)
    tracking = seen_by or CameraTrack(camera, writer.size, looked_at, points, follow=follow)
    chosen = renderer or shared_renderer(render_path)
    chosen.size = writer.size
    extra = _extra(timed, view, ("color",), other)
    with shown_progress(writer.path.name, progress) as step, writer as video:
        for k, when in enumerate(times):
            scene = timed.seek(float(when))
            if lit_by is not None:
                scene.lights = lit_by.at()
            at = tracking.at(float(when), k / len(times))
            video.add(chosen.render(scene, at, **extra))
            step(k + 1, len(times))
    return Video(writer.path, len(times), writer.rate, writer.size)


def render_moments(
    thing: Any,
    times: Sequence[float | None],
    *,
    clip: str | None = None,
    size: tuple[int, int] = (200, 240),
    camera: str | Sequence[float] | Camera = "three-quarter",
    view: str | None = None,
    background: Any = None,
    transparent: bool = False,
    ground: bool | float | None = None,
    lights: Iterable[Light] | str | None = None,
    environment: Any = None,
    render_path: str = "forward",
    renderer: Renderer | None = None,
    **options: Any,
) -> Iterator[Frame]:
    """Pictures of one thing at several times, all by a camera that is as far away; it goes along with what travels."""
    moves = any(t is not None for t in times)
    timed = timed_scene_of(thing, clip=clip, time=0.0 if moves else None, **options)
    when = np.array([t or 0.0 for t in times])
    camera, seen_by = _chosen_camera(camera, timed, None, _size(size))
    _, points = timed.survey(when, edges(camera, _size(size)))
    lit_by = _dress(timed, points, ground, background, transparent, lights, environment)
    tracking = seen_by or CameraTrack(
        camera, _size(size), when, points, follow=True if moves else None, calm=0.0
    )
    chosen = renderer or shared_renderer(render_path)
    chosen.size = _size(size)
    extra = _extra(timed, view, ("color",), None)
    for t in when:
        scene = timed.seek(float(t))
        if lit_by is not None:
            scene.lights = lit_by.at()
        yield chosen.render(scene, tracking.at(float(t)), **extra)


class Framing:
    """How several pictures are drawn: size, outputs, and what is around things."""

    def __init__(
        self,
        renderer: Renderer,
        size: tuple[int, int],
        outputs: Sequence[str],
        background: Any,
        transparent: bool,
        ground: bool | float | None,
        lights: Iterable[Light] | str | None,
        environment: Any,
    ) -> None:
        self.renderer, self.size, self.outputs = renderer, _size(size), outputs
        self._around = (background, transparent)
        self._ground, self._lights, self._environment = ground, lights, environment

    def render(self, timed: TimedScene, when: float, camera: Any, by_lot: list[Any] | None = None) -> Frame:
        """One of them: a scene at a time, in the light of `by_lot` where that is given."""
        timed.seek(when)
        camera, seen_by = _chosen_camera(camera, timed, None, self.size)
        times, points = timed.survey(np.array([when]), edges(camera, self.size))
        own = timed.scene
        lights = self._lights if by_lot is None else by_lot
        lit_by = _dress(timed, points, self._ground, *self._around, lights, self._environment)
        if lit_by is not None:
            timed.scene.lights = lit_by.at()
        at = (seen_by or CameraTrack(camera, self.size, times, points)).at(when)
        self.renderer.size = self.size
        frame = self.renderer.render(timed.scene, at, **_extra(timed, None, self.outputs, None))
        timed.scene = own
        return frame


def shared_renderer(render_path: str = "forward") -> Renderer:
    """The renderer that all pictures of a process share, by render path."""
    if render_path not in _renderers or _renderers[render_path].device.is_lost:
        _renderers[render_path] = Renderer(render_path=render_path)
    return _renderers[render_path]


_renderers: dict[str, Renderer] = {}


def _staged(
    thing: Any, compare: Any, view: str | None, options: dict[str, Any]
) -> tuple[TimedScene, Character | None]:
    """The timed scene, and the character whose difference to it is to be shown."""
    if compare is None:
        return timed_scene_of(thing, **options), None
    if any(v.name == "difference" for v in parse_views(view)):
        other = timed_scene_of(compare, **options).scene.actors[0].character
        return timed_scene_of(thing, **options), other
    return timed_scene_of([thing, compare], **options), None


def _count(timed: TimedScene, begin: float, duration: float | None, rate: float, turns: bool) -> int:
    """How many frames a video has."""
    rate = _validate.number("render", "rate", rate, low=0, above=True, high=1000.0)
    if duration is None:
        length = timed.duration - begin if timed.duration > begin else timed.duration
        if turns and length <= 0:
            length = STILL
        if length <= 0 and not timed.moves:
            raise ValidationError(
                "render: nothing in it moves: it has no clips. turntable=True (--turntable) goes round it; or write a .png"
            )
        if length <= 0:
            raise ValidationError("render: how long? It has no end: say duration= (--duration), in seconds")
    else:
        length = _validate.number("render", "duration", duration, low=0, above=True)
    count = max(1, math.floor(length * rate + 0.5))
    if count > 1_000_000:
        raise ValidationError(
            f"render: {length:g} s at {rate:g} frames a second are {count:,} frames: too many"
        )
    return count


def _chosen_camera(
    camera: Any, timed: TimedScene, crowd: int | None, size: tuple[int, int]
) -> tuple[Any, FileCamera | None]:
    """Where from things are looked at, and the camera of a file where one is named."""
    if FileCamera.means(camera, timed.scene):
        seen_by = FileCamera(timed.scene, camera, size)
        return seen_by.at(), seen_by
    try:
        return _from_its_front(camera, timed, crowd), None
    except UnknownNameError as error:
        own = [c.name for actor in timed.scene.actors for c in actor.character.cameras]
        raise UnknownNameError(error.kind, error.name, (*own, *error.known)) from None


def _turning(camera: Any) -> Any:
    if isinstance(camera, Camera):
        raise ValidationError("render: a turntable goes round by itself: name a camera, such as 'front'")
    return direction_of(camera).round()


def _from_its_front(camera: Any, timed: TimedScene, crowd: int | None = None) -> Any:
    """A camera by name, turned to where the body in the scene looks; where a user turned that, as the world has it."""
    if isinstance(camera, Camera):
        return camera
    direction = direction_of(camera)
    if camera in ("three-quarter", "orbit") and (crowd or 0) >= CROWDED:
        direction = replace(direction, elevation=ABOVE)
    turned = direction.turned(timed.facing)
    return turned.round() if direction.turns else turned


def _size(size: Any) -> tuple[int, int]:
    try:
        width, height = size
    except (TypeError, ValueError):
        raise ValidationError(
            f"render: size: expected (width, height), got {_validate.shown(size)}"
        ) from None
    return (
        _validate.integer("render", "size", width, low=1),
        _validate.integer("render", "size", height, low=1),
    )


def _extra(
    timed: TimedScene, view: str | None, outputs: Sequence[str], other: Character | None
) -> dict[str, Any]:
    """What the renderer is told beside scene and camera."""
    extra: dict[str, Any] = {}
    if not parse_views(view) and not timed.has_surface:
        view = "skeleton:plain"  # there is nothing else to see
    if view is not None:
        extra["view"] = view
    if other is not None:
        extra["compare"] = other
    wanted = check_outputs(outputs)
    if wanted != ("color",):
        extra["outputs"] = wanted
    return extra


def _dress(
    timed: TimedScene,
    points: Sequence[Array],
    ground: bool | float | None,
    background: Any,
    transparent: bool,
    lights: Iterable[Light] | str | None,
    environment: Any = None,
) -> FileLights | None:
    """Gives the scene its ground, lights and background; a user's own keeps what is not said otherwise. The lights of the
    file are returned, where these are wanted."""
    transparent = _validate.flag("render", "transparent", transparent)
    scene = timed.scene
    if not timed.made:  # the user's own stays as it is
        scene = timed.scene = copy.copy(scene)
    lit_by: FileLights | None = None
    if isinstance(lights, str):
        _validate.one_of("render", "lights", lights, ("file",))
        all_points = np.concatenate([*points, np.zeros((0, 3))])
        middle = all_points.mean(axis=0) if len(all_points) else np.zeros(3)
        lit_by, lights = FileLights(scene, middle), None
        if not len(lit_by):
            raise ValidationError("render: lights='file', and the file has none")
    elif lights is None and timed.facing and not scene.lights:
        scene.lights = [_turned(SUN, timed.facing)]  # light falls on faces, not on backs
    if lights is not None or ground is not None:
        said = Scene(
            lights=scene.lights if lights is None else lights, ground=False if ground is None else ground
        )
        scene.lights = said.lights
        scene.ground = scene.ground if ground is None else said.ground
    if isinstance(environment, Environment):
        scene.environment = environment
    elif environment is not None:
        scene.environment = scene.environment.replace(light=environment)
    if background is not None or transparent:
        scene.environment = scene.environment.replace(background="transparent" if transparent else background)
    if ground is None and timed.made:
        scene.ground = None if transparent else _floor(points)
    return lit_by


def _turned(sun: DirectionalLight, angle: float) -> DirectionalLight:
    c, s = math.cos(angle), math.sin(angle)
    x, y, z = sun.direction
    return replace(sun, direction=(c * x + s * z, y, c * z - s * x))


def _floor(points: Sequence[Array]) -> float:
    """The height of the ground: 0, or what stands lower or hovers far above would not be seen to stand on it."""
    all_points = np.concatenate([*points, np.zeros((0, 3))])
    if not len(all_points):
        return 0.0
    low = float(all_points[:, 1].min())
    size = float(np.ptp(all_points, axis=0).max())
    return low if low < -FLOOR * size or low > size else 0.0
