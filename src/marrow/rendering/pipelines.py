"""Render pipelines."""

from __future__ import annotations

from typing import Any

__all__ = ["vertex_buffers"]


def vertex_buffers(uv_stride: int, color_stride: int) -> list[dict[str, Any]]:
    """The vertex buffers of every pipeline that draws sections: UVs and colours."""
    return [
        {"array_stride": stride, "attributes": [{"format": "float32x4", "offset": 0, "shader_location": i}]}
        for i, stride in enumerate((uv_stride, color_stride))
    ]
