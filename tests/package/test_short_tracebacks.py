"""Mistakes fail at the call that made them: no page of marrow's own frames between the call and the message."""

from __future__ import annotations

import traceback

import pytest

import marrow as mw
from marrow.errors import MarrowError


def doll():
    bones = mw.Skeleton(("hips",), [-1])
    walk = mw.Clip("walk", bones, [mw.Track(0, "translation", [0, 1], [[0, 0, 0], [0, 0, 1]])])
    return mw.Character(bones, clips=[walk], name="doll")


MISTAKES = {
    "load": (lambda: mw.load("nope.glb"), "nope.glb"),
    "save": (lambda: mw.save(doll(), "doll.xyz"), "xyz"),
    "render": (lambda: mw.render(doll(), clip="wlak"), "did you mean 'walk'"),
    "render a file": (lambda: mw.render("nope.glb"), "nope.glb"),
    "render_video": (lambda: mw.render_video(doll(), "a.gif", clip="wlak"), "walk"),
    "contact_sheet": (lambda: mw.contact_sheet(doll(), clips="wlak"), "walk"),
    "view": (lambda: mw.view("nope.glb", browser=False), "nope.glb"),
    "window": (lambda: mw.window(doll(), offscreen=True, view="skelton"), "skeleton"),
    "Animator": (lambda: mw.Animator(doll(), graph=mw.Graph("wlak")), "wlak"),
    "play": (lambda: mw.Animator(doll()).play("wlak"), "walk"),
    "load_graph": (lambda: mw.load_graph("nope.json"), "nope.json"),
    "retarget": (lambda: mw.retarget(doll().clips[0], 7), "retarget"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_at_the_call(name):
    call, words = MISTAKES[name]
    with pytest.raises(MarrowError, match=words) as caught:
        call()
    frames = [
        f
        for f in traceback.extract_tb(caught.value.__traceback__)
        if "marrow" in f.filename.split("/src/")[-1]
    ]
    assert len(frames) <= 1, [f"{f.filename}:{f.lineno} {f.name}" for f in frames]
    last = "".join(traceback.format_exception(caught.value))
    assert last.count("Traceback (most recent call last)") == 1


def test_who_looks_for_a_fault_inside_marrow_has_all_frames(monkeypatch):
    monkeypatch.setenv("MARROW_TRACEBACK", "full")
    with pytest.raises(MarrowError) as caught:
        mw.load("nope.glb")
    assert len(traceback.extract_tb(caught.value.__traceback__)) > 3


def test_a_fault_inside_marrow_keeps_its_frames(monkeypatch):
    monkeypatch.setattr("marrow.io.registry.identify", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError) as caught:
        mw.load(b"data")
    assert len(traceback.extract_tb(caught.value.__traceback__)) > 3


def test_calls_keep_their_names_and_signatures():
    import inspect

    assert mw.load.__name__ == "load" and "cache" in inspect.signature(mw.load).parameters
    assert mw.render.__doc__.startswith("A picture of")


def test_a_warning_points_to_the_line_that_called_marrow(tmp_path):
    bones = mw.Skeleton(("hips",), [-1])
    colours = [[2.0, 0, 0, 1]] * 3
    mesh = mw.Mesh.rigid("m", [[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], 0).replace(colors=colours)
    with pytest.warns(UserWarning, match="colours") as told:
        mw.save(mw.Character(bones, (mesh,)), tmp_path / "a.glb")
    assert {warning.filename for warning in told} == {__file__}
