"""`QuickStep`: the update of a few characters as one call of machine code.

For one character the kernels take a microsecond, and what surrounds them in Python would take ten. Where an update is as
the last one was (a number of seconds for all, the same arrays, nothing in it that needs the Python side) its frames are
ready: the control kernel is run, and behind it the pose kernel where the matrices of the last update were asked for.
"""

from __future__ import annotations

from sys import getrefcount
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.graph.control import LONG_STEP
from marrow.graph.pose_program import PoseEvaluator, unsound
from marrow.kernels.control import update_graph
from marrow.kernels.control_chunks import gather_chunks
from marrow.kernels.jobs import in_machine_code
from marrow.kernels.memory import aligned_zeros
from marrow.kernels.pose_programs import PALETTE, run_programs

if TYPE_CHECKING:
    from marrow.graph.animator.runtime import AnimatorRuntime

__all__ = ["QuickStep"]

Array = NDArray[Any]
MOST = 64
"""Instances up to which it is used: for more, what surrounds the kernels hardly counts."""
_SECONDS, _GIVEN = update_graph.offsets["seconds"], update_graph.offsets["dt"] + 1
_UNUSUAL = gather_chunks.results
_KEPT = _UNUSUAL + 1
_WANTED, _OUT = run_programs.offsets["work.wanted"], run_programs.offsets["work.out_palette"]
_WRONG = run_programs.results
_FREE, _FREE_BASE = 3, 4
"""References to a result that nobody holds: the tuple it is in, a name, and the call that counts them; and to its base,
which the result holds besides."""


class QuickStep:
    """What an update needs, bound once. It holds as long as the arrays of the instances and their programs are the same."""

    __slots__ = (
        "_both_jobs", "_bound", "_chains", "_control", "_found", "_given", "_numbers", "_pass", "_pose_words", "_programs",
        "_results", "_shape", "_spread", "_store", "_update_jobs", "_version",
    )  # fmt: skip

    @staticmethod
    def suits(runtime: AnimatorRuntime) -> bool:
        """Whether updates of an animator need nothing but the two kernels."""
        control, store = runtime.control, runtime.control.store
        compiled = control.compiled
        return (
            in_machine_code()
            and type(runtime.evaluator) is PoseEvaluator
            and control.count <= MOST
            and len(control.programs.regions) == 1
            and store.levels is None
            and store.handover is None
            and not (compiled.functions or compiled.placed or compiled.matches or control.lasting.names)
        )

    def __init__(self, runtime: AnimatorRuntime) -> None:
        control, evaluator = runtime.control, runtime.evaluator
        assert isinstance(evaluator, PoseEvaluator)
        self._control, self._store, self._programs = control, control.store, control.programs
        self._pass, self._version, self._bound = control.kernels, control.store.version, control.kernels.bound
        pose = evaluator.bound_frame(control.program, control.memory, control.vectors)
        pose.put_one("work.before", control.programs.written[:-1])
        self._shape = (*runtime.batch, len(runtime.character.palette), 3, 4)
        self._results = [self._result() for _ in range(3)]
        pose.lend("work.out_palette", self._results[0][0])
        pose.words[_WANTED] = PALETTE
        pose.check()
        self._pose_words = pose.words
        update, gathered, self._chains = control.kernels.chains(control.count, pose)
        self._numbers, self._given, self._found = update.numbers, update.words, gathered.words
        self._spread: Any = self._chains[0].spread
        self._update_jobs, self._both_jobs = (chain.bytes for chain in self._chains)

    def _result(self) -> tuple[Array, Array, int]:
        """An array for matrices, its base, and where they are. Behind a memoryview the base has none itself: who has a view
        of the result holds it, too."""
        memory = aligned_zeros(self._shape)
        base = np.frombuffer(memoryview(memory).cast("B"), np.float32)
        base.flags.writeable = False
        return base.reshape(self._shape), base, memory.__array_interface__["data"][0]

    @property
    def holds(self) -> bool:
        """Whether what was bound is what there is."""
        return (
            self._store.version == self._version
            and self._control.programs is self._programs
            and self._pass.bound is self._bound
        )

    def update(self, runtime: AnimatorRuntime, dt: float) -> bool:
        """Moves all instances on by `dt` seconds. Does nothing and returns False where something is not as it was."""
        store, control, programs = self._store, self._control, self._programs
        speed = store.speed
        if (
            store.version != self._version
            or control.programs is not programs
            or self._pass.bound is not self._bound
            or type(speed) is not float
            or runtime.asked
        ):
            return False
        seconds = dt * speed
        if not 0.0 <= seconds <= LONG_STEP or (programs.kept and "ran" not in runtime.outputs):
            return False
        runtime.outputs = {}
        control.forget_moment()
        self._numbers[_SECONDS], self._given[_GIVEN] = seconds, 0
        found = self._found
        if not runtime.wants_matrices:
            self._spread(self._update_jobs)
        else:
            runtime.wants_matrices = False
            words = self._pose_words
            for result, base, words[_OUT] in self._results:
                if getrefcount(result) == _FREE and getrefcount(base) == _FREE_BASE:
                    break
            else:
                result, base, words[_OUT] = self._results[0] = self._result()
            self._spread(self._both_jobs)
            wrong = words[_WRONG]
            if wrong == -1 and not found[_UNUSUAL]:
                runtime.outputs = {"palette": result, "prepared": True, "ran": True}
            elif wrong >= 0:
                raise unsound(control.program, wrong, words[_WRONG + 1])
        programs.kept = found[_KEPT] != 0 or control.compiled.keeps
        if found[_UNUSUAL]:
            control.finish(seconds)
        return True
