"""`ActorState`: an actor as it is when a picture is drawn: skinning matrices, places in the world, boxes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.animation.additive import sample_shown
from marrow.animation.visibility import VISIBILITY, visible_meshes
from marrow.errors import ValidationError
from marrow.graph.constrained_poses import constrained_poses
from marrow.lod.bounding_spheres import moving_bounding_sphere
from marrow.math import affine, transform
from marrow.model import _validate
from marrow.model._derived import derived
from marrow.model.character import Character
from marrow.model.pose import Pose
from marrow.scene.bounding_boxes import BoundingBoxes
from marrow.scene.identity_cache import IdentityCache
from marrow.scene.scene import Actor, Scene
from marrow.skinning import Bounds, bounds, skinning_matrices
from marrow.skinning.joint_boxes import Boxes, boxes_by_joint, joined_boxes
from marrow.skinning.vertex_budget import check_vertices

__all__ = ["ActorState", "PaintData", "actor_states", "model_matrices", "palette_entries", "quick_bounds"]

Array = NDArray[Any]
MANY = 16
"""Crowds of more than this have boxes that are found more quickly, and are a little wider."""
_WHITE = np.ones(4, np.float32)
SLACK = 1.5
"""How much farther off a level may be than was measured over its clips: poses may be others."""


class _Stood(NamedTuple):
    """Where an actor's instances were in the last picture; of a crowd on the GPU also the boxes there."""

    character: Character
    world: Array
    boxes: BoundingBoxes | None
    mirrored: Array | None


_stood: IdentityCache[_Stood] = IdentityCache()


class PaintData(NamedTuple):
    """Colours `(1,)` for all vertices, `(V,)` for each, or `(n, V)` for each of the `instances (n,)`, as packed bytes, and
    the `flags` of paint.wgsl."""

    colors: Array
    flags: int
    instances: Array | None = None


@dataclass(eq=False)
class ActorState:
    """N instances of an actor. `matrices (N, P, 3, 4)`, or None where a `crowd` has them on the GPU; `world (N, 3, 4)`
    float64, read-only, and the same array as in the last picture where nothing moved; `boxes` around them in the world
    (`low`, `high (N, 3)`; empty ones, low above high, of what is not there), and `box` the same in the actor's own space;
    `visible (N, meshes)`; `model (N, J, 3, 4)` joints in the actor's own space, where they were needed; `still`: at rest,
    in every picture; `mirrored (N,)`: turned inside out, None where none is."""

    actor: Actor
    count: int
    matrices: Array | None
    morphs: Array | None
    crowd: Any
    world: Array
    tint: Array
    visible: Array
    boxes: BoundingBoxes
    mirrored: Array | None = None
    box: Bounds | None = None
    model: Array | None = None
    still: bool = False
    paints: dict[int, PaintData] = field(default_factory=dict)
    """Colours that a view gives it, by level of detail."""

    @property
    def low(self) -> Array:
        return self.boxes.low

    @property
    def high(self) -> Array:
        return self.boxes.high

    def socket(self, name: str) -> Array:
        """Where a socket or joint of each instance is, in the world: `(N, 3, 4)` float64."""
        skeleton = self.actor.character.skeleton
        if self.actor.animator is not None:
            local = self.actor.animator.socket(name).astype(np.float64).reshape(-1, 3, 4)
            return affine.multiply(self.world, local)
        if self.model is None:
            self.model = _model(self.actor)
        found = [s for s in skeleton.sockets if s.name == name]
        joint = found[0].joint if found else skeleton.index(name)
        local = np.broadcast_to(self.model[:, joint].astype(np.float64), (self.count, 3, 4))
        if found:
            local = affine.multiply(
                local, transform.compose(found[0].translation, found[0].rotation, found[0].scale)
            )
        return affine.multiply(self.world, local)


MOST_VERTICES = 6_000_000
"""Vertices of a character, over all meshes that share them: each is kept for the GPU and skinned."""


def actor_states(scene: Scene) -> list[ActorState]:
    """The actors of a scene as they are now, in its order."""
    made: dict[int, ActorState] = {}

    def resolve(actor: Actor, below: tuple[int, ...]) -> ActorState:
        if id(actor) in below:
            raise ValidationError(f"Scene: {actor!r} hangs on itself")
        if id(actor) not in made:
            parent = None if actor.parent is None else resolve(actor.parent, (*below, id(actor)))
            made[id(actor)] = _moment(actor, parent)
        return made[id(actor)]

    return [resolve(actor, ()) for actor in scene.actors]


