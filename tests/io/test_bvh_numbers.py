"""The numbers of BVH files: the same bits as Python's own `float`, however they are written."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marrow.io.bvh import motion
from marrow.math import quaternion

HARD = [
    "0",
    "-0",
    "-0.0",
    "+1",
    ".5",
    "5.",
    "-.5e1",
    "1e22",
    "1e23",
    "1e-22",
    "1e-23",
    "9007199254740993",
    "9007199254740992",
    "9007199254740993.0",
    "0.1",
    "1.7976931348623157e308",
    "5e-324",
    "2.2250738585072011e-308",
    "0.000000000000000000000000000001",
    "123456789012345678",
    "1234567890123456789012345678",
    "0.30000000000000004",
    "179.99999999999997",
    "-12.345678901234567",
    "1e0000000005",
    "1e00000",
    "1_000",
    "72057594037927945",
    "7205759403792794.5",
    "36028797018963969",
    "0e999",
    "1E5",
    "1e+05",
    "4503599627370497.5",
    "4503599627370496.5",
    "900719925474099.35",
    "2.5e-67",
    "123456789.123456789e-60",
]


def check(words: list[str]) -> None:
    values, rest = motion.first_numbers("  \r\n\t".join(words).encode(), len(words))
    assert values.tobytes() == np.array([float(w) for w in words]).tobytes()
    assert rest == b""


def test_numbers_that_are_hard_to_round():
    check(HARD)
    check(HARD * 100)  # more than fit into one list of words that Python reads


@given(st.lists(st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-180, 180).map(repr),
    st.floats(-180, 180).map("{:.6f}".format),
    st.floats(-1e3, 1e3).map("{:.9g}".format),
    st.tuples(st.integers(-(10**19), 10**19), st.integers(-90, 30)).map(lambda p: f"{p[0]}e{p[1]}"),
    st.tuples(st.integers(0, 10**9), st.integers(0, 10**12)).map(lambda p: f"-{p[0]}.{p[1]:012d}"),
), min_size=1, max_size=50))  # fmt: skip
def test_any_number_is_what_float_makes_of_it(words):
    check(words)


def test_middles_between_two_floats_are_rounded_to_even():
    """Decimals of 17 and 18 digits next to the exact middle of two floats."""
    rng = np.random.default_rng(3)
    words = []
    for x in rng.uniform(1, 180, 3000):
        middle = (int(x * 2**45) * 2 + 1, 2**46)  # between two floats of this size
        for digits in (15, 16, 17):
            scaled = middle[0] * 10**digits // middle[1]
            words += [f"{str(scaled + d)[:-digits]}.{str(scaled + d)[-digits:]}" for d in (0, 1)]
    check(words)


@pytest.mark.parametrize("text", ["1 2 x 4", "1 2", "", "1 2 3 4 5 6", "1 2 3 4 end", "1-2 3 4", "1 2 3 nan"])
def test_texts_of_other_lengths_read_as_without_kernels(text, monkeypatch):
    fast = motion.first_numbers(text.encode(), 4)
    slow = motion._slowly(text.encode(), 4)
    if "end" not in text:  # NumPy gives up at once; whoever asks goes on word by word
        np.testing.assert_array_equal(fast[0], slow[0])
        assert len(fast[1].split()) == len(slow[1].split())
    else:
        assert fast[0].tolist() == [1, 2, 3, 4] and fast[1] == b"end"


def test_rotations_have_the_bits_of_the_definition(monkeypatch):
    rng = np.random.default_rng(5)
    values = rng.uniform(-400, 400, (150, 9))
    values[3] = 0
    joints = [(0, 0, 3), (600, 3, 1), (1200, 4, 4)]
    turns = [(2, 0), (0, 1), (1, 2), (1, 3), (0, 4), (1, 5), (2, 6), (0, 8)]
    fast, slow = np.zeros(1800, np.float32), np.ones(1800, np.float32)
    motion.rotations(values, joints, turns, fast)
    monkeypatch.setattr(motion, "backend", lambda: type("Plain", (), {"name": "numpy"}))
    motion.rotations(values, joints, turns, slow)
    assert fast.tobytes() == slow.tobytes()
    exact = quaternion.from_euler(np.deg2rad(values[:, :3]), "zxy")
    np.testing.assert_allclose(fast[:600].reshape(-1, 4), exact, atol=1e-7)
