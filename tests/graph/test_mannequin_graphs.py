"""The ready graphs, on the character they are made for."""

import numpy as np
import pytest

import marrow as mw
from marrow.graph import compile_graph, load_graph, save_graph


@pytest.fixture(scope="module")
def hero():
    return mw.samples.mannequin()


@pytest.mark.parametrize(
    "name", ["locomotion_graph", "aim_offset_graph", "upper_body_graph", "mannequin_graph"]
)
def test_ready_graphs_fit_the_mannequin_and_a_file(hero, name, tmp_path):
    graph = getattr(mw.samples, name)()
    assert compile_graph(graph, hero).depth < 10
    save_graph(graph, tmp_path / "g.json")
    assert load_graph(tmp_path / "g.json") == graph


@pytest.mark.parametrize(
    ("speed", "strafe", "way"),
    [
        (1.25, 0.0, (0, 1.25)),
        (3.6, 0.0, (0, 3.6)),
        (-0.84, 0.0, (0, -0.84)),
        # Right is positive for who steers; in space it is -X.
        (0.0, 0.66, (-0.66, 0)),
        (0.0, -0.66, (0.66, 0)),
        (2.0, 0.3, (-0.3, 2.0)),
        (0, 0, (0, 0)),
    ],
)
def test_locomotion_goes_as_fast_as_it_is_told(hero, speed, strafe, way):
    walker = mw.Animator(hero, mw.samples.locomotion_graph())
    walker["speed"], walker["strafe"] = speed, strafe
    total = np.zeros(3)
    for _ in range(240):
        walker.update(1 / 60)
        total += walker.root.motion.translation
    np.testing.assert_allclose(total[[0, 2]] / 4, way, atol=0.02)
    assert abs(walker.pose.translation[0]).max() < 1e-6, "the root stays, the way is told"


def test_aiming_right_and_up_is_positive(hero):
    """The hand that aims goes to the character's right, which is -X, and up."""
    hand = hero.skeleton.index("hand_r")
    places = {}
    for yaw, pitch in ((0.0, 0.0), (0.8, 0.0), (0.0, 0.5)):
        aiming = mw.Animator(hero, mw.samples.aim_offset_graph())
        aiming["aim_yaw"], aiming["aim_pitch"] = yaw, pitch
        aiming.update(5.0)
        places[yaw, pitch] = aiming.model_matrices[hand, :, 3]
    assert places[0.8, 0.0][0] < places[0.0, 0.0][0] - 0.1
    assert places[0.0, 0.5][1] > places[0.0, 0.0][1] + 0.1


def test_feet_do_not_slide_between_walk_and_run(hero):
    """While a foot is down it moves back as fast as the root goes forward, also where clips are mixed."""
    walker = mw.Animator(hero, mw.samples.locomotion_graph())
    walker["speed"] = 2.2
    foot = [hero.skeleton.index(n) for n in ("ball_l", "ball_r")]
    place, slides, last = 0.0, [], None
    for _ in range(300):
        walker.update(1 / 120)
        place += walker.root.motion.translation[2]
        feet = walker.model_matrices[foot, :, 3] + [0, 0, place]
        if last is not None:
            down = (feet[:, 1] < 0.035) & (last[:, 1] < 0.035)
            slides += np.linalg.norm((feet - last)[down][:, [0, 2]], axis=1).tolist()
        last = feet
    assert len(slides) > 50 and np.median(slides) * 120 < 0.6, "metres per second"


def test_the_upper_body_waves_while_the_legs_walk(hero):
    plain, waving = (
        mw.Animator(hero, mw.samples.upper_body_graph()),
        mw.Animator(hero, mw.samples.upper_body_graph()),
    )
    for m in (plain, waving):
        m["speed"] = 1.25
    waving["upper"], waving["gesture"] = 1.0, 1.0
    for _ in range(60):
        plain.update(1 / 60)
        waving.update(1 / 60)
    below = hero.skeleton.mask("spine_01") == 0
    np.testing.assert_array_equal(plain.pose.rotation[below], waving.pose.rotation[below])
    np.testing.assert_array_equal(plain.pose.translation, waving.pose.translation)
    assert not np.allclose(plain.pose.rotation[~below], waving.pose.rotation[~below], atol=0.1)


def test_jump_crouch_turn_and_back(hero):
    m = mw.Animator(hero, mw.samples.mannequin_graph())
    m.update(0.1)
    seen, events = [], []

    def run(seconds):
        for _ in range(round(seconds * 60)):
            m.update(1 / 60)
            events.extend(m.events.names)
            if not seen or seen[-1] != m.state():
                seen.append(m.state())
            assert np.isfinite(m.matrices).all()

    m.trigger("jump")
    run(2.5)
    m["crouch"] = True
    run(1.0)
    m["crouch"] = False
    run(1.0)
    m.trigger("turn_left")
    run(2.0)
    assert seen == ["jump", "move", "crouch", "move", "turn_left", "move"] and "jump" in events


def test_actions_looks_and_reaches(hero):
    m = mw.Animator(hero, mw.samples.mannequin_graph())
    hand, head = hero.skeleton.index("hand_l"), hero.skeleton.index("head")
    m["reach"], m["look"] = 1.0, 1.0
    m["reach_for"], m["look_at"] = (0.35, 1.25, 0.3), (1.5, 1.6, 2.0)
    m.slots["action"].play("attack")
    hits = []
    for _ in range(120):
        m.update(1 / 60)
        hits += [n for n in m.events.names if n == "hit"]
    assert hits == ["hit"]
    np.testing.assert_allclose(m.model_matrices[hand, :, 3], (0.35, 1.25, 0.3), atol=2e-3)
    rest = hero.skeleton.rest_model[head, :, :3]
    facing = m.model_matrices[head, :, :3] @ (rest.T @ np.array([0, 0, 1.0]))
    way = np.array((1.5, 1.6, 2.0)) - m.model_matrices[head, :, 3]
    assert facing @ way / np.linalg.norm(way) > 0.999


def test_a_minute_in_one_step_is_a_minute(hero):
    """At 3.6 m/s: 216 m, every foot told, whether in one update or in 1,800."""
    far, feet = [], []
    for steps in (1, 1800):
        runner = mw.Animator(hero, mw.samples.locomotion_graph())
        runner["speed"] = 3.6
        way, count = 0.0, 0
        for _ in range(steps):
            runner.update(60.0 / steps)
            way += float(runner.root.motion.translation[2])
            count += sum(name in ("foot_l", "foot_r") for name in runner.events.names)
        far.append(way)
        feet.append(count)
    assert far == pytest.approx([216.0, 216.0], rel=0.01)
    assert far[0] == pytest.approx(far[1], abs=1e-3) and abs(feet[0] - feet[1]) <= 1 and feet[0] > 150
