"""Skinning and posing on the GPU, through WebGPU (wgpu): Vulkan, Metal, Direct3D 12 or OpenGL, without a renderer.

Needs the extra `gpu`: pip install 'marrow-engine[gpu]'. Results stay in GPU buffers for whoever draws, or come back as
arrays.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from marrow.gpu.buffers import Buffer, Later, Pages
    from marrow.gpu.clock import Clock
    from marrow.gpu.crowd import Crowd, CrowdGroup
    from marrow.gpu.device import Adapter, Device, adapters
    from marrow.gpu.skinner import Skinner
    from marrow.gpu.vertices import pack_octahedral, pack_tangents, unpack_octahedral, unpack_tangents

_LATE = {
    "Adapter": "device",
    "Clock": "clock",
    "Buffer": "buffers",
    "Crowd": "crowd",
    "CrowdGroup": "crowd",
    "Device": "device",
    "Later": "buffers",
    "Pages": "buffers",
    "Skinner": "skinner",
    "adapters": "device",
    "pack_octahedral": "vertices",
    "pack_tangents": "vertices",
    "unpack_octahedral": "vertices",
    "unpack_tangents": "vertices",
}

__all__ = [
    "Adapter",
    "Buffer",
    "Clock",
    "Crowd",
    "CrowdGroup",
    "Device",
    "Later",
    "Pages",
    "Skinner",
    "adapters",
    "pack_octahedral",
    "pack_tangents",
    "unpack_octahedral",
    "unpack_tangents",
]


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'marrow.gpu' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"marrow.gpu.{_LATE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
