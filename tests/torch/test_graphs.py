"""Pose programs and blend spaces with gradients, against the animator and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

import marrow as mw
import marrow.torch as mt
import torch
from marrow.errors import ValidationError
from marrow.graph import (
    Additive,
    BlendSpace1D,
    BlendSpace2D,
    ClipNode,
    Graph,
    LayerBlend,
    Parameter,
    State,
    StateMachine,
    Transition,
)

HERO = mw.samples.mannequin()
SPACE = BlendSpace1D.of("speed", {0.0: ClipNode("idle", sync=False), 1.25: "walk", 3.6: "run"})


def crowd(space: str) -> mw.Animator:
    moves = StateMachine(
        {"move": State(SPACE), "jump": State(ClipNode("jump", loop=False))},
        (Transition("move", "jump", ("jump",), seconds=0.4),),
    )
    layered = LayerBlend(
        moves,
        "wave",
        joints=("spine_01",),
        depth_falloff=2,
        weight="wave",
        channels=("rotation",),
        space=space,
    )
    graph = Graph(
        layered,
        {
            "speed": Parameter(range=(0.0, 3.6)),
            "wave": Parameter(range=(0.0, 1.0)),
            "jump": Parameter("trigger", hold=0.2),
        },
    )
    many = mw.Animator(HERO, graph, count=12)
    many["speed"], many["wave"] = np.linspace(0, 3.6, 12), np.linspace(0.1, 1, 12)
    for k in range(20):
        if k == 15:
            many.trigger("jump", instances=[1, 4, 9])
        many.update(0.0317)  # never on a key, where the slope of a clip changes
    return many


@pytest.mark.parametrize("space", ["local", "model"])
def test_programs_give_the_animators_poses(space: str) -> None:
    many = crowd(space)
    programs = mt.ProgramModule(many)
    pose = programs()
    np.testing.assert_allclose(pose.translation, many.pose.translation, atol=1e-6)
    np.testing.assert_allclose(pose.scale, many.pose.scale, atol=1e-6)
    np.testing.assert_allclose(pose.morphs, many.pose.morphs, atol=1e-6)
    assert np.abs(np.abs((pose.rotation.numpy() * many.pose.rotation).sum(-1)) - 1).max() < 1e-6
    assert len(programs.names) == len(programs.weights) == len(programs.instances)


@pytest.mark.parametrize("space", ["local", "model"])
def test_gradients_of_weights_times_and_masks(space: str) -> None:
    programs = mt.ProgramModule(crowd(space)).double()
    w, t, m = (
        x.double().clone().requires_grad_() for x in (programs.weights, programs.times, programs.masks)
    )
    probe = torch.randn(12, 61, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))

    def value(w: torch.Tensor, t: torch.Tensor, m: torch.Tensor) -> torch.Tensor:
        pose = programs(w, t, m)
        return (pose.rotation * probe).sum() + (pose.translation * probe[..., :3]).sum()

    if space == "model":
        # In model space a joint jumps when its mask becomes zero: it then follows its parent. No derivative there.
        m = m.detach()
    assert torch.autograd.gradcheck(value, (w, t, m), fast_mode=True, eps=1e-7, atol=1e-4, rtol=1e-3)


def test_a_motion_mix_is_found_again() -> None:
    """The speed of a blend space, fitted to the poses it gave."""
    hero = mt.CharacterModule(HERO, clips=["idle", "walk", "run"]).double()
    space = mt.BlendSpace(SPACE)
    times = [torch.linspace(0, 1, 8, dtype=torch.float64) * hero.clips[k].duration for k in range(3)]
    clips = [hero.sample(k, times[k]) for k in range(3)]

    def joints(speed: torch.Tensor) -> torch.Tensor:
        w = space(speed)
        rotation = mt.rotations.normalized(sum(w[k] * clips[k].rotation for k in range(3)))
        translation = sum(w[k] * clips[k].translation for k in range(3))
        return hero.joints(clips[0]._replace(rotation=rotation, translation=translation))

    target = joints(torch.tensor(2.2, dtype=torch.float64)).detach()
    speed = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)
    descent = torch.optim.Adam([speed], lr=0.05)
    for _ in range(150):
        descent.zero_grad()
        loss = (joints(speed) - target).square().mean()
        loss.backward()
        descent.step()
    assert abs(float(speed.detach()) - 2.2) < 0.02


@pytest.mark.parametrize(
    "places",
    [
        [(0, 0), (1, 0), (0, 1), (1, 1)],
        [(-1, -1), (0, -1), (1, -1), (-1, 0), (0, 0), (1, 0), (-1, 1), (0, 1), (1, 1)],
        [(0, 0), (2, 0.1), (1, 1.7), (0.3, 2.4), (-1, 0.8)],
        [(0, 0), (1, 1), (3, 3)],
    ],
)
def test_planes_mix_as_the_graph_does(places: list[tuple[float, float]]) -> None:
    names = list(HERO.clips)[: len(places)]
    node = BlendSpace2D.of("x", "y", {p: ClipNode(n, sync=False) for p, n in zip(places, names)}, sync=False)
    grid = np.random.default_rng(1).uniform(-2, 3.5, (300, 2))
    many = mw.Animator(HERO, Graph(node, {"x": Parameter(), "y": Parameter()}), count=len(grid))
    many["x"], many["y"] = grid.T
    many.update(0.0)
    program, bank = many.evaluation.program, many.evaluation.evaluator.bank
    wanted = np.zeros((len(grid), len(places)))
    for n in range(len(grid)):
        for _, clip, _, weight in program.operations(n):
            wanted[n, names.index(bank.sampled[clip - 1].name)] += weight
    space = mt.BlendSpace(node)
    np.testing.assert_allclose(space(torch.tensor(grid)), wanted, atol=2e-6)
    inside = torch.tensor([[0.31, 0.42], [0.7, 0.21]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(space, inside)


def test_what_has_no_gradient_is_refused_by_name() -> None:
    from marrow.graph import TwoBoneIK

    graph = Graph(TwoBoneIK("idle", "hand_r", target=(0.2, 1.2, 0.4)), {})
    one = mw.Animator(HERO, graph)
    one.update(0.1)
    with pytest.raises(ValidationError, match="REACH cannot be differentiated"):
        mt.ProgramModule(one)
    with pytest.raises(ValidationError, match="expected an Animator"):
        mt.ProgramModule(HERO)  # type: ignore[arg-type]
    programs = mt.ProgramModule(crowd("local"))
    with pytest.raises(ValidationError, match="weights must be"):
        programs(torch.zeros(3))


def test_additive_layers() -> None:
    clip = next((name for name, c in HERO.clips.items() if c.additive), None)
    if clip is None:
        pytest.skip("the mannequin has no additive clip")
    one = mw.Animator(HERO, Graph(Additive("walk", clip, weight=0.7), {}), count=2)
    one.update(0.3)
    pose = mt.ProgramModule(one)()
    assert np.abs(np.abs((pose.rotation.numpy() * one.pose.rotation).sum(-1)) - 1).max() < 1e-6


def test_the_mannequins_own_graph() -> None:
    many = mw.Animator(HERO, mw.samples.mannequin_graph(), count=3)
    many["speed"] = [0.0, 1.0, 3.0]
    for _ in range(5):
        many.update(0.11)
    pose = mt.ProgramModule(many)()
    assert np.abs(np.abs((pose.rotation.numpy() * many.pose.rotation).sum(-1)) - 1).max() < 1e-6
