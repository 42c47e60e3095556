"""`marrow convert`."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from marrow.cli._errors import UsageError, note

if TYPE_CHECKING:
    from marrow.model import Character

__all__ = ["convert"]


def convert(
    source: Annotated[str, Parameter(name="IN")],
    target: Annotated[Path, Parameter(name="OUT")],
    /,
    *,
    clip: Annotated[list[str] | None, Parameter(negative=())] = None,
    clips_from: Annotated[list[Path] | None, Parameter(negative=(), consume_multiple=True)] = None,
    influences: Annotated[int | None, Parameter(name=("--influences", "--max-influences"))] = None,
    joints: Annotated[list[str] | None, Parameter(negative=(), consume_multiple=True)] = None,
    fps: float | None = None,
    scale: float | None = None,
    axes: str | None = None,
    compress: Literal["meshopt", "quantized", "draco"] | None = None,
    variant: str | None = None,
    split: Annotated[bool, Parameter(negative=())] = False,
    allow_outside: Annotated[bool, Parameter(negative=())] = False,
    force: Annotated[bool, Parameter(name=("--force", "-f"), negative=())] = False,
) -> None:
    """Convert a character to .glb, .gltf, .vrm, .usda, .usdc, .bvh, .obj, .ply or .marrow.

    Parameters
    ----------
    source
        Any file marrow reads, or the name of a sample.
    target
        The file to write; its suffix says the format.
    clip
        Keep only the clip of this name; may be given several times.
    clips_from
        More files, whose clips are fitted to this skeleton (see marrow retarget).
    influences
        Keep only the strongest influences of every vertex.
    joints
        Write only the joints of these names or patterns (BVH); by default all that are bones.
    fps
        Frames a second for motion that is baked: read from FBX, written to BVH.
    scale
        Multiply all lengths, for files whose unit is wrong.
    axes
        Write in the axes and units of another program: unreal, unity, blender, d3d, maya, 3dsmax.
    compress
        Make a .glb, .gltf or .vrm smaller, for programs that know how: meshopt packs without loss, quantized stores
        vertices in fewer bits first, draco packs meshes its own way. What that costs is measured and said.
    variant
        Write the character in this one of its material variants.
    split
        Write a .glb or .gltf for each level of detail: OUT, OUT_lod1, OUT_lod2...
    allow_outside
        Let a file refer to others outside its own folder.
    force
        Replace OUT if it exists.
    """
    from marrow.cli._files import chosen_clips, in_world, open_character, writable
    from marrow.cli._output import bytes_text
    from marrow.errors import FormatError
    from marrow.io import registry, save

    try:
        form = registry.for_writing(target)
    except FormatError as error:
        raise UsageError(str(error)) from None
    writable(target, force=force)
    character = open_character(
        source,
        clips=clips_from or (),
        influences=influences,
        rate=fps,
        scale=scale,
        allow_outside=allow_outside,
    )
    if variant is not None:
        character = character.with_variant(variant)
    if axes is not None:
        character = in_world(character, axes)
    kept = chosen_clips(character, clip)
    if clip:
        character = character.replace(clips=tuple(kept))
    options: dict[str, Any] = {"rate": fps, "joints": joints} if form.name == "BVH" else {}
    if compress and form.name != "glTF":
        raise UsageError("--compress is for .glb, .gltf and .vrm files")
    if compress:
        options["compress"] = compress
    if split and form.name != "glTF":
        raise UsageError("--split is for .glb and .gltf files")
    if split:
        options["levels"] = "split"
    if joints and form.name != "BVH":
        raise UsageError("--joints chooses what goes into a .bvh file")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        save(character, target, **options)
    for loss in _losses(form.name, character):
        note(f"{target}: {loss}")
    if compress in ("quantized", "draco"):
        from marrow.cli._losses import lost_in_compression

        note(f"{target}: {lost_in_compression(character, target, compress)}")
    for warning in caught:
        note(f"{target}: {warning.message}")
    for line in character.report:
        if line.kind != "info":
            note(f"{source}: {line}")
    print(f"{target}: {form.name}, {bytes_text(target.stat().st_size)}")


def _losses(format_name: str, character: Character) -> list[str]:
    from marrow.cli._losses import lost_in_bvh, lost_in_viewers

    if format_name == "BVH":
        return lost_in_bvh(character)
    return lost_in_viewers(character) if format_name == "glTF" else []
