"""`@kernel`: functions that run as machine code, and the frames their arguments travel in.

    @kernel
    def scaled(x: f4[N], out: Out[f4[N]], factor: float) -> None:
        for i in range(len(x)):
            out[i] = factor * x[i]

    scaled(x, out, 2.0)                                # checks every argument, then runs
    frame = scaled.frame(x=x, out=out, factor=2.0)     # checks once; frames keep their arrays alive
    frame.run()

Who runs it is decided once per process (`marrow.kernels.backend`): the extension module the package was built with, the compiler
where sources were changed since, or Python itself on the NumPy backend.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np

from marrow.errors import ValidationError
from marrow.kernels.language.python_arrays import plain
from marrow.kernels.language.types import (
    FLOAT,
    ArrayKind,
    Kind,
    ScalarKind,
    StructKind,
    leaves,
    signature,
    words,
)
from marrow.pyodide import IN_BROWSER

__all__ = ["KERNELS", "CallFrame", "FramePool", "Kernel", "apart", "kernel", "rare"]


def rare(function: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a function that a kernel seldom calls: it is compiled by itself and for size, which takes less time."""
    function.attributes = ("cold", "noinline", "optsize")  # type: ignore[attr-defined]
    return function


def apart(function: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a function that is called from several places, and long: it is compiled once, not into each of them."""
    function.attributes = ("noinline",)  # type: ignore[attr-defined]
    return function


KERNELS: dict[str, Kernel] = {}
"""All kernels by name."""


class Kernel:
    """A function in the compiled subset, the kinds of its arguments, and how many whole numbers it returns."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name, self.function = name, function
        self.kinds, self.returns = signature(function)
        self.leaves: dict[str, Kind] = {}
        self.offsets: dict[str, int] = {}
        """Where each array or number begins in a frame; fields of a struct are `argument.field`."""
        at = 0
        for argument, kind in self.kinds.items():
            for leaf, inner in leaves(argument, kind):
                self.leaves[leaf], self.offsets[leaf] = inner, at
                at += words(inner)
        arrays = {n: k for n, k in self.leaves.items() if isinstance(k, ArrayKind)}
        letters = [letter for k in arrays.values() for letter in k.sizes if letter.isalpha()]
        self.shared = {letter for letter in letters if letters.count(letter) > 1}
        """Sizes that occur more than once and must agree."""
        self.flat = {n: k.ndim == 1 for n, k in arrays.items()}
        self.results, self.size = at, at + self.returns
        self._frames = FramePool(lambda: CallFrame(self))
        self._python: Callable[..., Any] | None = None
        if name in KERNELS:
            raise ValueError(f"two kernels are called {name}")
        KERNELS[name] = self

    def frame(self, **arguments: Any) -> CallFrame:
        """A frame with these arguments; the others are put in later."""
        frame = CallFrame(self)
        frame.put(**arguments)
        return frame

    def __call__(self, *arguments: Any) -> Any:
        if len(arguments) != len(self.kinds):
            raise ValidationError(f"{self.name} takes {len(self.kinds)} arguments, got {len(arguments)}")
        frame = self._frames.take()
        frame.sizes.clear()
        for name, value in zip(self.kinds, arguments):
            frame.put_one(name, value)
        results = frame.run()
        frame.kept.clear()
        self._frames.give(frame)
        return results

    def run_plainly(self, frame: CallFrame) -> None:
        """Runs the kernel as Python (see `python_printer`) on what a frame holds."""
        if self._python is None:
            from marrow.kernels.language.frontend import lower
            from marrow.kernels.language.python_printer import python_function

            self._python = python_function(lower(self.function, tuple(self.kinds.values())))
        results = self._python(*(self._plain(frame, name, kind) for name, kind in self.kinds.items()))
        if self.returns:
            many = results if isinstance(results, tuple) else (results,)
            for k, result in enumerate(many):
                frame.words[self.results + k] = int(result)

    def _plain(self, frame: CallFrame, name: str, kind: Kind) -> Any:
        if isinstance(kind, StructKind):
            return kind.made_by(
                *(self._plain(frame, f"{name}.{field}", inner) for field, inner in kind.fields)
            )
        at = self.offsets[name]
        if isinstance(kind, ScalarKind):
            return frame.numbers[at] if kind.letter == "f" else frame.words[at]
        array = frame.lent.get(name)
        if array is None:
            array = frame.kept[name]
        elif self.flat[name]:
            array = array.reshape(-1)
        return plain(array)


class CallFrame:
    """The arguments of one call as a row of 64-bit words."""

    __slots__ = (
        "address",
        "argument",
        "bytes",
        "entry",
        "kept",
        "kernel",
        "lent",
        "numbers",
        "sizes",
        "whole",
        "words",
    )

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.bytes = bytearray(8 * max(kernel.size, 1))
        self.kept: dict[str, Any] = {}
        self.sizes: dict[str, int] = {}
        self._ready()

    def _ready(self) -> None:
        from marrow.kernels.backend import backend

        self.words, self.numbers = memoryview(self.bytes).cast("q"), memoryview(self.bytes).cast("d")
        chosen = backend()
        self.whole = False
        self.lent: dict[str, Any] = {}
        self.address = chosen.address
        self.entry, self.argument = chosen.entry(self)

    def copy(self) -> CallFrame:
        """The same arguments in a frame of its own, for another thread."""
        other = object.__new__(CallFrame)
        other.kernel, other.bytes = self.kernel, bytearray(self.bytes)
        other.kept, other.sizes = dict(self.kept), dict(self.sizes)
        other._ready()
        return other

    def put(self, **arguments: Any) -> None:
        """Puts arguments in their places, each checked: type, axes, memory order, and sizes that must agree."""
        for name, value in arguments.items():
            self.put_one(name, value)

    def put_one(self, name: str, value: Any) -> None:
        """Puts in one argument, or one field of a struct (`argument.field`)."""
        kind = self.kernel.kinds.get(name) or self.kernel.leaves.get(name)
        if kind is None:
            raise ValidationError(f"{self.kernel.name} has no argument {name!r}")
        self._put(name, kind, value)

    def _put(self, name: str, kind: Kind, value: Any) -> None:
        if isinstance(kind, ArrayKind):
            self._put_array(name, kind, value)
        elif isinstance(kind, StructKind):
            if not isinstance(value, kind.made_by):
                raise ValidationError(
                    f"{self.kernel.name}: {name} must be a {kind.made_by.__name__}, got {type(value).__name__}"
                )
            for field, inner in kind.fields:
                self._put(f"{name}.{field}", inner, getattr(value, field))
        else:
            where = self.numbers if kind == FLOAT else self.words
            try:
                where[self.kernel.offsets[name]] = value
            except (TypeError, ValueError, OverflowError):
                raise ValidationError(f"{self.kernel.name}: {name} must be a number, got {value!r}") from None

    def _put_array(self, name: str, kind: ArrayKind, array: Any) -> None:
        if not isinstance(array, np.ndarray) or array.dtype != kind.dtype or array.ndim != kind.ndim:
            got = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
            raise self._refused(name, f"got {got}")
        flags = array.flags
        if not flags.carray and (kind.written or not (flags.c_contiguous and flags.aligned)):
            problem = "it is read-only" if flags.c_contiguous else f"it has strides {array.strides}"
            raise self._refused(name, problem)
        for size, letter in zip(array.shape, kind.sizes):
            wanted = size
            if letter in self.kernel.shared:
                wanted = self.sizes.setdefault(letter, size)
            elif letter.isdigit():
                wanted = int(letter)
            if size != wanted:
                raise self._refused(name, f"{letter} is {wanted}, got shape {array.shape}")
        at = self.kernel.offsets[name]
        self.kept[name] = array
        self.words[at] = array.__array_interface__["data"][0]
        for axis, size in enumerate(array.shape, at + 1):
            self.words[axis] = size

    def _refused(self, name: str, problem: str) -> ValidationError:
        return ValidationError(f"{self.kernel.name}: {name} must be {self.kernel.leaves[name]}: {problem}")

    def lend(self, name: str, array: Any) -> None:
        """Puts in an array for the next run only: one the caller has checked, C-contiguous, of as many axes as the kernel
        expects or, where that is one, of any."""
        at, words = self.kernel.offsets[name], self.words
        words[at] = self.address(array)
        if self.kernel.flat[name]:
            words[at + 1] = array.size
        else:
            for axis, size in enumerate(array.shape, at + 1):
                words[axis] = size
        self.lent[name] = array

    def check(self) -> None:
        """Before the first run: no array may be missing."""
        missing = [name for name in self.kernel.flat if name not in self.kept and name not in self.lent]
        if missing:
            raise ValidationError(f"{self.kernel.name}: nothing was put in for {', '.join(missing)}")
        self.whole = True

    def run(self) -> tuple[int, ...] | None:
        """Calls the kernel; returns its whole numbers."""
        if not self.whole:
            self.check()
        self.entry(self.argument)
        if self.lent:
            self.lent.clear()
        kernel = self.kernel
        return tuple(self.words[kernel.results : kernel.size]) if kernel.returns else None


if IN_BROWSER:
    # Indices have 32 bits there: what NumPy makes by itself (`np.arange`) is not what kernels take. What is lent is looked at, too.
    _lend = CallFrame.lend

    def _looked_at(self: CallFrame, name: str, array: Any) -> None:
        if array.dtype != self.kernel.leaves[name].dtype:  # type: ignore[union-attr]
            raise self._refused(name, f"got {array.dtype}")
        _lend(self, name, array)

    CallFrame.lend = _looked_at  # type: ignore[method-assign]

F = TypeVar("F")


class FramePool(Generic[F]):
    """Frames that are used again. Several threads may run the same kernel with the same arrays: each takes a frame of its own."""

    def __init__(self, make: Callable[[], F]) -> None:
        self._make, self._free = make, list[F]()

    def take(self) -> F:
        try:
            return self._free.pop()
        except IndexError:
            return self._make()

    def give(self, frame: F) -> None:
        self._free.append(frame)


def kernel(function: Callable[..., Any]) -> Kernel:
    """Makes a kernel of a function, whose annotations say what it takes (see `marrow.kernels.language.types`)."""
    return Kernel(function.__name__, function)
