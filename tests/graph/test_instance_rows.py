"""What belongs to an instance goes with it: when others come and go, start over, are copied, saved, taken back."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest
from worlds import character, place, ramp, still

import marrow as mw
from marrow.errors import ValidationError
from marrow.graph import (
    ClipNode,
    FootPlacement,
    Graph,
    JointOverride,
    Parameter,
    RootMotion,
    Slot,
    State,
    StateMachine,
    Transition,
)
from marrow.graph.instance_store import InstanceStore

STICK = character(ramp("up", 0, 1), still("zero"), still("one", 1.0))
HERO = mw.samples.mannequin()
STANDING = Graph(FootPlacement("idle"))
OVERRIDDEN = Graph(JointOverride("up", ("arm",), name="arm"), {"x": Parameter()})


def feet(animator):
    return animator.model_matrices[..., HERO.skeleton.index("foot_l"), 1, 3]


# -- those who stay ---------------------------------------------------------------------------------------------------


def test_speeds_stay_with_their_instances():
    crowd = mw.Animator(STICK, Graph("up"), count=3)
    crowd.speed = [0.5, 1.0, 2.0]
    crowd.instances.remove([0])
    crowd.instances.add(1)
    assert crowd.speed.tolist() == [1.0, 2.0, 1.0]
    crowd.update(0.2)
    np.testing.assert_allclose(place(crowd), [0.2, 0.4, 0.2], atol=1e-6)
    crowd.speed = 0.5
    crowd.instances.add(1)
    assert crowd.speed == 0.5


def test_heights_of_the_ground_stay_with_their_instances():
    crowd = mw.Animator(HERO, STANDING, count=3)
    crowd.ground = [-0.15, 0.0, 0.1]
    crowd.update(0.1)
    crowd.instances.remove([0])
    crowd.instances.add(1)
    np.testing.assert_array_equal(crowd.ground, [0.0, 0.1, np.nan])
    crowd.update(0.1)
    for n, height in enumerate((0.0, 0.1, None)):
        alone = mw.Animator(HERO, STANDING)
        alone.ground = height
        for _ in range(2 if n < 2 else 1):
            alone.update(0.1)
        np.testing.assert_array_equal(crowd.model_matrices[n], alone.model_matrices)


def test_a_height_for_all_is_that_of_newcomers_too():
    crowd = mw.Animator(HERO, STANDING, count=1)
    crowd.ground = 0.1
    crowd.instances.add(1)
    crowd.update(0.1)
    assert crowd.ground == 0.1
    assert feet(crowd)[0] == feet(crowd)[1]


# -- starting over ----------------------------------------------------------------------------------------------------


def test_those_who_start_over_keep_speed_and_ground_and_lose_overrides():
    crowd = mw.Animator(STICK, OVERRIDDEN, count=2)
    crowd.speed, crowd.ground = [0.5, 2.0], [0.0, 1.0]
    crowd.overrides["arm"].set(translation=[4.0, 0, 0])
    crowd.update(0.1)
    crowd.instances.reset([1])
    crowd.update(0.1)
    assert crowd.speed.tolist() == [0.5, 2.0] and crowd.ground.tolist() == [0.0, 1.0]
    np.testing.assert_allclose(place(crowd), [0.1, 0.2], atol=1e-6)
    rest = STICK.skeleton.rest.translation[4, 0]
    np.testing.assert_allclose(place(crowd, 4), [4, rest], atol=1e-6)


# -- moments ----------------------------------------------------------------------------------------------------------


def test_a_snapshot_holds_speed_ground_overrides_and_levels():
    crowd = mw.Animator(STICK, OVERRIDDEN, count=2)
    crowd.speed, crowd.ground, crowd.levels = [0.5, 2.0], [0.25, 1.0], [0, -1]
    crowd.overrides["arm"].set(translation=[4.0, 0, 0], weight=[1.0, 0.5])
    crowd.update(0.1)
    moment = pickle.loads(pickle.dumps(crowd.snapshot()))
    crowd.levels = None
    crowd.update(0.1)
    wanted = place(crowd, 4), place(crowd)
    crowd.speed, crowd.ground = 3.0, None
    crowd.overrides["arm"].set(translation=[9.0, 0, 0])
    crowd.instances.add(2)
    crowd.update(0.3)
    crowd.restore(moment)
    assert crowd.speed.tolist() == [0.5, 2.0] and crowd.ground.tolist() == [0.25, 1.0]
    assert crowd.levels.tolist() == [0, -1]
    crowd.levels = None
    crowd.update(0.1)
    np.testing.assert_array_equal(place(crowd, 4), wanted[0])
    np.testing.assert_array_equal(place(crowd), wanted[1])


def test_a_moment_from_before_an_override_has_none():
    alone = mw.Animator(STICK, OVERRIDDEN)
    moment = alone.snapshot()
    alone.overrides["arm"].set(translation=[4.0, 0, 0])
    alone.update(0.1)
    alone.restore(moment)
    alone.update(0.1)
    assert place(alone, 4) == pytest.approx(float(STICK.skeleton.rest.translation[4, 0]))


def test_a_snapshot_is_a_copy_and_one_of_wrong_sizes_is_refused():
    crowd = mw.Animator(STICK, OVERRIDDEN, count=2)
    crowd.speed = [1.0, 2.0]
    moment = crowd.snapshot()
    crowd.speed = [3.0, 4.0]
    assert moment.rows["speed"].tolist() == [1.0, 2.0]
    for name, wrong in (("speed", np.ones(5)), ("ground", np.ones(3)), ("levels", np.array([9, 9]))):
        bad = crowd.snapshot()
        bad.rows[name] = wrong
        with pytest.raises(ValidationError, match=name):
            crowd.restore(bad)


def test_a_ground_that_cannot_be_kept_in_a_file_says_so():
    crowd = mw.Animator(HERO, STANDING, count=2)
    crowd.ground = lambda places: 0.1 * places[:, 0]
    moment = crowd.snapshot()
    crowd.ground = 0.0
    crowd.restore(moment)
    assert callable(crowd.ground)
    with pytest.raises(ValidationError, match="HeightField"):
        pickle.dumps(moment)


# -- copies and other graphs ------------------------------------------------------------------------------------------


def test_a_copy_has_all_that_its_original_has():
    crowd = mw.Animator(HERO, STANDING, count=2)
    crowd.speed, crowd.ground, crowd.levels = [0.5, 2.0], [0.1, -0.1], [0, 0]
    crowd.update(0.1)
    twin = copy.deepcopy(crowd)
    crowd.update(0.1), twin.update(0.1)
    np.testing.assert_array_equal(twin.model_matrices, crowd.model_matrices)
    twin.speed = 1.0
    assert crowd.speed.tolist() == [0.5, 2.0]


def test_another_graph_takes_over_ground_speed_and_seeds():
    crowd = mw.Animator(HERO, STANDING, count=2)
    crowd.speed, crowd.ground, crowd.instances.seeds = [0.5, 2.0], [0.1, -0.1], [7, 9]
    crowd.root.set([1.0, 0.0, 2.0])
    crowd.update(0.1)
    crowd.replace_graph(Graph(FootPlacement(ClipNode("idle"))))
    crowd.update(0.1)
    assert crowd.speed.tolist() == [0.5, 2.0] and crowd.ground.tolist() == [0.1, -0.1]
    assert crowd.instances.seeds.tolist() == [7, 9] and crowd.root.translation[0].tolist() == [1.0, 0.0, 2.0]
    assert feet(crowd)[0] > feet(crowd)[1] + 0.1


def test_an_override_of_other_joints_is_not_taken_over():
    crowd = mw.Animator(STICK, OVERRIDDEN, count=2)
    crowd.overrides["arm"].set(translation=[4.0, 0, 0])
    crowd.replace_graph(Graph(JointOverride("up", ("arm", "hand"), name="arm")))
    crowd.update(0.1)
    np.testing.assert_allclose(place(crowd, 4), STICK.skeleton.rest.translation[4, 0], atol=1e-6)


# -- all at once ------------------------------------------------------------------------------------------------------

MACHINE = StateMachine(
    {"a": State("up"), "b": State("one")},
    (Transition("a", "b", ("x > 0.5",), 0.2, blend="inertia"), Transition("b", "a", ("x < 0.5",), 0.2)),
)
MANY = Graph(
    RootMotion(JointOverride(Slot("act", MACHINE), ("arm",), name="arm")), {"x": Parameter("float", 0.0)}
)


def single(seed):
    alone = mw.Animator(STICK, MANY)
    alone.instances.seeds = int(seed)
    return alone


@pytest.mark.parametrize("seed", range(3))
def test_a_crowd_does_what_its_instances_do_alone(seed):
    rng = np.random.default_rng(seed)
    crowd = mw.Animator(STICK, MANY, count=3)
    alone, moments = [single(k) for k in range(3)], []
    for _ in range(40):
        n = len(alone)
        some = np.flatnonzero(rng.random(n) < 0.5)
        what = rng.choice(
            ["speed", "x", "override", "every", "place", "ground", "add", "remove", "reset", "keep", "back"]
        )
        if what in ("speed", "x", "ground"):
            values = rng.uniform(0, 2, n)
            for m, value in ((crowd, values), *zip(alone, values.tolist())):
                if what == "x":
                    m["x"] = value
                else:
                    setattr(m, what, value)
        elif what == "override":
            moves, weights = rng.uniform(-1, 1, (n, 1, 3)), rng.random(n)
            crowd.overrides["arm"].set(translation=moves, weight=weights)
            for m, move, weight in zip(alone, moves, weights):
                m.overrides["arm"].set(translation=move, weight=weight)
        elif what == "every":
            every = rng.integers(1, 3, n)
            crowd.instances.update_every = every
            for m, value in zip(alone, every.tolist()):
                m.instances.update_every = value
        elif what == "place":
            crowd.root.set([1.0, 2.0, 3.0], instances=some)
            for k in some:
                alone[k].root.set([1.0, 2.0, 3.0])
        elif what == "add" and n < 6:
            crowd.instances.add(1)
            alone.append(single(crowd.instances.seeds[-1]))
            if not isinstance(crowd.ground, np.ndarray) and crowd.ground is not None:
                alone[-1].ground = crowd.ground
        elif what == "remove" and 0 < len(some) < n:
            crowd.instances.remove(some)
            alone = [m for k, m in enumerate(alone) if k not in some]
        elif what == "reset":
            crowd.instances.reset(some)
            for k in some:
                alone[k].instances.reset()
        elif what == "keep":
            moments.append((crowd.snapshot(), [m.snapshot() for m in alone]))
        elif what == "back" and moments:
            whole, parts = moments[int(rng.integers(len(moments)))]
            crowd.restore(whole)
            alone = [single(seed) for seed in crowd.instances.seeds]
            for m, part in zip(alone, parts):
                m.restore(part)
        if rng.random() < 0.2:
            crowd = copy.deepcopy(crowd)
        crowd.update(0.05)
        for k, m in enumerate(alone):
            m.update(0.05)
            assert np.broadcast_to(crowd.speed, len(alone))[k] == np.reshape(m.speed, -1)[0]
            np.testing.assert_array_equal(crowd.model_matrices[k], m.model_matrices)
            np.testing.assert_array_equal(crowd.root.matrices[k], m.root.matrices)


def test_rows_of_instances_live_in_the_store_and_nowhere_else():
    """Every array that an animator reaches, and that has as many rows as there are instances, is one of the store's,
    or a result of the last update."""
    count = 37
    crowd = mw.Animator(STICK, MANY, count=count)
    crowd.speed, crowd.ground, crowd.levels = np.ones(count), np.zeros(count), np.zeros(count, int)
    crowd.overrides["arm"].set(translation=[1.0, 0, 0])
    crowd.instances.update_every = np.full(count, 2)
    crowd.update(0.1)
    store = next(o for o in gc.get_objects() if isinstance(o, InstanceStore) and o.count == count)
    owned = {id(array) for array in store.arrays()}
    found = dict(_arrays(crowd, "animator", set(), store))
    strays = [path for path, a in found.items() if a.shape[:1] == (count,) and id(a) not in owned]
    assert strays == []
    crowd.instances.remove([3])
    assert {len(a) for a in store.arrays()} == {count - 1}


DERIVED = (
    "_outputs",
    "events",
    "_programs",
    "programs",
    "_frame",
    "_bound",
    "_frames",
    "_buffers",
    "compiled",
    "character",
)
"""What an update leaves behind, and what no instance changes."""


def _arrays(thing, path, seen, store):
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        yield path, thing
    elif isinstance(thing, (tuple, list)):
        for k, part in enumerate(thing):
            yield from _arrays(part, f"{path}[{k}]", seen, store)
    elif isinstance(thing, dict):
        for name, part in thing.items():
            yield from _arrays(part, f"{path}[{name!r}]", seen, store)
    elif type(thing).__module__.startswith("marrow.graph") and thing is not store:
        for name, part in getattr(thing, "__dict__", {}).items():
            if name not in DERIVED:
                yield from _arrays(part, f"{path}.{name}", seen, store)


def test_the_rows_go_when_their_animator_goes():
    gc.collect()
    gc.disable()
    try:
        crowd = mw.Animator(STICK, MANY, count=3, threads=2)
        crowd.update(0.1)
        store = weakref.ref(crowd._runtime.control.store)
        del crowd
        assert store() is None
    finally:
        gc.enable()
