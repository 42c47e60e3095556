"""Writes a character as MJCF: bodies with capsules from its skin, masses, and hinges with limits from its clips.

A joint that its clips turn gets up to three hinges about axes of its own frame; one that they do not turn is fixed to its
parent. A robot keeps the hinges it has. The body that carries all others moves freely. Z up, X forward, metres, radians.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.io.atomic import replacing
from marrow.io.robots.assembly import file_axes
from marrow.io.robots.capsules import Capsule, skin_capsules
from marrow.io.robots.clip_ranges import Turn, clip_turns
from marrow.math import quaternion
from marrow.model import Character, Hinge, _validate
from marrow.printing import warn

__all__ = ["write"]

Array = NDArray[Any]
DENSITY = 985.0
"""Kilograms in a cubic metre: bodies just swim."""
LEAST_MASS = 1e-3
MARGIN = 0.05
THIN = 0.1


def write(
    character: Character, path: Path | str, *, mass: float | None = None, margin: float = MARGIN
) -> None:
    """Writes the character; `mass` in kilograms is spread over its capsules (default: what their volume weighs), `margin`
    is how many radians hinges may turn further than the clips do."""
    if mass is not None:
        mass = _validate.number("save", "mass", mass, low=0, above=True)
    margin = _validate.angle("save: margin", margin, 0.0, np.pi)
    if not len(character.skeleton):
        raise ValidationError("save: an MJCF file needs at least one joint, the character has none")
    text = _Writer(character, mass, margin).text()
    with replacing(path) as file:
        file.write(text.encode())


class _Writer:
    def __init__(self, character: Character, mass: float | None, margin: float) -> None:
        self.character, self.skeleton = character, character.skeleton
        self.frames = _unscaled(self.skeleton.rest_model.astype(np.float64))
        self.capsules = skin_capsules(character, self.frames)
        self.top = self._top()
        self.bodies = self._bodies()
        self.name_of = dict(zip(self.bodies, _names([self.skeleton.names[j] for j in self.bodies])))
        own = {h.joint: h for h in self.skeleton.hinges}
        turns = {} if own else clip_turns(character, [j for j in self.bodies if j != self.top], margin)
        self.hinges = {j: [own[j]] for j in self.bodies if j in own} or {
            j: _hinges(self.name_of[j], j, found) for j, found in turns.items()
        }
        self.below: dict[int, list[int]] = {}
        for j in self.bodies:
            self.below.setdefault(int(self.skeleton.parents[j]), []).append(j)
        for j in self.bodies:
            if j not in self.capsules and (self.hinges.get(j) or j == self.top):
                self.capsules[j] = self._bone(j)
        weights = {
            j: max(DENSITY * c.volume, LEAST_MASS) for j, c in self.capsules.items() if j in self.name_of
        }
        factor = 1.0 if mass is None else mass / sum(weights.values())
        self.masses = {j: factor * w for j, w in weights.items()}

    def _top(self) -> int:
        """The joint that carries the body: its hips, else the nearest one above all that has skin."""
        skeleton = self.skeleton
        if skeleton.hinges:
            return skeleton.roots[0]
        hips = skeleton.humanoid.get("hips", -1)
        if hips >= 0:
            return hips
        skinned = sorted(self.capsules) or list(range(len(skeleton)))
        paths = [[j, *skeleton.ancestors(j)] for j in skinned]
        shared = [j for j in paths[0] if all(j in path for path in paths)]
        return shared[0] if shared else skeleton.roots[0]

    def _bodies(self) -> list[int]:
        """The joints that are written: those with skin or hinges below the top, and all on the way to them."""
        skeleton = self.skeleton
        inside = set(skeleton.descendants(self.top).tolist())
        wanted = {h.joint for h in skeleton.hinges} | set(self.capsules) or inside
        kept = {self.top}
        for j in wanted & inside:
            kept.update(k for k in (j, *skeleton.ancestors(j)) if k in inside)
        left = sorted(set(self.capsules) - inside)
        if left:
            names = ", ".join(skeleton.names[j] for j in left[:4])
            warn(
                f"save: {len(left)} joints with skin hang outside {skeleton.names[self.top]!r} and are left out: {names}"
            )
        if skeleton.hinges:
            kept = inside
        return sorted(kept)

    def _bone(self, j: int) -> Capsule:
        """A thin capsule to a child, for a joint without skin."""
        ends = [
            (self.frames[c, :, 3] - self.frames[j, :, 3]) @ self.frames[j, :, :3]
            for c in self.below.get(j, [])
        ]
        end = max(ends, key=lambda e: float(np.linalg.norm(e)), default=np.zeros(3))
        length = float(np.linalg.norm(end))
        return Capsule(np.zeros(3), end, max(THIN * length, 0.005))

    def text(self) -> str:
        lines = [
            f"<mujoco model={quoteattr(_clean(self.character.name) or 'character')}>",
            '  <compiler angle="radian" autolimits="true"/>',
            "  <default>",
            '    <joint damping="1" armature="0.01"/>',
            '    <geom type="capsule" contype="1" conaffinity="0" rgba="0.7 0.7 0.72 1"/>',
            "  </default>",
            "  <worldbody>",
            '    <geom name="floor" type="plane" size="20 20 0.1" contype="0" conaffinity="1" rgba="0.9 0.9 0.9 1"/>',
            '    <light pos="0 0 4" dir="0 0 -1" directional="true"/>',
        ]
        stack: list[tuple[int, int]] = [(self.top, 2)]
        while stack:
            j, depth = stack.pop()
            indent = "  " * min(depth, 40)
            if j < 0:
                lines.append(f"{indent}</body>")
                continue
            lines += [indent + line for line in self._body(j)]
            stack.append((-1, depth))
            stack.extend((c, depth + 1) for c in reversed(self.below.get(j, [])) if c != self.top)
        return "\n".join([*lines, "  </worldbody>", "</mujoco>", ""])

    def _body(self, j: int) -> Iterable[str]:
        frame = self.frames[j]
        parent = int(self.skeleton.parents[j])
        base = np.eye(3, 4) if j == self.top else self.frames[parent]
        place = base[:, :3].T @ (frame[:, 3] - base[:, 3])
        x, y, z, w = file_axes(quaternion.from_matrix(base[:, :3].T @ frame[:, :3]))
        yield f'<body name={quoteattr(self.name_of[j])} pos="{_text(file_axes(place))}" quat="{_text([w, x, y, z])}">'
        if j == self.top:
            yield "  <freejoint/>"
        for hinge in self.hinges.get(j, ()):
            if j == self.top:
                continue
            limits = (
                f' range="{_text([hinge.lower, hinge.upper])}"'
                if np.isfinite(hinge.upper - hinge.lower)
                else ""
            )
            kind = "slide" if hinge.slides else "hinge"
            axis = _text(file_axes(np.array(hinge.axis)))
            yield f'  <joint name={quoteattr(_clean(hinge.name))} type="{kind}" axis="{axis}"{limits}/>'
        capsule = self.capsules.get(j)
        if capsule is None:
            return
        mass, radius = self.masses[j], capsule.radius
        if np.linalg.norm(capsule.end - capsule.start) < 1e-4:
            at = _text(file_axes((capsule.start + capsule.end) / 2))
            yield f'  <geom type="sphere" pos="{at}" size="{radius:.7g}" mass="{mass:.7g}"/>'
        else:
            ends = _text([*file_axes(capsule.start), *file_axes(capsule.end)])
            yield f'  <geom fromto="{ends}" size="{radius:.7g}" mass="{mass:.7g}"/>'


def _hinges(name: str, joint: int, turns: list[Turn]) -> list[Hinge]:
    return [
        Hinge(f"{name}_{'xyz'[t.axis]}", joint, tuple(np.eye(3)[t.axis].tolist()), t.lower, t.upper)
        for t in turns
    ]


def _unscaled(model: Array) -> Array:
    """Frames without the scale of joints."""
    out = np.array(model)
    x = model[..., 0] / np.maximum(np.linalg.norm(model[..., 0], axis=-1, keepdims=True), 1e-12)
    y = model[..., 1] - x * (x * model[..., 1]).sum(-1, keepdims=True)
    y = y / np.maximum(np.linalg.norm(y, axis=-1, keepdims=True), 1e-12)
    out[..., 0], out[..., 1], out[..., 2] = x, y, np.cross(x, y)
    return out


def _names(names: list[str]) -> list[str]:
    out: list[str] = []
    taken = {"world"}  # what MuJoCo calls the outermost body
    for name in names:
        plain = made = _clean(name) or "body"
        number = 2
        while made in taken:
            made, number = f"{plain}_{number}", number + 1
        taken.add(made)
        out.append(made)
    return out


def _clean(name: str) -> str:
    """A name that XML can hold."""
    return "".join(c if c.isprintable() and not 0xD800 <= ord(c) < 0xE000 else "_" for c in name)


def _text(values: Iterable[float]) -> str:
    return " ".join(f"{v:.9g}" for v in np.asarray(values, np.float64).tolist())
