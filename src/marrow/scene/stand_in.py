"""A body to look at for a skeleton that has none, as motion files bring it: capsules along the bones and a head, the left
and the right side in their colours.

Pictures, sheets, windows and the studio draw it as any mesh; it is never saved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.model import Character, Material, Mesh, Skeleton
from marrow.model._derived import derived
from marrow.model.mesh import Section
from marrow.motion.contacts import LEG
from marrow.motion.facing import rest_facing
from marrow.motion.helper_joints import helper_joints
from marrow.motion.posture import body_frame, leg_length, rest_posture
from marrow.motion.rig import Rig, find_rig
from marrow.motion.sizes import PERSON
from marrow.scene.colors import hex_color

__all__ = ["LEFT", "MIDDLE", "RIGHT", "is_stand_in", "with_stand_in"]

Array = NDArray[Any]
NAME = "stand-in"


def _linear(text: str) -> tuple[float, ...]:
    return tuple((hex_color(text) ** 2.2).tolist())


MIDDLE, LEFT, RIGHT = _linear("#c9ccd1"), _linear("#e07b39"), _linear("#3f86c6")
"""Colours (linear) of trunk and head, of the left side and of the right side, as the skeleton view has them."""
AROUND, CAP = 14, 4
"""Corners of a capsule's rings, and rings of each of its ends."""
# Radii at the beginning and the end of a bone, for a body of height 1.
TRUNK, NECK, GIRDLE, HIP = (0.06, 0.066), (0.03, 0.03), (0.03, 0.028), (0.05, 0.044)
ARM, LEG_RADII = ((0.031, 0.024), (0.024, 0.017)), ((0.05, 0.034), (0.033, 0.022))
HAND, FINGER, FOOT, TOES = (0.017, 0.02), (0.007, 0.006), (0.021, 0.021), (0.02, 0.015)
WIDE = 1.3
"""How much wider a trunk is than deep."""
HEAD = (0.046, 0.068, 0.056)
"""Radii of a head: sideways, up, ahead."""


@dataclass(frozen=True)
class _Part:
    """A capsule from `a` to `b`, following `joint`; `wide (3,)` is the direction in which it is `WIDE` times as wide."""

    joint: int
    a: Array
    b: Array
    radii: tuple[float, float]
    wide: Array | None = None
    stretch: tuple[float, float] = (1.0, 1.0)


def with_stand_in(character: Character) -> Character:
    """The character with a body made of its bones; itself where it has a mesh, or no bones."""
    if character.vertex_count or len(character.skeleton) < 2:
        return character
    made: Character = derived(character, "stand-in", lambda: _made(character))
    return made


def is_stand_in(character: Character) -> bool:
    """Whether what is seen of a character was made here."""
    return any(mesh.name == NAME for mesh in character.meshes)


def _made(character: Character) -> Character:
    skeleton = character.skeleton
    at = skeleton.rest_model[..., 3].astype(np.float64)
    shown = ~helper_joints(character)
    parts = _parts(skeleton, at, shown) if np.isfinite(at).all() else []
    if not parts:
        return character
    sides = _sides(skeleton)
    parts.sort(key=lambda part: int(sides[part.joint]))
    mesh = _mesh(parts, sides, character)
    materials = tuple(
        Material(name, (*color, 1.0), metallic=0.0, roughness=0.65)  # type: ignore[arg-type]
        for name, color in (("middle", MIDDLE), ("left", LEFT), ("right", RIGHT))
    )
    return character.replace(meshes=(mesh,), materials=materials, images=())


def _sides(skeleton: Skeleton) -> Array:
    """0 in the middle, 1 left, 2 right, `(J,)`."""
    out = np.zeros(len(skeleton), np.int64)
    for part, chain in find_rig(skeleton).chains.items():
        if chain and part.startswith(("left", "right")):
            out[skeleton.descendants(chain[0])] = 1 if part.startswith("left") else 2
    return out


def _height(at: Array, rig: Rig) -> float:
    """How tall the body is about. Its rest pose may lie or crouch; its legs are as long as they are."""
    if all(len(rig.chains.get(f"{side}_leg", ())) > 2 for side in ("left", "right")):
        return leg_length(at, rig.chains) * PERSON / LEG
    return float(np.ptp(at, axis=0).max())


