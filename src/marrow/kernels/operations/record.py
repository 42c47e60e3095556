"""What an operation of pose programs is: one record that says everything about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marrow.kernels.language.annotations import ANY, C, J, Out, P, Records, f4, i4, i8
from marrow.kernels.language.constants import Constants
from marrow.kernels.language.lanes import block

__all__ = ["OPERATION", "Argument", "Operation", "PoseWork", "ReferenceWorld", "Rows"]

Array = NDArray[Any]
Rows = list[Array]
"""A pose in the reference: translation `(J, 3)`, rotation `(J, 4)`, scale `(J, 3)`, morph weights `(M,)`, float64."""

OPERATION = np.dtype(
    [("code", np.int32), ("argument", np.int32), ("time", np.float32), ("weight", np.float32)]
)
"""One operation of a program as it lies in memory."""

Argument = Literal["none", "clip", "mask", "channel masks", "pose memory", "inertia memory"]
"""What the whole number of an operation names, where it names no constants. `clip`: an entry of the bank. `mask`: a row of the masks;
`channel masks`: the first of three. `pose memory`, `inertia memory`: where in the instance's memory a pose or a difference lies."""


class PoseWork(NamedTuple):
    """All that programs work with: what every operation may read and write.

    Of the `Jp` numbers in a row of a pose the first `lanes` are evaluated, and `parents` has the joints among them: a level of
    detail needs the first joints only. Lane formulas run over `lanes`, rows lie `Jp` apart. `instances` are those to evaluate, all
    where it is empty; their outputs lie behind one another. The program of instance n is `ops` from `start[n]` to `end[n]`; `before`
    has the lengths of programs that are to be run before these, none of which may have any.

    `bank` has the frames of clips as pose rows. Where `clip_packed` is not -1, a clip is packed (`kernels.packed_layout`): its record begins
    there among the words of `packed`, and its base pose at `clip_start` of the bank.
    """

    before: i8[ANY]
    start: i8[ANY]
    end: i8[ANY]
    ops: Records[OPERATION, ANY]
    rules: i8[ANY]
    bank: f4[ANY]
    clip_start: i8[C]
    clip_frames: i8[C]
    clip_rate: f4[C]
    clip_packed: i8[C]
    packed: i4[ANY]
    masks: f4[ANY]
    parents: i4[J]
    palette_joints: i4[P]
    inverse_bind: f4[ANY]
    memory: Out[f4[ANY, ANY]]
    vectors: f4[ANY, ANY]
    ints: i4[ANY]
    floats: f4[ANY]
    stack: Out[f4[ANY]]
    local: Out[f4[ANY]]
    model: Out[f4[ANY]]
    out_pose: Out[f4[ANY]]
    out_model: Out[f4[ANY]]
    out_palette: Out[f4[ANY]]
    out_morphs: Out[f4[ANY]]
    instances: i8[ANY]
    Jp: int
    Mp: int
    lanes: int
    depth: int
    wanted: int


@dataclass
class ReferenceWorld:
    """What programs refer to, for the reference: `sample(clip, time)` gives translation, rotation, scale and morph weights;
    `masks (n, J + M)`; what is kept, and what constants say, by the argument that names it."""

    sample: Callable[[int, float], Any]
    masks: Array
    parents: Array | None = None
    memory: dict[Any, Any] = field(default_factory=dict)
    constants: dict[int, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Operation:
    """One operation of pose programs.

    `run(work, n, top, argument, time, weight)` is its kernel function: instance `n`, `top` where its result lies on the stack
    (the poses it takes off lie behind it, the first at `top` itself unless it pushes). `argument` is what its whole number names,
    constants among others, which are looked at before it runs. `reference(stack, world, argument,
    time, weight)` is the specification, in float64, on a list of poses. `formulas` are the lane formulas that `run` is made
    of. `pops` poses are taken from the stack and `pushes` put there.
    """

    name: str
    code: int
    meaning: str
    pops: int
    pushes: int
    argument: Argument | Constants
    time: str
    weight: str
    run: Callable[..., None]
    reference: Callable[..., None]
    formulas: tuple[Any, ...] = ()

    @property
    def names(self) -> str:
        """What its argument names."""
        return self.argument.name if isinstance(self.argument, Constants) else self.argument


def _emit_copy(e: Any, k: Any, source: Any, a: Any, out: Any, b: Any) -> None:
    e.store(out, e.plus(b, k), e.load(source, e.plus(a, k)))


copy_lanes = block(_emit_copy)
"""16 numbers from one array to another, `k` behind both places."""


def row_size(work):
    """The numbers in a pose row."""
    return 10 * work.Jp + work.Mp


def copy_pose(work, source, a, out, b):
    """The joints of a pose row that are evaluated, and its morphs, from one place to another."""
    if work.lanes == work.Jp:
        copy_lanes.each(0, row_size(work), 16, source, a, out, b)
        return
    for r in range(10):
        copy_lanes.each(0, work.lanes, 16, source, a + r * work.Jp, out, b + r * work.Jp)
    copy_lanes.each(10 * work.Jp, row_size(work), 16, source, a, out, b)


def runs_alone(operation: Operation) -> bool:
    """Whether one invocation of a shader runs an operation, rather than a workgroup together: it has no lane formulas."""
    from marrow.kernels.language.frontend import lower
    from marrow.kernels.language.types import FLOAT, INTEGER, kind_of
    from marrow.kernels.language.wgsl_analysis import runs_together

    return not runs_together(lower(operation.run, [kind_of(PoseWork), *[INTEGER] * 3, FLOAT, FLOAT]))
