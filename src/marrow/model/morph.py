"""`MorphTarget`: a named change of shape, and how channel weights become target weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.model import _validate
from marrow.model._asset import Asset

__all__ = ["MorphTarget", "target_weights"]

Array = NDArray[Any]
DELTAS = ("positions", "normals", "tangents")


@dataclass(frozen=True, eq=False)
class MorphTarget(Asset):
    """Deltas added to a mesh before it is skinned.

    `positions (D, 3)` and, where the file has them, `normals (D, 3)` and `tangents (D, 3)` for the D vertices
    `vertices (D,)` names, or for all V vertices in order when `vertices` is None. `channel` is the morph channel of the
    skeleton that drives it.

    `attributes` are deltas of other numbers of those vertices, by the names of glTF (`TEXCOORD_0`, `COLOR_0`): kept for
    other programs, and not shown.

    Several targets on one channel are in-betweens: each is fully on when the channel's weight is `full_weight`, and
    between two of them the shape changes straight from one to the other.
    """

    name: str
    channel: int
    positions: Array
    normals: Array | None = None
    tangents: Array | None = None
    vertices: Array | None = None
    full_weight: float = 1.0
    attributes: dict[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        who = f"MorphTarget({_validate.name('MorphTarget', 'name', self.name)!r})"
        positions = _validate.array(who, "positions", self.positions, np.float32, ("D", 3))
        D = len(positions)
        fields: dict[str, Any] = {"positions": positions}
        for key in ("normals", "tangents"):
            value = getattr(self, key)
            if value is not None:
                fields[key] = _validate.array(who, key, value, np.float32, (D, 3))
        if self.vertices is not None:
            fields["vertices"] = _validate.array(who, "vertices", self.vertices, np.uint32, (D,))
        if not isinstance(self.attributes, dict) or self.attributes:
            fields["attributes"] = _validate.named_arrays(who, "attributes", self.attributes, D)
        full = _validate.number(who, "full_weight", self.full_weight)
        if full == 0:
            raise ValidationError(f"{who}.full_weight: expected a number other than zero")
        channel = _validate.integer(who, "channel", self.channel, hint="use skeleton.morph_index(name)")
        _validate.set_fields(self, channel=channel, full_weight=full, **fields)

    def dense(self, vertex_count: int, field: str = "positions") -> Array | None:
        """One of the deltas (`positions`, `normals`, `tangents`) for every vertex, `(V, 3)`; None where the target has
        none of that kind."""
        values: Array | None = getattr(self, _validate.one_of("MorphTarget", "dense", field, DELTAS))
        if values is None or self.vertices is None:
            return values
        least = int(self.vertices.max()) + 1 if len(self.vertices) else 0
        vertex_count = _validate.integer("MorphTarget", "vertex_count", vertex_count, low=least)
        out = np.zeros((vertex_count, 3), np.float32)
        np.add.at(out, self.vertices, values)
        return out


def target_weights(targets: Sequence[MorphTarget], morphs: Array) -> Array:
    """How far each target is on, `(..., len(targets))`, for channel weights `morphs (..., M)`.

    A channel with one target passes its weight on (divided by the target's `full_weight`). With in-betweens the weight
    runs along the straight lines through zero and every target's `full_weight`; past the last one it goes on along the
    last line, as the tools that write such files do.
    """
    out = np.zeros((*morphs.shape[:-1], len(targets)), morphs.dtype)
    channels: dict[int, list[int]] = {}
    for i, target in enumerate(targets):
        channels.setdefault(target.channel, []).append(i)
    for channel, members in channels.items():
        w = morphs[..., channel]
        if len(members) == 1:
            i = members[0]
            out[..., i] = w / targets[i].full_weight if targets[i].full_weight != 1.0 else w
            continue
        # Stops along the channel: zero is the base shape (member None), every other stop is a target.
        stops = sorted([(targets[i].full_weight, i) for i in members] + [(0.0, -1)])
        at = np.array([s[0] for s in stops])
        segment = np.clip(np.searchsorted(at, w, side="right") - 1, 0, len(stops) - 2)
        low, high = at[segment], at[segment + 1]
        t = (w - low) / np.where(high == low, 1, high - low)
        member = np.array([s[1] for s in stops])
        for i in members:
            on = np.where(member[segment] == i, 1 - t, 0) + np.where(member[segment + 1] == i, t, 0)
            out[..., i] = on
    return out
