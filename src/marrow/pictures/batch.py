"""`mw.render_batch`: many pictures, with the numbers behind their pixels, in one call."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.display.progress import Progress, shown_progress
from marrow.errors import UnknownNameError, ValidationError, told_at_the_call
from marrow.model import _validate
from marrow.model.pose import Pose
from marrow.pictures.picture import Framing, shared_renderer
from marrow.rendering.frame import Frame
from marrow.rendering.passes.outputs import check_outputs
from marrow.rendering.renderer import Renderer
from marrow.scene.camera import Camera
from marrow.scene.lights import Light
from marrow.scene.random_views import random_view
from marrow.scene.scene import Actor, Scene
from marrow.scene.timed_scene import TimedScene, character_of, timed_scene_of

if TYPE_CHECKING:
    from marrow.model.clip import Clip

__all__ = ["PictureBatch", "render_batch"]

Array = NDArray[Any]
_LABELS = {"parts": "part_names", "materials": "material_names"}
"""Outputs whose numbers stand for names, and the output that has these."""


@dataclass(frozen=True, eq=False, repr=False)
class PictureBatch:
    """N pictures: `color (N, H, W, 4)` uint8 and the other outputs that were asked for, one array each, by their names
    (`batch["depth"]`, `batch.depth`). `joints` and `camera_matrices` are tuples, one entry a picture. `part_names` and
    `material_names` say what the numbers of `parts` and `materials` mean, the same for all pictures. `cameras` are those
    the pictures were drawn with."""

    outputs: Mapping[str, Any]
    cameras: tuple[Camera, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.cameras)

    def __getitem__(self, name: str) -> Any:
        if name not in self.outputs:
            raise UnknownNameError("output", name, tuple(self.outputs))
        return self.outputs[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "outputs":
            raise AttributeError(name)
        if name in self.outputs:
            return self.outputs[name]
        raise AttributeError(f"PictureBatch has no {name!r}: it has {', '.join(self.outputs)}")

    def __contains__(self, name: object) -> bool:
        return name in self.outputs

    def __repr__(self) -> str:
        return f"PictureBatch({len(self)} pictures with {', '.join(self.outputs)})"


@told_at_the_call
def render_batch(
    things: Any,
    *,
    clip: str | int | Clip | Sequence[Any] | None = None,
    time: float | Sequence[float] | Array | None = None,
    pose: Any = None,
    camera: str | Camera | Sequence[Any] | None = None,
    count: int | None = None,
    seed: int | None = None,
    size: tuple[int, int] = (256, 256),
    outputs: Sequence[str] = ("color", "depth", "ids"),
    background: Any = None,
    transparent: bool = False,
    ground: bool | float | None = None,
    lights: Iterable[Light] | str | None = None,
    environment: Any = None,
    springs: bool = True,
    render_path: str = "forward",
    renderer: Renderer | None = None,
    progress: Progress = None,
) -> PictureBatch:
    """N pictures with the numbers behind their pixels, for data sets.

    `things`, `clip`, `time`, `pose` and `camera` are each one for all pictures or a list with one for each; `pose` may be a
    `Pose` of N. `things` are what `mw.render` takes: a character, a file, a `Scene` for several in one picture. `count` is
    the number of pictures where no list says it. `outputs` are those of `mw.render`, as arrays `(N, H, W, ...)`.

    With a `seed`, what is not said is drawn by lot: the `camera`, the `lights` and, where there is a clip, the `time`. The
    same seed gives the same; picture k does not depend on how many there are. Without one the camera is `three-quarter`.

    One renderer draws all of them, and characters that come again are not uploaded again. `mw.Renderer(samples=1)` is the
    fastest. The other options are those of `mw.render`.
    """
    who = "render_batch"
    if isinstance(pose, Pose) and pose.batch_shape:
        pose = [pose[k] for k in range(len(pose))]
    given = {"things": things, "clip": clip, "time": time, "pose": pose, "camera": camera}
    total = _total(given, count)
    each = {name: _each(value, total) for name, value in given.items()}
    files = {
        thing: character_of(thing, who) for thing in each["things"] if isinstance(thing, (str, os.PathLike))
    }
    each["things"] = [files.get(t, t) if isinstance(t, (str, os.PathLike)) else t for t in each["things"]]
    seed = None if seed is None else _validate.integer(who, "seed", seed, low=0)
    wanted = check_outputs(outputs)
    if not wanted:
        raise ValidationError(f"{who}: outputs: nothing is asked for")
    lights = lights if lights is None or isinstance(lights, str) else list(lights)
    chosen = renderer or shared_renderer(render_path)
    framing = Framing(chosen, size, wanted, background, transparent, ground, lights, environment)
    staged = _Staged(springs)
    stack = _Stack(wanted, total)
    with shown_progress(who, progress) as step:
        for k in range(total):
            row = {name: values[k] for name, values in each.items()}
            when = row["time"]
            if when is not None:
                when = _validate.number(who, "time", when, low=0)
            chance = None if seed is None else np.random.default_rng([seed, k])
            timed = staged.scene(row["things"], row["clip"], row["pose"], when, by_lot=chance is not None)
            lot = None
            if chance is not None:
                share, view_seed = chance.random(), int(chance.integers(2**31))
                when = share * timed.duration if when is None else when
                timed.seek(when)
                shot = random_view(timed.scene, seed=view_seed, size=framing.size, times=False)
                lot = shot.scene.lights if lights is None else None
                row["camera"] = shot.camera if row["camera"] is None else row["camera"]
            stack.add(k, framing.render(timed, when or 0.0, row["camera"] or "three-quarter", lot))
            step(k + 1, total)
    return stack.made()


class _Staged:
    """Scenes of the things that were drawn, by thing and clip, so that their vertices stay where they are."""

    def __init__(self, springs: bool) -> None:
        self._springs = springs
        self._made: dict[Any, tuple[Any, Any, TimedScene]] = {}

    def scene(self, thing: Any, clip: Any, pose: Any, when: float | None, *, by_lot: bool) -> TimedScene:
        key = (_key(thing), _key(clip), pose is None, when is None)
        found = self._made.get(key)
        if found is None or pose is not None:
            moves = by_lot and (clip is not None or isinstance(thing, (Actor, Scene)))
            timed = timed_scene_of(
                thing,
                clip=clip,
                pose=pose,
                time=0.0 if when is None and moves else when,
                springs=self._springs,
            )
            if found is not None:  # the actor whose vertices are on the GPU takes the new pose
                found[2].scene.actors[0].pose = timed.scene.actors[0].pose
                return found[2]
            self._made[key] = found = (thing, clip, timed)
        return found[2]


def _key(value: Any) -> Any:
    return value if isinstance(value, (str, int, type(None))) else id(value)


def _is_list(name: str, value: Any) -> bool:
    if name == "camera" and isinstance(value, (list, tuple)):
        return not all(isinstance(v, (int, float)) for v in value)  # "45,20" as numbers is one camera
    if name == "pose" and isinstance(value, np.ndarray):
        return value.ndim == 4
    return isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _total(given: dict[str, Any], count: int | None) -> int:
    """How many pictures there are: as many as every list has."""
    lengths = {name: len(value) for name, value in given.items() if _is_list(name, value)}
    if count is not None:
        lengths["count"] = _validate.integer("render_batch", "count", count, low=1)
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name} {n}" for name, n in lengths.items())
        raise ValidationError(f"render_batch: how many pictures? There are {said}")
    total = next(iter(lengths.values()), 1)
    if total < 1:
        raise ValidationError(f"render_batch: {next(iter(lengths))}: the list is empty")
    for name, value in given.items():
        given[name] = list(value) if name in lengths else value
    return total


def _each(value: Any, total: int) -> Sequence[Any]:
    return value if isinstance(value, list) else [value] * total


class _Stack:
    """Pictures one after the other, as arrays of all of them."""

    def __init__(self, wanted: Sequence[str], total: int) -> None:
        self._wanted, self._total = wanted, total
        self._arrays: dict[str, Array] = {}
        self._lists: dict[str, list[Any]] = {}
        self._names: dict[str, dict[Any, int]] = {name: {} for name in _LABELS if name in wanted}
        self._cameras: list[Camera] = []

    def add(self, k: int, frame: Frame) -> None:
        for name, value in self._of(frame):
            if isinstance(value, np.ndarray):
                if name in self._names:
                    value = self._renumbered(name, value, frame[_LABELS[name]])
                if name not in self._arrays:
                    self._arrays[name] = np.empty((self._total, *value.shape), value.dtype)
                self._arrays[name][k] = value
            elif name not in _LABELS.values():
                self._lists.setdefault(name, []).append(value)
        assert frame.camera is not None
        self._cameras.append(frame.camera)

    def _of(self, frame: Frame) -> Iterator[tuple[str, Any]]:
        if "color" in self._wanted:
            yield "color", frame.pixels
        yield from frame.outputs.items()

    def _renumbered(self, name: str, numbers: Array, names: Sequence[Any]) -> Array:
        """Numbers that mean the same in every picture."""
        known = self._names[name]
        table = np.array([-1, *(known.setdefault(one, len(known)) for one in names)], numbers.dtype)
        return table[numbers + 1]

    def made(self) -> PictureBatch:
        labels = {_LABELS[name]: tuple(known) for name, known in self._names.items()}
        lists = {name: tuple(values) for name, values in self._lists.items()}
        return PictureBatch({**self._arrays, **labels, **lists}, tuple(self._cameras))
