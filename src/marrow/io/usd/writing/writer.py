"""A `Character` as a USD stage: UsdSkel skeleton, skinned meshes, blend shapes, clips and preview materials.

All joints are one Skeleton below a SkelRoot. The first clip is bound to it; the others lie beside it as SkelAnimations,
since a stage has one timeline. What USD has no words for goes into notes (`marrow.io.usd.notes`), so that reading the
stage back gives the character that was saved; what other programs will not see is a warning each.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from marrow.errors import FormatError, MissingExtraError, ValidationError
from marrow.io.atomic import replacing
from marrow.io.losses import Losses
from marrow.io.usd.notes import RootNotes, put, sign
from marrow.io.usd.stage import first_line
from marrow.io.usd.values import PrimNames, define
from marrow.io.usd.writing.cameras import write_placed
from marrow.io.usd.writing.clips import animated, write_clip, write_rest
from marrow.io.usd.writing.materials import WrittenPictures, write_material
from marrow.io.usd.writing.meshes import MeshWriter
from marrow.io.usd.writing.package import write_package
from marrow.io.usd.writing.skeleton import Channels, bound, joint_tokens, write_skeleton
from marrow.model import Character, _validate
from marrow.model.constraints import constraint_to_data
from marrow.printing import is_text

__all__ = [
    "WrittenCharacter",
    "errors_of_usd",
    "export",
    "new_stage",
    "texture_folder",
    "write",
    "write_character",
]


def write(
    character: Character, path: Path | str, *, rate: float | None = None, textures: str | None = None
) -> None:
    """Writes the stage (`.usda`, `.usdc`, `.usd` or `.usdz`); its textures lie in a folder beside it, or in the package.

    `rate` samples clips at so many frames a second, where they would else keep their keys. `textures` names the folder
    (None: that of the file and `_textures`).
    """
    try:
        import pxr.Usd  # noqa: F401
    except ImportError:
        raise MissingExtraError("usd-core", "usd", "writing USD files") from None
    if rate is not None:
        rate = _validate.frame_rate("save", rate)
    target = Path(path)
    if not target.parent.is_dir():
        raise FormatError(f"cannot be written: no folder {target.parent}", path=target)
    losses = Losses()
    package = target.suffix.lower() == ".usdz"
    folder = "textures" if package else texture_folder(target, textures)
    pictures = WrittenPictures.of(character.images, folder, losses, package=package)
    with errors_of_usd(target):
        stage = _stage(character, target, rate, pictures, losses)
        export(stage, target, pictures, package)
    losses.warn()


def texture_folder(target: Path, wanted: str | None) -> str:
    if wanted is None:
        return f"{target.stem}_textures"
    named = isinstance(wanted, str) and wanted not in ("", "..") and Path(wanted).name == wanted
    if not named or not is_text(wanted):
        raise ValidationError(
            f"save: textures must be the name of a folder beside the file, got {_validate.shown(wanted)}"
        )
    return wanted


@contextlib.contextmanager
def errors_of_usd(target: Path) -> Iterator[None]:
    from pxr import Tf

    try:
        yield
    except Tf.ErrorException as error:
        raise FormatError(f"cannot be written: {first_line(error, target)}", path=target) from None
    except UnicodeEncodeError as error:
        raise FormatError(f"a name cannot be written as text: {error}", path=target) from None


@dataclass(frozen=True)
class WrittenCharacter:
    """The prims of a character on a stage, and how its joints and morphs are called there."""

    root: Any
    skeleton: Any
    tokens: list[str]
    channels: Channels


def new_stage() -> Any:
    """An empty stage with Y up, in metres."""
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    return stage


def _stage(
    character: Character, target: Path, rate: float | None, pictures: WrittenPictures, losses: Losses
) -> Any:
    stage = new_stage()
    sign(stage.GetRootLayer())
    written = write_character(stage, character, target, pictures, losses)
    names, top = PrimNames(), str(written.root.GetPath())
    for child in written.root.GetPrim().GetAllChildren():
        names.of(child.GetName(), top)
    scope = f"{top}/{names.of('Animations', top)}"
    codes = _write_clips(
        stage,
        scope,
        character,
        written.skeleton,
        written.tokens,
        written.channels,
        rate,
        names,
        target,
        losses,
    )
    first = next(iter(character.clips.values()), None)
    write_placed(stage, top, character, first, codes, names, target, losses)
    _report_unseen(character, losses)
    return stage


def write_character(
    stage: Any, character: Character, target: Path, pictures: WrittenPictures, losses: Losses
) -> WrittenCharacter:
    """A SkelRoot with skeleton, meshes and materials; clips, cameras and lights are not written."""
    from pxr import UsdGeom, UsdSkel

    names = PrimNames()
    root = UsdSkel.Root.Define(stage, f"/{names.of(character.name or 'Character', '')}")
    stage.SetDefaultPrim(root.GetPrim())
    top = str(root.GetPath())
    channels, binding = Channels.of(character), bound(character, target)
    uses = [*map(animated, character.clips.values()), *binding.joints]
    tokens = joint_tokens(character.skeleton, binding, uses, target)
    where = f"{top}/{names.of('Skeleton', top)}"
    skeleton = write_skeleton(stage, where, character, binding, tokens, channels, target)
    scope = f"{top}/{names.of('Materials', top)}"
    if character.materials:
        UsdGeom.Scope.Define(stage, scope)
    titles = [(names.of(m.name or "material", scope), "Material") for m in character.materials]
    prims = define(stage, scope, titles) if titles else []
    materials = [
        write_material(prim, m, pictures.files, target, losses) for prim, m in zip(prims, character.materials)
    ]
    meshes = MeshWriter(stage, top, character, binding, tokens, channels, materials, names, target, losses)
    meshes.write(skeleton)
    notes = RootNotes(
        character.name,
        pictures.notes,
        [name for name, _ in titles],
        list(character.variants),
        character.extras,
        character.vrm,
        [constraint_to_data(c) for c in character.constraints],
    )
    put(root.GetPrim(), notes, target)
    if character.name and root.GetPrim().GetName() != character.name:
        root.GetPrim().SetDisplayName(character.name)
    return WrittenCharacter(root, skeleton, tokens, channels)


def _report_unseen(character: Character, losses: Losses) -> None:
    """What is in the notes alone, or nowhere."""
    if character.reduced:
        losses.add("", f"the {len(character.reduced)} coarser levels of detail are left out")
    lost = {
        "further attributes of vertices": any(m.attributes for m in character.meshes),
        "morphs of colours and texture coordinates": any(
            t.attributes for m in character.meshes for t in m.morph_targets
        ),
    }
    gone = [what for what, there in lost.items() if there]
    if gone:
        losses.add("", f"{' and '.join(gone)} are left out")
    kept = {
        "material variants": character.variants,
        "expressions, springs and licence of a VRM avatar": character.vrm,
        "constraints": character.constraints,
        "sockets": character.skeleton.sockets,
        "extras": _noted(character.extras),
        "events of clips": any(c.events for c in character.clips.values()),
    }
    unseen = [what for what, there in kept.items() if there]
    if unseen:
        losses.add("", f"other programs do not see its {', '.join(unseen)}: USD has no words for them")


def _noted(extras: dict[str, Any]) -> bool:
    """Whether an author noted something. Names of scenes, skins and textures, which most files have, are no loss."""
    of_things = ("joints", "meshes", "materials", "clips", "images")
    if any(extras.get(kind) for kind in of_things):
        return True
    records = [extras.get(kind) for kind in ("asset", "root", "scene")]
    for kind in ("skins", "textures"):
        group = extras.get(kind)
        records += list(group.values()) if isinstance(group, dict) else []
    known = {*of_things, "asset", "root", "scene", "skins", "textures"}
    return not extras.keys() <= known or any(
        "extras" in r or "copyright" in r for r in records if isinstance(r, dict)
    )


def _write_clips(
    stage: Any,
    scope: str,
    character: Character,
    skeleton: Any,
    tokens: list[str],
    channels: Channels,
    rate: float | None,
    names: PrimNames,
    target: Path,
    losses: Losses,
) -> float:
    """Writes the clips; how many time codes a second has."""
    from pxr import UsdGeom, UsdSkel

    clips = list(character.clips.values())
    rates = [c.rate or c.key_rate for c in clips]
    codes_per_second = float(rate or next((r for r in rates if r and 1 <= r <= 1000), 30.0))
    stage.SetTimeCodesPerSecond(codes_per_second)
    stage.SetFramesPerSecond(codes_per_second)
    weights = character.skeleton.rest.morphs
    if not clips and not weights.any():
        return codes_per_second
    UsdGeom.Scope.Define(stage, scope)
    prims, last = [], 0.0
    for clip in clips:
        where = f"{scope}/{names.of(clip.name, scope)}"
        prim, end = write_clip(stage, where, clip, tokens, channels, codes_per_second, rate, target, losses)
        prims.append(prim)
        last = max(last, end)
    if not clips:
        prims.append(write_rest(stage, f"{scope}/{names.of('rest', scope)}", weights, channels, target))
    UsdSkel.BindingAPI(skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets([prims[0].GetPath()])
    if clips:
        first = min((float(c.tracks.times.min(initial=0)) for c in clips), default=0.0)
        stage.SetStartTimeCode(min(first, 0.0) * codes_per_second)
        stage.SetEndTimeCode(last)
    return codes_per_second


def export(stage: Any, target: Path, pictures: WrittenPictures, package: bool) -> None:
    """Writes the layer beside its place and moves it there; its textures before it."""
    try:
        with tempfile.TemporaryDirectory(prefix=".usd.", suffix=".tmp", dir=target.parent) as room:
            draft = Path(room) / f"stage{'.usdc' if package else target.suffix.lower()}"
            stage.GetRootLayer().Export(str(draft))
            if package:
                with replacing(target) as file:
                    write_package(file, [("stage.usdc", draft.read_bytes()), *pictures.kept.items()])
                return
            for name, data in pictures.kept.items():
                place = target.parent / name
                place.parent.mkdir(exist_ok=True)
                with replacing(place) as file:
                    file.write(data)
            with replacing(target) as file, draft.open("rb") as written:
                shutil.copyfileobj(written, file, 1 << 20)
    except OSError as error:
        raise FormatError(f"cannot be written: {error.strerror or error}", path=target) from None
