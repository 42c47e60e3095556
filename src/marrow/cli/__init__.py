"""The `marrow` command: one module per subcommand, each imported only when it is called."""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
import threading

from marrow.pyodide import IN_BROWSER

__all__ = ["main"]

INTERRUPTED = 130
# What is being written is tidied up in this time; whatever still runs then is in native code, or does not listen.
GRACE = 1.0


def main() -> None:
    """The entry point of the `marrow` script."""
    # Importing makes thousands of objects that all stay; looking for garbage among them takes a tenth of the
    # time.
    gc.set_threshold(50_000, 20, 50)
    if IN_BROWSER:
        sys.exit(
            "error: a browser's Python has no command line (it lacks the package cyclopts): import marrow, and call it"
        )
    end_when_interrupted()
    try:
        from marrow.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while Python was still importing
        code = INTERRUPTED
    sys.exit(code)


def end_when_interrupted() -> None:
    """Lets Ctrl-C end the process at once, also while native code (a compiler, a kernel) is running: Python hears of the
    signal only when that returns, a thread that waits for it hears of it at once."""
    ear, mouth = socket.socketpair()
    mouth.setblocking(False)
    try:
        signal.set_wakeup_fd(mouth.fileno(), warn_on_full_buffer=False)
    except ValueError:  # not the main thread: whoever called has signals of their own
        return

    def listen(mouth: socket.socket = mouth) -> None:  # holds the other end too, as long as the process lives
        while ear.recv(1) != bytes([signal.SIGINT]):
            pass
        threading.Event().wait(GRACE)
        os.write(2, b"error: interrupted\n")
        os._exit(INTERRUPTED)

    threading.Thread(target=listen, daemon=True).start()
