"""A crowd as a USD stage: every instance an instanceable SkelRoot that inherits from its character, clips shared by all.

/_class_Hero                 the character (a class: it is not drawn itself)
/Crowd/Animations/run        a SkelAnimation, as long as the stage
/Crowd/Animations/run_at_12  the same from another moment on: a reference with an offset in time
/Crowd/hero_0                SkelRoot, instanceable, inherits </_class_Hero>, skel:animationSource </Crowd/Animations/run>
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError, MissingExtraError, ResourceLimitError
from marrow.io.losses import Losses
from marrow.io.usd.notes import KEY
from marrow.io.usd.values import PrimNames, matrix
from marrow.io.usd.writing.cameras import write_light
from marrow.io.usd.writing.clips import write_clip
from marrow.io.usd.writing.materials import WrittenPictures
from marrow.io.usd.writing.writer import (
    WrittenCharacter,
    errors_of_usd,
    export,
    new_stage,
    texture_folder,
    write_character,
)
from marrow.model import Character, Clip, JointLight

__all__ = ["CrowdLight", "CrowdPart", "write_crowd"]

Array = NDArray[Any]
MOST_INSTANCES = 100_000


@dataclass(eq=False)
class CrowdPart:
    """Instances of one character. `motions` are clips over the whole time of the stage (and longer, where some begin later
    in them); `motion (N,)` says which one each has (-1: it rests), `offset (N,)` at which second of it the stage begins.
    `places (N, 3, 4)`, or `(T, N, 3, 4)` for every frame; `shown (N,)`."""

    name: str
    character: Character
    motions: list[Clip]
    motion: Array
    offset: Array
    places: Array
    shown: Array | None = None

    def __len__(self) -> int:
        return len(self.motion)


@dataclass(eq=False)
class CrowdLight:
    """A light in the world: `place (3, 4)`, shining along -Z."""

    light: JointLight
    place: Array = field(default_factory=lambda: np.eye(3, 4))


def write_crowd(
    parts: list[CrowdPart], lights: list[CrowdLight], path: Path, *, seconds: float, rate: float, textures: str | None,
    losses: Losses,
) -> None:  # fmt: skip
    """Writes the stage; it runs for `seconds` at `rate` frames a second."""
    try:
        import pxr.Usd  # noqa: F401
    except ImportError:
        raise MissingExtraError("usd-core", "usd", "writing USD files") from None
    if not path.parent.is_dir():
        raise FormatError(f"cannot be written: no folder {path.parent}", path=path)
    count = sum(map(len, parts))
    if count > MOST_INSTANCES:
        raise ResourceLimitError(f"has {count} instances; marrow writes {MOST_INSTANCES}", path=path)
    package = path.suffix.lower() == ".usdz"
    folder = "textures" if package else texture_folder(path, textures)
    pictures = WrittenPictures({}, {}, [])
    with errors_of_usd(path):
        stage = _stage(parts, lights, path, seconds, rate, folder, package, pictures, losses)
        export(stage, path, pictures, package)
    losses.warn()


def _stage(
    parts: list[CrowdPart], lights: list[CrowdLight], path: Path, seconds: float, rate: float, folder: str, package: bool,
    pictures: WrittenPictures, losses: Losses,
) -> Any:  # fmt: skip
    from pxr import UsdGeom

    stage, names = new_stage(), PrimNames()
    stage.SetTimeCodesPerSecond(rate)
    stage.SetFramesPerSecond(rate)
    top = f"/{names.of('Crowd', '')}"
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, top).GetPrim())
    scope = f"{top}/{names.of('Animations', top)}"
    if any(part.motions for part in parts):
        UsdGeom.Scope.Define(stage, scope)
    classes: dict[int, tuple[str, WrittenCharacter]] = {}
    for part in parts:
        if id(part.character) not in classes:
            own = f"{folder}_{len(classes)}" if classes else folder
            classes[id(part.character)] = _class(stage, part, path, own, package, pictures, names, losses)
        where, written = classes[id(part.character)]
        animations = _animations(stage, scope, part, written, rate, names, path, losses)
        _instances(stage, top, part, where, animations, rate, names)
    for light in lights:
        prim = write_light(stage, f"{top}/{names.of(light.light.name or 'light', top)}", light.light, losses)
        UsdGeom.Xformable(prim).AddTransformOp().Set(matrix(light.place))
    if seconds > 0:
        stage.SetStartTimeCode(0.0)
        stage.SetEndTimeCode(seconds * rate)
    return stage


def _class(
    stage: Any, part: CrowdPart, path: Path, folder: str, package: bool, pictures: WrittenPictures, names: PrimNames,
    losses: Losses,
) -> tuple[str, WrittenCharacter]:  # fmt: skip
    """The character as a class, without the notes that bring single characters back."""
    from pxr import Sdf

    mine = WrittenPictures.of(part.character.images, folder, losses, package=package)
    pictures.kept.update(mine.kept)
    draft = new_stage()
    written = write_character(draft, part.character, path, mine, losses)
    source, layer = draft.GetRootLayer(), stage.GetRootLayer()
    where = f"/{names.of('_class_' + written.root.GetPrim().GetName(), '')}"
    Sdf.CopySpec(source, written.root.GetPath(), layer, where)
    layer.GetPrimAtPath(where).specifier = Sdf.SpecifierClass

    def plain(at: Any) -> None:
        spec = layer.GetObjectAtPath(at)
        if at.IsPrimPath() and spec.HasInfo("customData") and KEY in spec.customData:
            spec.ClearInfo("customData")

    layer.Traverse(where, plain)
    return where, written


def _animations(
    stage: Any, scope: str, part: CrowdPart, written: WrittenCharacter, rate: float, names: PrimNames, path: Path,
    losses: Losses,
) -> list[Any]:  # fmt: skip
    """The paths of the animations of each instance, None where it rests."""
    from pxr import Sdf

    layer = stage.GetRootLayer()
    whole: list[Any] = []
    for clip in part.motions:
        where = f"{scope}/{names.of(clip.name or 'motion', scope)}"
        prim, _ = write_clip(stage, where, clip, written.tokens, written.channels, rate, None, path, losses)
        prim.ClearCustomDataByKey(KEY)
        whole.append(prim.GetPath())
    at: dict[tuple[int, float], Any] = {(k, 0.0): where for k, where in enumerate(whole)}
    out: list[Any] = []
    for k, offset in zip(part.motion.tolist(), part.offset.tolist()):
        key = (k, round(float(offset), 6))
        if k >= 0 and key not in at:
            title = names.of(f"{whole[k].name}_at_{round(offset * rate)}", scope)
            spec = Sdf.CreatePrimInLayer(layer, f"{scope}/{title}")
            spec.specifier, spec.typeName = Sdf.SpecifierDef, "SkelAnimation"
            spec.referenceList.Prepend(Sdf.Reference("", whole[k], Sdf.LayerOffset(-float(offset) * rate)))
            at[key] = spec.path
        out.append(at[key] if k >= 0 else None)
    return out


def _instances(
    stage: Any, top: str, part: CrowdPart, where: str, animations: list[Any], rate: float, names: PrimNames
) -> None:
    from pxr import Sdf

    layer, kinds = stage.GetRootLayer(), Sdf.ValueTypeNames
    above = layer.GetPrimAtPath(top)
    moving = part.places.ndim == 4 and len(part.places) > 1
    first = part.places[0] if part.places.ndim == 4 else part.places
    with Sdf.ChangeBlock():
        for i in range(len(part)):
            spec = Sdf.PrimSpec(
                above, names.of(f"{part.name or 'actor'}_{i}", top), Sdf.SpecifierDef, "SkelRoot"
            )
            spec.instanceable = True
            spec.inheritPathList.Prepend(Sdf.Path(where))
            spec.SetInfo("apiSchemas", Sdf.TokenListOp.Create(prependedItems=["SkelBindingAPI"]))
            place = Sdf.AttributeSpec(spec, "xformOp:transform", kinds.Matrix4d)
            if moving:
                for t, row in enumerate(part.places[:, i]):
                    layer.SetTimeSample(place.path, float(t), matrix(row))
            else:
                place.default = matrix(first[i])
            order = Sdf.AttributeSpec(spec, "xformOpOrder", kinds.TokenArray, Sdf.VariabilityUniform)
            order.default = ["xformOp:transform"]
            if animations[i] is not None:
                source = Sdf.RelationshipSpec(spec, "skel:animationSource", custom=False)
                source.targetPathList.explicitItems = [animations[i]]
            if part.shown is not None and not part.shown[i]:
                Sdf.AttributeSpec(spec, "visibility", kinds.Token).default = "invisible"
