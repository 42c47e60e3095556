"""`MotionMatch` and its database: features against motion whose numbers are known, what is chosen, what is said."""

from itertools import pairwise

import numpy as np
import pytest

import marrow as mw
from marrow.errors import FormatError, MarrowError, ValidationError
from marrow.graph import ClipNode, Graph, MotionMatch, RootMotion, State, StateMachine, Transition
from marrow.math import quaternion

GRAPH = Graph(RootMotion(MotionMatch("moves")))


@pytest.fixture(scope="module")
def moves():
    return mw.samples.mannequin_moves()


def matcher(moves, **options):
    return mw.Animator(moves.character, GRAPH, databases={"moves": moves}, **options)


def clip_on_a_circle(bones, seconds=4.0, radius=2.0, turns=0.5):
    """A root that goes round a circle at an even pace, looking along it; a foot that hangs on it."""
    times = np.linspace(0, seconds, 241)
    angle = 2 * np.pi * turns * times / seconds
    place = np.stack([radius * (1 - np.cos(angle)), 0 * angle, radius * np.sin(angle)], axis=1)
    spin = quaternion.from_axis_angle(np.array([0.0, 1.0, 0.0]), angle)
    return mw.Clip(
        "round",
        bones,
        [mw.Track(0, "translation", times, place), mw.Track(0, "rotation", times, spin)],
    )


def test_features_of_a_circle():
    bones = mw.Skeleton(
        ("root", "foot"),
        [-1, 0],
        mw.Pose(np.array([[0, 0, 0], [0.2, 0.1, 0.3]]), quaternion.identity((2,)), np.ones((2, 3))),
    )
    hero = mw.Character(bones, clips=[clip_on_a_circle(bones)])
    features = mw.matching.Features(positions=("foot",), velocities=("foot",))
    db = mw.matching.build(hero, features=features)
    pace, rate = np.pi / 4, np.pi / 4 * 2  # a half turn in 4 s; 2 m from the middle
    frame = db.rows[30]
    np.testing.assert_allclose(frame[:3], [0.2, 0.1, 0.3], atol=1e-4)
    # What hangs on something that turns goes with it: v + w x r.
    np.testing.assert_allclose(frame[3:6], [pace * 0.3, 0, rate - pace * 0.2], atol=1e-3)
    for k, t in enumerate((1 / 3, 2 / 3, 1.0)):
        way = [2 * (1 - np.cos(pace * t)), 2 * np.sin(pace * t)]
        np.testing.assert_allclose(frame[6 + 2 * k : 8 + 2 * k], way, atol=1e-3)
        np.testing.assert_allclose(
            frame[12 + 2 * k : 14 + 2 * k], [np.sin(pace * t), np.cos(pace * t)], atol=1e-3
        )


def test_a_loop_goes_on_where_it_arrives(moves):
    walk = next(c for c in moves.clips if c.name == "walk")
    assert walk.loops and not next(c for c in moves.clips if c.name == "start_run").loops
    ahead = moves.rows[walk.begin : walk.end, moves.path_columns][:, :6].reshape(-1, 3, 2)
    speed = ahead[..., 1] / np.array([1 / 3, 2 / 3, 1.0])
    np.testing.assert_allclose(speed, speed.mean(), rtol=0.02)


def test_every_frame_finds_itself(moves):
    own = moves.choices[::37]
    path = moves.rows[own][:, moves.path_columns].reshape(len(own), 2, 3, 2).transpose(0, 2, 1, 3)
    queries = moves.queries(own, path.reshape(len(own), 3, 4))
    found, cost = moves.search(queries)
    assert (cost == moves.cost(queries, found)).all() and (cost < 1e-9).all()
    shares = moves.shares(queries + 1, found)
    np.testing.assert_allclose(sum(shares.values()), moves.cost(queries + 1, found))


def test_it_goes_where_it_is_steered(moves):
    who = matcher(moves)
    stick = who.matching["moves"]
    for velocity in ((0.0, 1.3), (1.3, 0.0), (-2.2, -2.2), (0.0, 0.0)):
        stick.steer(velocity)
        for _ in range(150):
            who.update(1 / 60)
        before = who.root.translation
        for _ in range(60):
            who.update(1 / 60)
        went = (who.root.translation - before)[[0, 2]]
        size = np.linalg.norm(velocity)
        assert np.linalg.norm(went) == pytest.approx(size, abs=0.2 * size + 0.05)
        if size:
            assert went @ velocity > 0.97 * np.linalg.norm(went) * size
            assert who.root.facing[[0, 2]] @ velocity > 0.97 * size


