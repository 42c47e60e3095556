"""What is skipped is said in the last line; MARROW_STRICT=1 promises that nothing is, by whatever way."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
SKIPPING = {
    "test_inside.py": "import pytest\ndef test_it():\n    pytest.importorskip('no_such_module')\n",
    "test_module.py": "import pytest\npytest.importorskip('no_such_module')\ndef test_it(): pass\n",
    "test_mark.py": "import pytest\n@pytest.mark.skipif(True, reason='x')\ndef test_it(): pass\n",
    "test_missing.py": "from surroundings import missing\ndef test_it(): missing('no browser')\n",
    "test_expected.py": "import pytest\n@pytest.mark.xfail\ndef test_it(): assert False\n",
}


def outcome(folder, strict):
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "--continue-on-collection-errors",
            "-p",
            "no:cacheprovider",
            str(folder),
        ],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "MARROW_STRICT": strict},
    )
    return done.returncode, done.stdout


def test_nothing_is_skipped_where_all_is_promised(tmp_path):
    for name in ("conftest.py", "surroundings.py"):
        shutil.copy(TESTS / name, tmp_path)
    for name, text in SKIPPING.items():
        (tmp_path / name).write_text(text)
    code, said = outcome(tmp_path, "0")
    assert code == 0 and "4 skipped, 1 xfailed" in said, said
    last = said.splitlines()[-1]
    assert last.startswith("4 skipped (") and "1: no browser" in last and "no_such_module" in last
    code, said = outcome(tmp_path, "1")
    assert (
        code != 0
        and said.count("skipped under MARROW_STRICT=1") >= 3
        and "2 failed, 1 xfailed, 2 errors" in said
    ), said
