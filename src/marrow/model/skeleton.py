"""`Skeleton`: the node tree of a file, parents before children, with its rest pose, morph channels and sockets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.cached import cached_property
from marrow.errors import UnknownNameError, ValidationError, WrongTypeError
from marrow.math import affine, transform
from marrow.model import _late, _validate
from marrow.model._asset import Asset
from marrow.model.hinge import Hinge
from marrow.model.pose import Pose

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Skeleton", "Socket"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Socket(Asset):
    """A named place on a joint to attach things to: `translation`, `rotation`, `scale` relative to the joint."""

    name: str
    joint: int
    translation: Array = field(default_factory=lambda: np.zeros(3, np.float32))
    rotation: Array = field(default_factory=lambda: np.array([0, 0, 0, 1], np.float32))
    scale: Array = field(default_factory=lambda: np.ones(3, np.float32))

    def __post_init__(self) -> None:
        who = f"Socket({_validate.name('Socket', 'name', self.name)!r})"
        _validate.set_fields(
            self,
            joint=_validate.integer(who, "joint", self.joint, hint="use skeleton.index(name)"),
            translation=_validate.array(who, "translation", self.translation, np.float32, (3,)),
            rotation=_validate.array(who, "rotation", self.rotation, np.float32, (4,)),
            scale=_validate.array(who, "scale", self.scale, np.float32, (3,)),
        )


@dataclass(frozen=True, eq=False, repr=False)
class Skeleton(Asset):
    """What a pose addresses: joints (every node of the file is one) and morph channels.

    `names` and `parents (J,)` (-1 for a root; a parent comes before its children), the `rest` pose (its morph weights
    are the defaults), `morph_names` for the M morph channels, and `sockets`. `bones` says which joint is which bone of a
    body (`hips`, `leftUpperArm`, ...: VRM's and Unity's names) where the file says so; `humanoid` also
    where the rig tells. `hinges` are what a robot can turn and slide, in the order of its file.

    Wherever a joint is named, `"@spine"`, `"@left_hand"`, `"@head"` mean that part of the body, whatever the rig calls it
    (`mw.motion.PARTS` lists them).
    """

    names: tuple[str, ...]
    parents: Array
    rest: Pose = None  # type: ignore[assignment]
    morph_names: tuple[str, ...] = ()
    sockets: tuple[Socket, ...] = ()
    bones: dict[str, int] = field(default_factory=dict)
    hinges: tuple[Hinge, ...] = ()

    def __post_init__(self) -> None:
        names = _validate.items("Skeleton", "names", self.names, str)
        parents = _validate.array("Skeleton", "parents", self.parents, np.int32, ("J",))
        J = len(names)
        if len(parents) != J:
            raise ValidationError(
                f"Skeleton.parents: expected shape ({J},) to match names, got {parents.shape}"
            )
        wrong = np.flatnonzero((parents < -1) | (parents >= np.arange(J)))
        if len(wrong):
            j = int(wrong[0])
            raise ValidationError(
                f"Skeleton.parents[{j}] ({names[j]!r}) is {parents[j]}: a parent must come before its children "
                f"(-1 or 0..{j - 1})"
            )
        morphs = _validate.items("Skeleton", "morph_names", self.morph_names, str)
        sockets = _validate.items("Skeleton", "sockets", self.sockets, Socket)
        rest = Pose.identity(J, len(morphs)) if self.rest is None else self.rest
        _validate.instance("Skeleton", "rest", rest, Pose)
        if rest.batch_shape:
            raise ValidationError(
                f"Skeleton.rest: expected a single pose, got a batch of shape {rest.batch_shape}"
            )
        if rest.joint_count != J:
            raise ValidationError(f"Skeleton.rest: expected {J} joints, got {rest.joint_count}")
        if rest.morph_count != len(morphs):
            if rest.morph_count:
                raise ValidationError(
                    f"Skeleton.rest: expected {len(morphs)} morph weights, got {rest.morph_count}"
                )
            rest = rest.replace(morphs=np.zeros(len(morphs), np.float32))
        frozen_rest = Pose(
            *(
                _validate.array("Skeleton.rest", k, getattr(rest, k), np.float32, (None,), leading=True)
                for k in ("translation", "rotation", "scale", "morphs")
            )
        )
        for s in sockets:
            if not 0 <= s.joint < J:
                raise ValidationError(f"Socket({s.name!r}).joint is {s.joint}: expected 0..{J - 1}")
        hinges = _validate.items("Skeleton", "hinges", self.hinges, Hinge)
        for h in hinges:
            if h.joint >= J:
                raise ValidationError(f"Hinge({h.name!r}).joint is {h.joint}: expected 0..{J - 1}")
        if len({h.joint for h in hinges}) < len(hinges):
            raise ValidationError("Skeleton.hinges: two hinges are on one joint")
        _validate.set_fields(
            self,
            names=names,
            parents=parents,
            rest=frozen_rest,
            morph_names=morphs,
            sockets=sockets,
            bones=_checked_bones(self.bones, J),
            hinges=hinges,
        )

    def __len__(self) -> int:
        return len(self.names)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        roots = [self.names[r] for r in self.roots[:3]]
        extra = f", {len(self.morph_names)} morphs" if self.morph_names else ""
        extra += f", {len(self.sockets)} sockets" if self.sockets else ""
        extra += f", {len(self.hinges)} hinges" if self.hinges else ""
        return f"Skeleton({len(self)} joints, roots={roots}{'...' if len(self.roots) > 3 else ''}{extra})"

    @cached_property
    def _index(self) -> dict[str, int]:
        # The first of several joints with one name answers to it.
        return {n: i for i, n in reversed(list(enumerate(self.names)))}

    @cached_property
    def _morph_index(self) -> dict[str, int]:
        return {n: i for i, n in reversed(list(enumerate(self.morph_names)))}

    @cached_property
    def roots(self) -> tuple[int, ...]:
        """Joints without a parent."""
        return tuple(int(i) for i in np.flatnonzero(self.parents < 0))

    @cached_property
    def depth(self) -> Array:
        """How many steps each joint is from its root, `(J,)`."""
        depth = np.zeros(len(self), np.int32)
        for j, p in enumerate(self.parents.tolist()):
            if p >= 0:
                depth[j] = depth[p] + 1
        return _validate.owned(depth)

    @cached_property
    def _by_parent(self) -> tuple[Array, Array]:
        """The joints by their parents `(J,)`, and where the children of each begin `(J + 1,)`."""
        order = np.argsort(self.parents, kind="stable")
        return order, np.searchsorted(self.parents[order], np.arange(len(self) + 1))

    @cached_property
    def _spans(self) -> tuple[Array, Array]:
        """Numbers of the joints, depth first, and how many joints there are from each downward: those below a joint have
        the numbers after its own."""
        parents = self.parents.tolist()
        count = [1] * len(parents)
        for j in range(len(parents) - 1, -1, -1):
            if parents[j] >= 0:
                count[parents[j]] += count[j]
        number, free, total = [0] * len(parents), [0] * len(parents), 0
        for j, p in enumerate(parents):
            if p < 0:
                number[j], total = total, total + count[j]
            else:
                number[j] = free[p]
                free[p] += count[j]
            free[j] = number[j] + 1
        return np.array(number, np.int64), np.array(count, np.int64)

    def index(self, joint: str | int) -> int:
        """The index of a joint by name or part (`"@left_hand"`); an index is checked and handed back."""
        if isinstance(joint, str):
            found = self._index.get(joint)
            return _late.function("motion.parts", "joint_called")(self, joint) if found is None else found
        return _validate.position("joint", joint, len(self))

    def __contains__(self, joint: object) -> bool:
        if not isinstance(joint, str):
            return False
        return joint in self._index or (joint[:1] == "@" and self._part(joint) is not None)

    def _part(self, name: str) -> int | None:
        found: int | None = _late.function("motion.parts", "part_joint")(self, name)
        return found

    @cached_property
    def humanoid(self) -> Mapping[str, int]:
        """Which joint is which bone of a body: `hips`, `leftUpperArm`, ... (VRM's and Unity's names). What the file says
        (`bones`), else what the names and the shape of the rig tell; empty for what has no such body."""
        found: dict[str, int] = self.bones or _late.function("motion.parts", "found_bones")(self)
        return MappingProxyType(found)

    def morph_index(self, morph: str | int) -> int:
        """The index of a morph channel by name."""
        if isinstance(morph, str):
            try:
                return self._morph_index[morph]
            except KeyError:
                raise UnknownNameError("morph", morph, self.morph_names) from None
        return _validate.position("morph", morph, len(self.morph_names))

    def children(self, joint: str | int) -> tuple[int, ...]:
        """The joints directly below."""
        order, begin = self._by_parent
        j = self.index(joint)
        return tuple(order[begin[j] : begin[j + 1]].tolist())

    def descendants(self, joint: str | int) -> Array:
        """The joint and all below it, in order, `(D,)` int32."""
        j = self.index(joint)
        number, count = self._spans
        return np.flatnonzero((number >= number[j]) & (number < number[j] + count[j])).astype(np.int32)

    def ancestors(self, joint: str | int) -> tuple[int, ...]:
        """The joints above, nearest first."""
        chain, j = [], int(self.parents[self.index(joint)])
        while j >= 0:
            chain.append(j)
            j = int(self.parents[j])
        return tuple(chain)

    def mask(
        self,
        joint: str | int | Sequence[str | int],
        *,
        depth_falloff: float | Callable[[Array], ArrayLike] = 0.0,
        weight: float = 1.0,
    ) -> Array:
        """How strongly each joint takes part, `(J,)` float32: `weight` from `joint` downward, zero elsewhere.

        `depth_falloff=d` lets the weight grow from the joint down over `d` steps, so that a layer does not start with a
        kink: the joint itself gets `1 / (d + 1)`, its children `2 / (d + 1)`, and so on up to one. A function of the
        steps below the joint gives any other curve. Several joints: the strongest wins.
        """
        several = isinstance(joint, (list, tuple, set, frozenset, np.ndarray))
        joints: Any = joint if several else [joint]
        weight = _validate.number("mask", "weight", weight)
        falloff = (
            None
            if callable(depth_falloff) and not isinstance(depth_falloff, type)
            else _validate.number("mask", "depth_falloff", depth_falloff, low=0)
        )
        out = np.zeros(len(self), np.float32)
        for name in joints:
            start = self.index(name)
            below = self.descendants(start)
            steps = (self.depth[below] - self.depth[start]).astype(np.float32)
            if falloff is None:
                curve = depth_falloff(steps)  # type: ignore[operator]
                ramp = _validate.array("mask", "depth_falloff(steps)", curve, np.float32, steps.shape)
            else:
                ramp = np.minimum(1.0, (steps + 1) / np.float32(falloff + 1))
            out[below] = np.maximum(out[below], np.float32(weight) * ramp)
        return out

    def socket(self, name: str) -> Socket:
        """A socket by name."""
        for s in self.sockets:
            if isinstance(name, str) and s.name == name:
                return s
        raise UnknownNameError("socket", name, [s.name for s in self.sockets])

    @cached_property
    def rest_model(self) -> Array:
        """Model-space matrices of the rest pose, `(J, 3, 4)` float32."""
        rest = self.rest
        local = transform.compose(
            *(np.asarray(a, np.float64) for a in (rest.translation, rest.rotation, rest.scale))
        )
        model = np.empty_like(local)
        for j, p in enumerate(self.parents.tolist()):
            model[j] = local[j] if p < 0 else affine.multiply(model[p], local[j])
        return _validate.owned(model.astype(np.float32))

    def from_model(self, model: Array) -> Pose:
        """The pose whose `to_model` is `model (..., J, 3, 4)`. Exact where no joint is sheared against its parent; shear
        has no place in a pose and is lost (see `marrow.math.transform.decompose`). Morph weights are the rest pose's."""
        return _late.function("animation.kinematics", "from_model")(self, model)

    def to_model(self, pose: Pose, *, from_joint: str | int | None = None, out: Array | None = None) -> Array:
        """Model-space matrices `(..., J, 3, 4)` of a pose, exact under non-uniform scale (shear included).

        `from_joint` recomputes only that joint and those below it inside `out`, which must hold the matrices of the
        rest of the body.
        """
        return _late.function("animation.kinematics", "to_model")(self, pose, from_joint=from_joint, out=out)


def _checked_bones(given: object, J: int) -> dict[str, int]:
    """Bones of a body by name, each a joint of its own."""
    if not isinstance(given, Mapping):
        raise WrongTypeError(f"Skeleton.bones: expected joints by bone, got {_validate.shown(given)}")
    bones = {}
    for name, joint in given.items():
        _validate.name("Skeleton", "bones", name)
        bones[name] = _validate.integer(
            "Skeleton", f"bones[{name!r}]", joint, low=0, hint="use skeleton.index(name)"
        )
        if bones[name] >= J:
            raise ValidationError(f"Skeleton.bones[{name!r}] is joint {joint}: expected 0..{J - 1}")
    if len(set(bones.values())) < len(bones):
        raise ValidationError("Skeleton.bones: two bones are one joint")
    return bones
