"""Many instances: each as if alone; added, removed, reset, saved and brought back; nothing breaks them."""

import gc
import tracemalloc

import numpy as np
import pytest
from worlds import character, gait, place, ramp, still

import marrow as mw
from marrow.errors import UnknownNameError, ValidationError
from marrow.graph import (
    Additive,
    Blend,
    BlendSpace1D,
    BlendSpace2D,
    ClipNode,
    Graph,
    LayerBlend,
    LookAt,
    Parameter,
    RootMotion,
    Slot,
    State,
    StateMachine,
    Switch,
    Transition,
    TwoBoneIK,
)
from marrow.graph.control import GraphControl
from marrow.kernels import control as control_kernel
from marrow.kernels import control_chunks, jobs
from surroundings import repeats

STICK = character(
    gait("walk", 1.0, 0.0, 0.5),
    gait("run", 0.6, 0.1, 0.4, 2.0),
    gait("limp", 1.5, 0.3, 1.3),
    still("zero"),
    still("one", 1.0, 40.0),
    still("two", 2.0, -100.0),
    ramp("up", 0, 1, events=((0.3, "hit"),)),
    ramp("nod", 0, 1, 2.0),
    mw.additive(still("plus", 3.0, 20.0), still("zero")),
)


def everything():
    """A graph with every kind of node in it."""
    legs = BlendSpace2D.of(
        "x", "y", {(0, 0): ClipNode("zero", sync=False), (0, 1): "walk", (1, 1): "run", (1, 0): "limp"}
    )
    moves = StateMachine(
        {
            "legs": State(legs),
            "up": State(ClipNode("up", loop=False)),
            "mix": State(Blend(("one", "two"), ("x", "y"))),
        },
        (
            Transition("legs", "up", ("go",), seconds=0.2, blend="inertia"),
            Transition("up", "legs", ("remaining <= 0.1",), seconds=0.2),
            Transition("*", "mix", ("flag",), seconds=0.3, blend="inertia", priority=1),
            Transition("mix", "legs", ("not flag", "elapsed >= 0.1"), seconds=0.1, interrupt="none"),
        ),
    )
    over = Switch("which", (BlendSpace1D.of("x", {0.0: "one", 1.0: "two"}), "nod"), seconds=0.2)
    body = Slot("act", LayerBlend(moves, over, joints=("spine",), weight="w", space="model"), joints=("arm",))
    body = LookAt(Additive(body, "plus", weight="w"), {"spine": 0.5, "arm": 1.0}, "goal", weight="look")
    body = TwoBoneIK(body, "hand", "goal", weight="look")
    parameters = {
        "x": Parameter(range=(0, 1), smoothing=0.1),
        "y": Parameter(range=(0, 1)),
        "w": Parameter(),
        "which": Parameter(),
        "look": Parameter(),
        "goal": Parameter("vector", (0.5, 1.0, 1.0)),
        "flag": Parameter("bool", False),
        "go": Parameter("trigger"),
    }
    return Graph(RootMotion(body), parameters)


def prod(animator, rng, instances=None, n=None):
    """Sets everything to something."""
    n = animator.count if n is None else n
    for name, low, high in (("x", -1, 2), ("y", -1, 2), ("w", -0.5, 1.5), ("which", -1, 3), ("look", 0, 1)):
        animator[name] = rng.uniform(low, high, n) * (rng.random(n) < 0.8)
    animator["goal"] = rng.normal(size=(n, 3))
    animator["flag"] = rng.random(n) < 0.3


def test_a_batch_of_n_is_n_single_runs():
    N, rng = 5, np.random.default_rng(0)
    crowd = mw.Animator(STICK, everything(), count=N)
    solos = [mw.Animator(STICK, everything(), count=1) for _ in range(N)]
    for step in range(80):
        if step % 5 == 0:
            names = {k: crowd[k] for k in crowd.parameters if k != "go"}
            prod(crowd, rng)
            pull = rng.random(N) < 0.4
            crowd.trigger("go", instances=pull)
            act = np.flatnonzero(rng.random(N) < 0.2)
            if len(act):
                crowd.slots["act"].play("up", instances=act)
            for i, solo in enumerate(solos):
                for name in names:
                    solo[name] = crowd[name][i : i + 1]
                if pull[i]:
                    solo.trigger("go")
                if i in act:
                    solo.slots["act"].play("up")
        dt = float(rng.choice([0.0, 1 / 60, 1 / 30, 0.3]))
        crowd.update(dt)
        for i, solo in enumerate(solos):
            solo.update(dt)
            assert solo.state()[0] == crowd.state()[i]
            np.testing.assert_array_equal(solo.model_matrices[0], crowd.model_matrices[i])
            np.testing.assert_array_equal(solo.root.motion.translation[0], crowd.root.motion.translation[i])
            mine = crowd.events.instance == i
            np.testing.assert_array_equal(solo.events.time, crowd.events.time[mine])


