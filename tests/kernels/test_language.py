"""The compiled subset of Python: machine code gives Python's bits, and what is not in the language is refused."""

import math
import threading
from typing import NamedTuple

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from compiling import MachineCode, assert_same, from_source, make
from marrow.errors import ValidationError
from marrow.kernels.language.annotations import N, Out, Records, f4, f8, i2, i8, u1
from marrow.kernels.language.frontend import LanguageError, lower
from marrow.kernels.language.kernel import kernel

HOSTILE = np.array([0.0, -0.0, math.nan, math.inf, -math.inf, 1e308, 5e-324, -2.5, 0.1, 1e19, -1e300, 3.0])
WHOLE = np.arange(-6, 6)
INNER = np.dtype([("a", "f4"), ("b", "i2", (3,))], align=True)
RECORD = np.dtype(
    [("n", "i4"), ("u", "u1"), ("x", "f8"), ("row", "f4", (2, 3)), ("inner", INNER), ("flag", "?")],
    align=True,
)


# -- functions of the subset ----------------------------------------------------------------------------------------


def arithmetic(x, i, o, p):
    for k in range(len(x)):
        for j in range(len(x)):
            o[0] = o[0] * 0.5 + 1.0 / (1.0 + x[k] * x[k])
            o[1] = x[k] / x[j]
            o[2] += -x[k] - +x[j]
            p[0] += i[k] // 4 + i[k] % 5 * 7 - (i[k] // -3) + i[k] % -4
            p[1] += i[k] // i[j] + i[k] % i[j]
            p[2] ^= (i[k] << 2) | (i[j] >> 1) & ~i[k]


