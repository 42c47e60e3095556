"""Animators and threads: one at a time for each, and an error in words for the one who comes second."""

import copy
import threading

import numpy as np
import pytest
from worlds import character, gait, ramp, still

import marrow as mw
from marrow.errors import InUseError, MarrowError, ValidationError
from marrow.graph import Function, Graph, Parameter, RootMotion, Slot

STICK = character(gait("walk", 1.0, 0.0, 0.5), ramp("slide", 0, 1), still("one", 1.0))
GRAPH = Graph(RootMotion(Slot("s", Function("walk", "ask"))), {"x": Parameter(), "go": Parameter("trigger")})


def asking(ask, count=2):
    """A crowd that calls `ask(crowd)` while its poses are made."""
    crowd = None

    def called(pose, call):
        ask(crowd)
        return pose

    crowd = mw.Animator(STICK, GRAPH, count=count, functions={"ask": called})
    return crowd


USES = {
    "update": lambda c: c.update(0.1),
    "pose": lambda c: c.pose,
    "matrices": lambda c: c.matrices,
    "groups": lambda c: c.evaluation.level_groups(),
    "evaluate": lambda c: c.evaluation.write(model=np.zeros((2, 6, 3, 4), np.float32)),
    "skin": lambda c: c.skin(),
    "add": lambda c: c.instances.add(1),
    "remove": lambda c: c.instances.remove([0]),
    "reset": lambda c: c.instances.reset(),
    "snapshot": lambda c: c.snapshot(),
    "copy": copy.copy,
    "levels": lambda c: setattr(c, "levels", 0),
    "root.set": lambda c: c.root.set([1, 2, 3]),
    "replace_graph": lambda c: c.replace_graph(Graph("walk")),
    "evaluator": lambda c: setattr(c.evaluation, "evaluator", None),
    "delegate": lambda c: c.evaluation.delegate(lambda job: None),
    "operations": lambda c: c.evaluation.run_operations(c.evaluation.program.operations(0)),
}
SETS = {
    "speed": lambda c: setattr(c, "speed", 2.0),
    "play_slot": lambda c: c.slots["s"].play("slide"),
    "update_every": lambda c: setattr(c.instances, "update_every", 2),
}


@pytest.mark.parametrize("use", [*USES, *SETS])
def test_another_thread_is_refused_while_an_animator_is_at_work(use):
    """The second thread asks while the first is held up inside; the first is not disturbed."""
    inside, go_on, said = threading.Event(), threading.Event(), []

    def hold_up(crowd):
        inside.set()
        assert go_on.wait(30)

    crowd = asking(hold_up)
    crowd.update(0.25)
    worker = threading.Thread(target=lambda: said.append(crowd.pose.translation.copy()), name="poser")
    worker.start()
    assert inside.wait(30)
    try:
        with pytest.raises(InUseError, match="in use by the thread 'poser'"):
            {**USES, **SETS}[use](crowd)
        assert crowd["x"].tolist() == [0, 0] and crowd.count == 2  # what is known can be read
    finally:
        go_on.set()
        worker.join(30)
    twin = asking(lambda crowd: None)
    twin.update(0.25)
    np.testing.assert_array_equal(said[0], twin.pose.translation)
    {**USES, **SETS}[use](crowd)  # afterwards it may


