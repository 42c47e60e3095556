"""`marrow clip ...`: the tools of `mw.Clip` for files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from marrow.cli._errors import UsageError
from marrow.cli._output import say

if TYPE_CHECKING:
    from marrow.model import Character, Clip

Source = Annotated[str, Parameter(name="IN", help="Any file marrow reads, or the name of a sample.")]
Target = Annotated[Path, Parameter(name="OUT", help="The file to write; its suffix says the format.")]
Names = Annotated[
    list[str] | None,
    Parameter(
        name="--clip",
        negative=(),
        help="Work on the clip of this name; may be given several times. Others stay.",
    ),
]
Force = Annotated[bool, Parameter(name=("--force", "-f"), negative=(), help="Replace OUT if it exists.")]
Flag = Annotated[bool, Parameter(negative=())]
Joints = Annotated[
    list[str], Parameter(name="--joint", negative=(), help="A joint; may be given several times.")
]


def _edit(
    source: str,
    target: Path,
    names: list[str] | None,
    force: bool,
    change: Callable[[Clip, Character], Clip | Sequence[Clip]],
    options: dict[str, object] | None = None,
) -> None:
    """Every chosen clip through `change`, the others as they are, into OUT."""
    from marrow.cli._files import chosen_clips, open_character, writable
    from marrow.cli._output import bytes_text
    from marrow.cli._progress import working
    from marrow.errors import FormatError
    from marrow.io import registry, save
    from marrow.io.clips import free_name

    try:
        form = registry.for_writing(target)
    except FormatError as error:
        raise UsageError(str(error)) from None
    writable(target, force=force)
    character = open_character(source)
    if not character.clips:
        raise UsageError(f"{source}: has no clips")
    chosen = {clip.name for clip in chosen_clips(character, names)}
    made: list[Clip] = []
    taken: set[str] = set()
    with working(target.name) as turn_to:
        for k, clip in enumerate(character.clips.values(), 1):
            turn_to(f"{target.name}: {clip.name}, {k} of {len(character.clips)} clips")
            result = change(clip, character) if clip.name in chosen else clip
            for one in result if isinstance(result, (list, tuple)) else [result]:
                name = free_name(one.name, taken)  # type: ignore[union-attr]
                taken.add(name)
                made.append(one.replace(name=name))  # type: ignore[union-attr]
        turn_to(f"{target.name}: written")
        save(character.replace(clips=tuple(made)), target, **(options or {}))
    say(f"{target}: {form.name}, {bytes_text(target.stat().st_size)}, {len(made)} clips")


def _pairs(values: Sequence[str], what: str) -> list[tuple[str, str]]:
    out = []
    for value in values:
        name, sign, rest = value.partition("=")
        if not sign or not name or not rest:
            raise UsageError(f"expected {what}, got {value!r}")
        out.append((name, rest))
    return out


def trim(
    source: Source,
    target: Target,
    /,
    *,
    start: float = 0.0,
    end: float | None = None,
    clip: Names = None,
    force: Force = False,
) -> None:
    _edit(source, target, clip, force, lambda c, _: c.trimmed(start, end))


def cut(source: Source, target: Target, /, *pieces: str, clip: Names = None, force: Force = False) -> None:
    ranges: dict[str, tuple[float, float]] = {}
    for name, span in _pairs(pieces, "NAME=START:END"):
        try:
            first, last = (float(part) for part in span.split(":"))
        except ValueError:
            raise UsageError(f"expected NAME=START:END in seconds, got {name}={span}") from None
        ranges[name] = (first, last)
    if not ranges:
        raise UsageError("name at least one piece: NAME=START:END")
    _edit(source, target, clip, force, lambda c, _: list(c.cut(ranges).values()))


def split(
    source: Source,
    target: Target,
    /,
    *,
    at: Annotated[list[float] | None, Parameter(negative=())] = None,
    event: str | None = None,
    silence: float | None = None,
    clip: Names = None,
    force: Force = False,
) -> None:
    _edit(source, target, clip, force, lambda c, _: c.split(at, event=event, silence=silence))


def join(
    source: Source, target: Target, /, *names: str, name: str = "joined", blend: float = 0.2, follow: bool = True,
    force: Force = False,
) -> None:  # fmt: skip
    from marrow.cli._files import chosen_clips, open_character

    if len(names) < 2:
        raise UsageError("name at least two clips to join")
    clips = chosen_clips(open_character(source), list(names))
    whole = clips[0]
    for other in clips[1:]:
        whole = whole.then(other, blend, follow=follow, name=name)

    def change(c: Clip, _: Character) -> list[Clip]:
        return [c, whole] if c.name == names[-1] else [c]

    _edit(source, target, None, force, change)


def loop(
    source: Source, target: Target, /, *, window: float = 0.25, travel: bool | None = None, clip: Names = None,
    force: Force = False,
) -> None:  # fmt: skip
    _edit(source, target, clip, force, lambda c, _: c.looped(window, travel=travel))


def in_place(
    source: Source, target: Target, /, *, joint: str | None = None, clip: Names = None, force: Force = False
) -> None:
    _edit(source, target, clip, force, lambda c, _: c.in_place(joint))


def travel(
    source: Source,
    target: Target,
    /,
    *,
    velocity: tuple[float, float, float] | None = None,
    joint: str | None = None,
    clip: Names = None,
    force: Force = False,
) -> None:
    _edit(source, target, clip, force, lambda c, _: c.with_travel(velocity, joint))


def reverse(source: Source, target: Target, /, *, clip: Names = None, force: Force = False) -> None:
    _edit(source, target, clip, force, lambda c, _: c.reversed())


def retime(
    source: Source, target: Target, /, *, speed: float | None = None, duration: float | None = None, clip: Names = None,
    force: Force = False,
) -> None:  # fmt: skip
    _edit(source, target, clip, force, lambda c, _: c.retimed(speed, duration=duration))


def resample(
    source: Source, target: Target, /, *, rate: float, clip: Names = None, force: Force = False
) -> None:
    _edit(source, target, clip, force, lambda c, _: c.at_rate(rate))


def rename(source: Source, target: Target, /, *names: str, force: Force = False) -> None:
    table = dict(_pairs(names, "OLD=NEW"))
    if not table:
        raise UsageError("name at least one clip: OLD=NEW")
    _edit(source, target, list(table), force, lambda c, _: c.renamed(table[c.name]))


def mirror(
    source: Source,
    target: Target,
    /,
    *,
    pair: Annotated[
        list[str] | None, Parameter(negative=(), help="Two joints that mirror each other: A=B.")
    ] = None,
    clip: Names = None,
    force: Force = False,
) -> None:
    table = _pairs(pair or (), "A=B") or None
    _edit(source, target, clip, force, lambda c, _: c.mirrored(table))


def additive(
    source: Source, target: Target, /, *, to: float | None = None, clip: Names = None, force: Force = False
) -> None:
    _edit(source, target, clip, force, lambda c, _: c.as_additive(to))


def smooth(
    source: Source,
    target: Target,
    /,
    *,
    cutoff: float = 6.0,
    method: Literal["butterworth", "one-euro", "gauss"] = "butterworth",
    beta: float = 0.5,
    clip: Names = None,
    force: Force = False,
) -> None:
    _edit(source, target, clip, force, lambda c, _: c.smoothed(cutoff, method=method, beta=beta))


def fill(source: Source, target: Target, /, *, clip: Names = None, force: Force = False) -> None:
    _edit(source, target, clip, force, lambda c, _: c.filled())


def contacts(
    source: Source,
    target: Target,
    /,
    *,
    height: float | None = None,
    speed: float | None = None,
    clip: Names = None,
    force: Force = False,
) -> None:
    _edit(source, target, clip, force, lambda c, _: c.with_contacts(height=height, speed=speed))


def keep(
    source: Source,
    target: Target,
    /,
    *,
    joint: Joints,
    below: Flag = False,
    clip: Names = None,
    force: Force = False,
) -> None:
    _edit(source, target, clip, force, lambda c, _: c.only(joint, below=below))


def strip(
    source: Source,
    target: Target,
    /,
    *,
    joint: Joints,
    below: Flag = False,
    clip: Names = None,
    force: Force = False,
) -> None:
    _edit(source, target, clip, force, lambda c, _: c.without(joint, below=below))


def reduce(
    source: Source, target: Target, /, *, error: float = 0.001, clip: Names = None, force: Force = False
) -> None:
    from marrow.motion import reduce as fewer

    lines: list[str] = []

    def change(c: Clip, character: Character) -> Clip:
        made = fewer(c, error, character)
        lines.append(
            f"{c.name}: {made.keys_before} keys -> {made.keys_after}, off by {made.error * 1000:.2f} mm"
        )
        return made.clip

    _edit(source, target, clip, force, change)
    for line in lines:
        say(line)


def run(
    source: Source,
    target: Target,
    /,
    *,
    graph: Path,
    seconds: float,
    set: Annotated[
        list[str] | None,
        Parameter(negative=(), help="A parameter, at once or at a time: NAME=VALUE or NAME=VALUE@SECONDS."),
    ] = None,
    trigger: Annotated[
        list[str] | None,
        Parameter(negative=(), help="A trigger, at once or at a time: NAME or NAME@SECONDS."),
    ] = None,
    rate: float = 30.0,
    name: str = "run",
    travel: Annotated[bool, Parameter(help="Let root motion move the root.")] = True,
    force: Force = False,
) -> None:
    from marrow.cli._files import open_character
    from marrow.graph import Animator, load_graph
    from marrow.model import Clip

    if not graph.exists():
        raise UsageError(f"{graph}: there is no such file")
    character = open_character(source)
    if not character.clips:
        raise UsageError(f"{source}: has no clips")
    animator = Animator(character, load_graph(graph))
    due = sorted([*_due(set or (), True), *_due(trigger or (), False)], key=lambda step: step[0])

    def steer(now: float) -> None:
        while due and due[0][0] <= now + 1e-9:
            _, parameter, value = due.pop(0)
            if value is None:
                animator.trigger(parameter)
            else:
                animator[parameter] = value

    made = Clip.from_run(animator, seconds, rate, name=name, travel=travel, every=steer)
    last = list(character.clips)[-1]
    _edit(source, target, None, force, lambda c, _: [c, made] if c.name == last else [c])


def _due(values: Sequence[str], valued: bool) -> list[tuple[float, str, bool | float | None]]:
    """What is to be set or triggered and when, from NAME=VALUE@SECONDS or NAME@SECONDS."""
    out: list[tuple[float, str, bool | float | None]] = []
    for text in values:
        said, at, when = text.partition("@")
        name, equals, value = said.partition("=")
        number: bool | float | None = None
        try:
            moment = float(when) if at else 0.0
            if valued:
                known = {"true": True, "false": False}
                number = known[value.lower()] if value.lower() in known else float(value)
        except ValueError:
            moment = -1.0
        if moment < 0 or not name or bool(equals) != valued:
            raise UsageError(
                f"expected {'NAME=VALUE or NAME=VALUE@SECONDS' if valued else 'NAME or NAME@SECONDS'}, got {text!r}"
            )
        out.append((moment, name, number))
    return out


def compress(
    source: Source,
    target: Target,
    /,
    *,
    error: float = 1e-4,
    rate: float | None = None,
    archive: Annotated[bool, Parameter(negative="--playable")] = True,
    clip: Names = None,
    force: Force = False,
) -> None:
    """Pack clips into a tenth to a fiftieth of their room.

    Parameters
    ----------
    error
        How far off any point of the skin may be, in metres.
    rate
        Frames a second; by default those that the clip is keyed at.
    archive
        In a .marrow file: smaller still, expanded when it is loaded; --playable keeps it as it is played.
    """
    lines: list[str] = []

    def change(c: Clip, character: Character) -> Clip:
        made = c.compressed(error=error, rate=rate, character=character if character.meshes else None)
        motion = made.packed
        assert motion is not None
        lines.append(
            f"{c.name}: {motion.ratio:.1f} times smaller than its frames "
            f"({motion.raw_bytes / len(motion.archived()):.1f} as an archive), "
            f"off by {motion.error * 1000:.3f} mm"
        )
        return made

    packs = target.suffix.lower() == ".marrow"
    _edit(source, target, clip, force, change, {"archive": archive} if packs else None)
    for line in lines:
        say(line)
    if not packs:
        say(f"{target.suffix} files hold keys: only .marrow keeps clips packed")
