"""glTF 2.0: `.glb` and `.gltf`, in and out."""

from __future__ import annotations

from pathlib import Path

from marrow.io.gltf.reader import read
from marrow.model import Character

__all__ = ["read", "write"]


def write(character: Character, path: Path, *, compress: bool | str = False, levels: str = "all") -> None:
    """Writes the character; a path that ends in `.gltf` gets its arrays in a `.bin` file beside it. `compress` packs
    them: `"quantized"`, `"meshopt"`, `"quantized+meshopt"` (`pip install 'marrow-engine[meshopt]'`) or `"draco"`
    (`'marrow-engine[draco]'`).
    `levels` of detail go into the file (`all`), into files of their own (`split`), or nowhere (`none`).
    """
    # Reading is common and saving rare: the writer is imported when it is first needed.
    from marrow.io.gltf.writer import write as save

    save(character, path, compress=compress, levels=levels)