def _pose(actor: Actor) -> Any:
    if actor.clip is not None:
        time = np.asarray(_validate.numbers("Actor.time", actor.time), np.float64)
        if time.ndim > 1 or not time.size:
            raise ValidationError(f"Actor.time: expected a number or (N,), got shape {time.shape}")
        return constrained_poses(actor.character, sample_shown(actor.clip, time))
    return actor.character.skeleton.rest if actor.pose is None else actor.pose


def model_matrices(state: ActorState) -> Array:
    """Joints in the actor's own space, `(N, J, 3, 4)`."""
    if state.model is None:
        actor = state.actor
        if actor.animator is not None:
            skeleton = actor.character.skeleton
            state.model = np.asarray(skeleton.to_model(actor.animator.pose)).reshape(-1, len(skeleton), 3, 4)
        else:
            state.model = _model(actor)
    return np.broadcast_to(state.model, (state.count, *state.model.shape[1:]))


def _model(actor: Actor) -> Array:
    """Model matrices `(N or 1, J, 3, 4)` of an actor without an animator."""
    pose, character = _pose(actor), actor.character
    J = len(character.skeleton)
    if isinstance(pose, Pose):
        return np.asarray(character.skeleton.to_model(pose)).reshape(-1, J, 3, 4)
    # Of skinning matrices: matrix = joint * inverse bind.
    matrices = np.asarray(pose, np.float64).reshape(-1, len(character.palette.joints), 3, 4)[:, :J]
    binds = affine.invert(character.palette.inverse_bind[:J].astype(np.float64))
    return affine.multiply(matrices, binds)


def _matrices(actor: Actor) -> tuple[Array, Array | None, Array | None]:
    """Skinning matrices `(n, P, 3, 4)`, morph weights and, where they came about, model matrices."""
    character = actor.character
    P, M = len(character.palette.joints), len(character.skeleton.morph_names)
    if actor.animator is not None:
        matrices, weights = actor.animator.evaluation.matrices_and_morphs()
        return matrices.reshape(-1, P, 3, 4), _finite(actor, weights.reshape(-1, M)) if M else None, None
    pose = _pose(actor)
    model: Array | None = None
    morphs: Array | None = None
    if isinstance(pose, Pose):
        model = np.asarray(character.skeleton.to_model(pose))
        n = math.prod(pose.batch_shape)  # without joints there is nothing to tell it by
        matrices = skinning_matrices(character.palette, model).reshape(n, P, 3, 4)
        morphs = pose.morphs if pose.morph_count else None
        model = model.reshape(n, *model.shape[-3:])
    else:
        matrices = np.asarray(_validate.numbers("Actor.pose", pose), np.float32)
        if matrices.shape[-3:] != (P, 3, 4):
            raise ValidationError(
                f"Actor.pose: expected a Pose or skinning matrices (N, {P}, 3, 4), got shape {matrices.shape}"
            )
        matrices = np.ascontiguousarray(matrices.reshape(-1, P, 3, 4))
    given = actor.morphs if actor.morphs is not None else morphs
    if given is None or not M:
        return matrices, None, model
    weights = np.asarray(_validate.numbers("Actor.morphs", given), np.float32)
    if weights.shape[-1:] != (M,):
        raise ValidationError(f"Actor.morphs: expected (N, {M}), got shape {weights.shape}")
    weights = _finite(actor, weights.reshape(-1, M))
    return matrices, np.broadcast_to(weights, (len(matrices), M)), model


def _finite(actor: Actor, weights: Array) -> Array:
    """Morph weights `(n, M)`, or an error that names the one that is not a number."""
    wrong = np.argwhere(~np.isfinite(weights))
    if len(wrong):
        instance, morph = wrong[0].tolist()
        names = actor.character.skeleton.morph_names
        raise ValidationError(
            f"{actor.name!r}: the weight of the morph {names[morph]!r} of instance {instance} is not a number (NaN or "
            "infinite); it cannot be drawn"
        )
    return weights


