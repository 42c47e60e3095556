"""marrow: the skeletal-animation engine for Python.

import marrow as mw
fox = mw.load("fox.glb")
surface = mw.skin(fox, fox.clips["Run"].sample(0.4))
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from marrow import errors
from marrow._version import __version__
from marrow.errors import MarrowError
from marrow.model import (
    Character,
    Clip,
    Clips,
    Event,
    Image,
    Material,
    Mesh,
    MorphTarget,
    Pose,
    Section,
    Skeleton,
    Socket,
    Texture,
    Track,
    limit_influences,
    normalize_weights,
    pack_weights,
    unpack_weights,
)
from marrow.report import Report

if TYPE_CHECKING:
    from marrow import graph, samples
    from marrow.animation.additive import additive
    from marrow.animation.resampling import SampledClip
    from marrow.graph import Animator, Graph, load_graph, save_graph
    from marrow.io import load, save
    from marrow.skinning import Surface, bounds, skin, skinning_matrices
    from marrow.studio import view

# What needs more than the data model is imported when it is first asked for, so that `import marrow` stays quick.
_LATE = {
    "Animator": "marrow.graph",
    "Graph": "marrow.graph",
    "SampledClip": "marrow.animation.resampling",
    "Surface": "marrow.skinning",
    "additive": "marrow.animation.additive",
    "bounds": "marrow.skinning",
    "graph": "marrow.graph",
    "load": "marrow.io",
    "load_graph": "marrow.graph",
    "samples": "marrow.samples",
    "save": "marrow.io",
    "save_graph": "marrow.graph",
    "skin": "marrow.skinning",
    "skinning_matrices": "marrow.skinning",
    "view": "marrow.studio",
}

__all__ = [
    "Animator",
    "Character",
    "Clip",
    "Clips",
    "Event",
    "Graph",
    "Image",
    "MarrowError",
    "Material",
    "Mesh",
    "MorphTarget",
    "Pose",
    "Report",
    "SampledClip",
    "Section",
    "Skeleton",
    "Socket",
    "Surface",
    "Texture",
    "Track",
    "__version__",
    "additive",
    "bounds",
    "errors",
    "graph",
    "limit_influences",
    "load",
    "load_graph",
    "normalize_weights",
    "pack_weights",
    "samples",
    "save",
    "save_graph",
    "skin",
    "skinning_matrices",
    "unpack_weights",
    "view",
]


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'marrow' has no attribute {name!r}")
    module = importlib.import_module(_LATE[name])
    value = module if _LATE[name] == f"marrow.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
