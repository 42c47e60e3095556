"""Kernels' functions and lane formulas as WGSL: what is written, what is refused. What it computes: tests/gpu."""

import math
from typing import NamedTuple

import numpy as np
import pytest

from marrow.kernels.language.annotations import N, Out, f4, i4
from marrow.kernels.language.frontend import LanguageError, lower
from marrow.kernels.language.hierarchy import parents_first
from marrow.kernels.language.lanes import block
from marrow.kernels.language.types import FLOAT, INTEGER, kind_of
from marrow.kernels.language.wgsl_analysis import runs_together
from marrow.kernels.language.wgsl_lanes import WgslEmitter
from marrow.kernels.language.wgsl_printer import WgslPrinter
from marrow.kernels.language.wgsl_text import WgslArray, number, whole
from marrow.kernels.language.wgsl_values import WgslField, World
from marrow.kernels.operations import OPERATIONS
from marrow.kernels.operations.record import runs_alone


def array(name):
    return WgslArray(name, lambda i: f"{name}[{i}]")


def formula(write):
    emitter = WgslEmitter()
    write(emitter)
    return [line.strip() for line in emitter.text()]


# -- lane formulas --------------------------------------------------------------------------------------------------


def test_what_is_used_once_stands_where_it_is_used():
    lines = formula(
        lambda e: e.store(array("y"), "i", e.fma(e.splat("a"), e.load(array("x"), "i"), e.lane("b") * 2.0))
    )
    assert lines == ["let v1 = x[i];", "y[i] = fma(a, v1, b * 2.0);"]


def test_what_is_used_twice_gets_a_name():
    def write(e):
        s = e.lane("a") + 1.0
        e.store(array("y"), "i", s * s)

    assert formula(write) == ["let v1 = a + 1.0;", "y[i] = v1 * v1;"]


def test_loads_come_before_stores_that_follow_them():
    def write(e):
        a, b = e.load(array("x"), "i"), e.load(array("x"), "j")
        e.store(array("x"), "i", b)
        e.store(array("x"), "j", a)

    assert formula(write) == ["let v1 = x[i];", "let v2 = x[j];", "x[i] = v2;", "x[j] = v1;"]


def test_brackets_keep_the_order_of_floats():
    def write(e):
        a, b, c = (e.lane(n) for n in "abc")
        e.store(array("y"), 0, a - (b - c))
        e.store(array("y"), 1, a * (b + c) / (a * b))
        e.store(array("y"), 2, -(a + b) - -2.0)
        e.store(array("y"), 3, e.select((a + b).compare("<", c), a, b))

    assert formula(write) == [
        "y[0] = a - (b - c);",
        "y[1] = a * (b + c) / (a * b);",
        "y[2] = -(a + b) - -2.0;",
        "y[3] = select(b, a, a + b < c);",
    ]


def test_loops_keep_their_values_in_variables():
    def write(e):
        (total,) = e.accumulate([0.0], "n", lambda k, v: [v[0] + e.load(array("x"), k)])
        e.store(array("y"), 0, total)

    assert formula(write) == [
        "var v1 = 0.0;",
        "for (var k1 = 0; k1 < n; k1++) {",
        "let v3 = x[k1];",
        "let v2 = v1 + v3;",
        "v1 = v2;",
        "}",
        "y[0] = v1;",
    ]


def test_numbers_are_written_in_few_digits():
    assert [number(x) for x in (1, 0.1, -5e-12, 1 / 3)] == ["1.0", "0.1", "-5e-12", "0.33333334"]
    assert number(1 / 3, exactly=True) == "0.3333333333333333"
    with pytest.raises(ValueError, match="no way"):
        number(np.inf)
    assert whole(whole("a", "+", 0), "*", 1) == "a" and whole(2, "*", 3) == 6
    assert whole(whole("a", "+", 1), "*", "b") == "(a + 1) * b"


def test_lanes_that_look_at_each_other_are_refused():
    with pytest.raises(NotImplementedError, match="lanes"):
        formula(lambda e: e.broadcast4(array("x"), 0))


# -- functions ------------------------------------------------------------------------------------------------------


class Work(NamedTuple):
    """What the functions below work with."""

    x: Out[f4[N]]
    parents: i4[N]
    nothing: f4[N]
    count: int


def twice(e, i, x, w):
    e.store(x, i, e.splat(w) * e.load(x, i))


doubled = block(twice)


def add(a, b):
    return (a[0] + b[0], a[1] + b[1])


