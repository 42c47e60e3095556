"""`animator.springs`: settings of chains that are changed while they swing."""

import copy

import numpy as np
import pytest

import marrow as mw
from marrow.errors import UnknownNameError, ValidationError
from marrow.graph import ClipNode, Graph, Parameter, SpringChain, SpringCollider, Springs

SETTINGS = {"stiffness": 2.5, "drag": 0.7, "gravity": 0.9, "radius": 0.03, "limit": 0.4}


def puppet():
    """Two chains of four below a head that sways, and a ball between them."""
    rest = mw.Pose.identity(10)
    rest.translation[:] = [[0, 1, 0], [0, 0.5, 0], *[[0.05, -0.1, 0]] * 4, *[[-0.05, -0.1, 0]] * 4]
    names = ("hips", "head", *(f"left{k}" for k in range(4)), *(f"right{k}" for k in range(4)))
    bones = mw.Skeleton(names, [-1, 0, 1, 2, 3, 4, 1, 6, 7, 8], rest)
    times = np.arange(121) / 60
    places = np.stack([0.2 * np.sin(5 * times), 1 + 0.1 * np.sin(3 * times), 0.1 * np.cos(4 * times)], axis=1)
    return mw.Character(bones, clips=[mw.Clip("move", bones, [mw.Track(0, "translation", times, places)])])


BALL = SpringCollider("head", 0.08, (0.05, -0.25, 0))


def graph(wind=(0.0, 0.0, 0.0), parameters=(), **left):
    chains = (SpringChain(("left0", "left1", "left2", "left3"), **left), "right0")
    return Graph(Springs(ClipNode("move"), chains, colliders=(BALL,), wind=wind), dict(parameters))


def swung(animator, seconds=0.7):
    for _ in range(round(60 * seconds)):
        animator.update(1 / 60)
    return animator.pose.rotation.copy()


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_does_what_it_does_in_a_graph(name):
    """Set before the first update, one after the other or at once: the same bits as where the graph says so."""
    who, value = puppet(), SETTINGS[name]
    expected = swung(mw.Animator(who, graph(**{name: value})))
    live = mw.Animator(who, graph())
    assert not np.array_equal(expected, swung(mw.Animator(who, graph())))
    setattr(live.springs["left0"], name, value)
    assert getattr(live.springs["left0"], name) == pytest.approx(value)
    np.testing.assert_array_equal(swung(live), expected)
    live = mw.Animator(who, graph(**{name: value / 2}), count=3)
    live.springs["left0"].set(**{name: value})
    np.testing.assert_array_equal(swung(live), np.stack([expected] * 3))


def test_what_swings_goes_on():
    """A change in the middle of a swing is no jump, and one back brings nothing else."""
    who = puppet()
    animator, plain = mw.Animator(who, graph()), mw.Animator(who, graph())
    swung(animator), swung(plain)
    before = animator.pose.rotation.copy()
    animator.springs["left0"].stiffness = 3.0
    np.testing.assert_allclose(animator.pose.rotation, before, atol=0.06, err_msg="one step of another force")
    animator.springs["left0"].stiffness = 1.0
    np.testing.assert_array_equal(swung(animator), swung(plain))
    animator.springs["left0"].drag = 0.9
    animator.springs.reset()
    np.testing.assert_array_equal(swung(animator), swung(plain))


def test_wind_blows_and_is_in_the_world():
    who = puppet()
    expected = swung(mw.Animator(who, graph(wind=(1.0, 0.0, 0.5))))
    animator = mw.Animator(who, graph())
    assert animator.springs.wind.tolist() == [0, 0, 0]
    animator.springs.wind = (1.0, 0.0, 0.5)
    np.testing.assert_array_equal(swung(animator), expected)
    assert animator.springs.wind.tolist() == [1, 0, 0.5]
    bound = mw.Animator(who, graph(wind="wind", parameters={"wind": Parameter("vector")}))
    with pytest.raises(ValidationError, match="is a parameter of the graph"):
        bound.springs.wind = (1, 0, 0)


def test_copies_and_overrides_keep_what_was_set():
    spring = {"joints": [{"node": f"left{k}", "stiffness": 1.0 - 0.2 * k} for k in range(4)], "name": "hair"}
    who = puppet().replace(vrm={"version": "1.0", "springBone": {"springs": [spring]}})
    animator = mw.Animator(who)
    animator.play("move")
    animator.springs["hair"].stiffness = 2.0
    animator.springs.wind = (0.3, 0, 0)
    swung(animator)
    twin = copy.copy(animator)
    assert twin.springs["hair"].stiffness == 2.0
    (plan,) = animator.springs.plans
    stiff = {s.joint: s.stiffness for s in plan.joints}
    assert [stiff[j] for j in (2, 3, 4)] == pytest.approx([2.0, 1.6, 1.2]), "in their ratio"
    animator.overrides["head"].set(rotation=(0, 0, 0, 1))
    assert animator.springs["hair"].stiffness == 2.0 and animator.springs.wind[0] == 0.3
    np.testing.assert_allclose(swung(animator), swung(twin), atol=1e-4)


def test_levels_of_a_crowd_have_the_same_settings():
    crowd, one = mw.Animator(puppet(), graph(), count=4), mw.Animator(puppet(), graph())
    crowd.levels = np.array([0, 0, -1, 0])
    for animator in (crowd, one):
        swung(animator, 0.2)
        animator.springs["right0"].set(stiffness=4.0, limit=0.2)
    expected = swung(one)
    np.testing.assert_array_equal(swung(crowd)[[0, 1, 3]], np.stack([expected] * 3))


def test_mistakes_are_told():
    animator = mw.Animator(puppet(), graph())
    assert list(animator.springs) == ["left0", "right0"] and len(mw.Animator(puppet()).springs) == 0
    with pytest.raises(UnknownNameError, match="left0"):
        animator.springs["left9"]
    for name, value in (
        ("stiffness", -1),
        ("drag", 1.5),
        ("gravity", np.nan),
        ("limit", 9),
        ("stiffness", "much"),
    ):
        with pytest.raises((ValidationError, TypeError), match=name):
            setattr(animator.springs["left0"], name, value)
    with pytest.raises(UnknownNameError, match="stifness"):
        animator.springs["left0"].set(stifness=1)
    for wind in ((1, 2), (1, 2, np.inf), "north"):
        with pytest.raises((ValidationError, TypeError), match="wind"):
            animator.springs.wind = wind
