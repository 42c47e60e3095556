"""What `lint` says of springs."""

import marrow as mw
from marrow.io.lint import lint


def avatar(**said):
    rest = mw.Pose.identity(4)
    rest.translation[1:, 1] = 0.3
    bones = mw.Skeleton(("hips", "head", "hair", "end"), [-1, 0, 1, 2], rest)
    return mw.Character(bones, vrm={"springBone": said})


def ball(node, radius, **more):
    return {"node": node, "shape": {"sphere": {"radius": radius, **more}}}


CHAIN = [{"node": "hair"}, {"node": "end"}]


def found(character, rule):
    return [f for f in lint(character) if f.rule == rule]


def test_springs_without_joints_are_named():
    (one,) = found(avatar(springs=[{"name": "skirt", "joints": []}, {"joints": CHAIN}]), "idle-springs")
    assert "'skirt' has no joint that swings" in one.message


def test_a_joint_of_two_springs_is_named():
    (one,) = found(avatar(springs=[{"joints": CHAIN}, {"joints": CHAIN}]), "idle-springs")
    assert "'hair' swings in two springs" in one.message


def test_colliders_inside_each_other_are_named():
    nested = avatar(
        springs=[{"joints": CHAIN}], colliders=[ball("head", 0.2), ball("hips", 0.05, offset=[0, 0.3, 0])]
    )
    (one,) = found(nested, "nested-colliders")
    assert "one on 'hips' in one on 'head'" in one.message
    apart = avatar(springs=[{"joints": CHAIN}], colliders=[ball("head", 0.2), ball("hips", 0.05)])
    assert not found(apart, "nested-colliders") and not found(apart, "idle-springs")
