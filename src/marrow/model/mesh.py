"""`Mesh`: vertices in file order, triangles in material sections, skin weights, morph targets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from marrow.cached import cached_property
from marrow.errors import ValidationError
from marrow.math import affine
from marrow.model import _late, _validate
from marrow.model._asset import Asset, Comparable
from marrow.model.morph import MorphTarget

__all__ = ["Mesh", "Section", "SkinningMethod"]

Array = NDArray[Any]
SkinningMethod = Literal["linear", "dual_quaternion", "blended"]
SKINNING_METHODS = ("linear", "dual_quaternion", "blended")
# float32 files round their weights; more than this off is a mistake the caller should know of.
WEIGHT_SUM_TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Section(Comparable):
    """A run of triangles drawn with one material: `first` triangle, `count`, index into `Character.materials` or None.

    `variants` has a material for each of `Character.variants` (None: as it is without one), or is empty."""

    first: int
    count: int
    material: int | None = None
    name: str = ""
    variants: tuple[int | None, ...] = ()

    def __post_init__(self) -> None:
        material = self.material
        given = () if self.variants == () else _validate.items("Section", "variants", self.variants, object)
        _validate.set_fields(
            self,
            first=_validate.integer("Section", "first", self.first),
            count=_validate.integer("Section", "count", self.count),
            material=None if material is None else _validate.integer("Section", "material", material),
            name=_validate.name("Section", "name", self.name),
            variants=tuple(None if m is None else _validate.integer("Section", "variants", m) for m in given),
        )


@dataclass(frozen=True, eq=False, repr=False)
class Mesh(Asset):
    """A deformable surface. Every mesh is skinned: a rigid prop has one influence per vertex.

    - `positions (V, 3)`, `normals (V, 3)`, `tangents (V, 4)` (`w` is the handedness, +1 or -1), `uvs` a tuple of
      `(V, 2)` sets, `colors (V, 4)`
    - `triangles (F, 3)`, `sections`: runs of triangles by material (one section over all when left out)
    - `joints (V, K)` index the mesh's own `joint_list (B,)` of skeleton joints, `weights (V, K)` sum to one;
      `inverse_bind (B, 3, 4)` brings a vertex from the mesh into the space of each of those joints
    - `morph_targets`, and the `skinning` its author asked for: linear, dual_quaternion, or blended by
      `dual_quaternion_weights (V,)`
    - `attributes`: further numbers of the vertices, by the names of glTF (`_TEMPERATURE`, `COLOR_1`), each `(V,)` or
      `(V, n)`, of any type: kept for other programs, and not shown
    - `node`: the joint the mesh hangs on in its file (-1 for none)
    """

    name: str
    positions: Array
    triangles: Array
    joints: Array
    weights: Array
    joint_list: Array
    inverse_bind: Array
    normals: Array | None = None
    tangents: Array | None = None
    uvs: tuple[Array, ...] = ()
    colors: Array | None = None
    sections: tuple[Section, ...] = ()
    morph_targets: tuple[MorphTarget, ...] = ()
    skinning: SkinningMethod = "linear"
    dual_quaternion_weights: Array | None = None
    node: int = -1
    visible: bool = True
    attributes: dict[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        who = f"Mesh({_validate.name('Mesh', 'name', self.name)!r})"

        def check(name: str, dtype: Any, shape: tuple[Any, ...]) -> Array:
            return _validate.array(who, name, getattr(self, name), dtype, shape)

        positions = check("positions", np.float32, ("V", 3))
        V = len(positions)
        fields: dict[str, Any] = {"positions": positions}
        for name, width in (("normals", 3), ("tangents", 4), ("colors", 4)):
            if getattr(self, name) is not None:
                fields[name] = check(name, np.float32, (V, width))
        fields["uvs"] = tuple(
            _validate.array(who, f"uvs[{i}]", uv, np.float32, (V, 2))
            for i, uv in enumerate(_validate.items(who, "uvs", self.uvs, object))
        )
        if not isinstance(self.attributes, dict) or self.attributes:
            fields["attributes"] = _validate.named_arrays(who, "attributes", self.attributes, V)
        triangles = check("triangles", np.uint32, ("F", 3))
        if triangles.size and int(triangles.max()) >= V:
            raise ValidationError(
                f"{who}.triangles: index {triangles.max()} is out of range for {V} vertices"
            )
        fields["triangles"] = triangles
        fields["sections"] = _checked_sections(who, self.sections, len(triangles))

        joint_list = check("joint_list", np.int32, ("B",))
        B = len(joint_list)
        fields["joint_list"] = joint_list
        fields["inverse_bind"] = check("inverse_bind", np.float32, (B, 3, 4))
        fields["joints"], fields["weights"] = _checked_influences(who, self.joints, self.weights, V, B)

        targets = _validate.items(who, "morph_targets", self.morph_targets, MorphTarget)
        for target in targets:
            named = target.vertices
            top = len(target.positions) if named is None else int(named.max()) + 1 if len(named) else 0
            if (target.vertices is None and top != V) or top > V:
                raise ValidationError(
                    f"{who}.morph_targets: {target.name!r} reaches vertex {top - 1}, the mesh has {V} vertices"
                )
        _validate.one_of(who, "skinning", self.skinning, SKINNING_METHODS)
        if self.dual_quaternion_weights is not None:
            fields["dual_quaternion_weights"] = check("dual_quaternion_weights", np.float32, (V,))
        elif self.skinning == "blended":
            raise ValidationError(f"{who}: blended skinning needs dual_quaternion_weights ({V},)")
        _validate.set_fields(
            self, morph_targets=targets, node=_validate.integer(who, "node", self.node, low=-1), **fields
        )

    @classmethod
    def rigid(cls, name: str, positions: Any, triangles: Any, joint: int, **options: Any) -> Mesh:
        """A mesh that follows one joint. Its vertices are in the joint's own space unless `inverse_bind` says otherwise."""
        positions = _validate.array(f"Mesh({name!r})", "positions", positions, np.float32, ("V", 3))
        joint = _validate.integer(f"Mesh({name!r})", "joint", joint, low=0, hint="use skeleton.index(name)")
        V = len(positions)
        options.setdefault("inverse_bind", affine.identity((1,)))
        options.setdefault("node", joint)
        return cls(
            name,
            positions,
            triangles,
            joints=_validate.owned(np.zeros((V, 1), np.uint16)),
            weights=_validate.owned(np.ones((V, 1), np.float32)),
            joint_list=_validate.owned(np.array([joint], np.int32)),
            **options,
        )

    @property
    def vertex_count(self) -> int:
        return len(self.positions)

    @property
    def triangle_count(self) -> int:
        return len(self.triangles)

    @property
    def influences(self) -> int:
        """K, the most influences a vertex may have; `influence_counts` says how many each uses."""
        return int(self.weights.shape[1])

    @cached_property
    def influence_counts(self) -> Array:
        """How many joints really move each vertex, `(V,)`."""
        return _validate.owned(np.count_nonzero(self.weights, axis=1))

    @cached_property
    def rigid_joint(self) -> int | None:
        """The skeleton joint a rigid mesh follows; None when the mesh deforms."""
        used = np.unique(self.joints[self.weights > 0]) if self.vertex_count else np.zeros(0, int)
        return int(self.joint_list[used[0]]) if len(used) == 1 else None

    def reordered(self) -> Mesh:
        """The same mesh with its vertices in the order the kernels like best: the last bit of speed, at the price of
        the file's vertex order."""
        return _late.function("skinning.layout", "reordered")(self)

    def __repr__(self) -> str:
        parts = [f"{self.vertex_count} vertices", f"{self.triangle_count} triangles"]
        if len(self.sections) > 1:
            parts.append(f"{len(self.sections)} sections")
        parts.append(f"{len(self.joint_list)} joints x {self.influences} influences")
        if self.morph_targets:
            parts.append(f"{len(self.morph_targets)} morph targets")
        if self.skinning != "linear":
            parts.append(self.skinning)
        return f"Mesh({self.name!r}, {', '.join(parts)})"


