"""glTF 2.0: `.glb` and `.gltf`, in and out."""

from marrow.io.gltf.reader import read
from marrow.io.gltf.writer import write

__all__ = ["read", "write"]
