"""`MSFT_lod`: nodes that stand for another one when it is far away, read and written as levels of detail.

A node with a mesh names the nodes of its coarser levels. They are no part of the scene. A mesh whose node names none
is the same at every level. What the extension has no words for, joints and errors, is noted in the extras of the
scene.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
from msgspec import Raw, Struct

from marrow.io.gltf.context import Context
from marrow.io.gltf.extras import COVERAGE
from marrow.io.gltf.geometry import MorphChannels, given_names, read_meshes
from marrow.io.gltf.notes import LevelNote, NodeNotes, read
from marrow.io.gltf.scene import Tree
from marrow.io.gltf.schema import NOTHING
from marrow.model import Level, Lod, Mesh

__all__ = ["MSFT_LOD", "Lods", "read_lods", "screen_coverage"]

MSFT_LOD = "MSFT_lod"
MOST = 64


class _Ids(Struct, gc=False):
    ids: list[int]


class _Coverage(Struct, gc=False):
    MSFT_screencoverage: list[float] | None = None


@dataclass(slots=True)
class Lods:
    """The nodes that stand for others: `of[n]` are the levels of node `n`, finest first; `coverage` is how much of
    the screen each level fills at least, where the file says so."""

    of: dict[int, list[int]] = field(default_factory=dict)
    coverage: list[float] = field(default_factory=list)

    @property
    def nodes(self) -> set[int]:
        return {n for ids in self.of.values() for n in ids}

    def take_channels(self, ctx: Context, channels: MorphChannels) -> None:
        """The morph targets of a level are those of the node it stands for."""
        nodes = ctx.document.nodes
        for n, ids in self.of.items():
            for other in ids:
                count, noted = _target_count(ctx, nodes[other].mesh), _notes(ctx, other)
                said = noted.channels or ()
                if count and len(said) == count and all(0 <= c < len(channels.names) for c in said):
                    channels.of_node[other] = list(said)
                    channels.target_names[other] = given_names(ctx, other, count)
                    full = noted.full_weights or ()
                    if len(full) == count and all(full):
                        channels.full_weights[other] = list(full)
                elif count and count == len(channels.of_node.get(n, ())):
                    channels.of_node[other] = channels.of_node[n]
                    channels.target_names[other] = channels.target_names[n]
                    if n in channels.full_weights:
                        channels.full_weights[other] = channels.full_weights[n]
                elif count:
                    ctx.report.add(
                        "dropped",
                        f"nodes[{other}]",
                        "its morph targets: they are not those of the level before",
                    )

    def levels(
        self, ctx: Context, tree: Tree, channels: MorphChannels
    ) -> tuple[tuple[Level, ...], tuple[int, ...]]:
        """The levels, with the meshes that are the same at all; and the nodes of all these meshes."""
        count = max(map(len, self.of.values()), default=0)
        out: list[Level] = []
        nodes: list[int] = []
        joints = len(tree.nodes)
        for k in range(count):
            shown = [self._at(n, k) for n in tree.mesh_nodes]
            level = copy.copy(tree)
            level.mesh_nodes = [n for n in shown if ctx.document.nodes[n].mesh is not None]
            level.notes = dict(tree.notes)
            for n, other in zip(tree.mesh_nodes, shown):
                if other not in level.notes:
                    noted = _notes(ctx, other)
                    noted.order = tree.notes[n].order if noted.order is None else noted.order
                    level.notes[other] = noted
            meshes, shown_by = read_meshes(ctx, level, channels)
            nodes.extend(shown_by)
            note = self._note(tree, k, joints, meshes, ctx)
            joints = note.joints
            if k < len(self.coverage) and note.screen_size is None:
                note.screen_size = self.coverage[k]
            figures = {name: getattr(note, name) for name in LevelNote.__struct_fields__}
            out.append(Level(meshes, Lod.of(meshes, **figures)))
        return tuple(out), tuple(nodes)

    def _at(self, n: int, level: int) -> int:
        """The node that stands for `n` at a level; one with fewer levels keeps its last."""
        ids = self.of.get(n)
        return n if not ids else ids[min(level, len(ids) - 1)]

    def _note(self, tree: Tree, level: int, joints: int, meshes: tuple[Mesh, ...], ctx: Context) -> LevelNote:
        noted = tree.scene_notes.levels or []
        if level >= len(noted):
            return LevelNote(joints)
        used = max((int(m.joint_list.max(initial=-1)) + 1 for m in meshes), default=0)
        if not used <= noted[level].joints <= joints:
            ctx.report.add(
                "dropped", "scenes", "marrow's note on the joints of its levels does not fit the skins"
            )
            return LevelNote(joints)
        scale = ctx.scale
        note = noted[level]
        error, mean, size = (
            None if v is None else v * scale for v in (note.error, note.mean_error, note.size)
        )
        made = None if note.reduction is None else note.reduction.scaled(scale)
        return LevelNote(note.joints, error, mean, size, note.screen_size, note.hysteresis, made)


def screen_coverage(levels: Sequence[Level]) -> list[float] | None:
    """What `MSFT_screencoverage` says of levels: how much of the screen each fills at least; None where it is not known of
    all."""
    sizes = [level.lod.screen_size for level in levels]
    return [*(s for s in sizes if s is not None), 0.0] if sizes and None not in sizes else None


def _notes(ctx: Context, node: int) -> NodeNotes:
    return read(ctx.document.nodes[node].extras, NodeNotes, ctx.report, f"nodes[{node}]")


def _target_count(ctx: Context, mesh: int | None) -> int:
    if mesh is None or mesh >= len(ctx.document.meshes):
        return 0
    return max((len(p.targets or ()) for p in ctx.document.meshes[mesh].primitives), default=0)


def read_lods(ctx: Context) -> Lods:
    """Which nodes stand for which. A node may stand for one other only, and not for itself."""
    out = Lods()
    taken: set[int] = set()
    for n, node in enumerate(ctx.document.nodes):
        found = ctx.extension(node.extensions, MSFT_LOD, _Ids, f"nodes[{n}]")
        if found is None:
            continue
        ids = found.ids[:MOST]
        for other in ids:
            if other < 0:
                raise ctx.refuse(f"{MSFT_LOD} names node {other}", f"nodes[{n}]")
            ctx.pick(ctx.document.nodes, other, "nodes", f"nodes[{n}]")
        if node.mesh is None or n in taken or set(ids) & (taken | {n}) or len(set(ids)) < len(ids):
            ctx.report.add("dropped", f"nodes[{n}]", "its levels of detail: they are no meshes of its own")
            continue
        if any(ctx.document.nodes[i].children for i in ids):
            ctx.report.add("dropped", f"nodes[{n}]", "what hangs below the nodes of its levels of detail")
        out.of[n] = ids
        taken |= {n, *ids}
        out.coverage = out.coverage or _coverage(node.extras)
    return out


def _coverage(extras: Raw) -> list[float]:
    if extras is NOTHING or COVERAGE.encode() not in bytes(extras):
        return []
    try:
        found = msgspec.json.decode(extras, type=_Coverage).MSFT_screencoverage or []
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return []
    return found if all(v >= 0 for v in found) else []
