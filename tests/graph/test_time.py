"""Sync, events, root motion, slots and rare updates."""

import itertools

import numpy as np
import pytest
from worlds import BONES, character, gait, place, ramp, still

import marrow as mw
from marrow.errors import ValidationError
from marrow.graph import (
    Blend,
    BlendSpace1D,
    ClipNode,
    Graph,
    LayerBlend,
    Parameter,
    RootMotion,
    Slot,
    Speed,
    State,
    StateMachine,
    Transition,
)
from marrow.graph.sync_groups import knots
from marrow.math import quaternion

STICK = character(
    gait("walk", 1.0, 0.0, 0.5, 1.0), gait("limp", 1.5, 0.3, 1.3, 0.8), gait("run", 0.6, 0.1, 0.4, 2.0), still("zero"),
    still("ten", 10.0), ramp("up", 0, 1, events=((0.0, "begin"), (0.25, "a"), (1.0, "end"))), ramp("nod", 0, 1, 2.0),
    mw.additive(still("plus", 3.0), still("zero")),
)  # fmt: skip
SPEED = {"speed": Parameter()}


# -- sync -------------------------------------------------------------------------------------------------------------


def leaf_times(animator):
    control = animator._runtime.control
    return control.state.leaves["time"]


def test_markers_put_the_same_foot_down_at_the_same_time():
    walk, limp, _run = (STICK.clips[n] for n in ("walk", "limp", "run"))
    assert knots([walk, limp]) == [[0.0, 0.5, 1.0], pytest.approx([0.3, 1.3, 1.8])]
    space = mw.Animator(STICK, Graph(BlendSpace1D.of("speed", {0.0: "walk", 1.0: "limp"}), SPEED))
    space["speed"] = 0.5
    for _ in range(200):
        space.update(1 / 60)
        t_walk, t_limp = leaf_times(space)[0]
        # Between left and right, and between right and left, both are the same part of the way.
        share = t_walk / 0.5 if t_walk < 0.5 else (t_walk - 0.5) / 0.5
        after_left = 0.3 <= t_limp < 1.3
        other = (t_limp - 0.3) / 1.0 if after_left else ((t_limp - 1.3) % 1.5) / 0.5
        assert (t_walk < 0.5) == after_left or min(share, other) < 1e-6 or max(share, other) > 1 - 1e-6
        assert share == pytest.approx(other, abs=1e-6)


def test_speed_of_a_group_is_between_its_members_and_exact_at_the_ends():
    for x, duration in ((0.0, 1.0), (1.0, 0.6)):
        space = mw.Animator(STICK, Graph(BlendSpace1D.of("speed", {0.0: "walk", 1.0: "run"}), SPEED))
        space["speed"] = x
        seen = []
        for _ in range(600):
            space.update(1 / 120)
            seen += [t for n, t in zip(space.events.names, space.events.time) if n == "left"]
        assert np.diff(seen) == pytest.approx(duration, abs=1e-9)


def test_feet_touch_once_whoever_leads():
    space = mw.Animator(STICK, Graph(BlendSpace1D.of("speed", {0.0: "walk", 1.0: "run"}), SPEED))
    names = []
    for step in range(2000):
        space["speed"] = 0.5 + 0.5 * np.sin(step / 50)
        space.update(1 / 60)
        names += space.events.names
    assert len(names) > 60
    assert all(a != b for a, b in itertools.pairwise(names)), "left and right take turns"


def test_named_groups_join_blends_and_free_clips_keep_their_time():
    graph = Graph(
        Blend((ClipNode("walk", sync="feet"), ClipNode("run", sync="feet"), "nod"), (1.0, 1.0, 1.0)), SPEED
    )
    animator = mw.Animator(STICK, graph)
    animator.update(0.4)
    walk, run, nod = leaf_times(animator)[0]
    assert nod == pytest.approx(0.4)
    assert walk != pytest.approx(0.4) and (walk / 0.5) % 1 == pytest.approx(((run - 0.1) / 0.3) % 1, abs=1e-6)


