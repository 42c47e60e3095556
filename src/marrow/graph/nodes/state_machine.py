"""`StateMachine`: one of several motions at a time, and when to go from one to another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import msgspec
import numpy as np

from marrow.errors import ValidationError
from marrow.graph.compiled import MachineEntry
from marrow.graph.nodes.base import AnyNode, Ease, Input, Names, Node, gather_names, names_of
from marrow.graph.rules import Rule, parse_rule
from marrow.graph.tables import Part, Place, Scope, seconds, unknown
from marrow.graph.transition_cycles import check_cycles
from marrow.kernels import control_tables as ct
from marrow.kernels.operations.inertia import PROFILE
from marrow.model._asset import Replaceable

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.placeholder import Requirements

__all__ = ["State", "StateMachine", "Transition"]

EASES = ("linear", "smooth", "smoother", "in", "out")
INTERRUPTS = ("any", "higher", "none")
INTERRUPT_SOURCES = ("to", "source", "both")
MOST_WAYS = 10_000


class State(msgspec.Struct, Replaceable, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a machine shows in one state: any node. It starts over when the state is entered, also where it is still fading
    out from the last time (`Transition.reset`). `root_motion=False`: what it shows goes nowhere, whatever travel its
    clips have (`RootMotion`)."""

    source: AnyNode
    root_motion: bool = True


