"""Writes anew what is made from the sources and kept in the repository: `make generated`.

Benchmarks and pictures, which differ from machine to machine, are made by `make docs`.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]


def module_at(path: str) -> ModuleType:
    """The module in a file that is no part of a package."""
    spec = importlib.util.spec_from_file_location(f"made_by_{Path(path).stem}", ROOT / path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    assert spec.loader is not None
    spec.loader.exec_module(module)
    return module


def files() -> Iterator[tuple[str, str]]:
    """Every such file and its text. The reference of marrow.torch needs Torch."""
    from marrow.studio.typescript import typescript

    yield "web/src/protocol.ts", typescript()
    yield "docs/operations.md", module_at("tools/docs/operations.py").page()
    for name, text in module_at("tests/gpu/shaders.py").shaders().items():
        yield f"tests/gpu/golden/{name}", text
    yield "docs/api.md", module_at("tools/docs/api.py").page()


def main() -> int:
    for name, text in files():
        path = ROOT / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"{name} was written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
