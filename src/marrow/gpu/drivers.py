"""Loading wgpu, and finding drivers that the Vulkan loader does not find by itself.

Containers for computing often have only half of NVIDIA's driver: the loader's entry for it (`libGLX_nvidia`) fails for want
of X11 libraries and no GPU is found, though `libEGL_nvidia` next to it would do. A driver file that names that library,
written into the cache's own folder or, where there is none, into a temporary one, finds the GPU. The file names code
that is run: it lies in a folder that no other user can write to.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import importlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from marrow.errors import FormatError, MissingExtraError

__all__ = ["find_adapters", "forget_instance", "load_wgpu"]

NVIDIA = "libEGL_nvidia.so.0"
_NVIDIA_VENDOR = 0x10DE


def load_wgpu(extra: str = "gpu", purpose: str = "marrow.gpu") -> Any:
    """The module `wgpu`, or the error that names the extra which brings all that `purpose` needs."""
    try:
        return importlib.import_module("wgpu")
    except ImportError as error:
        raise MissingExtraError("wgpu", extra, purpose) from error


def find_adapters() -> list[Any]:
    """Every adapter that wgpu reaches; asks a second time when NVIDIA's driver needs help to be found."""
    wgpu = load_wgpu()
    found = _enumerate(wgpu)
    if not _has_nvidia(found) and _is_loadable(NVIDIA):
        variables = _point_to(NVIDIA, alone=not any(a.info["backend_type"] == "Vulkan" for a in found))
        if variables:
            os.environ.update(variables)
            forget_instance()
            found = _enumerate(wgpu)
    return found


def _enumerate(wgpu: Any) -> list[Any]:
    with _runtime_folder():
        return list(wgpu.gpu.enumerate_adapters_sync())


@contextlib.contextmanager
def _runtime_folder() -> Iterator[None]:
    """Without XDG_RUNTIME_DIR, as in containers, looking for OpenGL writes a line of complaint for every attempt."""
    if not sys.platform.startswith("linux") or os.environ.get("XDG_RUNTIME_DIR"):
        yield
        return
    os.environ["XDG_RUNTIME_DIR"] = tempfile.gettempdir()
    try:
        yield
    finally:
        del os.environ["XDG_RUNTIME_DIR"]


def _has_nvidia(found: list[Any]) -> bool:
    return any(a.info["vendor_id"] == _NVIDIA_VENDOR and a.info["backend_type"] == "Vulkan" for a in found)


def _is_loadable(library: str) -> bool:
    if not sys.platform.startswith("linux"):
        return False
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _point_to(library: str, *, alone: bool) -> dict[str, str]:
    """Variables that lead the Vulkan loader to a driver's library; none where the user set some already."""
    if any(os.environ.get(v) for v in ("VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES")):
        return {}
    text = json.dumps(
        {"file_format_version": "1.0.1", "ICD": {"library_path": library, "api_version": "1.3.0"}}
    )
    path = _driver_file(text.encode())
    names = ("VK_DRIVER_FILES", "VK_ICD_FILENAMES") if alone else ("VK_ADD_DRIVER_FILES",)
    return {} if path is None else dict.fromkeys(names, str(path))


def _driver_file(text: bytes) -> Path | None:
    """A file that holds `text`; None where there is no room for one."""
    from marrow.io import cache_folder
    from marrow.io.atomic import replacing

    for place in (cache_folder.prepared, _temporary_folder):
        with contextlib.suppress(FormatError, OSError):
            folder = place()
            if folder is not None:
                with replacing(folder / "nvidia_icd.json", private=True) as file:
                    file.write(text)
                return folder / "nvidia_icd.json"
    return None


def _temporary_folder() -> Path:
    """A folder that goes when this process ends."""
    folder = tempfile.mkdtemp(prefix="marrow-vulkan-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def forget_instance() -> None:
    """Lets wgpu, where it is loaded, ask the Vulkan loader anew. Devices made before stay as they are."""
    helpers: Any = sys.modules.get("wgpu.backends.wgpu_native._helpers")
    if helpers is not None:
        helpers._the_instance = None
