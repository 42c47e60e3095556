"""Cached properties: computed once, and nobody waits for another's."""

from __future__ import annotations

import gc
import threading
import weakref
from pathlib import Path

import marrow as mw
from marrow.cached import cached_property


class Slow:
    """Its value is there when it is let go."""

    def __init__(self, begun: threading.Event, go: threading.Event) -> None:
        self.begun, self.go, self.count = begun, go, 0

    @cached_property
    def value(self) -> int:
        self.begun.set()
        self.go.wait(20)
        self.count += 1
        return 7


def test_one_that_is_computed_holds_up_no_other() -> None:
    begun, go, free = threading.Event(), threading.Event(), threading.Event()
    free.set()
    first, second = Slow(begun, go), Slow(threading.Event(), free)
    thread = threading.Thread(target=lambda: first.value)
    thread.start()
    assert begun.wait(20)
    other = threading.Thread(target=lambda: second.value)
    other.start()
    other.join(10)
    stuck = other.is_alive()
    go.set()
    thread.join()
    assert not stuck and second.value == first.value == 7 and first.count == second.count == 1


def test_a_report_that_nobody_read_keeps_no_meshes(tmp_path: Path) -> None:
    mw.save(mw.samples.mannequin(), tmp_path / "hero.glb")
    hero = mw.load(tmp_path / "hero.glb", cache=False)
    mesh = weakref.ref(hero.meshes[0])
    bones = hero.replace(meshes=(), materials=(), images=())
    del hero
    gc.collect()
    assert mesh() is None and bones.report is not None
