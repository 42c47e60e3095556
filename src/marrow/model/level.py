"""`Lod` and `Level`: what a level of detail of a character is, and what the character is at that level.

A level has its own meshes and the first few joints of the character's skeleton. Everything else it shares with the
character: a clip loses the tracks of joints that are gone, a socket on such a joint sits on the nearest joint above.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.math import affine, transform
from marrow.model import _validate
from marrow.model._asset import Asset, Comparable
from marrow.model.clip import PATHS, Clip, Tracks
from marrow.model.mesh import Mesh
from marrow.model.pose import Pose
from marrow.model.skeleton import Skeleton, Socket
from marrow.report import Report

__all__ = ["Level", "Lod", "Reduction", "joint_map", "prefix_clip", "prefix_skeleton"]

Array = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Reduction(Comparable):
    """What was asked for when a level was made (`mw.lod.build`): `triangles` (a part of all, or a number) or `error` in
    metres, `joints` (a number, or names), `influences`; joints to `keep` and to `remove`; `materials` as pairs of one and
    the one it is drawn with from this level on (None: not at all); whether `poses` of the clips were looked at."""

    triangles: int | float | None = None
    error: float | None = None
    joints: int | tuple[str, ...] | None = None
    influences: int | None = None
    keep: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    materials: tuple[tuple[str | int, str | int | None], ...] = ()
    poses: bool = True

    def __post_init__(self) -> None:
        for name in ("triangles", "error", "influences"):
            value = getattr(self, name)
            if value is not None:
                _validate.number("Reduction", name, value, low=0)
        changes: dict[str, Any] = {
            name: tuple(_validate.name("Reduction", name, n) for n in getattr(self, name)) for name in ("keep", "remove")
        }  # fmt: skip
        if isinstance(self.joints, (list, tuple)):
            changes["joints"] = tuple(_validate.name("Reduction", "joints", n) for n in self.joints)
        elif self.joints is not None:
            changes["joints"] = _validate.integer("Reduction", "joints", self.joints, low=1)
        changes["materials"] = tuple((old, new) for old, new in self.materials)
        _validate.set_fields(self, **changes)

    def scaled(self, factor: float) -> Reduction:
        """In other units."""
        return self if self.error is None else replace(self, error=self.error * factor)


@dataclass(frozen=True, slots=True, eq=False)
class Lod(Comparable):
    """The figures of a level: how many `joints` (the first of the skeleton), `triangles`, `vertices`, `influences` a
    vertex, draw `sections`; and what it gives up.

    `error` is the farthest its surface is from the character's own in any clip, in metres, `mean_error` the average;
    None where nobody measured. `size` is the character's extent, the one that `relative_error` relates to.
    `screen_size`: the level is meant for a character whose bounding sphere at rest covers less than this part of the
    picture's height; None leaves the choice to the error. `hysteresis`: an instance changes to the level only when it is
    past its threshold by this part of it; None leaves that to the `Selector`. `reduction`: what was asked for when the
    level was made, where that is known.
    """

    joints: int
    triangles: int = 0
    vertices: int = 0
    influences: int = 0
    sections: int = 0
    error: float | None = None
    mean_error: float | None = None
    size: float | None = None
    screen_size: float | None = None
    hysteresis: float | None = None
    reduction: Reduction | None = None

    def __post_init__(self) -> None:
        changes: dict[str, Any] = {}
        for name in ("joints", "triangles", "vertices", "influences", "sections"):
            changes[name] = _validate.integer("Lod", name, getattr(self, name), low=0)
        for name in ("error", "mean_error", "size", "screen_size", "hysteresis"):
            value = getattr(self, name)
            if value is not None:
                changes[name] = _validate.number("Lod", name, value, low=0)
        if self.reduction is not None:
            _validate.instance("Lod", "reduction", self.reduction, Reduction)
        _validate.set_fields(self, **changes)

    @classmethod
    def of(cls, meshes: Sequence[Mesh], joints: int, **figures: Any) -> Lod:
        """The record of these meshes on that many joints."""
        return cls(
            joints,
            sum(m.triangle_count for m in meshes),
            sum(m.vertex_count for m in meshes),
            max((m.influences for m in meshes), default=0),
            sum(len(m.sections) for m in meshes),
            **figures,
        )

    @property
    def relative_error(self) -> float | None:
        """The worst error as a part of the character's extent."""
        if self.error is None or self.size is None:
            return None
        return self.error / self.size if self.size > 0 else 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Level(Asset):
    """A coarser level of a character, as the character keeps it: `meshes` that use the first `lod.joints` joints, its
    figures `lod`, and what was dropped on the way in `report` (levels that differ in it alone are equal)."""

    meshes: tuple[Mesh, ...]
    lod: Lod
    report: Report = field(default_factory=Report, compare=False)

    def __post_init__(self) -> None:
        meshes = _validate.items("Level", "meshes", self.meshes, Mesh)
        lod = _validate.instance("Level", "lod", self.lod, Lod)
        counted = Lod.of(meshes, lod.joints)
        for name in ("triangles", "vertices", "influences", "sections"):
            if getattr(lod, name) != getattr(counted, name):
                raise ValidationError(
                    f"Level.lod.{name}: {getattr(lod, name)}, its meshes have {getattr(counted, name)}"
                )
        for mesh in meshes:
            if len(mesh.joint_list) and int(mesh.joint_list.max()) >= lod.joints:
                raise ValidationError(
                    f"Level.meshes: {mesh.name!r} uses joint {int(mesh.joint_list.max())}, the level has {lod.joints}"
                )
        _validate.set_fields(
            self, meshes=meshes, report=_validate.instance("Level", "report", self.report, Report)
        )

    def replace(self, **changes: Any) -> Level:
        """A level with some fields exchanged, checked again. Other `meshes` are counted anew, and not measured."""
        if "meshes" in changes and "lod" not in changes:
            meshes = _validate.items("Level", "meshes", changes["meshes"], Mesh)
            counted = Lod.of(meshes, self.lod.joints)
            names = ("triangles", "vertices", "influences", "sections")
            changes["lod"] = self.lod.replace(
                **{name: getattr(counted, name) for name in names}, error=None, mean_error=None
            )
        return super().replace(**changes)

    def with_meshes(self, change: Callable[[Mesh], Mesh], factor: float = 1.0) -> Level:
        """The level with each mesh exchanged for what `change` makes of it, and its lengths multiplied."""
        meshes, old = tuple(map(change, self.meshes)), self.lod
        lengths = {"error": old.error, "mean_error": old.mean_error, "size": old.size}
        figures: dict[str, Any] = {
            name: None if value is None else value * factor for name, value in lengths.items()
        }
        figures["reduction"] = None if old.reduction is None else old.reduction.scaled(factor)
        kept = {"screen_size": old.screen_size, "hysteresis": old.hysteresis}
        return Level(meshes, Lod.of(meshes, old.joints, **kept, **figures), self.report)

    def __repr__(self) -> str:
        return f"Level({self.lod.triangles} triangles, {self.lod.joints} joints)"