# -- events -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [0.01, 0.04, 0.25, 0.3, 1.0, 2.5])
def test_events_fire_exactly_once_whatever_the_step(step):
    animator = mw.Animator(STICK, Graph(ClipNode("up")))
    times, total = [], 0.0
    while total < 5 - 1e-9:
        animator.update(step)
        total += step
        times += [(round(t, 6), n) for t, n in zip(animator.events.time, animator.events.names)]
    expected = sorted(
        (k + t, n)
        for k in range(6)
        for t, n in ((0.0, "begin"), (0.25, "a"), (1.0, "end"))
        if k + t <= total + 1e-9
    )
    assert sorted(times) == [(pytest.approx(t, abs=1e-6), n) for t, n in expected]
    assert [t for t, _ in times] == sorted(t for t, _ in times)


def test_events_name_instance_clip_and_weight():
    crowd = mw.Animator(STICK, Graph(Blend(("zero", "up"), ("speed",)), SPEED), count=3)
    crowd["speed"] = [0.0, 0.5, 1.0]
    crowd.update(0.3)
    e = crowd.events
    assert e.instance.tolist() == [1, 1, 2, 2] and e.names == ["begin", "a"] * 2
    assert e.weight.tolist() == [0.5, 0.5, 1, 1] and set(e.sources) == {"up"}
    assert e.where("a").tolist() == [1, 2]
    crowd.update(0.0)
    assert len(crowd.events) == 0


def test_backward_clips_fire_backwards():
    animator = mw.Animator(STICK, Graph(ClipNode("up", speed=-1.0, loop=False, start=1.0)))
    animator.update(2.0)
    assert animator.events.names == ["end", "a", "begin"]


def test_many_events_make_room_for_themselves():
    crowd = mw.Animator(STICK, Graph(ClipNode("up")), count=500)
    crowd.update(12.0)
    assert len(crowd.events) == 500 * (12 + 12 + 13)


# -- root motion ------------------------------------------------------------------------------------------------------


def travelled(animator, dt, seconds):
    position, facing = np.zeros(3), np.array([0, 0, 0, 1.0])
    for _ in range(round(seconds / dt)):
        animator.update(dt)
        motion = animator.root.motion
        position = position + quaternion.rotate(facing, motion.translation)
        facing = quaternion.multiply(facing, motion.rotation)
    return position, facing


@pytest.mark.parametrize("dt", [1 / 30, 1 / 144, 0.7, 3.5])
def test_root_motion_does_not_depend_on_the_frame_rate(dt):
    seconds = round(7 / dt) * dt
    position, _ = travelled(mw.Animator(STICK, Graph(RootMotion("walk"))), dt, seconds)
    np.testing.assert_allclose(position, [0, 0, seconds], atol=1e-4)


def test_root_motion_turns_with_the_root():
    times = np.linspace(0, 1, 31)
    turn = quaternion.from_axis_angle(np.array([0, 1.0, 0]), np.pi / 2 * times)
    # A quarter of a circle of radius one, facing along it.
    path = np.stack([1 - np.cos(np.pi / 2 * times), 0 * times, np.sin(np.pi / 2 * times)], axis=1)
    clip = mw.Clip(
        "bend", BONES, [mw.Track(0, "translation", times, path), mw.Track(0, "rotation", times, turn)]
    )
    for dt in (1 / 60, 0.4, 4.0):
        position, facing = travelled(mw.Animator(character(clip), Graph(RootMotion("bend"))), dt, 4.0)
        np.testing.assert_allclose(position, 0, atol=2e-3)
        assert quaternion.angle(facing, np.array([0, 0, 0, 1.0])) < 2e-3


def test_extracted_poses_stay_in_place_kept_ones_travel():
    for mode, z, told in (("extract", 0.0, 0.5), ("keep", 0.5, 0.5), ("drop", 0.0, 0.0)):
        animator = mw.Animator(STICK, Graph(RootMotion("walk", mode)))
        animator.update(0.5)
        assert animator.pose.translation[0, 2] == pytest.approx(z, abs=1e-6)
        assert animator.root.motion.translation[2] == pytest.approx(told, abs=1e-6)


