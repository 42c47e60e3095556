"""`marrow retarget`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from marrow.cli._errors import BAD_CALL, BAD_FILE, FINE, UsageError, note, show_error
from marrow.cli._output import say

if TYPE_CHECKING:
    from marrow.model import Character, Clip
    from marrow.motion import MotionQuality, Retargeter

__all__ = ["retarget"]


def retarget(
    files: Annotated[list[str], Parameter(negative=())],
    /,
    *,
    output: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None,
    clip: Annotated[list[str] | None, Parameter(negative=())] = None,
    map: Annotated[Path | None, Parameter(name="--map")] = None,
    save_map: Path | None = None,
    profile: Path | None = None,
    save_profile: Path | None = None,
    ignore_profile: Annotated[bool, Parameter(negative=())] = False,
    show: Annotated[bool, Parameter(negative=())] = False,
    contacts: bool | None = None,
    hands: bool | None = None,
    scale: float | None = None,
    units: float | None = None,
    rate: float | None = None,
    calibration: Literal["drop", "keep"] = "drop",
    motion: str | None = None,
    motion_rate: float | None = None,
    up: str | None = None,
    motion_only: Annotated[bool, Parameter(negative=())] = False,
    report: Annotated[bool, Parameter(negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
    html: Path | None = None,
    max_drift: float | None = None,
    max_sink: float | None = None,
    max_skate: float | None = None,
    max_reach: float | None = None,
    max_slide: float | None = None,
    max_knee: float | None = None,
    allow_outside: Annotated[bool, Parameter(negative=())] = False,
    force: Annotated[bool, Parameter(name=("--force", "-f"), negative=())] = False,
) -> int:
    """Put the motion of files on a character.

    Parameters
    ----------
    files
        Files with motion, then the character: MOTION... CHARACTER. Names of samples work too.
    output
        The file to write: the character with the clips added; of a robot (URDF, MJCF) also its joint angles (.csv, .npz).
        A folder gets one file for each MOTION.
    clip
        Take only the clip of this name; may be given several times.
    map
        A bone map (JSON) to use instead of the one that is found.
    save_map
        Write the bone map of the first MOTION here, to be edited and passed with --map.
    profile
        A retarget profile (JSON) of the character, instead of the one beside its file (hero.retarget.json beside hero.glb).
    save_profile
        Write the profile of the character here as it is used, to be edited: beside the character it is found by itself.
    ignore_profile
        Use no profile, whatever lies beside the files.
    show
        Print the bone map and write nothing.
    contacts
        Keep planted feet planted (--contacts) or leave them (--no-contacts); by default where proportions differ.
    hands
        Keep hands where they touch each other, the own body or the ground (--hands) or not (--no-hands); by default where
        feet are planted.
    scale
        Multiply travel and height by this instead of the ratio of leg lengths.
    units
        Metres per unit of the motion, where its size cannot be told.
    rate
        Frames a second of the result; by default those of the motion.
    calibration
        Leave out a T-pose before the motion, as capture software writes it, or keep it.
    motion
        What bare numbers are where they do not tell: coco, h36m, mediapipe, body25, smpl-joints, humanml3d, smpl, kimodo.
    motion_rate
        Frames a second of bare numbers, which seldom say it.
    up
        The axis that is up in MOTION where the file does not say it, such as z.
    motion_only
        Write the skeleton and its new clips without the meshes and clips of the character.
    report
        Print how good each clip's feet are, before and after.
    json
        Print that report as JSON.
    html
        Write that report as a page with pictures of each figure's worst moment.
    max_drift
        Fail when a planted foot moves further than this, in metres.
    max_sink
        Fail when the skin of a foot sinks deeper than this, in metres.
    max_skate
        Fail when the feet slide in more than this share of the frames they are down.
    max_reach
        Fail when a hand is further than this from where the source's is, in lengths of the arm.
    max_slide
        Fail when the sole of a planted foot slides further than this on the skin, in metres.
    max_knee
        Fail when a knee bends faster than this many times the source's fastest.
    allow_outside
        Let files refer to others outside their own folder.
    force
        Replace files that exist.
    """
    from marrow.cli._files import chosen_clips, open_character, writable
    from marrow.cli._motion_page import MotionPage
    from marrow.cli._progress import working
    from marrow.errors import FormatError, MarrowError, UnknownNameError, ValidationError
    from marrow.io import registry
    from marrow.motion import retarget_profile
    from marrow.motion.profile import as_profile

    if len(files) < 2:
        raise UsageError("expected MOTION... CHARACTER: at least one file with motion and a character")
    *motions, target = files
    wanted = (
        output is not None or show or save_map is not None or save_profile is not None or report or json
    ) or html is not None
    if not wanted:
        raise UsageError(
            "nothing to do: give -o OUT, --show, --save-map FILE, --save-profile FILE, --report or --html FILE"
        )
    if ignore_profile and profile is not None:
        raise UsageError("--profile and --ignore-profile: one of them")
    folder = output is not None and (
        output.is_dir() or (not output.suffix and len(motions) > 0 and not output.exists())
    )
    if output is not None and not show:
        if not folder:
            try:
                registry.for_writing(output)
            except FormatError as error:
                raise UsageError(str(error)) from None
        writable(output, force=force or folder, folder=folder)
    for file in (save_map, save_profile, html):
        if file is not None:
            writable(file, force=force)
    character = open_character(target, allow_outside=allow_outside)
    given = None if ignore_profile else "auto" if profile is None else profile
    known, _ = as_profile(given, character)
    if save_profile is not None:
        (retarget_profile(character) if known is None else known).save(save_profile)
    limits = {
        "drift": max_drift,
        "sink": max_sink,
        "skate": max_skate,
        "reach": max_reach,
        "slide": max_slide,
    }
    limits["knee speed"] = max_knee
    code, added = FINE, character
    told: list[dict[str, Any]] = []
    page = None if html is None else MotionPage(target)
    if folder and output is not None and not show:
        output.mkdir(parents=True, exist_ok=True)
    for name in motions:
        try:
            source = open_character(name, allow_outside=allow_outside, motion=motion, rate=motion_rate, up=up)
            tool = _tool(source, character, name, target, map, given, scale, units)
            if save_map is not None and not told:
                tool.map.save(save_map)
            if show:
                say(f"{name} -> {target}")
                print(tool.map)
            with working(f"retarget {name}, {motions.index(name) + 1} of {len(motions)} files"):
                made, found = _clips(tool, source, clip, contacts, hands, rate, calibration)
        except MarrowError as error:
            show_error(error if str(error).startswith(name) else f"{name}: {error}")
            if page is not None:
                page.failed(name, str(error))
            code = max(
                code,
                BAD_CALL if isinstance(error, (UsageError, ValidationError, UnknownNameError)) else BAD_FILE,
            )
            continue
        for line in tool.report:
            note(f"{name}: {line}")
        for text in (text for quality in found for text in _over(quality, limits)):
            show_error(f"{name}: {text}")
            code = max(code, BAD_FILE)
        told.append({"file": name, "clips": [q.to_dict() for q in found]})
        if page is not None:
            with working(f"draw {name}"):
                page.add(name, tool, source, character, chosen_clips(source, clip), made)
        if report and not json:
            for quality in found:
                say(f"{name}: {quality}")
            if len(found) < len(made):
                say(f"{name}: {len(made) - len(found)} clips move no body with two legs: nothing to measure")
        if folder and output is not None and not show:
            _write(
                _with(_bare(character, motion_only), made, Path(name)),
                output / f"{Path(name).stem}.glb",
                force,
            )
        else:
            added = _with(added, made, Path(name))
    if json:
        from marrow.cli._output import print_json

        print_json(told)
    if page is not None and html is not None:
        page.write(html)
    if output is not None and not folder and not show and told:
        if motion_only or registry.for_writing(output).name == "joint angles":
            added = _bare(added, True).replace(
                clips=tuple(list(added.clips.values())[len(character.clips) :])
            )
        _write(added, output, force)
    return code


def _tool(
    source: Character,
    character: Character,
    name: str,
    target: str,
    map: Path | None,
    profile: Path | str | None,
    scale: float | None,
    units: float | None,
) -> Retargeter:
    from marrow.io.clips import all_tracks
    from marrow.motion import Retargeter

    return Retargeter(
        source,
        character,
        map=map,
        profile=profile,
        scale=scale,
        units=units,
        clip=all_tracks(source),
        names=(Path(name).name, Path(target).name),
    )


def _clips(
    tool: Retargeter,
    source: Character,
    names: list[str] | None,
    contacts: bool | None,
    hands: bool | None,
    rate: float | None,
    calibration: str,
) -> tuple[list[Clip], list[MotionQuality]]:
    from marrow.cli._files import chosen_clips

    made, found = [], []
    for clip in chosen_clips(source, names):
        result = tool.retarget(
            clip,
            contacts="auto" if contacts is None else contacts,
            hands="auto" if hands is None else hands,
            rate=rate,
            calibration=calibration,
        )
        made.append(result)
        quality = tool.quality(clip, result)
        if quality is not None:
            found.append(quality)
    return made, found


def _over(quality: MotionQuality, limits: dict[str, float | None]) -> list[str]:
    out = []
    seen = quality.visible
    others = {
        "reach": (quality.reach, None),
        "sink": (quality.result.sink, seen.sink_at),
        "slide": (seen.slide, seen.slide_at),
        "knee speed": (seen.knee_ratio, seen.knee_speed_at),
    }
    for name, limit in limits.items():
        value, time = others[name] if name in others else (getattr(quality.result, name), None)
        if limit is None:
            continue
        if value is None:
            out.append(f"clip {quality.clip!r}: {name} cannot be measured: a hand is missing here or there")
        elif value > limit:
            when = "" if time is None else f" at {time:.2f} s"
            out.append(f"clip {quality.clip!r}: {name} is {value:.4g}{when}, more than {limit:.4g}")
    return out


def _bare(character: Character, motion_only: bool) -> Character:
    return character.replace(meshes=(), clips=(), materials=(), images=()) if motion_only else character


def _with(character: Character, clips: list[Clip], path: Path) -> Character:
    from marrow.io.clips import named_clips

    added = named_clips(clips, path, set(character.clips))
    return character.replace(clips=(*character.clips.values(), *added))


def _write(character: Character, path: Path, force: bool) -> None:
    from marrow.cli._files import writable
    from marrow.cli._output import bytes_text
    from marrow.io import registry, save

    writable(path, force=force)
    form = registry.for_writing(path)
    save(character, path)
    say(f"{path}: {form.name}, {bytes_text(path.stat().st_size)}, {len(character.clips)} clips")
