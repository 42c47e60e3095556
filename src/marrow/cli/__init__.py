"""The `marrow` command: one module per subcommand, each imported only when it is called."""

from __future__ import annotations

import gc
import sys

__all__ = ["main"]


def main() -> None:
    """The entry point of the `marrow` script."""
    # Importing makes thousands of objects that all stay; looking for garbage among them takes a tenth of the
    # time.
    gc.set_threshold(50_000, 20, 50)
    try:
        from marrow.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while Python was still importing
        code = 130
    sys.exit(code)
