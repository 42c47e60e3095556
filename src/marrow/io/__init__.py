"""Files in and out: `load` reads any format marrow knows, `save` writes what the suffix says."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from marrow.errors import (
    FormatError,
    MarrowError,
    MissingExtraError,
    ResourceLimitError,
    UnknownNameError,
    ValidationError,
    WrongTypeError,
    told_at_the_call,
)
from marrow.io import registry
from marrow.io.source import LoadOptions, Source
from marrow.model import Character, Clip, InfluenceLimit, Mesh, _late, _validate, limit_influences
from marrow.model._asset import twin
from marrow.printing import as_text, is_text, warn
from marrow.report import Report, ReportBuilder, ReportLine

__all__ = ["load", "save"]

PathLike = str | os.PathLike[str]
Loadable = PathLike | bytes | bytearray | memoryview | IO[bytes]
_SAME_LINES = 3
_SAYS_UP = ("SMPL", "motion in numbers")
"""Formats whose readers do what `up` says."""
_SUBDIVIDES = ("FBX",)
"""Formats whose readers subdivide the polygons of the file."""
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


@told_at_the_call
def load(
    path: Loadable,
    *,
    scale: float | None = None,
    clips: PathLike | Iterable[PathLike] = (),
    influences: int | None = None,
    rate: float | None = None,
    facing: str | None = None,
    units: str | None = None,
    calibration: str = "drop",
    motion: str | None = None,
    up: str | None = None,
    scene: str | int | None = None,
    subdivide: int | str | None = None,
    variants: str | Iterable[str] = (),
    allow_outside: bool = False,
    cache: bool = True,
) -> Character:
    """The character in a file, whatever its format: `.glb`, `.gltf`, `.fbx`, `.bvh`, `.usd*`, `.marrow`, SMPL bodies
    (`.npz`), robots (`.urdf`, MJCF's `.xml`), models without joints (`.obj`, `.ply`); or a sample by its name
    (`"mannequin"`), where there is no file of that name.
    Motion alone becomes a skeleton with clips: AMASS, HumanML3D, Kimodo, key points in 3D (`.npy`, `.npz`, `.json`, `.csv`,
    `.trc`, `.c3d`).

    `path` may also be the bytes of a file, a file that is open for reading, or a URL (`https://...`, `s3://...`:
    through fsspec, `pip install 'marrow-engine[remote]'`). Those have no neighbours: what they refer to is missing.

    - `scale` multiplies all lengths, for files whose units are wrong (`scale=0.01`)
    - `clips`: more files, whose clips are fitted to this character (see `mw.retarget`); of a robot joint angles too
      (`.csv`, `.npz`)
    - `influences` keeps only the strongest influences of every vertex
    - `rate`: frames a second, for formats whose motion is baked (None: the file's own, at least 30), and of motion in bare
      numbers, which seldom say it
    - `facing="+z"` turns the character to look along that axis, clips and all (see `Character.turned_to`)
    - `units="metres"` converts a file that has other units (a BVH: its `character.unit` says which)
    - `calibration="keep"` keeps a T-pose before the motion in those of `clips`, which is left out otherwise
    - `motion` says what bare numbers are where they do not tell: `"coco"`, `"h36m"`, `"mediapipe"`, `"body25"`,
      `"smpl-joints"`, `"humanml3d"`, `"smpl"`, ...; `"markers"`: every point is a joint of its own
    - `up="z"` says which axis is up in the file, and rights it: for BVH and others that do not say it
    - `scene`: which of several scenes of a glTF file, by its name or number; None: the one that the file says
    - `subdivide=2` subdivides the meshes twice (Catmull-Clark, see `mw.subdivide`), of an FBX file its polygons with
    their creases;
      `"file"`: where and as often as the file says
    - `variants` chooses those of a USD stage: `"red"`, or `"look=red"`, or several of them; the report lists what there is
    - `allow_outside` lets the file refer to others outside its own folder
    - `cache=False` neither looks into the cache nor writes to it

    What was repaired or left out is in `character.report`; a file that cannot be read raises `FormatError`.
    """
    given: Any = (variants,) if isinstance(variants, str) else variants
    options = LoadOptions(scale, influences, rate, allow_outside, motion, up, scene, subdivide, given)
    extra = _paths("load: clips", [clips] if isinstance(clips, (str, os.PathLike)) else clips)
    _validate.one_of("load", "calibration", calibration, ("drop", "keep"))
    if units is not None:
        _validate.one_of("load", "units", units, ("metres",))
    character = _load_one(path, options, _validate.flag("load", "cache", cache))
    if units is not None:
        character = character.in_metres()
    if facing is not None:
        character = character.turned_to(facing)
    if extra:
        from marrow.io.clips import with_angles_of, with_clips_of

        others = LoadOptions(scale, None, rate, allow_outside, motion)
        for name in extra:
            if (angles := with_angles_of(character, name, rate)) is not None:
                character = angles
                continue
            character = with_clips_of(
                character, _load_one(name, others, cache), name, calibration=calibration
            )
    return character


@told_at_the_call
def save(character: Character | Clip | Any, path: PathLike, **options: Any) -> None:
    """Writes the character in the format of the suffix: `.glb`, `.gltf`, `.fbx`, `.vrm`, `.usda`, `.usdc`, `.usdz`,
    `.marrow`, `.bvh` and `.vrma` (motion only; a clip alone may be given), `.obj` and `.ply` (the surface in one pose, or
    one file a frame), `.xml` (MJCF); of a robot `.csv` and `.npz` (joint angles).

    A `Scene`, an `Actor` or an `Animator` is written as USD, every instance a `SkelRoot` that shares its character and its
    clips: `mw.save(scene, "crowd.usdc", seconds=4, rate=30)`.

    The file takes its place when it is whole; on an error nothing is left behind. `options` are the writer's
    own.
    """
    if isinstance(character, Clip):
        character = Character(character.skeleton, clips=[character], name=character.name)  # type: ignore[arg-type]
    (target,) = _paths("save: path", [path])
    if not isinstance(character, Character) and _late.function("scene.recording", "is_scene")(character):
        write_scene = _late.function("scene.recording", "save_scene")
        for name in options:
            if name not in ("seconds", "rate", "textures"):
                raise UnknownNameError("option of a scene's file", name, ["seconds", "rate", "textures"])
        write_scene(character, target, **options)
        return
    _validate.instance("save", "character", character, Character)
    form = registry.for_writing(target)
    write = form.load_module().write
    parameters = inspect.signature(write).parameters
    known = list(parameters)[2:]
    handed_on = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    for name in options:
        if name not in known and not handed_on:
            raise UnknownNameError(f"option of a {target.suffix} file", name, known)
    try:
        write(character, target, **options)
    except MarrowError:
        raise
    except UnicodeEncodeError as error:
        word = str(error.object)[max(error.start - 30, 0) : error.end + 30]
        raise FormatError(
            f"a name in the character is no text that a file can hold: {word!r}",
            path=target,
            remedy="give it another name",
        ) from None
    except RecursionError:
        raise ResourceLimitError("cannot be written: it is nested too deeply", path=target) from None
    except MemoryError:
        raise ResourceLimitError("needs more memory than there is to be written", path=target) from None
    if character.skeleton.hinges and form.name not in ("marrow", "MJCF", "joint angles"):
        count = len(character.skeleton.hinges)
        warn(f"save: {form.name} has no place for the {count} hinges of the robot: they are left out")


def _paths(what: str, given: Any) -> list[Path]:
    if not isinstance(given, Iterable):
        raise WrongTypeError(f"{what}: expected a path or several, got {_validate.shown(given)}")
    out = []
    for path in given:
        if not isinstance(path, (str, os.PathLike)):
            raise WrongTypeError(f"{what}: expected a path, got {_validate.shown(path)}")
        out.append(Path(path))
    return out


def _load_one(what: Loadable, options: LoadOptions, cache: bool) -> Character:
    return load_source(_source(what, options), options, cache=cache)


def _source(what: Loadable, options: LoadOptions) -> Source:
    """The bytes to read, wherever they are."""
    if isinstance(what, (bytes, bytearray, memoryview)):
        return Source.of_bytes(bytes(what), "bytes")
    if isinstance(what, str) and _URL.match(what):
        return _fetched(what)
    if isinstance(what, (str, os.PathLike)):
        sample = _late.function("samples", "file_of")(what)
        if sample is not None:
            return Source.open(sample)
        return Source.open(Path(what), allow_outside=options.allow_outside)
    if hasattr(what, "read"):
        data = what.read()
        if not isinstance(data, bytes):
            raise WrongTypeError("load: a file must be open for reading bytes: open(path, 'rb')")
        return Source.of_bytes(data, str(getattr(what, "name", "file")))
    raise WrongTypeError(f"load: expected a path, bytes, an open file or a URL, got {type(what).__name__}")


def _fetched(url: str) -> Source:
    try:
        import fsspec
    except ImportError:
        raise MissingExtraError("fsspec", "remote", "loading from a URL") from None
    try:
        with fsspec.open(url, "rb") as file:
            data = file.read()
    except Exception as error:  # every backend has errors of its own
        raise FormatError(f"cannot be fetched: {type(error).__name__}: {error}", path=url) from None
    return Source.of_bytes(data, url.partition("?")[0])


def load_source(source: Source, options: LoadOptions | None = None, *, cache: bool = True) -> Character:
    """`load` for a file that is at hand, with its own way to the files it refers to."""
    from marrow.io import cache as _cache  # readers in processes of their own need none of these
    from marrow.io.tangents import with_tangents

    options, path = options or LoadOptions(), source.path
    form = registry.identify(source.data, path)
    if options.variants and form.name != "USD":
        raise ValidationError(
            f"load: variants are those of USD stages, and this is {form.name}; character.with_variant chooses materials"
        )
    entry = _cache.entry(source, form.name, options) if cache and form.name != "marrow" else None
    character = entry.load() if entry else None
    if character is None:
        try:
            character = form.load_module().read(source, options)
        except RecursionError:
            raise ResourceLimitError("is nested too deeply", path=path) from None
        except MemoryError:
            raise ResourceLimitError("needs more memory than there is", path=path) from None
        if isinstance(options.subdivide, int) and form.name not in _SUBDIVIDES:
            from marrow.lod.subdivided_meshes import subdivide

            character = subdivide(character, options.subdivide)
        character = _gathered(with_tangents(_limited(_named(character), options.influences)))
        character = _righted(character, options.up) if form.name not in _SAYS_UP else character
        character = _with_facing(character)
        if entry:
            entry.store(character)
    name = character.name or path.stem
    return twin(character, name=name if is_text(name) else as_text(name), source=str(path))


def _named(character: Character) -> Character:
    """The character with a name that can be written; one it has from its file may have bytes in it that are no UTF-8."""
    return character if is_text(character.name) else character.replace(name=as_text(character.name))


def _righted(character: Character, up: str | None) -> Character:
    """The character with Y up, of a file in which another axis is."""
    if up is None or up == "y":
        return character
    made = character.converted(up=up, back=True)
    return made.replace(
        report=character.report + Report((ReportLine("info", "up", f"{up} was up: it was turned to Y up"),))
    )


def _with_facing(character: Character) -> Character:
    """The character with a line in its report where it does not look along +Z, or nothing tells where it does. To find that
    out takes longer than to read most files: it is done when somebody reads the report."""

    from marrow.motion.facing import facing_line, only_rigid

    # Not the whole of it: a report that nobody reads would keep meshes and images alive.
    known, rigid = character.report, only_rigid(character)
    light = twin(character, meshes=(), materials=(), images=(), report=Report())

    def told() -> Report:
        from marrow.motion.up_axis import up_line

        line, lies = facing_line(light, rigid=rigid), up_line(light)
        report = ReportBuilder()
        report.extend(known)
        if lies is not None:
            report.add("warning", "up", lies)
        if line is not None and all(other.place != "facing" for other in known):
            report.add("info", "facing", line)
        return report.build()

    return twin(character, report=Report.later(told))


def _gathered(character: Character) -> Character:
    """The character with one line in its report for what was said of many places in the same words."""
    places: dict[tuple[str, str], list[str]] = {}
    for line in character.report:
        places.setdefault((line.kind, line.message), []).append(line.place)
    if all(len(found) <= _SAME_LINES for found in places.values()):
        return character
    report = ReportBuilder()
    for (kind, message), found in places.items():
        if len(found) > _SAME_LINES:
            report.add(kind, f"{', '.join(found[:2])} and {len(found) - 2} more", message)  # type: ignore[arg-type]
        else:
            for place in found:
                report.add(kind, place, message)  # type: ignore[arg-type]
    return character.replace(report=report.build())


def _limited(character: Character, count: int | None) -> Character:
    """The character with at most `count` influences per vertex, and a line in the report for each mesh that
    lost some.
    """
    if count is None:
        return character
    report = ReportBuilder()
    done: dict[tuple[int, int], InfluenceLimit] = {}

    def limited(mesh: Mesh) -> Mesh:
        key = (id(mesh.joints), id(mesh.weights))
        if key in done:  # one mesh on several nodes
            return mesh.replace(joints=done[key].mesh.joints, weights=done[key].mesh.weights)
        limit = done[key] = limit_influences(mesh, count)
        if limit.vertices_changed:
            report.add(
                "info",
                f"mesh {mesh.name!r}",
                f"{limit.vertices_changed} vertices limited to {count} influences; the most one vertex lost "
                f"is {limit.largest_total_dropped:.3g} of its weight",
            )
        return limit.mesh

    changed = character.with_meshes(limited)
    return changed.replace(report=character.report + report.build())
