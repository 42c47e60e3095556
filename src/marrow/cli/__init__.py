"""The `marrow` command: one module per subcommand, each imported only when it is called."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """The entry point of the `marrow` script."""
    try:
        from marrow.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while Python was still importing
        code = 130
    sys.exit(code)
