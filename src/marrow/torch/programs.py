"""Graphs in training: the pose programs of an animator as a differentiable function of weights, times and masks.

Which states are entered, which clips play and in what order they are mixed are decisions: they have no gradient. What
follows from them has one: a program is a fixed formula over clips, and its weights and times are numbers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import torch
from marrow.animation.resampling import unpack_rows
from marrow.errors import ValidationError, WrongTypeError
from marrow.graph import Animator
from marrow.kernels.operations import OPERATIONS
from marrow.torch.rotations import multiply, normalized
from marrow.torch.sampling import PoseTensors
from marrow.torch.tensor_checks import shape_error
from torch import Tensor, nn

__all__ = ["ProgramModule"]


class ProgramModule(nn.Module):
    """The pose programs of an animator's last update.

    `weights (n,)`, `times (n,)` and `masks` are what the programs have now; call it with others, which may be the output
    of a network, and gradients flow back to them. `instances (n,)` and `names` say which operation each number belongs to.
    """

    weights: Tensor
    times: Tensor
    masks: Tensor

    def __init__(self, animator: Animator) -> None:
        super().__init__()
        if not isinstance(animator, Animator):
            raise WrongTypeError(f"Programs: expected an Animator, got {type(animator).__name__}")
        program, bank = animator.evaluation.program, animator.evaluation.compiled.bank.unpacked()
        J, M = len(bank.skeleton), len(bank.skeleton.morph_names)
        size = bank.layout.size
        rows = unpack_rows(bank.rows.reshape(-1, size), J, M)
        for name in PoseTensors._fields:
            self.register_buffer(
                f"bank_{name}", torch.tensor(np.array(getattr(rows, name))), persistent=False
            )
        masks = animator.evaluation.compiled.masks.copy()
        first = int(program.start[0])
        start = program.start - first
        ops = program.ops[first : int(program.start[-1])]
        counts = np.diff(start)
        self.count, self.joint_count, self.parents = (
            len(program),
            J,
            tuple(int(p) for p in bank.skeleton.parents),
        )
        self.names = tuple(OPERATIONS[code].name for code in ops["code"].tolist())
        known = set(_STEPS)
        unknown = sorted(set(self.names) - known)
        if unknown:
            raise ValidationError(
                f"Programs: {', '.join(unknown)} cannot be differentiated; leave out inertia, inverse kinematics and "
                "the like, or apply them to the result"
            )

        def keep(name: str, values: np.ndarray) -> None:
            self.register_buffer(name, torch.tensor(np.array(values)), persistent=False)

        keep("weights", ops["weight"])
        keep("times", ops["time"])
        keep("masks", masks)
        keep("arguments", ops["argument"].astype(np.int64))
        keep("instances", np.repeat(np.arange(len(program)), counts))
        keep("clip_first", bank.start // size)
        keep("clip_frames", bank.frames)
        keep("clip_rate", bank.rate)
        # Instances whose programs have the same operations are evaluated side by side.
        alike: dict[bytes, list[int]] = {}
        for n in range(len(program)):
            alike.setdefault(ops["code"][start[n] : start[n + 1]].tobytes(), []).append(n)
        self._groups: list[tuple[tuple[str, ...], str, str]] = []
        for g, members in enumerate(alike.values()):
            first = start[members[0]]
            keep(f"members_{g}", np.array(members))
            length = int(counts[members[0]])
            keep(f"places_{g}", np.array([start[n] for n in members])[:, None] + np.arange(length))
            self._groups.append((self.names[first : first + length], f"members_{g}", f"places_{g}"))

    def forward(
        self, weights: Tensor | None = None, times: Tensor | None = None, masks: Tensor | None = None
    ) -> PoseTensors:
        """The poses `(N, ...)` that the programs give with these numbers."""
        weights = self.weights if weights is None else weights
        times = self.times if times is None else times
        masks = self.masks if masks is None else masks
        for name, own, given in (
            ("weights", self.weights, weights),
            ("times", self.times, times),
            ("masks", self.masks, masks),
        ):
            if not isinstance(given, Tensor) or given.shape != own.shape:
                raise shape_error("ProgramModule", name, given, f"a tensor {tuple(own.shape)}")
        parts: list[PoseTensors] = []
        order: list[Tensor] = []
        for names, members, places in self._groups:
            at = getattr(self, places)
            stack: list[PoseTensors] = []
            for step, name in enumerate(names):
                here = at[:, step]
                _STEPS[name](self, stack, self.arguments[here], times[here], weights[here], masks)
            pose = stack[-1]
            parts.append(pose._replace(rotation=normalized(pose.rotation)))
            order.append(getattr(self, members))
        place = torch.argsort(torch.cat(order)) if order else torch.zeros(0, dtype=torch.int64)
        return PoseTensors(*(torch.cat(rows)[place] for rows in zip(*parts)))

    def clip_at(self, clip: Tensor, time: Tensor) -> PoseTensors:
        """Clips `(n,)` of the bank at times `(n,)`, between two frames."""
        frames, first = self.clip_frames[clip], self.clip_first[clip]
        u = (time * self.clip_rate[clip]).clamp(min=0)
        u = torch.minimum(u, (frames - 1).to(u.dtype))
        frame = torch.minimum(u.detach().floor().long(), (frames - 2).clamp(min=0))
        after = torch.minimum(frame + 1, frames - 1)
        share = u - frame
        out = []
        for name in PoseTensors._fields:
            rows = getattr(self, f"bank_{name}").to(u.dtype)
            a, b = rows[first + frame], rows[first + after]
            t = share.reshape(-1, *[1] * (a.ndim - 1))
            out.append(a + t * (b - a))
        return PoseTensors(*out)


Step = Callable[[ProgramModule, list[PoseTensors], Tensor, Tensor, Tensor, Tensor], None]


def _joint(w: Tensor) -> Tensor:
    return w[:, None, None]


def _weighted(pose: PoseTensors, w: Tensor) -> PoseTensors:
    return PoseTensors(
        _joint(w) * pose.translation,
        _joint(w) * normalized(pose.rotation),
        _joint(w) * pose.scale,
        w[:, None] * pose.morphs,
    )


def _sided(q: Tensor, other: Tensor) -> Tensor:
    """`other` on the side of `q`."""
    return torch.where((q * other).sum(-1, keepdim=True) < 0, -other, other)


def _summed(top: PoseTensors, other: PoseTensors, w: Tensor) -> PoseTensors:
    more = _weighted(other, w)
    return PoseTensors(
        top.translation + more.translation,
        top.rotation + _joint(w) * _sided(top.rotation, normalized(other.rotation)),
        top.scale + more.scale,
        top.morphs + more.morphs,
    )


def _sample(
    p: ProgramModule, stack: list[PoseTensors], argument: Tensor, time: Tensor, w: Tensor, masks: Tensor
) -> None:
    stack.append(_weighted(p.clip_at(argument, time), w))


def _accumulate(
    p: ProgramModule, stack: list[PoseTensors], argument: Tensor, time: Tensor, w: Tensor, masks: Tensor
) -> None:
    stack.append(_summed(stack.pop(), p.clip_at(argument, time), w))


def _scale(
    p: ProgramModule, stack: list[PoseTensors], argument: Tensor, time: Tensor, w: Tensor, masks: Tensor
) -> None:
    stack.append(_weighted(stack.pop(), w))


def _merge(
    p: ProgramModule, stack: list[PoseTensors], argument: Tensor, time: Tensor, w: Tensor, masks: Tensor
) -> None:
    other = stack.pop()
    stack.append(_summed(stack.pop(), other, w))


def _mixed(
    p: ProgramModule, stack: list[PoseTensors], shares: list[Tensor], morphs: Tensor, model: bool = False
) -> None:
    """Translation, rotation and scale by shares `(n, J, 1)` each, morphs by `(n, M)`."""
    other = stack.pop()
    top = stack.pop()
    a, b = normalized(top.rotation), normalized(other.rotation)
    if model:
        rotation = _mixed_in_model_space(p.parents, a, b, shares[1])
    else:
        rotation = a * (1 - shares[1]) + _sided(a, b) * shares[1]
    stack.append(
        PoseTensors(
            top.translation + shares[0] * (other.translation - top.translation),
            rotation,
            top.scale + shares[2] * (other.scale - top.scale),
            top.morphs + morphs * (other.morphs - top.morphs),
        )
    )


def _mixed_in_model_space(parents: tuple[int, ...], a: Tensor, b: Tensor, share: Tensor) -> Tensor:
    """Local rotations of a mix of rotations as they are in model space; joints under a share of zero keep their own."""
    base: list[Tensor] = []
    over: list[Tensor] = []
    out: list[Tensor] = []
    local: list[Tensor] = []
    for j, up in enumerate(parents):
        mine, theirs, k = a[:, j], b[:, j], share[:, j]
        base.append(mine if up < 0 else multiply(base[up], mine))
        over.append(theirs if up < 0 else multiply(over[up], theirs))
        kept = mine if up < 0 else multiply(out[up], mine)
        mixed = normalized(base[j] * (1 - k) + _sided(base[j], over[j]) * k)
        out.append(torch.where(k == 0, kept, mixed))
        if up < 0:
            local.append(out[j])
        else:
            back = torch.cat([-out[up][:, :3], out[up][:, 3:]], -1)
            local.append(torch.where(k == 0, mine, multiply(back, out[j])))
    return torch.stack(local, 1)


def _blend(
    p: ProgramModule, stack: list[PoseTensors], argument: Tensor, time: Tensor, w: Tensor, masks: Tensor
) -> None:
    _mixed(p, stack, [_joint(w)] * 3, w[:, None])


def _layer(
    p: ProgramModule, stack: list[PoseTensors], argument: Tensor, time: Tensor, w: Tensor, masks: Tensor
) -> None:
    mask = w[:, None] * masks[argument]
    _mixed(p, stack, [mask[:, : p.joint_count, None]] * 3, mask[:, p.joint_count :])


def _channels(
    p: ProgramModule, stack: list[PoseTensors], argument: Tensor, w: Tensor, masks: Tensor, model: bool
) -> None:
    rows = [w[:, None] * masks[argument + k] for k in range(3)]
    _mixed(p, stack, [row[:, : p.joint_count, None] for row in rows], rows[0][:, p.joint_count :], model)


def _layer_channels(
    p: ProgramModule, stack: list[PoseTensors], argument: Tensor, time: Tensor, w: Tensor, masks: Tensor
) -> None:
    _channels(p, stack, argument, w, masks, False)


def _layer_model(
    p: ProgramModule, stack: list[PoseTensors], argument: Tensor, time: Tensor, w: Tensor, masks: Tensor
) -> None:
    _channels(p, stack, argument, w, masks, True)


def _add(
    p: ProgramModule, stack: list[PoseTensors], argument: Tensor, time: Tensor, w: Tensor, masks: Tensor
) -> None:
    other = stack.pop()
    top = stack.pop()
    mask = w[:, None] * masks[argument]
    k = mask[:, : p.joint_count, None]
    d = normalized(other.rotation)
    d = torch.where(d[..., 3:] < 0, -d, d)
    turn = d * k + (1 - k) * d.new_tensor([0.0, 0.0, 0.0, 1.0])
    stack.append(
        PoseTensors(
            top.translation + k * other.translation,
            multiply(normalized(top.rotation), turn),
            top.scale * (1 + k * (other.scale - 1)),
            top.morphs + mask[:, p.joint_count :] * other.morphs,
        )
    )


_STEPS: dict[str, Step] = {
    "SAMPLE": _sample,
    "ACCUMULATE": _accumulate,
    "BLEND": _blend,
    "LAYER": _layer,
    "ADD": _add,
    "LAYER_CHANNELS": _layer_channels,
    "LAYER_MODEL": _layer_model,
    "MERGE": _merge,
    "SCALE": _scale,
}
