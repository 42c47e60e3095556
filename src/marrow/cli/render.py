"""`marrow render`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from marrow.cli._errors import UsageError, is_quiet, note, on_terminal
from marrow.cli._output import say
from marrow.printing import one_line

if TYPE_CHECKING:
    from marrow.model import Character

__all__ = ["color", "progress_bar", "render", "size_of"]

Flag = Annotated[bool, Parameter(negative=())]


def render(
    files: Annotated[list[str], Parameter(negative=())],
    /,
    *,
    output: Annotated[Path, Parameter(name=("--output", "-o"))],
    clip: str | None = None,
    graph: str | None = None,
    set: Annotated[list[str] | None, Parameter(negative=())] = None,
    trigger: Annotated[list[str] | None, Parameter(negative=())] = None,
    time: float | None = None,
    duration: float | None = None,
    rate: float = 30.0,
    size: str = "1280x720",
    camera: str = "three-quarter",
    lights: Literal["file"] | None = None,
    follow: Annotated[bool | None, Parameter(negative="--no-follow")] = None,
    turntable: Flag = False,
    view: str | None = None,
    crowd: int | None = None,
    compare: str | None = None,
    skinning: Literal["linear", "dual_quaternion"] | None = None,
    transparent: Flag = False,
    background: str | None = None,
    environment: str | None = None,
    ground: Annotated[bool | None, Parameter(negative="--no-ground")] = None,
    render_path: Literal["forward", "deferred"] = "forward",
    codec: Literal["h264", "vp9", "av1"] | None = None,
    clips_from: Annotated[list[str] | None, Parameter(negative=())] = None,
    scale: float | None = None,
    force: Annotated[bool, Parameter(name=("--force", "-f"), negative=())] = False,
    subdivide: str | None = None,
    allow_outside: Flag = False,
) -> None:
    """Draw a picture or a video of a character.

    Parameters
    ----------
    files
        Files to show, or names of samples; several stand side by side.
    output
        The file to write: .png, .jpg, .webp, or a video: .mp4, .webm, .mkv, .mov, .gif, .apng (.webp with --rate,
        --duration or --turntable).
    clip
        The clip to play. A video plays the first one when left out, a picture shows the rest pose.
    graph
        A graph file that moves the character, or the name of a sample that has one.
    set
        A parameter of the graph, at once or at a time: NAME=VALUE or NAME=VALUE@SECONDS.
    trigger
        A trigger of the graph: NAME or NAME@SECONDS.
    time
        The moment to show, in seconds; of a video, where it begins.
    duration
        How many seconds a video lasts: as long as the clip when left out.
    rate
        Frames a second.
    size
        Width and height in pixels: 1280x720, or one number for a square.
    camera
        front, back, side, left, right, three-quarter, top, orbit (goes round), degrees around and above: 45,20, or a camera
        of the file by its name.
    lights
        file: the lights of the file, instead of the studio's.
    follow
        Follow what travels; when left out, only what goes far.
    turntable
        Go round once in the time of the video.
    view
        What to show: skeleton, weights:JOINT, normals, wireframe, ... ; several with +.
    crowd
        Show that many, each at another moment.
    compare
        Another file to put beside it; with --view difference, colours say how far they differ.
    skinning
        Skin by this method, whatever the file says.
    transparent
        Leave out background and ground.
    background
        studio, dark, sky, environment (the light around), or a colour: #20242a, white, ...
    environment
        The light around: studio, softboxes, outdoors, or an equirectangular picture (.hdr, .exr, .png, ...).
    ground
        Draw the ground.
    render_path
        How light is computed: forward, or deferred.
    codec
        h264, vp9 or av1.
    clips_from
        More files to take clips from.
    scale
        Multiply all lengths, for files whose units are wrong.
    subdivide
        Subdivide the meshes so many times (1 to 6), or where and as often as the file says: file.
    force
        Replace the output if it exists.
    allow_outside
        Let files refer to others outside their own folders.
    """
    from marrow.cli._files import open_character, subdivide_wish, writable

    _check_output(output, codec)
    writable(output, force=force)
    pixels = size_of(size)
    options: dict[str, Any] = {"allow_outside": allow_outside}
    if scale is not None:
        options["scale"] = scale
    if subdivide is not None:
        options["subdivide"] = subdivide_wish(subdivide)
    if clips_from:
        options["clips"] = clips_from
    characters: list[Character] = [open_character(file, **options) for file in files]
    shared: dict[str, Any] = {
        "clip": clip,
        "graph": graph,
        "size": pixels,
        "camera": camera,
        "lights": lights,
        "view": view,
        "crowd": crowd,
        "compare": None if compare is None else open_character(compare, **options),
        "skinning": skinning,
        "transparent": transparent,
        "background": color(background),
        "environment": environment,
        "ground": ground,
        "render_path": render_path,
    }
    thing: Any = characters[0] if len(characters) == 1 else characters
    video = _is_video(output, moving=duration is not None or turntable or camera == "orbit")
    from marrow.cli.clip import _due

    steps = [*_due(set or (), True), *_due(trigger or (), False)]
    if (steps or trigger) and graph is None:
        raise UsageError("--set and --trigger are for a graph: name it with --graph")
    if not video:
        for name, value in (("--duration", duration), ("--codec", codec), ("--turntable", turntable or None)):
            if value is not None:
                raise UsageError(f"{name} is for videos, and {output.name} is a picture")
        from marrow.pictures.picture import render as draw

        frame = draw(thing, time=time, steps=steps, **shared)
        frame.save(output)
        _tell(render_path)
        say(f"{output}: {frame.size[0]} x {frame.size[1]}")
        return
    from marrow.pictures.picture import render_video

    with progress_bar(f"{output.name}") as progress:
        made = render_video(
            thing, output, time=time or 0.0, duration=duration, rate=rate, steps=steps, follow=follow, turntable=turntable,
            codec=codec, progress=progress, **shared,
        )  # fmt: skip
    _tell(render_path)
    say(f"{output}: {made.frames} frame{'s' if made.frames > 1 else ''}, {made.duration:.3g} s")


def _tell(render_path: str) -> None:
    """Says what of the materials could not be shown."""
    from marrow.pictures.picture import shared_renderer

    for line in shared_renderer(render_path).materials.report:
        note(line)


def _check_output(output: Path, codec: str | None) -> None:
    from marrow.pictures.video import VIDEO_SUFFIXES
    from marrow.rendering.frame import STILL_SUFFIXES

    known = dict.fromkeys((*STILL_SUFFIXES, *VIDEO_SUFFIXES))
    if output.suffix.lower() not in known:
        raise UsageError(f"{output}: expected a file that ends in {', '.join(known)}")


def _is_video(output: Path, *, moving: bool) -> bool:
    """Whether the file moves. A .webp can be both: it does where something was said that only videos have."""
    from marrow.pictures.video import VIDEO_SUFFIXES

    suffix = output.suffix.lower()
    return moving if suffix == ".webp" else suffix in VIDEO_SUFFIXES


def size_of(text: str) -> tuple[int, int]:
    """Width and height from `1280x720`, or from one number for a square."""
    parts = text.lower().replace("×", "x").split("x")
    try:
        sides = [int(part) for part in parts]
    except ValueError:
        sides = []
    if len(sides) not in (1, 2) or min(sides) < 1:
        raise UsageError(f"--size: expected WIDTHxHEIGHT such as 1280x720, got {text!r}")
    return sides[0], sides[-1]


def color(text: str | None) -> Any:
    """A background by name, or a colour by its name or digits."""
    if text is None:
        return None
    from marrow.scene.lights import BACKGROUNDS

    if text in BACKGROUNDS:
        return text
    from marrow.scene.css_colors import css_color

    found = css_color(text)
    if found is None:
        names = ", ".join(BACKGROUNDS)
        raise UsageError(
            f"--background: expected {names}, or a colour such as #20242a or white, got {text!r}"
        )
    return found


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int], None] | None]:
    """Shows how far it is, on a terminal."""
    if is_quiet() or not on_terminal():
        yield (lambda done, total: None) if is_quiet() else None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from marrow.cli._console import NameSafeConsole

    name = TextColumn("{task.description}", markup=False)
    columns = (name, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=NameSafeConsole(stderr=True), transient=True) as bar:
        task = bar.add_task(one_line(label), total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
