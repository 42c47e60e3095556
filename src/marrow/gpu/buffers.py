"""Buffers that grow, results spread over several of them where the device allows no larger one, and late reading."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import GpuError, GpuMemoryError, MarrowError, ValidationError
from marrow.gpu.device import Device

__all__ = ["Buffer", "Later", "Pages", "chunks", "usage"]

Array = NDArray[Any]
_FLAGS = {"vertex": 0x20, "index": 0x10, "uniform": 0x40, "indirect": 0x100, "query": 0x200}
# STORAGE, COPY_DST and COPY_SRC: what every buffer of ours can be used for.
_ALWAYS = 0x80 | 0x08 | 0x04
GROWTH = 1.5


def usage(*words: str) -> int:
    """Usage flags of a storage buffer that can be copied, and also used as `vertex`, `index`, `uniform`, `indirect`."""
    flags = _ALWAYS
    for word in words:
        flags |= _FLAGS[word]
    return flags


class Buffer:
    """Memory on the GPU that grows. `raw` is the `wgpu.GPUBuffer` of now; `version` counts how often it was exchanged for a
    larger one (whoever bound it binds again then)."""

    def __init__(self, device: Device, size: int = 0, *, label: str = "", flags: int | None = None) -> None:
        self.device, self.label, self.version = device, label, 0
        self.flags = usage() if flags is None else flags
        self.raw = device.create_buffer(size, self.flags, label=label)

    @classmethod
    def of(cls, device: Device, data: Any, *, label: str = "", flags: int | None = None) -> Buffer:
        """A buffer that holds an array, filled up to whole words of four bytes."""
        data = _words(data)
        out = cls(device, data.nbytes, label=label, flags=flags)
        device.write(out.raw, data)
        return out

    @property
    def size(self) -> int:
        return int(self.raw.size)

    def reserve(self, size: int, *, keep: bool = False) -> bool:
        """Makes room for `size` bytes; with `keep` what is there stays. Returns whether `raw` is another buffer now."""
        if size <= self.size:
            return False
        room = min(max(int(size), int(self.size * GROWTH)), self.device.max_buffer)
        larger = self.device.create_buffer(max(room, size), self.flags, label=self.label)
        if keep:
            with self.device.guard(f"growing {self.label}"):
                encoder = self.device.raw.create_command_encoder()
                encoder.copy_buffer_to_buffer(self.raw, 0, larger, 0, self.size)
                self.device.raw.queue.submit([encoder.finish()])
        self.raw, self.version = larger, self.version + 1
        return True

    def write(self, data: Any, offset: int = 0, *, keep: bool = True) -> bool:
        """Copies an array to byte `offset`, growing where needed. Returns whether `raw` is another buffer now."""
        data = _words(data)
        grown = self.reserve(offset + data.nbytes, keep=keep and offset > 0)
        self.device.write(self.raw, data, offset)
        return grown

    def numpy(self, dtype: Any = np.uint8, shape: Any = -1, offset: int = 0) -> Array:
        """What is in the buffer, as an array; waits for the GPU. One -1 in `shape` is as many as fit."""
        sizes, wanted = _fitting(f"Buffer {self.label!r}", dtype, shape, self.size - offset)
        return self.device.read(self.raw, offset, -(-wanted // 4) * 4)[:wanted].view(dtype).reshape(sizes)

    def later(self, size: int | None = None, offset: int = 0) -> Later:
        """A copy of what is in the buffer once the GPU has done what is submitted so far, to be read when convenient."""
        return Later(self.device, self.raw, offset, self.size - offset if size is None else size)

    def __repr__(self) -> str:
        return f"Buffer({self.label!r}, {self.size:,} bytes)"


class Later:
    """A copy of GPU memory that is on its way to the CPU: `numpy()` waits for it, if it has to."""

    def __init__(self, device: Device, raw: Any, offset: int, size: int) -> None:
        self.device, self.size = device, size
        self._data: Array | None = None if size else np.zeros(0, np.uint8)
        if not size:
            return
        with device.guard("reading a buffer late"):
            self._staging: Any = device.raw.create_buffer(size=-(-size // 4) * 4, usage=0x01 | 0x08)
            encoder = device.raw.create_command_encoder()
            encoder.copy_buffer_to_buffer(raw, offset, self._staging, 0, self._staging.size)
            device.raw.queue.submit([encoder.finish()])
            self._promise = self._staging.map_async("READ")

    def numpy(self, dtype: Any = np.uint8, shape: Any = -1) -> Array:
        """The copy as an array; one -1 in `shape` is as many as fit."""
        if self._data is None:
            with self.device.guard("reading a buffer late"):
                self._promise.sync_wait()
                self._data = np.frombuffer(bytes(self._staging.read_mapped()), np.uint8)[: self.size]
                self._staging.unmap()
                self._staging = None
        sizes, wanted = _fitting("what is read late", dtype, shape, self.size)
        return self._data[:wanted].view(dtype).reshape(sizes)


class Pages:
    """`count` records of `stride` bytes over as few buffers as the device allows: each page can be bound as a whole and
    holds `per_page` records, the last one fewer. Growing forgets what was there.

    A record is an array of `dtype` and `shape` for `numpy()`. Other array libraries take `np.from_dlpack(pages)` and the
    like: a copy in the machine's memory, since WebGPU gives away no addresses of its own.
    """

    def __init__(
        self,
        device: Device,
        stride: int,
        *,
        label: str = "",
        flags: int | None = None,
        per_page: int | None = None,
        dtype: Any = np.uint8,
        shape: tuple[int, ...] | None = None,
    ) -> None:
        self.device, self.stride, self.label = device, int(stride), label
        self.dtype = np.dtype(dtype)
        self.shape = (self.stride // self.dtype.itemsize,) if shape is None else shape
        self.per_page = max(1, device.max_binding // max(1, self.stride)) if per_page is None else per_page
        self.flags = usage() if flags is None else flags
        self.count, self.version = 0, 0
        self.buffers: list[Buffer] = []
        if stride > device.max_binding:
            raise GpuMemoryError(
                f"{label}: one takes {stride:,} bytes, more than the {device.max_binding:,} that "
                f"{device.adapter.name} lets a shader see"
            )

    def resize(self, count: int) -> bool:
        """Makes room for `count` records. Returns whether any buffer is another one now."""
        if self.buffers and self.count == count:
            return False
        more = int(count) * self.stride - sum(b.size for b in self.buffers)
        self.device.check_room(more, self.label)
        before, changed = len(self.buffers), False
        pages = [min(self.per_page, count - first) for first in range(0, count, self.per_page)]
        try:
            for i, records in enumerate(pages):
                size = max(4, records * self.stride)
                if i == len(self.buffers):
                    made = Buffer(self.device, size, label=f"{self.label}[{i}]", flags=self.flags)
                    self.buffers.append(made)
                    changed = True
                elif size > self.buffers[i].size:
                    room = min(max(size, int(self.buffers[i].size * GROWTH)), self.device.max_binding)
                    self.buffers[i].reserve(room)
                    changed = True
        except MarrowError:
            del self.buffers[before:]  # what there was no room for takes none
            raise
        self.count = int(count)
        self.version += changed
        return changed

    def __iter__(self) -> Iterator[tuple[int, int, Buffer]]:
        """`(first record, last record + 1, buffer)` of every page in use."""
        for i, first in enumerate(range(0, self.count, self.per_page)):
            yield first, min(self.count, first + self.per_page), self.buffers[i]

    @property
    def raw(self) -> Any:
        """The one `wgpu.GPUBuffer` that holds everything; an error where several do (then iterate)."""
        if len(list(self)) > 1:
            raise GpuError(
                f"{self.label} fills {len(list(self))} buffers on {self.device.adapter.name}, which allows "
                f"{self.device.max_binding:,} bytes for one: iterate over (first, last, buffer)"
            )
        if not self.buffers:
            self.buffers.append(Buffer(self.device, self.stride, label=f"{self.label}[0]", flags=self.flags))
        return self.buffers[0].raw

    def numpy(self, dtype: Any = None, shape: tuple[int, ...] | None = None) -> Array:
        """All records, `(count, *shape)`; waits for the GPU. One -1 in `shape` is as many as fit into a record."""
        dtype, shape = self.dtype if dtype is None else dtype, self.shape if shape is None else shape
        parts = [
            b.numpy(np.uint8, ((last - first) * self.stride,)).reshape(last - first, self.stride)
            for first, last, b in self
        ]
        raw = np.concatenate(parts) if parts else np.zeros((0, self.stride), np.uint8)
        sizes, wanted = _fitting(f"a record of {self.label!r}", dtype, shape, self.stride)
        return np.ascontiguousarray(raw[:, :wanted]).view(dtype).reshape(self.count, *sizes)

    def __dlpack__(self, **options: Any) -> Any:
        return self.numpy().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # the CPU

    def __repr__(self) -> str:
        return f"Pages({self.label!r}, {self.count} x {self.stride:,} bytes in {len(list(self))} buffers)"


def chunks(count: int, most: int) -> Iterator[tuple[int, int]]:
    """`(first, last + 1)` of runs of at most `most` out of `count`."""
    most = max(1, int(most))
    for first in range(0, int(count), most):
        yield first, min(int(count), first + most)


def _fitting(what: str, dtype: Any, shape: Any, room: int) -> tuple[tuple[int, ...], int]:
    """A shape with its -1 filled in, so that it fits into `room` bytes, and the bytes it takes."""
    try:
        item = np.dtype(dtype).itemsize
        sizes = [operator.index(n) for n in (shape if np.ndim(shape) else (shape,))]
    except (TypeError, ValueError) as error:
        raise ValidationError(
            f"{what}: expected a dtype and a shape, got {dtype!r} and {shape!r}: {error}"
        ) from None
    if min(sizes, default=0) < -1 or sizes.count(-1) > 1:
        raise ValidationError(f"{what}: expected a shape with one -1 at most, got {shape!r}")
    if -1 in sizes:
        row = item * math.prod(n for n in sizes if n != -1)
        sizes[sizes.index(-1)] = max(room, 0) // row if row else 0
    wanted = item * math.prod(sizes)
    if wanted > max(room, 0):
        raise ValidationError(
            f"{what}: has {max(room, 0):,} bytes, {np.dtype(dtype)} {shape!r} takes {wanted:,}"
        )
    return tuple(sizes), wanted


def _words(data: Any) -> Array:
    """An array as bytes, filled up with zeros to a multiple of four."""
    raw = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
    rest = -len(raw) % 4
    return np.concatenate([raw, np.zeros(rest, np.uint8)]) if rest else raw
