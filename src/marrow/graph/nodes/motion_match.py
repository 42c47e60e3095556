"""`MotionMatch`: frames of a motion database, chosen by where the character is to go."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from marrow.errors import ValidationError
from marrow.graph.compiled import MatchEntry
from marrow.graph.nodes.base import AnyNode, Node
from marrow.graph.nodes.pose import PoseNode
from marrow.graph.nodes.slot import Slot
from marrow.graph.tables import Part, Place, seconds

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler

__all__ = ["MotionMatch"]


class MotionMatch(Node, frozen=True):
    """Plays a motion database: every `search` seconds each instance looks for the frame whose pose is most like its own and
    that goes where it wants to go, and goes on from there.

        db = mw.matching.build("mocap/", character=hero)
        crowd = mw.Animator(db.character, mw.Graph(RootMotion(MotionMatch("moves"))), count=100, databases={"moves": db})
        crowd.matching["moves"].steer(velocity)        # (N, 2) or (2,): metres a second along x and z of the world

    `database` is the name that `databases` has for it; a node's own `name` tells two of one database apart. Where
    another frame is taken, the difference dies out in `blend` seconds. What goes on costs `continuity` less than it
    would (0 to 1): the higher, the less often motion is cut. Under `RootMotion` who goes is turned after the facing that
    is wanted, by `steering` radians a second at most, where the database has no such turn (0: never). Instances search
    in turns, so that no update is heavy.
    """

    database: str
    search: float = 0.1
    blend: float = 0.25
    continuity: float = 0.05
    steering: float = 1.5

    colour: ClassVar[str] = "#fdf0dc"

    @property
    def key(self) -> str:
        """What `animator.matching` has it by."""
        return self.name or self.database

    def expand(self) -> AnyNode:
        return Slot(f"match:{self.key}", PoseNode(), blend="inertia")

    def compile(self, compiler: Compiler, at: Place) -> Part:
        if not self.database:
            raise ValidationError(f"{at.path}.database: expected the name of a motion database")
        if not 0.0 <= self.continuity < 1.0:
            raise ValidationError(f"{at.path}.continuity: expected 0 to below 1, got {self.continuity}")
        steering = seconds(self.steering, f"{at.path}.steering")
        search, blend = seconds(self.search, f"{at.path}.search"), seconds(self.blend, f"{at.path}.blend")
        compiler.matches.append(
            MatchEntry(
                at.path,
                self.key,
                self.database,
                f"match:{self.key}",
                search,
                blend,
                self.continuity,
                steering,
            )
        )
        return compiler.expanded(self, at)
