"""Fixtures of the GPU tests: devices of other sizes than the one all tests share."""

from __future__ import annotations

import pytest

from marrow import gpu


@pytest.fixture
def small(device):
    """A device that lets a shader see 64 KiB of a buffer, eight of them, and has few workgroups: everything is chunked."""
    limits = {
        "max-storage-buffer-binding-size": 1 << 16,
        "max-storage-buffers-per-shader-stage": 8,
        "max-compute-workgroups-per-dimension": 4,
    }
    return gpu.Device.best(limits=limits)
