"""Wrong arguments of the solver and of limits are errors that help."""

import numpy as np
import pytest
from ik_worlds import chain

import marrow as mw
from hostile import exchange, hostile
from marrow.ik import Effector, Goal, JointLimit, JointLimits, Solver

BONES = chain([0.4, 0.3, 0.2])
CLIP = mw.Clip("turn", BONES, (mw.Track(1, "rotation", [0, 1], [[0, 0, 0, 1], [0, 1, 0, 0]]),))
HERO = mw.Character(BONES, (), (CLIP,))
SOLVER = Solver(BONES, [Effector("j3", rotation=1, aim=1, pole=1)], floor=["j3"])
LIMITS = JointLimits.given(BONES, {"j1": JointLimit(swing=0.5)})
CALLS = {
    Effector: {
        "joint": "j3", "position": 1.0, "rotation": 1.0, "aim": 1.0, "pole": 1.0, "axis": (0, 0, 1), "point": (0, 0, 0),
        "limb": ("j1", "j2"), "soft": 0.1, "name": "tip", "pull": 1.0,
    },
    Solver: {
        "body": BONES, "effectors": ["j3"], "joints": ["j1"], "hips": 1.0, "posture": 0.01, "stiffness": {"j1": 2.0},
        "limits": LIMITS, "floor": ["j3"], "steps": 3, "damping": 1e-3,
    },
    SOLVER.solve: {
        "pose": BONES.rest, "targets": {"j3": (0, 0.5, 0)}, "warm": BONES.rest, "floor": (0, 1, 0, 0), "steps": 2,
    },
    JointLimits.given: {"body": BONES, "limits": {"j1": JointLimit(swing=0.5)}},
    JointLimits.from_clips: {"character": HERO, "clips": ["turn"], "margin": 0.1, "rate": 30.0},
    LIMITS.excess: {"pose": BONES.rest},
}  # fmt: skip
HOSTILE = hostile(a_pose=mw.Pose.identity(2), a_clip=CLIP, a_character=HERO, a_goal=Goal((0, 0, 0)))


@pytest.mark.parametrize("function", CALLS, ids=lambda f: f.__qualname__)
def test_any_wrong_argument_of_the_solver_is_a_marrow_error(function):
    exchange(lambda **a: function(**a), CALLS[function], HOSTILE, name=function.__qualname__)


@pytest.mark.parametrize("field", ["position", "rotation", "aim", "pole", "weight"])
def test_any_wrong_goal_is_a_marrow_error(field):
    good = {field: np.ones({"rotation": 4, "weight": 1}.get(field, 3))}
    exchange(lambda **a: SOLVER.solve(BONES.rest, {"j3": Goal(**a)}), good, HOSTILE, name=f"Goal.{field}")


@pytest.mark.parametrize("field", ["swing", "twist", "bone", "side"])
def test_any_wrong_limit_is_a_marrow_error(field):
    good = {field: 0.5 if field in ("swing", "twist") else (1.0, 0.5, 0.0)}
    exchange(
        lambda **a: JointLimits.given(BONES, {"j1": JointLimit(**a)}),
        good,
        HOSTILE,
        name=f"JointLimit.{field}",
    )


def test_a_floor_for_a_solver_that_keeps_no_joint_above_one_is_an_error():
    with pytest.raises(mw.errors.ValidationError, match=r"floor.*Solver\(\.\.\., floor="):
        Solver(BONES, ["j3"]).solve(BONES.rest, {"j3": (0, 0.5, 0)}, floor=(0, 1, 0, 0))


def test_a_solver_whose_list_of_joints_is_empty_is_an_error():
    with pytest.raises(mw.errors.ValidationError, match=r"Solver\.joints: expected at least one"):
        Solver(BONES, ["j3"], joints=[])
