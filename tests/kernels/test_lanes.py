"""Lane formulas: NumPy gives the bits of machine code, for every formula there is."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("llvmlite")

from compiling import MachineCode, assert_same, bits, from_source, make
from marrow.kernels import pose_programs, skinning
from marrow.kernels.language.lanes import Block, block
from marrow.kernels.language.numpy_lanes import fused
from marrow.kernels.operations import OPERATIONS, sums
from marrow.kernels.operations.record import copy_lanes

SMALLEST, LARGEST = 2.0**-149, float(np.finfo(np.float32).max)


# -- multiply and add, rounded once -------------------------------------------------------------------------------------


def rounded(value: Fraction) -> float:
    """The float32 nearest to a number, ties to even; what is too large is infinite."""
    if value == 0:
        return 0.0
    size = abs(value)
    exponent = max(math.floor(math.log2(size)) - 1, -126)
    while size >= Fraction(2) ** (exponent + 1):
        exponent += 1
    unit = Fraction(2) ** (exponent - 23)
    quotient = size / unit
    whole = math.floor(quotient)
    left = quotient - whole
    if left > Fraction(1, 2) or (left == Fraction(1, 2) and whole % 2):
        whole += 1
    result = whole * unit
    large = math.inf if result > Fraction(LARGEST) else float(result)
    return math.copysign(large, float(value > 0) - 0.5)


singles = st.one_of(
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.sampled_from(
        [
            1.0,
            -1.0,
            SMALLEST,
            -SMALLEST,
            2.0**-126,
            LARGEST,
            1 + 2.0**-23,
            1 - 2.0**-24,
            3 * SMALLEST,
            2.0**-75,
        ]
    ),
)


def check_fused(a, b, c):
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    with np.errstate(all="ignore"):
        got = float(fused(np.float32(a), np.float32(b), np.float32(c)))
    assert got == rounded(exact), (a, b, c)


@given(singles, singles, singles)
def test_fused_is_rounded_once(a, b, c):
    check_fused(a, b, c)


def test_fused_where_rounding_twice_would_differ():
    rng = np.random.default_rng(0)
    for _ in range(2000):
        # A product that lies next to the middle between two float32 numbers, and a tiny addend that decides.
        a = np.float32(1 + rng.integers(0, 2**12) * 2.0**-12)
        b = np.float32(1 + rng.integers(0, 2**12) * 2.0**-12)
        c = np.float32(rng.choice([-1, 1]) * 2.0 ** rng.integers(-80, -20))
        check_fused(a, b, c)
        check_fused(c, b, a)
        check_fused(np.float32(a * 2.0**-100), np.float32(b * 2.0**-40), np.float32(c * 2.0**-60))


def test_fused_with_what_is_not_finite():
    nan, inf = np.float32(np.nan), np.float32(np.inf)
    with np.errstate(all="ignore"):
        assert (
            np.isnan(fused(nan, 1, 1))
            and np.isnan(fused(1, 1, nan))
            and np.isnan(fused(inf, np.float32(0), 1))
        )
        assert np.isnan(fused(inf, 1, -inf))
        assert fused(inf, -1, 5) == -inf and fused(2, 3, inf) == inf
        assert fused(np.float32(LARGEST), 2, -inf) == -inf
        assert fused(np.float32(LARGEST), 1, np.float32(LARGEST)) == inf
    zero = fused(np.float32(-0.0), np.float32(1), np.float32(-0.0))
    assert zero == 0 and np.signbit(zero)
    assert not np.signbit(fused(np.float32(-0.0), np.float32(1), np.float32(0.0)))


# -- every formula --------------------------------------------------------------------------------------------------------

# Packed clips are held to machine code with records that are sound: tests/animation/test_packed_clips.py.
BLOCKS = {
    f"{o.name}_{k}": formula
    for o in OPERATIONS
    for k, formula in enumerate(o.formulas)
    if formula not in sums.PACKED
}
BLOCKS |= {name: thing for name, thing in vars(pose_programs).items() if isinstance(thing, Block)}
BLOCKS["copy_lanes"] = copy_lanes
HOSTILE = [0.0, -0.0, 1.0, -1.0, SMALLEST, -SMALLEST, 2.0**-126, LARGEST, math.inf, -math.inf, math.nan]


def hostile(rng, size):
    """Numbers of all sizes, and one in five special."""
    values = (
        rng.normal(size=size) * 10.0 ** rng.integers(-12, 12, size)
        if rng.random() < 0.3
        else rng.normal(size=size)
    )
    special = rng.random(size) < (0.2 if rng.random() < 0.7 else 0.0)
    values[special] = rng.choice(HOSTILE, special.sum())
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


def describe(formula):
    """The kinds of a formula's arguments, by their names: arrays, offsets, numbers."""
    while hasattr(formula, "func"):
        fixed, formula = len(formula.args), formula.func
        names = formula.__code__.co_varnames[: formula.__code__.co_argcount][fixed + 1 :]
        break
    else:
        names = formula.__code__.co_varnames[: formula.__code__.co_argcount][1:]
    arrays = {"stack", "bank", "masks", "memory", "local", "source", "out", "left", "right", "model"}
    numbers = {"w", "t", "u", "v", "h"}
    if formula.__module__.endswith("spring_lanes"):
        arrays, numbers = {"g", "centers", "floats", "kept", "vectors", "moves"}, {"h", "part"}
    return {n: "*f4[?]" if n in arrays else "f8" if n in numbers else "i8" for n in names}


