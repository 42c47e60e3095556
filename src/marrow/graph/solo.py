"""`SoloPlayback`: the part of an animator that plays and cross-fades clips by name, without a graph of one's own.

It runs the simplest of graphs: a slot over the rest pose, and another over that for additive clips; and once code places
joints, a node for each of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import UnknownNameError, ValidationError
from marrow.graph.alone import alone
from marrow.graph.animator_core import AnimatorCore
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

__all__ = ["SoloPlayback", "solo_graph"]

Array = NDArray[Any]
BODY, ADDITION = "body", "addition"


def solo_graph(character: Character) -> CompiledGraph:
    """What an animator without a graph runs, compiled once per character."""
    compiled: CompiledGraph = derived(
        character, "solo graph", lambda: compile_graph(_playback({}, character), character)
    )
    return compiled


def _playback(overrides: dict[str, JointOverride], character: Character) -> Graph:
    """The graph of playback by hand. Joints that code places come after those above them."""
    node: AnyNode = Slot(ADDITION, Slot(BODY, PoseNode()), additive=True)
    for override in sorted(overrides.values(), key=lambda o: character.skeleton.index(o.joints[0])):
        node = override.replace(source=node)
    return Graph(RootMotion(node, "keep"), name="playback")


class SoloPlayback(AnimatorCore):
    """Playback by hand. An animator with a graph moves by its graph instead."""

    def _player(self) -> GraphControl:
        if not self._solo:
            raise ValidationError(
                "this animator runs a graph: set its parameters, or use play_slot; an Animator without a graph plays clips"
            )
        return self._control

    def _override_joint(self, joint: str, mode: str | None, space: str | None) -> str:
        control, skeleton = self._player(), self.character.skeleton
        name = skeleton.names[skeleton.index(joint)]
        called = f"joint {name}"
        known = {e.name: e.override for e in control.compiled.functions if e.override is not None}
        before = known.get(called) or JointOverride(PoseNode(), (name,), name=called)
        wanted = before.replace(
            mode=_validate.one_of("override", "mode", mode or before.mode, ("set", "offset")),
            space=_validate.one_of("override", "space", space or before.space, ("local", "model")),
        )
        if called not in known or wanted != before:
            graph = _playback({**known, called: wanted}, self.character)
            self._play_with(compile_graph(graph, self.character))
        return called

    def _play_with(self, compiled: CompiledGraph) -> None:
        """Goes on with another graph of playback by hand: its slots are the same, and all they hold."""
        old = self._control
        self._go_on_with(compiled, None, 0.0)
        control, size = self._control, self._control.pose_size
        for name, slot in compiled.slots.items():
            k, before = slot.index, old.compiled.slots[name].index
            here, there = (
                int(c.tables.slots["memory"][i]) for c, i in ((compiled, k), (old.compiled, before))
            )
            control.memory[:, here : here + size] = old.memory[:, there : there + size]
            for field in ("held", "held_start"):
                control.state.slots[field][:, k] = old.state.slots[field][:, before]
        control.events, control.store.lasting = old.events, old.store.lasting
        control.show()

    def play(
        self,
        clip: str | int | None = None,
        *,
        loop: bool = True,
        speed: float | ArrayLike = 1.0,
        start: float | ArrayLike | None = None,
        instances: ArrayLike | None = None,
    ) -> None:
        """Starts a clip at once (by name, or by number in file order; the first one when left out). `loop=False` plays
        it once and holds its end; `start` is where it begins, in seconds (left out: at its beginning, or at its end where
        `speed` is negative); `instances` picks who does. An additive clip plays over the rest pose."""
        self.cross_fade(clip, 0.0, loop=loop, speed=speed, start=start, instances=instances)

    @alone()
    def cross_fade(
        self,
        clip: str | int | None = None,
        seconds: float = 0.25,
        *,
        loop: bool = True,
        speed: float | ArrayLike = 1.0,
        start: float | ArrayLike | None = None,
        instances: ArrayLike | None = None,
    ) -> None:
        """Starts a clip and fades it in over `seconds`, on top of whatever is playing, fades included."""
        control, chosen = self._player(), self._chosen(instances)
        name = clip if isinstance(clip, str) else self._clip_name(0 if clip is None else clip)
        if name not in self.character.clips:
            raise UnknownNameError("clip", name, self.character.clips)
        seconds = _validate.number("cross_fade", "seconds", seconds, low=0)
        here, other = (ADDITION, BODY) if self.character.clips[name].additive else (BODY, ADDITION)
        control.play_slot(
            here, name, fade_in=float(seconds), fade_out=0.0, speed=speed, loop=bool(loop), hold=True, start=start,
            queue=False, instances=chosen,
        )  # fmt: skip
        control.stop_slot(other, float(seconds), chosen)
        self._take_up(chosen)

    def next_clip(self, seconds: float = 0.25, *, instances: ArrayLike | None = None) -> str | list[str]:
        """Cross-fades to the clip after the current one, in file order and round (`seconds=0`: at once); returns its name,
        a list for a crowd."""
        return self._step(1, seconds, instances)

    def previous_clip(self, seconds: float = 0.25, *, instances: ArrayLike | None = None) -> str | list[str]:
        """Cross-fades to the clip before the current one; returns its name, a list for a crowd."""
        return self._step(-1, seconds, instances)

    def _step(self, by: int, seconds: float, instances: ArrayLike | None) -> str | list[str]:
        self._player()
        chosen = self._chosen(instances)
        self._clip_name(0)
        current = self._current()["clip"][chosen] - 1
        count = len(self.character.clips)
        following = np.where((current >= 0) | (by > 0), current + by, -1) % count
        names = [self._clip_name(int(k)) for k in following]
        for k in np.unique(following).tolist():
            self.cross_fade(self._clip_name(k), seconds, instances=chosen[following == k])
        return names if self._batch else names[0]

    def _current(self) -> Array:
        """What plays, as records of voices `(N,)`: in the slot for additive clips, or else in the other."""
        control = self._player()
        addition, body = control.playing(ADDITION), control.playing(BODY)
        return np.where(addition["clip"] > 0, addition, body)

    @property
    def clip(self) -> str | list[str | None] | None:
        """The name of the clip started last (None before the first); a list with `count=`."""
        names = [None, *self._player().compiled.bank.index]
        found = [names[i] for i in self._current()["clip"].tolist()]
        return found if self._batch else found[0]

    @property
    def clip_index(self) -> int | list[int | None] | None:
        """The number of that clip in file order, as `play` takes it (None before the first); a list with `count=`."""
        found = [int(k) - 1 if k else None for k in self._current()["clip"].tolist()]
        return found if self._batch else found[0]

    @property
    def time(self) -> float | Array:
        """Where that clip is, in seconds; `(N,)` with `count=`."""
        current = self._current()
        time = np.where(current["clip"] > 0, current["time"], 0.0)
        return readonly(time) if self._batch else float(time[0])

    @property
    def finished(self) -> bool | Array:
        """Whether a clip played once has reached its end; `(N,)` with `count=`."""
        current = self._current()
        duration = self._player().compiled.bank.duration[current["clip"]]
        at_end = np.where(current["speed"] < 0, current["time"] <= 0, current["time"] >= duration)
        done = (current["clip"] > 0) & (current["loop"] != ct.LOOPS) & at_end
        return readonly(done) if self._batch else bool(done[0])
