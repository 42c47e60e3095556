"""The node tree: which nodes become joints, in which order, and the rest pose they give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import MarrowError, UnknownNameError
from marrow.io.gltf import notes
from marrow.io.gltf.context import Context
from marrow.io.gltf.limits import MAX_LISTED, limit
from marrow.io.gltf.notes import NodeNotes, SceneNotes
from marrow.io.gltf.plain import NOTED_DEPTH, check_depth
from marrow.io.gltf.schema import NOTHING, NodeDef, SceneDef
from marrow.math import affine, quaternion, transform
from marrow.math.elementary import dot
from marrow.model import Socket, _validate

__all__ = ["Tree", "read_sockets", "read_tree", "rest_transforms"]

Array = NDArray[Any]
# Beyond this a rotation was not just rounded, and the report says so.
UNIT_TOLERANCE = 1e-3
SHEAR_TOLERANCE = 1e-4


@dataclass(slots=True)
class Tree:
    """The joints of a file. `nodes[j]` is joint j's glTF node, `joint_of` the way back (a node that is no
    joint stands for its nearest joint above). `mesh_nodes` are the nodes with a mesh, depth first."""

    nodes: list[int]
    parents: list[int]
    joint_of: dict[int, int]
    mesh_nodes: list[int]
    notes: dict[int, NodeNotes]
    scene_notes: SceneNotes
    scene: SceneDef | None = None
    names: tuple[str, ...] = ()


def read_tree(ctx: Context, apart: Set[int] = frozenset()) -> Tree:
    """All nodes reachable from the default scene, depth first, then those a skin needs from outside it. The meshes of
    nodes `apart`, which stand for others, are not drawn."""
    nodes = ctx.document.nodes
    above = _parents(ctx)
    scene, roots = _roots(ctx, above, apart)
    scene_notes = notes.read(scene.extras, SceneNotes, ctx.report, "scenes") if scene else SceneNotes()
    try:
        check_depth([scene_notes.extras, scene_notes.vrm, scene_notes.constraints], NOTED_DEPTH)
    except (ValueError, RecursionError) as error:
        ctx.report.add("dropped", "scenes", f"marrow's notes on data of other programs: {error}")
        scene_notes.extras = scene_notes.vrm = scene_notes.constraints = None
    tree = Tree([], [], {}, [], {}, scene_notes, scene)
    for root in roots:
        if above[root] >= 0:
            ctx.report.add("warning", f"nodes[{root}]", "the scene lists it as a root, but it has a parent")
    _walk(ctx, tree, roots, None)
    tree.mesh_nodes = [n for n in tree.mesh_nodes if n not in apart]
    outside = _needed_outside(ctx, tree, above, apart)
    if outside:
        ctx.report.add(
            "info", "skins", f"{len(outside)} joints lie outside the scene and were added after it"
        )
        _walk(ctx, tree, [n for n in sorted(outside) if above[n] not in outside], outside)
    beside = len(nodes) - len(tree.notes) - len(_below(ctx, apart) - tree.notes.keys())
    if beside:
        ctx.report.add("dropped", "nodes", f"{beside} nodes lie outside the scene and were left out")
    if scene_notes.joints is not None:
        _reorder(ctx, tree, scene_notes.joints)
    if not tree.nodes:
        raise ctx.refuse("holds no nodes: there is no skeleton to read", "nodes")
    tree.names = tuple([nodes[n].name or f"node_{n}" for n in tree.nodes])
    if len(set(tree.names)) < len(tree.names):
        twice = [name for name, count in Counter(tree.names).items() if count > 1]
        shown = ", ".join(map(repr, twice[:5])) + (", ..." if len(twice) > 5 else "")
        ctx.report.add(
            "warning", "nodes", f"several joints share a name: {shown}; the first of them answers to it"
        )
    return tree


def _below(ctx: Context, tops: Set[int]) -> set[int]:
    """The nodes `tops` and all below them."""
    found: set[int] = set()
    stack = list(tops)
    while stack:
        n = stack.pop()
        if n not in found:
            found.add(n)
            stack.extend(ctx.document.nodes[n].children or ())
    return found


def _parents(ctx: Context) -> list[int]:
    """The parent of every node; refuses a node with two parents and nodes that are their own ancestors."""
    nodes = ctx.document.nodes
    above = [-1] * len(nodes)
    for index, node in enumerate(nodes):
        for child in node.children or ():
            if child >= len(nodes):
                raise ctx.refuse(
                    f"child {child} does not exist; there are {len(nodes)} nodes", f"nodes[{index}]"
                )
            if above[child] >= 0:
                raise ctx.refuse(
                    f"is a child of both node {above[child]} and node {index}", f"nodes[{child}]"
                )
            above[child] = index
    # With one parent each, whatever cannot be reached from a root runs in a circle.
    stack = [n for n in range(len(nodes)) if above[n] < 0]
    reached = bytearray(len(nodes))
    while stack:
        n = stack.pop()
        reached[n] = 1
        stack.extend(nodes[n].children or ())
    if 0 in reached:
        raise ctx.refuse("is its own ancestor", f"nodes[{reached.index(0)}]")
    return above


def _roots(ctx: Context, above: list[int], apart: Set[int]) -> tuple[SceneDef | None, list[int]]:
    document = ctx.document
    if not document.scenes:
        return None, [n for n, parent in enumerate(above) if parent < 0 and n not in apart]
    index = _wanted_scene(ctx)
    scene = ctx.pick(document.scenes, index, "scenes", "scene")
    for n in scene.nodes or ():
        ctx.pick(document.nodes, n, "nodes", f"scenes[{index}]")
    if len(document.scenes) > 1:
        names = ", ".join(repr(s.name or i) for i, s in enumerate(document.scenes[:8]))
        told = f"of {len(document.scenes)} scenes ({names}), scene {index} was read; scene= reads another"
        ctx.report.add("info", "scenes", told)
    if scene.nodes:
        return scene, list(scene.nodes)
    ctx.report.add("warning", "scenes", f"scene {index} is empty; every node of the file was read instead")
    return scene, [n for n, parent in enumerate(above) if parent < 0 and n not in apart]


def _wanted_scene(ctx: Context) -> int:
    """The scene that the caller names, by its name or number, or the one that the file says."""
    scenes, wanted = ctx.document.scenes, ctx.scene
    if wanted is None:
        return ctx.document.scene or 0
    if isinstance(wanted, str):
        names = [s.name for s in scenes]
        if wanted not in names:
            raise UnknownNameError("scene", wanted, [n for n in names if n])
        return names.index(wanted)
    return _validate.position("scene", wanted, len(scenes))


def _walk(ctx: Context, tree: Tree, roots: list[int], only: set[int] | None) -> None:
    """Adds the nodes below `roots` in depth-first order (those in `only`, whose meshes are not drawn)."""
    nodes = ctx.document.nodes
    visited = set(tree.joint_of)
    stack = [(root, -1) for root in reversed(roots)]
    while stack:
        n, parent = stack.pop()
        if n in visited:
            raise ctx.refuse("is reached twice in the scene", f"nodes[{n}]")
        visited.add(n)
        node = nodes[n]
        extras = node.extras
        noted = NodeNotes() if extras is NOTHING else notes.read(extras, NodeNotes, ctx.report, f"nodes[{n}]")
        if noted.joint or not _may_be_skipped(node, noted, parent):
            tree.joint_of[n] = len(tree.nodes)
            tree.nodes.append(n)
            tree.parents.append(parent)
        elif parent >= 0:
            tree.joint_of[n] = parent
        if node.mesh is not None and only is None:
            tree.mesh_nodes.append(n)
        tree.notes[n] = noted
        below = tree.joint_of.get(n, -1)
        if node.children:
            stack.extend([(c, below) for c in reversed(node.children) if only is None or c in only])


def _reorder(ctx: Context, tree: Tree, wanted: list[int]) -> None:
    """Puts the joints into the order a note asks for, if it names just them, parents first."""
    rank = {n: i for i, n in enumerate(wanted)}
    new = [rank.get(n, -1) for n in tree.nodes]
    fits = sorted(new) == list(range(len(wanted)))
    if not fits or not all(p < 0 or new[p] < i for p, i in zip(tree.parents, new)):
        ctx.report.add("dropped", "scenes", "marrow's note on the order of the joints does not fit the nodes")
        return
    parents = [-1] * len(wanted)
    for i, parent in zip(new, tree.parents):
        parents[i] = new[parent] if parent >= 0 else -1
    tree.nodes, tree.parents = list(wanted), parents
    tree.joint_of = {n: new[j] for n, j in tree.joint_of.items()}


def _may_be_skipped(node: NodeDef, noted: NodeNotes, parent: int) -> bool:
    """A node noted as no joint must move nothing, and its mesh must have something to follow."""
    if (noted.end is not None or noted.placed) and node.mesh is None and not node.children and parent >= 0:
        return True
    moves = node.matrix or node.translation or node.rotation or node.scale
    return not moves and (node.mesh is None or node.skin is not None or parent >= 0)


def _needed_outside(ctx: Context, tree: Tree, above: list[int], apart: Set[int]) -> set[int]:
    """The joints of used skins, and the nodes above them, that the scene does not hold."""
    document = ctx.document
    outside: set[int] = set()
    seen: set[int] = set()
    for n in [*tree.mesh_nodes, *sorted(apart)]:
        skin = document.nodes[n].skin
        if skin is None or skin in seen:
            continue
        seen.add(skin)
        for joint in ctx.pick(document.skins, skin, "skins", f"nodes[{n}]").joints:
            ctx.pick(document.nodes, joint, "nodes", f"skins[{skin}].joints")
            j = joint
            while j >= 0 and j not in tree.joint_of and j not in outside:
                if j in tree.notes:
                    break
                outside.add(j)
                j = above[j]
    return outside


def rest_transforms(ctx: Context, tree: Tree) -> tuple[Array, Array, Array]:
    """Translation `(J, 3)`, rotation `(J, 4)` and scale `(J, 3)` of the joints, in float32."""
    nodes = [ctx.document.nodes[n] for n in tree.nodes]
    t = np.array([n.translation or (0.0, 0.0, 0.0) for n in nodes])
    r = np.array([n.rotation or (0.0, 0.0, 0.0, 1.0) for n in nodes])
    s = np.array([n.scale or (1.0, 1.0, 1.0) for n in nodes])
    with_matrix = [j for j, n in enumerate(nodes) if n.matrix is not None]
    if with_matrix:
        t[with_matrix], r[with_matrix], s[with_matrix] = _decomposed(ctx, tree, with_matrix)
    length = np.sqrt(dot(r, r))
    off = np.abs(length - 1)
    if float(off.max()) > UNIT_TOLERANCE:
        ctx.report.add(
            "repaired", "nodes", f"{int((off > UNIT_TOLERANCE).sum())} rotations were not of unit length"
        )
    # What float32 rounding explains stays as the file has it.
    wrong = off > 1e-6
    if wrong.any():
        r = np.where(wrong[:, None], quaternion.normalize(r), r)
    with np.errstate(over="ignore"):
        parts = [a.astype(np.float32) for a in (t * ctx.scale, r, s)]
    if not all(np.isfinite(a).all() for a in parts):
        raise ctx.refuse("a transform is too large for single precision", "nodes")
    return parts[0], parts[1], parts[2]


def _decomposed(ctx: Context, tree: Tree, joints: list[int]) -> tuple[Array, Array, Array]:
    rows = []
    for j in joints:
        matrix = ctx.document.nodes[tree.nodes[j]].matrix
        if matrix is None or len(matrix) != 16:
            raise ctx.refuse("a matrix must have 16 numbers", f"nodes[{tree.nodes[j]}].matrix")
        rows.append(matrix)
    # Files store columns.
    matrices = affine.from_4x4(np.array(rows).reshape(-1, 4, 4).swapaxes(1, 2))
    with np.errstate(over="ignore", invalid="ignore"):
        t, r, s = transform.decompose(matrices)
        again = transform.compose(t, r, s)
        size = np.abs(matrices[..., :3]).max(axis=(1, 2)) + np.finfo(float).tiny
        error = np.abs(again - matrices)[..., :3].max(axis=(1, 2)) / size
    for k in np.flatnonzero(~(error <= SHEAR_TOLERANCE)).tolist():
        n = tree.nodes[joints[k]]
        name = ctx.document.nodes[n].name or f"node_{n}"
        ctx.report.add("repaired", name, f"its matrix has shear, which was left out (off by {error[k]:.1%})")
    return t, r, s


def read_sockets(ctx: Context, tree: Tree) -> tuple[Socket, ...]:
    """The sockets noted on the nodes, in their original order."""
    found: list[tuple[int, Socket]] = []
    count = sum(len(noted.sockets) for noted in tree.notes.values())
    limit(count, MAX_LISTED, "sockets", ctx.source.path)
    for n, joint in tree.joint_of.items():
        for s in tree.notes[n].sockets:
            try:
                parts = (np.asarray(s.translation) * ctx.scale, np.asarray(s.rotation), np.asarray(s.scale))
                found.append((s.index, Socket(s.name, joint, *parts)))
            except (MarrowError, OverflowError) as error:
                ctx.report.add("dropped", f"nodes[{n}]", f"socket {s.name!r}: {error}")
    return tuple(socket for _, socket in sorted(found, key=lambda pair: pair[0]))
