"""What touches in the source touches in the target: feet the ground, hands each other, the body and the ground."""

from __future__ import annotations

import numpy as np

from marrow.motion.contact_work import ContactWork
from marrow.motion.foot_ik import HipsMove, plant_feet
from marrow.motion.hand_contacts import keep_hands
from marrow.report import Kind

__all__ = ["keep_contacts", "unsolved"]


def keep_contacts(work: ContactWork, *, feet: bool, hands: bool, asked: bool) -> list[tuple[Kind, str]]:
    """Changes the target's tracks so that its feet and hands touch what those of the source do; `asked`: somebody asked for
    hands. Returns what the report should say."""
    times = work.times
    said: list[tuple[Kind, str]] = []
    moved = HipsMove(np.zeros((len(times), 3)), np.zeros(len(times)))
    if feet:
        moved = plant_feet(work)
        if moved.lost:
            said.append(("warning", unsolved("feet", moved.lost)))
    if not hands:
        return said
    kept = keep_hands(work, moved)
    if kept is None:
        return [*said, ("warning", "an arm has no hand here or there: hands are not kept")] if asked else said
    if kept.missed:
        said.append(
            ("info", f"hands on the body for {kept.missed:.1f} s are let go: arms of this body would turn by more "
             "than 25 degrees to touch there")
        )  # fmt: skip
    if kept.lost:
        said.append(("warning", unsolved("hands", kept.lost)))
    return said


def unsolved(what: str, seconds: float) -> str:
    """What a report says of a solve that lost its numbers."""
    return (
        f"no place was found for the {what} in {seconds:.2f} s of it: they stay as the limbs carry them there"
    )
