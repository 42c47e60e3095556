"""Fixtures of the renderer's tests: one device and one renderer for all, since both take a while to make."""

from __future__ import annotations

import pytest

import marrow as mw
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


@pytest.fixture(scope="session")
def shared_renderer(device):
    return mw.Renderer((128, 128), device=device)


@pytest.fixture
def renderer(shared_renderer):
    """The renderer everybody shares, at 128 x 128."""
    shared_renderer.size = (128, 128)
    return shared_renderer


@pytest.fixture(scope="session")
def deferred_renderer(device):
    """The one of the deferred path."""
    return mw.Renderer((128, 128), device=device, path="deferred")


@pytest.fixture(scope="session")
def hero():
    return mw.samples.mannequin()
