"""The page's TypeScript is checked as strictly as the Python."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from surroundings import missing

WEB = Path(__file__).resolve().parents[2] / "web"


def test_the_pages_types_are_sound() -> None:
    npm = shutil.which("npm")
    if npm is None or not (WEB / "node_modules").is_dir():
        missing("the page's packages are not installed: run `npm ci` in web/")
    done = subprocess.run(
        [str(npm), "run", "--silent", "check"], cwd=WEB, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
