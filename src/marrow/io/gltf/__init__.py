"""glTF 2.0: `.glb` and `.gltf`, in and out."""

from marrow.io.gltf.reader import read

__all__ = ["read"]
