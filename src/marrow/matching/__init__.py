"""Motion matching: frames chosen from a database of motion by where a character is to go.

db = mw.matching.build("mocap/", character=hero)
crowd = mw.Animator(db.character, mw.Graph(RootMotion(MotionMatch("moves"))), count=1000, databases={"moves": db})
crowd.matching["moves"].steer(velocity)
crowd.update(1 / 60)
"""

from __future__ import annotations

import os

from marrow.matching.building import build
from marrow.matching.database import ClipRange, MotionDatabase
from marrow.matching.features import Features
from marrow.matching.frame_index import FrameIndex

__all__ = ["ClipRange", "Features", "FrameIndex", "MotionDatabase", "build", "load"]


def load(path: str | os.PathLike[str]) -> MotionDatabase:
    """Reads a database that `MotionDatabase.save` wrote."""
    return MotionDatabase.load(path)
