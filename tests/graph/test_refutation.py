"""An attempt to refute: random nested graphs with everything in them, and instances that come, go, start over and go back
in time in any order. Each instance must be, bit for bit, what it would be alone."""

import os

import numpy as np
import pytest
from worlds import character, gait, ramp, still

import marrow as mw
from marrow.errors import ValidationError
from marrow.graph import (
    Additive,
    Blend,
    BlendSpace1D,
    ClipNode,
    Graph,
    LayerBlend,
    Montage,
    Parameter,
    PoseNode,
    RandomPlayer,
    RootMotion,
    SavedPose,
    SequencePlayer,
    Slot,
    Speed,
    State,
    StateMachine,
    Switch,
    Transition,
    Use,
)  # fmt: skip


def lifted(clip):
    events = (*clip.events, mw.Event(0.2 * clip.duration, "open", duration=0.37 * clip.duration))
    curve = mw.Curve("lift", np.array([0, 0.4, 1]) * clip.duration, [0.1, 0.9, 0.3])
    return clip.replace(events=events, curves=(curve,))


STICK = character(
    lifted(gait("walk", 1.0, 0.13, 0.57, 1.0)), gait("run", 0.61, 0.11, 0.43, 2.0),
    lifted(ramp("up", 0, 1, 0.83, ((0.3, "a"),))),
    still("zero"), still("ten", 2.0, 40.0, 0.5), mw.additive(still("plus", 0.3, 20.0), still("zero")),
)  # fmt: skip
PARAMETERS = {
    "x": Parameter(default=0.3, range=(-1.0, 2.0), smoothing=0.2), "y": Parameter(default=0.5),
    "go": Parameter("bool", False), "jump": Parameter("trigger", hold=0.1), "lift": Parameter("curve"),
}  # fmt: skip
KINDS = (
    "machine",
    "machine",
    "blend",
    "space",
    "layer",
    "switch",
    "slot",
    "player",
    "speed",
    "add",
    "name",
    "use",
)
ACTS = ("set", "set", "trigger", "slot", "montage", "jump", "save", "add", "remove", "reset", "keep", "back")
RULES = (
    "go", "not go", "jump", "x > 0.4", "y < 0.2", 'event("left")', 'event("a")', 'window("open")', 'not window("open")',
    "lift > 0.6", "random < 0.5", "remaining <= 0.2", "progress >= 0.7",
)  # fmt: skip