class Transition(msgspec.Struct, Replaceable, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Goes from the state `source` (`"*"`: from any other; several: from each of them) to the state `to` once all of `when`
    hold. A state may lead to itself: it then starts over.

    Each condition is a rule: comparisons of parameters and numbers (`"speed > 0.5"`, `"gear + 1 == wanted"`), bools and
    triggers by name, joined by `and`, `or`, `not` and brackets. `elapsed` is the seconds in this state, `remaining` those
    until its main clip ends, `progress` the share of that clip (0 to 1), `random` a number from 0 to 1 that is drawn anew
    for each instance when a state is entered. `event("hit")` holds in the moment in which a clip that is seen passes that
    event, `window("cut")` while one is inside an event that lasts; `event("hit", 0.5)` wants half or more of that clip
    to be seen. `abs(x)`, `min(x, y)`, `max(x, y)` and `clamp(x, low, high)` are for numbers. Times are met exactly,
    whatever the frame rate. Where several transitions could start, the highest `priority` wins, then the first.

    `blend="fade"` mixes the two for `seconds` along `ease`; `"inertia"` switches at once and lets the difference die out
    in `seconds`, smooth in place and speed, at the cost of one pose. `interrupt` says what may start while it runs: any
    transition, only those of higher priority, or none. Nothing pops when it does. `interrupt_source` says whose
    transitions these are: those of the state it leads `"to"`, of its `"source"`, the state that is being left (seconds
    there are counted on; rules over `remaining` and `progress` do not count from it), or `"both"`, of which the higher
    priority wins. `profile`, with `"inertia"`, says what share of the seconds joints take, each with all below it:
    `{"spine_01": 0.5}` brings the upper body there in half the time.

    `reset=False` lets the state it leads to go on where it was left, instead of from its beginning. Where a state that is
    still fading out starts over, what was seen of it dies out by inertia. `offset`, a share from 0 to 1, starts its
    clips so far on: 0.5 begins in their middle (clips that keep in step with others elsewhere go on with these).
    """

    source: str | tuple[str, ...]
    to: str
    when: Names = ()
    seconds: float = 0.2
    ease: Ease = "smooth"
    blend: Literal["fade", "inertia"] = "fade"
    priority: int = 0
    interrupt: Literal["any", "higher", "none"] = "any"
    reset: bool = True
    profile: dict[str, float] = {}
    offset: float = 0.0
    interrupt_source: Literal["to", "source", "both"] = "to"

    def __post_init__(self) -> None:
        gather_names(self)

    @property
    def sources(self) -> tuple[str, ...]:
        return (self.source,) if isinstance(self.source, str) else self.source

    def __str__(self) -> str:
        how = f"{self.blend} {self.seconds:g} s" if self.seconds else "at once"
        return f"{', '.join(self.sources)} -> {self.to}: {' and '.join(self.when) or 'always'} ({how})"


class StateMachine(Node, frozen=True):
    """Holds `states` by name, begins in `initial` (the first when left out) and follows `transitions`.

    `conduits` are names that transitions may lead to and from as to a state, and where nothing stays: a way through one is
    taken when all conditions along it hold, with the blend of its last transition and the priority of its first.
    """

    states: dict[str, State]
    transitions: tuple[Transition, ...] = ()
    initial: str | None = None
    conduits: Names = ()

    colour: ClassVar[str] = "#fdf0dc"

    def children(self) -> tuple[Input, ...]:
        return tuple(Input(f".states.{n}.source", s.source, n) for n, s in self.states.items())

    def require(self, requirements: Requirements) -> None:
        for transition in self.transitions:
            requirements.joints(*transition.profile)
            for text in transition.when:
                requirements.events.update(re.findall(r"\b(?:event|window)\s*\(\s*[\"']([^\"']+)", text))

    def settings(self) -> Iterator[tuple[str, Any]]:
        return (pair for pair in super().settings() if pair[0] != "transitions")

    def says(self) -> list[str]:
        return [*super().says(), *map(str, self.transitions)]

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c, path = compiler, at.path
        names = tuple(self.states)
        if not names:
            raise ValidationError(f"{path}.states: a machine needs at least one")
        initial = names[0] if self.initial is None else self.initial
        if initial not in self.states:
            raise unknown("state", initial, names, f"{path}.initial")
        rules = [self._check(c, t, f"{path}.transitions[{k}]") for k, t in enumerate(self.transitions)]
        ways = {name: self._ways(name, rules, path) for name in names}
        _check_reachable(ways, initial, path)
        check_cycles(ways, c.graph.parameters, path)
        machine = MachineLayout(c, at, len(names), names.index(initial), _needs_inertia(ways))
        c.machines[path] = MachineEntry(machine.index, names)
        parts = machine.children([(s.source, f".states.{n}.source") for n, s in self.states.items()])
        for k, name in enumerate(names):
            begin = len(c.builder.rows["transitions"])
            for transition, rule in ways[name]:
                _transition(c, machine, transition, names, rule)
            asks = any(rule.clip_times for _, rule in ways[name])
            heeds = any(rule.events or _curved(rule) for _, rule in ways[name])
            still = not self.states[name].root_motion
            machine.state(k, parts[k].node, begin, len(ways[name]), asks, heeds, still)
        return machine.finish(parts)

    def _check(self, c: Compiler, transition: Transition, where: str) -> Rule:
        """A transition's names and numbers, and its rule."""
        known = (*self.states, *self.conduits)
        if not transition.sources:
            raise ValidationError(f"{where}.source: expected at least one state")
        for source in transition.sources:
            if source != "*" and source not in known:
                raise unknown("state", source, ("*", *known), f"{where}.source")
        if transition.to not in known:
            raise unknown("state", transition.to, known, f"{where}.to")
        seconds(transition.seconds, f"{where}.seconds")
        if not 0 <= transition.offset <= 1:
            raise ValidationError(
                f"{where}.offset: expected a share of the clips from 0 to 1, got {transition.offset}"
            )
        if transition.offset and not transition.reset:
            raise ValidationError(
                f"{where}.offset: a state that goes on where it was left (reset=False) has none"
            )
        rule = parse_rule(names_of(transition.when), c.graph.parameters, where)
        for name in rule.events:
            if name not in c.event_names:
                raise unknown("event", name, c.event_names, f"{where}.when")
        return rule

    def _ways(self, name: str, rules: list[Rule], path: str) -> list[tuple[Transition, Rule]]:
        """The transitions that leave a state, conduits passed through, the most important ones first."""
        found: list[tuple[Transition, Rule, int]] = []

        def follow(
            place: str, along: tuple[Rule, ...], first: Transition | None, passed: tuple[str, ...]
        ) -> None:
            for k, t in enumerate(self.transitions):
                anywhere = "*" in t.sources and first is None and t.to != place
                if place not in t.sources and not anywhere:
                    continue
                if t.to in passed:
                    raise ValidationError(f"{path}.conduits: {t.to!r} leads back to itself")
                head = first or t
                if t.to in self.conduits:
                    follow(t.to, (*along, rules[k]), head, (*passed, t.to))
                elif len(found) >= MOST_WAYS:
                    raise ValidationError(f"{path}.conduits: more than {MOST_WAYS} ways lead through them")
                else:
                    found.append((t, _together((*along, rules[k])), head.priority))

        follow(name, (), None, ())
        found.sort(key=lambda way: -way[2])
        return [(transition, rule) for transition, rule, _ in found]


def _together(rules: tuple[Rule, ...]) -> Rule:
    """All rules along a way."""
    whole = Rule([])
    for rule in rules:
        if rule.operations:
            both = bool(whole.operations)
            whole.operations += rule.operations + ([(ct.AND, None, 0.0)] if both else [])
        whole.comparisons += rule.comparisons
        whole.timed, whole.clip_times = whole.timed or rule.timed, whole.clip_times or rule.clip_times
        whole.triggers += rule.triggers
        whole.events += rule.events
        whole.needs = whole.needs or rule.needs
        whole.bent = whole.bent or rule.bent
    return whole


def _transition(
    c: Compiler, machine: MachineLayout, transition: Transition, names: tuple[str, ...], rule: Rule
) -> None:
    b = c.builder
    begin = len(b.rows["rules"])
    smoothed, curved = False, _curved(rule)
    for code, name, value in rule.operations:
        ref = 0
        if code in (ct.PASSED, ct.WINDOW):
            ref = c.event_names.index(str(name))
        elif name is not None:
            entry = b.parameters[name]
            ref = entry.index if code == ct.PARAMETER_VALUE else entry.column
            smoothed = smoothed or c.graph.parameters[name].smoothing > 0
        b.add("rules", code, ref, value)
    b.add(
        "transitions", names.index(transition.to), EASES.index(transition.ease), int(transition.blend == "inertia"),
        transition.priority, INTERRUPTS.index(transition.interrupt), begin, len(rule.operations), rule.comparisons,
        int(rule.timed), int(smoothed), int(bool(rule.events)), int(curved) * (2 if rule.bent else 1),
        -1 if rule.needs is None else b.parameters[rule.needs].column,
        int(transition.reset), INTERRUPT_SOURCES.index(transition.interrupt_source), int(rule.clip_times),
        blend_profile(c, transition.profile, transition.blend, machine.memory, f"{machine.at.path}.transitions"),
        transition.seconds, transition.offset,
    )  # fmt: skip


def _curved(rule: Rule) -> bool:
    """Whether a rule depends on curves."""
    return any(code == ct.CURVE_VALUE for code, *_ in rule.operations)


def _needs_inertia(ways: dict[str, list[tuple[Transition, Rule]]]) -> bool:
    """Whether a machine has to keep what inertia starts from: where a transition asks for it, or where a state can start
    over while it is still seen."""
    every = [(name, t) for name, found in ways.items() for t, _ in found if t.seconds > 0]
    fading_out = {name for name, t in every if t.blend == "fade"}
    return any(
        t.blend == "inertia" or (t.reset and (t.to == name or t.to in fading_out)) for name, t in every
    )


def _check_reachable(ways: dict[str, list[tuple[Transition, Rule]]], initial: str, path: str) -> None:
    reached, fresh = {initial}, [initial]
    while fresh:
        for transition, _ in ways[fresh.pop()]:
            if transition.to not in reached:
                reached.add(transition.to)
                fresh.append(transition.to)
    missed = [name for name in ways if name not in reached]
    if missed:
        raise ValidationError(
            f"{path}.states.{missed[0]}: no transition leads to this state from {initial!r}"
        )


def blend_profile(c: Compiler, profile: dict[str, float], blend: str, memory: int, path: str) -> int:
    """Where the constants of a blend profile are, -1 for none: which share of the seconds each joint takes."""
    if not profile:
        return -1
    if blend != "inertia" or memory < 0:
        raise ValidationError(f"{path}.profile: a profile needs blend='inertia' and seconds")
    shares = np.ones(len(c.skeleton), np.float32)
    for name in sorted(profile, key=lambda n: c.skeleton.depth[c.joint(n, f"{path}.profile")]):
        share = profile[name]
        if not 0 <= share <= 1:
            raise ValidationError(
                f"{path}.profile: {name!r} has {share}; expected a share of the seconds, 0 to 1"
            )
        shares[c.skeleton.mask([name]) > 0] = share
    mask = c.builder.mask((shares, np.ones(len(c.skeleton.morph_names), np.float32)))
    return c.constants(PROFILE, memory=memory, mask=mask)


class MachineLayout:
    """The rows of a state machine or a switch: one state per input, of which one is shown."""

    def __init__(
        self,
        c: Compiler,
        at: Place,
        count: int,
        initial: int,
        inertial: bool,
        *,
        switch: int | None = None,
        ease: str = "smooth",
        inertia: bool = False,
        seconds: float = 0.0,
        profile: dict[str, float] | None = None,
    ) -> None:
        self.c, self.at, self.count = c, at, count
        self.memory = c.keep(c.inertia_size) if inertial else -1
        self.first = len(c.builder.rows["states"])
        # Its own row comes before those of machines inside its states.
        self.row = [
            at.number, self.first, count, initial, self.memory, 0, int(switch is not None), switch or 0,
            EASES.index(ease), int(inertia),
            blend_profile(c, profile or {}, "inertia" if inertia else "fade", self.memory, at.path), seconds,
        ]  # fmt: skip
        self.index = c.builder.add("machines", *self.row)
        c.builder.rows["states"] += [(0,) * len(ct.STATE.names or ())] * count
        c.row(at, kind=ct.MACHINE, data=self.index)

    def children(self, sources: list[tuple[Any, str]]) -> list[Part]:
        c, scope = self.c, self.at.scope
        functions = len(c.functions)
        inside = Scope(c.region() if self.memory >= 0 else scope.region, None, scope.additive)
        parts = c.children(self.at, [(node, place, inside) for node, place in sources])
        if len(c.functions) > functions:
            # Inertia starts when the functions inside have run.
            self.row[5] = 2 * len(c.functions)
            c.builder.rows["machines"][self.index] = tuple(self.row)
        return parts

    def state(
        self,
        k: int,
        node: int,
        begin: int = 0,
        count: int = 0,
        clip_times: bool = False,
        careful: bool = False,
        still: bool = False,
    ) -> None:
        """Row k: the node it shows, its transitions, and what these ask for (see `control_tables.STATE`)."""
        row = (node, begin, count, int(clip_times), int(careful), int(still))
        self.c.builder.rows["states"][self.first + k] = row

    def finish(self, parts: list[Part]) -> Part:
        summed = self.c.summed(self.at, parts)
        if self.memory < 0:
            return summed
        # Where inertia starts, four poses lie on the stack, over one of an earlier section, and clips at their
        # beginning take two operations.
        self.c.deepest = max(self.c.deepest, summed.depth + 4)
        self.c.section = max(self.c.section, 8 * summed.length + 8)
        return Part(self.at.number, summed.depth, summed.length + 2, True)
