"""`StudioActor`: a character in a slot of the studio with the animators that move it, clip by clip or by a
graph."""

from __future__ import annotations

import math
import threading
import zlib
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import skinning_matrices
from marrow.errors import ValidationError
from marrow.graph import Animator, CompiledGraph, Graph, compile_graph
from marrow.graph.ik_places import EffectorPlace
from marrow.graph.inspection import GraphMoment
from marrow.math import affine
from marrow.model import Character, Clip, Pose
from marrow.scene.camera import Camera
from marrow.scene.stand_in import with_stand_in
from marrow.scene.views.stage import PosedEffector
from marrow.studio.assets import DescribedCharacter, MorphWeights, describe, described_again, frame_rate
from marrow.studio.budget import check_character
from marrow.studio.effectors import Effectors
from marrow.studio.frames import CompactGroup, pack_frame
from marrow.studio.graphs import describe_graph
from marrow.studio.levels import LevelPlan, SentGroup
from marrow.studio.shown import rest_box_shown
from marrow.studio.springs import SpringSettings
from marrow.studio.travel import Travel
from marrow.studio.wire import COMPACT_FROM, Wire

if TYPE_CHECKING:
    from marrow.controller import Controller
    from marrow.studio.drawings import PictureDrawing, ViewRequest

__all__ = ["Looks", "Origin", "Picture", "StudioActor"]

Array = NDArray[Any]
WARM_UP_SECONDS = 3.0
MOST_CHANGES = 2000
SPREAD = 0.3
"""How far parameters differ in a crowd that is spread, as a part of their range to either side."""


@dataclass(frozen=True)
class Origin:
    """Where a character and its graph come from, for the code that reproduces what is seen."""

    kind: Literal["file", "sample", "python"]
    name: str
    graph: str | None = None
    """The file of the graph; None with a graph: the sample's own, one that was made here (`graph_text`), or in Python."""
    graph_text: str | None = None
    clips: tuple[str, ...] = ()
    """Files whose clips were added."""


@dataclass(frozen=True)
class Looks:
    """How pages look at the actors: their cameras, how many pixels levels of detail may be off, the level that is forced
    and the instance that was picked (-1: none)."""

    cameras: list[Camera]
    pixels: float
    forced: int
    picked: int


@dataclass(frozen=True, eq=False)
class HeldInstances:
    """Instances whose joints are held at places: their poses `(n, J)` and joints in model space `(n, J, 3, 4)`, and where
    each effector should be, `(n, 3)`."""

    instances: Array
    pose: Pose
    model: Array
    effectors: tuple[PosedEffector, ...]


@dataclass(slots=True)
class Picture:
    """What an actor looks like at one moment, packed for the wire when someone wants it."""

    frame: int
    slot: int
    time: float
    matrices: Array | None
    """Skinning matrices `(N, P, 3, 4)`; None where there are `groups`."""
    channels: Array
    """Weights of the morph channels `(N, M)`."""
    targets: Array
    """Weights of the morph targets `(N, T)`."""
    placements: Array
    palette: int
    actor: StudioActor
    """Whose picture it is."""
    clip: Clip | None = None
    times: Array = field(default_factory=lambda: np.zeros(0))
    """The clip that is played, and where each instance is in it, `(N,)`."""
    groups: list[SentGroup] = field(default_factory=list)
    """Instances by level of detail."""
    wire: Wire | None = None
    """What encodes it for pages that take it compact."""
    held: HeldInstances | None = None
    """Those whose joints are held at places."""
    reaching: tuple[EffectorPlace, ...] = ()
    """Where a graph wants joints to be."""
    moving: bool = True
    """Whether another picture follows by itself."""
    _packed: dict[bool, bytes] = field(default_factory=dict)
    _encoded: dict[tuple[int, bytes], CompactGroup | None] = field(default_factory=dict)
    _drawings: dict[Any, PictureDrawing] = field(default_factory=dict)

    @property
    def many(self) -> list[SentGroup]:
        """The groups of a crowd, which may be sent compact; none of a few."""
        if self.wire is None or self.count < COMPACT_FROM:
            return []
        return self.groups or [SentGroup(0, np.arange(self.count), self._all)]

    @property
    def _all(self) -> Array:
        assert self.matrices is not None
        return self.matrices

    def encoded(self, group: SentGroup, rows: Array) -> CompactGroup | None:
        """Some instances of a group, compact, once for all pages that want the same; None where they cannot be."""
        assert self.wire is not None
        key = (group.level, rows.tobytes())
        if key not in self._encoded:
            self._encoded[key] = self.wire.encode(group, rows, self.targets)
        return self._encoded[key]

    def forget_encoded(self) -> None:
        """What was encoded holds no more: the cube has grown."""
        self._encoded.clear()

    def packed(self, placed: bool) -> bytes:
        """The binary frame, with or without where the instances stand."""
        if placed not in self._packed:
            self._packed[placed] = pack_frame(
                frame=self.frame,
                slot=self.slot,
                time=self.time,
                matrices=self.matrices,
                groups=[(g.level, g.instances, g.matrices) for g in self.groups],
                palette=self.palette,
                morphs=self.targets,
                placements=self.placements if placed else None,
            )
        return self._packed[placed]

    @property
    def count(self) -> int:
        return len(self.channels)

    def drawing(self, request: ViewRequest, other: Character | None) -> PictureDrawing:
        """What views draw of it, once for all pages that want the same."""
        from marrow.studio.drawings import draw_picture

        key = (request, id(other))
        if key not in self._drawings:
            self._drawings[key] = draw_picture(self, request, other)
        return self._drawings[key]

    def of(self, instance: int) -> tuple[int, Array]:
        """The level an instance is shown at, and its matrices for that."""
        for group in self.groups:
            found = np.flatnonzero(group.instances == instance)
            if len(found):
                return group.level, group.matrices[found[0]]
        assert self.matrices is not None
        return 0, self.matrices[instance]


