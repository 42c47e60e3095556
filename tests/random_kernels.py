"""Random kernels, for every printer: numbers, arrays, loops, branches and calls, well-typed by construction.

A `shared` kernel computes only what a shader has to give exactly, too: whole numbers that fit 32 bits, and floats that are
small multiples of an eighth, whose sums and products no rounding touches. Other kernels do all the language can: whole numbers
that wrap, divisions, roots, what is infinite or not a number, storage of few bits.
"""
# ruff: noqa: E501 (lists of expressions)

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from compiling import from_source, make
from marrow.kernels.language.annotations import Out, f4, f8, i2, i4, i8, u1

TEXTS: dict[str, str] = {}
"""The source of every kernel that was made, by name."""


class Shared(NamedTuple):
    """What shared kernels work with."""

    x: f4[8]
    i: i4[8]
    o: Out[f4[8]]
    p: Out[i4[8]]


class Full(NamedTuple):
    """What other kernels work with."""

    x: f8[8]
    f: f4[8]
    i: i8[8]
    o: Out[f8[8]]
    p: Out[i8[8]]
    s: Out[i2[8]]
    u: Out[u1[8]]


# -- what kernels call --------------------------------------------------------------------------------------------------


def tame(v):
    """A multiple of an eighth from -64 to 64."""
    return np.floor(min(max(v, -64.0), 64.0) * 8.0) * 0.125


def split(a, b):
    if a > b:
        return a - b, 2.0
    return b - a, 3


def bump(p, k):
    """Counts, and says how often."""
    p[k % 8] += 1
    return p[k % 8] % 23


def picked(array, k):
    return array[k % len(array)]


def swapped(pair):
    (a, b), c = pair
    return c, b, a


def early(n):
    for r in range(20):
        if r * r > n:
            return r
    return -1


CALLED = {"tame": tame, "split": split, "bump": bump, "picked": picked, "swapped": swapped, "early": early}


# -- the writer ---------------------------------------------------------------------------------------------------------


