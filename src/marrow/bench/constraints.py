"""`marrow bench constraints`: what a constraint costs a character, by what it does."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from marrow.bench.harness import Contest, added
from marrow.graph import (
    AimAt,
    Animator,
    AnyNode,
    Constrain,
    Constraint,
    CopyTransform,
    DriveChannel,
    FollowDamped,
    Graph,
    KeepDistance,
    LimitTransform,
    PoleTo,
    PoseDriver,
    PoseNode,
    ReachChain,
    SplineChain,
)
from marrow.ik import JointLimit
from marrow.samples import mannequin

__all__ = ["contests"]

CROWD, GOAL, DRIVER_GOAL = 1000, 60e-9, 200e-9
FINGERS = [
    f"{name}_{k:02}_{side}"
    for side in "lr"
    for name in ("index", "middle", "ring", "pinky")
    for k in (1, 2, 3)
]
"""24 joints that are moved, deep in the body: eight joints are above each hand."""


def contests() -> list[Contest]:
    """24 constraints on the fingers of 1,000 mannequins: what each adds to the poses; and what a driver adds."""
    avatar = Contest(
        "what VRM has: roll, rotation and aim, a third each", "constraint", CROWD * len(FINGERS), goal=GOAL
    )
    avatar.entries["marrow"] = constrained([KINDS[k % 3](k) for k in range(len(FINGERS))])
    several = Contest("by what they do", "constraint", CROWD * len(FINGERS))
    for name, make in ROWS.items():
        several.entries[name] = constrained([make(k) for k in range(len(FINGERS))])
    chains = Contest("chains of three joints", "constraint", CROWD * 2)
    for name, chain in CHAINS.items():
        chains.entries[name] = constrained([chain(side) for side in "lr"])
    driver = Contest("PoseDriver with 8 examples of an arm", "character", CROWD, goal=DRIVER_GOAL)
    driver.entries["marrow"] = added(posed(PoseNode("walk", 0.3)), posed(driven()))
    return [avatar, several, chains, driver]


def constrained(constraints: Sequence[Constraint]) -> Callable[[], object]:
    """What these constraints add to the poses of the crowd."""
    pose = PoseNode("walk", 0.3)
    return added(posed(pose), posed(Constrain(pose, tuple(constraints))))  # type: ignore[arg-type]


def driven() -> PoseDriver:
    """A collar bone that follows how the upper arm is turned."""
    hero = mannequin()
    examples = hero.clips["walk"].sample(np.linspace(0.0, 0.9, 8))
    return PoseDriver.from_examples(
        PoseNode("walk", 0.3), hero.skeleton, examples, joints="@left_upper_arm", helpers="@left_shoulder",
        regularization=1e-3,
    )  # fmt: skip


def posed(root: AnyNode) -> Callable[[], object]:
    """An update of the crowd and its poses, on one thread."""
    crowd = Animator(mannequin(), Graph(root), count=CROWD, threads=1)

    def run() -> object:
        crowd.update(1 / 60)
        return crowd.pose

    return run


def roll(k: int) -> Constraint:
    return CopyTransform(FINGERS[k], "head", ("rotation",), "x", frame="parent", over="rest", weight=0.5)


def rotation(k: int) -> Constraint:
    return CopyTransform(FINGERS[k], "head", ("rotation",), over="rest", weight=0.5)


def aim(k: int) -> Constraint:
    return AimAt(FINGERS[k], "head", axis=(1.0, 0.0, 0.0), over="rest", weight=0.5)


KINDS = (roll, rotation, aim)
ROWS: dict[str, Callable[[int], Constraint]] = {
    "rotation": rotation,
    "roll, twist": roll,
    "multiplied rotation": lambda k: CopyTransform(FINGERS[k], "head", ("rotation",), factor=0.5),
    "parent (model space)": lambda k: CopyTransform(
        FINGERS[k], "head", ("translation", "rotation"), space="model", weight=0.5
    ),
    "aim": aim,
    "aim with a way up": lambda k: AimAt(FINGERS[k], "head", up=(0.0, 1.0, 0.0)),
    "pole": lambda k: PoleTo("upperarm_l", "lowerarm_l", "hand_l", "head"),
    "limits of swing and twist": lambda k: LimitTransform(FINGERS[k], JointLimit(0.1, 0.05)),
    "channel by a curve": lambda k: DriveChannel(
        "head", "rotation.x", "rotation.z", ((-1.0, 0.0), (0.0, 0.2), (1.0, 0.5)), FINGERS[k]
    ),
    "distance": lambda k: KeepDistance(FINGERS[k], "head", most=0.1),
    "damped follow": lambda k: FollowDamped(FINGERS[k], 0.1),
}
CHAINS: dict[str, Callable[[str], Constraint]] = {
    "spline": lambda side: SplineChain(
        tuple(f"index_{k:02}_{side}" for k in (1, 2, 3)), (f"hand_{side}", "head", "neck")
    ),
    "FABRIK, 4 rounds": lambda side: ReachChain(
        tuple(f"index_{k:02}_{side}" for k in (1, 2, 3)), "head", iterations=4
    ),
    "CCD, 4 rounds": lambda side: ReachChain(
        tuple(f"index_{k:02}_{side}" for k in (1, 2, 3)), "head", iterations=4, method="ccd"
    ),
}
