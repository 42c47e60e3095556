"""SMPL bodies and AMASS motion, made by the tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import marrow as mw
from marrow.errors import FormatError
from marrow.io.smpl import joints
from marrow.math import quaternion


def amass(path: Path, count: int = 52, frames: int = 7, **more: object) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(count)
    arrays = {
        "poses": rng.normal(0, 0.4, (frames, count * 3)),
        "trans": rng.normal(0, 1, (frames, 3)),
        "mocap_framerate": np.array(60.0),
        "gender": np.array("neutral"),
        "betas": np.zeros(16),
    } | more
    np.savez(path, **arrays)
    return arrays


@pytest.mark.parametrize("count", [22, 24, 52, 55])
def test_motion_is_the_turns_of_the_file_upright(tmp_path: Path, count: int) -> None:
    arrays = amass(tmp_path / "walk_poses.npz", count)
    character = mw.load(tmp_path / "walk_poses.npz", cache=False)
    clip = character.clips["motion"]
    assert len(character.skeleton) == count
    assert (clip.rate, clip.duration) == (60.0, pytest.approx(6 / 60))
    for frame in (0, 3, 6):
        pose = clip.sample(frame / 60)
        vectors = arrays["poses"][frame].reshape(-1, 3)
        angle = np.linalg.norm(vectors, axis=1)
        for j in (1, 5, count - 1):
            wanted = quaternion.from_axis_angle(vectors[j] / angle[j], angle[j])
            assert quaternion.angle(pose.rotation[j], wanted) < 1e-5
        # What was up in the file (Z) is up here (Y).
        x, y, z = arrays["trans"][frame]
        np.testing.assert_allclose(pose.translation[0], [x, z, -y], atol=1e-6)
        root = quaternion.from_axis_angle(vectors[0] / angle[0], angle[0])
        for axis in np.eye(3):
            a, b, c = quaternion.rotate(root, axis)
            np.testing.assert_allclose(quaternion.rotate(pose.rotation[0], axis), [a, c, -b], atol=1e-5)


def body(path: Path, joints: int = 24, vertices: int = 60, **more: object) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    weights = rng.dirichlet(np.full(joints, 0.1), vertices)
    parents = np.maximum(np.arange(joints) - 1, 0).astype(np.uint32)
    parents[0] = 2**32 - 1
    regressor = rng.dirichlet(np.ones(vertices), joints)
    arrays = {
        "v_template": rng.normal(size=(vertices, 3)),
        "f": rng.integers(0, vertices, (80, 3)).astype(np.uint32),
        "weights": weights,
        "J_regressor": regressor,
        "kintree_table": np.stack([parents, np.arange(joints, dtype=np.uint32)]),
        "shapedirs": rng.normal(size=(vertices, 3, 16)),
        "posedirs": np.zeros((vertices, 3, 207)),
    } | more
    np.savez(path, **arrays)
    return arrays


def test_a_body_bends_as_its_equations_say(tmp_path: Path) -> None:
    arrays = body(tmp_path / "body.npz")
    character = mw.load(tmp_path / "body.npz", cache=False)
    rng = np.random.default_rng(1)
    turns = rng.normal(size=(24, 4))
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    pose = character.skeleton.rest.replace(rotation=turns)
    # SMPL: G_j = product of [R | J_j - J_parent] from the root, and each vertex is blended through G_j [I | -J_j].
    places = arrays["J_regressor"] @ arrays["v_template"]
    world, moved = [], np.zeros((60, 3))
    for j in range(24):
        own = np.eye(4)
        own[:3, :3] = quaternion.to_matrix(turns[j])
        own[:3, 3] = places[j] - (places[j - 1] if j else 0)
        world.append(own if j == 0 else world[-1] @ own)
        undo = np.eye(4)
        undo[:3, 3] = -places[j]
        points = np.concatenate([arrays["v_template"], np.ones((60, 1))], axis=1) @ (world[j] @ undo).T
        moved += arrays["weights"][:, j, None] * points[:, :3]
    found = mw.skin(character, pose).positions
    # Influences beyond the sixteen strongest are left out.
    np.testing.assert_allclose(found, moved, atol=2e-2)
    shaped = pose.replace(morphs=np.eye(10)[2])
    assert np.abs(mw.skin(character, shaped).positions - found).max() > 1e-3
    assert "pose correctives" in str(character.report)


def test_motion_goes_onto_a_body_of_the_same_joints(tmp_path: Path) -> None:
    amass(tmp_path / "m.npz", 24)
    table = joints(24)
    places = np.zeros((24, 3))
    for j, (_, parent, offset) in enumerate(table):
        places[j] = np.array(offset) + (places[parent] if parent >= 0 else 0)
    # A vertex at every joint, so that the regressor finds them there.
    tree = np.array([[p % 2**32 for _, p, _ in table], range(24)], np.uint32)
    template = np.concatenate([places, np.zeros((36, 3))])
    body(tmp_path / "b.npz", v_template=template, J_regressor=np.eye(24, 60), kintree_table=tree)
    assert list(mw.load(tmp_path / "b.npz", clips=tmp_path / "m.npz", cache=False).clips)


@pytest.mark.parametrize(
    "change",
    [
        {"poses": np.zeros((3, 7))},
        {"poses": np.zeros((0, 156))},
        {"poses": np.full((7, 156), np.nan)},
        {"trans": np.zeros((2, 3))},
        {"poses": np.array([{}], object)},
        {"mocap_framerate": np.array("fast")},
    ],
)
def test_damage_is_an_error_with_words(tmp_path: Path, change: dict) -> None:
    amass(tmp_path / "m.npz", 52, 7, **change)
    with pytest.raises(FormatError, match=r"m\.npz"):
        mw.load(tmp_path / "m.npz", cache=False)


def test_any_other_archive_is_no_character(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", a=np.zeros(3))
    with pytest.raises(FormatError):
        mw.load(tmp_path / "x.npz", cache=False)
    amass(tmp_path / "m.npz")
    data = (tmp_path / "m.npz").read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(60):
        bad = bytearray(data)
        for at in rng.integers(0, len(bad), 5):
            bad[at] ^= int(rng.integers(1, 256))
        try:
            mw.load(
                bytes(bad[: int(rng.integers(10, len(bad)))]) if rng.random() < 0.3 else bytes(bad),
                cache=False,
            )
        except mw.MarrowError:
            continue
