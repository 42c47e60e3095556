"""Rigs for retargeting tests, made from the mannequin: other axes, orders, units, names, rest poses and proportions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

import marrow as mw
from builders import rotations
from marrow.math import affine, quaternion, transform

PARTS = (
    "pelvis", "spine_01", "spine_02", "spine_03", "neck", "head",
    *(f"{part}_{side}" for side in "lr" for part in (
        "clavicle", "upperarm", "lowerarm", "hand", "thigh", "calf", "foot", "ball",
        *(f"{finger}_0{k}" for finger in ("thumb", "index", "middle", "ring", "pinky") for k in (1, 2, 3)),
    )),
)  # fmt: skip


def model_to_rest(parents: np.ndarray, model: np.ndarray) -> mw.Pose:
    """The rest pose of joints at the model-space matrices `(J, 3, 4)`."""
    local = model.copy()
    for j, p in enumerate(parents.tolist()):
        if p >= 0:
            local[j] = affine.multiply(affine.invert(model[p]), model[j])
    return mw.Pose(*(a.astype(np.float32) for a in transform.decompose(local)))


def rebound(
    character: mw.Character, skeleton: mw.Skeleton, order: np.ndarray, turn: np.ndarray
) -> mw.Character:
    """The meshes of `character` on `skeleton`, whose joint `order[j]` is joint j turned by `turn[j]` about itself."""
    meshes = []
    for mesh in character.meshes:
        back = affine.invert(turn[mesh.joint_list])
        bind = affine.multiply(back, mesh.inverse_bind.astype(np.float64))
        meshes.append(
            mesh.replace(
                joint_list=order[mesh.joint_list].astype(np.int32),
                inverse_bind=bind.astype(np.float32),
                node=-1,
                morph_targets=(),
            )
        )
    return mw.Character(skeleton, tuple(meshes), (), character.materials, character.images, name="variant")


def other_axes(character: mw.Character, rng: np.random.Generator) -> mw.Character:
    """The same body with every joint's axes turned at random."""
    old = character.skeleton
    J = len(old)
    turn = transform.compose(np.zeros((J, 3)), rotations(rng, (J,)), np.ones((J, 3)))
    model = affine.multiply(old.rest_model.astype(np.float64), turn)
    skeleton = mw.Skeleton(old.names, old.parents, model_to_rest(old.parents, model))
    return rebound(character, skeleton, np.arange(J), turn)


def reordered(character: mw.Character, rng: np.random.Generator) -> mw.Character:
    """The same body with its joints in another order, parents still first."""
    old = character.skeleton
    J = len(old)
    left, order = set(range(J)), []
    while left:
        ready = [j for j in sorted(left) if old.parents[j] < 0 or old.parents[j] not in left]
        pick = int(rng.choice(ready))
        order.append(pick)
        left.remove(pick)
    where = np.empty(J, int)
    where[order] = np.arange(J)
    parents = np.array([where[old.parents[j]] if old.parents[j] >= 0 else -1 for j in order])
    rest = mw.Pose(old.rest.translation[order], old.rest.rotation[order], old.rest.scale[order])
    skeleton = mw.Skeleton(tuple(old.names[j] for j in order), parents, rest)
    eye = affine.identity((J,), np.float64)
    return rebound(character, skeleton, where, eye)


def renamed(character: mw.Character, name: Callable[[str], str]) -> mw.Character:
    old = character.skeleton
    skeleton = mw.Skeleton(
        tuple(map(name, old.names)),
        old.parents,
        mw.Pose(old.rest.translation, old.rest.rotation, old.rest.scale),
    )
    return mw.Character(
        skeleton,
        tuple(m.replace(morph_targets=()) for m in character.meshes),
        (),
        character.materials,
        character.images,
        name="variant",
    )


