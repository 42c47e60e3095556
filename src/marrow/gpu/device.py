"""`Device`: a GPU to compute on, what it allows, and its errors in words."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import (
    DeviceLostError,
    GpuError,
    GpuMemoryError,
    NoAdapterError,
    ValidationError,
    WrongTypeError,
)
from marrow.gpu.drivers import find_adapters, forget_instance, load_wgpu

__all__ = ["NO_ADAPTER", "Adapter", "Device", "adapters"]

Array = NDArray[Any]
# What is better stands first.
_TYPES = ("DiscreteGPU", "IntegratedGPU", "VirtualGPU", "Unknown", "CPU")
_BACKENDS = ("Vulkan", "Metal", "D3D12", "OpenGLES", "OpenGL")
_WANTED_FEATURES = ("timestamp-query", "shader-f64")
NO_ADAPTER = (
    "no GPU was found, not even one in software. On Linux install a Vulkan driver: the one of the GPU's maker, or "
    "for computing without a GPU Mesa's (Debian, Ubuntu: apt-get install libvulkan1 mesa-vulkan-drivers). In containers "
    "with an NVIDIA GPU, libvulkan1 and the driver capability 'graphics' are needed. On Windows and macOS update the "
    "graphics driver"
)


@dataclass(frozen=True)
class Adapter:
    """A GPU, or a driver that computes in software, and the way to it (`backend`: Vulkan, Metal, D3D12, OpenGL)."""

    name: str
    backend: str
    type: str
    driver: str
    raw: Any

    @property
    def is_software(self) -> bool:
        """Whether the CPU does the work."""
        return self.type == "CPU"

    def __str__(self) -> str:
        soft = ", in software: slow, but right" if self.is_software else ""
        driver = f", {self.driver}" if self.driver else ""
        return f"{self.name} ({self.backend}{driver}{soft})"


def adapters() -> list[Adapter]:
    """Every adapter of this machine, the best first."""
    found = [_described(a) for a in find_adapters()]

    def rank(a: Adapter) -> tuple[int, int]:
        kind = _TYPES.index(a.type) if a.type in _TYPES else len(_TYPES)
        return kind, _BACKENDS.index(a.backend) if a.backend in _BACKENDS else len(_BACKENDS)

    return sorted(found, key=rank)


def _described(raw: Any) -> Adapter:
    info = raw.info
    return Adapter(
        name=str(info["device"]),
        backend=str(info["backend_type"]),
        type=str(info["adapter_type"]),
        driver=str(info["description"]),
        raw=raw,
    )


class Device:
    """A GPU that is ready to compute. `Device.best()` gives the one everybody shares; `Device.of(wgpu_device)` uses another
    program's, so that its buffers and ours can meet.

    `raw` is the wgpu device, `adapter` says what it is, `limits` what it allows.
    """

    def __init__(self, raw: Any, adapter: Adapter) -> None:
        self.raw, self.adapter = raw, adapter
        self.limits: Mapping[str, int] = dict(raw.limits)
        self.has_timestamps = "timestamp-query" in raw.features
        self._pipelines: dict[Any, Any] = {}
        self._lost = ""
        self._pid = os.getpid()
        self._mark: Any = None
        # A driver in software crashes where a process ends in the middle of its work.
        atexit.register(_finish, weakref.ref(self))

    # -- making -----------------------------------------------------------------------------------------------------
    @staticmethod
    def best(adapter: str | int | None = None, *, limits: Mapping[str, int] | None = None) -> Device:
        """The best GPU of this machine, or the one that `adapter` (a part of its name or backend, or its number in
        `gpu.adapters()`) or the variable MARROW_GPU names. Without arguments all callers share one device.

        `limits` asks for other limits than the most the adapter offers, such as
        `{"max-storage-buffer-binding-size": 1 << 20}`.
        """
        global _shared
        if adapter is None and limits is None:
            with _lock:
                if _shared is None or _shared.is_lost:
                    _shared = Device._make(_choose(None), None)
                return _shared
        return Device._make(_choose(adapter), limits)

    @staticmethod
    def of(raw: Any) -> Device:
        """A device around a `wgpu.GPUDevice` that exists, such as pygfx's."""
        wgpu = load_wgpu()
        if not isinstance(raw, wgpu.GPUDevice):
            raise WrongTypeError(f"Device.of: expected a wgpu.GPUDevice, got {type(raw).__name__}")
        return Device(raw, _described(raw.adapter))

    @staticmethod
    def _make(adapter: Adapter, limits: Mapping[str, int] | None) -> Device:
        features = [f for f in _WANTED_FEATURES if f in adapter.raw.features]
        try:
            raw = adapter.raw.request_device_sync(
                required_features=features, required_limits=dict(limits or {})
            )
        except KeyError as error:
            raise ValidationError(f"Device.best: limits: {error.args[0]}") from None
        except Exception as error:
            raise GpuError(f"{adapter}: the driver gives no device: {_first_lines(error)}") from error
        return Device(raw, adapter)

    # -- what it allows ---------------------------------------------------------------------------------------------
    @property
    def max_binding(self) -> int:
        """The most bytes of a buffer that a shader can see at once."""
        return min(self.limits["max-storage-buffer-binding-size"], self.max_buffer) & ~3

    @property
    def max_buffer(self) -> int:
        return min(self.limits["max-buffer-size"], 1 << 32) & ~3

    @property
    def max_workgroups(self) -> int:
        """The most workgroups of a dispatch along one axis."""
        return self.limits["max-compute-workgroups-per-dimension"]

    @property
    def alignment(self) -> int:
        """Bindings of a storage buffer begin at multiples of this many bytes."""
        return self.limits["min-storage-buffer-offset-alignment"]

    # -- errors -----------------------------------------------------------------------------------------------------
    @property
    def is_lost(self) -> bool:
        return bool(self._lost)

    def guard(self, what: str) -> _Guard:
        """`with device.guard("skinning"):` turns errors of wgpu into marrow's."""
        return _Guard(self, what)

    def error(self, what: str, error: Exception) -> Exception:
        """The MarrowError for what wgpu raised."""
        wgpu, text = load_wgpu(), _first_lines(error)
        if "device is lost" in text.lower() or "device lost" in text.lower():
            self._lost = text
        if self._lost:
            return DeviceLostError(
                f"{what}: the GPU {self.adapter.name} was lost (reset, unplugged or destroyed) and what was in its memory "
                "with it; make a new gpu.Device and what lived on this one"
            )
        if isinstance(error, wgpu.GPUOutOfMemoryError) or "memory" in text.lower():
            return GpuMemoryError(f"{what}: {self.adapter.name} is out of memory: {text}")
        return GpuError(f"{what}: {self.adapter} refused: {text}")

    def destroy(self) -> None:
        """Gives the device up at once; whoever still uses it gets `DeviceLostError`."""
        self._lost = "destroyed"
        self.raw.destroy()

    # -- memory -----------------------------------------------------------------------------------------------------
    def create_buffer(self, size: int, usage: int, *, label: str = "") -> Any:
        """A `wgpu.GPUBuffer` of zeros, its size rounded up to 4 bytes, at least 4."""
        size = max(4, -(-int(size) // 4) * 4)
        if size > self.max_buffer:
            raise GpuMemoryError(
                f"{label or 'a buffer'} of {size:,} bytes: {self.adapter.name} allows at most {self.max_buffer:,} for one"
            )
        self.check_room(size, label)
        with self.guard(f"making {label or 'a buffer'} of {size:,} bytes"):
            return self.raw.create_buffer(label=label, size=size, usage=usage)

    def check_room(self, size: int, label: str = "") -> None:
        """An error where the machine's own memory, in which software adapters compute, has no room for so many bytes:
        taking more would end the process, not the call."""
        free = _free_memory() if self.adapter.is_software and size > 1 << 26 else None
        if free is not None and size > free:
            raise GpuMemoryError(
                f"{label or 'a buffer'} of {size:,} bytes: {self.adapter.name} computes in the machine's memory, of which "
                f"{free:,} bytes are free"
            )

    def write(self, buffer: Any, data: Any, offset: int = 0) -> None:
        """Copies an array into a wgpu buffer. `offset` in bytes, a multiple of four; so is what is written."""
        data = np.ascontiguousarray(data)
        if data.nbytes == 0:
            return
        with self.guard("writing to a buffer"):
            self.raw.queue.write_buffer(buffer, offset, data)

    def read(self, buffer: Any, offset: int = 0, size: int | None = None) -> Array:
        """Bytes of a wgpu buffer, `(size,)` uint8. Waits until the GPU has done all that was submitted."""
        if size == 0:
            return np.zeros(0, np.uint8)
        with self.guard("reading a buffer"):
            data = self.raw.queue.read_buffer(buffer, offset, size)
        return np.frombuffer(data, np.uint8)

    def submit(self, commands: Sequence[Any], what: str = "computing") -> None:
        with self.guard(what):
            self.raw.queue.submit(list(commands))

    def wait(self) -> None:
        """Returns when the GPU has done all that was submitted."""
        if self._mark is None:
            self._mark = self.create_buffer(4, 0x08 | 0x04, label="mark")
        self.read(self._mark)

    # -- programs ---------------------------------------------------------------------------------------------------
    def compute_pipeline(
        self, code: str, entry: str = "main", *, constants: Mapping[str, float] | None = None, label: str = ""
    ) -> Any:
        """The compute pipeline of a WGSL source with an automatic layout, made once for each source and constants."""
        key = (code, entry, tuple(sorted((constants or {}).items())))
        if key not in self._pipelines:
            with self.guard(f"compiling the shader {label or entry}"):
                module = self.raw.create_shader_module(label=label, code=code)
                self._pipelines[key] = self.raw.create_compute_pipeline(
                    label=label,
                    layout="auto",
                    compute={"module": module, "entry_point": entry, "constants": dict(constants or {})},
                )
        return self._pipelines[key]

    def bind(self, pipeline: Any, buffers: Sequence[Any], *, group: int = 0) -> Any:
        """A bind group of whole buffers, or of `(buffer, offset, size)`, at the bindings 0, 1, 2, ... of a pipeline."""
        entries = []
        for i, item in enumerate(buffers):
            buffer, offset, size = item if isinstance(item, tuple) else (item, 0, item.size)
            entries.append({"binding": i, "resource": {"buffer": buffer, "offset": offset, "size": size}})
        with self.guard("binding buffers"):
            return self.raw.create_bind_group(layout=pipeline.get_bind_group_layout(group), entries=entries)

    def __repr__(self) -> str:
        return f"Device({self.adapter}{', lost' if self.is_lost else ''})"


class _Guard:
    """A context that translates errors; a class because it is entered often."""

    __slots__ = ("device", "what")

    def __init__(self, device: Device, what: str) -> None:
        self.device, self.what = device, what

    def __enter__(self) -> None:
        if self.device._lost:
            raise self.device.error(self.what, RuntimeError(self.device._lost))

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        wgpu = load_wgpu()
        if isinstance(error, wgpu.GPUError):
            raise self.device.error(self.what, error) from error


def _finish(device: weakref.ref[Device]) -> None:
    found = device()
    if found is not None and not found.is_lost and found._pid == os.getpid():
        with contextlib.suppress(Exception):
            found.wait()


_lock = threading.Lock()
_shared: Device | None = None


def _forget_shared() -> None:
    """A forked child cannot use its parent's device; it asks for one of its own."""
    global _lock, _shared
    _lock, _shared = threading.Lock(), None
    forget_instance()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_shared)


def _choose(wanted: str | int | None) -> Adapter:
    found = adapters()
    if not found:
        raise NoAdapterError(NO_ADAPTER)
    if wanted is None:
        wanted = os.environ.get("MARROW_GPU") or None
    if wanted is None:
        return found[0]
    shown = "; ".join(f"{i}: {a}" for i, a in enumerate(found))
    text = str(wanted).strip()
    if text.isdecimal():
        if int(text) < len(found):
            return found[int(text)]
        raise NoAdapterError(f"there is no adapter number {text}; there are {shown}")
    for a in found:
        if text.lower() in str(a).lower():
            return a
    raise NoAdapterError(f"no adapter has {text!r} in its name; there are {shown}")


def _free_memory() -> int | None:
    """Bytes of memory that this machine can still give; None where it does not say."""
    try:
        with open("/proc/meminfo") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def _first_lines(error: Exception) -> str:
    """What an error of wgpu says, without its frame of empty lines."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(line for line in lines if line not in ("Validation Error", "Caused by:"))[:2000]