def comparisons(x, i, o, p):
    for k in range(len(x)):
        for j in range(len(x)):
            a, b = x[k], x[j]
            p[0] += (a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * (a != b) + 16 * (a > b) + 32 * (a >= b)
            p[1] += 1 if 0.0 < a < b <= 3.0 != a else 0
            p[2] += 1 if i[k] in (1, 2, 5) and i[j] not in (3, -1) else 0
            o[3] = min(a, b, 7) + max(2, a, b) + abs(a)
            o[4] += min(max(o[3], -5.0), 5.0) if not math.isnan(o[3]) else 1.0


def short_circuits(x, i, o, p):
    far = 1 << 40
    for k in range(len(x)):
        at = far if x[k] > 0.0 else k
        if at < len(x) and x[at] < 1.0:
            p[0] += 1
        if at >= len(x) or x[at] < 1.0:
            p[1] += 1
        if k < at < len(x) < x[at]:
            p[2] += 1
        o[0] += x[at] if at < len(x) and not np.isnan(x[at]) else 0.5


def conversions(x, i, o, p):
    for k in range(len(x)):
        p[k % 4] = int(x[k]) // 3
        o[k] = float(int(x[k])) + np.floor(x[k]) + np.ceil(x[k]) + np.float32(x[k])
        if math.isfinite(x[k]) and x[k] > 0.0:
            o[k] += math.sqrt(x[k]) + math.copysign(2.0, x[k]) + math.ldexp(x[k], 3)
        o[k] += math.sqrt(x[k])
        o[k] += bool(i[k]) + int(x[k] > 0.0)


def swapped(pair):
    (a, b), c = pair
    return (c, b), a


def spread(a, b, c):
    return a + 10.0 * b + 100.0 * c


def tuples(x, i, o, p):
    nested = ((x[0], i[1]), 2.0)
    first, last = swapped(nested)
    o[0] = first[0] + first[1] + last
    a, b = 1.0, 2
    a, o[1] = o[1] + b, a
    o[2] = a
    triple = (x[7], 0.25, i[2])
    o[3] = spread(*triple)
    for k in range(3):
        o[4] += triple[k] * (k + 1)
    p[0] = k + len(triple)
    c = d = 3.5
    o[5] = c + d
    e, f = (1, 2.0) if x[0] > 0.0 else (3.0, 4)
    o[6] = e / f


def loops(x, i, o, p):
    for k in range(20):
        if k == 3:
            continue
        if k > 11:
            break
        o[k % 12] += k
    p[0] = k
    k = 0
    while True:
        k += 1
        if k % 2:
            continue
        p[1] += k
        if k > 30:
            break
    while k > 0:
        k -= 7
    p[2] = k
    for k in range(9, -4, -3):
        for j in range(k):
            if j * k > 20:
                break
            p[3] += j * k
    for k in range(0, 5, 2):
        o[k] = 0.5
    for k in range(3, 3):
        o[11] = k
    p[4] = k


def views(x, i, o, p):
    tail = x[7:]
    middle = tail[1:4]
    o[0] = middle[0] + tail[len(tail) - 1] + len(middle)
    part = o[4:9]
    part[1] = 5.0
    part[2] -= 1.0


SAMPLES = [arithmetic, comparisons, short_circuits, conversions, tuples, loops, views]


def grids(a, b, out):
    for f in range(a.shape[0]):
        plane, row = a[f], b[f]
        for j in range(plane.shape[0]):
            for c in range(a.shape[2]):
                out[f, j, c] = plane[j, c] * row[c] + a[f, j][c]
        out[f, 0, 0] += a.shape[1] + len(row)
        edge = out[f][1:]
        edge[0, 0] = -1.0


def records(rows, out):
    for k in range(len(rows)):
        row = rows[k]
        out[k] = row["n"] + row["u"] + row["x"] + row["row"][1, 2] + row["row"][0][1]
        inner = row["inner"]
        out[k] += inner["a"] + inner["b"][2]
        out[k] += 1.0 if row["flag"] else 0.25
        row["n"] += k
        row["x"] = out[k] / 3.0
        row["row"][1, 0] = row["x"]
        row["inner"]["b"][1] = -7
    part = rows[1:3]
    part[1]["u"] = 200


def copies(rows, grid, small):
    rows[0] = rows[2]
    rows[1]["inner"] = rows[3]["inner"]
    row = grid[1]
    row[2] = rows[1]
    grid[0, 1] = row[2]
    small[1] = small[0]


class Pair(NamedTuple):
    """A struct of arguments."""

    values: f4[N]
    factor: float
    count: int


def scaled(pair, k):
    return pair.values[k] * pair.factor


def structs(pair, out):
    for k in range(pair.count):
        out[k] = scaled(pair, k) + len(pair.values)
    return pair.count, len(out) > 2


@pytest.fixture(scope="module")
def code():
    kinds = {"x": "f8[N]", "i": "i8[N]", "o": "*f8[N]", "p": "*i8[N]"}
    kernels = {f.__name__: make(f, **kinds) for f in SAMPLES}
    kernels["grids"] = make(grids, a="f4[F,J,C]", b="f8[F,C]", out="*f4[F,J,C]")
    kernels["records"] = make(records, rows=(RECORD, "*N"), out="*f8[N]")
    kernels["copies"] = make(copies, rows=(RECORD, "*N"), grid=(RECORD, "*2,3"), small=(INNER, "*2"))
    kernels["structs"] = make(structs, pair=Pair, out="*f4[N]", returns=2)
    return MachineCode(kernels.values()), kernels


@pytest.mark.parametrize("name", [f.__name__ for f in SAMPLES])
def test_machine_code_gives_what_python_gives(code, name):
    machine, kernels = code
    zeros = {"o": np.zeros(12), "p": np.zeros(12, np.int64)}
    assert_same(machine, kernels[name], x=HOSTILE, i=WHOLE, **zeros)
    calm = np.random.default_rng(0).normal(size=12)
    assert_same(machine, kernels[name], x=calm, i=WHOLE[::-1].copy(), **zeros)


def test_arrays_of_several_axes(code):
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(3, 4, 5)).astype(np.float32), rng.normal(size=(3, 5))
    out = assert_same(code[0], code[1]["grids"], a=a, b=b, out=np.zeros((3, 4, 5), np.float32))["out"]
    assert out[2, 1, 0] == -1.0


def test_records_with_rows_and_records_inside(code):
    rows = np.zeros(4, RECORD)
    raw = np.random.default_rng(2).integers(0, 90, rows.nbytes).astype(np.uint8)
    rows.view(np.uint8)[:] = raw
    rows["flag"] = [True, False, True, True]
    made = assert_same(code[0], code[1]["records"], rows=rows, out=np.zeros(4))
    assert made["rows"]["u"][2] == 200
    assert (made["rows"]["inner"]["b"][:, 1] == -7).all()