def test_the_compiled_control_pass_does_what_the_plain_one_does(monkeypatch):
    rng = np.random.default_rng(4)
    compiled = mw.graph.compile_graph(everything(), STICK)
    fast, plain = GraphControl(compiled, 3), GraphControl(compiled, 3)
    monkeypatch.setattr(jobs, "_native", lambda kernel: None)
    plain.update(np.zeros(3))
    fast.update(np.zeros(3))
    frame = plain.kernels._frame
    frame.entry, frame.argument = control_kernel.update_graph.run_plainly, frame
    for step in range(30):
        for control in (fast, plain):
            mine = np.random.default_rng(step)
            for name in ("x", "y", "w", "which", "look"):
                control.set(name, mine.uniform(-0.5, 1.5, 3))
            control.set("flag", mine.random(3) < 0.3)
            control.trigger("go", np.flatnonzero(mine.random(3) < 0.4))
            control.update(np.full(3, 0.05))
        dt = rng.random()
        assert dt >= 0
        for ours, theirs in zip(fast.state, plain.state):
            for name in ours.dtype.names or (...,):
                np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-9, atol=1e-9)
        ours, theirs = fast.program, plain.program
        for n in range(3):
            assert [o[:2] for o in ours.operations(n)] == [o[:2] for o in theirs.operations(n)]


def test_threads_compute_the_same_poses():
    crowds = [mw.Animator(STICK, everything(), count=4000, threads=threads) for threads in (1, 3)]
    for step in range(4):
        for crowd in crowds:
            crowd["x"] = np.linspace(0, 1, 4000)
            if step == 1:
                crowd.trigger("go", instances=np.arange(0, 4000, 3))
            crowd.update(0.1)
        np.testing.assert_array_equal(crowds[0].matrices, crowds[1].matrices)
        one, three = crowds[0].events, crowds[1].events
        np.testing.assert_array_equal(one.instance, three.instance)
        np.testing.assert_array_equal(one.time, three.time)
        np.testing.assert_array_equal(crowds[0].root.motion.translation, crowds[1].root.motion.translation)
    assert len(crowds[1]._runtime.control.kernels.chunks) == 63
    with pytest.raises(mw.MarrowError, match="threads"):
        mw.Animator(STICK, threads=0)


def test_parameters_are_checked_by_name_and_shape():
    crowd = mw.Animator(STICK, everything(), count=4)
    with pytest.raises(UnknownNameError, match="flag"):
        crowd["flagg"] = 1
    with pytest.raises(UnknownNameError, match="known: x, y, w"):
        crowd["zzz"]
    with pytest.raises(ValidationError, match=r"\(4,\)"):
        crowd["x"] = [1, 2, 3]
    with pytest.raises(ValidationError, match="trigger"):
        crowd["go"] = 1
    with pytest.raises(ValidationError, match="not a trigger"):
        crowd.trigger("x")
    crowd["x"] = [0, 0.5, 1, 0.25]
    np.testing.assert_array_equal(crowd["x"], [0, 0.5, 1, 0.25])
    crowd["goal"] = (1, 2, 3)
    assert crowd["goal"].shape == (4, 3)
    solo = mw.Animator(STICK, everything())
    solo["x"] = 0.5
    assert solo["x"] == 0.5 and solo["flag"] == False and solo.state() == "legs"  # noqa: E712
    with pytest.raises(ValidationError, match="runs a graph"):
        solo.play("up")
    with pytest.raises(ValidationError, match="runs no graph"):
        mw.Animator(STICK)["x"] = 1


def test_time_runs_forward_and_is_a_number():
    crowd = mw.Animator(STICK, everything(), count=2)
    for bad in (-0.1, np.nan, np.inf, [1, 2, 3], "soon"):
        with pytest.raises(ValidationError):
            crowd.update(bad)
    crowd.update([0.1, 0.2])
    crowd.update(0)