class Maker:
    """Draws a graph. Each part of it may be used again in another place."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.made, self.slots, self.shared = 0, [], []

    def pick(self, *choices):
        return choices[int(self.rng.integers(len(choices)))]

    def clip(self):
        return ClipNode(
            self.pick("walk", "run", "up", "ten"),
            speed=float(self.rng.uniform(0.5, 1.6)),
            loop=bool(self.rng.random() < 0.7),
        )

    def node(self, depth):
        if depth == 0:
            return self.pick(self.clip(), self.clip(), "walk", PoseNode("ten", 0.1), SavedPose("kept"))
        self.made += 1
        below = lambda: self.node(depth - 1)  # noqa: E731
        kind = self.pick(*KINDS)
        if kind == "machine":
            return self.machine(depth)
        if kind == "blend":
            return Blend((below(), below()), (self.pick("x", 0.4),))
        if kind == "space":
            return BlendSpace1D.of("x", {0.0: "walk", 0.5: self.clip(), 1.0: self.pick("run", below())})
        if kind == "layer":
            return LayerBlend(below(), below(), joints=("spine",), weight=self.pick("y", 1.0))
        if kind == "switch":
            return Switch(
                "y", (below(), below()), float(self.pick(0.0, 0.2)), blend=self.pick("fade", "inertia")
            )
        if kind == "slot":
            self.slots.append(f"slot{self.made}")
            return Slot(self.slots[-1], below(), joints=self.pick((), ("spine",)))
        if kind == "player":
            return self.pick(SequencePlayer, RandomPlayer)(("up", "run", self.clip().clip), seconds=0.1)
        if kind == "speed":
            return Speed(below(), self.pick("y", 1.3))
        if kind == "add":
            return Additive(below(), "plus", "y")
        if kind == "name":
            name = f"part{self.made}"
            made = Blend((below(), below()), (0.3,), name=name)
            self.shared.append(name)
            return made
        return Use(self.pick(*self.shared)) if self.shared else below()

    def machine(self, depth):
        count = int(self.rng.integers(2, 4))
        states = {f"s{k}": State(self.node(depth - 1)) for k in range(count)}
        ways = []
        for k in range(count + 1):
            when = (self.pick(*RULES), f"elapsed >= {self.rng.uniform(0.02, 0.4):.3f}")
            ways.append(
                Transition(
                    self.pick(f"s{k % count}", f"s{k % count}", "*"), f"s{(k + 1) % count}", when,
                    float(self.pick(0.0, 0.1, 0.3)), blend=self.pick("fade", "inertia"),
                    interrupt=self.pick("any", "any", "none"), reset=bool(self.rng.random() < 0.8),
                )
            )  # fmt: skip
        return StateMachine(states, tuple(ways))

    def graph(self):
        root = RootMotion(Slot("all", self.machine(3)))
        montage = Montage(
            "up", "all", {"a": 0.0, "b": 0.3, "c": 0.6}, {"b": "b"}, seconds=0.1, out_seconds=0.1
        )
        return Graph(root, PARAMETERS, montages={"m": montage})


def sound(seed):
    """The first graph from a seed on that the checks let pass."""
    for k in range(1000):
        maker = Maker(1000 * seed + k)
        graph = maker.graph()
        try:
            mw.Animator(STICK, graph)
        except ValidationError:
            continue
        return graph, maker.slots
    raise AssertionError("no graph")


class Both:
    """A crowd, and each of its instances alone."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.graph, self.slots = sound(seed)
        self.crowd = mw.Animator(STICK, self.graph, count=3)
        self.alone = [self.single(k) for k in range(3)]
        self.moments = []

    def single(self, k):
        m = mw.Animator(STICK, self.graph)
        m.instances.seeds = int(self.crowd.instances.seeds[k])
        return m

    def some(self):
        return np.flatnonzero(self.rng.random(len(self.alone)) < 0.5)

    def act(self):
        rng, crowd, some = self.rng, self.crowd, self.some()
        what = str(rng.choice(ACTS))
        if what == "set":
            name = str(rng.choice(["x", "y", "go"]))
            values = (
                rng.uniform(-0.5, 1.5, len(self.alone)) if name != "go" else rng.random(len(self.alone)) < 0.5
            )
            crowd[name] = values
            for m, value in zip(self.alone, values.tolist()):
                m[name] = value
        elif what in ("trigger", "slot", "montage", "jump", "save"):
            speed = float(rng.uniform(0.5, 2.0))
            slot = str(rng.choice(["all", *self.slots]))
            calls = {
                "trigger": lambda m, **who: m.trigger("jump", **who),
                "slot": lambda m, **who: m.slots[slot].play("up", speed=speed, queue=speed > 1.5, **who),
                "montage": lambda m, **who: m.montages["m"].play("b" if speed > 1 else None, **who),
                "jump": lambda m, **who: m.montages["m"].jump_to("c", **who),
                "save": lambda m, **who: (
                    m.instances.save_pose("kept", **who)
                    if "kept" in m._runtime.control.compiled.saved
                    else None
                ),
            }
            calls[what](crowd, instances=some)
            for k in some:
                calls[what](self.alone[k])
        elif what == "add" and len(self.alone) < 6:
            crowd.instances.add(2)
            self.alone += [self.single(len(self.alone) + k) for k in range(2)]
        elif what == "remove" and 0 < len(some) < len(self.alone):
            crowd.instances.remove(some)
            self.alone = [m for k, m in enumerate(self.alone) if k not in some]
        elif what == "reset":
            crowd.instances.reset(some)
            for k in some:
                self.alone[k].instances.reset()
        elif what == "keep":
            self.moments.append((crowd.snapshot(), list(self.alone), [m.snapshot() for m in self.alone]))
        elif what == "back" and self.moments:
            whole, members, parts = self.moments[int(rng.integers(len(self.moments)))]
            crowd.restore(whole)
            self.alone = [self.single(k) for k in range(len(members))]
            for m, part in zip(self.alone, parts):
                m.restore(part)

    def step(self):
        dts = self.rng.choice([0.0, 1 / 144, 1 / 60, 0.1, 0.7], len(self.alone))
        self.crowd.update(dts)
        for m, dt in zip(self.alone, dts.tolist()):
            m.update(dt)

    def compare(self):
        crowd = self.crowd
        assert crowd.count == len(self.alone)
        pose, travel, happened = crowd.pose, crowd.root.motion, crowd.events.all
        np.testing.assert_allclose(np.linalg.norm(pose.rotation, axis=-1), 1, atol=1e-4)
        assert np.abs(pose.translation).max() < 60
        for k, m in enumerate(self.alone):
            np.testing.assert_array_equal(pose.translation[k], m.pose.translation)
            np.testing.assert_array_equal(pose.rotation[k], m.pose.rotation)
            np.testing.assert_array_equal(pose.morphs[k], m.pose.morphs)
            np.testing.assert_array_equal(travel.translation[k], m.root.motion.translation)
            mine = happened.instance == k
            assert [n for n, own in zip(happened.names, mine) if own] == m.events.all.names
            np.testing.assert_array_equal(happened.time[mine], m.events.all.time)
            assert crowd.state()[k] == m.state()
            assert crowd.montages["m"].section[k] == m.montages["m"].section


@pytest.mark.parametrize("seed", range(int(os.environ.get("MARROW_GRAPHS", "12"))))
def test_each_of_a_crowd_is_what_it_would_be_alone(seed, caplog):
    both = Both(seed)
    for _ in range(14):
        for _ in range(int(both.rng.integers(0, 3))):
            both.act()
        both.step()
        if both.rng.random() < 0.8:
            both.compare()
    both.compare()
    assert "dropped" not in caplog.text
