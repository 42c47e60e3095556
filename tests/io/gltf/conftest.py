"""The Khronos validator for the tests of the writer."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def errors_of(node_tools: Path) -> Callable[..., list[str]]:
    """The errors the Khronos validator finds in files, as text."""

    def run(*files: Path) -> list[str]:
        command = ["node", str(node_tools / "validate-gltf.cjs"), *map(str, files)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found = []
        for file, report in zip(files, json.loads(done.stdout), strict=True):
            for issue in report["issues"]["messages"]:
                if issue["severity"] == 0:
                    found.append(f"{file.name}: {issue['code']} {issue.get('pointer')}: {issue['message']}")
        return found

    return run