def test_facing_apart_from_where_it_goes(moves):
    who = matcher(moves)
    who.matching["moves"].steer((0.0, -0.8), facing=(0.0, 1.0))
    for _ in range(180):
        who.update(1 / 60)
    assert who.root.translation[2] < -0.8 and who.root.facing[2] > 0.95


def test_a_crowd_is_singles_and_a_snapshot_goes_back(moves):
    rng = np.random.default_rng(0)
    wishes = rng.normal(0, 1.5, (6, 4, 2))
    crowd, alone = matcher(moves, count=4, threads=2), [matcher(moves) for _ in range(4)]
    for k, who in enumerate(alone):
        who.instances.seeds = crowd.instances.seeds[k]
    kept = None
    for step, wish in enumerate(wishes):
        crowd.matching["moves"].steer(wish)
        for k, who in enumerate(alone):
            who.matching["moves"].steer(wish[k])
        for _ in range(20):
            for who in (crowd, *alone):
                who.update(1 / 30)
        if step == 2:
            kept = crowd.snapshot()
    for k, who in enumerate(alone):
        assert (crowd.matrices[k] == who.matrices).all()
        assert (crowd.root.translation[k] == who.root.translation).all()
    last = crowd.matrices.copy()
    crowd.restore(kept)
    for wish in wishes[3:]:
        crowd.matching["moves"].steer(wish)
        for _ in range(20):
            crowd.update(1 / 30)
    assert (crowd.matrices == last).all()


def test_instances_come_and_go_and_search_in_turns(moves):
    crowd = matcher(moves, count=40)
    crowd.matching["moves"].steer((0.0, 1.2))
    for _ in range(30):
        crowd.update(1 / 60)
    crowd.instances.add(5)
    crowd.instances.remove(np.arange(3))
    crowd.update(1 / 60)
    assert crowd.matching["moves"].frame.shape == (42,)
    assert crowd.matching["moves"].clip.count(None) == 0
    clocks = crowd._runtime.store.matched["moves"]["clock"]
    assert len(np.unique(clocks.round(4))) > 20  # not all in one update


def test_tags_and_given_trajectories(moves):
    tagged = mw.matching.build(
        mw.samples.mannequin(), clips=["idle", "walk", "run"], tags={"run": ["fast"], "walk": ["calm"]}
    )
    who = mw.Animator(tagged.character, GRAPH, databases={"moves": tagged})
    who.matching["moves"].use_tags("calm")
    who.matching["moves"].trajectory = np.tile([[0, 3.3, 0, 1]], (3, 1)) * [
        [1, 1 / 3, 1, 1],
        [1, 2 / 3, 1, 1],
        [1, 1, 1, 1],
    ]
    who.update(0.1)
    assert who.matching["moves"].clip == "walk"
    who.matching["moves"].use_tags(unwanted="calm")
    for _ in range(20):
        who.update(0.02)
    assert who.matching["moves"].clip == "run"
    with pytest.raises(MarrowError, match="slow"):
        who.matching["moves"].use_tags("slow")


def test_along_a_path(moves):
    who = matcher(moves)
    corner = [(0, 0), (0, 4), (4, 4)]
    for _ in range(700):
        who.matching["moves"].follow(corner, 1.2)
        who.update(1 / 60)
    assert np.linalg.norm(who.root.translation[[0, 2]] - [4, 4]) < 0.5


def test_in_a_state_of_a_machine(moves):
    machine = StateMachine(
        states={"stand": State(ClipNode("idle")), "go": State(MotionMatch("moves"))},
        transitions=(Transition("stand", "go", "on", 0.2), Transition("go", "stand", "not on", 0.2)),
        initial="stand",
    )
    graph = Graph(RootMotion(machine), parameters={"on": mw.graph.Parameter("bool")})
    who = mw.Animator(moves.character, graph, databases={"moves": moves})
    for on in (True, False, True):
        who["on"] = on
        who.matching["moves"].steer((0.0, 1.3))
        before = who.root.translation[2]
        for _ in range(120):
            who.update(1 / 60)
        assert (who.root.translation[2] - before > 1.0) == on