def joint_map(parents: Array, joints: int) -> Array:
    """For each of the J joints the one that stands for it among the first `joints`: itself, or the nearest above, `(J,)`
    int32; -1 where nothing above is left."""
    out = np.arange(len(parents), dtype=np.int32)
    for j in range(joints, len(parents)):
        p = int(parents[j])
        out[j] = out[p] if p >= 0 else -1
    return out


def prefix_skeleton(skeleton: Skeleton, joints: int) -> Skeleton:
    """The first `joints` joints. Sockets of the others stay where they are at rest, on the nearest joint above that is
    left; one that hangs on nothing any more goes."""
    if joints == len(skeleton):
        return skeleton
    rest, mapped = skeleton.rest, joint_map(skeleton.parents, joints)
    model = skeleton.rest_model.astype(np.float64)
    sockets = []
    for s in skeleton.sockets:
        to = int(mapped[s.joint])
        if to == s.joint:
            sockets.append(s)
        elif to >= 0:
            parts = (np.asarray(getattr(s, k), np.float64) for k in ("translation", "rotation", "scale"))
            local = affine.multiply(
                affine.invert(model[to]), affine.multiply(model[s.joint], transform.compose(*parts))
            )
            t, r, size = (part.astype(np.float32) for part in transform.decompose(local))
            sockets.append(Socket(s.name, to, t, r, size))
    return Skeleton(
        skeleton.names[:joints],
        _validate.owned(skeleton.parents[:joints].copy()),
        Pose(rest.translation[:joints], rest.rotation[:joints], rest.scale[:joints], rest.morphs),
        skeleton.morph_names,
        tuple(sockets),
        {bone: j for bone, j in skeleton.bones.items() if j < joints},
        tuple(h for h in skeleton.hinges if h.joint < joints),
    )


def prefix_clip(clip: Clip, skeleton: Skeleton) -> Clip:
    """`clip` without the tracks of joints that `skeleton`, a prefix of its own, no longer has."""
    table = clip.tracks.table
    stays = (table["path"] == PATHS.index("morph")) | (table["target"] < len(skeleton))
    tracks = Tracks(table[stays], clip.tracks.times, clip.tracks.values)
    return clip.replace(skeleton=skeleton, tracks=tracks)
