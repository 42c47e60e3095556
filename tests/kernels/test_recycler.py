"""Memory of results is used again only when nobody holds any part of it, and little of it waits."""

import gc
import threading

import numpy as np

from marrow.kernels.memory import SMALL, Recycler

LARGE = SMALL + 1


def address(array):
    return array.__array_interface__["data"][0]


def test_memory_comes_back_when_it_is_let_go():
    results = Recycler()
    first = results.take((LARGE, 3))
    at = address(first)
    del first
    again = results.take((3, LARGE))  # as many numbers, another shape
    assert address(again) == at and again.shape == (3, LARGE) and at % 64 == 0


def test_memory_that_is_held_is_left_alone():
    results = Recycler()
    part = results.take((LARGE, 3))[1:, ::2].T  # only a view of a view is kept
    part[:] = 7
    gc.collect()
    for _ in range(10):
        other = results.take((LARGE, 3))
        other[:] = 1
        assert not np.shares_memory(other, part)
        del other
    assert (part == 7).all()


def test_memory_seen_through_its_base_or_a_buffer_is_left_alone():
    results = Recycler()
    for hold in (memoryview, lambda a: a.base, lambda a: a.base.base, lambda a: np.asarray(a.base.base)):
        first = results.take((LARGE,))
        at, held = address(first), hold(first)
        del first
        assert address(results.take((LARGE,))) != at
        del held


def test_small_results_and_empty_ones_are_not_kept():
    results = Recycler()
    for shape in ((SMALL,), (0, 3), ()):
        assert results.take(shape).shape == shape
    assert not results._idle and not results._lent


def test_what_waits_is_bounded_and_what_is_older_goes_first():
    results = Recycler(most_idle=3 * 4 * LARGE)
    many = [results.take((LARGE,)) for _ in range(6)]
    order = [address(a) for a in many]
    while many:
        del many[0]
    waiting = [address(m) for m in results._idle.values()]
    assert waiting == order[3:] and not results._lent


def test_sizes_do_not_mix():
    results = Recycler()
    first = results.take((LARGE,))
    del first
    assert len(results.take((LARGE + 1,))) == LARGE + 1


def test_many_threads_take_and_give():
    """Each writes its number into what it was given, and finds it there."""
    results, wrong = Recycler(), []

    def work(number):
        held = []
        for k in range(300):
            array = results.take((LARGE,))
            array[:] = number
            held.append(array)
            if k % 3 == 2:
                wrong.extend(number for a in held if (a != number).any())
                held.clear()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
