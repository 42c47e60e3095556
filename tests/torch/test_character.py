"""`marrow.torch.CharacterModule` against `mw.skin` and `Clip.sample`, on the samples and on real files."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import marrow as mw
import marrow.torch as mt
import torch
from marrow.animation.kinematics import to_model
from marrow.errors import UnknownNameError, ValidationError

NAMES = [
    None,
    "Fox.glb",
    "AnimatedMorphCube.glb",
    "RiggedFigure.glb",
    "maya_dq_weights_7500_binary.fbx",
    "blender_293_barbarian_7400_binary.fbx",
]


@pytest.mark.parametrize("name", NAMES)
def test_skins_are_those_of_the_engine(name: str | None, request: pytest.FixtureRequest) -> None:
    who = mw.samples.lizard() if name is None else mw.load(request.getfixturevalue("corpus") / name)
    clip = who.clips[0]
    hero = mt.CharacterModule(who, clips=[clip.name])
    times = np.array([[0.0, 0.31], [0.77, 2.0]]) * clip.duration  # the last one is past the end
    pose = clip.sample(times)
    mine = hero.sample(0, torch.tensor(times))
    for field in ("translation", "scale", "morphs"):
        np.testing.assert_allclose(
            getattr(mine, field), getattr(pose, field), atol=1e-5 * (1 + np.abs(pose.translation).max())
        )
    assert np.abs(np.abs((mine.rotation.numpy() * pose.rotation).sum(-1)) - 1).max() < 1e-6
    for skinning in (None, "linear", "dual_quaternion"):
        surface = mw.skin(who, pose, skinning=skinning)
        size = np.ptp(surface.positions, axis=(0, 1, 2)).max()
        points, normals = hero.skin(mine, skinning=skinning, normals=True)
        np.testing.assert_allclose(points, surface.positions, atol=3e-6 * size)
        if surface.normals is not None:
            np.testing.assert_allclose(normals, surface.normals, atol=1e-4)
        low = mt.PoseTensors(*(part.float() for part in mine))
        np.testing.assert_allclose(hero.skin(low, skinning=skinning), surface.positions, atol=5e-6 * size)
    np.testing.assert_allclose(hero.joints(mine), to_model(who.skeleton, pose)[..., 3], atol=3e-6 * size)


def test_gradients_reach_times_poses_and_morphs() -> None:
    who = mw.samples.lizard()
    hero = mt.CharacterModule(who, clips=[who.clips[0].name]).double()
    assert torch.autograd.gradcheck(
        lambda t: hero.joints(hero.sample(0, t)),
        torch.tensor([0.123, 0.377], dtype=torch.float64, requires_grad=True),
    )
    rest = hero.rest()
    points = torch.randperm(len(hero.points))[:40]

    def skinned(q: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        return hero.skin(rest._replace(rotation=q, translation=t))[..., points, :]

    q = mt.rotations.normalized(rest.rotation + 0.1 * torch.randn_like(rest.rotation))
    assert torch.autograd.gradcheck(
        skinned, (q.requires_grad_(), rest.translation.clone().requires_grad_()), fast_mode=True, atol=1e-5
    )
    man = mt.CharacterModule(mw.samples.mannequin(), clips=[])
    morphs = torch.full(man.rest_morphs.shape, 0.3, requires_grad=True)
    out = man.skin(man.rest()._replace(morphs=morphs))
    (grad,) = torch.autograd.grad(out.square().sum(), morphs)
    assert (grad != 0).all()


def test_state_goes_there_and_back_and_moves_with_the_module(tmp_path: Path) -> None:
    who = mw.samples.lizard()
    hero, other = mt.CharacterModule(who), mt.CharacterModule(who)
    torch.save(hero.state_dict(), tmp_path / "hero.pt")
    with torch.no_grad():
        other.points.zero_()
    other.load_state_dict(torch.load(tmp_path / "hero.pt"))
    pose = hero.sample(0, 0.2)
    np.testing.assert_array_equal(other.skin(pose), hero.skin(pose))
    double = mt.CharacterModule(who).double()
    assert double.skin(double.sample(0, 0.2)).dtype == torch.float64
    assert "joints" in repr(hero)


def test_points_of_ones_own() -> None:
    who = mw.samples.lizard()
    hero = mt.CharacterModule(who, clips=[who.clips[0].name])
    pose = hero.sample(0, torch.tensor([0.1, 0.4]))
    longer = hero.points * torch.tensor([1.0, 1.0, 1.2])
    np.testing.assert_allclose(
        hero.skin(pose, longer)[1], hero.skin(mt.PoseTensors(*(p[1] for p in pose)), longer), atol=1e-6
    )
    each = torch.stack([hero.points, longer])
    np.testing.assert_allclose(hero.skin(pose, each)[0], hero.skin(pose)[0], atol=1e-6)


def test_compiled_from_time_to_skin() -> None:
    who = mw.samples.lizard()
    hero = mt.CharacterModule(who, clips=[who.clips[0].name])
    run = torch.compile(lambda t: hero.skin(hero.sample(0, t)), backend="aot_eager")
    t = torch.tensor([0.1, 0.5])
    np.testing.assert_allclose(run(t), hero.skin(hero.sample(0, t)), atol=1e-6)


def test_wrong_calls_are_named() -> None:
    hero = mt.CharacterModule(mw.samples.lizard())
    with pytest.raises(UnknownNameError):
        hero.sample("fly", 0.0)
    with pytest.raises(ValidationError, match="clips"):
        hero.sample(99, 0.0)
    with pytest.raises(ValidationError, match="floating"):
        hero.sample(0, torch.tensor([1, 2]))
    with pytest.raises(ValidationError, match="pose must be"):
        hero.skin(torch.zeros(3, 3, 4))
    with pytest.raises(ValidationError, match="points must be"):
        hero.skin(hero.rest(), torch.zeros(5, 3))
    with pytest.raises(ValidationError, match="skinning"):
        hero.skin(hero.rest(), skinning="magic")
    with pytest.raises(ValidationError, match="local"):
        hero.to_model("rest")  # type: ignore[arg-type]
    with pytest.raises(ValidationError, match="expected a Character"):
        mt.CharacterModule(3)  # type: ignore[arg-type]


def test_torch_is_not_imported_unless_used() -> None:
    import subprocess
    import sys

    code = (
        "import sys, marrow as mw; who = mw.samples.lizard(); mw.skin(who, who.clips[0].sample(0)); "
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], env={**os.environ}).returncode == 0


def test_half_precision_and_autocast_are_ways_to_store() -> None:
    who = mw.samples.lizard()
    hero = mt.CharacterModule(who, clips=[who.clips[0].name])
    t = torch.linspace(0, 0.5, 4)
    wanted = hero.skin(hero.sample(0, t))
    low = mt.CharacterModule(who, clips=[who.clips[0].name]).half()
    pose = low.sample(0, t.half())
    assert pose.rotation.dtype == torch.float16
    assert (low.skin(pose) - wanted).abs().max() < 5e-3
    for skinning in ("linear", "dual_quaternion"):
        exact = hero.skin(hero.sample(0, t), skinning=skinning)
        with torch.autocast("cpu", torch.bfloat16):
            np.testing.assert_array_equal(hero.skin(hero.sample(0, t), skinning=skinning), exact)


def test_gradients_of_many_times_at_once() -> None:
    who = mw.samples.lizard()
    hero = mt.CharacterModule(who, clips=[who.clips[0].name])
    t = torch.tensor([0.13, 0.29])
    each = torch.vmap(torch.func.grad(lambda s: hero.sample(0, s).rotation.sum()))(t)
    u = t.clone().requires_grad_()
    np.testing.assert_allclose(each, torch.autograd.grad(hero.sample(0, u).rotation.sum(), u)[0], atol=1e-5)
