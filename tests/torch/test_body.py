"""Bodies by the formula of the smplx package, written down again in float64 with dense weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marrow as mw
import marrow.torch as mt
import torch
from marrow.errors import FormatError, ValidationError

RNG = np.random.default_rng(2)


def model(path: Path, J: int, V: int = 70, shapes: int = 16) -> dict[str, Any]:
    weights = RNG.dirichlet(np.full(4, 0.6), V)
    dense = np.zeros((V, J))
    for v in range(V):
        dense[v, RNG.choice(J, 4, replace=False)] = weights[v]
    parents = np.array([2**32 - 1] + [int(RNG.integers(0, j)) for j in range(1, J)], np.int64)
    arrays = {
        "v_template": RNG.normal(size=(V, 3)),
        "f": RNG.integers(0, V, (90, 3)).astype(np.uint32),
        "weights": dense,
        "kintree_table": np.stack([parents, np.arange(J)]),
        "J_regressor": RNG.dirichlet(np.full(V, 0.2), J),
        "shapedirs": 0.1 * RNG.normal(size=(V, 3, shapes)),
        "posedirs": 0.02 * RNG.normal(size=(V, 3, 9 * (J - 1))),
    }
    np.savez(path, **arrays)
    return arrays


def rodrigues(v: np.ndarray) -> np.ndarray:
    angle = np.linalg.norm(v) + 1e-300
    x, y, z = v / angle
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def smplx_formula(a: dict[str, Any], pose: np.ndarray, coefficients: np.ndarray, columns: list[int]) -> Any:
    """`lbs` as the smplx package has it, one body at a time."""
    J = len(a["J_regressor"])
    parents = a["kintree_table"][0]
    shaped = a["v_template"] + a["shapedirs"][..., columns] @ coefficients
    joints = a["J_regressor"] @ shaped
    turns = np.stack([rodrigues(v) for v in pose])
    posed = shaped + a["posedirs"] @ (turns[1:] - np.eye(3)).reshape(-1)
    world = np.zeros((J, 4, 4))
    for j in range(J):
        local = np.eye(4)
        local[:3, :3], local[:3, 3] = turns[j], joints[j] - (joints[parents[j]] if j else 0)
        world[j] = world[parents[j]] @ local if j else local
    moved = world[:, :3, 3].copy()
    relative = world.copy()
    relative[:, :3, 3] -= np.einsum("jab,jb->ja", world[:, :3, :3], joints)
    blended = np.einsum("vj,jab->vab", a["weights"], relative)
    return np.einsum("vab,vb->va", blended[:, :3, :3], posed) + blended[:, :3, 3], moved


@pytest.mark.parametrize(("J", "total"), [(24, 16), (52, 16), (55, 20), (55, 400)])
def test_bodies_are_those_of_the_formula(tmp_path: Path, J: int, total: int) -> None:
    arrays = model(tmp_path / "body.npz", J, shapes=total)
    body = mt.Body.load(tmp_path / "body.npz").double()
    first = {20: 10, 400: 300}.get(total)
    pose, shape, expression = (
        RNG.normal(0, 0.5, (3, J, 3)),
        RNG.normal(size=(3, 10)),
        RNG.normal(size=(3, 10)),
    )
    columns = [*range(10), *(range(first, first + 10) if first else ())]
    given = (torch.tensor(pose), torch.tensor(shape), torch.tensor(expression) if first else None)
    out = body(*given, translation=torch.tensor([[0.0, 1, 0]], dtype=torch.float64))
    for n in range(3):
        coefficients = np.concatenate([shape[n], expression[n]] if first else [shape[n]])
        points, joints = smplx_formula(arrays, pose[n], coefficients, columns)
        np.testing.assert_allclose(out.points[n], points + np.array([0, 1, 0]), atol=1e-6)
        np.testing.assert_allclose(out.joints[n], joints + np.array([0, 1, 0]), atol=1e-6)
    low = mt.Body.load(tmp_path / "body.npz")(*(None if g is None else g.float() for g in given))
    np.testing.assert_allclose(low.points, out.points - torch.tensor([0.0, 1, 0]), atol=2e-5)
    turns = mt.quaternion_to_matrix(mt.axis_angle_to_quaternion(given[0]))
    np.testing.assert_allclose(
        body(turns, *given[1:]).joints + torch.tensor([0.0, 1, 0]), out.joints, atol=1e-9
    )
    np.testing.assert_allclose(body(given[0].flatten(1), *given[1:]).points, body(*given).points, atol=1e-12)


def test_gradients_of_pose_and_shape(tmp_path: Path) -> None:
    model(tmp_path / "body.npz", 24, V=12)
    body = mt.Body.load(tmp_path / "body.npz", shapes=3).double()
    pose = (0.3 * torch.randn(24, 3, dtype=torch.float64)).requires_grad_()
    shape = torch.randn(3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda p, s: tuple(body(p, s)), (pose, shape), fast_mode=True)


def test_a_body_of_one_shape_is_a_character_that_can_be_saved(tmp_path: Path) -> None:
    arrays = model(tmp_path / "body.npz", 24)
    body = mt.Body.load(tmp_path / "body.npz").double()
    shape = torch.randn(10, dtype=torch.float64)
    who = body.character(shape)
    pose, joints = np.zeros((24, 3)), mt.CharacterModule(who).joints(mt.CharacterModule(who).rest())
    points, wanted = smplx_formula(arrays, pose, shape.numpy(), list(range(10)))
    np.testing.assert_allclose(joints, wanted, atol=1e-5)
    mw.save(who, tmp_path / "body.glb")
    again = mw.load(tmp_path / "body.glb", cache=False)
    np.testing.assert_allclose(mw.skin(again, again.skeleton.rest).positions, points, atol=1e-5)
    assert any("posedirs" in line.place for line in who.report.lines)


def test_files_that_are_no_bodies(tmp_path: Path) -> None:
    (tmp_path / "SMPL.pkl").write_bytes(b"\x80\x04N.")
    with pytest.raises(FormatError, match=r"pickle.*np\.savez") as error:
        mt.Body.load(tmp_path / "SMPL.pkl")
    assert "MODEL.pkl" in str(error.value)
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    with pytest.raises(FormatError, match="v_template"):
        mt.Body.load(tmp_path / "other.npz")
    arrays = model(tmp_path / "body.npz", 24)
    np.savez(tmp_path / "cut.npz", **{**arrays, "weights": arrays["weights"][:5]})
    with pytest.raises((FormatError, ValidationError)):
        mt.Body.load(tmp_path / "cut.npz")
    body = mt.Body.load(tmp_path / "body.npz")
    with pytest.raises(ValidationError, match="pose must be"):
        body(torch.zeros(7, 3))
    with pytest.raises(ValidationError, match="shape must be"):
        body(torch.zeros(24, 3), torch.zeros(99))
