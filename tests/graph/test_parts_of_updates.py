"""Updates in parts: where springs step, the pose of that moment is made, whatever the frame rate; what is told of an
update does not change."""

import numpy as np
import pytest

import marrow as mw
from marrow.errors import ValidationError
from marrow.graph import (
    ClipNode,
    Graph,
    Parameter,
    RootMotion,
    SpringChain,
    SpringCollider,
    Springs,
    State,
    StateMachine,
    Transition,
)
from marrow.math import quaternion
from marrow.model import Event

HERO = mw.samples.mannequin()
CHAINS = (SpringChain("hand_r"), SpringChain("head", end=0.2))
MOMENTS = np.arange(1, 13) / 6


def times_of(rate):
    """Moments of updates for two seconds; 0: as they like."""
    if rate:
        return np.arange(1, 2 * rate + 1) / rate
    gaps = np.cumsum(np.random.default_rng(4).uniform(0.002, 0.06, 100))
    return np.unique(np.concatenate([gaps[gaps < 2], MOMENTS]))


def places(animator):
    model, root = animator.model_matrices, animator.root.matrices
    return model[:, :, 3] @ root[:, :3].T + root[:, 3]


def seen(graph, rate, each=lambda animator, time: None, exact=True):
    """Joints in the world at the `MOMENTS`."""
    animator, found, before = mw.Animator(HERO, graph), [], 0.0
    animator.springs.exact = exact
    for time in times_of(rate):
        animator.update(float(time - before))
        each(animator, time)
        before = time
        if np.abs(MOMENTS - time).min() < 1e-9:
            found.append(places(animator))
    return np.array(found)


def machine():
    there, back = Transition("a", "b", "elapsed > 0.35", 0.2), Transition("b", "a", "elapsed > 0.3", 0.15)
    return StateMachine({"a": State("run"), "b": State("attack")}, [there, back])


WORLDS = {
    "strike": Graph(Springs("attack", CHAINS, gravity=0.3)),
    "colliders": Graph(Springs("run", CHAINS, radius=0.03, colliders=(SpringCollider("thigh_r", 0.1, tail=(0, 0.3, 0)),))),
    "travel": Graph(RootMotion(Springs("run", CHAINS, gravity=0.3))),
    "transitions": Graph(RootMotion(Springs(machine(), CHAINS, gravity=0.3))),
}  # fmt: skip


@pytest.mark.parametrize("world", WORLDS)
def test_every_rate_gives_the_same_places(world):
    """To a hundredth of a millimetre, on the hand of somebody who strikes, through transitions, with travel."""
    expected = seen(WORLDS[world], 60)
    for rate in (24, 144, 0):
        np.testing.assert_allclose(seen(WORLDS[world], rate), expected, atol=1e-5, err_msg=f"{rate} a second")


def test_guesses_are_further_off():
    """What parts are for: without them the hand is centimetres away."""
    expected = seen(WORLDS["strike"], 60)
    assert np.abs(seen(WORLDS["strike"], 24, exact=False) - expected).max() > 0.02


@pytest.mark.parametrize("before", [False, True])
def test_roots_that_callers_move_lie_on_a_curve(before):
    def at(time):
        return [np.sin(3 * time), 0, np.cos(2 * time)], quaternion.from_axis_angle(
            [0.0, 1, 0], np.sin(2 * time)
        )

    def moved(rate):
        animator, found = mw.Animator(HERO, Graph(Springs("wave", CHAINS, gravity=0.3))), []
        animator.root.set(*at(0.0))
        animator.update(0.0)
        last = 0.0
        for time in times_of(rate):
            animator.model_matrices  # noqa: B018  (used: what is set now is for the next update)
            if before:
                animator.root.set(*at(time))
            animator.update(float(time - last))
            if not before:
                animator.root.set(*at(time))
            last = time
            if np.abs(MOMENTS - time).min() < 1e-9:
                found.append(places(animator))
        return np.array(found)[3:]  # the first updates do not know how fast it goes

    expected = moved(60)
    for rate in (24, 30, 144, 0):
        np.testing.assert_allclose(moved(rate), expected, atol=3e-4, err_msg=f"{rate} a second")


def test_who_is_put_elsewhere_in_a_long_update_does_not_start_to_swing():
    for far in (3.0, 30.0):
        animator = mw.Animator(HERO, Graph(Springs("idle", CHAINS)))
        for _ in range(24):
            animator.update(1 / 24)
        still = animator.model_matrices
        animator.root.set([far, 0, 0], facing=[1, 0, 0])
        animator.update(1 / 24)
        assert np.abs(animator.model_matrices - still)[..., 3].max() < 0.01


