"""Random nested graphs against an independent simulator: the same states, events and travel at any frame rate."""

import msgspec
import numpy as np
import pytest
from simulator import simulate
from worlds import BONES, character, gait, ramp, still

import marrow as mw
from marrow.graph import Blend, ClipNode, Graph, Parameter, RootMotion, State, StateMachine, Transition


def lifted(clip, times, values):
    """The clip with a curve and an event that lasts."""
    events = (*clip.events, mw.Event(0.2 * clip.duration, "open", duration=0.37 * clip.duration))
    return clip.replace(curves=(mw.Curve("lift", np.array(times) * clip.duration, values),), events=events)


STICK = character(
    lifted(gait("walk", 1.0, 0.13, 0.57, 1.0), [0, 0.31, 0.8], [0, 0.9, 0.2]),
    gait("run", 0.61, 0.11, 0.43, 2.0), gait("limp", 1.47, 0.31, 1.29, 0.7),
    lifted(ramp("up", 0, 1, 0.83, ((0.291, "a"), (0.77, "b"))), [0.1, 0.9], [0.3, 1.1]),
    ramp("down", 3, 1, 0.37, ((0.05, "c"),)), still("zero"),
)  # fmt: skip
SECONDS = 6.0
PARAMETERS = {"go": Parameter("bool", False), "lift": Parameter("curve")}
SWITCHES = [0.5, 1.5, 2.0, 3.5, 5.0]


def go(t):
    return sum(t >= s - 1e-9 for s in SWITCHES) % 2 == 1


def clip(rng):
    name = str(rng.choice(["walk", "run", "limp", "up", "down"]))
    return ClipNode(name, speed=float(rng.uniform(0.5, 1.7)), loop=bool(rng.random() < 0.7), sync=False)


def tree(rng, depth):
    kind = rng.random()
    if depth == 0 or kind < 0.2:
        return clip(rng)
    if kind < 0.35:
        return Blend((tree(rng, depth - 1), clip(rng)), tuple(rng.uniform(0.2, 1, 2).tolist()))
    return machine(rng, depth)


def machine(rng, depth):
    count = int(rng.integers(2, 4))
    states = {f"s{k}": State(tree(rng, depth - 1)) for k in range(count)}
    transitions = []
    for k, (name, state) in enumerate(states.items()):
        # Some are due exactly when the parameter changes.
        when = [f"elapsed >= {rng.choice([rng.uniform(0.05, 0.9), 0.25, 0.5]):.3f}"]
        if isinstance(state.source, ClipNode) and rng.random() < 0.5:
            when = [f"remaining <= {rng.uniform(0.01, 0.3):.3f}"]
            if rng.random() < 0.5:
                when.append(f"elapsed >= {rng.uniform(0.02, 0.1):.3f}")
        if rng.random() < 0.3:
            when.append(str(rng.choice(["go", "not go"])))
        transitions.append(how(rng, name, f"s{(k + 1) % count}", when))
    if rng.random() < 0.5:
        wait = [f"elapsed >= {rng.uniform(0.02, 0.2):.3f}"] if rng.random() < 0.7 else []
        transitions.append(
            how(rng, str(rng.choice(["*", "s1", "s0"])), "s0", [str(rng.choice(["go", "not go"])), *wait])
        )
    return StateMachine(states, tuple(transitions))


def sound(rng, listens=False):
    """A machine that the check lets pass: none that goes round in no time, as far as can be seen before."""
    while True:
        root = machine(rng, 3)
        if listens:
            root = listening(rng, root, bool(rng.random() < 0.5))
        try:
            mw.Animator(STICK, Graph(RootMotion(root), PARAMETERS))
        except mw.errors.ValidationError:
            continue
        return root


def listening(rng, node, curves):
    """The same with rules that ask what clips do. Curves only where nothing fades: there they are met to a millisecond."""
    if isinstance(node, Blend):
        return Blend(tuple(listening(rng, n, curves) for n in node.inputs), node.weights)
    if not isinstance(node, StateMachine):
        return node
    states = {name: State(listening(rng, state.source, curves)) for name, state in node.states.items()}
    asked = ['event("left")', 'event("a")', 'event("c")', 'window("open")', 'not window("open")']
    asked = ["lift > 0.5", "lift > 0.3", *asked] if curves else asked
    ways = []
    for t in node.transitions:
        when = (str(rng.choice(asked)), *t.when[1:]) if rng.random() < 0.4 else t.when
        if rng.random() < 0.2:
            when = (*t.when, str(rng.choice(asked)))
        ways.append(msgspec.structs.replace(t, when=when, seconds=0.0 if curves else t.seconds))
    return StateMachine(states, tuple(ways))


