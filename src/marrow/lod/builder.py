"""`mw.lod.build`: a character with levels of detail."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from marrow.display.progress import shown_progress
from marrow.errors import ValidationError, told_at_the_call
from marrow.lod.arguments import Wishes, wishes_of
from marrow.lod.assembly import assembled, mapped_parts
from marrow.lod.clip_poses import ClipPoses, at_rest
from marrow.lod.error_metric import Distance, ErrorMetric
from marrow.lod.joint_removal import moved_weights, removal_order, reordered
from marrow.lod.meshoptimizer import MeshPart, Pool, drawn_parts
from marrow.lod.seams import CLOSED
from marrow.lod.simplification import ROUNDS, Simplifier
from marrow.model import Character, Level, Lod, Mesh, _validate, limit_influences
from marrow.model.level import joint_map, prefix_skeleton
from marrow.report import ReportBuilder
from marrow.skinning.vertex_budget import check_vertices

__all__ = ["build", "measured", "settings"]

Array = NDArray[Any]
Progress = Callable[[str, float], None]
MOST_VERTICES = 500_000
"""Vertices of a character, over all meshes that share them."""
TOO_FEW, TOO_FAR = 0.5, 0.2
"""A level with less than this part of the triangles it may have, or that is off by more than this part of the size, is a
warning."""
MEASURED = 16
"""Poses that joints are weighed in."""


@told_at_the_call
def build(
    character: Character,
    triangles: Sequence[float | int] | None = None,
    *,
    error: Sequence[float] | None = None,
    joints: Sequence[int | Iterable[str] | None] | None = None,
    influences: Sequence[int | None] | None = None,
    keep: Iterable[str] | Mapping[int, Iterable[str]] = (),
    remove: Iterable[str] | Mapping[int, Iterable[str]] = (),
    materials: Mapping[int, Mapping[str | int, str | int | None]] | None = None,
    poses: bool = True,
    measure: bool = True,
    progress: Progress | Literal[False] | None = None,
) -> Character:
    """The character with levels of detail: one for each entry of `triangles`, `error`, `joints` or `influences`.

    - `triangles`: how many each level has, as a part of all (`0.4`) or as a number (`2000`); or `error`: how far each
      may be off at worst, in metres, and the triangles that needs are found
    - `joints`: how many each level has, or their names (what is above them stays too); those that move the surface
      least over the clips go first. `keep` and `remove` overrule that, for all levels or by level: `{2: ["head"]}`
    - `influences`: the most joints that move a vertex
    - `materials`: sections drawn with another material, or not at all, from a level on: `{2: {"glass": "body",
      "dust": None}}`

    Vertices of a level are vertices of the character, with all they have. `poses=False` reduces without looking at
    the clips. `measure=False` leaves out the error, which takes most of the time. Joints come out in another order
    where some go (see `docs/lod.md`). `progress(what, part)` is called as the work goes on; left out, a call that takes
    long shows by itself how far it is, and with False nothing. What was asked for is kept with each level
    (`level.lod.reduction`); `mw.lod.settings(character)` are the arguments to ask for it again.
    """
    poses, measure = (_validate.flag("lod.build", n, v) for n, v in (("poses", poses), ("measure", measure)))
    wishes = wishes_of(character, triangles, error, joints, influences, keep, remove, materials, poses)
    if progress not in (None, False) and not callable(progress):
        raise ValidationError(f"lod.build: progress must be a function, got {_validate.shown(progress)}")
    check_vertices("lod.build", character, MOST_VERTICES)
    if progress:
        return _built(character, wishes, poses, measure, progress)
    with shown_progress(f"levels of {character.name}", False if progress is False else None) as step:
        return _built(
            character,
            wishes,
            poses,
            measure,
            lambda _, part: step(round(part * wishes.levels), wishes.levels),
        )


def _built(character: Character, wishes: Wishes, poses: bool, measure: bool, tell: Progress) -> Character:
    tell("poses", 0.0)
    motion = ClipPoses(character)
    counts, ordered = _fewer_joints(character, motion, wishes)
    if ordered is not character:
        character, motion = ordered, ClipPoses(ordered)
    learned = motion if poses else ClipPoses(character, clips=False)
    levels: list[Level] = []
    off: dict[int, int | None] = {}
    metric = ErrorMetric(character, motion)
    for k in range(wishes.levels):
        tell(f"level {k + 1}", k / wishes.levels)
        off = {**off, **wishes.materials.get(k + 1, {})}
        parts = mapped_parts(drawn_parts(character), off)
        hidden = {m for m, to in off.items() if to is None}
        if hidden:
            seen = _without(character, hidden)
            metric = ErrorMetric(character, motion, seen)
        levels.append(_Maker(character, counts[k], wishes, k, parts, learned, metric).level(measure))
    tell("done", 1.0)
    size = metric.size()
    lod = Lod.of(character.meshes, len(character.skeleton), error=0.0, mean_error=0.0, size=size)
    return character.replace(reduced=tuple(levels), lod=lod)


def settings(character: Character) -> dict[str, Any]:
    """The arguments of `mw.lod.build` that made the levels of a character: to make them anew, of another mesh or with other
    clips. `mw.lod.build(edited, **mw.lod.settings(hero))`"""
    _validate.instance("lod.settings", "character", character, Character)
    asked = [level.lod.reduction for level in character.reduced]
    if not asked or None in asked:
        raise ValidationError(
            f"lod.settings: it is not known how the levels of {character.name!r} were made"
            if asked
            else f"lod.settings: {character.name!r} has no levels of detail"
        )
    known = [r for r in asked if r is not None]
    found: dict[str, Any] = {
        name: [getattr(r, name) for r in known] for name in ("triangles", "error", "joints", "influences")
    }
    found = {name: values for name, values in found.items() if any(v is not None for v in values)}
    for name in ("keep", "remove"):
        found[name] = {k: list(getattr(r, name)) for k, r in enumerate(known, 1) if getattr(r, name)}
    found["materials"] = {k: dict(r.materials) for k, r in enumerate(known, 1) if r.materials}
    return {**found, "poses": known[0].poses}


def measured(character: Character) -> Character:
    """The character with the errors of its levels measured over its clips: for levels that came with a file, or after
    clips were added."""
    _validate.instance("lod.measured", "character", character, Character)
    metric = ErrorMetric(character, ClipPoses(character))
    levels = []
    for level, whole in zip(character.reduced, character.levels[1:]):
        found = metric.distance(whole)
        lod = replace(level.lod, error=found.worst, mean_error=found.mean, size=metric.size())
        levels.append(Level(level.meshes, lod, level.report))
    lod = replace(character.lod, size=metric.size())
    return character.replace(reduced=tuple(levels), lod=lod)


def _without(character: Character, hidden: set[int]) -> Array:
    parts = [p for p in drawn_parts(character) if p.material not in hidden]
    pieces = [p.triangles.astype(np.int64) + character.vertex_offsets[p.mesh] for p in parts]
    return np.concatenate([*pieces, np.zeros((0, 3), np.int64)])


def _fewer_joints(character: Character, motion: ClipPoses, wishes: Wishes) -> tuple[list[int], Character]:
    """How many joints each level has, and the character with its joints in the order that needs."""
    J = len(character.skeleton)
    if not wishes.reduces_joints:
        return [J] * wishes.levels, character
    stays: list[set[int]] = []
    now = set(range(J))
    for k in range(wishes.levels):
        gone = {int(d) for j in wishes.remove[k] for d in character.skeleton.descendants(j)}
        clash = gone & {a for j in wishes.keep[k] for a in (j, *character.skeleton.ancestors(j))}
        if clash:
            name = character.skeleton.names[min(clash)]
            raise ValidationError(f"lod.build: level {k + 1} cannot keep {name!r} and remove it")
        now = now - gone
        wanted = wishes.joints[k]
        if isinstance(wanted, frozenset):
            named = {a for j in wanted | wishes.keep[k] for a in (j, *character.skeleton.ancestors(j))}
            now = now & named
        elif wanted is not None:
            poses = motion.poses[motion.diverse(MEASURED)]
            held = {j for later in wishes.keep[k:] for j in later}
            held |= {j for later in wishes.joints[k:] if isinstance(later, frozenset) for j in later}
            order, _ = removal_order(character, poses, held & now, gone=set(range(J)) - now)
            for j in order:
                if len(now) <= wanted:
                    break
                now = now - {j}
        stays.append(now)
    if not now:
        raise ValidationError("lod.build: at least one joint must stay")
    rank = np.array([sum(j in s for s in stays) for j in range(J)])
    return [len(s) for s in stays], reordered(character, np.argsort(-rank, kind="stable"))


class _Maker:
    """One level in the making."""

    def __init__(
        self, character: Character, joints: int, wishes: Wishes, number: int, parts: list[MeshPart], learned: ClipPoses,
        metric: ErrorMetric,
    ) -> None:  # fmt: skip
        self.character, self.joints, self.metric = character, joints, metric
        self.report = ReportBuilder()
        self.count, self.error = wishes.triangles[number], wishes.error[number]
        self.asked = wishes.asked[number]
        mapped = joint_map(character.skeleton.parents, joints)
        self.meshes = tuple(self._skinned(m, mapped, wishes.influences[number]) for m in character.meshes)
        skeleton = prefix_skeleton(character.skeleton, joints)
        self.whole = Character(skeleton, self.meshes, materials=character.materials, images=character.images)
        self.pool = Pool(parts, character.vertex_offsets, at_rest(self.whole))
        self.simplifier: Simplifier | None = None
        self._learned = learned

    def _skinned(self, mesh: Mesh, mapped: Array, influences: int | None) -> Mesh:
        moved = moved_weights(mesh, self.character.skeleton, mapped)
        return moved if influences is None else limit_influences(moved, influences).mesh

    def level(self, measure: bool) -> Level:
        total = len(self.pool.triangles)
        distance: Distance | None
        if self.error is not None:
            meshes, distance = self._within(self.error)
        else:
            count = total if self.count is None else max(1, min(total, self.count))
            meshes = self._cut(count)
            distance = self._distance(meshes) if measure else None
        figures = {} if distance is None else {"error": distance.worst, "mean_error": distance.mean}
        self._warn(meshes, distance)
        lod = Lod.of(meshes, self.joints, size=self.metric.size(), reduction=self.asked, **figures)
        return Level(meshes, lod, self.report.build())

    def _warn(self, meshes: tuple[Mesh, ...], distance: Distance | None) -> None:
        """Says where a level is no longer what it stands for."""
        left, size = sum(m.triangle_count for m in meshes), self.metric.size()
        if (
            self.count is not None
            and self.error is None
            and left < TOO_FEW * min(self.count, len(self.pool.triangles))
        ):
            self.report.add(
                "warning", "triangles", f"{left} are left, {self.count} were asked for: pieces have vanished"
            )
        if distance is not None and distance.worst > TOO_FAR * size > 0:
            self.report.add(
                "warning", "error", f"it is off by {distance.worst / size:.0%} of the character's size: ask for more "
                "triangles, or show it from far away only",
            )  # fmt: skip

    def _cut(self, count: int, rounds: int = ROUNDS) -> tuple[Mesh, ...]:
        pool = self.pool
        if count >= len(pool.triangles):
            chosen = pool.triangles
        else:
            if self.simplifier is None:
                self.simplifier = Simplifier(self.whole, pool, self._learned)
            chosen = self.simplifier.cut(count, rounds)
        self.report = ReportBuilder()
        if self.simplifier is not None and self.simplifier.closed:
            self.report.add(
                "info", "seams", f"{CLOSED[self.simplifier.closed]}, which left too many triangles"
            )
        if len(chosen) > max(1.1 * count, count + 8):
            self.report.add(
                "warning", "triangles", f"{len(chosen)} are left, {count} were asked for: no more can go"
            )
        return assembled(self.meshes, self.character.vertex_offsets, pool.split(chosen), self.report)

    def _distance(self, meshes: tuple[Mesh, ...]) -> Distance:
        level = Character(
            self.whole.skeleton, meshes, materials=self.character.materials, images=self.character.images
        )
        return self.metric.distance(level)

    def _within(self, error: float) -> tuple[tuple[Mesh, ...], Distance]:
        """As few triangles as stay within an error."""
        total = len(self.pool.triangles)
        low, high = 1, total
        meshes = self._cut(total)
        distance, report = self._distance(meshes), self.report
        if distance.worst > error:
            report.add(
                "warning", "error", f"{distance.worst:.4g} m with all triangles: joints or influences cost more than "
                f"the {error:g} m asked for",
            )  # fmt: skip
            return meshes, distance
        found = (meshes, distance, report)
        while high > low * 1.06 + 1:
            middle = int((low * high) ** 0.5)
            meshes = self._cut(middle)
            distance = self._distance(meshes)
            if distance.worst <= error:
                high, found = middle, (meshes, distance, self.report)
            else:
                low = middle
        meshes, distance, self.report = found
        return meshes, distance