def test_records_are_copied_whole(code):
    rows, grid, small = np.zeros(4, RECORD), np.zeros((2, 3), RECORD), np.zeros(2, INNER)
    for array in (rows, grid, small):
        raw = np.random.default_rng(array.nbytes).integers(0, 90, array.nbytes).astype(np.uint8)
        array.reshape(-1).view(np.uint8)[:] = raw
    rows["flag"] = grid["flag"] = True
    made = assert_same(code[0], code[1]["copies"], rows=rows, grid=grid, small=small)
    assert made["rows"][0] == rows[2] and made["rows"][1]["inner"] == rows[3]["inner"]
    assert made["rows"][1]["x"] == rows[1]["x"]
    assert made["grid"][1, 2] == made["grid"][0, 1] == made["rows"][1] and made["small"][1] == small[0]


def test_structs_and_what_a_kernel_returns(code):
    pair = Pair(np.arange(4, dtype=np.float32), 0.3, 3)
    made = assert_same(code[0], code[1]["structs"], pair=pair, out=np.zeros(4, np.float32))
    assert made["returns"] == [3, 1]


# -- what is refused ----------------------------------------------------------------------------------------------------


def recursive(n):
    return 0 if n < 1 else recursive(n - 1)


def even(n):
    return 1 if n == 0 else odd(n - 1)


def odd(n):
    return 0 if n == 0 else even(n - 1)


def shout(o):
    o[0] = 1.0
    return o[0]


REFUSED = {
    "a = 1\na = 2.5": "a: expected a whole number, got a float",
    "a = (1, 2)\na = (1, 2, 3)": "a: expected a tuple",
    "o[0] = nowhere": "nowhere has no value here",
    "if o[0] > 0.0:\n    y = 1.0\no[0] = y": "y may have no value here",
    "for k in range(n):\n    y = 1.0\no[0] = y": "y may have no value here",
    "if o[0] > 0.0:\n    return\nreturn 3": "some returns have a value and some have none",
    "if o[0] > 0.0:\n    return 1\nreturn 2.5": "expected a whole number, got a float",
    "if o[0] > 0.0:\n    return 1": "some ways through the function return nothing",
    "m = n or 5": "take truth values: compare n with 0",
    "o[0] = o[-1]": "counted from the beginning",
    "v = o[::2]": "slices have no step",
    "for k in range(3):\n    pass\nelse:\n    o[0] = 1.0": "no else",
    "while n < 3:\n    n += 1\nelse:\n    o[0] = 1.0": "no else",
    "for a, b in range(3):\n    pass": "one variable",
    "for a in o:\n    pass": "loops run over range",
    "for k in range(0, 9, n):\n    pass": "the step of a range is a constant",
    "o[0] = o[1] % 2.0": "Mod of floats",
    "o[0] = o[1] ** 2": "Pow of floats",
    "o[0] = round(o[1])": "round cannot be called here",
    "o[0] = (lambda v: v)(1.0)": "cannot be called",
    "o[0, 1] = 1.0": "too many indices",
    "o = 3": "o: expected f8",
    "n.real = 3": "cannot assign to n.real",
    "n.real += 3": "cannot assign to n.real",
    "a, b = 1, 2, 3": "tuple of other length",
    "a = (1.0, 2.0)\no[0] = a[n]": "named by constants",
    "a = (1.0, 2.0)\no[0] = a[2]": "has no item 2",
    "o[0] = 'text'": "is not a number",
    "with o:\n    pass": "With is not in the language",
    "try:\n    pass\nfinally:\n    pass": "Try is not in the language",
    "n[0] = 1.0": "is not an array",
    "o[0] = o": "expected a float",
    "o[0] = 1.0 if o is o else 2.0": "is not in the language",
    "import math": "Import is not in the language",
    "o[0] = max(o[0], key=abs)": "by position",
    "o[0] = math.nothing(1.0)": "there is no math.nothing",
    "n = n >> 64": "shifted by 0 to 63",
    "n = n << -1": "shifted by 0 to 63",
    "n = 1 << 63": "does not fit 64 bits",
    "n = 9223372036854775807 + 1": "does not fit 64 bits",
    "n = recursive(n)": "recursive calls recursive: functions that call themselves are not in the language: write a loop",
    "n = even(n)": "even calls odd calls even",
    "k = 0.5\nfor k in range(n):\n    pass": "loops count with whole numbers",
    "o[0] + 1.0": "does nothing",
    "o[0] = 0.0 < shout(o) < 1.0": "used twice: give it a name first",
    "n = shout(o)": "expected a whole number, got a float",
}  # fmt: skip


