"""What a running graph is doing at this moment, for people to look at: `look`.

The control pass leaves behind what it found for the instance it came to last; that one is shown.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.graph.animator import Animator
from marrow.graph.compiled import CompiledGraph
from marrow.graph.compiler import Compiler, normalized
from marrow.graph.description import Graph
from marrow.graph.tables import Part, Scope
from marrow.kernels import control_tables as ct
from marrow.model.character import Character

__all__ = ["GraphMoment", "MachineMoment", "compile_with_paths", "look", "palette_and_morphs"]

Array = NDArray[Any]


@dataclass(frozen=True)
class MachineMoment:
    """A machine in `state`; on its way there from `source` while `progress` is below one."""

    state: str
    source: str | None
    progress: float


@dataclass(frozen=True)
class GraphMoment:
    """Machines by path, how much is seen of each node by path (none of it: left out), values of float
    parameters after smoothing."""

    machines: dict[str, MachineMoment]
    weights: dict[str, float]
    values: dict[str, float]


@dataclass
class _PathCompiler(Compiler):
    """A compiler that remembers where each node was."""

    paths: list[str] = field(default_factory=list)

    def visit(self, node: Any, path: str, scope: Scope) -> Part:
        self.paths.append(path)
        return super().visit(node, path, scope)


def compile_with_paths(graph: Graph, character: Character) -> tuple[CompiledGraph, tuple[str, ...]]:
    """`compile_graph`, and the path of every node in the order of its tables."""
    compiler = _PathCompiler(normalized(graph), character)
    compiled = compiler.compile()
    return compiled, tuple(compiler.paths)


def look(animator: Animator, paths: tuple[str, ...]) -> GraphMoment:
    """What the graph of an animator does; `paths` are those of `compile_with_paths`."""
    control = animator._running
    compiled, row, work = control.compiled, control.state[-1], control._work
    weights = {
        path: float(weight)
        for path, weight, seen in zip(
            paths, work["weight"].tolist(), (work["seen"] == work["seen"][0]).tolist()
        )
        if seen
    }
    values = {
        name: float(row[entry.value])
        for name, entry in compiled.parameters.items()
        if entry.type in ("float", "bool")
    }
    return GraphMoment(_machines(compiled, row), weights, values)


def palette_and_morphs(animator: Animator) -> tuple[Array, Array]:
    """Skinning matrices `(N, P, 3, 4)` and weights of the morph channels `(N, M)` of this moment, in one
    pass."""
    character, N = animator.character, animator.count
    M, P, layout = len(character.skeleton.morph_names), len(character.palette), animator._bank.layout
    if M == 0:
        return animator.matrices.reshape(N, P, 3, 4), np.zeros((N, 0), np.float32)
    outputs = animator._outputs
    if "palette" not in outputs or "pose" not in outputs:
        palette = np.empty((N, P, 3, 4), np.float32)
        pose = np.empty((N, layout.size), np.float32)
        animator._run(palette=palette, pose=pose)
        outputs["palette"] = palette.reshape(*animator._batch, P, 3, 4)
        outputs["pose"] = pose.reshape(*animator._batch, -1)
    rows = outputs["pose"].reshape(N, -1)
    return outputs["palette"].reshape(N, P, 3, 4), rows[:, 10 * layout.joints : 10 * layout.joints + M]


def _machines(compiled: CompiledGraph, row: Any) -> dict[str, MachineMoment]:
    """The machines that can be seen; the others stand still."""
    found = {}
    for path, entry in compiled.machines.items():
        at = entry.at
        if row[at + ct.LIVE] != 1.0:
            continue
        table = compiled.tables.machines
        machine = table[table["at"] == at][0]
        current = int(row[at + ct.CURRENT])
        source, progress = None, 1.0
        if row[at + ct.SECONDS] > 0:
            weights, size = int(machine["weights"]), ct.STATE_COLUMNS
            before = [row[weights + k * size + ct.FROM] for k in range(len(entry.states))]
            before[current] = -1.0
            source = entry.states[max(range(len(before)), key=before.__getitem__)]
            progress = float(row[at + ct.PROGRESS] / row[at + ct.SECONDS])
        elif row[at + ct.INERT_SECONDS] > 0:
            progress = float(row[at + ct.INERT_TIME] / row[at + ct.INERT_SECONDS])
        found[path] = MachineMoment(entry.states[current], source, min(progress, 1.0))
    return found
