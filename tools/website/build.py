"""Builds the site with MkDocs, then looks at every link of what came out."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from website import hooks
from website.checks import problems
from website.moving import MOVING, export_all
from website.pages import all_pages, navigation, stage

__all__ = ["build"]


class _Kept(logging.Handler):
    """Keeps what MkDocs warns of."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def build(into: Path, pages: Sequence[str] | None = None, pictures: Sequence[str] | None = None) -> list[str]:
    """Builds the site, or some pages of it, with all pictures that move or some; returns what is wrong."""
    from mkdocs.commands.build import build as run
    from mkdocs.config import load_config

    wanted = list(pages) if pages else all_pages()
    kept, log = _Kept(), logging.getLogger("mkdocs")
    log.addHandler(kept)
    try:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "source"
            stage(source, wanted)
            settings: dict[str, Any] = {
                "docs_dir": str(source), "site_dir": str(into), "nav": navigation(wanted), "strict": False,
            }  # fmt: skip
            config = load_config(str(Path(__file__).parent / "mkdocs.yml"), **settings)
            shown = "".join((source / page).read_text(encoding="utf-8") for page in wanted)
            moving = MOVING if pictures is None else pictures
            used = [p for p in moving if p.removeprefix("docs/") in shown]
            hooks.use(config, export_all(used, source / "moving"))
            run(config)
    finally:
        log.removeHandler(kept)
    told = [line for line in kept.lines if pages is None or "is not found among" not in line]
    return told + problems(into, partial=pages is not None)
