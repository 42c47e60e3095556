"""`Clock`: how long passes took on the GPU, by its own timestamps."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from marrow.errors import GpuError
from marrow.gpu.device import Device

__all__ = ["Clock"]

MOST = 64


class Clock:
    """Times passes: hand it to `update(..., timer=)`, then ask for `seconds()`, which begins anew."""

    def __init__(self, device: Device) -> None:
        if not device.has_timestamps:
            raise GpuError(f"{device.adapter} has no timestamps: time whole frames with device.wait()")
        self.device = device
        with device.guard("making timestamps"):
            self._queries = device.raw.create_query_set(type="timestamp", count=2 * MOST)
            # QUERY_RESOLVE | COPY_SRC
            self._result = device.raw.create_buffer(size=16 * MOST, usage=0x200 | 0x04)
        self._period = _period(device)
        self._names: list[str] = []

    def writes(self, name: str) -> dict[str, Any]:
        """Arguments of `begin_compute_pass` that time the pass under a name."""
        if len(self._names) == MOST:
            raise GpuError(f"more than {MOST} passes were timed: ask for seconds() in between")
        at = 2 * len(self._names)
        self._names.append(name)
        return {
            "timestamp_writes": {
                "query_set": self._queries,
                "beginning_of_pass_write_index": at,
                "end_of_pass_write_index": at + 1,
            }
        }

    def finish(self, encoder: Any) -> None:
        """Keeps what was timed so far, in the encoder that has the last passes: work may take several."""
        if self._names:
            encoder.resolve_query_set(self._queries, 0, 2 * len(self._names), self._result, 0)

    def seconds(self) -> dict[str, float]:
        """Seconds by name since it was asked last, passes of one name added; waits for the GPU."""
        out: dict[str, float] = {}
        names, self._names = self._names, []
        if names:
            ticks = self.device.read(self._result, 0, 16 * len(names)).view(np.uint64).reshape(-1, 2)
            for name, (a, b) in zip(names, ticks.tolist()):
                out[name] = out.get(name, 0.0) + max(0, b - a) * 1e-9 * self._period
        return out


def _period(device: Device) -> float:
    """Nanoseconds of a tick; wgpu's Python side has no name for it."""
    try:
        native: Any = importlib.import_module("wgpu.backends.wgpu_native._ffi").lib
        return float(native.wgpuQueueGetTimestampPeriod(device.raw.queue._internal))
    except (ImportError, AttributeError):
        return 1.0