def _parts(skeleton: Skeleton, at: Array, shown: Array) -> list[_Part]:
    rig, parents = find_rig(skeleton), skeleton.parents
    tall = _height(at, rig)
    if tall <= 0:
        return []
    head, hips = rig.joint("head", -1), rig.joint("hips")
    hidden = ~shown
    if hips >= 0:  # nothing is drawn from the ground to the hips
        hidden[list(skeleton.ancestors(hips))] = True
    if head >= 0:
        hidden[skeleton.descendants(head)] = True
        hidden[head] = False
    sizes = _radii(skeleton, rig, tall)
    left = body_frame(at, rig.chains)[:, 0] if rig.complete else None
    trunk = {j for part in ("hips", "spine", "pelvis") for j in rig.chains.get(part, ())}
    parts, ends = [], set(range(len(skeleton)))
    for j, p in enumerate(parents.tolist()):
        ends.discard(p)
        if p < 0 or hidden[j] or hidden[p] or p == head:
            continue
        length = float(np.linalg.norm(at[j] - at[p]))
        if length < 1e-3 * tall:
            continue
        radii = sizes.get((p, j)) or (float(np.clip(0.14 * length, 0.006 * tall, 0.035 * tall)),) * 2
        parts.append(_Part(p, at[p], at[j], radii, left if p in trunk and j in trunk else None, (WIDE, 1.0)))
    if left is not None:
        parts += _chest(rig, at, left, tall)
    parts += _hands(skeleton, rig, at, ends, tall)
    if head >= 0 and not hidden[head]:
        parts += _head(skeleton, rig, at, head, tall)
    return parts


def _radii(skeleton: Skeleton, rig: Rig, tall: float) -> dict[tuple[int, int], tuple[float, float]]:
    """The radii of the bones of a body, by the joints at their ends."""
    out: dict[tuple[int, int], tuple[float, float]] = {}

    def along(chain: tuple[int, ...], radii: tuple[float, float]) -> None:
        """Bones from the first joint of a chain to its last, and what lies between."""
        inside = [j for end in chain[1:] for j in _path(skeleton, chain[0], end)]
        for k, j in enumerate(inside):
            here, there = (radii[0] + (radii[1] - radii[0]) * (k + i) / len(inside) for i in (0, 1))
            out.setdefault((int(skeleton.parents[j]), j), (here * tall, there * tall))

    chains = rig.chains
    trunk = (*chains.get("hips", ()), *chains.get("spine", ()))
    along(trunk[:1] + trunk[-1:], TRUNK)
    for side in ("left", "right"):
        for limb, radii in (("arm", ARM), ("leg", LEG_RADII)):
            chain = chains.get(f"{side}_{limb}", ())
            for k in range(min(len(chain) - 1, 2)):
                along(chain[k : k + 2], radii[k])
        leg, arm = chains.get(f"{side}_leg", ()), chains.get(f"{side}_arm", ())
        if trunk and leg:
            along((trunk[0], leg[0]), HIP)
        if trunk and arm:
            along((trunk[-1], arm[0]), GIRDLE)
        for top, inner, tip in ((leg, FOOT, TOES), (arm, HAND, FINGER)):
            if len(top) > 2:
                for j in skeleton.descendants(top[2]).tolist():
                    first = int(skeleton.parents[j]) == top[2]
                    if j != top[2]:
                        a, b = inner if first else tip
                        out.setdefault((int(skeleton.parents[j]), j), (a * tall, b * tall))
    head = chains.get("head", ())
    if trunk and head:
        along((trunk[-1], head[-1]), NECK)
    return out


def _path(skeleton: Skeleton, above: int, below: int) -> list[int]:
    """The joints after one down to another below it; none where it is not below it."""
    path = [below]
    while path[-1] != above:
        path.append(int(skeleton.parents[path[-1]]))
        if path[-1] < 0:
            return []
    return path[-2::-1]


def _chest(rig: Rig, at: Array, left: Array, tall: float) -> list[_Part]:
    """What lies between the last joint of the spine and the shoulders."""
    last = rig.chains["spine"][-1] if rig.chains.get("spine") else rig.chains["hips"][-1]
    way = (at[rig.joint("left_arm")] + at[rig.joint("right_arm")]) / 2 - at[last]
    length = float(np.linalg.norm(way))
    if length < 0.03 * tall:
        return []
    radius = TRUNK[1] * tall
    end = at[last] + way * max(1 - 0.6 * radius / length, 0.1)
    return [_Part(last, at[last], end, (radius, radius), left, (WIDE, 1.0))]


def _hands(skeleton: Skeleton, rig: Rig, at: Array, ends: set[int], tall: float) -> list[_Part]:
    """Hands and feet of limbs that end in their joint."""
    out = []
    for side in ("left", "right"):
        arm = rig.chains.get(f"{side}_arm", ())
        if len(arm) > 2 and arm[2] in ends:
            way = at[arm[2]] - at[arm[1]]
            way = way / max(float(np.linalg.norm(way)), 1e-12)
            radii = (HAND[0] * tall, HAND[1] * tall)
            out.append(_Part(arm[2], at[arm[2]], at[arm[2]] + 0.06 * tall * way, radii))
    return out


