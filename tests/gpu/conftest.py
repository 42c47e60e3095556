"""Fixtures of the GPU tests: a device, in software where there is no other."""

from __future__ import annotations

import pytest

from marrow import gpu
from marrow.errors import MissingExtraError, NoAdapterError
from surroundings import missing


@pytest.fixture(scope="session")
def device() -> gpu.Device:
    try:
        return gpu.Device.best()
    except (NoAdapterError, MissingExtraError) as error:
        missing(f"no GPU: {error}")
        raise


@pytest.fixture
def small(device):
    """A device that lets a shader see 64 KiB of a buffer, eight of them, and has few workgroups: everything is chunked."""
    limits = {
        "max-storage-buffer-binding-size": 1 << 16,
        "max-storage-buffers-per-shader-stage": 8,
        "max-compute-workgroups-per-dimension": 4,
    }
    return gpu.Device.best(limits=limits)
