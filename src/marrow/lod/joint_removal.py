"""Fewer joints: which may go, in the order of how little the surface moves without them, found by measuring.

A joint goes only after all below it, so that what is left moves as it did. Its vertices follow the nearest joint above.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import affine
from marrow.math.counting import bincount
from marrow.model import Character, Clip, Mesh, Pose, Skeleton, Socket, Tracks
from marrow.model._validate import owned
from marrow.model.clip import PATHS
from marrow.skinning import skinning_matrices

__all__ = ["moved_weights", "removal_order", "reordered"]

Array = NDArray[Any]
LEAST_WEIGHT = 1e-4


def removal_order(
    character: Character, poses: Pose, keep: Iterable[int] = (), gone: Iterable[int] = ()
) -> tuple[list[int], list[float]]:
    """The joints that may go, first to last, and how far the surface is off once each is gone, in metres. Joints of
    `keep` and all above them stay, and so does a root that carries vertices; those of `gone` went before."""
    skeleton = character.skeleton
    parents = skeleton.parents.tolist()
    children = bincount(skeleton.parents[skeleton.parents >= 0], minlength=len(skeleton)).tolist()
    stays = np.zeros(len(skeleton), bool)
    for j in keep:
        stays[[j, *skeleton.ancestors(j)]] = True
    carried = [_Carried(mesh, character, k, poses) for k, mesh in enumerate(character.meshes)]

    def price(j: int) -> float:
        if parents[j] < 0:
            return np.inf if any(c.carries(j) for c in carried) else 0.0
        return max((c.off(j, parents[j]) for c in carried), default=0.0)

    for j in sorted(gone, reverse=True):
        for c in carried if parents[j] >= 0 else ():
            c.move(j, parents[j])
        children[j] = -1
        if parents[j] >= 0:
            children[parents[j]] -= 1
    leaves = {j: price(j) for j, n in enumerate(children) if n == 0 and not stays[j]}
    order: list[int] = []
    errors: list[float] = []
    while leaves:
        # Of those that cost the same the deepest goes first, then the last in the file.
        j = min(leaves, key=lambda k: (leaves[k], -int(skeleton.depth[k]), -k))
        if leaves[j] == np.inf:
            break
        order.append(j)
        errors.append(max(leaves.pop(j), errors[-1] if errors else 0.0))
        p = parents[j]
        touched = [c.move(j, p) for c in carried] if p >= 0 else []
        if p >= 0:
            children[p] -= 1
            if children[p] == 0 and not stays[p]:
                leaves[p] = np.inf
        for k in leaves:
            if k == p or any(c.shares(k, rows) for c, rows in zip(carried, touched)):
                leaves[k] = price(k)
    return order, errors


class _Carried:
    """How the vertices of a mesh follow joints, and how far they already are from where they should be."""

    def __init__(self, mesh: Mesh, character: Character, number: int, poses: Pose) -> None:
        model = character.skeleton.to_model(poses)
        slots = character.palette.mesh_slots[number]
        palette = skinning_matrices(character, model).astype(np.float64)[:, slots]
        F, J = len(palette), len(character.skeleton)
        self.points = mesh.positions.astype(np.float64)
        self.off_by = np.zeros((F, len(self.points), 3))
        self.weights: dict[int, tuple[Array, Array]] = {}
        """For each joint the vertices that follow it and how much."""
        self.matrices: dict[int, Array] = {}
        joint = mesh.joint_list[mesh.joints]
        for j in range(J):
            hit = (joint == j) & (mesh.weights > LEAST_WEIGHT)
            rows = np.flatnonzero(hit.any(axis=1))
            if len(rows):
                self.weights[j] = (
                    rows,
                    np.where(hit[rows], mesh.weights[rows], 0).sum(axis=1, dtype=np.float64),
                )
        for b in range(len(mesh.joint_list) - 1, -1, -1):
            self.matrices[int(mesh.joint_list[b])] = palette[:, b]
        self._model, self._rest = model.astype(np.float64), character.skeleton.rest_model.astype(np.float64)

    def carries(self, j: int) -> bool:
        return j in self.weights

    def shares(self, j: int, rows: Array) -> bool:
        return j in self.weights and len(rows) > 0 and bool(np.isin(rows, self.weights[j][0]).any())

    def _above(self, j: int, parent: int) -> Array:
        """The matrices with which `parent` carries what followed `j`."""
        found = self.matrices.get(parent)
        if found is None:  # the mesh does not know it: as both are at rest
            still = affine.multiply(affine.invert(self._rest[parent]), self._rest[j])
            bind = affine.multiply(affine.invert(self._model[:, j]), self.matrices[j])
            found = affine.multiply(self._model[:, parent], affine.multiply(still, bind))
        return found

    def _moved(self, j: int, parent: int) -> tuple[Array, Array]:
        rows, weight = self.weights[j]
        change = self._above(j, parent) - self.matrices[j]
        points = np.concatenate([self.points[rows], np.ones((len(rows), 1))], axis=1)
        return rows, self.off_by[:, rows] + weight[:, None] * (points @ change.swapaxes(1, 2))

    def off(self, j: int, parent: int) -> float:
        if j not in self.weights:
            return 0.0
        _, moved = self._moved(j, parent)
        worst = float((moved * moved).sum(axis=-1).max(initial=0.0)) ** 0.5
        return worst if np.isfinite(worst) else np.inf

    def move(self, j: int, parent: int) -> Array:
        """Lets `parent` carry what followed `j`; returns the vertices."""
        if j not in self.weights:
            return np.zeros(0, np.int64)
        rows, moved = self._moved(j, parent)
        self.off_by[:, rows] = moved
        self.matrices.setdefault(parent, self._above(j, parent))
        dense = np.zeros(len(self.points))
        dense[rows] += self.weights.pop(j)[1]
        if parent in self.weights:
            dense[self.weights[parent][0]] += self.weights[parent][1]
        found = np.flatnonzero(dense)
        self.weights[parent] = found, dense[found]
        return rows


def reordered(character: Character, order: Array) -> Character:
    """The same character with its joints in another order: joint `order[k]` becomes joint k. Parents must stay before
    their children."""
    skeleton = character.skeleton
    if np.array_equal(order, np.arange(len(skeleton))):
        return character
    new = np.empty(len(order), np.int32)
    new[order] = np.arange(len(order), dtype=np.int32)
    parents = skeleton.parents[order]
    rest = skeleton.rest
    other = Skeleton(
        tuple(skeleton.names[j] for j in order),
        np.where(parents >= 0, new[parents], -1),
        Pose(rest.translation[order], rest.rotation[order], rest.scale[order], rest.morphs),
        skeleton.morph_names,
        tuple(
            Socket(s.name, int(new[s.joint]), s.translation, s.rotation, s.scale) for s in skeleton.sockets
        ),
        {bone: int(new[j]) for bone, j in skeleton.bones.items()},
        tuple(h.replace(joint=int(new[h.joint])) for h in skeleton.hinges),
    )
    meshes = tuple(
        m.replace(joint_list=new[m.joint_list], node=int(new[m.node]) if m.node >= 0 else m.node)
        for m in character.meshes
    )
    clips = tuple(_retargeted(clip, other, new) for clip in character.clips.values())
    vrm = _renumbered(character.vrm, new)
    constraints = tuple(c.renumbered(new) for c in character.constraints)
    return character.replace(
        skeleton=other, meshes=meshes, clips=clips, vrm=vrm, constraints=constraints, reduced=()
    )


def _renumbered(vrm: Any, new: Array) -> Any:
    """VRM data names joints, or numbers those that share a name."""
    if isinstance(vrm, list):
        return [_renumbered(item, new) for item in vrm]
    if not isinstance(vrm, dict):
        return vrm
    return {
        key: int(new[value])
        if key in ("node", "source", "center") and isinstance(value, int)
        else _renumbered(value, new)
        for key, value in vrm.items()
    }


def _retargeted(clip: Clip, skeleton: Skeleton, new: Array) -> Clip:
    table = clip.tracks.table.copy()
    joints = table["path"] != PATHS.index("morph")
    table["target"][joints] = new[table["target"][joints]]
    return clip.replace(skeleton=skeleton, tracks=Tracks(owned(table), clip.tracks.times, clip.tracks.values))


def moved_weights(mesh: Mesh, skeleton: Skeleton, mapped: Array) -> Mesh:
    """The mesh on fewer joints: what followed joint j now follows `mapped[j]`. The same mesh where nothing changes."""
    joint_list = mesh.joint_list
    target = mapped[joint_list]
    node = int(mapped[mesh.node]) if mesh.node >= 0 else mesh.node
    if np.array_equal(target, joint_list):
        return mesh if node == mesh.node else mesh.replace(node=node)
    rest = skeleton.rest_model.astype(np.float64)
    stays = np.flatnonzero(target == joint_list)
    first = {int(joint_list[b]): k for k, b in reversed(list(enumerate(stays)))}
    joints, binds = joint_list[stays].tolist(), [mesh.inverse_bind[b] for b in stays]
    row = np.empty(len(joint_list), np.int64)
    row[stays] = np.arange(len(stays))
    used = np.zeros(len(joint_list), bool)
    used[np.unique(mesh.joints[mesh.weights > 0])] = True
    for b in np.flatnonzero((target != joint_list) & used).tolist():
        to = int(target[b])
        if to not in first:  # the mesh does not know it yet: as both are at rest
            still = affine.multiply(affine.invert(rest[to]), rest[joint_list[b]])
            first[to] = len(joints)
            joints.append(to)
            binds.append(affine.multiply(still, mesh.inverse_bind[b].astype(np.float64)).astype(np.float32))
        row[b] = first[to]
    row[(target != joint_list) & ~used] = 0
    if not joints:  # nothing carries a vertex
        return mesh.replace(node=node, joint_list=np.zeros(0, np.int32), inverse_bind=np.zeros((0, 3, 4)))
    merged, weights = _merged(row[mesh.joints], mesh.weights)
    return mesh.replace(
        joints=merged,
        weights=weights,
        joint_list=np.array(joints, np.int32),
        inverse_bind=np.stack(binds),
        node=node,
    )


def _merged(joints: Array, weights: Array) -> tuple[Array, Array]:
    """Influences with the weights of the same joint added up, in as few columns as that needs."""
    K = weights.shape[1]
    weights = weights.copy()
    for k in range(1, K):
        for i in range(k):
            same = (joints[:, i] == joints[:, k]) & (weights[:, i] > 0) & (weights[:, k] > 0)
            weights[same, i] += weights[same, k]
            weights[same, k] = 0
    order = np.argsort(weights == 0, axis=1, kind="stable")
    weights = np.take_along_axis(weights, order, 1)
    joints = np.where(weights > 0, np.take_along_axis(joints, order, 1), 0)
    most = max(1, int((weights > 0).sum(axis=1).max(initial=1)))
    return joints[:, :most].astype(np.uint32 if joints.max(initial=0) > 0xFFFF else np.uint16), weights[
        :, :most
    ]