def _head(skeleton: Skeleton, rig: Rig, at: Array, head: int, tall: float) -> list[_Part]:
    """An egg over the joint of the head, and a nose where it is known where it looks."""
    below = [j for j in skeleton.descendants(head).tolist() if j != head]
    far = max(below, key=lambda j: float(np.linalg.norm(at[j] - at[head])), default=-1)
    neck = int(skeleton.parents[head])
    up = (
        at[far] - at[head]
        if far >= 0 and not rig.complete
        else at[head] - at[neck]
        if neck >= 0
        else np.zeros(3)
    )
    ahead = None
    if rig.complete:
        rest = rest_posture(skeleton, rig.chains)
        ahead = rest_facing(skeleton) if rest.stance else None
        up = rest.frame[:, 1] if rest.stance else up
    length = float(np.linalg.norm(up))
    up = up / length if length > 1e-9 else np.array([0.0, 1.0, 0.0])
    middle = at[head] + 0.55 * HEAD[1] * tall * up
    wide = np.cross(up, ahead) if ahead is not None else None
    reach = HEAD[1] - HEAD[0]
    parts = [
        _Part(
            head, middle - reach * tall * up, middle + reach * tall * up, (HEAD[0] * tall,) * 2, wide,
            (1.0, HEAD[2] / HEAD[0]),
        )
    ]  # fmt: skip
    if ahead is not None:
        tip = middle + ahead * HEAD[2] * tall
        parts.append(
            _Part(head, tip + 0.012 * tall * up, tip - 0.012 * tall * up, (0.009 * tall, 0.013 * tall))
        )
    return parts


def _capsule(part: _Part) -> tuple[Array, Array, Array]:
    """Vertices `(V, 3)`, normals and triangles `(F, 3)` of one part."""
    axis = part.b - part.a
    axis = axis / max(float(np.linalg.norm(axis)), 1e-12)
    side = part.wide if part.wide is not None else np.eye(3)[int(np.argmin(np.abs(axis)))]
    side = side - axis * (side @ axis)
    if np.linalg.norm(side) < 1e-6:
        side = np.eye(3)[int(np.argmin(np.abs(axis)))]
        side = side - axis * (side @ axis)
    side = side / np.linalg.norm(side)
    third = np.cross(axis, side)
    # Directions on a sphere: rings from the lower pole to the upper one, the middle ring twice.
    low = np.linspace(-np.pi / 2, 0, CAP + 1)
    tilt = np.concatenate([low, -low[::-1]])
    turn = np.arange(AROUND) * (2 * np.pi / AROUND)
    wide, deep = part.stretch if part.wide is not None else (1.0, 1.0)
    radius = np.repeat(part.radii, CAP + 1)[:, None]
    center = np.repeat([part.a, part.b], CAP + 1, axis=0)[:, None]
    x, y = np.cos(tilt)[:, None] * np.cos(turn), np.cos(tilt)[:, None] * np.sin(turn)
    z = np.broadcast_to(np.sin(tilt)[:, None], x.shape)
    at = center + sum(
        (radius * c)[..., None] * d for c, d in ((x * wide, side), (y * deep, third), (z, axis))
    )
    normal = sum(c[..., None] * d for c, d in ((x / wide, side), (y / deep, third), (z, axis)))
    normal = normal / np.linalg.norm(normal, axis=-1, keepdims=True)
    rings = len(tilt)
    here = np.arange(rings * AROUND).reshape(rings, AROUND)
    after = np.roll(here, -1, axis=1)
    a, b, c, d = here[:-1], after[:-1], after[1:], here[1:]
    faces = np.concatenate(
        [np.stack([a, b, c], -1)[1:].reshape(-1, 3), np.stack([a, c, d], -1)[:-1].reshape(-1, 3)]
    )
    return at.reshape(-1, 3), normal.reshape(-1, 3), faces


def _mesh(parts: list[_Part], sides: Array, character: Character) -> Mesh:
    """All parts as one mesh with a section for each colour, each following one joint."""
    positions, normals, triangles, joints = [], [], [], []
    counts, first = [0, 0, 0], 0
    for part in parts:
        at, normal, faces = _capsule(part)
        positions.append(at)
        normals.append(normal)
        triangles.append(faces + first)
        joints.append(np.full(len(at), part.joint))
        counts[int(sides[part.joint])] += len(faces)
        first += len(at)
    used, slots = np.unique(np.concatenate(joints), return_inverse=True)
    starts = [0, counts[0], counts[0] + counts[1]]
    return Mesh(
        name=NAME,
        positions=np.concatenate(positions).astype(np.float32),
        normals=np.concatenate(normals).astype(np.float32),
        triangles=np.concatenate(triangles).astype(np.uint32),
        joints=slots.reshape(-1, 1),
        weights=np.ones((first, 1), np.float32),
        joint_list=used,
        inverse_bind=character.palette.inverse_bind[used],
        sections=tuple(Section(s, n, k) for k, (s, n) in enumerate(zip(starts, counts)) if n),
    )
