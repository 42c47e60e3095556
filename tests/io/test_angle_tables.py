"""Tables of joint angles become clips of the robot they are of."""

from __future__ import annotations

import numpy as np
import pytest

import marrow as mw
from robot_world import ARM_URDF, in_our_axes, turn, urdf_places

HINGES = ("j_yaw", "j_shoulder", "j_elbow", "j_rail")


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM_URDF)
    return path


@pytest.fixture
def angles():
    """Of 12 frames: places and fixed-axis Euler angles of the root, and of the hinges, in metres and radians."""
    rng = np.random.default_rng(0)
    low, high = np.array([-3, -1.5, 0, 0]), np.array([3, 0.5, 2.5, 0.2])
    return rng.normal(size=(12, 3)), rng.uniform(-1.2, 1.2, (12, 3)), rng.uniform(low, high, (12, 4))


def seed_text(place, euler, values):
    """As BONES-SEED writes them: centimetres and degrees; what slides is in metres."""
    head = [
        "Frame",
        *(f"root_{w}{a}" for w in ("translate", "rotate") for a in "XYZ"),
        *(f"{n}_dof" for n in HINGES),
    ]
    shown = np.where([n == "j_rail" for n in HINGES], values, np.degrees(values))
    rows = np.concatenate([np.arange(len(place))[:, None], 100 * place, np.degrees(euler), shown], axis=1)
    return "\n".join([",".join(head), *(",".join(f"{v:.9g}" for v in row) for row in rows)])


def matrices(euler):
    """About fixed axes, first x, then y, then z."""
    return np.array([turn([0, 0, 1], c) @ turn([0, 1, 0], b) @ turn([1, 0, 0], a) for a, b, c in euler])


def test_a_table_of_bones_seed_moves_the_links_as_its_numbers_say(arm, angles, tmp_path):
    """Against the kinematics of the URDF's own text."""
    place, euler, values = angles
    (tmp_path / "swing.csv").write_text(seed_text(*angles))
    robot = mw.load(arm, clips=tmp_path / "swing.csv")
    clip = robot.clips["swing"]
    assert clip.rate == 120 and any("BONES-SEED" in line.message for line in robot.report)
    at = robot.skeleton.to_model(clip.sample(np.arange(12) / 120))[..., 3]
    for t, root in enumerate(matrices(euler)):
        wanted = urdf_places(ARM_URDF, dict(zip(HINGES, values[t])))
        for link, off in wanted.items():
            if link in robot.skeleton.names:
                spot = root @ off + place[t]
                np.testing.assert_allclose(at[t, robot.skeleton.index(link)], in_our_axes(spot), atol=2e-5)


def test_what_is_written_is_read_again(arm, angles, tmp_path):
    (tmp_path / "swing.csv").write_text(seed_text(*angles))
    robot = mw.load(arm, clips=tmp_path / "swing.csv")
    first = robot.clips["swing"].sample(np.arange(12) / 120)
    for name, options in (
        ("a.csv", {}),
        ("b.npz", {}),
        ("c.csv", {"degrees": True}),
        ("d.npz", {"degrees": True}),
    ):
        mw.save(robot, tmp_path / name, **options)
        again = mw.load(arm, clips=tmp_path / name)
        (clip,) = again.clips.values()
        assert clip.rate == pytest.approx(120)
        wanted, found = (robot.skeleton.to_model(p) for p in (first, clip.sample(np.arange(12) / 120)))
        np.testing.assert_allclose(found, wanted, atol=1e-4)


@pytest.mark.parametrize("first", [True, False])
def test_rows_without_names_say_their_quaternions_by_size(arm, angles, tmp_path, first):
    place, _, values = angles
    quaternions = np.array([[0.1, 0.2, -0.1, 0.96]] * 12)
    given = quaternions[:, [3, 0, 1, 2]] if first else quaternions
    np.savetxt(tmp_path / "rows.csv", np.concatenate([place, given, values], axis=1), delimiter=",")
    robot = mw.load(arm, clips=tmp_path / "rows.csv", rate=50)
    clip = robot.clips["rows"]
    turned = clip.sample(0.1).rotation[robot.skeleton.roots[0]]
    wanted = np.array([0.2, -0.1, 0.1, 0.96])
    np.testing.assert_allclose(turned, wanted / np.linalg.norm(wanted), atol=1e-5)
    assert clip.rate == 50


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s: s.replace("j_", "other_"), "another robot"),
        (lambda s: s[: s.rindex(",")], "cells, expected"),
        (lambda s: s + "x", "not a number"),
        (lambda s: s[: s.rindex(",") + 1] + "nan", "not finite"),
        (lambda s: s.splitlines()[0], "no frames"),
    ],
)
def test_tables_that_do_not_fit_are_refused_in_words(arm, angles, tmp_path, change, words):
    (tmp_path / "bad.csv").write_text(change(seed_text(*angles)))
    with pytest.raises(mw.MarrowError, match=words):
        mw.load(arm, clips=tmp_path / "bad.csv")


def suit_table(right_handed: bool, bent: float = 0.1) -> str:
    """Somebody who stands with bent knees and looks along z, as Rokoko's software writes it: Unity's axes."""
    body = {
        "Pelvis": (0, 1.0, 0), "Chest": (0, 1.25, 0), "Head": (0, 1.55, 0),
        **{f"{s}{n}": (x * w, y, z) for s, x in (("Left", 1), ("Right", -1)) for n, w, y, z in (
            ("UpperLeg", 0.1, 0.95, 0), ("LowerLeg", 0.1, 0.5, bent), ("Foot", 0.1, 0.08, 0), ("Shoulder", 0.05, 1.4, 0),
            ("UpperArm", 0.18, 1.4, 0), ("ForeArm", 0.2, 1.12, -0.02), ("Hand", 0.22, 0.86, 0.05),
        )},
    }  # fmt: skip
    sign = 1 if right_handed else -1
    head, row = ["Timestamp"], []
    for name, at in body.items():
        for kind in ("position", "velocity"):
            head += [f"{name}_{kind}_{c}" for c in "xyz"]
            row += [sign * at[0], at[1], at[2]] if kind == "position" else [9.0, 9.0, 9.0]
    head.append("LeftKnee_flexion")
    rows = [[1000 * t / 60, *row, 20.0] for t in range(5)]
    return "\n".join([",".join(head), *(",".join(map(str, r)) for r in rows)])


@pytest.mark.parametrize("right_handed", [True, False])
def test_a_suits_table_is_no_mirror_image(tmp_path, right_handed):
    """Left is left and ahead is ahead, whichever way its axes go; times are milliseconds, speeds are no places."""
    (tmp_path / "suit.csv").write_text(suit_table(right_handed))
    found = mw.load(tmp_path / "suit.csv")
    (clip,) = found.clips.values()
    assert clip.rate == 60
    at = found.skeleton.to_model(clip.sample(0.0))[..., 3]
    left, right, knee, ankle = (
        at[found.skeleton.index(n)] for n in ("left_hip", "right_hip", "left_knee", "left_ankle")
    )
    assert left[0] - right[0] == pytest.approx(0.2, abs=0.01) and knee[2] - ankle[2] > 0.05
    assert any("left-handed" in line.message for line in found.report) == (not right_handed)
