"""`Springs`: hair, tails and skirts that swing."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import msgspec

from marrow.errors import ValidationError
from marrow.graph.nodes.base import AnyNode, Names, Node, Value, Vector, gather_names
from marrow.graph.nodes.procedural import compile_procedural, target_space
from marrow.graph.root_tracks import travelling_joint
from marrow.graph.spring_plan import plan_springs
from marrow.graph.spring_sets import SpringSet, chain_joints, collider_of, own_springs
from marrow.graph.tables import Part, Place
from marrow.kernels.operations import codes as kernel
from marrow.kernels.operations.spring_set import SPRING_SET
from marrow.model._asset import Replaceable

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.placeholder import Requirements

__all__ = ["SpringChain", "SpringCollider", "Springs", "swings"]


class SpringCollider(
    msgspec.Struct, Replaceable, frozen=True, omit_defaults=True, forbid_unknown_fields=True
):
    """A sphere, a capsule (with a `tail`: its other end) or a plane (with a `normal`) that springs do not enter, or do
    not leave (`inside`), at `offset` in the frame of a joint."""

    joint: str
    radius: float = 0.0
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    tail: tuple[float, float, float] | None = None
    normal: tuple[float, float, float] | None = None
    inside: bool = False


class SpringChain(msgspec.Struct, Replaceable, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Joints that swing: one name means that joint and all below it; several, from the body outward, those of which
    each swings towards the next. The last one swings where `end` says how far its tail is behind it, in metres.

    `stiffness` draws back to the rest pose, `drag` (0 to 1) slows down, `gravity` draws along `direction` (of the
    world), all as VRM has them; `radius` is how far from its tail a joint touches colliders (those of the node, by
    number; left out: all); `limit` is how far it turns from rest at most, in radians. With a `center` it swings as seen
    from that joint: what moves the center does not swing it. What is left out is as the node has it."""

    joints: Names
    stiffness: float | None = None
    drag: float | None = None
    gravity: float | None = None
    radius: float | None = None
    limit: float | None = None
    direction: tuple[float, float, float] = (0.0, -1.0, 0.0)
    end: float = 0.0
    center: str = ""
    colliders: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        gather_names(self)


class Springs(Node, frozen=True):
    """Lets chains of joints swing: hair, tails, skirts, antennas. Without `chains` those that the character's file has
    (VRM's spring bones); such characters have them in any graph that has no `Springs` of its own, unless
    `mw.Animator(..., springs=False)`.

    A chain is a joint by name, which swings with all below it, or a `SpringChain`. `stiffness`, `drag`, `gravity`,
    `radius` and `limit` hold for chains that say nothing else. `wind` is a velocity in metres a second, of the world,
    added to gravity: three numbers or a vector parameter. Joints swing from their rest pose: clips do not turn them.
    The same motion swings them in the same way at any frame rate (`animator.springs.exact`); instances that are put
    somewhere else, or whose level of detail comes back, do not start swinging by that. `weight` mixes."""

    source: AnyNode
    chains: tuple[str | SpringChain, ...] | None = None
    stiffness: float = 1.0
    drag: float = 0.4
    gravity: float = 0.0
    radius: float = 0.0
    limit: float = math.pi
    colliders: tuple[SpringCollider, ...] = ()
    wind: Vector = (0.0, 0.0, 0.0)
    weight: Value = 1.0

    colour: ClassVar[str] = "#f7e8f3"

    def require(self, requirements: Requirements) -> None:
        for chain in self.chains or ():
            if isinstance(chain, str):
                requirements.chain(chain, f"{chain} tail")
            else:
                end = () if len(chain.joints) > 1 else (f"{chain.joints[0]} tail",)
                requirements.chain(*chain.joints, *end)
                requirements.joints(*((chain.center,) if chain.center else ()))
        requirements.joints(*(c.joint for c in self.colliders))

    def springs(self, compiler: Compiler, path: str) -> SpringSet:
        """What swings, for the character at hand."""
        if self.chains is None:
            if self.colliders:
                raise ValidationError(f"{path}.colliders: they belong to chains: name those too")
            return own_springs(compiler.character)
        return named_springs(self, compiler, path)

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c, path = compiler, at.path
        found = self.springs(c, path)
        if not found.joints:
            if self.chains is None and c.standalone:
                (part,) = c.children(at, [(self.source, ".source", at.scope)])
                return c.passed(at, part)
            what = (
                "the character's file has no springs: name chains"
                if self.chains is None
                else "no joint swings"
            )
            raise ValidationError(f"{path}.chains: {what}")
        plan = plan_springs(c.skeleton, found.joints, found.colliders, travelling_joint(c.character))
        if not plan.joints:
            raise ValidationError(f"{path}.chains: no joint swings: {plan.dropped[0]}")
        axes = [c.builder.vector(v, path) for v in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))]
        vectors = [*axes, c.builder.vector(self.wind, f"{path}.wind")]
        memory, header = c.keep_state(plan.kept), c.header()
        target_space(c, "world", path, *((v, True) for v in vectors))
        place = {"memory": memory, "header": header, "vectors": c.vectors}
        index = c.constants(SPRING_SET, **place, **plan.fields)
        c.springs[path] = replace(plan, place=place, at=index, wind=len(c.world_vectors) - 1)
        return compile_procedural(
            c,
            at,
            self.source,
            self.weight,
            code=kernel.SPRINGS,
            index=index,
            refs=[r for v in vectors for r in v],
        )


def named_springs(node: Springs, c: Compiler, path: str) -> SpringSet:
    """The chains and colliders of a node."""
    colliders = [collider_of(c, k, f"{path}.colliders[{n}]") for n, k in enumerate(node.colliders)]
    joints = []
    for n, chain in enumerate(node.chains or ()):
        given = SpringChain(chain) if isinstance(chain, str) else chain
        joints += chain_joints(c, node, given, len(colliders), f"{path}.chains[{n}]")
    return SpringSet(tuple(joints), tuple(colliders), ())


def swings(node: AnyNode) -> bool:
    """Whether a tree of nodes has springs."""
    if isinstance(node, str):
        return False
    if type(node).expand is not Node.expand:
        return swings(node.expand())
    return isinstance(node, Springs) or any(swings(below.node) for below in node.children())
