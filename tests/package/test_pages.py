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


def outline(page: str) -> dict[str, list[Any]]:
    """What a front page is made of, apart from its words."""
    text = (ROOT / page).read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    rows = [line for line in prose.splitlines() if line.startswith("|")]
    links = re.findall(r"\]\(([^)]+)\)", prose)
    return {
        "headings": [len(mark) for mark in re.findall(r"^(#+) ", prose, re.M)],
        "points below each heading": [
            len(re.findall(r"^- ", part, re.M)) for part in re.split(r"^#+ ", prose, flags=re.M)
        ],
        "rows": [len(row.split("|")) for row in rows],
        "figures in rows": [re.findall(r"\d[\d.,]*", row) for row in rows],
        "figures in words": sorted(re.findall(r"\d+(?:\.\d+)?", re.sub(r"(?<=\d),(?=\d)", "", prose))),
        "links": sorted(link for link in links if not link.startswith("README")),
        "code": [ast.dump(ast.parse(code)) for code in blocks(page, "python")],
        "commands": commands(page),
        "names": sorted(re.findall(r"`([^`]+)`", prose)),
        "pictures": re.findall(r"!\[[^\]]+\]\(([^)]+)\)", prose),
    }


def test_the_korean_front_page_says_all_that_the_english_one_says() -> None:
    english, korean = outline("README.md"), outline("README.ko.md")
    for part, ours in english.items():
        assert ours and korean[part] == ours, part
    text = (ROOT / "README.ko.md").read_text(encoding="utf-8")
    assert sum("가" <= letter <= "힣" for letter in text) > 2000
    for link in english["links"]:
        assert (ROOT / link.partition("#")[0]).exists(), link


def test_the_front_page_begins_with_a_picture_that_moves_and_ends_with_figures() -> None:
    image = needed("PIL.Image")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    first = ROOT / outline("README.md")["pictures"][0]
    with image.open(first) as moving:
        assert moving.n_frames >= 40 and moving.info["loop"] == 0, "it moves, for ever"
    assert first.stat().st_size < 1.5e6
    makers = [
        path for path in (ROOT / "tools" / "docs").glob("*.py") if f'"{first.name}"' in path.read_text()
    ]
    assert len(makers) == 1, "one command makes it"
    jobs = ["examples/small_game.py", "examples/artist_pipeline.py", "examples/training_set.py"]
    order = [first.name, "make demo", "## Ten lines", *jobs, "## Measured"]
    places = [text.index(word) for word in order]
    assert places == sorted(places)
    for job in jobs:
        assert (ROOT / job).exists()


def test_the_recipes_of_the_front_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first code is run by test_first_steps.py."""
    for module in ("wgpu", "pyarrow"):
        needed(module)
    lines = [line for line in commands("README.md") if line.startswith("marrow ")]
    assert len(lines) > 14
    for line in lines:
        _, bound, *_ = app.parse_args(shlex.split(line)[1:], exit_on_error=False, print_error=False)
        assert bound is not None, line
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MARROW_CACHE", "off")
    body = mw.samples.mannequin().replace(reduced=())
    walk = body.clips["walk"]
    mw.save(body.replace(clips=[body.clips["idle"], walk, body.clips["run"]]), "hero.glb")
    Path("mocap").mkdir()
    mw.save(body.replace(clips=[walk.then(walk, 0.0)]), "mocap/walk.marrow")
    (build,) = (line for line in lines if "dataset build" in line and "--character" in line)
    assert run([*shlex.split(build)[1:], "--workers", "0"]) == 0
    window, frames = mw.window, []

    def briefly(*things: Any, **options: Any) -> Any:
        made = window(*things, **options, offscreen=True, frames=30)
        for frame in made:
            made.inputs.key("w", True)
            frames.append(frame)
            yield frame

    monkeypatch.setattr(mw, "window", briefly)
    world: dict[str, Any] = {}
    for code in blocks("README.md", "python")[1:]:
        exec(compile(code, "README.md", "exec"), world)
    assert len(frames) == 30
    assert world["player"].place[2] > 0.1, "it has walked the way it looks"
    assert world["train"].array("contacts").shape[1:] == (32, 4)


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
    assert len(opened) == 4


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
