"""`marrow bench render`: what pictures cost on this machine's adapter, next to the same triangles drawn static: not moving,
not skinned."""

from __future__ import annotations

import importlib
import importlib.util
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow import samples
from marrow.bench.gpu import warm_up
from marrow.bench.harness import Contest
from marrow.errors import GpuMemoryError
from marrow.gpu import Clock, Crowd, Device
from marrow.graph import Animator
from marrow.lod import Selector
from marrow.rendering import Renderer
from marrow.scene import Actor, Camera, PointLight, Scene, SpotLight

__all__ = ["contests", "measurements"]

Array = NDArray[Any]
SIZE = (1280, 720)
ONE_SOFTWARE, ONE_GPU, CROWD_GPU, LAMPS = 2.0, 1.3, 1.5, 1.5
"""How many times what the static triangles take a picture may take: of one mannequin, of a crowd; and how many times the
forward path with the sun alone the deferred one may take with 200 lamps."""
CROWD_SECONDS = 0.4
"""For 500 mannequins at mixed levels in software."""
PYTHON_SECONDS, CROWD_PYTHON_SECONDS = 2e-3, 4e-3
"""For Python's part of a picture: of one mannequin, of a crowd."""
LAMP_COUNT = 200


def contests() -> list[Contest]:
    """One mannequin and a crowd beside the same triangles static, and both paths."""
    device = Device.best()
    software = device.adapter.is_software
    one, many = figure(device), crowd(device, 500 if software else 10_000)
    found = []
    contest = Contest(f"one mannequin with shadows, {_size()}", "picture", 1)
    contest.entries["marrow"], contest.entries["static triangles"] = one
    contest.goals["static triangles"] = ONE_SOFTWARE if software else ONE_GPU
    found.append(contest)
    if software:
        title = (
            f"500 mannequins at mixed levels with shadows, {_size()}, one sample a pixel and smoothed edges"
        )
        contest = Contest(title, "picture", 1)
        contest.goal = CROWD_SECONDS
    else:
        title = f"10,000 mannequins at levels by one pixel of error, with shadows, {_size()}"
        contest = Contest(title, "picture", 1)
        contest.goals["static triangles"] = CROWD_GPU
    contest.entries["marrow"], contest.entries["static triangles"] = many
    found.append(contest)
    contest = Contest(f"{LAMP_COUNT} lamps, deferred, {_size()}", "picture", 1)
    contest.entries["marrow"] = lit_figure(device, "deferred", lamps(LAMP_COUNT))
    contest.entries["forward with the sun alone"] = lit_figure(device, "forward", [])
    contest.goals["forward with the sun alone"] = LAMPS
    found.append(contest)
    return found


def _size() -> str:
    return f"{SIZE[0]} x {SIZE[1]}"


def drawing(
    renderer: Renderer, scene: Scene, camera: Camera, move: Callable[[], Any] | None = None
) -> Callable[[], None]:
    """Draws a picture and waits for it. What moves does so before, and does not count: the pose's cost is another's."""

    def run() -> None:
        if move is not None:
            move()
        renderer.draw(scene, camera, renderer.targets.picture_view)
        renderer.device.wait()

    return run


def close_up() -> Camera:
    return Camera.perspective((1.9, 1.7, 3.0), (0, 0.9, 0), fov=0.7, width=SIZE[0], height=SIZE[1])


def figure(device: Device) -> tuple[Callable[[], None], Callable[[], None]]:
    """A mannequin that walks, and one that stands still and is not skinned again."""
    hero, renderer = samples.mannequin(), Renderer(SIZE, device=device)
    walker = Actor(hero, clip="walk", levels=0)

    def step() -> None:
        walker.time = (np.asarray(walker.time) + 1 / 30) % 1.0

    moving = drawing(renderer, Scene(walker), close_up(), step)
    return moving, drawing(renderer, Scene(Actor(hero, levels=0)), close_up())


def lamps(count: int) -> list[PointLight | SpotLight]:
    """Small lamps around a figure, every other one a spot."""
    rng = np.random.default_rng(7)
    out: list[PointLight | SpotLight] = []
    for i in range(count):
        x, z = rng.uniform(-6, 6, 2).tolist()
        place, color = (x, float(rng.uniform(0.2, 2.5)), z), tuple(rng.uniform(0.2, 1, 3).tolist())
        if i % 2:
            out.append(SpotLight(place, (0, -1, 0), color, 4.0, range=3.0))
        else:
            out.append(PointLight(place, color, 1.0, range=2.0))
    return out


def lit_figure(device: Device, path: str, lights: list[Any]) -> Callable[[], None]:
    """A mannequin that stands still, in many lights or in the sun alone."""
    scene = Scene(Actor(samples.mannequin(), levels=0), lights=[*lights])
    if lights:
        from marrow.scene.lights import SUN

        scene.lights.append(SUN)
    return drawing(Renderer(SIZE, device=device, render_path=path), scene, close_up())


def places(count: int) -> Array:
    """A crowd on a square, its nearest row before the camera."""
    across = int(np.ceil(np.sqrt(count * 1.25)))
    at = np.stack(np.divmod(np.arange(count), across), 1)
    out = np.tile(np.eye(3, 4), (count, 1, 1))
    out[:, 0, 3], out[:, 2, 3] = 1.5 * (at[:, 1] - across / 2 + 0.5), -2.0 * at[:, 0]
    return out


