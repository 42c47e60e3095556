"""Opens a link in the user's browser without showing it to the other users of the machine.

They can read command lines, and a browser is started with the address in its own. So it is started with a file that only
this user may read, which sends it on to the link. Starting one may take seconds: nobody waits for it.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import tempfile
import threading
from html import escape
from pathlib import Path

__all__ = ["open_in_browser", "redirect_file"]

KEPT_SECONDS = 120.0
"""How long the file stays: a browser that is not running yet may take a while to read it."""
PAGE = """<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>marrow studio</title>
<meta http-equiv="refresh" content="0; url={0}"><p><a href="{0}">Open the studio</a></p>
"""


def open_in_browser(url: str) -> None:
    """Returns at once."""
    file = redirect_file(url)

    def start() -> None:
        import webbrowser  # looks for browsers, which takes a while

        # Without the file there is no link that may be shown: it was printed, and can be clicked there.
        if file is not None:
            with contextlib.suppress(webbrowser.Error, OSError):
                webbrowser.open(file.as_uri())

    threading.Thread(target=start, name="marrow-browser", daemon=True).start()


def redirect_file(url: str) -> Path | None:
    """A page that only this user can read and that leads on to the link; it goes after a while. None where none can be
    written."""
    try:
        handle, name = tempfile.mkstemp(
            prefix="marrow-open-", suffix=".html", dir=_folder()
        )  # readable by its owner alone
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(PAGE.format(escape(url, quote=True)))
    except OSError:
        return None
    file = Path(name)

    def remove() -> None:
        file.unlink(missing_ok=True)

    atexit.register(remove)
    timer = threading.Timer(KEPT_SECONDS, remove)
    timer.daemon = True
    timer.start()
    return file


def _folder() -> str | None:
    """Browsers from the snap store may only read what lies in the home folder, in plain sight."""
    for name in ("firefox", "chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found:
            return str(Path.home()) if "/snap" in os.path.realpath(found) else None
    return None
