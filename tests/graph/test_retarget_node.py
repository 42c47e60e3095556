"""`Retarget`: the poses of another animator on this one's body, blended before they are retargeted."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import marrow as mw
from builders import rotations
from marrow.errors import ValidationError, WrongTypeError
from marrow.graph import (
    BlendSpace1D,
    FootLock,
    Graph,
    LayerBlend,
    Parameter,
    Retarget,
    RootMotion,
    Switch,
)
from marrow.graph.description import from_json, to_json
from marrow.math import affine, quaternion, transform

STEP = 1 / 30
MIX = Graph(
    RootMotion(BlendSpace1D.of("speed", {1.25: "walk", 3.6: "run"})),
    {"speed": Parameter(range=(1.25, 3.6), default=1.25)},
)


@pytest.fixture(scope="module")
def hero() -> mw.Character:
    return mw.samples.mannequin()


@pytest.fixture(scope="module")
def other(hero: mw.Character) -> mw.Character:
    """The same body half as large again, its joints called otherwise and with other axes."""
    old = hero.skeleton
    turn = transform.compose(
        np.zeros((len(old), 3)), rotations(np.random.default_rng(5), (len(old),)), np.ones((len(old), 3))
    )
    model = affine.multiply(old.rest_model.astype(np.float64), turn)
    model[..., 3] *= 1.5
    local = model.copy()
    for j, p in enumerate(old.parents.tolist()):
        if p >= 0:
            local[j] = affine.multiply(affine.invert(model[p]), model[j])
    rest = mw.Pose(*(a.astype(np.float32) for a in transform.decompose(local)))
    return mw.Character(mw.Skeleton(tuple(f"big:{n}" for n in old.names), old.parents, rest), name="big")


def pair(hero, other, count=None, root=None, **options):
    root = Retarget("lead") if root is None else root
    lead = mw.Animator(hero, MIX, count=count)
    return lead, mw.Animator(other, Graph(root, **options), count=count, sources={"lead": lead})


def test_it_shows_the_mix_of_the_source_on_another_body(hero: mw.Character, other: mw.Character) -> None:
    lead, big = pair(hero, other, count=3)
    lead["speed"] = [1.25, 2.4, 3.6]
    for _ in range(7):
        lead.update(STEP)
        big.update(STEP)
    theirs = lead.model_matrices[..., 3] * 1.5
    assert np.abs(big.model_matrices[..., 3] - theirs).max() < 5e-4
    tool = mw.Retargeter(hero, other)
    assert np.allclose(big.pose.rotation, tool.retarget_pose(lead.pose).rotation, atol=3e-7)


def test_crowds_have_the_bits_of_single_ones(hero: mw.Character, other: mw.Character) -> None:
    speeds = np.linspace(1.25, 3.6, 21)
    lead, crowd = pair(hero, other, count=21, root=RootMotion(FootLock(Retarget("lead"))))
    lead["speed"] = speeds
    alone = []
    for k in (0, 8, 20):
        first, second = pair(hero, other, root=RootMotion(FootLock(Retarget("lead"))))
        first["speed"] = float(speeds[k])
        alone.append((k, first, second))
    for _ in range(5):
        for animator in (lead, crowd, *(a for _, *both in alone for a in both)):
            animator.update(STEP)
            _ = animator.pose
    for k, _, one in alone:
        assert np.array_equal(one.pose.rotation, crowd.pose.rotation[k])
        assert np.array_equal(one.matrices, crowd.matrices[k])
        assert np.array_equal(one.root.translation, crowd.root.translation[k])


def test_instances_go_where_the_source_goes_for_their_size(hero: mw.Character, other: mw.Character) -> None:
    lead, big = pair(hero, other, root=RootMotion(Retarget("lead")))
    big.root.set((5.0, 0.0, 0.0), facing=(1.0, 0.0, 0.0))
    for _ in range(30):
        lead.update(STEP)
        big.update(STEP)
    way = lead.root.translation
    assert way[2] > 0.5
    turned = quaternion.rotate(big.root.rotation, way * 1.5)
    assert np.allclose(big.root.translation, turned + np.array([5.0, 0.0, 0.0]), atol=2e-3)
    assert np.allclose(big.root.motion.translation, lead.root.motion.translation * 1.5, atol=1e-4)
    big.update(STEP)  # the source stood still
    assert np.allclose(big.root.motion.translation, 0.0)
    lead, still = pair(hero, other)
    lead.update(STEP)
    still.update(STEP)
    assert not still.root.translation.any()


def test_one_source_leads_all(hero: mw.Character, other: mw.Character) -> None:
    lead = mw.Animator(hero)
    lead.play("wave")
    crowd = mw.Animator(other, Graph(Retarget("lead")), count=4, sources={"lead": lead})
    lead.update(0.4)
    crowd.update(0.4)
    assert np.array_equal(crowd.pose.rotation[0], crowd.pose.rotation[3])
    crowd.instances.add(2)
    lead.update(0.1)
    crowd.update(0.1)
    assert crowd.pose.rotation.shape[0] == 6


def test_the_same_body_gets_a_copy(hero: mw.Character) -> None:
    lead, twin = pair(hero, hero)
    lead.update(0.3)
    twin.update(0.3)
    assert np.allclose(twin.pose.rotation, lead.pose.rotation, atol=3e-7)  # made unit once more
    assert np.array_equal(twin.pose.translation, lead.pose.translation)


def test_it_is_one_motion_among_others(hero: mw.Character) -> None:
    """Under a layer, behind a switch; the graph reads and writes it, a copy and a new graph keep its source."""
    root = LayerBlend(
        Switch("which", ("idle", Retarget("lead"))), "wave", joints=("spine_01",), weight="wave"
    )
    lead, twin = pair(
        hero, hero, root=root, parameters={"which": Parameter(default=1.0), "wave": Parameter()}
    )
    lead.update(0.3)
    twin.update(0.3)
    assert np.allclose(twin.pose.rotation, lead.pose.rotation, atol=1e-6)
    assert copy.copy(twin).pose == twin.pose
    again = from_json(to_json(twin.graph))
    twin.replace_graph(again, seconds=0.0)
    twin.update(0.0)
    assert np.allclose(twin.pose.rotation, lead.pose.rotation, atol=1e-6)


def test_what_does_not_go_is_told(hero: mw.Character, other: mw.Character) -> None:
    lead = mw.Animator(hero, MIX, count=3)
    graph = Graph(Retarget("lead"))
    with pytest.raises(
        ValidationError, match=r"root: the graph shows the poses of 'lead': give that animator"
    ):
        mw.Animator(other, graph)
    with pytest.raises(WrongTypeError, match="'lead' must be an Animator, got Character"):
        mw.Animator(other, graph, sources={"lead": hero})  # type: ignore[dict-item]
    with pytest.raises(WrongTypeError, match="sources: expected animators by name, got list"):
        mw.Animator(other, graph, sources=[lead])  # type: ignore[arg-type]
    with pytest.raises(ValidationError, match="no node of the graph shows 'led'"):
        mw.Animator(other, graph, sources={"lead": mw.Animator(hero), "led": lead})
    with pytest.raises(ValidationError, match="has 3 instances, and there are 2 to follow"):
        mw.Animator(other, graph, count=2, sources={"lead": lead})
    with pytest.raises(ValidationError, match="four legs"):
        mw.Animator(mw.samples.load("lizard"), graph, sources={"lead": mw.Animator(hero)})
    with pytest.raises(ValidationError, match="travel=False"):
        mw.Animator(hero, Graph(RootMotion(Switch("w", ("idle", Retarget("lead")))), {"w": Parameter()}))
    with pytest.raises(ValidationError, match=r"root\.source: expected the name"):
        mw.Animator(hero, Graph(Retarget("")))
    crowd = mw.Animator(other, graph, count=3, sources={"lead": lead})
    crowd.instances.add(1)
    with pytest.raises(ValidationError, match="has 3 instances, and there are 4 to follow"):
        crowd.update(STEP)


def test_the_profile_beside_the_body_counts(hero: mw.Character, tmp_path) -> None:
    mw.save(hero.replace(clips=(), reduced=()), tmp_path / "body.glb")
    mw.RetargetProfile(chains={"left_arm": mw.motion.ChainProfile(fk=0.0)}).save(
        tmp_path / "body.retarget.json"
    )
    body = mw.load(tmp_path / "body.glb")
    lead, twin = pair(hero, body)
    lead.update(0.3)
    twin.update(0.3)
    arm = body.skeleton.index("upperarm_l")
    assert quaternion.angle(twin.pose.rotation[arm], body.skeleton.rest.rotation[arm]) < 1e-3


def test_instances_come_and_go_with_those_they_follow(hero: mw.Character, other: mw.Character) -> None:
    """In either order, between any two updates; the others go on as if nobody had come or gone."""
    speeds = np.array([1.25, 2.0, 2.8, 3.6])
    root = RootMotion(FootLock(Retarget("lead")))
    lead, crowd = pair(hero, other, count=4, root=root)
    first, second = pair(hero, other, count=4, root=root)
    lead["speed"] = first["speed"] = speeds

    def go(*animators: mw.Animator) -> None:
        for animator in animators:
            animator.update(STEP)

    go(lead, crowd, lead, crowd, first, second, first, second)
    for animator in (lead, crowd):  # the source before those who follow
        animator.instances.remove([1])
    go(lead, crowd, lead, first, second, first)
    for animator in (crowd, lead):  # and after; one of them was updated already
        animator.instances.add(1)
    go(crowd, second)
    kept = [0, 2, 3]
    assert np.array_equal(crowd.pose.rotation[:3], second.pose.rotation[kept])
    assert np.array_equal(crowd.root.translation[:3], second.root.translation[kept])
    go(lead, crowd)
    assert crowd.root.translation[3, 2] > 0.5 * 1.5 * 1.25 * STEP


def test_followers_go_back_to_a_moment_with_their_source(hero: mw.Character, other: mw.Character) -> None:
    lead, big = pair(hero, other, root=RootMotion(Retarget("lead")))

    def go(times: int) -> np.ndarray:
        for _ in range(times):
            lead.update(STEP)
            big.update(STEP)
        return big.root.translation.copy()

    go(5)
    moment, where = lead.snapshot(), big.snapshot()
    later = go(5)
    lead.restore(moment)
    big.restore(where)
    assert np.array_equal(go(5), later)
    twin = copy.copy(big)
    lead.update(STEP)
    twin.update(STEP)
    big.update(STEP)
    assert np.array_equal(twin.root.translation, big.root.translation)


def test_clothes_with_some_joints_of_a_body_take_its_pose():
    """A sleeve has few of the joints that move, and none of its own: joints go by their names."""
    hero = mw.samples.mannequin()
    bones, names = hero.skeleton, ("pelvis", "spine_01", "spine_02", "spine_03", "clavicle_l", "upperarm_l")
    at = [bones.index(n) for n in names]
    rest = mw.Pose(*(getattr(bones.rest, n)[at].copy() for n in ("translation", "rotation", "scale")))
    rest.translation[0] = bones.rest_model[at[0], :, 3]
    sleeve = mw.Character(mw.Skeleton(names, range(-1, 5), rest))
    lead = mw.Animator(hero)
    lead.play("attack")
    with pytest.warns(UserWarning, match="joints do not exist here"):
        worn = mw.Animator(sleeve, Graph(Retarget("lead")), sources={"lead": lead})
    for _ in range(3):
        lead.update(0.1)
        worn.update(0.1)
        assert np.abs(worn.model_matrices - lead.model_matrices[at]).max() < 1e-5
