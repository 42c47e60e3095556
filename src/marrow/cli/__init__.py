"""The `marrow` command: one module per subcommand, each imported only when it is called."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """The entry point of the `marrow` script."""
    from marrow.cli.app import run

    sys.exit(run(sys.argv[1:]))
