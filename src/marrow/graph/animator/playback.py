"""`Playback`: clips that are played and cross-faded by name, without a graph of one's own.

It runs the simplest of graphs: a slot over the rest pose, and another over that for additive clips; and once code places
joints, a node for each of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import UnknownNameError, ValidationError
from marrow.graph.animator.live_springs import carry_tuning
from marrow.graph.animator.runtime import AnimatorRuntime
from marrow.graph.animator.thread_guard import exclusive
from marrow.graph.compiled import CompiledGraph
from marrow.graph.compiler import compile_graph
from marrow.graph.control import GraphControl
from marrow.graph.description import Graph
from marrow.graph.nodes import JointOverride, PoseNode, RootMotion, Slot
from marrow.graph.nodes.base import AnyNode
from marrow.kernels import control_tables as ct
from marrow.kernels.memory import readonly
from marrow.model import _validate
from marrow.model._derived import derived
from marrow.model.character import Character

__all__ = ["Playback", "override_joint", "play_with", "playback_graph", "start_clip"]

Array = NDArray[Any]
BODY, ADDITION = "body", "addition"


def playback_graph(character: Character, *, springs: bool = True, constraints: bool = True) -> CompiledGraph:
    """What an animator without a graph runs, compiled once per character, with or without its springs and constraints."""
    compiled: CompiledGraph = derived(
        character,
        f"playback graph {springs} {constraints}",
        lambda: compile_graph(_playback({}, character), character, springs=springs, constraints=constraints),
    )
    return compiled


def _playback(overrides: dict[str, JointOverride], character: Character) -> Graph:
    """The graph of playback by hand. Joints that code places come after those above them."""
    node: AnyNode = Slot(ADDITION, Slot(BODY, PoseNode()), additive=True)
    for override in sorted(overrides.values(), key=lambda o: character.skeleton.index(o.joints[0])):
        node = override.replace(source=node)
    return Graph(RootMotion(node, "keep"), name="playback")


def _player(runtime: AnimatorRuntime) -> GraphControl:
    if runtime.has_graph:
        raise ValidationError(
            "this animator runs a graph: set its parameters, or play clips in its slots; an Animator without a graph plays "
            "clips by hand"
        )
    return runtime.control


def start_clip(
    runtime: AnimatorRuntime,
    clip: str | int | None,
    seconds: float,
    *,
    loop: bool = True,
    speed: float | ArrayLike = 1.0,
    start: float | ArrayLike | None = None,
    instances: ArrayLike | None = None,
) -> None:
    """Starts a clip and fades it in, on top of whatever is playing."""
    control, chosen = _player(runtime), runtime.chosen(instances)
    name = runtime.clip_name(0 if clip is None else clip)
    clips = runtime.character.clips
    if name not in clips:
        raise UnknownNameError("clip", name, clips)
    seconds = _validate.number("cross_fade", "seconds", seconds, low=0)
    here, other = (ADDITION, BODY) if clips[name].additive else (BODY, ADDITION)
    control.play_slot(
        here, name, fade_in=float(seconds), fade_out=0.0, speed=speed, loop=bool(loop), hold=True, start=start,
        queue=False, instances=chosen,
    )  # fmt: skip
    control.stop_slot(other, float(seconds), chosen)
    runtime.take_up(chosen)


def override_joint(runtime: AnimatorRuntime, joint: str, mode: str | None, space: str | None) -> str:
    """Makes sure that playback by hand has a node that overrides a joint so; returns what it is called."""
    control, skeleton = _player(runtime), runtime.character.skeleton
    name = skeleton.names[skeleton.index(joint)]
    called = f"joint {name}"
    known = {e.name: e.override for e in control.compiled.functions if e.override is not None}
    before = known.get(called) or JointOverride(PoseNode(), (name,), name=called)
    wanted = before.replace(
        mode=_validate.one_of("override", "mode", mode or before.mode, ("set", "offset")),
        space=_validate.one_of("override", "space", space or before.space, ("local", "model")),
    )
    if called not in known or wanted != before:
        graph = _playback({**known, called: wanted}, runtime.character)
        constrained = control.compiled.constrained
        made = compile_graph(graph, runtime.character, springs=runtime.springs, constraints=constrained)
        play_with(runtime, made)
    return called


def play_with(runtime: AnimatorRuntime, compiled: CompiledGraph) -> None:
    """Goes on with another graph of playback by hand: its slots are the same, and all they hold."""
    old, tuned = runtime.control, runtime.tuned
    runtime.replace_graph(compiled, None, None, 0.0)
    carry_tuning(runtime, tuned, old.winds)
    control, size = runtime.control, runtime.control.pose_size
    for name, slot in compiled.slots.items():
        k, before = slot.index, old.compiled.slots[name].index
        here, there = (int(c.tables.slots["memory"][i]) for c, i in ((compiled, k), (old.compiled, before)))
        control.memory[:, here : here + size] = old.memory[:, there : there + size]
        for field in ("held", "held_start"):
            control.state.slots[field][:, k] = old.state.slots[field][:, before]
    control.events = old.events
    control.show()


class Playback:
    """What an animator without a graph plays: `animator.play` and `animator.cross_fade` start clips."""

    __slots__ = ("_runtime",)

    def __init__(self, runtime: AnimatorRuntime) -> None:
        self._runtime = runtime

    def next(self, seconds: float = 0.25, *, instances: ArrayLike | None = None) -> str | list[str]:
        """Cross-fades to the clip after the current one, in file order and round (`seconds=0`: at once); returns its
        name, a list for a crowd."""
        return self._step(1, seconds, instances)

    def previous(self, seconds: float = 0.25, *, instances: ArrayLike | None = None) -> str | list[str]:
        """Cross-fades to the clip before the current one; returns its name, a list for a crowd."""
        return self._step(-1, seconds, instances)

    @exclusive()
    def _step(self, by: int, seconds: float, instances: ArrayLike | None) -> str | list[str]:
        runtime = self._runtime
        current = self._current()
        chosen = runtime.chosen(instances)
        runtime.clip_name(0)
        numbers = current["clip"][chosen] - 1
        following = np.where((numbers >= 0) | (by > 0), numbers + by, -1) % len(runtime.character.clips)
        names = [runtime.clip_name(int(k)) for k in following]
        for k in np.unique(following).tolist():
            start_clip(runtime, k, seconds, instances=chosen[following == k])
        return names if runtime.batch else names[0]

    def _current(self) -> Array:
        """What plays, as records of voices `(N,)`: in the slot for additive clips, or else in the other."""
        control = _player(self._runtime)
        addition, body = control.playing(ADDITION), control.playing(BODY)
        return np.where(addition["clip"] > 0, addition, body)

    @property
    def clip(self) -> str | list[str | None] | None:
        """The name of the clip started last (None before the first); a list with `count=`."""
        current = self._current()
        names = [None, *self._runtime.control.compiled.bank.index]
        found = [names[i] for i in current["clip"].tolist()]
        return found if self._runtime.batch else found[0]

    @property
    def clip_index(self) -> int | list[int | None] | None:
        """The number of that clip in file order, as `play` takes it (None before the first); a list with `count=`."""
        found = [int(k) - 1 if k else None for k in self._current()["clip"].tolist()]
        return found if self._runtime.batch else found[0]

    @property
    def time(self) -> float | Array:
        """Where that clip is, in seconds; `(N,)` with `count=`."""
        current = self._current()
        time = np.where(current["clip"] > 0, current["time"], 0.0)
        return readonly(time) if self._runtime.batch else float(time[0])

    @property
    def finished(self) -> bool | Array:
        """Whether a clip played once has reached its end; `(N,)` with `count=`."""
        current = self._current()
        duration = self._runtime.control.compiled.bank.duration[current["clip"]]
        at_end = np.where(current["speed"] < 0, current["time"] <= 0, current["time"] >= duration)
        done = (current["clip"] > 0) & (current["loop"] != ct.LOOPS) & at_end
        return readonly(done) if self._runtime.batch else bool(done[0])

    def __repr__(self) -> str:
        return f"Playback({self.clip!r})"
