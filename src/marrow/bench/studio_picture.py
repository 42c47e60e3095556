"""How long a user waits for the first picture of the studio, in a real browser that is running already."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from typing import Any

__all__ = ["CannotLook", "command", "first_picture"]

FLAGS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-first-run")
"""A processor draws, as on machines without a graphics card: what a GPU does can only be quicker."""
PATIENCE_SECONDS = 60.0
DRAWN = """() => {
  const seen = performance.getEntriesByName("marrow: first picture").length > 0;
  if (!seen) return false;
  // Reading a pixel waits until everything is really drawn.
  const gl = window.marrowStudio.viewport.renderer.getContext();
  gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
  return true;
}"""


class CannotLook(Exception):
    """There is no browser here, or nothing to steer it with."""


def command() -> list[str]:
    """What a user types, with a port that is free."""
    return [sys.executable, "-m", "marrow", "view", "mannequin", "--no-browser", "--port", "0"]


def first_picture(times: int = 3) -> list[float]:
    """Seconds from the command to the picture, each in a new window."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise CannotLook("pip install 'marrow-engine[dev]'") from None
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        raise CannotLook("no Chromium on the path")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            return [_once(browser) for _ in range(times)]
        finally:
            browser.close()


def _once(browser: Any) -> float:
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.goto("about:blank")
    began = time.perf_counter()
    process = subprocess.Popen(command(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        link = re.search(r"http://\S+", process.stdout.readline())
        if link is None:
            raise RuntimeError("marrow view did not start")
        page.goto(link[0], wait_until="commit")
        while not page.evaluate(DRAWN):
            if time.perf_counter() - began > PATIENCE_SECONDS:
                raise RuntimeError("no picture came")
            time.sleep(0.01)
        return time.perf_counter() - began
    finally:
        process.terminate()
        process.communicate()
        page.close()