def test_instances_come_and_go():
    crowd = mw.Animator(STICK, Graph(ClipNode("up", loop=False)), count=2)
    crowd.update(0.5)
    crowd.instances.add(2)
    assert crowd.count == 4 and crowd.matrices.shape[0] == 4
    np.testing.assert_allclose(place(crowd), [0.5, 0.5, 0, 0])
    crowd.update([0.1, 0.2, 0.3, 0.4])
    crowd.instances.remove([0, 2])
    np.testing.assert_allclose(place(crowd), [0.7, 0.4], atol=1e-6)
    crowd.instances.reset([1])
    np.testing.assert_allclose(place(crowd), [0.7, 0.0], atol=1e-6)
    with pytest.raises(ValidationError, match="at least one"):
        crowd.instances.remove([True, True])
    with pytest.raises(ValidationError, match="count=N"):
        mw.Animator(STICK, everything()).instances.add(1)


def test_snapshots_replay_bit_for_bit():
    crowd = mw.Animator(STICK, everything(), count=4)
    crowd.instances.update_every = [1, 1, 2, 3]

    def run(seed, steps):
        rng, out = np.random.default_rng(seed), []
        for _ in range(steps):
            prod(crowd, rng)
            crowd.trigger("go", instances=rng.random(4) < 0.3)
            crowd.update(1 / 30)
            out.append(crowd.matrices.copy())
        return np.array(out)

    run(0, 20)
    moment = crowd.snapshot()
    now = crowd.model_matrices.copy()
    first = run(1, 25)
    crowd.restore(moment)
    assert now.shape == crowd.model_matrices.shape
    np.testing.assert_array_equal(run(1, 25), first)


def test_random_parameters_break_nothing():
    """Up to a million steps in all: 2,000 instances, 500 updates, every parameter thrown about, steps from nothing to
    hours."""
    N, rng = repeats(2000), np.random.default_rng(7)
    crowd = mw.Animator(STICK, everything(), count=N)
    crowd.instances.update_every = rng.integers(1, 4, N)
    seen = np.zeros((3, N), bool)
    for step in range(500):
        if step % 3 == 0:
            for name in ("x", "y", "w", "which", "look"):
                values = rng.normal(0, 2, N)
                values[rng.random(N) < 0.02] = rng.choice([np.inf, -np.inf, 1e300, 1e-300])
                crowd[name] = values
            crowd["goal"] = rng.normal(0, 3, (N, 3)) * rng.choice(
                [0, 1, 1e6, 1e300], (N, 1), p=[0.1, 0.7, 0.1, 0.1]
            )
            crowd["flag"] = rng.random(N) < 0.3
            crowd.trigger("go", instances=rng.random(N) < 0.2)
            crowd.slots["act"].play("up", instances=np.flatnonzero(rng.random(N) < 0.05))
        crowd.update(
            rng.choice([0.0, 1e-9, 1 / 144, 1 / 60, 0.5, 40.0], p=[0.05, 0.05, 0.3, 0.4, 0.15, 0.05])
        )
        if step % 10 == 0:
            assert np.isfinite(crowd.model_matrices).all(), step
            q = crowd.pose.rotation
            np.testing.assert_allclose(np.linalg.norm(q, axis=-1), 1, atol=1e-5)
            assert np.isfinite(crowd.root.motion.translation).all()
        names = np.array(crowd.state())
        for k, name in enumerate(("legs", "up", "mix")):
            seen[k] |= names == name
    assert np.isfinite(crowd._runtime.control.state.values).all()
    crowd["flag"] = False
    crowd["x"] = 0.5
    for _ in range(400):
        crowd.update(1 / 30)
    assert set(crowd.state()) == {"legs"}, "nobody is stuck"
    assert seen.all(), "everybody has been everywhere"


def test_updates_do_not_accumulate_memory():
    crowd = mw.Animator(STICK, everything(), count=50)
    rng = np.random.default_rng(0)

    def run(steps):
        for _ in range(steps):
            prod(crowd, rng)
            crowd.trigger("go")
            crowd.update(1 / 60)
            assert crowd.matrices is not None and len(crowd.events) >= 0 and crowd.root.motion is not None

    run(50)
    gc.collect()
    tracemalloc.start()
    run(20)
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    run(300)
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert after - before < 20_000


def test_results_that_are_kept_stay_as_they_were():
    crowd = mw.Animator(STICK, Graph("up"), count=3)
    crowd.update(0.25)
    kept = crowd.model_matrices
    copy = kept.copy()
    for _ in range(5):
        crowd.update(0.1)
        assert crowd.model_matrices is not kept
    np.testing.assert_array_equal(kept, copy)


