"""How the joints of a limb are turned in model space, and where it bends."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import quaternion
from marrow.model import Pose, Skeleton
from marrow.model._derived import derived

__all__ = ["bend_at_rest", "model_rotation"]

Array = NDArray[Any]


def model_rotation(skeleton: Skeleton, body: Pose, joint: int) -> Array:
    out: Array = quaternion.identity((len(body),), np.float64)
    for j in (*reversed(skeleton.ancestors(joint)), joint):
        out = quaternion.multiply(out, body.rotation[:, j].astype(np.float64))
    return out


def bend_at_rest(skeleton: Skeleton, chain: tuple[int, ...], usual: Array) -> Array:
    """Where a straight limb bends, in the frame of its first joint: as it clearly does at rest, else as such limbs do."""
    key = ("bend at rest", chain, usual.tobytes())
    found: Array = derived(skeleton, key, lambda: _bend_at_rest(skeleton, chain, usual))
    return found


def _bend_at_rest(skeleton: Skeleton, chain: tuple[int, ...], usual: Array) -> Array:
    rest = skeleton.rest_model[..., 3][list(chain[:3])].astype(np.float64)
    line = rest[2] - rest[0]
    bent = rest[1] - rest[0] - line * ((rest[1] - rest[0]) @ line / max(float(line @ line), 1e-12))
    hint = bent if np.linalg.norm(bent) > 0.03 * np.linalg.norm(line) else usual
    turned = quaternion.identity(dtype=np.float64)
    for j in (*reversed(skeleton.ancestors(chain[0])), chain[0]):
        turned = quaternion.multiply(turned, np.asarray(skeleton.rest.rotation[j], np.float64))
    return quaternion.rotate(quaternion.conjugate(turned), hint)
