"""`Recipe`: everything that decides what the rows of a data set hold, and nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import msgspec

from marrow._version import __version__
from marrow.errors import UnknownNameError, ValidationError
from marrow.model import _validate
from marrow.motion.calibration import CALIBRATION

__all__ = ["FORMATS", "LAYOUT", "SPLITS", "Recipe", "Shares", "digest_of", "shares_of"]

LAYOUT = 1
"""The layout of folders and files; another number means that older data sets are built anew."""
FORMATS = ("parquet", "webdataset", "safetensors", "npz", "zarr")
SPLITS = ("train", "validation", "test")
COMPRESSIONS = ("none", "zstd")
JOINTS = ("same", "any")
Shares = tuple[float, float, float]


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """How rows are made of motion. Made by `build`, which checks what it is given; kept in the manifest."""

    features: tuple[str, ...]
    rate: float = 30.0
    window: int | None = None
    stride: int | None = None
    mirror: bool = False
    clips: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()
    skeletons: str = "same"
    euler_order: str = "zxy"
    contact_height: float | None = None
    contact_speed: float | None = None
    scale: float | None = None
    calibration: str = "drop"
    springs: bool = True
    format: str = "parquet"
    compression: str = "none"
    allow_outside: bool = False

    def digest(self, *more: object) -> str:
        """A number for the recipe, the marrow that follows it, and what else counts."""
        return digest_of([LAYOUT, __version__, msgspec.to_builtins(self), *more])


def digest_of(value: object) -> str:
    """The SHA-256 of plain data, in hexadecimal digits."""
    return hashlib.sha256(msgspec.json.encode(value, order="deterministic")).hexdigest()


def made(features: Any, **given: Any) -> Recipe:
    """The recipe of these options, each checked."""
    from marrow.dataset.features import FEATURES

    words = features.replace(",", " ").split() if isinstance(features, str) else features
    names = tuple(dict.fromkeys(_texts("features", words)))
    for name in names:
        if name not in FEATURES:
            raise UnknownNameError("feature", name, FEATURES)
    if not names:
        raise ValidationError(f"build: features is empty; there are {', '.join(FEATURES)}")
    who = "build"
    given["rate"] = _validate.number(who, "rate", given["rate"], low=0, high=1e6, above=True)
    for name in ("window", "stride"):
        if given[name] is not None:
            given[name] = _validate.integer(who, name, given[name], low=1)
    if given["stride"] is not None and given["window"] is None:
        raise ValidationError("build: stride is the step between windows; say window too")
    for name in ("mirror", "allow_outside", "springs"):
        given[name] = _validate.flag(who, name, given[name])
    for name in ("clips", "joints"):
        given[name] = tuple(_texts(name, given[name] or ()))
    for name in ("contact_height", "contact_speed", "scale"):
        if given[name] is not None:
            given[name] = _validate.number(who, name, given[name], low=0, above=True)
    _validate.one_of(who, "calibration", given["calibration"], CALIBRATION)
    _validate.one_of(who, "format", given["format"], FORMATS)
    _validate.one_of(who, "compression", given["compression"], COMPRESSIONS)
    if given["compression"] != "none" and given["format"] not in ("parquet", "zarr"):
        raise ValidationError(
            "build: compression is for parquet and zarr; the other formats are read as they lie"
        )
    _validate.one_of(who, "skeletons", given["skeletons"], JOINTS)
    order = str(given["euler_order"]).lower()
    if sorted(order) != ["x", "y", "z"]:
        raise ValidationError(
            f"build: euler_order names three axes, such as 'zxy', got {given['euler_order']!r}"
        )
    given["euler_order"] = order
    return Recipe(features=names, **given)


def _texts(field: str, values: Any) -> list[str]:
    given: list[Any] = (
        [values] if isinstance(values, str) else list(values) if isinstance(values, Iterable) else [None]
    )
    if not all(isinstance(v, str) for v in given):
        raise ValidationError(f"build.{field}: expected names, got {_validate.shown(values)}")
    return given


def shares_of(split: Any) -> Shares:
    """What part of the sources goes to training, validation and test; they sum to 1."""
    if isinstance(split, (int, float)):
        split = (split,)
    try:
        parts = [float(s) for s in (split.replace(",", " ").split() if isinstance(split, str) else split)]
    except (TypeError, ValueError):
        parts = []
    wrong = [p for p in parts if not 0 <= p < 1e9]
    if wrong:
        raise ValidationError(f"build.split: {wrong[0]:g} is wrong: parts are 0 or more; got {split!r}")
    if not 1 <= len(parts) <= 3 or not sum(parts) > 0:
        raise ValidationError(
            f"build.split: expected up to three parts (train, validation, test), such as 0.8, 0.1, 0.1; got {split!r}"
        )
    parts += [0.0] * (3 - len(parts))
    total = sum(parts)
    return parts[0] / total, parts[1] / total, parts[2] / total
