"""The page's TypeScript is checked as strictly as the Python, and its units run in Node, without a browser (`web/test`)."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from surroundings import missing

WEB = Path(__file__).resolve().parents[2] / "web"


def npm(*arguments: str) -> None:
    command = shutil.which("npm")
    if command is None or not (WEB / "node_modules").is_dir():
        missing("the page's packages are not installed: run `npm ci` in web/")
    done = subprocess.run(
        [str(command), "run", "--silent", *arguments], cwd=WEB, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_pages_types_are_sound() -> None:
    npm("check")


def test_the_pages_units_do_what_they_say() -> None:
    npm("test")
