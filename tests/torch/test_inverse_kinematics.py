"""Gradients through the solver."""

import numpy as np
import pytest

import marrow as mw
import marrow.torch as mt
import torch
from marrow.errors import ValidationError
from marrow.ik import Effector, Goal, JointLimits, Solver
from marrow.samples import mannequin


def tensors(pose, *, gradient=False):
    parts = [
        torch.tensor(np.array(v), dtype=torch.float64)
        for v in (pose.translation, pose.rotation, pose.scale, pose.morphs)
    ]
    return mt.PoseTensors(*(p.requires_grad_(gradient) for p in parts))


def places(skeleton, pose):
    local = mt.local_matrices(pose.translation, pose.rotation, pose.scale)
    return mt.forward_kinematics(local, skeleton.parents.tolist())[..., 3]


def test_effectors_follow_their_targets_one_to_one():
    hero = mannequin()
    skeleton, names = hero.skeleton, ("@left_hand", "@right_foot", "@left_foot")
    pose = hero.clips["run"].sample(np.linspace(0, 0.4, 3))
    solver = Solver(hero, list(names))
    start = skeleton.to_model(pose)[:, skeleton.index("@left_hand"), :, 3]
    target = torch.tensor(start + np.array([0.05, 0.1, 0.05]), dtype=torch.float64, requires_grad=True)
    found = mt.solve_ik(solver, tensors(pose), {"@left_hand": target})
    same = solver.solve(pose, {"@left_hand": target.detach().numpy()}).pose
    np.testing.assert_allclose(found.rotation.detach(), same.rotation, atol=1e-6)
    np.testing.assert_allclose(found.translation.detach(), same.translation, atol=1e-6)
    there = places(skeleton, found)
    for axis in range(3):
        (g,) = torch.autograd.grad(
            there[:, skeleton.index("@left_hand"), axis].sum(), target, retain_graph=True
        )
        np.testing.assert_allclose(g, np.tile(np.eye(3)[axis], (3, 1)), atol=2e-3)
        (g,) = torch.autograd.grad(
            there[:, skeleton.index("@left_foot"), axis].sum(), target, retain_graph=True
        )
        np.testing.assert_allclose(g, 0, atol=2e-3)


def test_gradients_are_those_of_finite_differences():
    """A joint that turns and moves has one way to be at a place with a rotation: differences of the solver itself
    tell the truth."""
    rest = mw.Pose.identity(2)
    rest.translation[1] = (0.1, 0.5, 0.0)
    skeleton = mw.Skeleton(("body", "hand"), [-1, 0], rest)
    reach = Effector("hand", rotation=1.0)
    solver = Solver(skeleton, [reach], stiffness={"hand": 1e6}, steps=60)
    turn = np.array([0.1, 0.2, -0.1, 1.0]) / np.sqrt(1.06)
    place = torch.tensor([0.3, 0.6, 0.2], dtype=torch.float64, requires_grad=True)
    found = mt.solve_ik(
        solver, tensors(skeleton.rest), {"hand": {"position": place, "rotation": torch.tensor(turn)}}
    )
    h = 1e-2
    for axis in range(3):
        (g,) = torch.autograd.grad(found.translation[0, axis], place, retain_graph=True)
        both = [
            solver.solve(
                skeleton.rest, {"hand": Goal(place.detach().numpy() + s * h * np.eye(3)[k], turn)}
            ).pose.translation[0, axis]
            for k in range(3)
            for s in (1, -1)
        ]
        np.testing.assert_allclose(
            g, [(both[2 * k] - both[2 * k + 1]) / (2 * h) for k in range(3)], atol=5e-3
        )


def test_the_step_at_the_solution_passes_gradcheck():
    from marrow.torch.inverse_kinematics import _Linear

    rng = np.random.default_rng(0)
    rest = mw.Pose.identity(3)
    rest.translation[1:, 1] = 0.4
    skeleton = mw.Skeleton(("a", "b", "c"), [-1, 0, 1], rest)
    solver = Solver(skeleton, [Effector("c", rotation=0.5)])
    pose = tensors(skeleton.rest)
    target = {"c": (0.2, 0.5, 0.1)}
    linear = _Linear(solver, solver.solve(skeleton.rest, target).pose, pose.rotation)
    home = torch.tensor(rng.normal(0, 0.1, (3, 4)) + np.eye(4)[3], requires_grad=True)
    place = torch.tensor(rng.normal(0, 0.1, (3, 3)), requires_grad=True)
    goal = torch.tensor([0.21, 0.5, 0.1], dtype=torch.float64, requires_grad=True)
    turn = torch.tensor([0.1, 0.0, 0.0, 1.0], dtype=torch.float64, requires_grad=True)

    def step(goal, turn, home, place):
        return linear.step({"c": {"position": goal, "rotation": turn}}, home, place)

    assert torch.autograd.gradcheck(step, (goal, turn, home, place), atol=1e-5, rtol=1e-4)


def test_what_reaches_no_target_follows_the_pose():
    """A joint that no effector pulls at has the gradient of the pose."""
    hero = mannequin()
    pose = tensors(hero.clips["idle"].sample(0.1), gradient=True)
    solver = Solver(
        hero,
        ["@left_hand"],
        joints=["@left_upper_arm", "@left_lower_arm"],
        limits=JointLimits.from_clips(hero),
    )
    found = mt.solve_ik(solver, pose, {"@left_hand": torch.tensor([0.4, 1.2, 0.3])})
    knee = hero.skeleton.index("@right_lower_leg")
    (g,) = torch.autograd.grad(found.rotation[knee].sum(), pose.rotation)
    np.testing.assert_allclose(g[knee], 1.0)
    assert torch.isfinite(g).all()


def test_wrong_targets_are_said_in_words():
    hero = mannequin()
    solver = Solver(hero, ["@left_hand"])
    pose = tensors(hero.skeleton.rest)
    with pytest.raises(ValidationError, match="tensor"):
        mt.solve_ik(solver, pose, {"@left_hand": (0, 0, 0)})
    with pytest.raises(ValidationError, match="unknown part"):
        mt.solve_ik(solver, pose, {"@left_hand": {"place": torch.zeros(3)}})
    with pytest.raises(ValidationError, match="not finite"):
        mt.solve_ik(solver, pose, {"@left_hand": torch.full((3,), torch.nan)})
