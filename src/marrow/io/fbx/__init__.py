"""FBX, binary and ASCII, through the `ufbx` package in a process of its own (`marrow.io.reader_process`).

The native code runs in the child (`child_process`, `convert` and what they import), which hands the character over as
a `.marrow` file. Textures outside the file are opened here, by the rules of `Source.neighbour`.
"""

from __future__ import annotations

import msgspec
import numpy as np

from marrow.errors import FormatError
from marrow.io.container import Container
from marrow.io.marrow_file import read_container
from marrow.io.source import LoadOptions, Source
from marrow.model import Character

__all__ = ["read"]


def read(source: Source, options: LoadOptions) -> Character:
    """The character in an FBX file."""
    # The child imports this package too, and needs none of these.
    from marrow.io.fbx.textures import FbxImageNotes, with_images
    from marrow.io.reader_process import Reader, ask

    reader = Reader("FBX", "marrow.io.fbx.child_process", "ufbx", "")
    asked = {"scale": options.scale, "rate": options.rate}
    answer = ask(reader, source.data, asked, size=len(source.data), path=source.path)
    try:
        container = Container(answer)
        character = read_container(container)
        notes = msgspec.json.decode(container.metadata.get("images", "{}"), type=FbxImageNotes)
        bound_at = msgspec.json.decode(
            container.metadata.get("bound_at", "{}"), type=dict[int, list[list[float]]]
        )
    except (FormatError, msgspec.MsgspecError) as error:
        raise FormatError(f"the FBX reader gave no whole answer: {error}", path=source.path) from None
    character = with_images(character, notes, source)
    if "caches" in container.metadata:
        from marrow.io.fbx.caches import CacheNotes, with_caches

        cached = msgspec.json.decode(container.metadata["caches"], type=CacheNotes)
        character = with_caches(character, cached, source)
        bound_at = {i: m for i, m in bound_at.items() if i not in {note.mesh for note in cached.caches}}
    if bound_at:
        from marrow.io.fbx.moved_skins import with_moved_skins

        character = with_moved_skins(character, {i: np.array(m) for i, m in bound_at.items()})
    if "groups" in container.metadata:
        from marrow.io.fbx.levels import GroupNotes, with_lod_groups

        groups = msgspec.json.decode(container.metadata["groups"], type=GroupNotes)
        character = with_lod_groups(character, groups)
    return character
