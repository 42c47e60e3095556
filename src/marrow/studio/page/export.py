"""`mw.export_page`: a character, its clips and its graph as one HTML file that needs no server."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from marrow.errors import UnknownNameError, ValidationError, WrongTypeError, told_at_the_call
from marrow.io.atomic import replacing
from marrow.model import _validate
from marrow.studio.makers import maker_of
from marrow.studio.page.contents import PageContents, gather
from marrow.studio.page.document import document

if TYPE_CHECKING:
    from marrow.graph import Animator, Graph
    from marrow.model import Character

    Exportable = Character | Animator | str | os.PathLike[str]

__all__ = ["ExportedPage", "contents_of", "export_page", "page_of"]

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class ExportedPage:
    """A page that was written: where, how many bytes, of what (`parts`), how far joints and vertices may be off in
    it, in metres, and lines about what is not in it as it was."""

    path: str
    bytes: int
    parts: dict[str, int]
    motion_error: float
    position_error: float
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"ExportedPage({self.path!r}, {self.bytes:,} bytes, motion within {1000 * self.motion_error:.2g} mm)"


@told_at_the_call
def export_page(
    thing: Exportable,
    path: PathLike,
    *,
    graph: Graph | PathLike | None = None,
    clips: Sequence[str] | None = None,
    count: int = 1,
    texture_size: int | None = None,
    max_bytes: int | None = None,
) -> ExportedPage:
    """Writes one HTML file that shows a character as the studio does, from a disk or any web space, without a
    server: its materials and levels of detail, clips to scrub, the graph with its sliders, pads and triggers, a
    crowd to try.

    `thing` is a character, an animator (with the graph and the parameters it has), a file or the name of a sample.
    `clips` keeps some of its clips, by name; `count` is how many there are at first. Clips are packed: the result
    says how far joints may be off by that. `texture_size` makes larger images smaller, in pixels. A page of more
    than `max_bytes` bytes is not written: the error says what takes how much.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise WrongTypeError(f"export_page: path: expected the path of a file, got {_validate.shown(path)}")
    count = _validate.integer("export_page", "count", count, low=1)
    if texture_size is not None:
        texture_size = _validate.integer("export_page", "texture_size", texture_size, low=1)
    if max_bytes is not None:
        max_bytes = _validate.integer("export_page", "max_bytes", max_bytes, low=1)
    contents = contents_of(thing, graph, clips, count, texture_size)
    text, sizes = page_of(contents)
    data = text.encode()
    if max_bytes is not None and len(data) > max_bytes:
        largest = sorted(sizes.items(), key=lambda item: -item[1])[:4]
        raise ValidationError(
            f"export_page: the page has {len(data):,} bytes, more than max_bytes={max_bytes:,}: "
            + ", ".join(f"{name} {size:,}" for name, size in largest)
            + "; keep fewer clips (clips=), or smaller images (texture_size=)"
        )
    with replacing(path) as file:
        file.write(data)
    return ExportedPage(
        os.fspath(path),
        len(data),
        sizes,
        contents.motion_error,
        contents.position_error,
        tuple(contents.notes),
    )


def page_of(contents: PageContents) -> tuple[str, dict[str, int]]:
    """The HTML of what was gathered, with the engine, and how many bytes each part takes."""
    from marrow.studio.page.engine import engine_parts

    return document(contents.name, {**contents.parts, **engine_parts()})


def contents_of(
    thing: Any, graph: Any, clips: Sequence[str] | None, count: int, texture_size: int | None
) -> PageContents:
    from marrow.graph import Animator

    options: dict[str, Any] = {"count": count, "texture_size": texture_size}
    if isinstance(thing, Animator):
        if graph is not None:
            raise ValidationError("export_page: an animator brings its own graph; leave graph= out")
        character, graph = thing.character, thing.graph
        options["count"] = max(count, thing.count)
        options["parameters"] = _parameters(thing)
    else:
        maker = maker_of(thing, 0, graph)
        if maker.stage is not None:
            raise ValidationError(
                "export_page: a page has one character: export an actor's character by itself"
            )
        actor = maker()
        character, graph = actor.character, actor.graph
        if actor.controller is not None:
            raise ValidationError(
                "export_page: a page has nobody to play it: export its character with its graph"
            )
    if clips is not None:
        if isinstance(clips, str) or not isinstance(clips, Iterable):
            raise WrongTypeError(f"export_page: clips: expected names of clips, got {_validate.shown(clips)}")
        wanted = [_validate.name("export_page", "clips", name) for name in clips]
        for name in wanted:
            if name not in character.clips:
                raise UnknownNameError("clip", name, character.clips)
        character = character.replace(clips=tuple(character.clips[name] for name in dict.fromkeys(wanted)))
    return gather(character, graph, **options)


def _parameters(animator: Animator) -> dict[str, Any]:
    """What the parameters of an animator's first instance are set to."""
    import numpy as np

    found: dict[str, Any] = {}
    for name, parameter in (animator.graph.parameters if animator.graph is not None else {}).items():
        if parameter.type == "trigger":
            continue
        width = 3 if parameter.type == "vector" else 1
        first = np.reshape(animator[name], (-1, width))[0].tolist()
        found[name] = (
            tuple(first) if width == 3 else bool(first[0]) if parameter.type == "bool" else float(first[0])
        )
    return found
