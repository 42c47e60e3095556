"""`Recorder`: draws of a pass."""

from __future__ import annotations

from typing import Any

from marrow.rendering.drawlist import Draw

__all__ = ["Recorder"]


class Recorder:
    """Records draws of a pass, and says nothing twice: every call into the driver costs microseconds."""

    def __init__(self, step: Any) -> None:
        self.step = step
        self._pipeline: Any = None
        self._material: Any = None
        self._group: Any = None
        self._geometry: Any = None

    def draw(self, pipeline: Any, draw: Draw, *, attributes: bool = True) -> None:
        """One draw; bind group 0 is set. `attributes`: whether the pipeline reads UVs, colours and the material."""
        step, material = self.step, draw.material.group
        if pipeline is not self._pipeline:
            step.set_pipeline(pipeline)
            self._pipeline = pipeline
        if material is not self._material and (attributes or self._material is None):
            step.set_bind_group(1, material)
            self._material = material
        if draw.group is not self._group:
            step.set_bind_group(2, draw.group)
            self._group = draw.group
        if (draw.geometry, attributes) != self._geometry:
            if attributes:
                step.set_vertex_buffer(0, draw.geometry.uvs.raw)
                step.set_vertex_buffer(1, draw.geometry.colors.raw)
            step.set_index_buffer(draw.geometry.indices.raw, "uint32")
            self._geometry = (draw.geometry, attributes)
        step.draw_indexed(draw.index_count, draw.count, draw.first_index, 0, draw.first)