def test_what_is_told_of_an_update_is_told_once():
    """Events, states and travel are those of the same graph without springs."""
    plain = Graph(RootMotion(machine()))
    for rate in (24, 13, 0):
        one, other = mw.Animator(HERO, WORLDS["transitions"]), mw.Animator(HERO, plain)
        before = 0.0
        for time in times_of(rate):
            for animator in (one, other):
                animator.update(float(time - before))
            before = time
            assert one.state() == other.state()
            for a, b in ((one.events.all, other.events.all),):
                assert a.names == b.names and a.kinds == b.kinds
                np.testing.assert_allclose(a.time, b.time, atol=1e-9)
            np.testing.assert_allclose(one.root.motion.translation, other.root.motion.translation, atol=2e-4)
            np.testing.assert_allclose(one.root.translation, other.root.translation, atol=1e-3)


def test_events_that_last_are_told_as_begun_and_ended_once():
    clip = HERO.clips["run"]
    who = HERO.replace(clips=[clip.replace(events=(Event(0.2, "window", duration=0.3),))])
    told = []
    for graph in (Graph(Springs("run", CHAINS)), Graph(ClipNode("run"))):
        crowd = mw.Animator(who, graph, count=3)
        rows, rng = [], np.random.default_rng(2)
        for _ in range(60):
            crowd.update(rng.uniform(0.0, 0.06, 3))
            rows.append((crowd.events.all.names, crowd.events.all.kinds, crowd.events.all.instance.tolist()))
            rows.append([(w.instance, w.name, round(w.progress, 6)) for w in crowd.events.windows])
        told.append(rows)
    assert told[0] == told[1]
    assert any("event_ended" in row[1] for row in told[0][::2])


def test_crowds_are_their_members():
    """Who has other clocks, or fewer parts, comes to the same bits in a crowd as alone."""
    graph = WORLDS["transitions"]
    crowd = mw.Animator(HERO, graph, count=2)
    alone = [mw.Animator(HERO, graph) for _ in range(3)]
    rng = np.random.default_rng(5)
    for k in range(40):
        if k == 10:
            crowd.instances.add(1)
        steps = rng.uniform(0.0, 0.07, crowd.count)
        crowd.update(steps)
        for n, seconds in enumerate(steps):
            alone[n].update(float(seconds))
        if k % 7 == 3:
            place = rng.normal(size=3)
            for animator, who in ((crowd, {"instances": [0]}), (alone[0], {})):
                animator.root.set(place, **who)
    for n in range(3):
        np.testing.assert_array_equal(crowd.model_matrices[n], alone[n].model_matrices)
        np.testing.assert_array_equal(crowd.root.translation[n], alone[n].root.translation)


def test_snapshots_between_long_updates():
    animator = mw.Animator(HERO, WORLDS["transitions"])
    for k in range(8):
        animator.update(1 / 24)
        if k == 4:
            kept = animator.snapshot()
    expected = animator.model_matrices.copy()
    for _ in range(2):
        animator.restore(kept)
        for _ in range(3):
            animator.update(1 / 24)
        np.testing.assert_array_equal(animator.model_matrices, expected)


def test_looking_or_not_changes_nothing():
    one, other = (mw.Animator(HERO, WORLDS["transitions"]) for _ in range(2))
    for k in range(30):
        one.update(1 / 24)
        other.update(1 / 24)
        if k % 3:
            other.model_matrices  # noqa: B018
            other.pose  # noqa: B018
    np.testing.assert_array_equal(one.model_matrices, other.model_matrices)


def test_it_can_be_turned_off_and_says_what_it_takes():
    graph = Graph(Springs("run", CHAINS), {"unused": Parameter("float")})
    animator = mw.Animator(HERO, graph)
    assert animator.springs.exact
    animator.springs.exact = False
    animator.replace_graph(Graph(Springs("walk", CHAINS)))
    assert not animator.springs.exact
    with pytest.raises(ValidationError, match="True or False"):
        animator.springs.exact = "yes"


def test_who_is_updated_rarely_is_updated_as_a_whole():
    """Beside those who are updated every time; and comes back to that without a kick."""
    graph = Graph(Springs("idle", CHAINS, gravity=0.3))
    crowd, alone = mw.Animator(HERO, graph, count=2), mw.Animator(HERO, graph)
    crowd.instances.update_every = [1, 2]
    for _ in range(48):
        crowd.update(1 / 24)
        alone.update(1 / 24)
    np.testing.assert_array_equal(crowd.model_matrices[0], alone.model_matrices)
    crowd.instances.update_every = 1
    for _ in range(12):
        crowd.update(1 / 24)
        alone.update(1 / 24)
        np.testing.assert_allclose(crowd.model_matrices[1, :, :, 3], alone.model_matrices[:, :, 3], atol=5e-3)