def crowd_camera() -> Camera:
    return Camera.perspective((0, 3.5, 8), (0, 0.5, -8), fov=0.8, width=SIZE[0], height=SIZE[1])


class _Crowd:
    """Mannequins under a graph. On a GPU they are posed there, at the levels that one pixel of error asks for."""

    def __init__(self, device: Device, count: int) -> None:
        self.hero = samples.mannequin()
        self.animator = Animator(self.hero, samples.mannequin_graph(), count=count, threads=None)
        self.animator["speed"] = np.linspace(0, 3.6, count)
        for _ in range(10):
            self.animator.update(1 / 20)
        self.places, self.camera = places(count), crowd_camera()
        self.software = device.adapter.is_software
        self.selector = Selector(self.hero)
        self.crowd: Crowd | None = None
        self.renderer = Renderer(SIZE, device=device, samples=1 if self.software else 4)
        if not self.software:
            self.animator.levels = self.selector.select(self.camera, self.places)
            self.crowd = Crowd(self.animator, device=device)
        self.scene = Scene(Actor(self.crowd or self.animator, transforms=self.places))
        # A picture before any is measured: levels are those of the static one too.
        self.step()
        self.renderer.draw(self.scene, self.camera, self.renderer.targets.picture_view)
        levels: Any = self.animator.levels
        if levels is None:
            levels = np.full(count, -1)
            for draw in self.renderer.list.draws:
                skinned = self.renderer.list._skins.get(self.scene.actors[0])
                assert skinned is not None
                levels[skinned.levels[draw.level].instances] = draw.level
        self.static = Scene(Actor(self.hero, transforms=self.places, levels=levels))

    def step(self) -> None:
        """Time passes; poses are ready, on the GPU or off it."""
        if self.crowd is not None:
            self.animator.levels = self.selector.select(self.camera, self.places)
            self.crowd.update(1 / 60)
        else:
            self.animator.update(1 / 60)
            self.animator.evaluation.matrices_and_morphs()


def crowd(device: Device, count: int) -> tuple[Callable[[], None], Callable[[], None]]:
    """A crowd that moves, and the same triangles standing still."""
    found = _Crowd(device, count)
    moving = drawing(found.renderer, found.scene, found.camera, found.step)
    return moving, drawing(found.renderer, found.static, found.camera)


def measurements() -> dict[str, Any]:
    """Passes by the GPU's own clock, and what Python takes."""
    device = Device.best()
    software = device.adapter.is_software
    count = 500 if software else 10_000
    out: dict[str, Any] = {"measured on": {"adapter": str(device.adapter)}}
    hero = samples.mannequin()
    walker = Actor(hero, clip="walk", levels=0)
    for path in ("forward", "deferred"):
        renderer = Renderer(SIZE, device=device, render_path=path)
        out[f"one mannequin, {path}, {_size()}, passes"] = passes(
            renderer, Scene(walker), close_up(), _walk(walker)
        )
    try:
        found = _Crowd(device, count)
        name = f"{count:,} mannequins, forward, {_size()}"
        out[f"{name}, passes"] = passes(found.renderer, found.scene, found.camera, found.step)
        out[f"{name}, static, passes"] = passes(found.renderer, found.static, found.camera, None)
        out["Python's part of a picture"] = {
            "one mannequin": python_part(
                Renderer(SIZE, device=device), Scene(walker), close_up(), _walk(walker)
            ),
            "at most": PYTHON_SECONDS,
        }
        out[f"Python's part of a picture of {count:,} mannequins"] = {
            "whole": python_part(found.renderer, found.scene, found.camera, found.step),
            "at most": CROWD_PYTHON_SECONDS,
        }
    except GpuMemoryError as error:
        out[f"{count:,} mannequins"] = {"not measured": str(error)}
    if importlib.util.find_spec("av") is not None and importlib.util.find_spec("resource") is not None:
        out.update(importlib.import_module("marrow.bench.render_video").measurements())
    return out


def _walk(actor: Actor) -> Callable[[], None]:
    def step() -> None:
        actor.time = (np.asarray(actor.time) + 1 / 30) % 1.0

    return step


def passes(
    renderer: Renderer, scene: Scene, camera: Camera, move: Callable[[], Any] | None
) -> dict[str, float | str]:
    """The best time of each pass over some pictures."""
    device = renderer.device
    draw = drawing(renderer, scene, camera, move)
    draw()
    warm_up(device, draw)
    whole, best = np.inf, dict[str, float]()
    clock = Clock(device) if device.has_timestamps else None
    for _ in range(4 if device.adapter.is_software else 20):
        if move is not None:
            move()
        device.wait()
        start = time.perf_counter()
        renderer.draw(scene, camera, renderer.targets.picture_view, timer=clock)
        device.wait()
        whole = min(whole, time.perf_counter() - start)
        for name, seconds in (clock.seconds() if clock is not None else {}).items():
            best[name] = min(best.get(name, np.inf), seconds)
    return {**best, "all passes": sum(best.values()), "picture, from call to done": whole}


def python_part(renderer: Renderer, scene: Scene, camera: Camera, move: Callable[[], Any]) -> float:
    """Seconds of this thread's own work until `draw` returns, the GPU being idle before."""
    best = np.inf
    for _ in range(12):
        move()
        renderer.device.wait()
        start = time.thread_time()
        renderer.draw(scene, camera, renderer.targets.picture_view)
        best = min(best, time.thread_time() - start)
    return float(best)
