"""The fuzz tests start from the same small files the readers' own tests use."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

TESTS = Path(__file__).resolve().parents[1]


def _helper(path: str) -> ModuleType:
    """A helper module of other tests, whose folder is not on the path here."""
    name = Path(path).stem
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, TESTS / path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


flag = _helper("io/fbx/handmade.py").flag
everything = _helper("io/io_worlds.py").everything
_helper("io/gltf/maker.py")
_helper("io/gltf/same.py")
_files = _helper("io/gltf/extension_files.py")
_cameras = _helper("io/gltf/test_gltf_cameras.py")
_vrm, _extensions = _helper("io/gltf/test_vrm.py"), _helper("io/gltf/test_gltf_extensions.py")


def avatars() -> list[bytes]:
    """VRM 1.0, VRM 0.x and VRMA; variants, and an animation of what pointers point at; cameras and lights, and extensions
    that are kept with their buffers."""
    moved = _extensions.sampled(
        "/materials/0/pbrMetallicRoughness/baseColorFactor", [0, 1], [[1, 0, 0, 1], [0, 1, 0, 1]]
    )
    moved.add("materials", {})
    kept = [_files.file_with(name) for name in ("KHR_audio_emitter", "EXT_structural_metadata")]
    plain = [_vrm.one().glb(), _vrm.zero().glb(), _vrm.vrma(), _extensions.variants().glb(), moved.glb()]
    return [*plain, _cameras.stage().glb(), *kept]
