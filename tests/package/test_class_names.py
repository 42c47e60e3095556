"""A class name means one thing: no two modules of the package have public classes of the same name."""

import ast
from collections import defaultdict
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2] / "src" / "marrow"
WIRE = {"studio/protocol.py", "studio/answers.py", "studio/description.py"}
"""Messages between the studio and its page: their names are those of the page's types."""


def test_public_class_names_exist_once():
    homes = defaultdict(list)
    for path in sorted(SOURCES.rglob("*.py")):
        home = path.relative_to(SOURCES).as_posix()
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and home not in WIRE:
                homes[node.name].append(home)
    assert not {name: found for name, found in homes.items() if len(found) > 1}
