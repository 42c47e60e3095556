"""`Character`: everything a rigged file holds, and the palette its meshes share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.cached import cached_property
from marrow.errors import UnknownNameError, ValidationError
from marrow.math import affine, transform
from marrow.model import _cards, _late, _validate
from marrow.model._asset import Asset, exchanged, freeze
from marrow.model.clip import Clip
from marrow.model.constraint_order import constraint_order, refuse_itself
from marrow.model.constraints import Constraint
from marrow.model.joint_camera import JointCamera, JointLight, moved_to
from marrow.model.level import Level, Lod, prefix_clip, prefix_skeleton
from marrow.model.material import Image, Material
from marrow.model.mesh import Mesh, Section
from marrow.model.pose import Pose
from marrow.model.skeleton import Skeleton
from marrow.report import Report, ReportLine

__all__ = ["Character", "Clips", "Palette"]

Array = NDArray[Any]


class Clips(Mapping[str, Clip]):
    """The clips of a character by name, in file order; `clips[0]` works too."""

    __array_ufunc__ = None

    def __init__(self, clips: Iterable[Clip] = ()) -> None:
        self._clips: dict[str, Clip] = {}
        hint = "of a dict pass its values()" if isinstance(clips, Mapping) else ""
        for clip in _validate.items("Character", "clips", clips, Clip, hint=hint):
            if clip.name in self._clips:
                raise ValidationError(f"Character.clips: two clips are called {clip.name!r}")
            self._clips[clip.name] = clip

    def __getitem__(self, key: str | int) -> Clip:
        if isinstance(key, str):
            try:
                return self._clips[key]
            except KeyError:
                raise UnknownNameError("clip", key, self._clips) from None
        return list(self._clips.values())[_validate.position("clip", key, len(self))]

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key in self._clips

    def __iter__(self) -> Iterator[str]:
        return iter(self._clips)

    def __len__(self) -> int:
        return len(self._clips)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Clips):
            return NotImplemented
        return list(self.values()) == list(other.values())  # the order counts: `clips[0]`

    def __hash__(self) -> int:
        return hash((Clips, *self._clips))

    def __repr__(self) -> str:
        return _cards.clips_line(self)

    def _repr_html_(self) -> str:
        return _cards.clips_card(self)


@dataclass(frozen=True, eq=False)
class Palette(Asset):
    """The matrices a character's meshes are skinned with: one per joint of the skeleton, in order.

    Entry `p` belongs to the joint `joints[p]` and has its `inverse_bind[p] (3, 4)`. The first J entries are the J
    joints; a mesh whose inverse bind matrix for a joint differs from the one already there adds an entry after them.
    `mesh_slots[m]` says where each joint of mesh `m`'s own list is found.
    """

    joints: Array
    inverse_bind: Array
    mesh_slots: tuple[Array, ...]

    def __len__(self) -> int:
        return len(self.joints)


def _check_mesh(mesh: Mesh, joints: int, channels: int, materials: int, variants: int) -> None:
    """A mesh must fit the skeleton and the materials of its character."""
    who = f"Mesh({mesh.name!r})"
    if len(mesh.joint_list) and not (mesh.joint_list.min() >= 0 and mesh.joint_list.max() < joints):
        raise ValidationError(
            f"{who}.joint_list: joint {int(mesh.joint_list.max())} is outside the skeleton's {joints}"
        )
    for section in mesh.sections:
        for material in (section.material, *section.variants):
            if material is not None and not 0 <= material < materials:
                raise ValidationError(
                    f"{who}.sections: material {material} does not exist; there are {materials}"
                )
        if section.variants and len(section.variants) != variants:
            raise ValidationError(
                f"{who}.sections: {len(section.variants)} materials for {variants} variants"
            )
    for target in mesh.morph_targets:
        if not 0 <= target.channel < channels:
            raise ValidationError(
                f"{who}.morph_targets: {target.name!r} is on channel {target.channel}, the skeleton has {channels} "
                "morph channels"
            )


def _refuse_unknown(constraint: Constraint, skeleton: Skeleton, where: str) -> None:
    """Names the joint of a constraint that a skeleton lacks."""
    for name in constraint.names():
        try:
            skeleton.index(name)
        except UnknownNameError as error:
            raise UnknownNameError(
                f"{error.kind} (used by {where})", name, error.known, error.near, error.listed
            ) from None


def _check_constraints(constraints: tuple[Constraint, ...], skeleton: Skeleton) -> None:
    """Constraints must name joints that are there, and no circle."""
    for k, constraint in enumerate(constraints):
        where = f"Character.constraints[{k}]"
        constraint.check(where)
        if not constraint.known_in(skeleton):
            _refuse_unknown(constraint, skeleton, where)
        refuse_itself(constraint, skeleton, where)
    if constraints:
        constraint_order(constraints, skeleton, "Character")


def _check_placed(field: str, placed: tuple[JointCamera, ...] | tuple[JointLight, ...], joints: int) -> None:
    """Cameras and lights must stand on joints that are there, and be told apart by their names."""
    names = set()
    for one in placed:
        if one.joint >= joints:
            raise ValidationError(
                f"Character.{field}: {one.name!r} is on joint {one.joint}, the skeleton has {joints}"
            )
        if one.name in names:
            raise ValidationError(f"Character.{field}: two are called {one.name!r}")
        names.add(one.name)


@dataclass(frozen=True, eq=False, repr=False)
class Character(Asset):
    """A skeleton with its meshes, clips, materials and images, and the importer's `report`.

    Characters with the same values are equal, wherever they come from: `report`, `source` and `unit`, which say how this
    one came to be, do not count.

    - `extras`: what authors and other programs noted in the file, as plain JSON-like data; marrow keeps it and does not
      look at it
    - `variants`: names of material variants; see `with_variant`
    - `vrm`: what a VRM file says beyond its skeleton (licence, expressions, look-at, springs, ...), as plain data
    - `constraints`: what joints do by themselves (`mw.graph.CopyTransform`, ...): they are solved after whatever moves it
    - `source`: the file it was loaded from
    - `unit`: metres per unit of its lengths. 1, but for motion files that name no unit and are not in metres (BVH): see
      `in_metres`
    - `reduced`: its coarser levels of detail, finest first; `levels` shows them as complete characters
    - `cameras`, `lights`: those of the file, each on a joint; `mw.render(hero, camera="Camera.001", lights="file")`
      shows by them
    - `lod`: the figures of the level that it is; its errors are zero for one that is no reduced level of another
    """

    skeleton: Skeleton
    meshes: tuple[Mesh, ...] = ()
    clips: Clips = None  # type: ignore[assignment]
    materials: tuple[Material, ...] = ()
    images: tuple[Image, ...] = ()
    name: str = ""
    report: Report = field(default_factory=Report, compare=False)
    extras: dict[str, Any] = field(default_factory=dict)
    variants: tuple[str, ...] = ()
    vrm: dict[str, Any] = field(default_factory=dict)
    source: str = field(default="", compare=False)
    reduced: tuple[Level, ...] = ()
    lod: Lod = None  # type: ignore[assignment]
    unit: float = field(default=1.0, compare=False)
    constraints: tuple[Constraint, ...] = ()
    cameras: tuple[JointCamera, ...] = ()
    lights: tuple[JointLight, ...] = ()

    def __post_init__(self) -> None:
        _validate.instance("Character", "skeleton", self.skeleton, Skeleton)
        given = () if self.clips is None else self.clips
        clips = given if isinstance(given, Clips) else Clips(given)
        meshes = _validate.items("Character", "meshes", self.meshes, Mesh)
        materials = _validate.items("Character", "materials", self.materials, Material)
        images = _validate.items("Character", "images", self.images, Image)
        variants = _validate.items("Character", "variants", self.variants, str)
        if len(set(variants)) < len(variants):
            raise ValidationError("Character.variants: two have the same name")
        J, M = len(self.skeleton), len(self.skeleton.morph_names)
        for clip in clips.values():
            if clip.skeleton is not self.skeleton and clip.skeleton.names != self.skeleton.names:
                raise ValidationError(f"Character.clips: {clip.name!r} was made for another skeleton")
        reduced = _validate.items("Character", "reduced", self.reduced, Level)
        for mesh in (*meshes, *(m for level in reduced for m in level.meshes)):
            _check_mesh(mesh, J, M, len(materials), len(variants))
        joints = [J, *(level.lod.joints for level in reduced)]
        if joints != sorted(joints, reverse=True):
            raise ValidationError(
                f"Character.reduced: levels must not have more joints than the one before, got {joints}"
            )
        constraints = _validate.items("Character", "constraints", self.constraints, Constraint)
        _check_constraints(constraints, self.skeleton)
        cameras = _validate.items("Character", "cameras", self.cameras, JointCamera)
        lights = _validate.items("Character", "lights", self.lights, JointLight)
        _check_placed("cameras", cameras, J)
        _check_placed("lights", lights, J)
        lod = Lod.of(meshes, J, error=0.0, mean_error=0.0) if self.lod is None else self.lod
        _validate.instance("Character", "lod", lod, Lod)
        for material in materials:
            for slot, texture in material.textures.items():
                if not 0 <= texture.image < len(images):
                    raise ValidationError(
                        f"Material({material.name!r}).{slot}_texture: image {texture.image} does not exist; there are "
                        f"{len(images)}"
                    )
        _validate.set_fields(
            self,
            clips=clips,
            meshes=meshes,
            materials=materials,
            images=images,
            name=_validate.name("Character", "name", self.name),
            report=_validate.instance("Character", "report", self.report, Report),
            extras=_validate.document("Character", "extras", self.extras),
            variants=variants,
            vrm=_validate.document("Character", "vrm", self.vrm),
            source=_validate.name("Character", "source", self.source),
            reduced=reduced,
            constraints=constraints,
            cameras=cameras,
            lights=lights,
            lod=lod,
            unit=_validate.number("Character", "unit", self.unit, low=0, above=True),
        )

    @cached_property
    def levels(self) -> tuple[Character, ...]:
        """The levels of detail, finest first; level 0 is the character itself, and all there is where none were made.

        A level is a complete character. It has the first `lod.joints` joints, so a pose or a mask of the character serves
        it cut short; it shares clips, materials and images.
        """
        made: list[Character] = [self]
        for level in self.reduced:
            skeleton = prefix_skeleton(self.skeleton, level.lod.joints)
            clips = self.clips
            if skeleton is not self.skeleton:
                like = made[-1]
                if len(like.skeleton) == len(skeleton):
                    skeleton, clips = like.skeleton, like.clips
                else:
                    clips = Clips(prefix_clip(clip, skeleton) for clip in self.clips.values())
            made.append(
                Character(
                    skeleton,
                    level.meshes,
                    clips,
                    self.materials,
                    self.images,
                    self.name,
                    level.report,
                    variants=self.variants,
                    lod=level.lod,
                    unit=self.unit,
                )
            )
        return tuple(made)

    @cached_property
    def palette(self) -> Palette:
        """The skinning matrices' joints and inverse bind matrices, shared by all meshes."""
        J = len(self.skeleton)
        joints = list(range(J))
        binds: list[Array | None] = [None] * J
        entries: dict[tuple[int, bytes], int] = {}
        slots = []
        for mesh in self.meshes:
            rows = np.empty(len(mesh.joint_list), np.uint32)
            for b, (joint, bind) in enumerate(zip(mesh.joint_list.tolist(), mesh.inverse_bind)):
                key = (joint, bind.tobytes())
                entry = entries.get(key)
                if entry is None:
                    if binds[joint] is None:
                        entry = joint
                    else:
                        entry = len(joints)
                        joints.append(joint)
                        binds.append(None)
                    binds[entry] = bind
                    entries[key] = entry
                rows[b] = entry
            slots.append(_validate.owned(rows))
        inverse = affine.identity((len(joints),))
        unused = [j for j, bind in enumerate(binds) if bind is None]
        if unused:
            # A joint no mesh uses gets the matrix that is the identity at rest; a singular one cannot have it.
            candidates = affine.invert(self.skeleton.rest_model[unused].astype(np.float64)).astype(np.float32)
            good = np.isfinite(candidates).all(axis=(1, 2))
            inverse[np.array(unused)[good]] = candidates[good]
        for p, bind in enumerate(binds):
            if bind is not None:
                inverse[p] = bind
        return Palette(_validate.owned(np.array(joints, np.int32)), _validate.owned(inverse), tuple(slots))

    @cached_property
    def deforms(self) -> Array:
        """Which joints move vertices, `(J,)` bool; the others are helpers, props and ends."""
        out = np.zeros(len(self.skeleton), bool)
        for mesh in self.meshes:
            out[mesh.joint_list[np.unique(mesh.joints[mesh.weights > 0])]] = True
        return _validate.owned(out)

    @cached_property
    def bind_pose(self) -> Pose:
        """The pose the meshes were bound in. Joints that no mesh is bound to stand to their parents as at rest."""
        skeleton, model = self.skeleton, self.skeleton.rest_model.astype(np.float64)
        bound = np.zeros(len(skeleton), bool)
        for mesh in self.meshes:
            bound[mesh.joint_list] = True
        binds = affine.invert(self.palette.inverse_bind[: len(skeleton)].astype(np.float64))
        bound &= np.isfinite(binds).all(axis=(1, 2))
        rest = skeleton.rest
        local = transform.compose(
            *(np.asarray(a, np.float64) for a in (rest.translation, rest.rotation, rest.scale))
        )
        for j, p in enumerate(skeleton.parents.tolist()):
            model[j] = binds[j] if bound[j] else local[j] if p < 0 else affine.multiply(model[p], local[j])
        pose = skeleton.from_model(model)
        freeze((pose.translation, pose.rotation, pose.scale, pose.morphs))
        return pose

    def with_variant(self, name: str | None) -> Character:
        """The character in one of its material `variants`; None: as it is without one."""
        if name is None:
            return self
        if _validate.name("with_variant", "name", name) not in self.variants:
            raise UnknownNameError("variant", name, self.variants)
        at = self.variants.index(name)

        def changed(section: Section) -> Section:
            chosen = section.variants[at] if section.variants else None
            return section if chosen is None else replace(section, material=chosen)

        return self.with_meshes(lambda m: m.replace(sections=tuple(map(changed, m.sections))))

    @property
    def vertex_count(self) -> int:
        return sum(m.vertex_count for m in self.meshes)

    @property
    def triangle_count(self) -> int:
        return sum(m.triangle_count for m in self.meshes)

    @cached_property
    def vertex_offsets(self) -> tuple[int, ...]:
        """Where each mesh's vertices begin in a `Surface` over all meshes, with the total at the end."""
        offsets = [0]
        for m in self.meshes:
            offsets.append(offsets[-1] + m.vertex_count)
        return tuple(offsets)

    def mesh(self, name: str) -> Mesh:
        """The first mesh of that name."""
        for m in self.meshes:
            if isinstance(name, str) and m.name == name:
                return m
        raise UnknownNameError("mesh", name, [m.name for m in self.meshes])

    def camera(self, name: str) -> JointCamera:
        """The camera of that name, or the one on the joint of that name."""
        return self._placed("camera", self.cameras, name)

    def light(self, name: str) -> JointLight:
        """The light of that name, or the one on the joint of that name."""
        return self._placed("light", self.lights, name)

    def _placed(self, kind: str, placed: tuple[Any, ...], name: str) -> Any:
        for one in placed if isinstance(name, str) else ():
            if one.name == name:
                return one
        for one in placed if isinstance(name, str) else ():
            if self.skeleton.names[one.joint] == name:
                return one
        raise UnknownNameError(kind, name, [p.name for p in placed])

    def replace(self, **changes: Any) -> Character:
        """A character with some fields exchanged, validated again.

        Levels of detail belong to a surface: with other `meshes` or another `skeleton` they go, unless `reduced`
        brings new ones, and the report says so."""
        if ("meshes" in changes or "skeleton" in changes) and "reduced" not in changes:
            changes.setdefault("lod", None)
            if self.reduced:
                report = changes.get("report", self.report)
                line = ReportLine(
                    "dropped", "levels", "the levels of detail: they were made for other meshes"
                )
                changes.update(reduced=(), report=report + Report((line,)))
        if "skeleton" in changes and "constraints" not in changes and self.constraints:
            kept = tuple(c for c in self.constraints if c.known_in(changes["skeleton"]))
            lost = len(self.constraints) - len(kept)
            if lost:
                report = changes.get("report", self.report)
                line = ReportLine("dropped", "constraints", f"{lost} whose joints the skeleton has no more")
                changes.update(constraints=kept, report=report + Report((line,)))
        if "skeleton" in changes and isinstance(changes["skeleton"], Skeleton):
            for field in ("cameras", "lights"):
                mine = getattr(self, field)
                if not mine or field in changes:
                    continue
                changes[field] = moved_to(mine, self.skeleton.names, changes["skeleton"].names)
                if lost := len(mine) - len(changes[field]):
                    line = ReportLine("dropped", field, f"{lost} whose joints the skeleton has no more")
                    changes["report"] = changes.get("report", self.report) + Report((line,))
        return exchanged(self, changes)

    def with_meshes(
        self, change: Callable[[Mesh], Mesh], *, factor: float = 1.0, **changes: Any
    ) -> Character:
        """The character with each mesh of every level exchanged for what `change` makes of it: as many joints, the same
        materials. Where that makes it larger, `factor` says how much, for the errors of the levels."""
        if not callable(change) or isinstance(change, type):
            raise ValidationError(
                f"with_meshes: change must be a function of a mesh, got {_validate.shown(change)}"
            )
        factor = _validate.number("with_meshes", "factor", factor, low=0, above=True)
        reduced = tuple(level.with_meshes(change, factor) for level in self.reduced)
        meshes = tuple(map(change, self.meshes))
        if "lod" not in changes:
            changes["lod"] = (
                Level(self.meshes, self.lod).with_meshes(change, factor).lod if self.reduced else None
            )
        return self.replace(meshes=meshes, reduced=reduced, **changes)

    @property
    def facing(self) -> Array | None:
        """Where it looks: a level unit vector `(3,)` in model space, told by its body and confirmed by its clips; None
        where that cannot be told. Most files have +Z, some -Z: `turned_to("+z")` or
        `mw.load(..., facing="+z")` turns them."""
        direction: Array | None = _late.function("motion.facing", "find_facing")(self).direction
        return direction

    @property
    def facing_told(self) -> str:
        """What told where it looks (`"its left and right, its toes"`), or why nothing did."""
        told: str = _late.function("motion.facing", "find_facing")(self).told
        return told

    def with_joint(
        self,
        name: str,
        parent: str | int,
        *,
        translation: ArrayLike | None = None,
        rotation: ArrayLike | None = None,
        follow: str | int | None = None,
    ) -> Character:
        """The character with a virtual joint: one more, behind the others, below `parent`, resting where `translation` and
        `rotation` say. With `follow` it rests where that joint does and keeps there, whatever both limbs do (a
        constraint of the character): the left hand as the right one sees it, for targets in its frame."""
        from marrow.model.virtual_joints import with_joint

        return with_joint(self, name, parent, translation=translation, rotation=rotation, follow=follow)

    def with_clips(self, *clips: Clip | Iterable[Clip]) -> Character:
        """The character with these clips too, one by one or as a list; one of a name that is there takes its place."""
        kept = {clip.name: clip for clip in self.clips.values()}
        for one in clips:
            many = one.values() if isinstance(one, Clips) else (one,) if isinstance(one, (Clip, str)) else one
            for clip in _validate.items("with_clips", "clips", many, Clip):
                if clip.skeleton.names != self.skeleton.names:
                    raise ValidationError(
                        f"with_clips: {clip.name!r} was made for another skeleton; mw.retarget fits it to this one"
                    )
                kept[clip.name] = clip
        return self.replace(clips=tuple(kept.values()))

    def in_metres(self) -> Character:
        """The character with all lengths in metres: itself, unless its `unit` is another one."""
        return _late.function("io.scaling", "in_metres")(self)  # type: ignore[no-any-return]

    def turned_to(self, axis: str) -> Character:
        """The character turned about the vertical to look along `axis` (`"+z"`, `"-x"`, ...): its joints, meshes,
        levels, clips and all that has a direction, so that every vertex at every time is the turned original. Where
        it is not known where it looks it stays as it is, and its report says so."""
        return _late.function("io.axes", "turned_to")(self, _validate.name("turned_to", "axis", axis))  # type: ignore[no-any-return]

    def converted(
        self,
        world: str | None = None,
        *,
        up: str | None = None,
        forward: str | None = None,
        handedness: str | None = None,
        units: str | float | None = None,
        back: bool = False,
    ) -> Character:
        """The character in another program's axes and units: `converted("unreal")`, or `converted(up="z",
        handedness="left", units="cm")`. `back=True` brings it from there to marrow's own.
        """
        words = {"world": world, "up": up, "forward": forward, "handedness": handedness}
        for option, word in words.items():
            if word is not None:
                _validate.name("converted", option, word)
        if units is not None and not isinstance(units, str):
            units = _validate.number("converted", "units", units, low=0, above=True)
        back = _validate.flag("converted", "back", back)
        turn = _late.function("io.axes", "converted")
        return turn(self, world, up=up, forward=forward, handedness=handedness, units=units, back=back)

    def __repr__(self) -> str:
        parts = [f"{len(self.skeleton)} joints"]
        if self.meshes:
            parts.append(f"{len(self.meshes)} meshes ({self.vertex_count} vertices)")
        if self.clips:
            parts.append(f"{len(self.clips)} clips")
        if self.materials:
            parts.append(f"{len(self.materials)} materials")
        if self.reduced:
            parts.append(f"{len(self.reduced) + 1} levels")
        for kind, found in (("camera", self.cameras), ("light", self.lights)):
            if found:
                parts.append(f"{len(found)} {kind}{'s' if len(found) > 1 else ''}")
        if len(self.report):
            parts.append(f"{len(self.report)} report lines")
        return f"Character({self.name!r}, {', '.join(parts)})"

    def _repr_html_(self) -> str:
        return _cards.character_card(self)
