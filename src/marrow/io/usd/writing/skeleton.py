"""The Skeleton prim: joints by their paths, the pose at rest and the pose in which meshes were bound.

USD has one bind pose for all meshes, and one matrix for each mesh that brings it there. Where meshes were bound in several
poses, a joint more *stands in* for its parent: it never moves against it, and has the other bind matrix.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError, ResourceLimitError
from marrow.io.usd.notes import NAMESPACE, RigNotes, UsdSocketNote, put
from marrow.io.usd.values import PrimNames, column_affine, matrices, quaternions, vectors3
from marrow.math import affine, transform
from marrow.model import Character, Mesh, Skeleton

__all__ = ["Binding", "Channels", "bound", "joint_tokens", "write_skeleton"]

Array = NDArray[Any]
MAX_PATH_BYTES = 128 << 20
# How far a bind matrix may be off, as a part of the mesh, before it is one of its own.
_SAME = 1e-5


@dataclass(frozen=True)
class Binding:
    """How meshes hang on the skeleton: `binds (S, 3, 4)` of the joints and their stand-ins, `stand_ins` as joint and matrix
    at rest; and for each mesh the numbers of its joints among them, and its `geometry (3, 4)` matrix."""

    binds: Array
    stand_ins: list[tuple[int, Array]]
    joints: list[Array]
    geometry: list[Array]

    def inverse_bind(self, mesh: int) -> Array:
        """What a reader makes of it: the inverse bind matrices of a mesh `(B, 3, 4)`."""
        numbers, first = self.joints[mesh], len(self.binds) - len(self.stand_ins)
        rows = affine.multiply(affine.invert(self.binds[numbers]), self.geometry[mesh])
        for b, n in enumerate(numbers.tolist()):
            if n >= first:
                rows[b] = affine.multiply(self.stand_ins[n - first][1], rows[b])
        return rows.astype(np.float32)


@dataclass(frozen=True)
class Channels:
    """The morph channels: the `tokens` USD knows them by, and the weight of each that USD calls 1, a power of two, so that
    nothing is rounded."""

    tokens: list[str]
    full: Array

    @classmethod
    def of(cls, character: Character) -> Channels:
        names = PrimNames()
        tokens = [names.of(n, "channels") for n in character.skeleton.morph_names]
        most = np.zeros(len(tokens))
        for mesh in character.meshes:
            for t in mesh.morph_targets:
                most[t.channel] = max(most[t.channel], t.full_weight)
        return cls(tokens, np.exp2(np.ceil(np.log2(np.where(most > 0, most, 1.0)))))


def bound(character: Character, path: object) -> Binding:
    """How the meshes hang on the skeleton."""
    skeleton = character.skeleton
    binds = np.array(skeleton.rest_model, np.float64)
    known = np.zeros(len(skeleton), bool)
    for mesh in sorted(character.meshes, key=lambda m: -len(m.joint_list)):
        if not np.isfinite(mesh.inverse_bind).all():
            raise FormatError("an inverse bind matrix is not finite", path=path, place=f"mesh {mesh.name!r}")
        if len(mesh.joint_list) > 1:
            each = affine.invert(mesh.inverse_bind.astype(np.float64))
            good = np.isfinite(each).all(axis=(1, 2)) & ~known[mesh.joint_list]
            binds[mesh.joint_list[good]], known[mesh.joint_list[good]] = each[good], True
    # A joint that nothing hangs on may have no size at rest, and USD inverts all.
    singular = ~np.isfinite(affine.invert(binds)).all(axis=(1, 2))
    binds[singular] = affine.identity((), np.float64)
    stand_ins: list[tuple[int, Array]] = []
    extra: list[Array] = []
    found: dict[tuple[Any, ...], int] = {}
    joints, geometry = [], []
    for mesh in character.meshes:
        inverse = mesh.inverse_bind.astype(np.float64)
        place, fits = _geometry(mesh, affine.multiply(binds[mesh.joint_list], inverse))
        numbers, seen = mesh.joint_list.astype(np.int64), Counter[int]()
        for b, joint in enumerate(mesh.joint_list.tolist()):
            seen[joint] += 1
            if fits[b] and seen[joint] == 1:
                continue
            key = (joint, seen[joint], inverse[b].tobytes(), place.tobytes())
            if key not in found:
                found[key] = len(skeleton) + len(stand_ins)
                rest, bind = _stand_in(inverse[b], place)
                stand_ins.append((joint, rest))
                extra.append(bind)
            numbers[b] = found[key]
        joints.append(numbers)
        geometry.append(place)
    return Binding(np.concatenate([binds, np.reshape(extra, (-1, 3, 4))]), stand_ins, joints, geometry)


def _geometry(mesh: Mesh, each: Array) -> tuple[Array, Array]:
    """What brings the mesh to where it was bound for most of its joints, `(3, 4)`, and which those are."""
    regular = np.abs(np.linalg.det(each[:, :, :3])) > 0
    if len(each) == 1 or not regular.any():
        # One joint is always right; joints without a size all need stand-ins, wherever the mesh is.
        alone = len(each) == 1
        return each[0] if alone else affine.identity((), np.float64), np.full(len(each), alone)
    size = max(float(np.abs(mesh.positions).max(initial=0)), 1e-30)
    scaled = each.copy()
    scaled[:, :, 3] /= size  # what a wrong number does to the farthest vertex
    step = _SAME * max(float(np.abs(scaled[regular][:, :, :3]).max()), 1e-30)
    cells = np.rint(scaled / (4 * step))
    _, first, counts = np.unique(
        cells[regular].reshape(-1, 12), axis=0, return_index=True, return_counts=True
    )
    chosen = int(np.flatnonzero(regular)[first[np.argmax(counts)]])
    return np.array(each[chosen]), np.abs(scaled - scaled[chosen]).max(axis=(1, 2)) <= step


def _stand_in(inverse: Array, geometry: Array) -> tuple[Array, Array]:
    """Rest and bind matrix of a joint below the true one, with `rest @ inverse(bind) @ geometry == inverse`."""
    eye = affine.identity((), np.float64)
    with np.errstate(invalid="ignore"):
        bind = affine.multiply(geometry, affine.invert(inverse))
    if np.isfinite(affine.invert(bind)).all():
        return eye, bind
    return affine.multiply(inverse, affine.invert(geometry)), eye


def joint_tokens(skeleton: Skeleton, binding: Binding, uses: Sequence[Array], path: object) -> list[str]:
    """Joints and stand-ins as the paths USD knows them by. `uses`: numbers of joints that are named again elsewhere."""
    names = PrimNames()
    parents = [*skeleton.parents.tolist(), *(joint for joint, _ in binding.stand_ins)]
    titles = [*skeleton.names, *(f"{skeleton.names[joint]}_again" for joint, _ in binding.stand_ins)]
    parts = [names.of(title, parent) for title, parent in zip(titles, parents)]
    length = np.zeros(len(parts), np.int64)
    for j, (part, parent) in enumerate(zip(parts, parents)):
        length[j] = len(part) + (length[parent] + 1 if parent >= 0 else 0)
    times = np.ones(len(parts), np.int64)
    for numbers in uses:
        np.add.at(times, numbers, 1)
    total = int((length * times).sum())
    if total > MAX_PATH_BYTES:
        raise ResourceLimitError(
            f"USD names a joint by all joints above it: {len(parts)} joints, up to {int(skeleton.depth.max()) + 1} "
            f"deep, would take {total >> 20} MiB of names; marrow writes {MAX_PATH_BYTES >> 20} MiB",
            path=path,
            remedy="save as .glb or .marrow",
        )
    tokens: list[str] = []
    for part, parent in zip(parts, parents):
        tokens.append(f"{tokens[parent]}/{part}" if parent >= 0 else part)
    return tokens


def write_skeleton(
    stage: Any,
    where: str,
    character: Character,
    binding: Binding,
    tokens: list[str],
    channels: Channels,
    path: object,
) -> Any:
    """The Skeleton prim at `where`."""
    from pxr import Sdf, UsdSkel

    skeleton, rest = character.skeleton, character.skeleton.rest
    parts = [np.asarray(a, np.float32) for a in (rest.translation, rest.rotation, rest.scale)]
    if not all(np.isfinite(a).all() for a in (*parts, rest.morphs)):
        raise FormatError("the pose at rest is not finite", path=path, place="skeleton")
    made = UsdSkel.Skeleton.Define(stage, where)
    local = transform.compose(*(a.astype(np.float64) for a in parts))
    at_rest = np.concatenate([local, np.reshape([m for _, m in binding.stand_ins], (-1, 3, 4))])
    made.CreateJointsAttr(tokens)
    made.CreateBindTransformsAttr(matrices(binding.binds))
    made.CreateRestTransformsAttr(matrices(at_rest))
    own = list(skeleton.names)
    if len(set(own)) == len(own) and all(own) and not binding.stand_ins:
        made.CreateJointNamesAttr(own)
    UsdSkel.BindingAPI.Apply(made.GetPrim())
    # Matrices taken apart again are rounded, and do not tell which axes were mirrored.
    kinds = Sdf.ValueTypeNames
    again = transform.decompose(column_affine(matrices(local)).reshape(-1, 3, 4))
    for name, kind, fill, values, found in zip(
        ("translations", "rotations", "scales"),
        (kinds.Float3Array, kinds.QuatfArray, kinds.Float3Array),
        (vectors3, quaternions, vectors3),
        parts,
        again,
    ):
        if values.tobytes() != found.astype(np.float32).tobytes():
            attribute = made.GetPrim().CreateAttribute(
                f"{NAMESPACE}rest:{name}", kind, True, Sdf.VariabilityUniform
            )
            attribute.Set(fill(values))
    sockets = [
        UsdSocketNote(
            s.name, s.joint, *(tuple(np.asarray(a).tolist()) for a in (s.translation, s.rotation, s.scale))
        )
        for s in skeleton.sockets
    ]
    morphs = zip(skeleton.morph_names, channels.tokens, channels.full.tolist(), rest.morphs.tolist())
    put(
        made.GetPrim(),
        RigNotes(len(skeleton), own, list(morphs), sockets, skeleton.bones),
        path,
    )
    return made
