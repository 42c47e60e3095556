"""`marrow convert`."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from marrow.cli._errors import FINE, UsageError, note
from marrow.cli._output import say

if TYPE_CHECKING:
    from marrow.dataset.file_batch import Making
    from marrow.model import Character

__all__ = ["convert"]


def convert(
    files: Annotated[list[str], Parameter(name="IN... OUT", negative=())],
    /,
    *,
    to: str | None = None,
    clip: Annotated[list[str] | None, Parameter(negative=())] = None,
    clips_from: Annotated[list[Path] | None, Parameter(negative=(), consume_multiple=True)] = None,
    influences: Annotated[int | None, Parameter(name=("--influences", "--max-influences"))] = None,
    joints: Annotated[list[str] | None, Parameter(negative=(), consume_multiple=True)] = None,
    rate: float | None = None,
    scale: float | None = None,
    units: Literal["metres", "m", "cm", "mm", "in", "ft"] | None = None,
    up: Literal["y", "z"] | None = None,
    facing: str | None = None,
    calibration: Literal["drop", "keep"] | None = None,
    axes: str | None = None,
    compress: Literal["meshopt", "quantized", "quantized+meshopt", "draco", "clips", "clips+meshopt"]
    | None = None,
    variant: str | None = None,
    subdivide: str | None = None,
    split: Annotated[bool, Parameter(negative=())] = False,
    workers: int = 0,
    on: str | None = None,
    json: Annotated[bool, Parameter(negative=())] = False,
    allow_outside: Annotated[bool, Parameter(negative=())] = False,
    force: Annotated[bool, Parameter(name=("--force", "-f"), negative=())] = False,
) -> int:
    """Convert a character to .glb, .gltf, .vrm, .fbx, .usda, .usdc, .usdz, .bvh, .obj, .ply, .marrow; or many to a folder.

    Parameters
    ----------
    files
        What to convert: any file marrow reads, the name of a sample, or several and folders of them. Then the file to
        write, whose suffix says the format, or for several the folder.
    to
        For a folder: the format of its files, by suffix (default: glb).
    clip
        Keep only the clip of this name; may be given several times.
    clips_from
        More files, whose clips are fitted to this skeleton (see marrow retarget).
    influences
        Keep only the strongest influences of every vertex.
    joints
        Write only the joints of these names or patterns (BVH); by default all that are bones.
    rate
        Frames a second for motion that is baked: read from FBX, written to BVH and FBX.
    scale
        Multiply all lengths, for files whose unit is wrong.
    units
        metres: make metres of the lengths of a BVH, whose unit is told by the size of the body. m, cm, mm, in, ft: what an
        .fbx is written in (default: cm).
    up
        The axis that is up in an .fbx (default: y).
    facing
        Turn the character, clips and all, to look along this axis: +z, -z, +x, -x.
    calibration
        Leave out a T-pose before the motion, as capture software writes it, or keep it. By default it is left out of
        files of --clips-from, and in IN it is kept with a note.
    axes
        Write in the axes and units of another program: unreal, unity, blender, d3d, maya, 3dsmax; for .fbx also three.js.
    compress
        Make a .glb, .gltf or .vrm smaller, for programs that know how: quantized stores vertices in fewer bits, meshopt
        packs without loss, quantized+meshopt does both, draco packs meshes its own way. What that costs is measured and
        said. clips: motion within 0.1 mm on the skin, with fewer keys (.fbx too; clips+meshopt packs them); in a .marrow
        packed.
    variant
        Write the character in this one of its material variants.
    subdivide
        Subdivide the meshes so many times (1 to 6), or where and as often as the file says: file.
    split
        Write a .glb or .gltf for each level of detail: OUT, OUT_lod1, OUT_lod2...
    workers
        For a folder: processes that share the files (0: none, all in this one).
    on
        For a folder: a Ray cluster that does it, "ray" or "ray://HOST:10001".
    json
        Print what was written and what is worth knowing about it as JSON.
    allow_outside
        Let a file refer to others outside its own folder.
    force
        Replace OUT if it exists; convert all anew.
    """
    from marrow.cli._many import into_folder, is_folder
    from marrow.cli._output import print_json
    from marrow.cli._progress import working

    if len(files) < 2:
        raise UsageError("expected IN... OUT: what to convert, and the file or folder to write")
    *sources, last = files
    target = Path(last)
    options: dict[str, Any] = {
        "subdivide": subdivide, "clip": clip, "clips_from": [str(path) for path in clips_from or ()], "influences":
        influences, "joints": joints,
        "rate": rate, "scale": scale, "facing": facing, "units": units, "up": up, "calibration": calibration, "axes": axes,
        "compress": compress, "variant": variant, "split": split, "allow_outside": allow_outside,
    }  # fmt: skip
    if is_folder(sources, target, to):
        if split:
            raise UsageError("--split is for one file")
        return into_folder(
            "marrow.cli.convert:convert_file",
            sources,
            target,
            to or "glb",
            options,
            workers=workers,
            on=on,
            force=force,
            json=json,
        )
    if workers or on:
        raise UsageError("--workers and --on are for several files and a folder")
    writable_or_refused(target, force)
    with working(f"convert {sources[0]}"):
        lines, text = converted(sources[0], target, options)
    if json:
        print_json({"source": sources[0], "file": str(target), "notes": lines, "text": text})
        return FINE
    for line in lines:
        note(line)
    say(f"{target}: {text}")
    return FINE


def writable_or_refused(target: Path, force: bool) -> None:
    """Says what is wrong with the file to write before any work is done."""
    from marrow.cli._files import writable
    from marrow.errors import FormatError
    from marrow.io import registry

    try:
        registry.for_writing(target)
    except FormatError as error:
        raise UsageError(str(error)) from None
    writable(target, force=force)


def convert_file(source: str, making: Making, options: dict[str, Any]) -> dict[str, Any]:
    """One of many files. For `marrow.dataset.file_batch`."""
    name = options["name"]
    with making(name) as path:
        lines, text = converted(source, path, options)
        lines = [line.replace(str(path), name) for line in lines]
    return {"file": name, "notes": lines, "text": text}


def converted(source: str, target: Path, wishes: dict[str, Any]) -> tuple[list[str], str]:
    """Writes `source` to `target`; lines worth knowing, and what was written in words."""
    from marrow.cli._captured import named_take, without_surprises
    from marrow.cli._files import chosen_clips, in_world, open_character, subdivide_wish
    from marrow.cli._output import bytes_text
    from marrow.io import registry, save

    form = registry.for_writing(target)
    for_file = wishes["units"] not in (None, "metres") or wishes.get("up") is not None
    if for_file and form.name != "FBX":
        raise UsageError("--up, and --units other than metres, are for .fbx files")
    clip, rate, joints, compress = wishes["clip"], wishes["rate"], wishes["joints"], wishes["compress"]
    character = open_character(
        source,
        clips=wishes["clips_from"],
        influences=wishes["influences"],
        rate=rate,
        scale=wishes["scale"],
        facing=wishes["facing"],
        units=wishes["units"] if wishes["units"] == "metres" else None,
        calibration=wishes["calibration"] or "drop",
        subdivide=subdivide_wish(wishes.get("subdivide")),
        allow_outside=wishes["allow_outside"],
    )
    if clip:
        character = character.replace(clips=tuple(chosen_clips(character, clip)))
    character = named_take(character, source)
    character, surprises = without_surprises(character, source, wishes["calibration"], form.name)
    if wishes["variant"] is not None:
        character = character.with_variant(wishes["variant"])
    if wishes["axes"] is not None and form.name != "FBX":
        character = in_world(character, wishes["axes"])
    options: dict[str, Any] = {"rate": rate, "joints": joints} if form.name == "BVH" else {}
    if form.name == "FBX":  # the file says its axes and units, and programs heed that
        unit = wishes["units"] if wishes["units"] != "metres" else None
        options = {"rate": rate, "units": unit, "up": wishes.get("up"), "preset": wishes["axes"]}
    if form.name == "USD" and "name" in wishes:  # the file gets its name when it is whole
        options["textures"] = f"{Path(wishes['name']).stem}_textures"
    lines = []
    if compress and form.name not in ("glTF", "marrow") and (form.name, compress) != ("FBX", "clips"):
        raise UsageError(
            "--compress is for .glb, .gltf, .vrm and .marrow files (--compress clips for .fbx too)"
        )
    if compress in ("clips", "clips+meshopt"):
        character, said = compressed_clips(character, form.name)
        lines += [f"{target}: {line}" for line in said]
    if form.name == "marrow" and compress:
        if compress != "clips":
            raise UsageError("of a .marrow file --compress packs clips")
        options["archive"] = True
    elif compress and compress != "clips":
        options["compress"] = compress.removeprefix("clips+")
    if wishes["split"] and form.name != "glTF":
        raise UsageError("--split is for .glb and .gltf files")
    if wishes["split"]:
        options["levels"] = "split"
    if joints and form.name != "BVH":
        raise UsageError("--joints chooses what goes into a .bvh file")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        save(character, target, **options)
    lines += [f"{target}: {loss}" for loss in _losses(form.name, character)]
    if compress not in (None, "meshopt", "clips", "clips+meshopt"):
        from marrow.cli._losses import lost_in_compression

        lines.append(f"{target}: {lost_in_compression(character, target, compress)}")
    lines += [f"{target}: {warning.message}" for warning in caught]
    lines += surprises
    lines += [f"{source}: {line}" for line in character.report if line.kind != "info"]
    return lines, f"{form.name}, {bytes_text(target.stat().st_size)}"


def compressed_clips(character: Character, format_name: str) -> tuple[Character, list[str]]:
    """The clips of a character within 0.1 mm on the skin: packed, or for formats that hold keys with fewer of them;
    and what that cost."""
    from marrow.motion import reduce

    made, before, after, worst = [], 0, 0, 0.0
    for clip in character.clips.values():
        if format_name == "marrow":
            packed = clip.compressed(character=character if character.meshes else None)
            motion = packed.packed
            assert motion is not None
            before, after, worst = (
                before + motion.raw_bytes,
                after + motion.nbytes,
                max(worst, motion.error),
            )
            made.append(packed)
        else:
            fewer = reduce(clip, 1e-4, character)
            before, after, worst = (
                before + fewer.keys_before,
                after + fewer.keys_after,
                max(worst, fewer.error),
            )
            made.append(fewer.clip)
    what = "bytes of frames" if format_name == "marrow" else "keys"
    said = (
        [f"{len(made)} clips: {before:,} {what} -> {after:,}, off by {worst * 1000:.3f} mm at most"]
        if made
        else []
    )
    return character.replace(clips=tuple(made)), said


def _losses(format_name: str, character: Character) -> list[str]:
    from marrow.cli._losses import lost_in_bvh, lost_in_viewers

    if format_name == "BVH":
        return lost_in_bvh(character)
    return lost_in_viewers(character) if format_name == "glTF" else []
