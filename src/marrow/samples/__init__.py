"""Built-in characters, made by code when the package is built: nothing is downloaded.

    mw.samples.mannequin()   a humanoid with a walk, a run, aim poses and all a demo needs
    mw.samples.lizard()      a quadruped, to prove that nothing assumes a human
    mw.samples.load("mannequin"), mw.samples.NAMES, mw.samples.describe()
    mw.samples.mannequin_graph()   all it can do as an animation graph; locomotion_graph, aim_offset_graph, upper_body_graph

The package carries them. Where their sources were changed, each is built on first use, in a few seconds, and kept in
the cache.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from marrow.errors import UnknownNameError
from marrow.model import Character, _validate, limit_influences

if TYPE_CHECKING:
    from marrow.samples.graphs import aim_offset_graph, locomotion_graph, mannequin_graph, upper_body_graph

__all__ = [
    "NAMES",
    "aim_offset_graph",
    "describe",
    "lizard",
    "load",
    "locomotion_graph",
    "mannequin",
    "mannequin_graph",
    "upper_body_graph",
]

_DESCRIPTIONS = {
    "mannequin": "a humanoid android of 1.8 m with a baton: locomotion, actions, aim poses, morphs",
    "lizard": "a small quadruped that walks and basks",
}
NAMES: tuple[str, ...] = tuple(_DESCRIPTIONS)
"""The names `load` and the command line accept."""


@cache
def _mannequin() -> Character:
    from marrow.samples.store import stored

    def build() -> Character:
        from marrow.samples.character import build
        from marrow.samples.levels import with_levels

        return with_levels("mannequin", build())

    return stored("mannequin", build)


@cache
def _lizard() -> Character:
    from marrow.samples.store import stored

    def build() -> Character:
        from marrow.samples.levels import with_levels
        from marrow.samples.reptile import build

        return with_levels("lizard", build())

    return stored("lizard", build)


def _limited(character: Character, influences: int) -> Character:
    if _validate.integer("samples", "influences", influences, low=1) >= character.lod.influences:
        return character
    return character.with_meshes(lambda mesh: limit_influences(mesh, influences).mesh)


def mannequin(influences: int = 8) -> Character:
    """The mannequin, with up to `influences` joints per vertex (it uses 8 around shoulders, hips and palms)."""
    return _limited(_mannequin(), influences)


def lizard(influences: int = 8) -> Character:
    """The lizard, with up to `influences` joints per vertex."""
    return _limited(_lizard(), influences)


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
    raise AttributeError(f"module 'marrow.samples' has no attribute {name!r}")
