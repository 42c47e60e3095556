"""What turns programs into poses is handed in: anything that does what an `Evaluator` does."""

import re
from pathlib import Path

import numpy as np
import pytest
from worlds import character, ramp, still

import marrow as mw
from marrow.errors import InUseError, ValidationError
from marrow.graph import Graph, Parameter, State, StateMachine, Transition, compile_graph
from marrow.graph.pose_program import PoseEvaluator

STICK = character(ramp("up", 0, 1), still("one", 1.0, 30.0))
GRAPH = Graph(
    StateMachine(
        {"a": State("up"), "b": State("one")}, (Transition("a", "b", ("x > 0.5",), 0.3, blend="inertia"),)
    ),
    {"x": Parameter()},
)


class Counting:
    """Hands everything on to the CPU's, and counts."""

    def __init__(self, inner):
        self.inner, self.runs, self.held = inner, 0, 0
        self.bank, self.palette, self.layout, self.joints = (
            inner.bank,
            inner.palette,
            inner.layout,
            inner.joints,
        )

    def again(self, *parts, **options):
        return Counting(self.inner.again(*parts, **options))

    def hold(self, memory):
        self.held += 1
        return memory

    def run(self, program, **options):
        self.runs += 1
        self.inner.run(program, **options)


def test_an_evaluator_of_ones_own_gives_the_poses_until_it_is_taken_back():
    mine, other = (mw.Animator(STICK, GRAPH, count=3) for _ in range(2))
    evaluator = Counting(mine.evaluation.evaluator)
    mine.evaluation.evaluator = evaluator
    for k in range(8):
        for crowd in (mine, other):
            crowd["x"] = [0.0, 1.0, float(k > 3)]
            crowd.update(0.1)
        np.testing.assert_array_equal(mine.matrices, other.matrices)
    assert mine.evaluation.evaluator is evaluator and evaluator.runs >= 8 and evaluator.held
    mine.replace_graph(GRAPH)
    assert isinstance(mine.evaluation.evaluator, Counting)
    mine.evaluation.evaluator = None
    assert isinstance(mine.evaluation.evaluator, PoseEvaluator)
    runs = evaluator.runs
    mine.update(0.1), other.update(0.1)
    np.testing.assert_array_equal(mine.matrices, other.matrices)
    assert evaluator.runs == runs


def test_work_can_be_run_by_hand():
    crowd = mw.Animator(STICK, GRAPH, count=4)
    crowd.update(0.2)
    crowd.levels = [0, -1, 0, 0]
    out = np.empty((3, len(STICK.palette), 3, 4), np.float32)

    def by_hand(job):
        (part,) = job.levels
        assert part.level == 0 and part.instances.tolist() == [0, 2, 3]
        part.evaluator.run(
            job.program, memory=job.memory, vectors=job.vectors, palette=out, instances=part.instances
        )
        return "done"

    assert crowd.evaluation.delegate(by_hand) == "done"
    np.testing.assert_array_equal(out, crowd.matrices[[0, 2, 3]])


def test_a_wrong_evaluator_is_refused_in_words():
    crowd = mw.Animator(STICK, GRAPH)
    with pytest.raises(ValidationError, match="has no 'bank'"):
        crowd.evaluation.evaluator = 3
    with pytest.raises(ValidationError, match="other clips"):
        crowd.evaluation.evaluator = mw.Animator(
            character(ramp("up", 0, 2)), Graph("up")
        ).evaluation.evaluator


def test_crowds_on_a_gpu_know_no_private_part_of_an_animator():
    from marrow import gpu

    text = (Path(gpu.__file__).parent / "crowd.py").read_text(encoding="utf-8")
    assert re.findall(r"animator\._\w+", text) == []


def test_an_evaluator_is_given_with_the_animator():
    """Made of the compiled graph, or ready made for its clips."""
    compiled = compile_graph(GRAPH, STICK)
    ready = Counting(PoseEvaluator.of(compiled))
    for graph, given in ((GRAPH, lambda c: Counting(PoseEvaluator.of(c))), (compiled, ready)):
        mine, other = mw.Animator(STICK, graph, evaluator=given), mw.Animator(STICK, graph)
        for who in (mine, other):
            who["x"] = 1.0
            who.update(0.1)
        np.testing.assert_array_equal(mine.matrices, other.matrices)
        assert isinstance(mine.evaluation.evaluator, Counting) and mine.evaluation.evaluator.runs
    with pytest.raises(ValidationError, match="other clips"):
        mw.Animator(character(ramp("up", 0, 2)), Graph("up"), evaluator=ready)


def test_nobody_else_uses_an_animator_while_its_job_is_run():
    crowd = mw.Animator(STICK, GRAPH, count=2)
    with pytest.raises(InUseError, match="at work"):
        crowd.evaluation.delegate(lambda job: crowd.update(0.1))
    crowd.update(0.1)