def several(work, n, w):
    """A comment."""
    total = 0.0
    for k in range(3):
        if work.x[n + k] > w:
            total += work.x[n + k]
        else:
            total = max(total, 1)
    a, b = total, w
    a, b = b, a
    s = add((a, b), (1.0, 2.0))
    work.x[n] = s[0] * s[1] if a != b else 0.5
    return n % 3, s[1]


def together(work, n, w):
    doubled.each(0, work.count, 16, work.x, w)
    work.x[n] = w
    for j in parents_first(work.parents):
        p = work.parents[j]
        if p >= 0:
            work.x[j] = work.x[j] + work.x[p]


def refused(work, n, w):
    k = n
    while k > 0:
        k -= 1
    return (1.0, 2.0, 3.0)[k]


def unknown(work, n, w):
    return work.nothing[n]


def lane_formula(e, i, work, w):
    e.store(
        work.x, e.times(i, 16), e.splat(w) * e.broadcast(work.x, i) + e.load(work.x, e.at(e.times(i, 16), 16))
    )


alone = block(lane_formula)


def one_lane(work, n, w):
    alone(n, work, w)
    work.x[n] = math.nan


def translated(function, lane=""):
    x = WgslField("f", "x[{}]".format, ("count",))
    parents = WgslField("i", "parents[{}]".format, ("count",))
    levels = ("LEVELS", "starts[{}]".format, "joints[{}]".format)
    world = World(
        {"x": x, "parents": parents}, {"count": "count"}, levels, reserved=frozenset(["x"]), lane=lane
    )
    printer = WgslPrinter(world)
    printer.root(function, [kind_of(Work), INTEGER, FLOAT])
    return printer.text()


def test_functions_become_wgsl():
    text = translated(several)
    assert (
        "fn several(n: i32, w: real) -> Tuple_if {" in text and "struct Tuple_if { x: i32, y: real }" in text
    )
    assert (
        "fn add(a: vec2<real>, b: vec2<real>) -> vec2<real> {\n  return vec2<real>(a.x + b.x, a.y + b.y);\n}"
        in text
    )
    # A loop over a short range of constants is written out.
    assert "  var total: real = 0.0;\n  if (real(x[n]) > w) {" in text and "if (real(x[n + 2]) > w) {" in text
    assert "total = greater(total, 1.0);" in text and "floor_rest(n, 3)" in text
    # Both sides of an exchange are read before either is written, and a store rounds.
    assert "  let t1 = b;\n  let t2 = a;\n  a = t1;\n  b = t2;" in text
    assert "x[n] = f32(" in text and "real(x[n]) =" not in text


def test_lanes_run_together_and_writes_are_done_by_one():
    text = translated(together)
    assert "for (var i = lane; i < count; i += LANES) { doubled(i, f32(w)); }" in text
    assert "  barrier();\n  if (lane == 0) {\n    x[n] = f32(w);\n  }\n  barrier();" in text
    assert "for (var level = 0; level < LEVELS; level++) {" in text and "let j = joints[k];" in text
    kinds = [kind_of(Work), INTEGER, FLOAT]
    assert runs_together(lower(together, kinds)) and not runs_together(lower(several, kinds))


def test_where_each_invocation_is_a_lane_formulas_are_run_for_that_one():
    text = translated(one_lane, lane="lane")
    assert "fn alone(i: i32, w: f32) {\n  let v1 = x[i];\n  let v2 = x[i * 16 + 16 + lane];" in text
    assert "  x[i * 16 + lane] = w * v1 + v2;\n}" in text and "alone(n, f32(w));" in text
    with pytest.raises(LanguageError, match=r"say alone\.each"):
        translated(one_lane)


def test_a_constant_that_is_no_number_is_made_at_run_time():
    text = translated(one_lane, lane="lane")
    assert "x[n] = f32(real(not_a_number()));" in text and "fn not_a_number() -> f32 {" in text


@pytest.mark.parametrize(("function", "words"), [(refused, "constants"), (unknown, "no work.nothing")])
def test_what_has_no_counterpart_is_refused_with_its_place(function, words):
    with pytest.raises(LanguageError, match=rf"test_wgsl.py:\d+, in \w+: .*{words}"):
        translated(function)


def test_every_operation_is_for_one_or_for_all():
    alone = {o.name for o in OPERATIONS if runs_alone(o)}
    assert {"REACH", "LOOK"} <= alone and not alone & {"SAMPLE", "BLEND", "LAYER_MODEL", "INERTIA", "STORE"}
    # The shader goes from one to the other between operations; what runs alone may use one spare array, not both.
    for o in OPERATIONS:
        names = o.run.__code__.co_names
        assert not {"local", "model"} <= set(names)
