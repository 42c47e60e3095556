"""Pictures that move: for a picture of the pages, what makes the exported page that takes its place on the site.

On a repository's page the picture stays what it is. `mw.export_page` makes one HTML file of each, which needs nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

__all__ = ["MOVING", "export_all"]

Maker = Callable[[Path], None]
MOVING: dict[str, tuple[str, Maker]] = {}
"""By a picture's path in the repository: what its button says, and what writes its page."""


def shows(picture: str, words: str) -> Callable[[Maker], Maker]:
    """Marks a function that writes the page for a picture."""

    def marked(maker: Maker) -> Maker:
        MOVING[picture] = (words, maker)
        return maker

    return marked


def export_all(pictures: Iterable[str], folder: Path) -> dict[str, str]:
    """Writes the pages of some pictures; gives their names in the folder, by picture."""
    made = {}
    for picture in pictures:
        name = Path(picture).with_suffix("").as_posix().removeprefix("docs/").replace("/", "-") + ".html"
        folder.mkdir(parents=True, exist_ok=True)
        MOVING[picture][1](folder / name)
        made[picture] = name
    return made


@shows("docs/studio/graph.png", "Steer it")
def mannequin_graph(path: Path) -> None:
    import marrow as mw

    mw.export_page("mannequin", path, graph=mw.samples.mannequin_graph())


@shows("docs/studio/crowd.png", "Steer the crowd")
def crowd(path: Path) -> None:
    import marrow as mw

    mw.export_page("mannequin", path, graph=mw.samples.mannequin_graph(), count=100)


@shows("docs/samples/body.png", "Play its 71 clips")
def mannequin(path: Path) -> None:
    import marrow as mw

    mw.export_page("mannequin", path)


@shows("docs/samples/lizard.png", "Play it")
def lizard(path: Path) -> None:
    import marrow as mw

    mw.export_page("lizard", path)


@shows("docs/lod/mannequin.png", "Look at its levels")
def levels(path: Path) -> None:
    import marrow as mw

    hero = mw.samples.mannequin()
    mw.export_page(hero, path, clips=["walk", "run"])


@shows("docs/gallery/before.webp", "Play it before")
def before(path: Path) -> None:
    import marrow as mw
    from website.characters import few_clips

    mw.export_page(few_clips(), path)


@shows("docs/gallery/after.webp", "Play it after")
def after(path: Path) -> None:
    import marrow as mw
    from website.characters import another_body

    mw.export_page(another_body(), path)


@shows("docs/gallery/springs.webp", "Swing it")
def springs(path: Path) -> None:
    import marrow as mw
    from website.characters import loose_tail

    pet, graph = loose_tail()
    mw.export_page(pet, path, graph=graph)
