"""The mannequin's skeleton: names, axes, sockets."""

from __future__ import annotations

import measures
import numpy as np
import pytest

SIDES = [
    *("clavicle", "upperarm", "lowerarm", "hand", "thigh", "calf", "foot", "ball"),
    *(f"{f}_0{k}" for f in ("thumb", "index", "middle", "ring", "pinky") for k in (1, 2, 3)),
]


def test_joints_have_the_names_people_know(mannequin):
    names = set(mannequin.skeleton.names)
    assert 60 <= len(names) == len(mannequin.skeleton) <= 80
    assert {"root", "pelvis", "spine_01", "spine_02", "spine_03", "neck", "head"} <= names
    assert {f"{n}_{s}" for n in SIDES for s in "lr"} <= names


def test_bones_run_along_y_to_the_next_joint(mannequin):
    skeleton = mannequin.skeleton
    place = skeleton.rest_model[:, :, 3]
    chain = [
        ("upperarm", "lowerarm"),
        ("lowerarm", "hand"),
        ("thigh", "calf"),
        ("calf", "foot"),
        ("foot", "ball"),
    ]
    pairs = [(f"{a}_{s}", f"{b}_{s}") for a, b in chain for s in "lr"]
    pairs += [("spine_01", "spine_02"), ("spine_03", "neck"), ("neck", "head"), ("index_01_l", "index_02_l")]
    for a, b in pairs:
        i, j = skeleton.index(a), skeleton.index(b)
        way = place[j] - place[i]
        np.testing.assert_allclose(skeleton.rest_model[i, :, 1], way / np.linalg.norm(way), atol=1e-5)


@pytest.mark.parametrize("joint", ["upperarm", "thigh", "clavicle"])
def test_a_positive_turn_about_x_swings_a_bone_forward(mannequin, joint):
    for side in "lr":
        frame = mannequin.skeleton.rest_model[mannequin.skeleton.index(f"{joint}_{side}")]
        x, y = frame[:, 0], frame[:, 1]
        assert np.cross(x, y)[2] > 0.7  # where the tip of the bone goes


def test_right_joints_mirror_the_left(mannequin):
    skeleton = mannequin.skeleton
    for j, name in enumerate(skeleton.names):
        k = skeleton.index(measures.mirror_name(name))
        left, right = skeleton.rest_model[j], skeleton.rest_model[k]
        flip = np.float32([-1, 1, 1])
        np.testing.assert_allclose(right[:, 1:], left[:, 1:] * flip[:, None], atol=1e-6)


def test_rest_pose_is_the_bind_pose(mannequin):
    mesh = mannequin.mesh("body")
    rest = mannequin.skeleton.rest_model[mesh.joint_list].astype(float)
    product = rest[:, :, :3] @ mesh.inverse_bind[:, :, :3]
    np.testing.assert_allclose(product, np.broadcast_to(np.eye(3), product.shape), atol=1e-5)


def test_sockets_are_where_they_say(mannequin):
    skeleton = mannequin.skeleton
    places = {}
    for name in ("hand_r_grip", "head_top", "back"):
        socket = skeleton.socket(name)
        joint = skeleton.rest_model[socket.joint]
        places[name] = joint[:, :3] @ socket.translation + joint[:, 3]
    np.testing.assert_allclose(places["head_top"], [0, 1.8, 0], atol=0.01)
    assert places["back"][2] < -0.1
    assert places["hand_r_grip"][0] < -0.5