def centimetres(character: mw.Character) -> mw.Character:
    """The same body written in centimetres under a root scaled by 0.01."""
    old = character.skeleton
    names = ("Armature", *old.names)
    parents = np.concatenate([[-1], old.parents + 1])
    rest = mw.Pose(
        np.concatenate([np.zeros((1, 3)), old.rest.translation * 100]),
        np.concatenate([quaternion.identity((1,)), old.rest.rotation]),
        np.concatenate([np.full((1, 3), 0.01), old.rest.scale]),
    )
    skeleton = mw.Skeleton(names, parents, rest)
    J = len(old)
    grown = np.zeros((J, 3, 4))
    grown[:, [0, 1, 2], [0, 1, 2]] = 0.01
    meshes = []
    for mesh in character.meshes:
        bind = affine.multiply(affine.invert(grown[mesh.joint_list]), mesh.inverse_bind.astype(np.float64))
        meshes.append(
            mesh.replace(
                joint_list=mesh.joint_list + 1,
                inverse_bind=bind.astype(np.float32),
                node=-1,
                morph_targets=(),
            )
        )
    return mw.Character(skeleton, tuple(meshes), (), character.materials, character.images, name="variant")


def facing(character: mw.Character, turn: np.ndarray) -> mw.Skeleton:
    """The same joints, resting under a turn of the whole figure."""
    old = character.skeleton
    model = old.rest_model.astype(np.float64)
    whole = transform.compose(np.zeros(3), turn, np.ones(3))
    return mw.Skeleton(old.names, old.parents, model_to_rest(old.parents, affine.multiply(whole, model)))


def resting_in(skeleton: mw.Skeleton, pose: mw.Pose) -> mw.Skeleton:
    """The same skeleton with another rest pose."""
    return mw.Skeleton(skeleton.names, skeleton.parents, mw.Pose(pose.translation, pose.rotation, pose.scale))


def body(
    names: Mapping[str, str | tuple[str, ...]],
    *,
    place: Callable[[str, np.ndarray], np.ndarray] | None = None,
    parents: Mapping[str, str] | None = None,
    axes: np.random.Generator | None = None,
    root: str | None = None,
) -> mw.Skeleton:
    """A body of the mannequin's joints under other names: `names` maps its joints to one name, or to several that share the
    way to the next joint. Parts not in `names` are left out. `place` moves joints, `parents` hangs them elsewhere."""
    hero = mw.samples.mannequin().skeleton
    at = {n: hero.rest_model[hero.index(n), :, 3].astype(float) for n in PARTS}
    if place is not None:
        at = {n: place(n, p) for n, p in at.items()}
    up = {n: hero.names[hero.parents[hero.index(n)]] for n in PARTS}
    up |= dict(parents or {})
    made: list[str] = [root] if root else []
    links: list[int] = [-1] if root else []
    spots: list[np.ndarray] = [np.zeros(3)] if root else []
    last: dict[str, int] = {}
    for part in PARTS:
        if part not in names:
            continue
        above = up[part]
        while above not in last and above in up:
            above = up[above]
        link = last.get(above, 0 if root else -1)
        several = names[part]
        several = (several,) if isinstance(several, str) else several
        after = next((n for n in PARTS if up[n] == part and n in names), None)
        end = at[after] if after else at[part]
        for k, name in enumerate(several):
            made.append(name)
            links.append(link)
            spots.append(at[part] + (end - at[part]) * k / len(several))
            link = len(made) - 1
        last[part] = link
    turns = (
        rotations(axes, (len(made),)) if axes is not None else quaternion.identity((len(made),), np.float64)
    )
    model = transform.compose(np.array(spots), turns, np.ones((len(made), 3)))
    return mw.Skeleton(tuple(made), np.array(links), model_to_rest(np.array(links), model))


def with_joints(skeleton: mw.Skeleton, added: Mapping[str, tuple[str, str | None, float]]) -> mw.Skeleton:
    """More joints: a name, the joint it hangs from, and how far it is from there on the way to a third (None: in the same
    place)."""
    names, parents = list(skeleton.names), skeleton.parents.tolist()
    model = list(skeleton.rest_model.astype(np.float64))
    for name, (above, towards, share) in added.items():
        parents.append(names.index(above))
        spot = model[parents[-1]].copy()
        if towards is not None:
            spot[:, 3] += share * (model[names.index(towards)][:, 3] - spot[:, 3])
        names.append(name)
        model.append(spot)
    return mw.Skeleton(tuple(names), parents, model_to_rest(np.array(parents), np.array(model)))