def test_files_keep_all_of_it(moves, tmp_path):
    small = mw.matching.build(mw.samples.mannequin(), clips=["walk", "idle"], tags={"walk": ["calm"]})
    path = small.save(tmp_path / "small.motion")
    back = mw.matching.load(path)
    assert back.clips == small.clips and back.tags == ("calm",) and back.features == small.features
    assert (back.rows == small.rows).all() and (back.scale == small.scale).all()
    assert mw.matching.load(back.save(tmp_path / "again.motion")).clips == small.clips
    whole = path.read_bytes()
    for k in range(0, len(whole), len(whole) // 25):
        (tmp_path / "cut.motion").write_bytes(whole[:k])
        with pytest.raises(MarrowError):
            mw.matching.load(tmp_path / "cut.motion")
    mw.save(mw.samples.lizard(), tmp_path / "lizard.marrow")
    with pytest.raises(FormatError, match="no motion database"):
        mw.matching.load(tmp_path / "lizard.marrow")


def test_what_is_wrong_is_said(moves):
    hero = mw.samples.mannequin()
    cases = [
        (lambda: mw.Animator(hero, GRAPH), "databases="),
        (lambda: mw.Animator(hero, GRAPH, databases={"moves": hero}), "MotionDatabase"),
        (lambda: mw.Animator(hero, GRAPH, databases={"moves": moves}), "database.character"),
        (lambda: matcher(moves, count=2).matching["moves"].steer((np.nan, 0)), "finite"),
        (lambda: matcher(moves).matching["moves"].steer((1, 0), facing=(0, 0)), "no length"),
        (lambda: matcher(moves).matching["other"], "other"),
        (lambda: mw.matching.build(hero, clips=["nothing"]), "no motion"),
        (lambda: mw.matching.build("here"), "character"),
        (lambda: mw.matching.build(mw.Character(mw.Skeleton(("a", "b"), [-1, 0]))), "no motion"),
        (lambda: mw.matching.Features(times=(1.0, 0.5)), "in order"),
        (lambda: mw.matching.Features(weights=(("feet", 1.0),)), "feet"),
    ]
    for call, words in cases:
        with pytest.raises(MarrowError, match=words):
            call()


def test_a_body_without_legs_says_so():
    bones = mw.Skeleton(("a", "b"), [-1, 0])
    times = np.linspace(0, 1, 31)
    clip = mw.Clip("go", bones, [mw.Track(0, "translation", times, np.outer(times, [0, 0, 1]))])
    hero = mw.Character(bones, clips=[clip])
    with pytest.raises(ValidationError, match="no left leg"):
        mw.matching.build(hero)
    first = bones.names[0]
    features = mw.matching.Features(positions=(first,), velocities=(first,))
    one = mw.matching.build(hero, features=features)
    who = mw.Animator(one.character, GRAPH, databases={"moves": one})
    for _ in range(100):
        who.update(0.02)  # one clip that ends: it begins again
    assert who.root.translation[2] > 1.2


def test_runners_up_and_the_way_that_was_found(moves):
    crowd = matcher(moves, count=2)
    stick = crowd.matching["moves"]
    stick.steer([(0.0, 1.3), (1.3, 0.0)])
    for _ in range(40):
        crowd.update(1 / 30)
    assert stick.found.shape == stick.trajectory.shape == (2, 3, 4)
    assert (stick.found == moves.trajectories(stick.frame)).all()
    several = stick.candidates(6, instance=1)
    costs = [c.cost for c in several]
    assert len(several) == 6 and costs == sorted(costs)
    query = moves.queries(stick.frame[1:], stick.trajectory[1:])
    best, cost = moves.search(query)
    clips, times = moves.times_of(best)
    assert (several[0].clip, several[0].time, costs[0]) == (moves.clips[clips[0]].name, times[0], cost[0])
    for c in several:
        assert sum(c.shares.values()) == pytest.approx(c.cost)
    for a, b in pairwise(several):
        assert a.clip != b.clip or abs(a.time - b.time) > 0.2


def test_the_view_draws_both_ways_in_the_world(moves):
    from marrow.scene.actor_state import actor_states
    from marrow.scene.views import draw_views, parse_views
    from marrow.scene.views.staging import stage_of

    def drawn(thing):
        states = actor_states(mw.Scene(thing))
        return draw_views(
            parse_views("trajectories"), stage_of(states, [np.zeros(states[0].count, np.int64)])
        )

    who = matcher(moves)
    who.matching["moves"].steer((1.0, 1.0))
    for _ in range(90):
        who.update(1 / 60)
    picture = drawn(who)
    ends = picture.all_lines.end
    for ahead in (who.matching["moves"].trajectory, who.matching["moves"].found):
        x, z = ahead[-1, :2]
        there = who.root.translation + quaternion.rotate(who.root.rotation, np.array([x, 0.0, z]))
        assert np.isclose(ends[:, [0, 2]], there[[0, 2]], atol=1e-4).all(axis=1).any()
    assert [label.text.split(",")[0] for label in picture.labels] == [who.matching["moves"].clip]
    assert "no motion is matched" in drawn(mw.Animator(mw.samples.mannequin())).notes[0]


def test_a_controller_with_a_database(moves):
    player = mw.Controller(moves.character, database=moves, place=(1.0, 0.0, 2.0))
    assert 1.0 < player.walk_speed < 1.6 < player.run_speed < 4.5
    for run in (False, True):
        for _ in range(120):
            player.move((1, 0, 0), 1 / 60, run=run)
        before = player.place
        for _ in range(60):
            player.move((1, 0, 0), 1 / 60, run=run)
        pace = player.run_speed if run else player.walk_speed
        assert np.linalg.norm(player.place - before) == pytest.approx(pace, rel=0.2)
        assert player.facing[0] > 0.97
    for _ in range(120):
        player.move((0, 0, 0), 1 / 60)
    before = player.place
    player.move((0, 0, 0), 1 / 60)
    assert np.linalg.norm(player.place - before) < 0.005 and not player.jump()
    with pytest.raises(ValidationError, match="other joints"):
        mw.Controller(mw.samples.lizard(), database=moves)
    with pytest.raises(MarrowError, match="MotionDatabase"):
        mw.Controller(moves.character, database="hero.motion")


def test_what_has_no_search_refuses_the_graph(moves, tmp_path):
    for call in (
        lambda: mw.bake_runtime(moves.character, GRAPH, tmp_path / "x.mrt"),
        lambda: mw.export_page(moves.character, tmp_path / "x.html", graph=GRAPH),
        lambda: mw.export_page(matcher(moves), tmp_path / "x.html"),
    ):
        with pytest.raises(
            ValidationError, match=r"root\.source(: the graph plays the database| is MotionMatch)"
        ):
            call()
    assert not list(tmp_path.iterdir())


def test_packed_motion_goes_the_same_way(moves):
    clips = ["walk", "idle", "start_walk", "stop_walk"]
    loose = mw.matching.build(moves.character, clips=clips)
    packed = loose.packed()
    one, two = (mw.Animator(d.character, GRAPH, databases={"moves": d}) for d in (loose, packed))
    for velocity in ((0.0, 1.25), (0.0, 0.0)):
        for who in (one, two):
            who.matching["moves"].steer(velocity)
            for _ in range(60):
                who.update(1 / 60)
        assert one.matching["moves"].frame == two.matching["moves"].frame
        assert np.abs(one.root.translation - two.root.translation).max() < 0.01
        assert np.abs(one.matrices - two.matrices).max() < 0.002


def test_packed_motion_that_travels_by_the_hips_goes_the_same_way(tmp_path):
    """The root of recordings stands still: its way is put into packed numbers that had none of it."""
    hero = mw.samples.mannequin()
    hips = list(hero.skeleton.children(0))
    clips = [mw.matching.travel._handed_down(hero.clips[n], 0, hips, 60.0) for n in ("walk", "run", "idle")]
    loose = mw.matching.build(clips, character=hero, mirror=False)
    loose.packed().save(tmp_path / "hips.motion")
    packed = mw.matching.load(tmp_path / "hips.motion")
    assert all(packed.character.clips[c.name].packed is not None for c in packed.clips)
    one, two = (mw.Animator(d.character, GRAPH, databases={"moves": d}) for d in (loose, packed))
    for velocity in ((0.0, 1.25), (0.0, 3.0), (0.0, 0.0)):
        for who in (one, two):
            who.matching["moves"].steer(velocity)
            for _ in range(60):
                who.update(1 / 60)
        assert one.matching["moves"].frame == two.matching["moves"].frame
        assert np.abs(one.root.translation - two.root.translation).max() < 0.01
        assert np.abs(one.matrices - two.matrices).max() < 0.002
    assert np.linalg.norm(two.root.translation) > 1.0


def test_recordings_that_travel_by_root_and_by_hips_are_alike():
    hero = mw.samples.mannequin()
    from marrow.matching.travel import travelling_alike

    walk, run = hero.clips["walk"], hero.clips["run"]
    times = np.linspace(0, run.duration, 31)
    other = mw.matching.travel._handed_down(run, 0, list(hero.skeleton.children(0)), 60.0)
    one, two = (np.asarray(hero.skeleton.to_model(c.sample(times)), np.float64)[..., 3] for c in (run, other))
    assert np.abs(one - two)[:, 1:].max() < 1e-3 and np.ptp(two[:, 0], axis=0).max() < 1e-6
    assert travelling_alike(hero, [walk, run], 30.0) == [walk, run]
    mixed = travelling_alike(hero, [walk, other], 30.0)
    assert mixed[1] is other and mixed[0] is not walk
    db = mw.matching.build([walk, other.replace(name="run_by_hips")], character=hero, mirror=False)
    for clip, pace in zip(db.clips, (1.25, 3.2)):
        ahead = db.trajectories(np.arange(clip.begin, clip.end))[:, 2, :2]
        assert np.median(np.linalg.norm(ahead, axis=1)) == pytest.approx(pace, rel=0.25)
