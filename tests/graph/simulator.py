"""A second opinion: nested state machines computed from moment to moment, in closed form, one character at a time.

Nothing here is shared with marrow but the description of the graph. Between two moments at which something is due, clips
run evenly and fades follow their curve, so the next moment can be computed, events found by arithmetic, and travel
integrated by Gauss' rule, which is exact for the polynomials fades are made of.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from marrow.graph import Blend, ClipNode, StateMachine

SLACK = 1e-9
REST = 1 / 60
NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)
EASES = {
    "linear": lambda s: s,
    "smooth": lambda s: 3 * s**2 - 2 * s**3,
    "smoother": lambda s: 6 * s**5 - 15 * s**4 + 10 * s**3,
    "in": lambda s: s**2,
    "out": lambda s: 1 - (1 - s) ** 2,
}


@dataclass
class World:
    """The bool parameter; and a number that is the same for all that happens in no time."""

    go: bool = False
    moment: int = 0
    passed: set = field(default_factory=set)
    leaves: list = field(default_factory=list)

    def window(self, name, now):
        """Whether a clip is inside an event that lasts."""
        return any(leaf.inside(name, now) for leaf, _ in self.leaves)

    def curve(self, name, now):
        """The curve of the clips that are seen, by weight; 0 where none has it."""
        return sum(weight(now) * leaf.curve(name, now) for leaf, weight in self.leaves)

    def crossing(self, name, level, now):
        """Seconds until the curve is above a level, or until it has to be looked at again."""
        if self.curve(name, now) > level:
            return 0.0
        low = 0.0
        for high in np.linspace(0.001, 0.01, 10):
            if self.curve(name, now + high) > level:
                for _ in range(40):
                    middle = (low + high) / 2
                    low, high = (low, middle) if self.curve(name, now + middle) > level else (middle, high)
                return max(high, 2 * SLACK)
            low = high
        return 0.01


class ClipRun:
    def __init__(self, node, clips):
        node = ClipNode(node) if isinstance(node, str) else node
        self.clip, self.loop, self.speed = clips[node.clip], node.loop, node.speed
        self.velocity = (
            self.clip.sample(self.clip.duration).translation[0] - self.clip.sample(0.0).translation[0]
        )
        self.velocity = self.velocity.astype(float) * self.speed / self.clip.duration
        self.begun, self.held = 0.0, 0.0

    def restart(self, now):
        self.begun, self.held = now, None

    def forget(self):
        """When it is next seen it begins."""
        self.held = 0.0

    def pause(self, now):
        """Out of sight it stands still."""
        if self.held is None:
            self.held = self.played(now) / self.speed
            if not self.loop:
                self.held = min(self.held, self.clip.duration / self.speed)

    def resume(self, now):
        if self.held is not None:
            self.begun, self.held = now - self.held, None

    def played(self, now):
        return self.speed * (now - self.begun)

    def remaining(self, now):
        left = self.clip.duration - self.played(now)
        if self.loop and self.played(now) > SLACK:
            left = left % self.clip.duration
            return 0.0 if left > self.clip.duration - SLACK else left / self.speed
        return max(left, 0.0) / self.speed

    def time(self, now):
        played = self.played(now)
        return played % self.clip.duration if self.loop else min(played, self.clip.duration)

    def inside(self, name, now):
        at = self.time(now)
        return any(e.name == name and e.time <= at + SLACK and at + SLACK < e.end for e in self.clip.events)

    def curve(self, name, now):
        found = [np.interp(self.time(now), c.times, c.values) for c in self.clip.curves if c.name == name]
        return float(found[0]) if found else 0.0

    def edges(self, now):
        """Seconds until something of the clip begins or ends: events, keys of curves, the clip itself."""
        times = [t for e in self.clip.events for t in (e.time, e.end)] + [self.clip.duration]
        times += [float(t) for c in self.clip.curves for t in c.times]
        at = self.time(now)
        gaps = [t - at for t in times] + ([t + self.clip.duration - at for t in times] if self.loop else [])
        return [gap / self.speed for gap in gaps if gap > 10 * SLACK]

    def events(self, a, b):
        """Between two moments, the first excluded unless the clip begins there."""
        low, high, length = self.played(a), self.played(b), self.clip.duration
        laps = range(int(low // length), int(high // length) + 1) if self.loop else (0,)
        for lap in laps:
            for event in self.clip.events:
                at = event.time + lap * length
                if low + SLACK < at <= high + SLACK or (abs(at - low) <= SLACK and a == self.begun):
                    yield self.begun + at / self.speed, event.name

    def travel(self, a, b, weight):
        if not self.loop:
            b = min(b, self.begun + self.clip.duration / self.speed)
            if b <= a:
                return np.zeros(3)
        middle, half = (a + b) / 2, (b - a) / 2
        share = sum(w * weight(middle + half * x) for x, w in zip(NODES, WEIGHTS))
        return self.velocity * half * share

    def leaves(self, weight):
        yield self, weight

    def machines(self):
        return ()


class BlendRun:
    def __init__(self, node, clips, world):
        total = sum(node.weights)
        self.parts = [(w / total, run_of(n, clips, world)) for w, n in zip(node.weights, node.inputs)]

    def restart(self, now):
        for _, part in self.parts:
            part.restart(now)

    def forget(self):
        for _, part in self.parts:
            part.forget()

    def pause(self, now):
        for _, part in self.parts:
            part.pause(now)

    def resume(self, now):
        for _, part in self.parts:
            part.resume(now)

    def leaves(self, weight):
        for share, part in self.parts:
            yield from part.leaves(lambda t, share=share: share * weight(t))

    def machines(self):
        for _, part in self.parts:
            yield from part.machines()


@dataclass
class MachineRun:
    node: StateMachine
    clips: object
    world: World
    states: dict = field(init=False)

    def __post_init__(self):
        self.states = {name: run_of(s.source, self.clips, self.world) for name, s in self.node.states.items()}
        self.log = []
        self.paused, self.begun = None, False

    def forget(self):
        self.begun = False

    def pause(self, now):
        if self.begun and self.paused is None:
            self.paused = now
            for state in self.states.values():
                state.pause(now)

    def resume(self, now):
        if not self.begun:
            self.restart(now)
        if self.paused is not None:
            slept, self.paused = now - self.paused, None
            self.since += slept
            self.held_until += slept
            self.rest_until += slept
            self.heard = self.world.moment

    def restart(self, now):
        self.paused, self.begun = None, True
        self.rest_until = now
        for state in self.states.values():
            state.forget()
        self.current = self.node.initial or next(iter(self.states))
        self.since, self.fade = now, None
        self.held_until, self.policy = now, ("any", 0)
        self.start = {name: float(name == self.current) for name in self.states}
        self.states[self.current].restart(now)
        self.entered = {self.current: self.world.moment}
        self.heard = self.world.moment
        self.log.append((now, self.current))

    def weight(self, name, t):
        goal = float(name == self.current)
        if self.fade is None:
            return goal
        seconds, ease = self.fade
        s = min(max((t - self.since) / seconds, 0.0), 1.0)
        return self.start[name] + (goal - self.start[name]) * EASES[ease](s)

    def visible(self, t):
        return [n for n in self.states if n == self.current or self.weight(n, t) > 0]

    def leaves(self, weight, t=None):
        for name in self.shown:
            yield from self.states[name].leaves(lambda u, name=name: self.weight(name, u) * weight(u))

    def machines(self):
        yield self
        for name in self.shown:
            yield from self.states[name].machines()

    def settle(self, now):
        """A fade that is over is over; what it leaves goes out of sight."""
        if self.fade is not None and now >= self.since + self.fade[0] - SLACK:
            self.fade = None
        self.shown = self.visible(now) if self.fade is None else [
            n for n in self.states if n == self.current or self.start[n] > 0
        ]  # fmt: skip
        for name, state in self.states.items():
            state.resume(now) if name in self.shown else state.pause(now)
        for name in self.shown:
            for machine in self.states[name].machines() if isinstance(self.states[name], BlendRun) else ():
                machine.settle(now)
            if isinstance(self.states[name], MachineRun):
                self.states[name].settle(now)

    def wait(self, transition, now):
        """Seconds until a transition may start; None while the parameter forbids it."""
        wait = 0.0
        for rule in transition.when:
            if rule in ("go", "not go"):
                if self.world.go != (rule == "go"):
                    return None
            elif rule.startswith("event"):
                if rule[7:-2] not in self.world.passed or self.heard == self.world.moment:
                    return None
            elif "window" in rule:
                if self.world.window(rule.split('"')[1], now) == rule.startswith("not"):
                    return None
            elif rule.startswith("lift"):
                wait = max(wait, self.world.crossing("lift", float(rule[7:]), now))
            elif rule.startswith("elapsed >= "):
                wait = max(wait, self.since + float(rule[11:]) - now)
            else:
                wait = max(wait, self.states[self.current].remaining(now) - float(rule[13:]))
        how, priority = self.policy
        if how == "none" or (how == "higher" and transition.priority <= priority):
            wait = max(wait, self.held_until - now)
        return max(wait, self.rest_until - now)

    def ways(self):
        found = [
            t
            for t in self.node.transitions
            if t.source == self.current or (t.source == "*" and t.to != self.current)
        ]
        return sorted(found, key=lambda t: -t.priority)

    def begin(self, transition, now):
        if self.entered.get(transition.to) == self.world.moment:
            # Round in no time: it rests.
            self.rest_until = now + REST
            return
        weights = {name: self.weight(name, now) for name in self.states}
        shown = weights[transition.to] > 0
        cut = transition.seconds == 0 or (transition.reset if shown else transition.blend == "inertia")
        self.policy = (transition.interrupt, transition.priority)
        self.held_until = now + transition.seconds
        self.start, self.current, self.since = weights, transition.to, now
        self.fade = None if cut else (transition.seconds, transition.ease)
        self.entered[self.current] = self.world.moment
        if any(rule.startswith("event") for rule in transition.when):
            self.heard = self.world.moment
        if transition.reset:
            self.states[self.current].restart(now)
        self.log.append((now, self.current))


def run_of(node, clips, world):
    if isinstance(node, StateMachine):
        return MachineRun(node, clips, world)
    if isinstance(node, Blend):
        return BlendRun(node, clips, world)
    return ClipRun(node, clips)


def simulate(root, clips, switches, until):
    """What happens until a moment: states entered and events, each with its time and name, in order; and the way travelled.
    The bool parameter is false and changes at `switches`; what is due in such a moment happens before."""
    world = World()
    run = run_of(root, clips, world)
    run.restart(0.0)
    now, happened, way = 0.0, [], np.zeros(3)
    switches = sorted(switches)
    known = []
    while True:
        run.settle(now)
        world.leaves = list(run.leaves(lambda t: 1.0))
        for machine in run.machines():
            if machine not in known:
                known.append(machine)
        waits = [(machine, t, machine.wait(t, now)) for machine in run.machines() for t in machine.ways()]
        due = next(((m, t) for m, t, wait in waits if wait is not None and wait <= SLACK), None)
        if due is not None:
            due[0].begin(due[1], now)
            continue
        if switches and switches[0] <= now + SLACK:
            switches = switches[1:]
            world.go = not world.go
            world.moment += 1
            world.passed = set()
            continue
        if now >= until - SLACK:
            break
        following = [now + wait for _, _, wait in waits if wait is not None]
        following += [m.since + m.fade[0] for m in run.machines() if m.fade is not None]
        following += [now + gap for leaf, _ in world.leaves for gap in leaf.edges(now)]
        later = min([*following, *switches[:1], until])
        world.passed = set()
        for leaf, weight in world.leaves:
            events = list(leaf.events(now, later))
            happened += events
            world.passed |= {name for _, name in events}
            way += leaf.travel(now, later, weight)
        now = later
        world.moment += 1
    for machine in known:
        happened += [(t, name) for t, name in machine.log]
    return sorted(happened), way