def test_root_motion_blends_by_weight_and_layers_by_mask():
    root = RootMotion(BlendSpace1D.of("speed", {0.0: "walk", 1.0: "run"}))
    animator = mw.Animator(STICK, Graph(root, SPEED))
    animator["speed"] = 0.5
    position, _ = travelled(animator, 1 / 60, 1.0)
    rate = 0.5 * 1.0 + 0.5 / 0.6
    assert position[2] == pytest.approx(rate * 1.5, rel=1e-3), "loops per second times metres per loop"
    layered = mw.Animator(STICK, Graph(RootMotion(LayerBlend("walk", "run", joints=("spine",)))))
    layered.update(0.25)
    assert layered.root.motion.translation[2] == pytest.approx(0.25)


# -- slots ------------------------------------------------------------------------------------------------------------


def slotted(**options):
    return mw.Animator(STICK, Graph(Slot("act", "zero", **options)))


def test_a_slot_plays_over_its_part_of_the_body_and_goes_away():
    m = slotted(joints=("spine",))
    m.update(0.1)
    assert place(m, 4) == 0
    m.slots["act"].play("ten", seconds=0.2, out_seconds=0.2)
    m.update(0.1)
    assert place(m, 4) == pytest.approx(5.0) and place(m, 1) == 0
    m.update(0.3)
    assert place(m, 4) == pytest.approx(10.0)
    m.update(0.5)
    assert 0 < place(m, 4) < 10, "fading out before its end"
    m.update(0.3)
    assert place(m, 4) == 0 and len(m.evaluation.program.operations(0)) == 1


def test_slots_queue_interrupt_and_stop_without_popping():
    m = slotted()
    m.slots["act"].play("ten", seconds=0.1, out_seconds=0.1)
    m.slots["act"].play("up", seconds=0.1, out_seconds=0.1, queue=True)
    last, names = 0.0, []
    for _ in range(240):
        m.update(0.01)
        assert abs(float(place(m)) - last) < 10 * 1.5 * 0.01 / 0.1 + 0.01
        last = float(place(m))
        names += m.events.names
    assert names == ["begin", "a", "end"] or names == ["begin", "a"]
    rng = np.random.default_rng(1)
    for step in range(500):
        if step % 11 == 0:
            m.slots["act"].play(
                str(rng.choice(["ten", "up", "zero"])), seconds=0.1, loop=bool(rng.integers(2))
            )
        m.update(0.01)
        assert abs(float(place(m)) - last) < 2.5
        last = float(place(m))
    m.slots["act"].stop(seconds=0.1)
    m.update(0.5)
    assert place(m) == pytest.approx(0)


def test_additive_slots_add():
    m = slotted(additive=True)
    m.slots["act"].play("plus", seconds=0.1, loop=True)
    m.update(0.5)
    assert place(m) == pytest.approx(3.0)
    with pytest.raises(mw.errors.ValidationError, match="additive"):
        m.slots["act"].play("ten")


# -- rare updates -----------------------------------------------------------------------------------------------------


def test_rarely_updated_instances_are_interpolated_in_between():
    crowd = mw.Animator(STICK, Graph(ClipNode("nod", loop=False)), count=2)
    crowd.instances.update_every = [1, 4]
    xs = []
    for _ in range(30):
        crowd.update(0.05)
        xs.append(place(crowd).copy())
    xs = np.array(xs)
    np.testing.assert_allclose(np.diff(xs[:, 0]), 0.025, atol=1e-5)
    # A straight motion stays straight, three updates late.
    np.testing.assert_allclose(np.diff(xs[8:, 1]), 0.025, atol=1e-5)
    np.testing.assert_allclose(xs[8:, 1], xs[5:-3, 0], atol=1e-4)


def test_rare_updates_keep_events_and_root_motion():
    crowd = mw.Animator(STICK, Graph(RootMotion("walk")), count=2)
    crowd.instances.update_every = [1, 5]
    names, way = [[], []], np.zeros(2)
    for _ in range(300):
        crowd.update(1 / 60)
        for n, i in zip(crowd.events.names, crowd.events.instance):
            names[i].append(n)
        way += crowd.root.motion.translation[:, 2]
    assert abs(len(names[0]) - len(names[1])) <= 1 and way[0] == pytest.approx(5.0, abs=1e-3)
    assert way[1] == pytest.approx(5.0, abs=0.12)