class Writer:
    """Writes a function."""

    def __init__(self, seed: int, *, shared: bool) -> None:
        self.random, self.shared, self.loops, self.open = np.random.default_rng(seed), shared, 0, 0

    def choice(self, *things: Any) -> Any:
        return things[int(self.random.integers(len(things)))]

    def number(self) -> str:
        if self.shared:
            return repr(float(self.random.integers(-64, 64)) / 8)
        return repr(float(self.choice(0.0, 1.0, -2.5, 0.1, 1e-300, 1e30, round(self.random.normal(), 3))))

    def floating(self, depth: int) -> str:
        if depth == 0:
            leaves = [self.number(), "a", "b", "x[i[j]]", "o[2]", "picked(x, k)", "picked(x[2:], n)"]
            return self.choice(*leaves, *([] if self.shared else ["f[k % 8]"]))
        left, right = self.floating(depth - 1), self.floating(depth - 1)
        whole, test = self.whole(depth - 1), self.test(depth - 1)
        common = [
            f"({left} + {right})", f"({left} - {right})", f"min({left}, {right})", f"max({left}, {right}, {self.number()})",
            f"abs({left})", f"-{left}", f"({left} if {test} else {right})", f"np.floor({left})", f"np.ceil({left})",
            f"split({left}, {right})[{self.choice(0, 1)}]", f"math.copysign({left}, {right})", f"np.float32({left})",
            f"swapped((({left}, 1), {right}))[0]", f"(1.0, {left}, {right})[{self.choice(1, 2)}]",
        ]  # fmt: skip
        if self.shared:
            return self.choice(
                *common, f"tame({left} * {right})", f"tame({left} / 4.0)", f"float({whole} % 40)"
            )
        return self.choice(
            *common, f"({left} * {right})", f"({left} / {right})", f"math.sqrt({left})", f"({left} * {whole})", f"max({left}, {whole})"
        )  # fmt: skip

    def whole(self, depth: int) -> str:
        if depth == 0:
            return self.choice("j", "k", "n", "i[k % 8]", "p[j]", str(int(self.random.integers(-9, 10))))
        left, right = self.whole(depth - 1), self.whole(depth - 1)
        common = [
            f"(({left} + {right}) % 97)", f"(({left} - {right}) % 89)", f"(({left} % 91) * ({right} % 93))", f"({left} // {right})",
            f"({left} % {right})", f"(int({self.floating(depth - 1)}) % 71)", f"({left} & {right})", f"(({left} ^ {right}) % 50)",
            f"min({left}, {right})", f"({left} if {self.test(depth - 1)} else {right})", f"(({left} % 64) << {self.choice(0, 1, 3)})",
            f"({left} >> {self.choice(0, 1, 4)})", f"({left} >> ({right} % 31))", f"(({left} % 64) << ({right} % 9))", f"~{left}", f"abs({left})", f"bump(p, {left})", f"early({left})",
            f"int({self.test(depth - 1)})", "len(x)",
        ]  # fmt: skip
        if self.shared:
            return self.choice(*common)
        return self.choice(
            *common,
            f"({left} * {right})",
            f"({left} + {right})",
            f"({left} << 37)",
            f"-{left}",
            f"int({self.floating(0)})",
        )

    def test(self, depth: int) -> str:
        if depth == 0:
            return self.choice(
                "a < b", "j != k", "a == a", "k in (1, 3, 5)", "not (n > 2)", "n not in (2, j)"
            )
        left, right = self.floating(depth - 1), self.floating(depth - 1)
        sign = self.choice("<", "<=", "==", "!=", ">", ">=")
        return self.choice(
            f"{left} {sign} {right}", f"{self.number()} {sign} {self.choice('a', 'b')} < {right}",
            f"({self.test(depth - 1)} and {self.test(depth - 1)})", f"({self.test(depth - 1)} or {self.test(depth - 1)})",
            f"not {self.test(0)}", f"{self.whole(depth - 1)} {sign} {self.whole(depth - 1)}",
            f"({self.test(depth - 1)} and bump(p, {self.whole(0)}) > 2)", f"({self.test(0)} or early({self.whole(depth - 1)}) < 3)",
        )  # fmt: skip

    def float_value(self) -> str:
        return f"tame({self.floating(2)})" if self.shared else self.floating(2)

    def whole_value(self) -> str:
        return f"{self.whole(2)} % 1009" if self.shared else self.whole(2)

    def statements(self, depth: int, indent: int) -> list[str]:
        lines: list[str] = []
        for _ in range(int(self.random.integers(1, 4))):
            kind = self.choice(
                "a", "b", "n", "o", "o", "p", "swap", "view", "if", "for", "for", "while", "small"
            )
            if kind in "ab":
                lines.append(f"{kind} = {self.float_value()}")
            elif kind == "n":
                lines.append(
                    f"n {self.choice('=', '=', '-=')} {self.whole_value()}"
                    if not self.shared
                    else f"n = {self.whole_value()}"
                )
            elif kind == "o":
                place = self.choice("j", "k % 8", "i[k % 8]", "bump(p, j) % 8")
                lines.append(f"o[{place}] {self.choice('=', '=', '-=')} {self.float_value()}")
                if self.shared:
                    lines += ["for q in range(8):", "    o[q] = tame(o[q])"]
            elif kind == "p":
                lines.append(f"p[{self.choice('j', 'k % 8')}] = {self.whole_value()}")
            elif kind == "swap":
                lines.append(
                    self.choice(
                        "a, b = b, a",
                        "n, p[n % 8] = p[3] % 1009, n % 99",
                        "p[1], p[2], n = p[2], n % 7, p[1] % 77",
                    )
                )
            elif kind == "view":
                lines.append(f"v = x[{self.choice(0, 2, 'j')}:{self.choice(5, 7)}]")
                lines.append(f"o[len(v)] = {self.choice('v[0]', 'picked(v, n)', 'v[len(v) - 1]')}")
            elif kind == "small" and not self.shared:
                lines.append(f"{self.choice('s', 'u')}[j] {self.choice('=', '+=')} {self.whole(1)}")
            elif depth == 0:
                continue
            elif kind == "if":
                lines.append(f"if {self.test(1)}:")
                lines += self.statements(depth - 1, 1)
                if self.random.random() < 0.5:
                    lines += ["else:", *self.statements(depth - 1, 1)]
            elif kind in ("for", "while"):
                lines += self.loop(kind, depth)
        return ["    " * indent + line for line in lines or ["pass"]]

    def loop(self, kind: str, depth: int) -> list[str]:
        self.loops += 1
        name = f"r{self.loops}"
        lines = [f"{name} = 0"]
        if kind == "for":
            bounds = self.choice("0, 3", "0, 9", "4, -4, -3", "j, 8", "0, k % 5", "n % 6", "0, n % 9, 2")
            lines.append(f"for {name} in range({bounds}):")
        else:
            lines += [
                f"while {name} < {self.choice('6', 'min(n, 6)', '(4 if a < b else 2)')}:",
                f"    {name} += 1",
            ]
        lines += self.statements(depth - 1, 1)
        lines.append(f"    p[2] = (p[2] * 3 + {name}) % 101")
        # What is done to the bounds or the variable of a range does not change how often it runs.
        if kind == "for":
            lines += [[], ["    n = n % 50 - 1"], [f"    {name} += 2", f"    p[5] = {name}"]][
                int(self.random.integers(3))
            ]
        if self.random.random() < 0.4:
            lines += [f"    if {self.test(1)}:", f"        {self.choice('break', 'continue')}"]
        return [*lines, f"p[4] = {name}"]

    def function(self, name: str, size: int) -> str:
        fields = Shared._fields if self.shared else Full._fields
        head = [
            f"def {name}(work):",
            f"    {', '.join(fields)} = {', '.join(f'work.{field}' for field in fields)}",
            "    a, b, n = x[0], 0.5, 1",
            "    j, k = 3, 11",
        ]
        tail = "    o[0], p[0] = a - b, n\n    return n, p[3]\n"
        return "\n".join([*head, *self.statements(size, 1)]) + "\n" + tail


def random_kernel(seed: int, *, shared: bool, size: int = 3) -> Any:
    """A kernel; in it, loops and branches are `size` deep at most."""
    name = f"{'shared' if shared else 'full'}_{seed}"
    text = TEXTS[name] = Writer(seed, shared=shared).function(name, size)
    function = from_source(text, name, math=math, np=np, **CALLED)
    return make(function, work=Shared if shared else Full, returns=2)


HOSTILE = np.array([0.0, -0.0, math.nan, math.inf, -math.inf, 1e308, 5e-324, -2.5, 0.1, 1e19, -1e300, 3.0])


def random_work(rng: np.random.Generator, *, shared: bool, hostile: bool = False) -> Any:
    if shared:
        x = (rng.integers(-512, 512, 8) / 8).astype(np.float32)
        i = rng.integers(0, 8, 8).astype(np.int32)
        return Shared(x, i, np.zeros(8, np.float32), np.zeros(8, np.int32))
    x = rng.choice(HOSTILE, 8) if hostile else rng.normal(size=8)
    f, i = rng.normal(size=8).astype(np.float32), rng.integers(0, 8, 8)
    return Full(x, f, i, np.zeros(8), np.zeros(8, np.int64), np.zeros(8, np.int16), np.zeros(8, np.uint8))
