"""Virtual joints: one more joint that everything knows."""

import numpy as np
import pytest

import marrow as mw
from marrow.errors import MarrowError


@pytest.fixture(scope="module")
def hero():
    return mw.samples.mannequin()


def test_a_joint_more_changes_no_other(hero, tmp_path):
    made = hero.with_joint("saddle", "pelvis", translation=(0.0, 0.1, -0.05), rotation=(0, 1, 0, 1))
    j = made.skeleton.index("saddle")
    assert j == len(hero.skeleton) and made.skeleton.parents[j] == hero.skeleton.index("pelvis")
    pose, before = made.clips["walk"].sample(0.4), hero.clips["walk"].sample(0.4)
    assert np.array_equal(pose.rotation[:j], before.rotation)
    a, b = mw.skin(made, pose), mw.skin(hero, before)
    assert np.array_equal(a.positions, b.positions)
    assert len(made.levels) == len(hero.levels)
    mw.save(made.replace(clips=[made.clips["walk"]], reduced=(), lod=None), tmp_path / "a.glb")
    again = mw.load(tmp_path / "a.glb")
    np.testing.assert_allclose(
        again.skeleton.rest_model[again.skeleton.index("saddle")], made.skeleton.rest_model[j], atol=1e-5
    )


@pytest.mark.parametrize("clip", ["walk", "attack"])
def test_a_joint_that_follows_is_where_the_other_is(hero, clip):
    made = hero.with_joint("grip", "@right_hand", follow="@left_hand")
    crowd = mw.Animator(made, count=3)
    crowd.play(clip)
    for _ in range(5):
        crowd.update(0.11)
        grip, left = (crowd.model_matrices[:, made.skeleton.index(n)] for n in ("grip", "hand_l"))
        np.testing.assert_allclose(grip, left, atol=2e-5)


def test_graphs_reach_in_its_frame(hero):
    from marrow.graph import Graph, Parameter, TwoBoneIK

    made = hero.with_joint("mark", "pelvis", translation=(0.3, 0.2, 0.4))
    reach = TwoBoneIK("idle", "hand_l", "at", space="mark")
    one = mw.Animator(made, Graph(reach, {"at": Parameter("vector")}))
    one["at"] = (0.0, 0.0, 0.0)
    one.update(0.1)
    places = one.model_matrices[..., 3]
    np.testing.assert_allclose(
        places[made.skeleton.index("hand_l")], places[made.skeleton.index("mark")], atol=1e-4
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("", "pelvis", {}), "expected a name"),
        (("head", "pelvis", {}), "already"),
        (("x", "nobody", {}), "nobody"),
        (("x", "pelvis", {"follow": "nobody"}), "nobody"),
        (("x", "pelvis", {"follow": "head", "translation": (0, 0, 0)}), "leave translation"),
        (("x", "pelvis", {"rotation": (0, 0, 0, 0)}), "quaternion"),
        (("x", "pelvis", {"translation": (0, 0)}), "translation"),
    ],
)
def test_wrong_joints_are_told(hero, arguments, said):
    name, parent, more = arguments
    with pytest.raises(MarrowError) as error:
        hero.with_joint(name, parent, **more)
    assert said in str(error.value)