def test_matrices_can_be_written_into_the_callers_memory():
    crowd = mw.Animator(STICK, everything(), count=3)
    crowd.update(0.2)
    model = np.zeros((3, 6, 3, 4), np.float32)
    crowd.evaluation.write(model=model)
    np.testing.assert_array_equal(model, crowd.model_matrices)
    with pytest.raises(ValidationError, match="palette"):
        crowd.evaluation.write(palette=np.zeros((2, 6, 3, 4), np.float32))


def test_a_reset_instance_is_still_updated_as_rarely_as_before():
    crowd = mw.Animator(STICK, everything(), count=2)
    crowd.instances.update_every = [1, 3]
    crowd.update(0.1)
    crowd.instances.reset()
    assert crowd.instances.update_every.tolist() == [1, 3]


def test_a_snapshot_of_another_graph_is_refused():
    def fading(seconds, clip):
        states = {"a": State("zero"), "b": State(clip)}
        ways = (Transition("a", "b", ("flag",), seconds=seconds), Transition("b", "a", ("not flag",)))
        return Graph(StateMachine(states, ways), {"flag": Parameter("bool", False)})

    one, same, other = (
        mw.Animator(STICK, g, count=2) for g in (fading(0.2, "one"), fading(0.2, "one"), everything())
    )
    three = mw.Animator(STICK, Graph(StateMachine({"a": State("zero"), "b": State("one"), "c": State("two")}, (
        Transition("a", "b"), Transition("b", "c"))), {"flag": Parameter("bool", False)}), count=2)  # fmt: skip
    one["flag"] = True
    one.update(0.1)
    same.restore(one.snapshot())
    assert same.state() == ["b", "b"]
    for animator in (other, three):
        with pytest.raises(ValidationError, match="another graph"):
            animator.restore(one.snapshot())
    with pytest.raises(ValidationError, match="expected a Snapshot"):
        one.restore(3)
    moment = one.snapshot()
    moment.rows["state"].machines["current"] = 99
    with pytest.raises(ValidationError, match="current is out of range"):
        one.restore(moment)


def test_wrong_options_get_words():
    crowd = mw.Animator(STICK, everything(), count=2)
    for wrong, text in (
        (lambda: setattr(crowd, "sped", 2), "did you mean 'speed'"),
        (lambda: crowd[3], "named by a string"),
        (lambda: crowd.trigger("go", instances=[0.5]), "whole numbers"),
        (lambda: crowd.trigger("go", instances=[[0], [1, 2]]), "indices or a mask"),
        (lambda: crowd.slots["act"].play("up", speed=np.nan), "speed must be a finite number"),
        (lambda: crowd.slots["act"].play("up", seconds=-1), "fade_in|seconds"),
        (lambda: crowd.slots["act"].play(99), "clip 99 does not exist"),
        (lambda: crowd.slots["act"].play(1.5), "named or numbered"),
        (lambda: mw.Animator(STICK, count=1.5), "whole number"),
        (lambda: mw.Animator(STICK).play("up", start=np.nan), "start must be"),
        (lambda: mw.Animator(STICK).play("up", speed=np.inf), "speed must be"),
    ):
        with pytest.raises(ValidationError, match=text):
            wrong()
    assert crowd.slots["act"].play(np.int64(6)).all()


def test_room_grows_only_where_it_is_short():
    """Programs are made anew whenever instances come and go, and grow again; events must not grow along each time."""
    there = Transition("a", "b", ("go",), seconds=0.2, blend="inertia")
    back = Transition("b", "a", ("not go",), seconds=0.2, blend="inertia")
    graph = Graph(
        StateMachine({"a": State("walk"), "b": State("run")}, (there, back)), {"go": Parameter("bool", False)}
    )
    crowd = mw.Animator(STICK, graph, count=64, threads=1)
    control, rooms = crowd._runtime.control, []
    for k in range(16):
        crowd["go"] = k % 2 == 0
        crowd.update(0.05)
        rooms.append((len(control.kernels.events), len(control.programs.operations)))
        crowd.instances.reset([0])
    assert len(set(rooms[1:])) == 1
    assert rooms[-1][0] == 4 * control_chunks.MOST_EVENTS


def test_rooms_hold_all_that_long_steps_tell():
    graph = Graph(ClipNode("up", loop=True, speed=50.0))
    crowd = mw.Animator(STICK, graph, count=3)
    crowd.update(100.0)
    assert np.bincount(crowd.events.instance).tolist() == [5000] * 3
    before = len(crowd._runtime.control.kernels.events)
    assert before <= 4 * 3 * 5000
    for _ in range(3):
        crowd.update(100.0)
    assert len(crowd._runtime.control.kernels.events) == before