def test_another_thread_may_set_parameters_for_the_next_update():
    """A page, a gamepad, a network: what is wrong is said at once, the rest counts from the next update on."""
    inside, go_on = threading.Event(), threading.Event()

    def hold_up(crowd):
        inside.set()
        assert go_on.wait(30)

    crowd = asking(hold_up)
    crowd.update(0.25)
    worker = threading.Thread(target=lambda: crowd.pose)
    worker.start()
    assert inside.wait(30)
    crowd["x"] = [2.0, 3.0]
    crowd.trigger("go", instances=[1])
    with pytest.raises(mw.errors.UnknownNameError):
        crowd["y"] = 1.0
    with pytest.raises(mw.errors.UnknownNameError):
        crowd.trigger("x_go")
    with pytest.raises(ValidationError):
        crowd["x"] = [1.0, 2.0, 3.0]
    go_on.set()
    worker.join(30)
    seen = []
    crowd.replace_graph(crowd.graph, functions={"ask": lambda pose, call: seen.append(crowd["x"]) or pose})
    crowd.update(0.25)
    assert crowd["x"].tolist() == [2.0, 3.0] and crowd.pose and seen[0].tolist() == [2.0, 3.0]


@pytest.mark.parametrize("use", USES)
def test_a_function_cannot_use_what_is_being_made(use):
    crowd = asking(USES[use])
    crowd.update(0.25)
    with pytest.raises(MarrowError, match=r"InUseError: .* at work|at work"):
        _ = crowd.pose
    quiet = asking(lambda crowd: None)
    quiet.update(0.25)
    assert crowd.count == 2 and crowd.evaluation.inspect().clips == quiet.evaluation.inspect().clips


INSIDE = {**SETS, "parameter": lambda c: c.__setitem__("x", 2.0), "trigger": lambda c: c.trigger("go")}


@pytest.mark.parametrize("use", INSIDE)
def test_a_function_may_set_what_counts_from_the_next_update_on(use):
    crowd = asking(INSIDE[use])
    crowd.update(0.25)
    _ = crowd.matrices
    crowd.update(0.25)
    if use == "parameter":
        assert crowd["x"].tolist() == [2, 2]
    if use == "play_slot":
        assert crowd.slots["s"].clip == ["slide", "slide"]


def test_an_error_inside_leaves_it_usable():
    def fail(crowd):
        raise RuntimeError("no")

    crowd = asking(fail)
    for _ in range(2):
        crowd.update(0.1)
        with pytest.raises(ValidationError, match="RuntimeError: no"):
            _ = crowd.pose
        with pytest.raises(ValidationError, match="dt"):
            crowd.update(np.nan)
    assert crowd.evaluation.inspect().clips


def test_a_thread_that_was_broken_off_does_not_lock_it_for_ever():
    """Interrupted in the very moment in which it had begun: nobody is at work, so the next may."""
    solo = mw.Animator(STICK)
    solo._runtime.idle.clear()
    solo.play("walk")
    solo.update(0.1)
    assert solo.playback.time == pytest.approx(0.1) and len(solo._runtime.idle) == 1


def test_many_threads_at_once_lose_no_time():
    """Every update either happens, or is refused."""
    crowd = mw.Animator(STICK, Graph(RootMotion("walk")), count=200)
    done, start = [0] * 4, threading.Barrier(4)

    def hammer(k):
        start.wait()
        for _ in range(100):
            try:
                crowd.update(1 / 64)
                done[k] += 1
                _ = crowd.matrices
            except InUseError:
                pass

    threads = [threading.Thread(target=hammer, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(done) >= 100
    np.testing.assert_allclose(crowd.root.translation[:, 2], sum(done) / 64, rtol=1e-6)


def test_each_thread_may_have_its_own():
    """Of one character and one compiled graph."""
    found = {}

    def run(k):
        who = mw.Animator(STICK, Graph(RootMotion("walk")), count=3)
        for _ in range(50):
            who.update(0.01 * (k + 1))
        found[k] = who.root.translation[0, 2]

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[k] for k in range(4)] == pytest.approx([0.5, 1.0, 1.5, 2.0])


def test_it_may_be_handed_from_thread_to_thread():
    crowd = mw.Animator(STICK, Graph(RootMotion("walk")))
    for _ in range(3):
        thread = threading.Thread(target=crowd.update, args=(0.1,))
        thread.start()
        thread.join()
    crowd.update(0.1)
    assert crowd.root.translation[2] == pytest.approx(0.4)