def _transforms(actor: Actor) -> Array | None:
    """The places an actor was given, `(n, 3, 4)` float64."""
    if actor.transforms is not None:
        given = np.asarray(_validate.numbers("Actor.transforms", actor.transforms), np.float64)
        if given.shape[-2:] == (4, 4):
            given = given[..., :3, :]
        if given.ndim not in (2, 3) or given.shape[-2:] != (3, 4):
            raise ValidationError(f"Actor.transforms: expected (3, 4) or (N, 3, 4), got shape {given.shape}")
        return given.reshape(-1, 3, 4)
    if actor.animator is not None:
        place = actor.animator.root
        return transform.compose(
            np.asarray(place.translation, np.float64), np.asarray(place.rotation, np.float64), np.ones(3)
        ).reshape(-1, 3, 4)
    return None


def _moment(actor: Actor, parent: ActorState | None) -> ActorState:
    character, crowd = actor.character, actor.crowd
    derived(character, "few enough to draw", lambda: check_vertices("render", character, MOST_VERTICES))
    matrices, morphs, model = (None, None, None) if crowd is not None else _matrices(actor)
    counts = {"poses": actor.animator.count if matrices is None else len(matrices)}  # type: ignore[union-attr]
    places = _transforms(actor)
    if places is not None:
        counts["transforms"] = len(places)
    above = None
    if parent is not None:
        above = parent.socket(actor.socket) if actor.socket else parent.world
        counts[f"instances of {parent.actor.name!r}"] = len(above)
    count = max(counts.values())
    if any(n not in (1, count) for n in counts.values()):
        shown = ", ".join(f"{n} {what}" for what, n in counts.items())
        raise ValidationError(f"{actor!r}: expected as many of each, or one: got {shown}")
    world = (
        affine.identity((count,), np.float64) if places is None else np.broadcast_to(places, (count, 3, 4))
    )
    if above is not None:
        world = affine.multiply(above, world)
    if matrices is not None and len(matrices) != count:
        matrices = np.broadcast_to(matrices, (count, *matrices.shape[1:]))
        morphs = None if morphs is None else np.broadcast_to(morphs, (count, morphs.shape[1]))
    box: Bounds | None = None
    last = _stood.get(actor)
    if last is not None and np.array_equal(last.world, world):
        world = last.world
    else:  # a copy: the caller may write into its own array
        world, last = np.array(world), None
        world.flags.writeable = False
    if last is not None and last.boxes is not None and matrices is None and last.character is character:
        boxes, mirrored = last.boxes, last.mirrored
    else:
        box, boxes, mirrored = _boxes(character, matrices, morphs, world, actor.skinning)
        if last is None or matrices is None:
            _stood.put(actor, _Stood(character, world, boxes if matrices is None else None, mirrored))
    return ActorState(
        actor,
        count,
        matrices,
        morphs,
        crowd,
        world,
        _tint(actor, count),
        _visible(actor, count),
        boxes,
        mirrored,
        box,
        model,
        actor.animator is None and actor.pose is None and actor.clip is None and actor.morphs is None,
    )


def _boxes(
    character: Character, matrices: Array | None, morphs: Array | None, world: Array, skinning: str | None
) -> tuple[Bounds | None, BoundingBoxes, Array | None]:
    """Boxes in the actor's space, boxes in the world around these, and which instances are mirrored."""
    box = None
    if matrices is None:
        ball = moving_bounding_sphere(character)[0].astype(np.float64)
        center, half = ball[None, :3], np.full((1, 3), ball[3])
    elif not character.vertex_count:
        low, high = _joint_box(character, matrices)
        center, half = (low + high) / 2, (high - low) / 2
    else:
        box = (
            quick_bounds(character, matrices, morphs)
            if len(matrices) > MANY and skinning is None
            else bounds(character, matrices, exact=False, morphs=morphs, skinning=skinning)
        )
        with np.errstate(invalid="ignore", over="ignore"):
            center = np.asarray(box.low, np.float64) / 2 + np.asarray(box.high, np.float64) / 2
            half = np.asarray(box.high, np.float64) / 2 - np.asarray(box.low, np.float64) / 2
    boxes, mirrored = BoundingBoxes.carried(world, center, half)
    if not boxes.sound:
        sound = np.isfinite(world).all((1, 2))
        if matrices is not None:
            sound = sound & np.isfinite(matrices).all((1, 2, 3))
        wrong = np.flatnonzero(~sound)
        if len(wrong):
            raise ValidationError(
                f"{character.name!r}: the pose or place of instance {wrong[0]} is not a number (NaN or infinite), of "
                f"{len(wrong)} of {len(world)} in all; it cannot be drawn"
            )
    return box, boxes, mirrored