def test_speed_node_and_animator_speed_agree():
    fast = mw.Animator(STICK, Graph(Speed("up", 2.0)))
    fast.update(0.2)
    animator = mw.Animator(STICK, Graph("up"))
    animator.speed = 2.0
    animator.update(0.2)
    assert place(fast) == pytest.approx(float(place(animator)))


# -- events that last -------------------------------------------------------------------------------------------------


def test_events_that_last_begin_end_and_tell_how_far(tmp_path):
    cut = mw.Event(0.2, "cut", 0.5, "blade")
    swing = ramp("swing", 0, 1).replace(events=(cut, mw.Event(0.9, "done")))
    stick = character(swing, still("rest"))
    m = mw.Animator(stick, Graph(ClipNode("swing")))
    told, inside = [], []
    for _ in range(10):
        m.update(0.1)
        told += list(zip(m.events.all.kinds, m.events.all.names, m.events.all.time.round(6).tolist()))
        inside += [(w.name, round(w.progress, 4), w.payload) for w in m.events.windows]
    assert told == [("event", "cut", 0.2), ("event_ended", "cut", 0.7), ("event", "done", 0.9)]
    assert [p for _, p, _ in inside] == pytest.approx([0.0, 0.2, 0.4, 0.6, 0.8], abs=1e-3) and inside[0][
        2
    ] == "blade"
    assert m.events.where("cut", kind="event_ended").tolist() == []
    mw.save(stick, tmp_path / "s.glb")
    assert mw.load(tmp_path / "s.glb", cache=False).clips["swing"].events == swing.events
    with pytest.raises(mw.MarrowError, match="past the clip"):
        swing.replace(events=(mw.Event(0.8, "cut", 0.5),))


SWING = character(
    ramp("swing", 0, 1).replace(events=(mw.Event(0.2, "cut", 0.5, "blade"),)),
    ramp("stab", 0, 1).replace(events=(mw.Event(0.0, "cut", 0.3, "tip"), mw.Event(0.6, "cut", 0.4, "tip"))),
    still("rest"),
)


def _switched(blend="fade"):
    there = Transition("a", "b", ("go",), seconds=0.1, blend=blend)
    machine = StateMachine({"a": State("swing"), "b": State("rest")}, (there,))
    return Graph(machine, {"go": Parameter("bool", False)})


def _go(m):
    m["go"] = True


@pytest.mark.parametrize(
    ("graph", "begin", "cut", "end"),
    [
        (_switched(), None, _go, 0.5),
        (_switched("inertia"), None, _go, 0.45),
        (Graph(Slot("s", "rest")), lambda m: m.slots["s"].play("swing"), lambda m: m.slots["s"].stop(seconds=0.1), 0.5),
        (None, lambda m: m.play("swing", loop=False), lambda m: m.cross_fade("rest", 0.1), 0.5),
        (Graph("swing"), None, lambda m: m.instances.reset(), 0.05),
    ],
    ids=["fade", "inertia", "slot", "by_hand", "reset"],
)  # fmt: skip
def test_events_that_last_end_where_their_clip_is_cut_off(graph, begin, cut, end):
    m, told = mw.Animator(SWING, graph), []
    if begin:
        begin(m)
    for k in range(11):
        if k == 8:
            cut(m)
        m.update(0.05)
        told += list(
            zip(m.events.all.kinds, m.events.all.names, m.events.all.payloads, m.events.all.time.round(6))
        )
    told = [row for row in told if row[1] == "cut"]
    assert told[0] == ("event", "cut", "blade", pytest.approx(0.2))
    assert told[1] == ("event_ended", "cut", "blade", pytest.approx(end))
    assert told[2:] == []


