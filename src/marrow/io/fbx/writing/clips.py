"""Clips as animation stacks: a layer each, a curve node for every property that moves in any clip."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.visibility import VISIBILITY
from marrow.io.fbx.keyed_properties import SHOWN
from marrow.io.fbx.writing.cameras import AttributeWriter
from marrow.io.fbx.writing.curves import (
    CONSTANT,
    LINEAR,
    CurveKeys,
    CurveWriter,
    KeyedProperty,
    rising,
    still_keys,
    turned_tracks,
    vector_keys,
)
from marrow.io.fbx.writing.document import TICKS, FbxDocument, Take
from marrow.io.fbx.writing.eulers import best_order, unrolled_keys
from marrow.io.fbx.writing.nodes import Turning
from marrow.io.fbx.writing.properties import Properties
from marrow.io.fbx.writing.rig import FbxRig
from marrow.io.losses import Losses
from marrow.math import quaternion
from marrow.model import Character, Clip, Curve, Pose, Track
from marrow.model._derived import derived
from marrow.model.clip import Path

__all__ = ["ClipWriter", "effective_tracks", "moved_properties", "turning"]

Array = NDArray[Any]
_LOCAL: dict[str, tuple[str, str]] = {
    "translation": ("T", "Lcl Translation"),
    "rotation": ("R", "Lcl Rotation"),
    "scale": ("S", "Lcl Scaling"),
}
Property = tuple[Path, int]


def effective_tracks(clip: Clip) -> dict[Property, Track]:
    """The track of each property that counts: of two the later one."""
    found: dict[Property, Track] = derived(
        clip, "effective tracks", lambda: {(t.path, t.target): t for t in clip.tracks}
    )
    return found


def moved_properties(character: Character) -> dict[Property, None]:
    """The properties that some clip has elsewhere than at rest."""
    rest = character.skeleton.rest
    found: dict[Property, None] = {}
    for clip in character.clips.values():
        for key, track in effective_tracks(clip).items():
            path, target = key
            if key in found:
                continue
            value = rest.morphs[target] if path == "morph" else getattr(rest, path)[target]
            values, bends = track.values, False
            if track.interpolation == "cubic":
                values, bends = values[:, 1], bool(values[:, ::2].any())
            if clip.additive or bends or bool((values != value).any()):
                found[key] = None
    return found


def turning(character: Character, rig: FbxRig, moved: Collection[Property]) -> Turning:
    """What comes before the angles of each joint, and their order: angles are counted from the rest pose, where they are
    small and far from the poles."""
    J = len(character.skeleton)
    rest = quaternion.normalize(character.skeleton.rest.rotation.astype(np.float64))
    turned, joint, values = np.zeros(J, bool), [], []
    counts = []
    for clip in character.clips.values():
        for (path, j), track in effective_tracks(clip).items():
            if path == "rotation" and (path, j) in moved:
                turned[j] = True
                values.append(track.values[:, 1] if track.interpolation == "cubic" else track.values)
                joint.append(j)
                counts.append(len(track.values))
    identity = np.array([0.0, 0.0, 0.0, 1.0])
    before = np.where((turned | rig.bones)[:, None], rest, identity)
    order = np.zeros(J, np.int64)
    if joint:
        goes_on = np.ones(sum(counts), np.int8)
        goes_on[np.cumsum(counts) - 1] = 0
        order = best_order(np.concatenate(values), np.repeat(joint, counts), goes_on, before)
    return Turning(before, order)


@dataclass
class ClipWriter:
    """Writes the clips of a character. `nodes` are the numbers of the joints' nodes (0: none), `channels` the blend shape
    channels of each morph channel."""

    document: FbxDocument
    character: Character
    rig: FbxRig
    turns: Turning
    nodes: list[int]
    channels: dict[int, list[int]]
    moved: dict[Property, None]
    losses: Losses
    holder: int
    attributes: AttributeWriter
    properties: dict[str, float] = field(default_factory=dict)
    error: float = 0.0
    chord: float = 0.0

    def write(self) -> None:
        """Writes all clips."""
        clips = list(self.character.clips.values())
        tracks = [effective_tracks(clip) for clip in clips]
        moved = dict(self.moved)
        scale = self.character.skeleton.rest.scale
        mirrored = [j for j in range(len(scale)) if (scale[j] < 0).any() and self.rig.moving[j]]
        # Programs that take a mirrored rest apart may find another rotation in it than the one meant here.
        for j in mirrored:
            moved |= {("translation", j): None, ("rotation", j): None, ("scale", j): None}
        curves = CurveWriter(self.document)
        for clip, found in zip(clips, tracks):
            self._clip(clip, found, list(moved), curves)
        curves.close()
        if self.error > 1e-5:
            self.losses.add("clips", "angles are up to {} rad off the rotations they stand for", self.error)
        if self.chord > 1e-5:
            self.losses.add(
                "clips",
                "cubic rotations: programs that draw straight lines between keys are up to {} rad off; rate= adds keys",
                self.chord,
            )

    def _clip(
        self, clip: Clip, found: dict[Property, Track], moved: list[Property], curves: CurveWriter
    ) -> None:
        stack, record = self.document.object("AnimationStack", clip.name, "", "AnimStack")
        begin, end = (round(t * TICKS) for t in (clip.start, clip.start + clip.duration))
        props = Properties(record)
        for name, ticks in (
            ("LocalStart", begin),
            ("LocalStop", end),
            ("ReferenceStart", begin),
            ("ReferenceStop", end),
        ):
            props.time(name, ticks)
        layer, _ = self.document.object("AnimationLayer", "BaseLayer", "", "AnimLayer")
        self.document.connect(layer, stack)
        self.document.takes.append(Take(clip.name, begin, end))
        turned = [key for key in moved if key[0] == "rotation" and key in found]
        angles = turned_tracks([found[key] for key in turned], self.turns.before, self.turns.order)
        self.error, self.chord = max(self.error, angles.error), max(self.chord, angles.chord)
        made = dict(zip(turned, angles.keys))
        rest = self._rest(clip.additive)
        keys = {
            key: made.get(key)
            or (
                vector_keys(found[key], self._factor(key[0]))
                if key in found
                else still_keys(rest[key[0]][key[1]])
            )
            for key in moved
        }
        self._hold_to_end(clip, keys)
        written = [one for key, found_keys in keys.items() for one in self._keyed(key, found_keys)]
        curves.write(layer, [*written, *self._curves(clip)], clip.start)
        self._losses(clip, found)

    def _factor(self, path: Path) -> float:
        return {"translation": self.document.space.scale, "morph": 100.0}.get(path, 1.0)

    def _rest(self, additive: bool) -> dict[Path, Array]:
        """The values of all properties at rest, as the file has them; in a clip of differences, what changes nothing."""
        rest = self.character.skeleton.rest
        if additive:
            rest = Pose.identity(len(self.nodes), rest.morph_count)
        relative = quaternion.multiply(
            quaternion.conjugate(self.turns.before), quaternion.normalize(rest.rotation.astype(np.float64))
        )
        return {
            "translation": rest.translation.astype(np.float64) * self._factor("translation"),
            "rotation": unrolled_keys(relative, self.turns.order, np.arange(len(relative))),
            "scale": rest.scale,
            "morph": rest.morphs.astype(np.float64)[:, None] * self._factor("morph"),
        }

    def _hold_to_end(self, clip: Clip, keys: dict[Property, CurveKeys]) -> None:
        """A clip lasts as long as it does: one property gets a key at its end where all stop before it."""
        end = clip.duration - 1e-6
        if any(k.times[-1] >= end and k.last_written >= end for k in keys.values()):
            return
        joint = next(j for j, node in enumerate(self.nodes) if node)
        spare: Property = ("translation", joint)
        key = next((k for k in keys if k[0] != "morph" and self.nodes[k[1]]), spare)
        if key not in keys:
            keys[key] = still_keys(self._rest(clip.additive)["translation"][joint])
        old = keys[key]
        if clip.duration <= old.times[-1]:
            keys[key] = replace(old, whole=True)
        else:
            slopes = (
                None if old.slopes is None else np.concatenate([old.slopes, np.zeros_like(old.slopes[:1])])
            )
            kind = np.concatenate([old.kind, np.full_like(old.kind[:1], LINEAR)])
            kind[-2] = np.where(kind[-2] == CONSTANT, CONSTANT, LINEAR)
            keys[key] = CurveKeys(
                np.append(old.times, float(clip.duration)),
                np.concatenate([old.values, old.values[-1:]]),
                kind,
                slopes,
                whole=True,
            )

    def _keyed(self, key: Property, keys: CurveKeys) -> list[KeyedProperty]:
        path, target = key
        if path == "morph":
            name = "DeformPercent"
            return [KeyedProperty(c, name, name, (name,), keys) for c in self.channels.get(target, ())]
        if not self.nodes[target]:
            return []
        name, prop = _LOCAL[path]
        return [KeyedProperty(self.nodes[target], prop, name, ("X", "Y", "Z"), keys)]

    def _curves(self, clip: Clip) -> list[KeyedProperty]:
        """Curves that move no joint: nodes that are shown and hidden, and numbers, as properties of the first node."""
        names = self.character.skeleton.names
        keyed, placed = self._of_attributes(clip)
        for curve in clip.curves:
            if curve.name in placed:
                continue
            joint = curve.name.removeprefix(VISIBILITY)
            owner, prop = self.holder, curve.name
            if curve.name.startswith(VISIBILITY) and joint in names and self.nodes[names.index(joint)]:
                owner, prop = self.nodes[names.index(joint)], SHOWN
            else:
                self.properties.setdefault(curve.name, float(curve.values[0]))
            keyed.append(KeyedProperty(owner, prop, prop, (prop,), _curve_keys(curve)))
        return keyed

    def _of_attributes(self, clip: Clip) -> tuple[list[KeyedProperty], set[str]]:
        """The curves of cameras and lights, and their names."""
        keyed = []
        groups: dict[tuple[int, str, tuple[str, ...]], dict[int, tuple[Array, Array]]] = {}
        written: set[str] = set()
        for curve in clip.curves:
            found = self.attributes.animated(curve)
            if found is not None:
                number, prop, parts, at, times, values = found
                groups.setdefault((number, prop, parts), {})[at] = times, values
                written.add(curve.name)
        for (number, prop, parts), columns in groups.items():
            times = np.unique(np.concatenate([t for t, _ in columns.values()]))
            given = {k: np.interp(times, t, v) for k, (t, v) in columns.items()}
            if len(columns) == 1 and len(parts) == 1:  # as it is: two keys at one time are a step
                ((times, values),) = columns.values()
                times, given = rising(times.astype(np.float32)), {0: values}
            rows = np.stack([given.get(k, np.ones(len(times))) for k in range(len(parts))], axis=1)
            kind = np.full(rows.shape, LINEAR, np.int32)
            keys = CurveKeys(times.astype(np.float64), rows, kind)
            keyed.append(KeyedProperty(number, prop, prop, parts, keys))
        return keyed, written

    def _losses(self, clip: Clip, found: dict[Property, Track]) -> None:
        place = f"clip {clip.name!r}"
        skeleton = self.character.skeleton
        lost = [skeleton.morph_names[t] for path, t in found if path == "morph" and not self.channels.get(t)]
        if lost:
            self.losses.add(
                place, f"{', '.join(map(repr, lost[:5]))} move no mesh: FBX keys only morphs of meshes"
            )
        if clip.events:
            self.losses.add(place, "its events are left out: FBX has none")
        if clip.additive:
            self.losses.add(place, "is additive, which FBX stacks are not: other programs play it as a pose")


def _curve_keys(curve: Curve) -> CurveKeys:
    values = curve.values.astype(np.float64)[:, None]
    return CurveKeys(rising(curve.times).astype(np.float64), values, np.full(values.shape, LINEAR, np.int32))
