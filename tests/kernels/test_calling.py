"""Kernels called from Python: what they take, what they give back, and what they refuse."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from marrow.errors import MarrowError, ValidationError
from marrow.kernels.compiler import kernel, readonly


class Pair(NamedTuple):
    left: np.ndarray
    right: np.ndarray


@kernel
def weigh():
    def run(pair, table, factor, shift, out):
        total = 0
        for i in range(pair.left.shape[0]):
            for j in range(table.shape[1]):
                out[i] += factor * pair.left[i] * table[i, j] + pair.right[i]["value"] + shift
                total += 1
        return total, table.shape[0]

    return run


@kernel
def double_in_place():
    def run(values):
        for i in range(values.shape[0]):
            values[i] *= 2

    return run


RECORD = np.dtype([("key", np.int32), ("value", np.float64)])


def arguments(record=RECORD):
    left = np.array([1.0, 2.0], np.float32)
    right = np.array([(1, 10.0), (2, 20.0)], record)
    table = np.arange(6, dtype=np.float64).reshape(2, 3)
    return [Pair(readonly(left), readonly(right)), readonly(table), 0.5, 3, np.zeros(2)]


EXPECTED = [0.5 * 1 * 3 + 3 * 10 + 9, 0.5 * 2 * 12 + 3 * 20 + 9]


def test_tuples_records_numbers_and_arrays_arrive():
    given = arguments()
    assert weigh(*given) == (6, 2)
    assert given[-1].tolist() == EXPECTED


def test_a_kernel_without_a_result_returns_none():
    values = np.array([1.0, 2.0])
    assert double_in_place(values) is None
    assert values.tolist() == [2.0, 4.0]


def test_each_kind_of_argument_gets_its_own_code():
    whole, single = np.array([1, 2]), np.array([1.5], np.float32)
    for _ in range(2):
        double_in_place(whole)
        double_in_place(single)
    assert whole.tolist() == [4, 8] and single.tolist() == [6.0]


def test_numbers_may_be_numpys():
    given = arguments()
    given[2], given[3] = np.float32(0.5), np.int64(3)
    assert weigh(*given) == (6, 2)
    assert given[-1].tolist() == EXPECTED


def test_what_may_be_written_is_accepted_where_it_is_read():
    weigh(*arguments())
    known = len(weigh._known)
    given = arguments()
    given[1] = np.array(given[1])
    assert weigh(*given) == (6, 2) and len(weigh._known) == known


def test_equal_dtypes_and_subclasses_of_arrays_are_the_same_kind(tmp_path):
    weigh(*arguments())
    known = len(weigh._known)
    given = arguments(np.dtype([("key", np.int32), ("value", np.float64)]))
    given[1] = np.memmap(tmp_path / "table", np.float64, "w+", shape=(2, 3))
    given[1][:] = np.arange(6).reshape(2, 3)
    assert weigh(*given) == (6, 2) and len(weigh._known) == known
    assert given[-1].tolist() == EXPECTED


def test_a_read_only_array_is_never_written():
    values = np.array([1.0, 2.0])
    double_in_place(values.copy())
    with pytest.raises(Exception, match=r"(?i)readonly|read-only|immutable"):
        double_in_place(readonly(values))
    assert values.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("wrong", [None, "text", {}, [1.0]])
def test_what_is_no_argument_is_refused_in_words(wrong):
    with pytest.raises(ValidationError, match="do not take"):
        double_in_place(wrong)


def test_arrays_with_gaps_are_refused():
    with pytest.raises(MarrowError, match="C-contiguous"):
        double_in_place(np.zeros(6)[::2])


def test_the_wrong_kind_of_number_or_of_tuple_raises():
    weigh(*arguments())
    given = arguments()
    with pytest.raises((TypeError, MarrowError)):
        weigh(*given[:2], "half", *given[3:])
    with pytest.raises((SystemError, TypeError, MarrowError)):
        weigh(3, *given[1:])


def test_references_are_given_back():
    import sys

    given = arguments()
    weigh(*given)
    before = [sys.getrefcount(g) for g in (*given, *given[0], RECORD, None)]
    for _ in range(100):
        weigh(*given)
    after = [sys.getrefcount(g) for g in (*given, *given[0], RECORD, None)]
    assert all(abs(a - b) < 20 for a, b in zip(after, before))
