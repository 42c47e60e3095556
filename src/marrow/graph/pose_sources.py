"""`PoseSource`: another animator whose poses are shown on this one's body (see `Retarget`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError, WrongTypeError
from marrow.graph.instance_store import InstanceField, InstanceStore
from marrow.math import quaternion
from marrow.model.character import Character
from marrow.model.pose import Pose
from marrow.printing import warn

if TYPE_CHECKING:
    from marrow.graph.animator.animator import Animator
    from marrow.graph.compiled import CompiledGraph, FunctionEntry
    from marrow.graph.control import GraphControl
    from marrow.graph.nodes.function import FunctionCall

__all__ = ["PoseSource", "bound_sources", "follow_roots", "keep_roots"]

Array = NDArray[Any]


class PoseSource:
    """Calls for the poses of an animator, on another body; and how far its instances have gone since they were seen."""

    def __init__(self, entry: FunctionEntry, animator: Animator, character: Character, count: int) -> None:
        from marrow.motion.bone_map import RetargetError
        from marrow.motion.pose_transfer import transfer_of
        from marrow.motion.retarget import Retargeter

        self.entry, self.animator = entry, animator
        self._check(count)
        names = (animator.character.name or entry.name, character.name or "the character")
        try:
            self.tool = Retargeter(animator.character, character, names=names)
            self.transfer = transfer_of(self.tool)
        except RetargetError as error:
            raise ValidationError(f"{entry.path}: {error}") from None
        for line in self.tool.report:
            if line.kind in ("warning", "dropped"):
                warn(f"{entry.path}: {line.message}")

    def _check(self, count: int) -> None:
        theirs = self.animator.count
        if theirs not in (1, count):
            raise ValidationError(
                f"{self.entry.path}: the source {self.entry.name!r} has {theirs} instances, and there are {count} to "
                "follow it: it must have 1, or as many"
            )

    def __call__(self, pose: Pose, call: FunctionCall) -> Pose:
        return self.poses(call.instances)

    def poses(self, instances: Array, threads: int | None = None) -> Pose:
        """The poses of the source on this body, of the instances that see the node."""
        theirs = self.animator.pose
        if not theirs.batch_shape:
            theirs = theirs[None]
        if len(theirs) == 1:
            return self.transfer.run(theirs, threads)[np.zeros(len(instances), np.int64)]
        if len(instances) and instances[-1] >= len(theirs):
            self._check(int(instances[-1]) + 1)
        return self.transfer.run(theirs if len(instances) == len(theirs) else theirs[instances], threads)

    def roots(self, count: int) -> Array:
        """Where those that so many instances follow are in the world: translations and rotations `(N, 7)`."""
        root = self.animator.root
        places = np.concatenate([root.translation, root.rotation], axis=-1, dtype=np.float64)
        return np.array(np.broadcast_to(places.reshape(-1, 7), (count, 7)))

    def newcomers(self, count: int, behind: int) -> Array:
        """The same of `count` new ones behind so many others; not a number where those they follow are still to come."""
        theirs = self.animator.count
        if theirs not in (1, behind + count):
            return np.full((count, 7), np.nan)
        return self.roots(behind + count)[behind:]

    def travel(self, before: Array) -> tuple[Array, Array]:
        """How far the source's instances have gone since they were seen at `before (N, 7)`, each in its own frame, as this
        body goes: translations and rotations `(N, 7)`; and where they are now."""
        self._check(len(before))
        now = self.roots(len(before))
        before = np.where(np.isnan(before), now, before)
        back = quaternion.conjugate(before[:, 3:])
        way, turn = quaternion.rotate(back, now[:, :3] - before[:, :3]), quaternion.multiply(back, now[:, 3:])
        world = self.transfer.world
        way = quaternion.rotate(world, way) * (1.0 if self.tool.exact else self.tool.scale)
        turn = quaternion.multiply(quaternion.multiply(world, turn), quaternion.conjugate(world))
        return np.concatenate([way, turn], axis=1), now


def bound_sources(
    compiled: CompiledGraph, sources: Mapping[str, Any] | None, count: int
) -> dict[str, PoseSource]:
    """The animator of every `Retarget` node, by the path of the node."""
    from marrow.graph.animator.animator import Animator

    if sources is not None and not isinstance(sources, Mapping):
        raise WrongTypeError(f"sources: expected animators by name, got {type(sources).__name__}")
    given = dict(sources or {})
    found = {}
    for entry in compiled.functions:
        if entry.source is None:
            continue
        name = entry.source.name
        if name not in given:
            raise ValidationError(
                f"{entry.path}: the graph shows the poses of {name!r}: give that animator with "
                f"mw.Animator(character, graph, sources={{{name!r}: ...}})"
            )
        if not isinstance(given[name], Animator):
            raise WrongTypeError(f"sources: {name!r} must be an Animator, got {type(given[name]).__name__}")
        found[entry.path] = PoseSource(entry, given[name], compiled.character, count)
    unused = sorted(given.keys() - {e.source.name for e in compiled.functions if e.source is not None})
    if unused:
        raise ValidationError(f"sources: no node of the graph shows {unused[0]!r}")
    return found


def keep_roots(store: InstanceStore, sources: Mapping[str, PoseSource]) -> None:
    """Each instance has, from now on, where the one it follows was when it was seen last."""

    def begin(count: int, store: InstanceStore) -> dict[str, Array]:
        return {path: source.newcomers(count, store.count) for path, source in sources.items()}

    def check(followed: Any, _: Any) -> None:
        if not isinstance(followed, dict) or followed.keys() != sources.keys():
            raise ValidationError("restore: the snapshot follows other animators")
        if any(np.shape(rows)[1:] != (7,) for rows in followed.values()):
            raise ValidationError("restore: the snapshot's places of other animators have another size")

    seen = {path: source.roots(store.count) for path, source in sources.items()}
    store.register("followed", seen, InstanceField(begin, lambda old, new: old, check, of_graph=True))


def follow_roots(control: GraphControl, sources: Mapping[str, PoseSource]) -> None:
    """After an update: instances go where those of their source have gone."""
    followed = control.store.followed
    for path, source in sources.items():
        assert source.entry.source is not None
        if not source.entry.source.travels:
            continue
        (way, followed[path]), state = source.travel(followed[path]), control.state
        control.store.travel[:] = way
        state.place[:, :3] += quaternion.rotate(state.place[:, 3:], way[:, :3])
        state.place[:, 3:] = quaternion.normalize(quaternion.multiply(state.place[:, 3:], way[:, 3:]))