@pytest.mark.parametrize("body", REFUSED)
def test_what_is_not_in_the_subset_is_refused_with_file_and_line(body):
    lines = body.split("\n")
    text = "def refused(o, n):\n" + "".join(f"    {line}\n" for line in lines)
    function = from_source(text, "refused", math=math, recursive=recursive, even=even, shout=shout)
    with pytest.raises(LanguageError) as refusal:
        MachineCode([make(function, o="*f8[N]", n="i8", returns=0)])
    said = str(refusal.value)
    assert REFUSED[body] in said
    if "call themselves" in said:
        assert said.startswith(__file__)
        return
    assert said.startswith("<refused>:")
    assert 2 <= int(said.split(":")[1].split(",")[0]) <= 1 + len(lines)


def wrapping(i: i8[N], p: Out[i8[N]], small: Out[i2[N]], byte: Out[u1[N]]) -> None:
    p[0] = i[0] + 1
    p[1] = i[1] - 1
    p[2] = i[0] * 3
    p[3] = -i[1]
    p[4] = abs(i[1])
    p[5] = i[1] // -1
    p[6] = (i[0] + i[0]) >> 1
    p[7] = i[0] << 1
    small[0], byte[0] = i[0], 300
    small[1], byte[1] = 40000, -1


def test_whole_numbers_wrap_and_storage_keeps_low_bits():
    """Two's complement, worked out by hand."""
    kernel = make(wrapping)
    high, low = (1 << 63) - 1, -(1 << 63)
    out = assert_same(
        MachineCode([kernel]), kernel, i=np.array([high, low] + [0] * 6), p=np.zeros(8, np.int64),
        small=np.zeros(8, np.int16), byte=np.zeros(8, np.uint8),
    )  # fmt: skip
    assert out["p"].tolist() == [low, high, high - 2, low, low, low, -1, -2]
    assert out["small"][:2].tolist() == [-1, 40000 - 65536]
    assert out["byte"][:2].tolist() == [44, 255]


def counting(i: i8[N], p: Out[i8[N]]) -> None:
    m = i[0]
    rounds = 0
    for r in range(m):
        m = m - 1
        r += 10
        rounds += 1
    p[0], p[1] = rounds, m
    r = -5
    for r in range(2, 9, 3):
        p[2] = r
    p[3] = r
    for r in range(5, 5):
        p[4] = r
    p[5] = r


def test_a_range_is_evaluated_once_and_its_variable_keeps_its_last_value():
    kernel = make(counting)
    out = assert_same(MachineCode([kernel]), kernel, i=np.full(8, 7), p=np.zeros(8, np.int64))
    assert out["p"].tolist() == [7, 0, 8, 8, 0, 8, 0, 0]


def test_the_typed_form_can_be_read():
    assert str(lower(counting, make(counting).kinds.values())).split("\n")[:9] == [
        "function counting(i: i8[?], p: i8[?])",
        "  var m: int",
        "  var rounds: int",
        "  var r: int",
        "  m = i[0]",
        "  rounds = 0",
        "  for r from 0 to m step 1",
        "    m = (m - 1)",
        "    r = (r + 10)",
    ]


# -- frames -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def total():
    def add_up(x, y, square, out, n, w):
        for k in range(n):
            out[k] = x[k] + y[k, 1] * w + square[0, 1]
        return n, 7

    kinds = {"x": "f4[N]", "y": "f8[N,3]", "square": "f4[S,S]", "out": "*f4[N]", "n": "i8", "w": "f8"}
    return make(add_up, returns=2, **kinds)


def good():
    return {
        "x": np.ones(5, np.float32), "y": np.ones((5, 3)), "square": np.ones((2, 2), np.float32),
        "out": np.zeros(5, np.float32), "n": 5, "w": 2.0,
    }  # fmt: skip


def unaligned():
    return np.frombuffer(bytes(21), np.uint8)[1:].view(np.float32)


