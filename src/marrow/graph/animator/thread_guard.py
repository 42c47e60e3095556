"""One thread at a time: an animator at work is not used by another thread, nor by what it calls.

An animator's runtime has a token, an item of a list. Who works with it takes the token and puts it back: both are single
operations that threads cannot interrupt, and together they take some fifty nanoseconds. Where the token is gone, the stacks
of all threads say who has it.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from types import CodeType, FrameType
from typing import Any, Concatenate, ParamSpec, TypeVar

from marrow.errors import InUseError

__all__ = ["exclusive", "is_inside", "make_changes", "take_token", "takes_token"]

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])
Self = TypeVar("Self", bound=Any)

_guarded: set[CodeType] = set()


def takes_token(function: F) -> F:
    """Marks a method that takes the token by itself: it is found on the stack of the thread that runs it."""
    _guarded.add(function.__code__)  # type: ignore[attr-defined]
    return function


def exclusive(
    *, inside: bool = False
) -> Callable[[Callable[Concatenate[Self, P], R]], Callable[Concatenate[Self, P], R]]:
    """Makes a method of an animator, or of a part of it, one that takes the token of its `_runtime`. With `inside` it may
    also be called by what the animator calls itself: the functions of its graph, its ground."""

    def guarded(method: Callable[Concatenate[Self, P], R]) -> Callable[Concatenate[Self, P], R]:
        @functools.wraps(method)
        def run(self: Self, /, *args: P.args, **options: P.kwargs) -> R:
            runtime = self._runtime
            idle = runtime.idle
            if not idle and inside and _worker(runtime) == threading.get_ident():
                return method(self, *args, **options)
            try:
                idle.pop()
            except IndexError:
                take_token(runtime, method.__name__)
            try:
                if runtime.asked:
                    make_changes(runtime)
                return method(self, *args, **options)
            finally:
                idle.append(None)

        return takes_token(run)

    return guarded


def is_inside(runtime: Any) -> bool:
    """Whether this thread is the one at work: what it calls itself asks."""
    return _worker(runtime, asks=False) == threading.get_ident()


def make_changes(runtime: Any) -> None:
    """Makes the changes that other threads asked for while an animator was at work."""
    while runtime.asked:
        runtime.asked.pop(0)()


def take_token(runtime: Any, what: str) -> None:
    """Where the token was gone: says who has it. Returns where nobody does: it was put back just now, or was lost when a
    thread was interrupted in the very moment it took it."""
    for _ in range(3):
        worker = _worker(runtime)
        if worker is not None:
            break
        with suppress(IndexError):
            runtime.idle.pop()
            return
    if worker is None:
        return
    name = runtime.character.name
    if worker == threading.get_ident():
        raise InUseError(
            f"{what}: the Animator of {name!r} is at work: a function of its graph, or its ground, cannot use what is only "
            "being made; it may set parameters for the next update"
        ) from None
    other = next((t.name for t in threading.enumerate() if t.ident == worker), str(worker))
    raise InUseError(
        f"{what}: the Animator of {name!r} is in use by the thread {other!r}: let one thread at a time use it, or give "
        "each thread an Animator of its own"
    ) from None


def _worker(runtime: Any, *, asks: bool = True) -> int | None:
    """The thread that works with an animator. Where a guarded method `asks`, its own call does not count."""
    here, frames = threading.get_ident(), sys._current_frames()
    for ident in sorted(frames, key=lambda i: i != here):
        frame: FrameType | None = frames[ident]
        own = int(asks and ident == here)
        while frame is not None:
            if frame.f_code in _guarded:
                user = frame.f_locals.get("self")
                if user is runtime or getattr(user, "_runtime", None) is runtime:
                    if not own:
                        return ident
                    own -= 1
            frame = frame.f_back
    return None
