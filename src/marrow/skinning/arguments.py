"""What callers may pass to `mw.skin` and `mw.bounds`, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError, WrongTypeError
from marrow.model import _validate
from marrow.model._derived import derived
from marrow.model.character import Character
from marrow.model.mesh import SKINNING_METHODS, Mesh
from marrow.model.skeleton import Skeleton
from marrow.skinning.surface import Surface

__all__ = ["check_options", "check_thing", "matrices_of", "morph_weights"]

Array = NDArray[Any]


def check_thing(who: str, thing: Any, skeleton: Any) -> None:
    if not isinstance(thing, (Character, Mesh)):
        raise WrongTypeError(f"{who}: expected a Character or a Mesh, got {_validate.shown(thing)}")
    if skeleton is not None and not isinstance(skeleton, Skeleton):
        raise WrongTypeError(f"{who}: skeleton: expected a Skeleton, got {_validate.shown(skeleton)}")


def check_options(who: str, skinning: Any, influences: Any = None, out: Any = None) -> int | None:
    """`influences` as an int; errors for what no option can be."""
    if skinning is not None and (not isinstance(skinning, str) or skinning not in SKINNING_METHODS):
        raise ValidationError(
            f"{who}: skinning must be one of {', '.join(SKINNING_METHODS)}, got {_validate.shown(skinning)}"
        )
    if out is not None and not isinstance(out, Surface):
        raise WrongTypeError(f"{who}: out: expected a Surface, got {_validate.shown(out)}")
    return None if influences is None else _validate.integer(who, "influences", influences, low=1)


def matrices_of(pose: Any, entries: int) -> Array:
    """Skinning matrices that a caller passed in place of a pose."""
    matrices = _validate.numbers("skin: pose", pose)
    if matrices.shape[-3:] != (entries, 3, 4):
        raise ValidationError(
            f"skin: expected a Pose or skinning matrices (..., {entries}, 3, 4), got shape {matrices.shape}"
        )
    return matrices


def morph_weights(
    thing: Character | Mesh, morphs: Any, batch: tuple[int, ...], channels: int | None
) -> Array:
    """Morph weights `(..., M)` for every pose of the batch, as floats. `channels` is the skeleton's M; of a mesh without
    its skeleton only the highest channel it reads is known."""
    weights = _validate.numbers("skin: morphs", morphs)
    if weights.dtype.kind != "f":
        weights = weights.astype(np.float32)
    if isinstance(thing, Character):
        channels = len(thing.skeleton.morph_names)
    least = derived(thing, "channels read", lambda: _channels_read(thing))
    width = weights.shape[-1] if weights.ndim else 0
    if width < least or (channels is not None and width != channels):
        wanted = least if channels is None else channels
        raise ValidationError(
            f"skin: morphs: expected {'at least ' if channels is None else ''}{wanted} morph weights (..., {wanted}), "
            f"got shape {weights.shape}"
        )
    try:
        return np.broadcast_to(weights, (*batch, width))
    except ValueError:
        raise ValidationError(
            f"skin: morphs: expected shape {(*batch, width)} to match the poses, got {weights.shape}"
        ) from None


def _channels_read(thing: Character | Mesh) -> int:
    meshes = thing.meshes if isinstance(thing, Character) else (thing,)
    return max((t.channel + 1 for m in meshes for t in m.morph_targets), default=0)