def test_events_that_last_begin_and_end_in_turn_whatever_happens():
    """In a crowd of which some are cut off, some updated rarely, and that is saved and brought back."""
    graph = Graph(
        Slot("s", StateMachine(
            {"a": State("swing"), "b": State("stab"), "c": State("rest")},
            (Transition("a", "b", ("x > 0",), seconds=0.1, blend="inertia"), Transition("b", "c", ("x > 1",), seconds=0.0),
             Transition("c", "a", ("x <= 0",), seconds=0.0)),
        )),
        {"x": Parameter()},
    )  # fmt: skip
    rng, N = np.random.default_rng(5), 6
    m = mw.Animator(SWING, graph, count=N)
    m.instances.update_every = [1, 1, 1, 1, 2, 3]
    open_, begun = np.zeros(N, int), 0
    for k in range(400):
        if k % 7 == 0:
            m["x"] = rng.integers(0, 3, N)
        if k % 31 == 0:
            m.slots["s"].play("rest", instances=[int(rng.integers(N))])
        if k % 50 == 0:
            m.instances.reset([int(rng.integers(N))])
        step, state = float(rng.choice([1 / 60, 0.1, 0.05, 0.0])), m.snapshot()
        m.update(step)
        told = m.events.all
        m.restore(state)
        m.update(step)
        again = m.events.all
        assert (again.kinds, again.names, again.time.tolist()) == (told.kinds, told.names, told.time.tolist())
        for n, kind, name in zip(told.instance.tolist(), told.kinds, told.names):
            if name == "cut":
                open_[n] += {"event": 1, "event_ended": -1}.get(kind, 0)
                begun += kind == "event"
        assert ((open_ >= 0) & (open_ <= 2)).all()
    m.instances.reset()
    m["x"] = 2.0
    m.instances.update_every = 1
    for _ in range(9):
        m.update(0.02)
        told = m.events.all
        np.add.at(open_, told.instance, [{"event": 1, "event_ended": -1}.get(k, 0) for k in told.kinds])
    assert begun > 50
    assert (open_ == 0).all()


@pytest.mark.parametrize("clip", ["swing", "stab"])
def test_nothing_is_told_twice_of_events_that_last(clip):
    rng = np.random.default_rng(2)
    for speed in (1.0, 2.5):
        m, kinds, steps = mw.Animator(SWING, Graph(ClipNode(clip, loop=True, speed=speed))), [], 0.0
        while steps < 30:
            step = float(rng.choice([1 / 60, 0.1, 0.2, 1 / 24, 0.7, 0.05]))
            m.update(step)
            steps += step
            kinds += [k for k in m.events.all.kinds if k.startswith("event")]
        assert kinds[::2] == ["event"] * len(kinds[::2])
        assert kinds[1::2] == ["event_ended"] * len(kinds[1::2])
        laps = steps * speed * (1 if clip == "swing" else 2)
        assert len(kinds) == pytest.approx(2 * laps, abs=4)
    back, kinds = mw.Animator(SWING, Graph(ClipNode(clip, loop=True, speed=-1.0))), []
    for _ in range(200):
        back.update(0.03)
        kinds += back.events.all.kinds
    assert abs(kinds.count("event") - kinds.count("event_ended")) <= 1


# -- root motion by axes ----------------------------------------------------------------------------------------------


def hips_clip():
    """Hips that walk along z, bob, sway, turn by 90 degrees and lean."""
    times = np.linspace(0, 1, 31)
    places = np.stack([0.1 * np.sin(9 * times), 1 + 0.05 * np.cos(12 * times), 2 * times], axis=1)
    yaw = quaternion.from_axis_angle(np.array([0.0, 1, 0]), 0.5 * np.pi * times)
    lean = quaternion.from_axis_angle(np.array([1.0, 0, 0]), 0.2 * np.sin(6 * times))
    turns = quaternion.multiply(yaw, lean)
    return mw.Clip(
        "go", BONES, [mw.Track(1, "translation", times, places), mw.Track(1, "rotation", times, turns)]
    )


