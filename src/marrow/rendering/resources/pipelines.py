"""Render pipelines and shader modules, made once for each kind."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from marrow.gpu.device import Device

__all__ = ["PREMULTIPLIED", "Pipelines", "vertex_buffers"]

PREMULTIPLIED = {
    "color": {"src_factor": "one", "dst_factor": "one-minus-src-alpha", "operation": "add"},
    "alpha": {"src_factor": "one", "dst_factor": "one-minus-src-alpha", "operation": "add"},
}


class Pipelines:
    """`get(key, ...)` makes a pipeline when its key is first seen. A source is compiled once, whatever its overrides."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._pipelines: dict[Hashable, Any] = {}
        self._modules: dict[str, Any] = {}

    def find(self, key: Hashable) -> Any:
        return self._pipelines.get(key)

    def make(self, key: Hashable, code: str, layouts: list[Any], **parts: Any) -> Any:
        """The pipeline of a WGSL source; `vertex` and `fragment` are told their module."""
        label = key[0] if isinstance(key, tuple) else str(key)
        with self.device.guard(f"compiling the shader {label}"):
            module = self._modules.get(code)
            if module is None:
                module = self._modules[code] = self.device.raw.create_shader_module(label=label, code=code)
            for stage in ("vertex", "fragment"):
                if stage in parts:
                    parts[stage] = {"module": module, **parts[stage]}
            layout = self.device.raw.create_pipeline_layout(bind_group_layouts=layouts)
            made = self.device.raw.create_render_pipeline(label=label, layout=layout, **parts)
        self._pipelines[key] = made
        return made


def vertex_buffers(uv_stride: int, color_stride: int) -> list[dict[str, Any]]:
    """The vertex buffers of every pipeline that draws sections: UVs and colours."""
    return [
        {"array_stride": stride, "attributes": [{"format": "float32x4", "offset": 0, "shader_location": i}]}
        for i, stride in enumerate((uv_stride, color_stride))
    ]