def calling(formula, names, name):
    """A kernel that calls a block once."""
    text = f"def {name}({', '.join(names)}):\n    formula({', '.join(names)})\n"
    return from_source(text, name, formula=formula)


@pytest.fixture(scope="module")
def block_code():
    kernels = {}
    for name, each in BLOCKS.items():
        kinds = describe(each.formula)
        kernels[name] = make(calling(each, list(kinds), f"block_{name}"), **kinds)
    return MachineCode(kernels.values()), kernels


@pytest.mark.parametrize("name", BLOCKS)
def test_numpy_and_machine_code_agree_on_every_block(block_code, name):
    """Jp is 16, so rows are 160 apart at most; offsets lie apart, as they do in programs."""
    rng = np.random.default_rng(list(BLOCKS).index(name))
    machine, kernels = block_code
    for _ in range(12):
        arguments = {}
        for place, (argument, kind) in enumerate(kernels[name].kinds.items()):
            if argument == "Jp":
                arguments[argument] = 16
            elif getattr(kind, "letter", None) == "f":
                arguments[argument] = float(hostile(rng, 1)[0]) if rng.random() < 0.3 else float(rng.random())
            elif getattr(kind, "letter", None) == "i":
                arguments[argument] = 0 if argument in ("i", "k", "m") else 192 * place
            else:
                arguments[argument] = hostile(rng, 8192)
        assert_same(machine, kernels[name], **arguments)


def test_every_way_to_rearrange_lanes():
    def formula(e, i, x, out):
        a, b = e.load(x, i), e.load(x, e.at(i, 16))
        e.store(out, i, e.shuffle(a, b, [*range(0, 32, 2)]))
        for k, quad in enumerate(e.quads(a, b, -a, a * b)):
            e.store(out, e.at(i, 16 + 16 * k), quad)
        e.store12(out, e.at(i, 80), e.load12(x, e.at(i, 3)))
        e.store(out, e.at(i, 96), e.broadcast4(x, e.at(i, 5)))
        e.store(out, e.at(i, 112), e.broadcast(x, e.at(i, 7)))
        e.store(
            out,
            e.at(i, 128),
            e.select(a.compare("!=", b), e.unit([a, b])[0], e.cross([a, b, a], [b, b, a])[1]),
        )
        e.store_scalar(out, e.at(i, 144), e.scalar(x, e.at(i, 1)) * e.constant(0.3))
        e.scatter_run(out, e.times(i, 1), [a, b, a], e.at(i, 160))

    mine = block(formula)

    def lanes(x, out):
        mine(0, x, out)

    kernel = make(lanes, x="f4[?]", out="*f4[?]")
    machine = MachineCode([kernel])
    rng = np.random.default_rng(0)
    for _ in range(10):
        assert_same(machine, kernel, x=hostile(rng, 64), out=np.zeros(512, np.float32))


