"""`python -m website [--into FOLDER] [--pages docs/graph.md ...]`: builds the site, whole or not at all, and checks it."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

from website.build import build
from website.pages import ROOT


def main() -> None:
    told = argparse.ArgumentParser(prog="website", description="The documentation as a site.")
    told.add_argument("--into", type=Path, default=ROOT / "build" / "site", help="build/site, where left out")
    told.add_argument("--pages", nargs="*", help="only these, and what stands for the others is left out")
    given = told.parse_args()
    target = given.into.absolute()
    made = target.with_name(f".{target.name}.tmp")
    shutil.rmtree(made, ignore_errors=True)
    problems = build(made, given.pages)
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    if problems:
        sys.exit(1)
    shutil.rmtree(target, ignore_errors=True)
    os.replace(made, target)
    size = sum(file.stat().st_size for file in target.rglob("*") if file.is_file())
    print(f"{target}: {len(list(target.rglob('*.html')))} pages, {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
