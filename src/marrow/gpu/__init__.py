"""Skinning and posing on the GPU, through WebGPU (wgpu): Vulkan, Metal, Direct3D 12 or OpenGL, without a renderer.

Needs the extra `gpu`: pip install 'marrow-engine[gpu]'. Results stay in GPU buffers for whoever draws, or come back as
arrays.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from marrow.gpu.buffers import Buffer, Later, Pages
    from marrow.gpu.crowd import Crowd
    from marrow.gpu.device import Adapter, Device, adapters

_LATE = {
    "Adapter": "device",
    "Buffer": "buffers",
    "Crowd": "crowd",
    "Device": "device",
    "Later": "buffers",
    "Pages": "buffers",
    "adapters": "device",
}

__all__ = ["Adapter", "Buffer", "Crowd", "Device", "Later", "Pages", "adapters"]


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'marrow.gpu' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"marrow.gpu.{_LATE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