class Steered:
    """How a graph was steered: `first` are its parameters when it was started; then what was set or fired, and when."""

    def __init__(self, first: dict[str, Any] | None = None) -> None:
        self.first = first or {}
        self.changes: deque[tuple[float, str, Any]] = deque()
        """Seconds the graph had run, the parameter, and its value; None for a trigger that was fired."""

    def note(self, at: float, name: str, value: Any) -> None:
        """One more. Of a slider that is dragged, what it is at each picture is enough."""
        last = self.changes[-1] if self.changes else None
        if (
            value is not None
            and last is not None
            and last[1] == name
            and at - last[0] < 1 / 120
            and last[2] is not None
        ):
            self.changes.pop()
        self.changes.append((at, name, value))
        while len(self.changes) > MOST_CHANGES:
            _, old, was = self.changes.popleft()
            if was is not None:
                self.first[old] = was


class StudioActor:
    """A character, its graph if it has one, and how both are played for a crowd of `count`."""

    def __init__(
        self,
        character: Character,
        slot: int,
        origin: Origin,
        *,
        graph: Graph | None = None,
        animator: Any = None,
        controller: Controller | None = None,
    ) -> None:
        check_character(character)
        self.character, self.slot, self.origin = character, slot, origin
        self.graph = graph
        self.compiled: CompiledGraph | None = None
        if graph is not None:
            self.compiled = compile_graph(graph, character)
        self.graph_info = describe_graph(graph, character.skeleton) if graph else None
        self.drawn = with_stand_in(character)
        """What pages draw: the character, or where it has no mesh a body made of its bones. The palette is the same."""
        self._morphs = MorphWeights(self.drawn)
        self.plan = LevelPlan(self.drawn)
        """The levels of detail that pages can draw."""
        self.wire = Wire(self.drawn)
        self._asset: DescribedCharacter | None = None
        self._asset_lock = threading.Lock()
        self._placements = np.zeros((0, 3, 4), np.float32)
        self.stands: Array | None = None
        """Where the instances are, `(N, 3, 4)`, where a scene says so."""
        self.before: Character | None = None
        """The character as it was before its file was exported again."""
        self.mode: Literal["clip", "graph"] = "graph" if graph else "clip"
        self.spread = False
        self._looping = True
        self.range: tuple[float, float] | None = None
        """The part of the clip that is played, None for the whole."""
        self.travel: Travel | None = None
        """Where instances have got to; None while they stay in their places."""
        self.ran = 0.0
        """Seconds the graph has run since it was started."""
        self.steered = Steered()
        """What was changed since, and when."""
        self.springs = SpringSettings()
        """How pages have set what swings."""
        self.controller, self._wish = controller, ((0.0, 0.0), False)
        if controller is not None:
            animator = controller.animator
            self.stands = animator.root.matrices[None].astype(np.float32)
        self.databases = {} if animator is None else animator.matching.databases
        self.animator: Animator = animator or self._new_animator(1)
        self.given = animator is not None and controller is None
        """Whether a program made the animator, and may want to update it itself."""
        self.effectors = Effectors(character, self.count)
        """Joints that are held at places, whatever is played."""
        playing = self.animator.playback.clip if self.mode == "clip" else None
        self.clip: str | None = playing[0] if isinstance(playing, list) else playing
        if not self.given:
            # A first look compiles what later ones need, here rather than in the loop that serves the pages.
            self.animator.evaluation.matrices_and_morphs()

    @property
    def asset(self) -> DescribedCharacter:
        """What the page draws it from, worked out when it is first asked for."""
        with self._asset_lock:
            if self._asset is None:
                self._asset = describe(self.drawn, self.slot, self.graph_info)
            return self._asset

    def take_asset(self, other: StudioActor) -> None:
        """Takes over what pages draw another actor from: a character with the same meshes, and other clips or another
        graph."""
        with other._asset_lock:
            if other._asset is not None:
                self._asset = described_again(other._asset, self.character, self.graph_info)

    @property
    def count(self) -> int:
        return self.animator.count

    # -- what it plays ---------------------------------------------------------------------------------------
    def _new_animator(self, count: int) -> Animator:
        graph = self.compiled if self.mode == "graph" else None
        databases = self.databases if graph is not None else None
        animator = Animator(self.character, graph, count=count, databases=databases)
        self.springs.put_on(animator)
        return animator

    def play(self, clip: str | None, *, start: float = 0.0, seconds: float = 0.0, loop: bool = True) -> None:
        """Plays a clip from `start`, faded in for `seconds`; None shows the rest pose."""
        if self.mode != "clip":
            self.mode = "clip"
            self.animator = self._new_animator(self.count)
        elif self.travel is not None and self.clip is not None and clip != self.clip:
            self.travel.leave(self.character.clips[self.clip], self._times)
        self.clip, self._looping = clip, loop
        if clip is None:
            return
        duration = self.character.clips[clip].duration
        times = np.full(self.count, start)
        if self.spread and loop:
            times += duration * self._variety("time", low=0.0)
        times = np.mod(times, duration) if loop and duration > 0 else np.clip(times, 0.0, duration)
        self.animator.cross_fade(clip, seconds, loop=loop, start=times)

    def run_graph(self, parameters: dict[str, Any]) -> None:
        """Starts the graph over."""
        self.mode, self.clip = "graph", None
        self.ran = 0.0
        self.steered = Steered(dict(parameters))
        played = self.controller if self.count == 1 else None
        self.animator = self._new_animator(self.count) if played is None else played.animator
        self.set_parameters(parameters)
        self.warm_up(0)

    def set_parameters(self, parameters: dict[str, Any]) -> None:
        """Sets parameters for all instances, around the value where the crowd is spread."""
        assert self.graph_info is not None
        known = {p.name: p for p in self.graph_info.parameters}
        for name, value in parameters.items():
            if self.spread and self.count > 1 and known[name].type == "float":
                low, high = known[name].range
                value = np.clip(value + (high - low) * SPREAD * self._variety(name), low, high)
            self.animator[name] = value

    def fire(self, trigger: str) -> None:
        """Pulls a trigger for all instances."""
        self.animator.trigger(trigger)
        self.steered.note(self.ran, trigger, None)

    @property
    def playable(self) -> bool:
        """Whether it goes where it is steered."""
        return self.controller is not None and self.animator is self.controller.animator

    @property
    def wind(self) -> tuple[float, float, float]:
        """The wind that springs feel."""
        x, y, z = self.animator.springs.wind.tolist()
        return x, y, z

    def steer(self, way: tuple[float, float], run: bool, jump: bool) -> None:
        """Where to go from now on, x and z in the world."""
        if self.controller is None or not self.playable:
            raise ValidationError("nobody plays this character: open it with marrow play")
        self._wish = way, run
        if jump:
            self.controller.jump()

    def _variety(self, name: str, low: float = -1.0) -> Array:
        """Numbers from `low` to 1, the same for an instance at all times; the first and last one, which
        panels tell of, have 0."""
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        values = rng.uniform(low, 1.0, self.count)
        values[[0, -1]] = 0.0
        return values

    def warm_up(self, first: int) -> None:
        """Lets instances from `first` on run ahead, each a little differently, so that a crowd is out of
        step."""
        if self.spread and self.count > 1:
            ahead = WARM_UP_SECONDS * self._variety("time", low=0.0)
            ahead[:first] = 0.0
            self.animator.update(ahead)

    def resize(self, count: int, parameters: dict[str, Any], *, loop: bool) -> None:
        """Makes it a crowd of `count`; those who are there go on as they do."""
        had = self.count
        self.effectors.resize(count)
        if count == had:
            return
        if self.travel is not None:
            self.travel.resize(count)
        if self.mode == "graph":
            if np.ndim(self.animator.matrices) == 3:  # made for one character, so it cannot grow
                self.animator, had = self._new_animator(count), 0
            elif count > had:
                self.animator.instances.add(count - had)
            else:
                self.animator.instances.remove(np.arange(count, had))
            self.set_parameters(parameters)
            self.warm_up(had)
        else:
            time = self.time
            self.animator = self._new_animator(count)
            self.play(self.clip, start=time, loop=loop)

    def advance(self, seconds: float) -> None:
        """Moves time on; a graph only goes forward."""
        travel = self.travel
        if self.mode == "graph":
            seconds = max(seconds, 0.0)
            self.ran += seconds
            if self.controller is not None and self.playable:
                way, run = self._wish
                self.controller.move(way, seconds, run=run)
                self.stands = self.animator.root.matrices[None].astype(np.float32)
                return
            self.animator.update(seconds)
            if travel is not None:
                travel.follow_graph(self.animator)
            return
        if self.range is not None and self.clip is not None:
            self._advance_in_range(seconds, self.range)
            return
        before = self._times if travel is not None and self.clip is not None else None
        self.animator.update(seconds)
        if travel is not None and before is not None and self.clip is not None and self.duration > 0:
            rounds = np.rint((before + seconds - self._times) / self.duration).astype(np.int64)
            travel.start_over(self.character.clips[self.clip], rounds)

    def _advance_in_range(self, seconds: float, part: tuple[float, float]) -> None:
        """Time goes round between two moments of the clip, or stops at the last."""
        assert self.clip is not None
        (low, high), times = part, self._times + seconds
        looping = self._looping
        times = low + np.mod(times - low, high - low) if looping else np.clip(times, low, high)
        self.animator.cross_fade(self.clip, 0.0, loop=looping, start=times)

    def set_travel(self, on: bool) -> None:
        """Lets instances go where their motion takes them, from their places; or keeps them there."""
        self.travel = Travel(self.count) if on else None

    @property
    def _times(self) -> Array:
        """Where the clip is, for each instance `(N,)`."""
        return np.reshape(self.animator.playback.time, (-1,)).astype(np.float64)

    @property
    def time(self) -> float:
        """Where the clip is, for the first instance."""
        if self.mode != "clip" or not self.clip:
            return 0.0
        time = self.animator.playback.time
        return time if isinstance(time, float) else float(time[0])

    @property
    def duration(self) -> float:
        return self.character.clips[self.clip].duration if self.mode == "clip" and self.clip else 0.0

    @property
    def begin(self) -> float:
        """Where the part of the clip begins that is played."""
        return self.range[0] if self.range is not None else 0.0

    @property
    def end(self) -> float:
        """Where it ends."""
        return self.range[1] if self.range is not None else self.duration

    @property
    def rate(self) -> float:
        return frame_rate(self.character.clips[self.clip]) if self.mode == "clip" and self.clip else 60.0

    def nearest_clip(self, clip: str | None, position: int) -> str | None:
        """The clip to show beside another character's: of the same name, else at the same place in the
        list."""
        names = list(self.character.clips)
        if clip in names or not names:
            return clip if names else None
        return names[min(max(position, 0), len(names) - 1)]

    # -- what it looks like ----------------------------------------------------------------------------------
    def picture(self, frame: int, time: float, *, looks: Looks | None = None) -> Picture:
        """The moment it is at; a crowd at the levels of detail that those who look at it need."""
        placements = self.placements
        if not self.given:  # a program decides itself
            levels = None
            if looks is not None and self.count > 1:
                levels = self.plan.select(looks.cameras, looks.pixels, placements, looks.forced, looks.picked)
            self.animator.levels = levels
        if self.animator.levels is not None and self.plan.usable:
            return self._picture_by_level(frame, time, placements)
        matrices, channels = self.animator.evaluation.matrices_and_morphs()
        matrices = matrices.reshape(self.count, *matrices.shape[-3:])
        held = self._held()
        if held is not None:
            matrices = matrices.copy()
            matrices[held.instances] = skinning_matrices(self.character.palette, held.model)
        channels = channels.reshape(self.count, channels.shape[-1])
        palette, targets = matrices.shape[1], self.targets_of(channels)
        picture = Picture(
            frame,
            self.slot,
            time,
            matrices,
            channels,
            targets,
            placements,
            palette,
            self,
            wire=self.wire,
            held=held,
        )
        return self._timed(picture)

    def _timed(self, picture: Picture) -> Picture:
        """A picture that knows what is played in it."""
        if self.mode == "graph":
            picture.reaching = self.animator.evaluation.effectors
        if self.mode == "clip" and self.clip:
            picture.clip, picture.times = self.character.clips[self.clip], self._times
        return picture

    def _picture_by_level(self, frame: int, time: float, placements: Array) -> Picture:
        channels = np.zeros((self.count, len(self.character.skeleton.morph_names)), np.float32)
        groups, held = [], self._held()
        for group in self.animator.evaluation.level_groups():
            channels[group.instances] = group.morphs
            matrices = group.matrices
            if held is not None:
                level = self.character.levels[group.level]
                _, mine, theirs = np.intersect1d(group.instances, held.instances, return_indices=True)
                matrices = matrices.copy()
                matrices[mine] = skinning_matrices(level.palette, held.model[theirs, : len(level.skeleton)])
            groups.append(self.plan.group(group.level, group.instances, matrices))
        targets, palette = self.targets_of(channels), len(self.character.palette)
        picture = Picture(
            frame,
            self.slot,
            time,
            None,
            channels,
            targets,
            placements,
            palette,
            self,
            groups=groups,
            wire=self.wire,
            held=held,
        )
        return self._timed(picture)

    def _held(self) -> HeldInstances | None:
        """The instances whose joints are held, as they are then; None where there are none."""
        who = self.effectors.holding
        if not len(who):
            return None
        pose = self.animator.pose
        pose, effectors = self.effectors.solved(pose[who] if pose.batch_shape else pose[None], who)
        model = np.asarray(self.character.skeleton.to_model(pose), np.float32)
        return HeldInstances(who, pose, np.ascontiguousarray(model), effectors)

    @property
    def pose(self) -> Pose:
        """The pose that is shown, `(N, J)` of a crowd; a copy."""
        pose, held = self.animator.pose, self._held()
        out = (pose if pose.batch_shape else pose[None]).copy()
        if held is not None:
            out.translation[held.instances] = held.pose.translation
            out.rotation[held.instances] = held.pose.rotation
        return out if self.count > 1 else out[0]

    def targets_of(self, channels: Array) -> Array:
        """Weights of the morph targets for those of the channels."""
        # Where nothing morphs, channels are as empty as targets.
        return self._morphs.of(channels) if len(self._morphs) else channels[:, :0]

    @property
    def placements(self) -> Array:
        """Where the instances are, `(N, 3, 4)`: in their places, or as far from them as they have travelled."""
        if self.stands is not None and len(self.stands) == self.count:
            return self.stands
        if self.travel is None:
            return self._places
        return affine.multiply(self._places, self.travel.to).astype(np.float32)

    @property
    def _places(self) -> Array:
        """On a grid, the first in the middle, more around it, `(N, 3, 4)`."""
        if len(self._placements) != self.count:
            box = rest_box_shown(self.drawn)
            extent = 1.0 if box is None else float(np.max((box[1] - box[0])[[0, 2]]))
            placed = np.zeros((self.count, 3, 4), np.float32)
            placed[:, [0, 1, 2], [0, 1, 2]] = 1.0
            placed[:, [0, 2], 3] = _rings(self.count) * max(1.1 * extent, 0.05)
            self._placements = placed
        return self._placements

    def moment(self) -> GraphMoment | None:
        """What the graph does; None where there is none, or it cannot be told."""
        if self.mode != "graph" or self.animator.graph is None:
            return None
        return self.animator.evaluation.inspect(self.count - 1)


def _rings(count: int) -> Array:
    """The first `count` points of a grid of step 1, from the middle outward, `(count, 2)`."""
    half = math.ceil((math.sqrt(count) - 1) / 2)
    line = np.arange(-half, half + 1)
    points = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    ring = np.abs(points).max(axis=1)
    around = np.arctan2(points[:, 0], points[:, 1])
    return points[np.lexsort((around, ring))][:count].astype(np.float32)
