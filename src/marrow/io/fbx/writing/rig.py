"""What becomes of each joint and each mesh in the file: which are bones, which nodes hold meshes, where meshes stand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.fbx.writing.binding import Bound, Links, same_matrix, uneven
from marrow.io.losses import Losses
from marrow.math import affine, transform
from marrow.model import Character, Mesh, Skeleton
from marrow.model.clip import Path

__all__ = ["FbxRig", "Placed", "plan"]

Array = NDArray[Any]


@dataclass
class Placed:
    """A mesh and its node: that of a joint (`own`), or a new one below `parent` (a joint; -1: the scene) at `local (3, 4)`.
    `bound` where it is skinned. `moved`: what its vertices are carried by before they are written. `level` of detail."""

    mesh: Mesh
    own: int = -1
    parent: int = -1
    local: Array = field(default_factory=lambda: affine.identity((), np.float64))
    bound: Bound | None = None
    moved: Array | None = None
    level: int = 0


@dataclass
class FbxRig:
    """The plan: `bones (J,)`, `left_out (J,)` (nodes that only held a mesh which now stands elsewhere), `moving (J,)`
    (joints that some clip has tracks of), `rest (J, 3, 4)`, and the meshes."""

    skeleton: Skeleton
    rest: Array
    bones: Array
    left_out: Array
    moving: Array
    placed: list[Placed]
    links: Links


def plan(character: Character, moved: Iterable[tuple[Path, int]], losses: Losses) -> FbxRig:
    """The plan of a character that is finite; `moved`: the properties that clips move."""
    skeleton = character.skeleton
    J = len(skeleton)
    rest = _rest(skeleton)
    moving = np.zeros(J, bool)
    moving[[target for path, target in moved if path != "morph"]] = True
    stays = ~moving
    for j, p in enumerate(skeleton.parents.tolist()):
        stays[j] &= p < 0 or stays[p]
    meshes = _written(character, losses)
    skinned = [bool(character.reduced) or rigid_joint(mesh) < 0 for _, mesh in meshes]
    both = ([mesh for (_, mesh), skin in zip(meshes, skinned) if skin == wanted] for wanted in (True, False))
    bones = _bones(skeleton, *both)
    rig = FbxRig(skeleton, rest, bones, np.zeros(J, bool), moving, [], Links(rest))
    order = sorted(range(len(meshes)), key=lambda i: -len(meshes[i][1].joint_list) if skinned[i] else 1)
    found: dict[int, Placed] = {}
    taken = bones.copy()
    for i in order:
        level, mesh = meshes[i]
        one = _skinned(rig, mesh, stays, losses) if skinned[i] else _rigid(mesh, losses)
        one.level = level
        if one.own >= 0 and (taken[one.own] or character.reduced):
            one = _beside(rig, one)
            one.level = level
        if one.own >= 0:
            taken[one.own] = True
        found[i] = one
    rig.placed = [found[i] for i in range(len(meshes))]
    _leave_out(rig, character, taken)
    return rig


def _rest(skeleton: Skeleton) -> Array:
    rest = skeleton.rest
    out = transform.compose(
        *(np.asarray(a, np.float64) for a in (rest.translation, rest.rotation, rest.scale))
    )
    for j, p in enumerate(skeleton.parents.tolist()):
        if p >= 0:
            out[j] = affine.multiply(out[p], out[j])
    return out


def _written(character: Character, losses: Losses) -> list[tuple[int, Mesh]]:
    """The meshes of all levels that FBX can hold."""
    levels = [character.meshes, *(level.meshes for level in character.reduced)]
    found = []
    for k, meshes in enumerate(levels):
        for mesh in meshes:
            if sum(s.count for s in mesh.sections) and mesh.vertex_count:
                found.append((k, mesh))
            else:
                losses.add(
                    f"mesh {mesh.name!r}", "a mesh without triangles is left out: FBX has polygons only"
                )
    return found


def rigid_joint(mesh: Mesh) -> int:
    """Where in its list the one joint stands that carries the whole mesh; -1 for a mesh that bends."""
    used = np.flatnonzero(used_joints(mesh))
    alone = len(used) == 1 and bool((mesh.weights.max(axis=1) == 1).all())
    return int(used[0]) if alone else -1


def used_joints(mesh: Mesh) -> Array:
    """Which joints of its list move vertices of the mesh, `(B,)` bool."""
    if not mesh.vertex_count:
        return np.zeros(len(mesh.joint_list), bool)
    return np.bincount(mesh.joints.ravel(), mesh.weights.ravel(), len(mesh.joint_list)) > 0


def _bones(skeleton: Skeleton, skinned: list[Mesh], rigid: list[Mesh]) -> Array:
    """Joints that move skins, and what hangs on them but holds no rigid mesh; all joints where there is no mesh."""
    J = len(skeleton)
    if not skinned and not rigid:
        return np.ones(J, bool)
    deforms = np.zeros(J, bool)
    for mesh in skinned:
        deforms[mesh.joint_list[used_joints(mesh)]] = True
    parents = skeleton.parents.tolist()
    out = deforms.copy()
    for j, p in enumerate(parents):
        out[j] |= p >= 0 and out[p]
    for mesh in rigid:
        if 0 <= mesh.node < J and not deforms[mesh.node]:
            out[mesh.node] = False
    return out


def _skinned(rig: FbxRig, mesh: Mesh, stays: Array, losses: Losses) -> Placed:
    n = mesh.node
    node = rig.rest[n] if 0 <= n < len(rig.skeleton) and stays[n] else None
    used = used_joints(mesh)
    bound = rig.links.bind(mesh, used, node)
    if (bound.flat & used).any():
        losses.add(
            f"mesh {mesh.name!r}",
            "has joints whose inverse bind matrix cannot be inverted: other programs move their vertices wrongly",
        )
    if (bound.apart & used).any():
        losses.add(
            f"mesh {mesh.name!r}",
            "was bound in another pose than other meshes: programs with one rest pose for a rig (Blender) show it wrongly",
        )
    size = float(np.abs(mesh.positions).max(initial=0.0))
    if node is not None and same_matrix(bound.place, node, size) and not _uneven_above(rig, n):
        return Placed(mesh, own=n, bound=bound)
    one = Placed(mesh, local=bound.place, bound=bound)
    return _even(one, losses)


def _rigid(mesh: Mesh, losses: Losses) -> Placed:
    b = rigid_joint(mesh)
    joint, local = int(mesh.joint_list[b]), mesh.inverse_bind[b].astype(np.float64)
    if joint == mesh.node and np.array_equal(local, affine.identity((), np.float64)):
        return Placed(mesh, own=joint)
    return _even(Placed(mesh, parent=joint, local=local), losses)


def _even(one: Placed, losses: Losses) -> Placed:
    """A mesh whose place a node can say; else its vertices are carried there."""
    if uneven(one.local):
        one.moved, one.local = one.local, affine.identity((), np.float64)
        if one.bound is not None:
            one.bound.place = one.local
        losses.add(
            f"mesh {one.mesh.name!r}",
            "its place is sheared, which no node is: its vertices are written where they are",
        )
    return one


def _beside(rig: FbxRig, one: Placed) -> Placed:
    """The same mesh on a node of its own: a bone holds no mesh, a node holds one."""
    if one.bound is None:
        return Placed(one.mesh, parent=one.own)
    place = one.bound.place
    return _even(Placed(one.mesh, local=place, bound=one.bound), Losses())


def _uneven_above(rig: FbxRig, joint: int) -> bool:
    return uneven(rig.rest[joint])


def _leave_out(rig: FbxRig, character: Character, taken: Array) -> None:
    """Marks nodes that did nothing but hold a skinned mesh, which has a node of its own now; with levels of detail also
    those that only held such nodes."""
    skeleton = character.skeleton
    J = len(skeleton)
    held = np.zeros(J, bool)
    for one in rig.placed:
        n = one.mesh.node
        if one.own < 0 and one.bound is not None and 0 <= n < J:
            held[n] = True
    needed = taken | rig.moving
    needed[[s.joint for s in skeleton.sockets]] = True
    needed[[*(c.joint for c in character.cameras), *(light.joint for light in character.lights)]] = True
    needed[list(skeleton.bones.values())] = True
    for one in rig.placed:
        if one.bound is None and one.parent >= 0:
            needed[one.parent] = True
    children = np.zeros(J, np.int64)
    gone = np.zeros(J, np.int64)
    for j in range(J - 1, -1, -1):
        p = int(skeleton.parents[j])
        only_held = children[j] == gone[j] and (held[j] or (bool(character.reduced) and gone[j] > 0))
        rig.left_out[j] = only_held and not needed[j]
        if p >= 0:
            children[p] += 1
            gone[p] += bool(rig.left_out[j])
    if rig.left_out.all():
        rig.left_out[:] = False
