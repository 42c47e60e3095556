"""Crowds on the GPU whose updates use again what the last one used: results as on the CPU whatever changes, and no memory
taken for each instance."""

import threading
import tracemalloc

import numpy as np

import marrow as mw
from marrow import gpu


def crowds(device, count, *, threads=2):
    """The same crowd twice: on the CPU, and on the GPU."""
    cpu, mine = (
        mw.Animator(mw.samples.mannequin(), mw.samples.mannequin_graph(), count=count, threads=threads)
        for _ in range(2)
    )
    for who in (cpu, mine):
        who["speed"] = np.linspace(-0.9, 3.6, count)
        who["look"] = who["reach"] = (np.arange(count) % 3 == 0).astype(float)
    return cpu, mine, gpu.Crowd(mine, device=device)


def go_on(cpu, mine, crowd, updates=3):
    for _ in range(updates):
        cpu.update(0.05)
        crowd.update(0.05)
    wanted = cpu.matrices
    np.testing.assert_allclose(
        crowd.matrices, wanted, rtol=0, atol=1e-5 * max(1.0, np.abs(wanted[..., 3]).max())
    )


def test_instances_levels_and_operations_change_after_bound_updates(device):
    cpu, mine, crowd = crowds(device, 20)
    go_on(cpu, mine, crowd)
    assert len(mine._runtime.control.programs.regions) > 1  # programs lie where threads wrote them
    for change in (
        lambda who: who.instances.add(17),
        lambda who: who.instances.remove(np.arange(who.count) % 4 == 1),
        lambda who: who.__setitem__("reach", 0.0),  # no program has what runs alone
        lambda who: who.__setitem__("look", 0.0),
        lambda who: who.__setitem__("reach", 1.0),  # every program has
        lambda who: who.instances.remove(np.arange(2, who.count)),
    ):
        for who in (cpu, mine):
            change(who)
        go_on(cpu, mine, crowd)
    assert crowd.count == 2 and crowd.groups[0].instances.tolist() == [0, 1]


def test_levels_of_a_bound_crowd(device):
    cpu, mine, crowd = crowds(device, 12)
    go_on(cpu, mine, crowd)
    last = len(mine.character.levels) - 1
    for levels in (np.arange(12) % (last + 1), np.where(np.arange(12) < 5, -1, last), np.full(12, last)):
        cpu.levels = mine.levels = levels
        for _ in range(2):
            cpu.update(0.05)
            crowd.update(0.05)
        seen = {group.level: group for group in crowd.groups}
        assert sorted(seen) == sorted(set(levels.tolist()) - {-1})
        for theirs in cpu.evaluation.level_groups():
            group = seen[theirs.level]
            assert group.instances.tolist() == theirs.instances.tolist()
            np.testing.assert_allclose(group.palettes.numpy(), theirs.matrices, rtol=0, atol=2e-5)


def test_two_crowds_at_once(device):
    pairs = [crowds(device, count) for count in (9, 14)]
    wrong = []

    def work(pair):
        try:
            for _ in range(4):
                go_on(*pair, updates=2)
        except BaseException as error:  # told below, in the thread of the test
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(pair,)) for pair in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong


def test_an_update_takes_no_memory_for_each_instance(device):
    peaks = []
    for count in (50, 400):
        _, mine, crowd = crowds(device, count, threads=1)
        mine["look"] = mine["reach"] = 1.0
        for _ in range(4):
            crowd.update(0.05)
        mine.update(0.05)
        tracemalloc.start()
        crowd.evaluate()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] < 350 * 8, peaks
