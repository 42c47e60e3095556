"""`Bindings`: uniform words and bind groups that are kept from update to update: making them is what costs Python time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.gpu.buffers import usage
from marrow.gpu.device import Device

__all__ = ["Bindings"]


class Bindings:
    """Bind groups by key: each has a uniform buffer of words at binding 0 and storage buffers behind it."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._uniforms: dict[Any, list[Any]] = {}
        self._groups: dict[Any, tuple[list[Any], Any]] = {}

    def group(self, key: Any, pipeline: Any, words: NDArray[np.uint32], buffers: list[Any]) -> Any:
        """The bind group under `key`, made again when one of its buffers is another one. Its words are written when they
        changed, so a key must not be used twice with different words before the commands are submitted."""
        kept = self._groups.get(key)
        if kept is None or len(kept[0]) != len(buffers) or any(a is not b for a, b in zip(kept[0], buffers)):
            uniform = self._uniforms.get(key)
            if uniform is None:
                uniform = self._uniforms[key] = [
                    self.device.create_buffer(words.nbytes, usage("uniform"), label="sizes"),
                    b"",
                ]
            kept = self._groups[key] = (buffers, self.device.bind(pipeline, [uniform[0], *buffers]))
        uniform, data = self._uniforms[key], words.tobytes()
        if uniform[1] != data:
            self.device.write(uniform[0], words)
            uniform[1] = data
        return kept[1]
