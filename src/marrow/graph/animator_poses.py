"""`PoseOutputs`: the part of an animator that computes poses, matrices and skins of this moment."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.animation.kinematics import output
from marrow.animation.resampling import unpack_rows
from marrow.errors import ValidationError
from marrow.graph.alone import alone
from marrow.graph.animator_core import AnimatorCore
from marrow.graph.compiled import CompiledGraph
from marrow.graph.evaluation import Evaluation, Evaluator, LevelEvaluation
from marrow.graph.level_surfaces import skin_levels
from marrow.graph.levels import LevelGroup, checked_levels
from marrow.graph.program import PoseEvaluator, Program
from marrow.kernels.memory import readonly
from marrow.math import affine, transform
from marrow.model._asset import freeze
from marrow.model.pose import Pose
from marrow.skinning import skin

__all__ = ["PoseOutputs"]

Array = NDArray[Any]


class PoseOutputs(AnimatorCore):
    """Poses and matrices, computed when asked for, once per update; read-only, since what is written there would move
    nothing (`override` places joints)."""

    @property
    def program(self) -> Program:
        """The pose programs of this moment, one per instance; to read."""
        program = self._control.program
        return Program(readonly(program.start), readonly(program.ops), program.depth)

    @property
    def compiled(self) -> CompiledGraph:
        """The graph it runs, compiled for the character; also that of playback by hand."""
        return self._control.compiled

    @property
    def evaluator(self) -> Evaluator:
        """What turns pose programs into poses: the CPU's kernel, unless another is set, as `gpu.Crowd` does. It has to be
        made for the clips of `animator.compiled`; None sets the CPU's again."""
        return self._evaluator

    @evaluator.setter
    def evaluator(self, evaluator: Evaluator | None) -> None:
        compiled = self._control.compiled
        if evaluator is None:
            evaluator = PoseEvaluator(
                compiled.bank, self.character.palette, compiled.masks, compiled.procedurals
            )
        missing = [n for n in ("bank", "layout", "again", "hold", "run") if not hasattr(evaluator, n)]
        if missing:
            raise ValidationError(
                f"evaluator: {type(evaluator).__name__} has no {missing[0]!r}: see Evaluator"
            )
        if evaluator.bank is not compiled.bank:
            raise ValidationError(
                "evaluator: it was made for other clips: give it animator.compiled.bank and the like"
            )
        self._store.memory = evaluator.hold(self._store.memory)
        self._evaluator, self._levels = evaluator, None
        self._drop_poses()

    def evaluation(self) -> Evaluation:
        """What has to be run for the poses of this moment: for code that runs it itself, level by level, and leaves the
        results where they are needed, as `gpu.Crowd` does. Whoever asks for it runs it."""
        self._prepare()
        control, store = self._control, self._store
        store.memory = self._evaluator.hold(store.memory)
        if store.levels is None:
            work = [LevelEvaluation(0, self._evaluator, None)]
        else:
            work = self._crowd_levels().work(store.levels, store.state.instances["interval"])
        self._outputs["ran"] = True
        return Evaluation(control.program, store.memory, control.vectors, tuple(work))

    def _drop_poses(self) -> None:
        """Poses are made anew; what was run once for this update stays."""
        kept = ("prepared", "ran", "events")
        self._outputs = {name: self._outputs[name] for name in kept if name in self._outputs}

    @alone()
    def evaluate(self, *, model: Array | None = None, palette: Array | None = None) -> None:
        """Computes model-space and skinning matrices of this moment into the caller's own memory: float32, C-contiguous,
        `(N, J, 3, 4)`."""
        P, J = len(self.character.palette), len(self.character.skeleton)
        wanted = {"model": (model, J), "palette": (palette, P)}
        outputs = {name: out for name, (out, _) in wanted.items() if out is not None}
        for name, out in outputs.items():
            others = {} if name == "model" else {"model": model}
            output(f"evaluate: {name}", (*self._batch, wanted[name][1], 3, 4), out, **others)
        self._run(**outputs)

    @property
    def pose(self) -> Pose:
        """Local transforms and morph weights of this moment, to read: `override` places joints, `pose.copy()` is yours."""
        found: Pose | None = self._outputs.get("unpacked")
        if found is None:
            J, M = len(self.character.skeleton), len(self.character.skeleton.morph_names)
            rows = self._evaluate("pose", (self._evaluator.layout.size,))
            pose = unpack_rows(rows.reshape(self.count, -1), J, M)
            freeze((pose.translation, pose.rotation, pose.scale, pose.morphs))
            found = self._outputs["unpacked"] = pose if self._batch else pose[0]
        return found

    @property
    def model_matrices(self) -> Array:
        """Model-space matrices `(N, J, 3, 4)`."""
        return self._evaluate("model", (len(self.character.skeleton), 3, 4))

    def socket(self, name: str) -> Array:
        """Where a socket of the skeleton (or a joint) is, in model space: `(N, 3, 4)`."""
        skeleton = self.character.skeleton
        if name in skeleton and all(s.name != name for s in skeleton.sockets):
            return self.model_matrices[..., skeleton.index(name), :, :].copy()
        socket = skeleton.socket(name)
        local = transform.compose(socket.translation, socket.rotation, socket.scale)
        joints = self.model_matrices[..., socket.joint, :, :]
        return affine.multiply(joints, local.astype(np.float32)).astype(np.float32)

    @property
    def matrices(self) -> Array:
        """Skinning matrices `(N, J, 3, 4)`, ready for `mw.skin`, a GPU or a tensor library (see `Palette` for
        characters whose meshes disagree about a joint's bind pose)."""
        return self._evaluate("palette", (len(self.character.palette), 3, 4))

    def skin(self, **options: Any) -> Any:
        """The deformed character, a `Surface`: `mw.skin` of this moment, with its options. Where `levels` are set it is
        `LevelSurfaces`: each instance has the vertices of its level."""
        if self._store.levels is not None:
            return skin_levels(self.level_groups(), self.count, options)
        if not self.character.skeleton.morph_names or "morphs" in options:
            return skin(self.character, self.matrices, **options)
        matrices, morphs = self.matrices_and_morphs()
        return skin(self.character, matrices, morphs=morphs, **options)

    # -- levels of detail -----------------------------------------------------------------------------------------
    @property
    def levels(self) -> Array | int | None:
        """The level of detail each instance is shown at: its number in `character.levels`, or -1 for one that nobody sees.
        None, as long as it was not set: all are shown as they are, and evaluated whole.

            crowd.levels = selector.select(camera, transforms)     # also sets how often each is updated
            crowd.levels = 2                                       # all, or one number each (N,)

        An instance is evaluated for the joints its level has, and none that is not seen; events, states and travel go on in
        any case. `skin` and `level_groups` give each what its level has. In `pose`, `model_matrices`, `matrices` and
        `socket`, which have all joints, those that a level lacks are at rest.
        """
        values = self._store.levels
        if values is None:
            return None
        return readonly(values.copy()) if self._batch else int(values[0])

    @levels.setter
    @alone()
    def levels(self, levels: ArrayLike | None) -> None:
        if levels is None:
            self._store.levels = None
        else:
            every = getattr(levels, "every", None)
            values = checked_levels(levels, self.count, len(self.character.levels))
            if every is not None and (not self._solo or np.max(every) > 1):
                self._running.set_interval(np.broadcast_to(every, (self.count,)))
            self._show_at(values)
        self._drop_poses()

    def level_groups(self) -> tuple[LevelGroup, ...]:
        """The instances that are seen, by level: for each level that some are at, their numbers, skinning matrices and
        morph weights, for the joints the level has and no others. What a renderer draws level by level."""
        if self._store.levels is None:
            self.levels = 0
        found: tuple[LevelGroup, ...] | None = self._outputs.get("groups")
        return self._evaluate_groups() if found is None else found

    @alone()
    def _evaluate_groups(self) -> tuple[LevelGroup, ...]:
        self._prepare()
        groups = self._crowd_levels().groups(self, self._buffers)
        self._outputs["groups"], self._outputs["ran"] = groups, True
        return groups

    def matrices_and_morphs(self) -> tuple[Array, Array]:
        """Skinning matrices `(N, J, 3, 4)` and weights of the morph channels `(N, M)` of this moment, in one pass."""
        M = len(self.character.skeleton.morph_names)
        if M == 0:
            return self.matrices, readonly(np.zeros((*self._batch, 0), np.float32))
        palette, morphs = self._outputs.get("palette"), self._outputs.get("morphs")
        if palette is None or morphs is None:
            palette, morphs = self._evaluate_both()
        return palette, morphs[..., :M]

    @alone()
    def _evaluate_both(self) -> tuple[Array, Array]:
        palette = self._buffers.take((*self._batch, len(self.character.palette), 3, 4))
        morphs = self._buffers.take((*self._batch, self._evaluator.layout.morphs))
        self._run(palette=palette, morphs=morphs)
        self._outputs["palette"], self._outputs["morphs"] = freeze(palette), freeze(morphs)
        return palette, morphs
