"""Any tree of nodes: it compiles, runs, stays finite, and its programs fit into what was set aside for them."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import character, gait, ramp, still

import marrow as mw
from compiling import run_twice, watch
from marrow.graph import (
    Additive,
    Blend,
    BlendSpace1D,
    BlendSpace2D,
    ClipNode,
    Graph,
    LayerBlend,
    LookAt,
    Parameter,
    PoseNode,
    RootMotion,
    Slot,
    Speed,
    State,
    StateMachine,
    Switch,
    Transition,
    TwoBoneIK,
)
from marrow.graph.pose_program import PoseEvaluator
from marrow.kernels.operations import OPERATIONS, ReferenceWorld, run_reference
from surroundings import repeats

STICK = character(
    gait("walk", 1.0, 0.0, 0.5),
    gait("run", 0.6, 0.1, 0.4, 2.0),
    still("one", 1.0, 40.0),
    still("two", 2.0, -170.0),
    ramp("up", 0, 1, events=((0.3, "hit"),)),
    mw.additive(still("plus", 3.0, 20.0), still("zero")),
)
P = {
    "x": Parameter(smoothing=0.1),
    "y": Parameter(),
    "on": Parameter("bool", False),
    "go": Parameter("trigger"),
    "v": Parameter("vector", (0.5, 1.0, 1.0)),
}
GROWS = {operation.code: operation.pushes - operation.pops for operation in OPERATIONS}

clips = st.sampled_from(["walk", "run", "one", "two", "up"])
values = st.sampled_from(["x", "y", 0.3, 1.0])


def machine(states, blend, seconds):
    names = [f"s{k}" for k in range(len(states))]
    ways = [Transition(a, b, ("go",), seconds=seconds, blend=blend) for a, b in itertools.pairwise(names)]
    ways.append(Transition(names[-1], names[0], ("elapsed >= 0.1",), seconds=seconds, blend=blend))
    ways.append(Transition("*", names[0], ("on",), seconds=seconds, blend=blend, priority=1))
    return StateMachine({n: State(s) for n, s in zip(names, states)}, tuple(ways))


def larger(inner):
    several = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        st.builds(lambda i, v: Blend(tuple(i), (v,) * len(i)), several, values),
        st.builds(lambda i: BlendSpace1D.of("x", dict(enumerate(i))), several),
        st.builds(
            lambda i: BlendSpace2D.of("x", "y", {(k % 2, k // 2): n for k, n in enumerate(i)}), several
        ),
        st.builds(lambda i, s: Switch("x", tuple(i), seconds=s), several, st.sampled_from([0.0, 0.2])),
        st.builds(Speed, inner, values),
        st.builds(
            lambda a, b, w, s: LayerBlend(a, b, joints=("spine",), weight=w, space=s),
            inner,
            inner,
            values,
            st.sampled_from(["local", "model"]),
        ),
        st.builds(lambda a, w: Additive(a, "plus", weight=w), inner, values),
        st.builds(lambda a, w: LookAt(a, {"spine": 0.5, "arm": 1.0}, "v", weight=w), inner, values),
        st.builds(lambda a, w: TwoBoneIK(a, "hand", "v", weight=w), inner, values),
        st.builds(
            machine,
            st.lists(inner, min_size=2, max_size=3),
            st.sampled_from(["fade", "inertia"]),
            st.sampled_from([0.0, 0.05, 0.3]),
        ),
    )


trees = st.recursive(
    st.one_of(clips, st.builds(ClipNode, clips, loop=st.booleans()), st.just(PoseNode())),
    larger,
    max_leaves=10,
)


@settings(max_examples=repeats(60), deadline=None)
@given(trees, st.integers(0, 2**31))
def test_any_tree_of_nodes_runs(tree, seed):
    rng, N = np.random.default_rng(seed), 4
    crowd = mw.Animator(STICK, Graph(RootMotion(Slot("s", tree)), P), count=N)
    compiled = crowd._runtime.control.compiled
    for step in range(12):
        crowd["x"], crowd["y"] = rng.normal(0, 1.5, N), rng.uniform(-0.5, 1.5, N)
        crowd["on"], crowd["v"] = rng.random(N) < 0.2, rng.normal(size=(N, 3))
        crowd.trigger("go", instances=rng.random(N) < 0.5)
        if step % 4 == 2:
            crowd.slots["s"].play("up")
        if step == 6:
            crowd.instances.update_every = [1, 2, 1, 3]
        crowd.update(rng.choice([0.0, 1 / 60, 0.25]))
        for n in range(N):
            operations = crowd.evaluation.program.operations(n)
            heights = np.cumsum([GROWS.get(code, 0) for code, *_ in operations])
            assert heights[-1] == 1 and heights.min() >= 1
            assert heights.max() <= compiled.depth and len(operations) <= compiled.longest
        assert np.isfinite(crowd.model_matrices).all()
        np.testing.assert_allclose(np.linalg.norm(crowd.pose.rotation, axis=-1), 1, atol=1e-5)
        assert np.isfinite(crowd.root.motion.translation).all()


@settings(max_examples=25, deadline=None, derandomize=True)
@given(trees)
def test_programs_of_any_tree_mean_the_same_to_machine_code_numpy_and_the_reference(tree):
    """Every kernel that runs is run by Python as well, bit for bit; programs are interpreted by the specification."""
    rng, N = np.random.default_rng(0), 2
    with pytest.MonkeyPatch.context() as patch:
        watch(patch, run_twice)
        crowd = mw.Animator(STICK, Graph(RootMotion(Slot("s", tree)), P), count=N)
        specified = [Specified(crowd) for _ in range(N)]
        run = PoseEvaluator.run

        def run_specified(self, program, **options):
            for n in range(len(program)):
                specified[n].run(program.operations(n))
            run(self, program, **options)

        patch.setattr(PoseEvaluator, "run", run_specified)
        for step in range(4):
            crowd["x"], crowd["y"] = rng.normal(0, 1.5, N), rng.uniform(-0.5, 1.5, N)
            crowd["v"] = rng.normal(size=(N, 3))
            crowd.trigger("go", instances=rng.random(N) < 0.5)
            if step == 2:
                crowd.slots["s"].play("up")
            crowd.update(1 / 30)
            pose = crowd.pose
            for n in range(N):
                specified[n].check(pose[n])


class Specified:
    """One instance as the specification has it, from update to update. It ends where a program reaches or looks."""

    def __init__(self, crowd):
        evaluator, parents = crowd.evaluation.evaluator, STICK.skeleton.parents
        bank, layout = evaluator.bank, evaluator.layout
        masks = evaluator._masks
        masks = np.concatenate(
            [masks[:, : layout.J], masks[:, layout.joints : layout.joints + layout.M]], axis=1
        )

        def sample(clip, time):
            """Between the two frames of the bank, which has no travel of the root in it."""
            frames = int(bank.frames[clip])
            u = min(max(time * float(bank.rate[clip]), 0.0), frames - 1.0)
            f = min(int(u), max(frames - 2, 0))
            rows = bank.rows[int(bank.start[clip]) + f * layout.size :][: 2 * layout.size]
            a, b = rows[: layout.size], rows[layout.size :] if frames > 1 else rows[: layout.size]
            return tuple(part[0] for part in layout.unpack((a + (u - f) * (b.astype(float) - a))[None]))

        self.world, self.over = ReferenceWorld(sample, masks, parents), False

    def run(self, operations):
        self.over = self.over or any(OPERATIONS[code].names in ("limb", "chain") for code, *_ in operations)
        if operations and not self.over:
            self.result = run_reference(operations, self.world)

    def check(self, pose):
        if self.over:
            return
        t, q, s, m = self.result
        np.testing.assert_allclose(pose.translation, t, atol=2e-4)
        np.testing.assert_allclose(np.abs((pose.rotation * q).sum(-1)), 1, atol=2e-5)
        np.testing.assert_allclose(pose.scale, s, atol=2e-4)
        np.testing.assert_allclose(pose.morphs, m, atol=2e-4)
