"""FBX, binary and ASCII, through the `ufbx` package in a process of its own (`marrow.io.process`).

The native code runs in the child (`child`, `convert` and what they import), which hands the character over as
a `.marrow` file. Textures outside the file are opened here, by the rules of `Source.neighbour`.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec

from marrow.errors import FormatError
from marrow.io.container import Container
from marrow.io.fbx.images import media_type
from marrow.io.native import read_container
from marrow.io.source import LoadOptions, Source
from marrow.model import Character, Image, Material
from marrow.report import ReportBuilder

__all__ = ["read"]

_OUTSIDE = msgspec.json.Decoder(list[list[str]])


def read(source: Source, options: LoadOptions) -> Character:
    """The character in an FBX file."""
    from marrow.io.process import Reader, ask  # the child imports this package too, and needs none of that

    reader = Reader("FBX", "marrow.io.fbx.child", "ufbx", "")
    asked = {"scale": options.scale, "fps": options.fps}
    answer = ask(reader, source.data, asked, size=len(source.data), path=source.path)
    try:
        container = Container(answer)
        character = read_container(container)
        outside = _OUTSIDE.decode(container.metadata.get("outside", "[]"))
    except (FormatError, msgspec.MsgspecError) as error:
        raise FormatError(f"the FBX reader gave no whole answer: {error}", path=source.path) from None
    return _with_images(character, outside, source)


def _with_images(character: Character, outside: list[list[str]], source: Source) -> Character:
    """The character with the textures that lie outside its file; those that cannot be had are left out."""
    report = ReportBuilder()
    report.extend(character.report)
    images: list[Image] = []
    number: list[int | None] = []
    for image, names in zip(character.images, outside):
        data = image.data or _first(names, source, report)
        number.append(len(images) if data else None)
        if data:
            images.append(Image(image.name, media_type(data, names[0] if names else ""), data))
    materials = tuple(_renumbered(m, number) for m in character.materials)
    return character.replace(images=tuple(images), materials=materials, report=report.build())


def _first(names: list[str], source: Source, report: ReportBuilder) -> bytes | None:
    refused = ""
    for name in names:
        try:
            return source.neighbour(name.replace("%", "%25"))  # FBX names are paths, not URIs
        except FormatError as error:
            if "no such file" not in error.message:
                refused = error.message
    if names:
        report.add("dropped", f"texture {names[0]!r}", refused or "the file is not there; left out")
    return None


def _renumbered(material: Material, number: list[int | None]) -> Material:
    changes = {}
    for slot, texture in material.textures.items():
        to = number[texture.image]
        changes[f"{slot}_texture"] = None if to is None else replace(texture, image=to)
    return replace(material, **changes) if changes else material  # type: ignore[arg-type]