def _checked_sections(who: str, given: Any, triangle_count: int) -> tuple[Section, ...]:
    sections = _validate.items(who, "sections", given, Section)
    if not sections:
        return (Section(0, triangle_count),)
    for i, s in enumerate(sections):
        if s.first < 0 or s.count < 0 or s.first + s.count > triangle_count:
            raise ValidationError(
                f"{who}.sections[{i}]: triangles {s.first}..{s.first + s.count} are outside 0..{triangle_count}"
            )
    return sections


def _checked_influences(who: str, joints: Any, weights: Any, V: int, B: int) -> tuple[Array, Array]:
    weights = _validate.array(who, "weights", weights, np.float32, (V, "K"))
    K = weights.shape[1]
    raw = _validate.numbers(f"{who}.joints", joints)
    small = raw.dtype == np.uint16 or (B <= 0x10000 and raw.dtype != np.uint32)
    above = raw.size and raw.dtype.kind in "iu" and int(raw.max()) >= B
    if above or (raw.size and raw.dtype.kind == "i" and int(raw.min()) < 0):
        raise ValidationError(f"{who}.joints: index {int(raw.max())} is out of range for a joint list of {B}")
    joints = _validate.array(who, "joints", raw, np.uint16 if small else np.uint32, (V, K))
    if V == 0:
        return joints, weights
    if K == 0:
        raise ValidationError(f"{who}.weights: every vertex needs at least one influence, got shape ({V}, 0)")
    if K == 1 and (weights == 1).all():
        return joints, weights  # as rigid parts have them
    with np.errstate(invalid="ignore"):
        total = weights @ np.ones(K, np.float32)  # many times quicker than a sum along so short an axis
    if not np.isfinite(total).all():
        v = int(np.flatnonzero(~np.isfinite(total))[0])
        raise ValidationError(
            f"{who}.weights: vertex {v} has a weight that is not finite: {weights[v].tolist()}"
        )
    if float(weights.min()) < 0:
        v = int(np.flatnonzero((weights < 0).any(axis=1))[0])
        raise ValidationError(f"{who}.weights: vertex {v} has a negative weight: {weights[v].tolist()}")
    off = np.abs(total - 1)
    if float(off.max()) > WEIGHT_SUM_TOLERANCE:
        v = int(np.argmax(off))
        what = "sum to zero" if total[v] == 0 else f"sum to {total[v]:.4g}, not 1"
        raise ValidationError(f"{who}.weights: those of vertex {v} {what}; use mw.normalize_weights(weights)")
    return joints, weights
