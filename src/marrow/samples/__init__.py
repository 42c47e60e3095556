"""Built-in characters: data that comes with the package; nothing is downloaded.

    mw.samples.mannequin()   a humanoid with a walk, a run, aim poses and all a demo needs
    mw.samples.lizard()      a quadruped, to prove that nothing assumes a human
    mw.samples.load("mannequin"), mw.samples.NAMES, mw.samples.describe()
    mw.samples.mannequin_graph()   all it can do as an animation graph; locomotion_graph, aim_offset_graph, upper_body_graph
    mw.samples.mannequin_moves()   a motion database for `MotionMatch`

They are modelled by code that is no part of the package, `tools/samples_modeller` of the repository.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from marrow.errors import MissingFileError, UnknownNameError
from marrow.model import Character, _validate, limit_influences

if TYPE_CHECKING:
    from marrow.samples.graphs import aim_offset_graph, locomotion_graph, mannequin_graph, upper_body_graph
    from marrow.samples.moves import mannequin_moves

__all__ = [
    "NAMES",
    "aim_offset_graph",
    "describe",
    "file_of",
    "lizard",
    "load",
    "locomotion_graph",
    "mannequin",
    "mannequin_graph",
    "mannequin_moves",
    "upper_body_graph",
]

_DESCRIPTIONS = {
    "mannequin": "a humanoid android of 1.8 m with a baton: locomotion, actions, aim poses, morphs",
    "lizard": "a small quadruped that walks and basks",
}
NAMES: tuple[str, ...] = tuple(_DESCRIPTIONS)
"""The names `load` and the command line accept."""


BUILT = Path(__file__).parent / "built"


def file_of(name: str | os.PathLike[str]) -> Path | None:
    """The file of a sample; None where a name is none of a sample, and where there is a file of that name."""
    if os.fspath(name) not in NAMES or os.path.exists(name):
        return None
    return _file(os.fspath(name))


def _file(name: str) -> Path:
    file = BUILT / f"{name}.marrow"
    if not file.is_file():
        raise MissingFileError("the sample was not built", path=file, remedy="in a clone: make samples")
    return file


@cache
def _built(name: str) -> Character:
    from marrow.io import load

    return load(_file(name))


def _limited(character: Character, influences: int) -> Character:
    if _validate.integer("samples", "influences", influences, low=1) >= character.lod.influences:
        return character
    return character.with_meshes(lambda mesh: limit_influences(mesh, influences).mesh)


def mannequin(influences: int = 8) -> Character:
    """The mannequin, with up to `influences` joints per vertex (it uses 8 around shoulders, hips and palms)."""
    return _limited(_built("mannequin"), influences)


def lizard(influences: int = 8) -> Character:
    """The lizard, with up to `influences` joints per vertex."""
    return _limited(_built("lizard"), influences)


def load(name: str) -> Character:
    """A sample by name, one of `NAMES`."""
    makers = {"mannequin": mannequin, "lizard": lizard}
    if not isinstance(name, str) or name not in makers:
        raise UnknownNameError("sample", name, NAMES)
    return makers[name]()


def describe() -> dict[str, str]:
    """One line about each sample, by name."""
    return dict(_DESCRIPTIONS)


def __getattr__(name: str) -> Any:
    # Graphs need the engine: they are imported when they are first asked for.
    if name.endswith("_graph") and name in __all__:
        from marrow.samples import graphs

        return getattr(graphs, name)
    if name == "mannequin_moves":
        from marrow.samples.moves import mannequin_moves

        return mannequin_moves
    raise AttributeError(f"module 'marrow.samples' has no attribute {name!r}")
