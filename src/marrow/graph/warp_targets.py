"""`WarpTarget`: where the warps of a graph bring roots, and how far their windows are, for people to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.kernels import control_tables as ct

if TYPE_CHECKING:
    from marrow.graph.compiled import CompiledGraph
    from marrow.graph.control import GraphControl

__all__ = ["WarpTarget", "warp_targets"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class WarpTarget:
    """The target of a `WarpTo` in the world, for N instances: `translation (N, 3)` (where the root is, along axes that are
    left alone), `facing (N, 3)` or None, and `progress (N,)`: how far the window is that is open, from 0 to 1, NaN where
    none is. `path` says where the node stands, `joint` which joint reaches for it (None: the root gets there): then the
    progress is how much it does."""

    path: str
    translation: Array
    facing: Array | None
    progress: Array
    joint: str | None = None


def warp_targets(control: GraphControl) -> tuple[WarpTarget, ...]:
    """All of a graph's, in the order of its nodes."""
    compiled, state = control.compiled, control.state
    tables = compiled.tables
    out = []
    for node in np.flatnonzero(tables.nodes["kind"] == ct.WARP).tolist():
        row = tables.warps[tables.nodes["data"][node]]
        target = _linked(control, int(row["target"]))
        moved = np.array([row["x"], row["y"], row["z"]]) != 0
        facing = _linked(control, int(row["facing"])) if row["facing"] >= 0 else None
        place = np.where(moved, target, state.place[:, :3])
        out.append(WarpTarget(compiled.paths[node], place, facing, _progress(control, node, row)))
    for reach in compiled.reaches:
        share = state.values[:, reach.column]
        progress = np.where(share > 0, share, np.nan)
        out.append(WarpTarget(reach.path, _vector(control, reach.refs), None, progress, reach.joint))
    return tuple(out)


def _linked(control: GraphControl, link: int) -> Array:
    return _vector(control, control.compiled.tables.links[link : link + 3].tolist())


def _vector(control: GraphControl, refs: Sequence[int]) -> Array:
    """Three values of each instance `(N, 3)`."""
    tables, values = control.compiled.tables, control.state.values
    columns = [values[:, r] if r >= 0 else np.full(control.count, tables.constants[-1 - r]) for r in refs]
    return np.stack(columns, axis=1)


def _progress(control: GraphControl, node: int, row: Any) -> Array:
    """How far the window of a warp is that is open `(N,)`, in a clip that is seen."""
    tables, state = control.compiled.tables, control.state
    out = np.full(control.count, np.nan)
    last = int(tables.nodes["end"][node])
    for k, leaf in enumerate(tables.leaves):
        if node < leaf["node"] < last and tables.nodes["kind"][leaf["node"]] == ct.CLIP:
            seen = _seen(control.compiled, control, int(leaf["node"]))
            _note(
                out,
                control.compiled,
                row,
                np.full(control.count, leaf["clip"]),
                state.leaves["time"][:, k],
                seen,
            )
    for k, slot in enumerate(tables.slots):
        if node < slot["node"] < last:
            voices = state.voices[:, ct.VOICES * k : ct.VOICES * (k + 1)]
            for v in range(ct.VOICES):
                seen = (voices["weight"][:, v] > 0) & (state.slots["run"][:, k] == ct.RUNNING)
                _note(out, control.compiled, row, voices["clip"][:, v], voices["time"][:, v], seen)
    return out


def _seen(compiled: CompiledGraph, control: GraphControl, node: int) -> Array:
    """Who shows the states that a node is in `(N,)`."""
    nodes, seen = compiled.tables.nodes, np.ones(control.count, bool)
    for s, row in enumerate(compiled.tables.states):
        if row["node"] <= node < nodes["end"][row["node"]]:
            seen &= control.state.shares["weight"][:, s] > 0
    return seen


def _note(out: Array, compiled: CompiledGraph, row: Any, clips: Array, times: Array, seen: Array) -> None:
    tables = compiled.tables
    for clip in np.unique(clips).tolist():
        first, count = tables.links[
            int(row["windows"]) + 2 * clip : int(row["windows"]) + 2 * clip + 2
        ].tolist()
        for window in tables.windows[first : first + count]:
            inside = seen & (clips == clip) & (times >= window["begin"]) & (times <= window["end"])
            out[inside] = ((times - window["begin"]) / (window["end"] - window["begin"]))[inside]
