"""The page of questions: fifty or more, each answered by three lines at most, all of which run as they are pasted."""

from __future__ import annotations

import re
import shlex
import warnings
from pathlib import Path
from typing import Any

import pytest

from marrow.cli.app import app
from surroundings import missing, needed

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how_do_i.md"


def answers() -> dict[str, str]:
    """What stands below each question."""
    _, *parts = re.split(r"^### (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.M)
    titles, texts = parts[::2], parts[1::2]
    assert len(set(titles)) == len(titles), "a question is asked twice"
    return {title: re.split(r"^## ", text, flags=re.M)[0] for title, text in zip(titles, texts, strict=True)}


def python(text: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def test_fifty_questions_have_an_answer_of_three_lines() -> None:
    found = answers()
    assert len(found) >= 50
    for title, text in found.items():
        assert title.endswith("?"), title
        assert len(python(text)) == 1, f"{title}: one piece of code"
        lines = [line for line in python(text)[0].splitlines() if line.strip()]
        assert 1 <= len(lines) <= 3, f"{title}: {len(lines)} lines"
        assert max(map(len, lines)) <= 130, f"{title}: a line is too long"


def test_the_answers_run_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("wgpu", "starlette", "uvicorn", "pyarrow"):
        needed(module)
    import marrow as mw

    if not mw.gpu.adapters():
        missing("no GPU adapter: install mesa-vulkan-drivers")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MARROW_CACHE", "off")
    world: dict[str, Any] = {}
    whole = PAGE.read_text(encoding="utf-8")
    (setup,) = python(whole.partition("### ")[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(setup, "how_do_i.md", "exec"), world)
        for title, text in answers().items():
            try:
                exec(compile(python(text)[0], f"how_do_i.md: {title}", "exec"), world)
            except Exception as error:
                raise AssertionError(f"{title}: {error}") from error
    for name in set(re.findall(r'"([a-z_]+\.(?:png|webp|gif|glb|gltf|marrow|bvh|json|obj))"', whole)):
        assert (tmp_path / name).exists(), f"{name} is spoken of and not made"


def test_the_commands_beside_them_are_understood() -> None:
    lines = re.findall(r"`(marrow [^`]+)`", PAGE.read_text(encoding="utf-8"))
    assert len(lines) > 10
    for line in lines:
        _, bound, *_ = app.parse_args(shlex.split(line)[1:], exit_on_error=False, print_error=False)
        assert bound is not None, line