def test_whole_numbers_in_lanes():
    """Every operation on them, with counts and places that differ from lane to lane; and what the words say, read
    bit by bit."""

    def formula(e, i, words, out, mask):
        lane = e.lane_numbers(i)
        at = lane * 37 + 5
        width = (lane * 3) & 15
        found = e.fields(words, e.at(i, 1), at, [width, (lane + 3) & 15, lane & 7])
        ranks = e.ranks(i, mask)
        ((before, in_all),) = e.sums(i, lambda ranks, lane: [e.picked(words, e.at(i, 7), ranks(mask)) & 31])
        whole = [
            *found, e.bits(words, e.at(i, 2), at, 21), e.bits(words, i, lane * 32, 32), e.picked(words, e.at(i, 9), ranks),
            before, in_all,
            e.ones(at * 2654435761), (7 << lane) | (at >> lane), (3 - at).down(2), e.wholes(mask) - lane,
            e.wholes(e.half(words, i, 3)), e.wholes(e.part(mask, 3, 5)), e.wholes(e.count(mask)),
            e.wholes(e.either(mask, e.at(i, 8))),
            e.wholes(e.plus(e.any(mask), e.group(e.at(i, 40)))),
            *e.near_fields(words, e.at(i, 3), lane * 29 + 3, [width, (lane + 3) & 7, lane & 7]),
            e.wholes(e.octet(words, e.at(i, 13))), e.wholes(e.first(at * 3)), (3 - at * 99).down(lane),
            *e.accumulate([lane, at], e.part(mask, 0, 2), lambda n, x: [x[0] + e.wholes(n), x[1] * 3]),
        ]  # fmt: skip
        for k, x in enumerate(whole):
            e.store(out, e.at(i, 32 * k), e.number(x & 65535))
            e.store(out, e.at(i, 32 * k + 16), e.number(x >> 16))
        e.store(
            out,
            e.at(i, 32 * len(whole)),
            e.select(at.compare("==", 79), e.as_float(lane + (127 << 23)), e.splat(0.5)),
        )

    mine = block(formula)

    def lanes(words, out, mask):
        mine(0, words, out, mask)

    kernel = make(lanes, words="i4[?]", out="*f4[?]", mask="i8")
    machine, rng = MachineCode([kernel]), np.random.default_rng(3)
    for _ in range(6):
        words = rng.integers(-(2**31), 2**31, 64).astype(np.int32)
        out = np.zeros(1024, np.float32)
        mask = int(rng.integers(1 << 16))
        assert_same(machine, kernel, words=words, out=out, mask=mask)
        lanes(words, out, mask)
        number = int.from_bytes(words.tobytes(), "little")
        lane = 6
        at = 32 + lane * 37 + 5
        got = [int(out[32 * k + lane]) + (int(out[32 * k + 16 + lane]) << 16) for k in range(6)]
        widths = [lane * 3 & 15, lane + 3 & 15, lane & 7]
        places = [at, at + widths[0], at + widths[0] + widths[1]]
        assert got[:3] == [number >> p & (1 << w) - 1 for p, w in zip(places, widths)]
        assert got[3] == number >> at + 32 & (1 << 21) - 1 and got[4] == int(words.view(np.uint32)[lane])
        rank = (mask & (1 << lane) - 1).bit_count()
        assert got[5] == (number >> 8 * (9 + rank) & 255 if mask >> lane & 1 else 0)
        near = [int(out[32 * k + lane]) for k in range(17, 20)]
        places = [24 + lane * 29 + 3 + sum(([lane * 3 & 15, lane + 3 & 7])[:k]) for k in range(3)]
        widths = [lane * 3 & 15, lane + 3 & 7, lane & 7]
        assert near == [number >> p & (1 << w) - 1 for p, w in zip(places, widths)]


# -- skinning kernels ---------------------------------------------------------------------------------------------------


def skin_work(rng, poses=2, joints=7):
    """One block for each number of influences and two of many, with morphs on some, written in order or not."""
    influences = [1, 2, 3, 4, 6, 5]
    start = np.concatenate([[0], np.cumsum(influences)]).astype(np.int32)
    blocks, count = len(influences), int(start[-1])
    weights = rng.random(16 * count).astype(np.float32)
    weights[16 * start[4] :][rng.random(16 * 11) < 0.3] = 0
    runs = np.array([-1, 16, -1, 48, -1, 80], np.int32)
    order = [rng.permutation(16) if run < 0 else np.arange(16) for run in runs]
    V = 16 * blocks
    return {
        "ranges": np.array([0, 1, 2, 3, 4, 6]),
        "joint_start": start,
        "joints": rng.integers(0, joints, count).astype(np.int32),
        "weights": weights,
        "rows": np.concatenate([16 * b + row for b, row in enumerate(order)]).astype(np.int32),
        "runs": runs,
        "positions": hostile(rng, 48 * blocks),
        "normals": hostile(rng, 48 * blocks),
        "tangents": hostile(rng, 64 * blocks),
        "shares": rng.random(V).astype(np.float32),
        "morph_start": np.array([0, 1, 1, 3, 3, 4, 4], np.int32),
        "morph_target": rng.integers(0, 3, 4).astype(np.int32),
        "morph_deltas": hostile(rng, 4 * 144),
        "matrices": hostile(rng, poses * joints * 12),
        "stretch": hostile(rng, poses * joints * 12),
        "dual": hostile(rng, poses * joints * 8),
        "morph_weights": np.array([0.5, 0.0, 1.0] * poses, np.float32),
        "out_p": np.zeros(poses * V * 3, np.float32),
        "out_n": np.zeros(poses * V * 3, np.float32),
        "out_t": np.zeros(poses * V * 4, np.float32),
        "P": joints,
        "V": V,
        "targets": 3,
    }


@pytest.mark.parametrize("method", skinning.METHODS)
def test_numpy_and_the_modules_agree_on_every_skinning_kernel(method):
    positions = []
    for vectors in range(3):
        kernel = skinning.skin_kernel(method, vectors)
        for seed in range(3):
            fields = skin_work(np.random.default_rng(seed))
            results = []
            for plainly in (False, True):
                work = skinning.SkinWork(
                    **{k: np.copy(v) if isinstance(v, np.ndarray) else v for k, v in fields.items()}
                )
                frame = kernel.frame(work=work, f0=0, f1=2, b0=0, b1=6)
                kernel.run_plainly(frame) if plainly else frame.run()
                results.append([bits(frame.kept[f"work.{name}"]) for name in ("out_p", "out_n", "out_t")])
            assert results[0] == results[1]
            positions.append(results[0][0])
    # What a position is does not depend on what else is asked for.
    assert positions[:3] == positions[3:6] == positions[6:]
