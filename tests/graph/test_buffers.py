"""Output memory is used again only when nobody holds any part of it."""

import gc

import numpy as np

from marrow.graph.animator.buffers import Buffers


def address(array):
    return array.__array_interface__["data"][0]


def test_memory_comes_back_when_it_is_let_go():
    buffers = Buffers()
    first = buffers.take((4, 3))
    at = address(first)
    del first
    assert address(buffers.take((4, 3))) == at


def test_memory_that_is_held_is_left_alone():
    buffers = Buffers()
    part = buffers.take((4, 3))[1:, ::2].T  # only a view of a view is kept
    part[:] = 7
    gc.collect()
    for _ in range(10):
        other = buffers.take((4, 3))
        other[:] = 1
        assert not np.shares_memory(other, part)
        del other
    assert (part == 7).all()


def test_sizes_do_not_mix_and_little_is_kept():
    buffers = Buffers()
    held = [buffers.take((n,)) for n in range(1, 20)]
    assert [len(h) for h in held] == list(range(1, 20))
    assert len(buffers._kept) <= 3
    assert buffers.take((0, 3)).shape == (0, 3)