@pytest.mark.parametrize("axes", [("x", "z", "yaw"), ("x", "y", "z", "yaw", "tilt"), ("z",), ("x", "z")])
def test_travel_and_what_stays_in_the_pose_make_up_the_motion(axes):
    stick = character(hips_clip())
    whole = mw.Animator(stick, Graph(ClipNode("go", loop=False)))
    m = mw.Animator(stick, Graph(RootMotion(ClipNode("go", loop=False), joint="hips", axes=axes)))
    facing = np.array([0, 0, 0, 1.0])
    # Travel counts from where a clip begins.
    position = (whole.model_matrices[1, :, 3] - m.model_matrices[1, :, 3]).astype(float)
    heights = []
    for _ in range(20):
        m.update(1 / 30)
        whole.update(1 / 30)
        position = position + quaternion.rotate(facing, m.root.motion.translation)
        facing = quaternion.multiply(facing, m.root.motion.rotation)
        heights.append(m.model_matrices[1, 1, 3])
        placed = quaternion.rotate(facing, m.model_matrices[1, :, 3].astype(float)) + position
        np.testing.assert_allclose(placed, whole.model_matrices[1, :, 3], atol=2e-4)
        turned = quaternion.to_matrix(facing) @ m.model_matrices[1, :, :3]
        np.testing.assert_allclose(turned, whole.model_matrices[1, :, :3], atol=2e-3)
    if "y" not in axes:
        assert np.ptp(heights) > 0.05, "the bob is kept"
    else:
        np.testing.assert_allclose(heights, 1, atol=1e-4)
    if set(axes) == {"x", "z", "yaw"}:
        np.testing.assert_allclose(m.model_matrices[1, [0, 2], 3], 0, atol=1e-5)
    with pytest.raises(mw.MarrowError, match="tilt comes with yaw"):
        mw.Animator(stick, Graph(RootMotion("go", axes=("x", "tilt"))))


def hips_walk(frames=61, duration=1.0, net=0.0):
    """Hips that are the root: ahead, with sway, a surge and a turn to and fro in every cycle, and `net` radians in all."""
    bones = mw.Skeleton(
        ("hips", "foot"),
        [-1, 0],
        mw.Pose.identity(2).replace(translation=np.array([[0, 1.0, 0], [0, -1, 0]], np.float32)),
    )
    t = np.linspace(0, duration, frames)
    phase = 2 * np.pi * t / duration
    place = np.stack(
        [0.03 * np.sin(phase), 1 + 0.02 * np.cos(2 * phase), 1.4 * t + 0.02 * np.sin(2 * phase)], axis=1
    )
    turn = quaternion.from_axis_angle(np.array([0, 1.0, 0]), 0.15 * np.cos(phase) + net * t / duration)
    tracks = [mw.Track(0, "translation", t, place), mw.Track(0, "rotation", t, turn)]
    return mw.Character(bones, (), [mw.Clip("walk", bones, tracks)]), place, turn


def test_hips_that_are_the_root_walk_straight_and_evenly():
    stick, place, turn = hips_walk()
    animator = mw.Animator(stick, Graph(RootMotion("walk")))
    ways, turns = [], []
    for _ in range(120):
        animator.update(1 / 60)
        ways.append(animator.root.translation)
        turns.append(2 * np.arctan2(animator.root.rotation[1], animator.root.rotation[3]))
    # No step of it goes to a side, or faster and slower.
    np.testing.assert_allclose(np.array(ways), np.outer(np.arange(1, 121) / 60, [0, 0, 1.4]), atol=2e-3)
    assert np.abs(turns).max() < 1e-3
    # Sway and turning are still in the pose.
    whole = [animator.root.matrices[:, :3] @ animator.model_matrices[0, :, 3] + animator.root.translation]
    np.testing.assert_allclose(whole[0] - [0, 0, 1.4], place[60] - [0, 0, 0], atol=3e-3)
    exact = mw.Animator(stick, Graph(RootMotion("walk", smooth=0.0)))
    exact.update(0.25)
    assert abs(exact.root.rotation[1]) > 0.05
    assert turn is not None


def test_hips_that_turn_for_good_do_so():
    stick, _, _ = hips_walk(net=0.8)
    animator = mw.Animator(stick, Graph(RootMotion("walk")))
    for _ in range(50):
        animator.update(0.03)
    assert 2 * np.arctan2(animator.root.rotation[1], animator.root.rotation[3]) == pytest.approx(
        1.2, abs=2e-3
    )
    with pytest.raises(ValidationError, match="smooth"):
        mw.Animator(stick, Graph(RootMotion("walk", smooth=-1.0)))
