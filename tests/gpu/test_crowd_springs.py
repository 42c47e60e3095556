"""A crowd on the GPU whose hair swings, against the same animator on the CPU."""

import numpy as np

import marrow as mw
from marrow import gpu
from marrow.graph import ClipNode, Graph, PoseNode, SpringCollider, Springs


def rig():
    """A head that moves from side to side, with five joints of hair."""
    parents = [-1, 0, 1, 2, 3, 4, 5]
    rest = mw.Pose.identity(len(parents))
    rest.translation[1, 1], rest.translation[2:, 1] = 1.5, -0.1
    bones = mw.Skeleton(("hips", "head", *(f"hair{k}" for k in range(5))), parents, rest)
    times = np.arange(61) / 60
    places = np.float32(np.stack([0.3 * np.sin(6 * times), 0 * times, 0 * times], axis=1))
    return mw.Character(bones, clips=[mw.Clip("move", bones, [mw.Track(0, "translation", times, places)])])


def hair(**options):
    ball = SpringCollider("head", 0.12, (0.1, -0.2, 0))
    return Graph(
        Springs(ClipNode("move"), ("hair0",), gravity=0.3, radius=0.01, colliders=(ball,), **options)
    )


def pair(device, graph, count=5):
    who = rig()
    cpu, posed = (mw.Animator(who, graph, count=count) for _ in range(2))
    return cpu, posed, gpu.Crowd(posed, device=device)


def test_hair_swings_as_on_the_cpu(device):
    cpu, posed, crowd = pair(device, hair())
    swung = 0.0
    for k in range(30):
        dt = (1 / 60, 1 / 144, 1 / 24)[k % 3]
        for animator in (cpu, posed):
            animator.root.set(np.linspace(0, 0.05 * k, 5)[:, None] * [0, 0, 1.0])
        cpu.update(dt)
        crowd.update(dt)
        np.testing.assert_allclose(crowd.matrices, cpu.matrices, atol=2e-5)
        np.testing.assert_allclose(posed.pose.rotation, cpu.pose.rotation, atol=2e-5)
        swung = max(swung, float(np.abs(cpu.pose.rotation[:, 2:, :3]).max()))
    assert swung > 0.1


def test_instances_come_and_go_and_the_animator_goes_back(device):
    cpu, posed, crowd = pair(device, hair())
    for k in range(12):
        if k == 6:
            for animator in (cpu, posed):
                animator.instances.remove([1, 3])
                animator.instances.add(2)
        cpu.update(1 / 60)
        crowd.update(1 / 60)
        np.testing.assert_allclose(crowd.matrices, cpu.matrices, atol=2e-5)
    crowd.release()
    for animator in (cpu, posed):
        animator.update(1 / 60)
    np.testing.assert_allclose(posed.matrices, cpu.matrices, atol=2e-5)


def test_results_are_spread_over_small_pages(small):
    cpu, _, crowd = pair(small, hair(), count=300)
    assert len(list(crowd.palettes)) > 1
    for _ in range(2):
        cpu.update(1 / 60)
        crowd.update(1 / 60)
    np.testing.assert_allclose(crowd.matrices, cpu.matrices, atol=2e-5)


def test_a_graph_that_swings_follows_one_that_does_not(device):
    cpu, posed, crowd = pair(device, Graph(PoseNode()))
    for graph in (hair(), Graph(ClipNode("move"))):
        for animator in (cpu, posed):
            animator.replace_graph(graph)
        for _ in range(3):
            cpu.update(1 / 60)
            crowd.update(1 / 60)
            np.testing.assert_allclose(crowd.matrices, cpu.matrices, atol=2e-5)
