"""The text of docs/api.md, every public name on one page; `make generated` writes it."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MODULES = (
    ("marrow", "import marrow as mw", "What a user types."),
    ("marrow.graph", "mw.graph", "Nodes of animation graphs; see [animation graphs](graph.md)."),
    ("marrow.ik", "mw.ik", "Inverse kinematics; see [ik](ik.md)."),
    ("marrow.motion", "mw.motion", "Retargeting and clip tools; see [motion](motion.md)."),
    ("marrow.lod", "mw.lod", "Levels of detail; see [levels of detail](lod.md)."),
    ("marrow.dataset", "mw.dataset", "Training data of many files; see [data sets](dataset.md)."),
    ("marrow.gpu", "mw.gpu", "Skinning and crowds on the GPU; see [the GPU](gpu.md)."),
    ("marrow.scene", "mw.scene", "What is shown: scenes, cameras, lights; see [pictures](rendering.md)."),
    ("marrow.pictures", "mw.pictures", "Pictures, sheets, videos; see [pictures](rendering.md)."),
    ("marrow.windows", "mw.windows", "Windows and input; see [windows](rendering.md#windows)."),
    ("marrow.rendering", "mw.rendering", "The renderer; see [pictures](rendering.md)."),
    ("marrow.samples", "mw.samples", "The built-in characters; see [samples](samples.md)."),
    ("marrow.torch", "import marrow.torch as mt", "Characters with gradients; see [PyTorch](torch.md)."),
    ("marrow.io.lint", "marrow.io.lint", "What `marrow check` says; see [the command line](cli.md)."),
    ("marrow.math.quaternion", "marrow.math.quaternion", "Quaternions `xyzw`, any leading axes."),
    ("marrow.math.affine", "marrow.math.affine", "Affine matrices `(..., 3, 4)`, any leading axes."),
    ("marrow.errors", "mw.errors", "Every error marrow raises on purpose is a `MarrowError`."),
)
WIDTH = 200


def page() -> str:
    """The whole page."""
    parts = [
        "# Reference",
        "",
        "Every public name, with its first sentence; `help(name)` in Python says the rest. Made by",
        "`make generated`; do not edit.",
        "",
    ]
    seen: set[int] = set()
    for path, title, words in MODULES:
        module = importlib.import_module(path)
        names = [n for n in _public(module) if id(getattr(module, n)) not in seen]
        seen |= {id(getattr(module, n)) for n in names}
        parts += [f"## `{title}`", "", words, ""]
        functions = [n for n in names if not inspect.isclass(getattr(module, n))]
        for name in [n for n in functions if callable(getattr(module, n))]:
            parts += [_line(name, getattr(module, name))]
        others = [n for n in functions if not callable(getattr(module, n)) and not n.startswith("__")]
        plain = [n for n in others if not isinstance(getattr(module, n), ModuleType)]
        if plain:
            parts += [f"- {', '.join(f'`{n}`' for n in plain)}"]
        parts += [""]
        for name in [n for n in names if inspect.isclass(getattr(module, n))]:
            parts += _class(name, getattr(module, name))
    return "\n".join(parts).rstrip() + "\n"


def _public(module: ModuleType) -> list[str]:
    named = getattr(module, "__all__", None) or [n for n in dir(module) if not n.startswith("_")]
    return sorted(named, key=lambda n: (n.lower(), n))


def _first(value: Any) -> str:
    """The first sentence of a docstring, on one line."""
    text = inspect.getdoc(value) or ""
    if not text or (inspect.isclass(value) and value.__doc__ is None):
        return ""
    flat = " ".join(text.split("\n\n")[0].split())
    found = re.match(r"(.+?\.)(?:\s|$)", flat)
    words = (found[1] if found else flat).rstrip(":")
    return words if len(words) <= WIDTH else words[: WIDTH - 3].rsplit(" ", 1)[0] + " ..."


def _signature(value: Any, *, method: bool = False) -> str:
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    parameters = list(signature.parameters.values())
    if method and parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    short = [p.replace(annotation=inspect.Parameter.empty) for p in parameters]
    text = str(signature.replace(parameters=short, return_annotation=inspect.Signature.empty))
    text = re.sub(r"<factory>|<object object at 0x[0-9a-f]+>|<[^<>]* at 0x[0-9a-f]+>", "...", text)
    text = re.sub(r"=<(\w+)\.(\w+): [^>]*>", r"=\1.\2", text)
    return text if len(text) <= WIDTH else text[: WIDTH - 5].rsplit(",", 1)[0] + ", ...)"


def _line(name: str, value: Any, *, method: bool = False) -> str:
    words = _first(value)
    return f"- `{name}{_signature(value, method=method)}`{': ' + words if words else ''}"


def _class(name: str, kind: type) -> list[str]:
    parts = [f"### `{name}`", ""]
    if issubclass(kind, Exception):
        return [*parts, _first(kind), ""]
    # Structs and named tuples have no `__init__` of their own; what has no fields to fill has nothing to say.
    signature = _signature(kind)
    parts += [f"`{name}{signature}`", ""] if signature not in ("()", "(...)") else []
    words = _first(kind)
    parts += [words, ""] if words and not words.startswith(f"{name}(") else []
    members = []
    for key in sorted(dir(kind)):
        if key.startswith("_"):
            continue
        owner = next((k for k in kind.__mro__ if key in vars(k)), None)
        if owner is None or not owner.__module__.startswith("marrow"):
            continue
        raw = vars(owner)[key]
        if isinstance(raw, (staticmethod, classmethod)):
            members.append(_line(f"{name}.{key}", getattr(kind, key)))
        elif inspect.isfunction(raw):
            members.append(_line(f".{key}", raw, method=True))
        elif isinstance(raw, property) or type(raw).__name__ in ("cached_property",):
            inner = raw.fget if isinstance(raw, property) else raw.func
            words = _first(inner)
            members.append(f"- `.{key}`{': ' + words if words else ''}")
        elif inspect.ismemberdescriptor(raw) and isinstance(vars(owner)["__slots__"], dict):
            members.append(f"- `.{key}`: {vars(owner)['__slots__'][key]}")
    return [*parts, *members, ""] if members else parts
