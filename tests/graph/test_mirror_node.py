"""`Mirror`: poses, events, curves and travel as in a mirror."""

import numpy as np
import pytest

import marrow as mw
from marrow.errors import UnknownNameError, ValidationError
from marrow.graph import (
    Blend,
    BlendSpace1D,
    ClipNode,
    Graph,
    Mirror,
    Parameter,
    RootMotion,
    Slot,
    TwoBoneIK,
    load_graph,
    save_graph,
)

HERO = mw.samples.mannequin()


def with_clips(*clips):
    return mw.Character(HERO.skeleton, (), list(clips))


def run(character, node, parameters=None, steps=40, dt=1 / 37, before=None):
    animator = mw.Animator(character, Graph(RootMotion(node), parameters or {}))
    if before is not None:
        before(animator)
    told = []
    for _ in range(steps):
        animator.update(dt)
        events = sorted(zip(animator.events.names, animator.events.time.round(9).tolist()))
        told.append((animator.model_matrices.copy(), animator.root.motion, events, animator.curves))
    return told, animator


def assert_same(mine, theirs, atol=2e-6):
    for a, b in zip(mine, theirs):
        np.testing.assert_allclose(a[0], b[0], atol=atol)
        np.testing.assert_allclose(a[1].translation, b[1].translation, atol=1e-6)
        np.testing.assert_allclose(a[1].rotation, b[1].rotation, atol=1e-6)
        assert a[2] == b[2]
        assert a[3] == pytest.approx(b[3])


@pytest.mark.parametrize("name", ["walk", "strafe_left", "turn_left", "attack", "run_soft_right"])
def test_it_is_what_a_mirrored_clip_is(name):
    clip = HERO.clips[name]
    curve = mw.Curve("grip_l", [0.0, 0.4], [0.0, 1.0])
    clip = clip.replace(curves=(curve, mw.Curve("grip_r", [0.0, 0.3], [2.0, 1.0])))
    mine, _ = run(with_clips(clip), Mirror(ClipNode(name)))
    theirs, _ = run(with_clips(clip.mirrored(name=name)), ClipNode(name))
    assert_same(mine, theirs)


def test_twice_is_not_at_all():
    twice, _ = run(HERO, Mirror(Mirror("strafe_left")))
    assert_same(twice, run(HERO, "strafe_left")[0])


def test_a_mirrored_walk_is_the_walk_half_a_cycle_later():
    walk = HERO.clips["walk"]
    mine, _ = run(HERO, Mirror("walk"))
    later, _ = run(HERO, ClipNode("walk", start=walk.duration / 2))
    # Arms are not symmetric: the right hand carries a baton.
    body = [
        j for j, n in enumerate(HERO.skeleton.names) if not any(w in n for w in ("arm", "hand", "clav", "_0"))
    ]
    assert len(body) > 8
    for a, b in zip(mine, later):
        np.testing.assert_allclose(a[0][body, :, 3], b[0][body, :, 3], atol=2e-4)
        assert [n for n, _ in a[2]] == [n for n, _ in b[2]]


def test_a_parameter_mixes_and_decides_at_one_half():
    half, animator = run(HERO, Mirror("walk", "how"), {"how": Parameter(default=0.3)})
    plain, _ = run(HERO, "walk")
    assert [t[2] for t in half] == [t[2] for t in plain]
    animator["how"] = 1.0
    animator.update(1 / 60)
    rest = mw.Animator(HERO, Graph(RootMotion(Mirror("walk")), {}))
    for _ in range(40):
        rest.update(1 / 37)
    rest.update(1 / 60)
    np.testing.assert_allclose(animator.model_matrices, rest.model_matrices, atol=2e-6)


def test_clips_in_and_out_of_the_mirror_keep_in_step():
    """A limp to the left, mirrored, has its left step where the walk has its right one."""
    limp = HERO.clips["walk"].replace(
        name="limp", events=(mw.Event(0.0, "foot_l"), mw.Event(0.3, "foot_r")), duration=0.9
    )
    node = BlendSpace1D.of("x", {0.0: "walk", 1.0: Mirror("limp")})
    hero = with_clips(
        HERO.clips["walk"].replace(events=(mw.Event(0.0, "foot_l"), mw.Event(0.45, "foot_r"))), limp
    )
    animator = mw.Animator(hero, Graph(node, {"x": Parameter(default=0.5)}))
    animator.update(0.05)
    clips = {c.clip: c.time for c in animator.evaluation.inspect().clips.values()}
    # Both are the same part of the way from the same foot to the other.
    walk_part = clips["walk"] / 0.45
    limp_part = (clips["limp"] - 0.3) / 0.6
    assert walk_part == pytest.approx(limp_part, abs=1e-6)


def test_slots_and_other_nodes_below_are_mirrored_whole():
    attack = HERO.clips["attack"]
    slot = Slot("act", Blend(("idle", "crouch"), (0.3, 0.7)))
    inner = TwoBoneIK(slot, "hand_l", (0.3, 1.2, 0.3))
    mine, _ = run(HERO, Mirror(inner), before=lambda a: a.slots["act"].play("attack"), steps=20)
    plain, _ = run(HERO, inner, before=lambda a: a.slots["act"].play("attack"), steps=20)
    hand_l, hand_r = (HERO.skeleton.index(n) for n in ("hand_l", "hand_r"))
    for a, b in zip(mine, plain):
        np.testing.assert_allclose(a[0][hand_r, :, 3] * [-1, 1, 1], b[0][hand_l, :, 3], atol=1e-5)
        swapped = [{"foot_l": "foot_r", "foot_r": "foot_l"}.get(n, n) for n, _ in b[2]]
        assert sorted(n for n, _ in a[2]) == sorted(swapped)
    assert attack.events


def test_wrong_mirrors_are_refused_in_words(tmp_path):
    with pytest.raises(ValidationError, match="not on differences"):
        mw.Animator(HERO, Graph(mw.graph.Additive("idle", Mirror("breathe"))))
    with pytest.raises(UnknownNameError, match=r"pairs.*nobody"):
        mw.Animator(HERO, Graph(Mirror("walk", pairs={"nobody": "hand_l"})))
    with pytest.raises(ValidationError, match="same pairs"):
        mw.Animator(
            HERO, Graph(Blend((Mirror("walk"), Mirror("run", pairs={"hand_l": "hand_r"})), (1.0, 1.0)))
        )
    graph = Graph(Mirror("walk", pairs={"hand_l": "hand_r"}))
    save_graph(graph, tmp_path / "g.json")
    assert load_graph(tmp_path / "g.json") == graph


def test_a_lizard_can_be_mirrored():
    lizard = mw.samples.lizard()
    name = next(iter(lizard.clips))
    clip = lizard.clips[name]
    mine = mw.Animator(lizard, Graph(Mirror(name)))
    theirs = mw.Animator(mw.Character(lizard.skeleton, (), [clip.mirrored(name=name)]), Graph(ClipNode(name)))
    for _ in range(20):
        mine.update(0.03)
        theirs.update(0.03)
        np.testing.assert_allclose(mine.model_matrices, theirs.model_matrices, atol=1e-5)
