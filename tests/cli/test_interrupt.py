"""Ctrl-C ends every command at once, whatever it is doing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from surroundings import needed

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are sent another way on Windows")


def interrupted(command: list[str], until: str, **environment: str) -> tuple[int, str]:
    """The exit code and the messages of a command that gets SIGINT after it has printed `until`."""
    process = subprocess.Popen(
        [sys.executable, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
        start_new_session=True,
        # Where the tests run in the background of a shell, SIGINT is ignored, and that is inherited.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    seen = ""
    try:
        while until not in seen:
            line = process.stdout.readline()
            assert line, f"it ended before {until!r}: {seen}"
            seen += line
        os.killpg(process.pid, signal.SIGINT)
        rest, _ = process.communicate(timeout=120)
    finally:
        process.kill()
    return process.returncode, seen + rest


def test_code_that_does_not_listen_is_ended() -> None:
    code = """
import signal
from marrow.cli import end_when_interrupted
end_when_interrupted()
signal.signal(signal.SIGINT, lambda *_: None)  # as native code: the signal is heard, and nothing comes of it
print("ready")
while True:
    signal.pause()
"""
    status, said = interrupted(["-c", code], "ready")
    assert status == 130 and "interrupted" in said


@pytest.mark.parametrize("kernels", ["jit", "numpy"])
def test_a_command_ends_while_it_computes_and_while_it_compiles(kernels: str, tmp_path: Path) -> None:
    if kernels == "jit":
        needed("llvmlite")
    command = [
        "-X",
        "importtime",
        "-m",
        "marrow",
        "bake",
        "mannequin",
        "-o",
        str(tmp_path / "out.npz"),
        "--clip",
        "walk",  # one clip: were it not interrupted, it would not fill the disk
        "--rate",
        "5000",
    ]
    # The first of its own modules that the command imports when it sets to work.
    status, said = interrupted(command, "marrow.skinning", MARROW_KERNELS=kernels)
    assert status == 130, said[-500:]
    assert "Traceback" not in said
    assert not (tmp_path / "out.npz").exists()


def test_the_studio_closes() -> None:
    needed("uvicorn")
    status, said = interrupted(["-m", "marrow", "view", "mannequin", "--port", "0"], "token=")
    assert status in (0, 130), said
    assert "Traceback" not in said
