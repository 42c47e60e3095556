"""Pages keep what they promise: the reference has all names, commands and code on them run as they are pasted."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import os
import re
import shlex
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

import marrow as mw
from marrow.cli.app import app, run
from surroundings import missing, needed

ROOT = Path(__file__).resolve().parents[2]


def blocks(page: str, language: str) -> list[str]:
    found = re.findall(r"```(\w*)\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    return [text for kind, text in found if kind == language]


def module_of(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(Path(path).stem + "_page", ROOT / path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_has_every_public_name_with_its_signature() -> None:
    needed("torch")
    import marrow.io.lint
    import marrow.torch

    made = module_of("tools/docs/api.py").page()
    parts = (mw, mw.graph, mw.motion, mw.lod, mw.dataset, mw.gpu, mw.rendering, marrow.torch, marrow.io.lint)
    for module in parts:
        for name in module.__all__:
            thing = getattr(module, name)
            inside = isinstance(thing, ModuleType) or name == "__version__"
            assert inside or f"`{name}" in made, f"{module.__name__}.{name}"
            if inspect.isclass(thing) and issubclass(thing, msgspec.Struct) and thing.__struct_fields__:
                assert f"`{name}({thing.__struct_fields__[0]}" in made or f"`{name}(*, " in made, name
    for name in ("Skeleton", "Clip", "Animator", "Skinner", "ProgramModule", "Finding"):
        assert f"`{name}(" in made


def commands(page: str) -> list[str]:
    """The shell lines of a front page, without the words behind them."""
    lines = [line for block in blocks(page, "") for line in block.splitlines() if line.strip()]
    return [re.split(r"\s{2,}", line.strip())[0] for line in lines]


def test_the_korean_front_page_has_the_same_code_commands_and_pictures() -> None:
    english, korean = "README.md", "README.ko.md"
    ours, theirs = blocks(english, "python"), blocks(korean, "python")
    assert [ast.dump(ast.parse(code)) for code in ours] == [ast.dump(ast.parse(code)) for code in theirs]
    assert commands(english) == commands(korean)
    pictures = [
        re.findall(r"!\[[^\]]+\]\(([^)]+)\)", (ROOT / page).read_text(encoding="utf-8"))
        for page in (english, korean)
    ]
    assert pictures[0] == pictures[1] and pictures[0]
    text = (ROOT / korean).read_text(encoding="utf-8")
    assert sum("가" <= letter <= "힣" for letter in text) > 900
    for link in re.findall(r"\]\(([^):]+)\)", text):
        assert (ROOT / link).exists(), link


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files the page of the command line speaks of."""
    needed("safetensors")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MARROW_CACHE", str(tmp_path / "cache"))
    body = mw.samples.mannequin()
    named = {"Survey": "idle", "Walk": "walk", "Run": "run"}
    clips = tuple(body.clips[old].replace(name=new) for new, old in named.items())
    for name in ("fox", "soldier"):
        mw.save(body.replace(clips=clips, name=name), f"{name}.glb")
    mw.save(body, "hero.glb")
    walk = body.replace(clips=(body.clips["walk"],))
    with pytest.warns(UserWarning, match="position channels"):
        mw.save(walk, "walk.bvh")
    # A file is what its content is.
    Path("dance.fbx").write_bytes(Path("walk.bvh").read_bytes())
    mw.save_graph(mw.samples.mannequin_graph(), "hero.json")
    return tmp_path


def test_the_commands_and_the_code_of_the_command_line_run(
    shelf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        line for block in blocks("docs/cli.md", "") for line in block.splitlines() if line.startswith("$ ")
    ]
    assert len(lines) > 10
    for line in lines:
        assert line.startswith("$ marrow "), line
        words = shlex.split(line[len("$ marrow ") :].partition(" | ")[0])
        if words[0] in ("render", "sheet") and not mw.gpu.adapters():
            continue
        expected = 1 if words[:2] == ["graph", "check"] and words[-1] == "lizard" else 0
        words += ["--force"] if words[0] == "convert" else []
        assert run(words) == expected, (line, capsys.readouterr().err)
        capsys.readouterr()
    for code in blocks("docs/cli.md", "python"):
        exec(compile(code, "cli.md", "exec"), {})


def test_the_commands_and_the_code_of_the_studio_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needed("starlette")
    needed("uvicorn")
    monkeypatch.chdir(tmp_path)
    mw.save(mw.samples.mannequin(), "hero.glb")
    for line in (line for block in blocks("docs/studio.md", "") for line in block.splitlines()):
        command, bound, *_ = app.parse_args(
            shlex.split(line.partition("#")[0])[1:], exit_on_error=False, print_error=False
        )
        assert command.__name__ == "view", line
        assert bound is not None
    opened: list[Any] = []
    view = mw.view

    def quietly(*things: Any, **options: Any) -> Any:
        opened.append(view(*things, **options, port=0, browser=False))
        return opened[-1]

    turns = iter([True, True, False])
    monkeypatch.setattr(mw.StudioView, "running", property(lambda _: next(turns)))
    monkeypatch.setattr(mw, "view", quietly)
    try:
        for code in blocks("docs/studio.md", "python"):
            exec(compile(code, "studio.md", "exec"), {})
    finally:
        for studio in opened:
            studio.close()
    assert len(opened) == 3


def test_the_code_and_the_commands_of_pictures_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needed("wgpu")
    if not mw.gpu.adapters():
        missing("no GPU adapter: install mesa-vulkan-drivers")
    monkeypatch.chdir(tmp_path)
    world: dict[str, Any] = {}
    for code in blocks("docs/rendering.md", "python"):
        exec(compile(code, "rendering.md", "exec"), world)
    for line in (line for block in blocks("docs/rendering.md", "") for line in block.splitlines()):
        if line.startswith("marrow "):
            _, bound, *_ = app.parse_args(shlex.split(line)[1:], exit_on_error=False, print_error=False)
            assert bound is not None, line


@pytest.mark.parametrize("page", ["docs/vrm.md", "docs/gltf.md"])
def test_the_code_of_formats_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "io" / "gltf"))
    from test_vrm import one, vrma

    Path("ami.vrm").write_bytes(one().glb())
    Path("dance.vrma").write_bytes(vrma())
    hero = mw.samples.mannequin()
    for name in ("fox.glb", "hero.glb"):
        mw.save(hero.replace(clips=(hero.clips["walk"],), reduced=()), name)
    names: dict[str, Any] = {}
    for code in blocks(page, "python"):
        exec(compile(code, page, "exec"), names)
    assert {"docs/vrm.md": Path("out.vrm"), "docs/gltf.md": Path("copy.gltf")}[page].exists()
    assert os.listdir()
