"""`GpuMemory`: what the programs of a crowd keep from one update to the next, in GPU memory.

It stands where an animator on the CPU has an array `(N, columns)`, and does what is done with that array: rows are added,
dropped, set and read. Everything but the programs' own work is rare: instances come and go, a graph's function is called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.gpu.buffers import Pages, chunks
from marrow.gpu.device import Device
from marrow.gpu.ik_solver import GpuSolvers
from marrow.graph.control import GraphControl
from marrow.graph.ik_steps import IkStep

__all__ = ["GpuMemory"]

Array = NDArray[Any]
_MOVE = """@group(0) @binding(0) var<storage, read> rows: array<i32>;
@group(0) @binding(1) var<storage, read> source: array<f32>;
@group(0) @binding(2) var<storage, read_write> goal: array<f32>;
// Rows of two numbers: where from, where to; behind the first four numbers.
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let a = rows[4 + 2 * i32(group.x)] * rows[0];
  let b = rows[5 + 2 * i32(group.x)] * rows[1];
  for (var k = i32(lane); k < rows[2]; k += 64) { goal[b + rows[3] + k] = source[a + k]; }
}
"""


class GpuMemory:
    """An array `(N, columns)` of float32 that lives on the GPU. Indexing takes rows and a slice of columns, as NumPy
    does; what is read so comes back as an array of NumPy's."""

    ndim = 2
    dtype = np.dtype(np.float32)

    def __init__(self, device: Device, count: int, columns: int, solvers: GpuSolvers | None = None) -> None:
        self.device, self.shape = device, (int(count), int(columns))
        self.solvers = solvers
        """What solves for whole bodies where the poses are; None: the CPU does."""
        self.pages = Pages(device, max(1, columns) * 4, label="pose memory")
        self.pages.resize(max(1, count))

    @classmethod
    def of(cls, device: Device, array: Array) -> GpuMemory:
        """A copy of an array."""
        made = cls(device, *array.shape)
        if array.shape[1]:
            for first, last, page in made.pages:
                page.write(np.ascontiguousarray(array[first:last], np.float32))
        return made

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def size(self) -> int:
        return self.shape[0] * self.shape[1]

    def copy(self) -> Array:
        """What is in it, on the CPU."""
        if not self.size:
            return np.zeros(self.shape, np.float32)
        return self.pages.numpy(np.float32, (self.shape[1],))[: len(self)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return self.copy() if dtype is None else self.copy().astype(dtype)

    def solve_ik(
        self, control: GraphControl, step: IkStep, instances: Array, weights: Array, ticks: Array, at: int
    ) -> bool:
        """Solves for instances whose poses lie here from column `at` on, each in so many `ticks`; False where
        that must be done elsewhere."""
        solvers = self.solvers
        return solvers is not None and solvers.solve(self, control, step, instances, weights, ticks, at)

    # -- rows and columns -------------------------------------------------------------------------------------------
    def _place(self, key: Any) -> tuple[Array, int, int]:
        """Rows, and the first and last column, that an index means."""
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        begin, end, _ = columns.indices(self.shape[1])
        return np.arange(len(self))[rows].reshape(-1), begin, max(begin, end)

    def __getitem__(self, key: Any) -> Any:
        rows, begin, end = self._place(key)
        if not isinstance(key, tuple):
            return self._moved(len(rows), self.shape[1], [(self, rows, np.arange(len(rows)), 0)])
        if not len(rows) or begin == end:
            return np.zeros((len(rows), end - begin), np.float32)
        # Fetches whole rows, gathered on the GPU.
        part = self._moved(len(rows), self.shape[1], [(self, rows, np.arange(len(rows)), 0)])
        return np.ascontiguousarray(part.copy()[:, begin:end])

    def __setitem__(self, key: Any, value: Any) -> None:
        rows, begin, end = self._place(key)
        if not len(rows) or begin == end:
            return
        values = np.broadcast_to(np.asarray(value, np.float32), (len(rows), end - begin))
        _move(GpuMemory.of(self.device, values), np.arange(len(rows)), self, rows, begin)

    def _moved(self, count: int, columns: int, parts: list[tuple[GpuMemory, Array, Array, int]]) -> GpuMemory:
        """New memory, made of rows of others: (which, its rows, the rows here, the first column here)."""
        made = GpuMemory(self.device, count, columns, self.solvers)
        for source, rows, goals, column in parts:
            _move(source, rows, made, goals, column)
        return made

    # -- NumPy's own functions --------------------------------------------------------------------------------------
    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        """`np.concatenate` of memory and arrays: instances that come, columns that come."""
        if function is not np.concatenate:
            return NotImplemented
        parts = [p if isinstance(p, GpuMemory) else GpuMemory.of(self.device, np.asarray(p)) for p in args[0]]
        if kwargs.get("axis", 0) == 0:
            at = np.cumsum([0, *(len(p) for p in parts)])
            moves = [(p, np.arange(len(p)), np.arange(len(p)) + k, 0) for p, k in zip(parts, at.tolist())]
            return self._moved(int(at[-1]), self.shape[1], moves)
        at = np.cumsum([0, *(p.shape[1] for p in parts)])
        rows = np.arange(len(self))
        return self._moved(len(self), int(at[-1]), [(p, rows, rows, k) for p, k in zip(parts, at.tolist())])

    def __repr__(self) -> str:
        return f"GpuMemory({self.shape[0]} x {self.shape[1]} floats)"


def _move(source: GpuMemory, rows: Array, goal: GpuMemory, goals: Array, column: int) -> None:
    """Copies whole rows of one memory to rows of another, from a column on."""
    device, width = source.device, source.shape[1]
    if not len(rows) or not width:
        return
    pipeline = device.compute_pipeline(_MOVE, label="moving pose memory")
    pairs = np.stack([rows, goals], axis=1).astype(np.int32)
    for a, b, here in source.pages:
        for c, d, there in goal.pages:
            inside = (rows >= a) & (rows < b) & (goals >= c) & (goals < d)
            chosen = pairs[inside] - np.array([a, c], np.int32)
            for first, last in chunks(len(chosen), device.max_workgroups):
                head = np.array([width, goal.shape[1], width, column], np.int32)
                listed = np.concatenate([head, chosen[first:last].ravel()])
                with device.guard("moving pose memory"):
                    buffer = device.create_buffer(listed.nbytes, 0x80 | 0x08, label="rows")
                    device.write(buffer, listed)
                    encoder = device.raw.create_command_encoder()
                    work = encoder.begin_compute_pass()
                    work.set_pipeline(pipeline)
                    work.set_bind_group(0, device.bind(pipeline, [buffer, here.raw, there.raw]))
                    work.dispatch_workgroups(last - first)
                    work.end()
                device.submit([encoder.finish()], "moving pose memory")
