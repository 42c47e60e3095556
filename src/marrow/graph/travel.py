"""The travel of a joint through all clips of a bank: what root motion is read from, and a bank without it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.bank import REST, ClipBank
from marrow.kernels.memory import aligned_zeros
from marrow.math import quaternion
from marrow.model._derived import derived
from marrow.model.character import Character

__all__ = ["in_place", "root_tracks"]

Array = NDArray[Any]
STILL = 1e-6


def _rows(bank: ClipBank) -> Array:
    """All frames `(T, 10, Jp)`."""
    Jp, size = bank.layout.joints, bank.layout.size
    return bank.rows.reshape(-1, size)[:, : 10 * Jp].reshape(-1, 10, Jp)


def root_tracks(bank: ClipBank, joint: int) -> tuple[Array, Array]:
    """The character's own motion `(T, 7)` (translation, rotation) in all frames of a bank: how `joint` has moved from its
    rest pose in model space; and where each clip's frames begin `(C,)`, -1 for clips that stay."""
    skeleton = bank.skeleton
    chain = [*reversed(skeleton.ancestors(joint)), joint]
    rows = _rows(bank).astype(np.float64)
    place, turn = np.zeros((len(rows), 3)), quaternion.identity((len(rows),), np.float64)
    rest_place, rest_turn = np.zeros(3), quaternion.identity(dtype=np.float64)
    for j in chain:
        place = place + quaternion.rotate(turn, rows[:, 0:3, j])
        turn = quaternion.multiply(turn, quaternion.normalize(rows[:, 3:7, j]))
        rest_place = rest_place + quaternion.rotate(
            rest_turn, skeleton.rest.translation[j].astype(np.float64)
        )
        rest_turn = quaternion.multiply(
            rest_turn, quaternion.normalize(skeleton.rest.rotation[j].astype(np.float64))
        )
    own = quaternion.multiply(turn, quaternion.conjugate(rest_turn))
    out = np.concatenate([place - quaternion.rotate(own, rest_place), own], axis=1)
    size = bank.layout.size
    begin = (bank.start // size).astype(np.int64)
    first = np.full(len(bank), -1, np.int64)
    for clip in range(1, len(bank)):
        if bank.sampled[clip - 1].source.additive:
            continue
        frames = out[begin[clip] : begin[clip] + bank.frames[clip]]
        # Neighbours on the same side, so that they can be mixed straight.
        flips = np.cumsum((frames[1:, 3:] * frames[:-1, 3:]).sum(axis=1) < 0) % 2
        frames[1:, 3:] *= np.where(flips == 1, -1.0, 1.0)[:, None]
        if np.abs(frames - frames[0]).max() > STILL:
            first[clip] = begin[clip]
    return out, first


def in_place(character: Character, joint: int) -> ClipBank:
    """The character's bank with `joint` at rest in every frame, so that clips stay where they are."""

    def build() -> ClipBank:
        bank = ClipBank.of(character)
        rows = aligned_zeros(bank.rows.shape)
        rows[:] = bank.rows
        changed = replace(bank, rows=rows)
        frames, rest = _rows(changed), bank.skeleton.rest
        size = bank.layout.size
        for clip in range(len(bank)):
            if clip != REST and bank.sampled[clip - 1].source.additive:
                continue
            begin = int(bank.start[clip]) // size
            part = frames[begin : begin + int(bank.frames[clip])]
            part[:, 0:3, joint], part[:, 3:7, joint] = rest.translation[joint], rest.rotation[joint]
        rows.flags.writeable = False
        return changed

    result: ClipBank = derived(character, ("bank in place", joint), build)
    return result
