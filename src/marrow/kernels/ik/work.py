"""What the kernel `ik_solve` reads and writes, and how its arrays are laid out."""

from __future__ import annotations

from typing import NamedTuple

from marrow.kernels.language.annotations import ANY, B, E, F, J, K, N, Out, f4, i4

__all__ = [
    "AIM",
    "FACTORS",
    "FORM",
    "GOAL",
    "LIMIT",
    "LIMITED",
    "MOMENTS",
    "MOVES",
    "POLE",
    "SOFT",
    "TURNS",
    "IkWork",
]

TURNS, MOVES, LIMITED = 1, 2, 4
"""Flags of a node: it may turn, it may move, it has limits."""
AIM, POLE, SOFT = 1, 2, 4
"""Flags of an effector: it aims, it has a pole, its reach softens."""
GOAL = 17
"""Numbers of a goal: place, rotation, pole, place to aim at; weights of place, rotation, aim and pole."""
LIMIT = 11
"""Numbers of a limit: quaternions before and after, which lead from a rotation to the frame of its limit; one over
the sines of half the largest swing about x and y, and the sine of half the largest twist about z."""
FORM = 27
"""Numbers of the quadratic form of a subtree: turn by turn (6), turn by move (9), move by move (6), and its gradient
(6)."""
MOMENTS = FORM + 5
"""What is kept of a subtree: its form, the sum of its forces, the sum of forces times places, and how taut
its joints are."""
FACTORS = 24
"""Numbers that the elimination keeps of three unknowns."""


class IkWork(NamedTuple):
    """A problem for N poses of J joints. The tree has K nodes, parents first: node 0 is the model space (joint -1),
    the others are joints; node `centre` may move. There are E effectors and F points over a floor. Lengths are
    divided by `size`, and counted from where `centre` is in the pose.

    Lane arrays hold 16 numbers of one group of characters: `offset (K, 3, 16)` and so on.
    """

    joints: i4[K]
    parents: i4[K]
    flags: i4[K]
    stiffness: f4[K]
    above: f4[K]
    """How many joints turn from each node up."""
    limits: f4[ANY]
    effector_nodes: i4[E, 3]
    """The node of each effector, and the middle and the first node of its limb."""
    effector_flags: i4[E]
    effector_points: f4[ANY]
    """Where on its joint each is, the axis that aims, the share of its limb's length over which reach softens, and
    how much the rest of the body makes up for what a soft limb lacks."""
    floor_nodes: i4[F]
    floor_points: f4[F, 3]
    translation: f4[N, J, 3]
    rotation: f4[N, J, 4]
    scale: f4[N, J, 3]
    goals: f4[N, E, 17]
    floors: f4[N, F, 4]
    """The planes that points stay above: a normal and a distance."""
    out_translation: Out[f4[N, J, 3]]
    out_rotation: Out[f4[N, J, 4]]
    """Where the solver begins, and what it finds."""
    residuals: Out[f4[N, E, 3]]
    """How far each effector is from its goal: metres, and twice the sines of half the angles of rotation and aim."""
    fades: f4[B]
    """The weight of the posture, step by step."""
    cares: f4[B]
    """Damping that is added for each square of a residual, step by step: steps are careful while much is missing."""
    tauts: f4[B]
    """How much the stiffness of what is pulled along its bones counts, step by step."""
    offset: Out[f4[ANY]]
    turn: Out[f4[ANY]]
    home_offset: Out[f4[ANY]]
    home_turn: Out[f4[ANY]]
    frame: Out[f4[ANY]]
    place: Out[f4[ANY]]
    moments: Out[f4[ANY]]
    factors: Out[f4[ANY]]
    twist: Out[f4[ANY]]
    own: Out[f4[ANY]]
    """What a joint adds of its own: a symmetric matrix and a vector, `(K, 9, 16)`."""
    held: Out[f4[ANY]]
    """Joints that were put to their limits of swing and twist, `(K, 2, 16)`."""
    goal: Out[f4[ANY]]
    reachable: Out[f4[ANY]]
    """The places of the goals, drawn back to what limbs reach."""
    limb: Out[f4[ANY]]
    """How long the limbs of effectors are, `(E, 16)`."""
    point: Out[f4[ANY]]
    plane: Out[f4[ANY]]
    floor_point: Out[f4[ANY]]
    result: Out[f4[ANY]]
    energy: Out[f4[ANY]]
    """The sum of squares of the residuals, and the damping, `(2, 16)`."""
    grown: Out[f4[ANY]]
    """How much larger than at rest a pose is, where it is in another unit, `(16,)`."""
    unit: Out[f4[ANY]]
    """Metres of the pose in one length of the solver, per node: the scale above it, `(K, 16)`."""
    centre: int
    size: float
    bones: float
    """The lengths of all bones at rest, in sizes of the body."""
    damping: float
    turn_weight: float
    hips: float
    limit_weight: float
    floor_weight: float
    most_turn: float
    inner: float
    """Joints that begin at their limits or outside are put inside by this factor; 1 leaves them."""