def _joint_box(character: Any, matrices: Array) -> tuple[Array, Array]:
    """The box around the joints of what has nothing else, `(N, 3)` each."""
    joints = affine.invert(character.palette.inverse_bind.astype(np.float64))[:, :, 3]
    if not len(joints):
        return np.zeros((1, 3)), np.full((1, 3), -1.0)
    with np.errstate(invalid="ignore", over="ignore"):
        places = (matrices[..., :3].astype(np.float64) @ joints[..., None])[..., 0] + matrices[..., 3]
    return places.min(axis=-2), places.max(axis=-2)


def quick_bounds(character: Character, matrices: Array, morphs: Array | None = None) -> Bounds:
    """What `mw.bounds(exact=False)` gives, for crowds: of the coarsest level, which has the fewest joints, and wider by
    what that level is off at most."""
    last = character.levels[-1]
    if last.lod.error is None or any(m.skinning != "linear" for m in last.meshes) or not last.vertex_count:
        return bounds(character, matrices, exact=False, morphs=morphs)
    boxes: Boxes = derived(last, "boxes by joint", lambda: boxes_by_joint(last, last.palette))

    def carriers() -> Array:
        return np.ascontiguousarray(palette_entries(character, last)[boxes.joints[:, 0]])

    entries: Array = derived(last, ("carriers", id(character)), carriers)
    table: Array = derived(last, "table of boxes", lambda: _table(boxes, boxes.half))
    if morphs is not None and len(boxes.reach) and morphs.any():
        table = _table(boxes, boxes.half + boxes.reach.sum(0) * max(1.0, float(np.abs(morphs).max())))
    low, high, far = joined_boxes(matrices, entries, table)
    with np.errstate(invalid="ignore", over="ignore"):
        slack = SLACK * np.float32(last.lod.error) + np.float32(1e-5) * far
        return Bounds(low - slack, high + slack)


def _table(boxes: Boxes, half: Array) -> Array:
    """Centres and half sizes as the kernel takes them, `(6 G,)` float32."""
    return np.concatenate([boxes.center, half], axis=1).astype(np.float32).reshape(-1)


def palette_entries(character: Character, level: Character) -> Array:
    """Where each entry of a level's palette lies in the character's, `(P of the level,)`."""
    own, whole = level.palette, character.palette
    entries = {(j, b.tobytes()): p for p, (j, b) in enumerate(zip(whole.joints.tolist(), whole.inverse_bind))}
    return np.array(
        [entries.get((j, b.tobytes()), j) for j, b in zip(own.joints.tolist(), own.inverse_bind)], np.int64
    )


def _tint(actor: Actor, count: int) -> Array:
    """Colours `(N, 4)` float32."""
    if actor.tint is None:
        return np.broadcast_to(_WHITE, (count, 4))
    given = np.asarray(_validate.numbers("Actor.tint", actor.tint), np.float32)
    if given.shape not in ((3,), (4,), (count, 3), (count, 4)) or not np.isfinite(given).all():
        raise ValidationError(
            f"Actor.tint: expected (3,) or ({count}, 3) finite numbers, got shape {given.shape}"
        )
    out = np.ones((count, 4), np.float32)
    out[:, : given.shape[-1]] = given
    return out


def _visible(actor: Actor, count: int) -> Array:
    """Which meshes are shown, `(N, meshes)` bool."""
    character = actor.character
    own = np.array([m.visible for m in character.meshes], bool)
    meshes = len(own)
    if actor.visible is not None:
        given: ArrayLike = np.asarray(_validate.numbers("Actor.visible", actor.visible)).astype(bool)
        if np.shape(given) not in ((meshes,), (count, meshes)):
            raise ValidationError(
                f"Actor.visible: expected ({meshes},) or ({count}, {meshes}), got shape {np.shape(given)}"
            )
        return np.broadcast_to(given, (count, meshes))
    clip = actor.clip
    if clip is not None and any(c.name.startswith(VISIBILITY) for c in clip.curves):
        shown = visible_meshes(character, clip, np.asarray(actor.time)).reshape(-1, meshes)
        return np.broadcast_to(shown, (count, meshes))
    return np.broadcast_to(own, (count, meshes))