def read_only(array):
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("name", "wrong", "words"),
    [
        ("x", np.ones(5), "float64"),
        ("x", np.ones((5, 1), np.float32), r"\(5, 1\)"),
        ("x", [1.0] * 5, "list"),
        ("x", None, "NoneType"),
        ("x", np.ones(10, np.float32)[::2], "strides"),
        ("x", np.ones(5, ">f4"), ">f4"),
        ("x", unaligned(), "must be"),
        ("y", np.ones((5, 3), order="F"), "strides"),
        ("y", np.ones((5, 4)), "3 is 3"),
        ("y", np.ones((4, 3)), "N is 5"),
        ("square", np.ones((2, 3), np.float32), "S is 2"),
        ("out", read_only(np.zeros(5, np.float32)), "read-only"),
        ("out", np.zeros(6, np.float32), "N is 5"),
        ("n", 2.5, "must be a number"),
        ("n", "5", "must be a number"),
        ("n", 1 << 70, "must be a number"),
        ("w", "much", "must be a number"),
        ("w", 10**400, "must be a number"),
        ("nothing", 1, "no argument 'nothing'"),
    ],
)
def test_frames_refuse_what_does_not_fit(total, name, wrong, words):
    frame = total.frame(**good())
    with pytest.raises(ValidationError, match=words):
        frame.put_one(name, wrong)
    frame.run()
    assert (frame.kept["out"] == 4).all()


def test_frames_refuse_to_run_without_their_arrays(total):
    arguments = good()
    del arguments["y"]
    frame = total.frame(**arguments)
    with pytest.raises(ValidationError, match="nothing was put in for y"):
        frame.run()
    with pytest.raises(ValidationError, match="takes 6 arguments, got 2"):
        total(1, 2)


def test_structs_must_be_the_structs_asked_for(code):
    with pytest.raises(ValidationError, match="must be a Pair"):
        code[1]["structs"].frame(pair=(1, 2, 3))


def test_extension_modules_refuse_frames_that_are_too_short_or_no_memory():
    from marrow.kernels.backend import Built, backend

    if not isinstance(backend(), Built):
        pytest.fail("build the kernels: python -m marrow.kernels.build")
    run = backend().module.run_programs
    for wrong, error in ((bytearray(8), ValueError), (bytes(4096), BufferError), (3, TypeError)):
        with pytest.raises(error):
            run(wrong)


def test_a_frame_copy_is_independent(total):
    frame = total.frame(**good())
    other = frame.copy()
    mine = np.zeros(5, np.float32)
    other.put(out=mine, w=3.0)
    other.run()
    assert (mine == 5).all()
    assert (frame.kept["out"] == 0).all()


def test_threads_share_a_kernel(total):
    wrong = []

    def work(number):
        arguments = {**good(), "w": float(number)}
        for _ in range(200):
            arguments["out"][:] = 0
            if total(*arguments.values()) != (5, 7) or (arguments["out"] != 2 + number).any():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_two_kernels_cannot_have_one_name():
    from marrow.kernels import poses

    assert poses.to_model.name == "to_model"

    def to_model(x: f8[N]) -> None:
        pass

    with pytest.raises(ValueError, match="two kernels are called to_model"):
        kernel(to_model)


def test_annotations_that_are_no_kinds_are_refused():
    def text(x: "words") -> None:
        pass

    def none(x):
        pass

    def result(x: float) -> float:
        return x

    text.__annotations__["x"] = str
    for function, words in (
        (text, "not a kind"),
        (none, "annotate its arguments: x"),
        (result, "returns whole numbers"),
    ):
        with pytest.raises(ValueError, match=words):
            make(function)
    with pytest.raises(ValueError, match="not sizes"):
        f4["N"]
    packed = np.dtype([("flag", "u1"), ("x", "f8")])
    with pytest.raises(ValueError, match="align=True"):
        Records[packed, N]


def test_threads_may_lower_the_same_function_at_once():
    from concurrent.futures import ThreadPoolExecutor

    from marrow.kernels.language import frontend
    from marrow.kernels.language.types import FLOAT

    def twice(x):
        return x * 2.0

    def deep(x):
        return twice(x) + twice(x + 1.0)

    with ThreadPoolExecutor(8) as pool:
        for _ in range(20):
            frontend._lower.cache_clear()
            made = list(pool.map(lambda _: frontend.lower(deep, [FLOAT]), range(8)))
            assert all(function is made[0] for function in made)