def how(rng, source, to, when):
    return Transition(
        source,
        to,
        tuple(when),
        seconds=float(rng.choice([0.0, 0.07, 0.23, 0.41])),
        ease=str(rng.choice(["linear", "smooth", "smoother", "in", "out"])),
        blend=str(rng.choice(["fade", "inertia", "inertia"])),
        priority=int(rng.integers(0, 2)),
        interrupt=str(rng.choice(["any", "any", "higher", "none"])),
        reset=bool(rng.random() < 0.8),
    )


def steps(rng, rate):
    if rate is not None:
        return [1 / rate] * round(SECONDS * rate)
    cuts = [0.0, *SWITCHES, *np.cumsum(rng.choice([0.003, 1 / 60, 0.11, 0.4, 1.3], 200)).tolist(), SECONDS]
    return np.diff(sorted(c for c in cuts if c <= SECONDS)).tolist()


def run(root, dts):
    """What marrow says happened, and how far it went; positions and scales on the way."""
    m = mw.Animator(STICK, Graph(RootMotion(root), PARAMETERS))
    happened, way, now = [], np.zeros(3), 0.0
    for dt in dts:
        m["go"] = go(now)
        m.update(dt)
        now += dt
        everything = m.events.all
        happened += [
            (time, name)
            for kind, name, time in zip(everything.kinds, everything.names, everything.time.tolist())
            if kind in ("event", "state_entered")
        ]
        way += m.root.motion.translation
        assert m.pose.scale.max() == pytest.approx(1, abs=1e-4) and m.pose.scale.min() == pytest.approx(
            1, abs=1e-4
        )
    return sorted(happened), way


def together(happened):
    """In order, what falls together by name; nothing of the last moment, which may be told in the next update."""
    found, now = [], -1.0
    for time, name in sorted(happened):
        if time < SECONDS - 1.7e-3:
            now = now if time - now < 1e-5 else time
            found.append((now, name, time))
    return sorted(found)


def same(ours, theirs):
    """The same names in the same order at the same times; what falls together may change places."""
    ours, theirs = together(ours), together(theirs)
    assert [n for _, n, _ in ours] == [n for _, n, _ in theirs]
    np.testing.assert_allclose([t for *_, t in ours], [t for *_, t in theirs], atol=1e-5)


@pytest.mark.parametrize("seed", range(24))
def test_random_machines_do_what_the_simulator_says(seed):
    rng = np.random.default_rng(seed)
    root = sound(rng, seed % 2 == 1)
    expected, far = simulate(root, STICK.clips, SWITCHES, SECONDS)
    for rate in (24, 60, 144, 240, None)[seed % 2 :: 2]:
        happened, way = run(root, steps(rng, rate))
        same(happened, expected)
        np.testing.assert_allclose(way, far, rtol=1e-3, atol=3e-3, err_msg=str(rate))


@pytest.mark.parametrize("seed", range(8))
def test_random_interrupts_do_not_pop(seed):
    """Only inertia, clips whose speed is known: positions are continuous, however transitions interrupt one another."""
    rng = np.random.default_rng(100 + seed)

    def calm(depth):
        if depth == 0 or rng.random() < 0.3:
            return str(rng.choice(["slow", "still", "other"]))
        states = {f"s{k}": State(calm(depth - 1)) for k in range(3)}
        ways = tuple(
            Transition(
                f"s{k}", f"s{(k + 1) % 3}",
                (str(rng.choice(["go", f"elapsed >= {rng.uniform(0.05, 0.3):.3f}"])), "elapsed >= 0.03"),
                seconds=0.3, blend="inertia",
            )
            for k in range(3)
        )  # fmt: skip
        return StateMachine(states, ways)

    # A clip that loops without a jump.
    wave = mw.Track(1, "translation", [0, 1, 2], [[0, 0, 0], [1, 0, 0], [0, 0, 0]])
    stick = character(mw.Clip("slow", BONES, [wave]), still("still", 3.0), still("other", -2.0, 70.0))
    m = mw.Animator(stick, Graph(calm(3), PARAMETERS))
    m.update(0)
    last = m.pose.translation[1, 0].item()
    for step in range(600):
        m["go"] = bool(rng.random() < 0.5)
        m.update(1 / 240)
        now = m.pose.translation[1, 0].item()
        # Five metres in 0.3 s at three levels, 15/8 of the mean speed each.
        assert abs(now - last) < 3 * 5 * 15 / 8 / 0.3 / 240, step
        last = now
