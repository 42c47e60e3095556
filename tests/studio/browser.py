"""A real browser that looks at a real studio: Debian's Chromium through Playwright, drawing in software."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import marrow as mw
import marrow.studio
from surroundings import HANG_SECONDS, missing

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    # Only WebGL is drawn by the GPU that the processor plays: the page around it costs it less without.
    "--disable-gpu-compositing",
    "--disable-gpu-rasterization",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
BONES = "s.viewport.received.get(0)?.floats('line_start').length > 0"
"""Whether the engine has drawn bones for a page."""
STATIC = Path(marrow.studio.__file__).parent / "static"
PICTURES_A_SECOND = 15
NARROW = 480
"""A window so wide has few pixels to draw, and all of the page."""
SELDOM = """(() => {
  const ask = window.requestAnimationFrame.bind(window);
  let last = -Infinity;
  window.requestAnimationFrame = (call) => ask(function wait(now) {
    if (now > last && now - last < a) return void ask(wait);
    last = now;
    call(now);
  });
})()"""
"""Lets a page draw seldom: where the processor draws, a page that moves would take all of it."""


def coarse_mannequin() -> mw.Character:
    """The mannequin with a fraction of its vertices, which take a processor's time, and no levels of detail."""
    whole = mw.samples.mannequin()
    return whole.replace(meshes=whole.reduced[1].meshes, reduced=(), lod=None)


@contextmanager
def chromium(*flags: str) -> Iterator[Any]:
    """The browser, with `flags` besides its usual ones; a test that cannot have one is skipped, or fails under
    MARROW_STRICT=1."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright is not installed: pip install -e '.[dev]'")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        missing("chromium is not on the path: apt-get install chromium")
    if not (STATIC / "studio.js").is_file():
        missing("the studio's page is not built: run `npm ci && npm run build` in web/")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=[*FLAGS, *flags], timeout=1000 * HANG_SECONDS
        )
        try:
            yield browser
        finally:
            browser.close()


class Tab:
    """One page of the studio, with what tests ask of it again and again."""

    def __init__(self, browser: Any, url: str, *, width: int = 1120, height: int = 640) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": height}, color_scheme="dark")
        self.context.add_init_script(SELDOM.replace("< a", f"< {1000 / PICTURES_A_SECOND - 5}"))
        self.page = self.context.new_page()
        self.page.set_default_timeout(1000 * HANG_SECONDS)
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(url)

    def visit(self, url: str, *, width: int, height: int) -> None:
        """Goes to another studio, whose page knows nothing of the last one's: its port makes it another origin. That
        takes half of what a new tab takes."""
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.goto(url)

    def leave(self) -> None:
        """Shows nothing, which costs nothing, and forgets what it was allowed."""
        self.page.goto("about:blank")
        self.context.clear_permissions()
        self.errors.clear()

    def js(self, expression: str, argument: Any = None) -> Any:
        """A value from the page; `s` is its `window.marrowStudio`."""
        return self.page.evaluate(
            f"(a) => {{ const s = window.marrowStudio; return {expression}; }}", argument
        )

    def until(self, expression: str, argument: Any = None) -> Any:
        """Waits until the expression is true. The page forbids `eval`, so it is asked from here."""
        end = time.monotonic() + HANG_SECONDS
        while time.monotonic() < end:
            value = self.js(expression, argument)
            if value:
                return value
            self.page.wait_for_timeout(20)
        raise AssertionError(f"it did not come true that {expression}")

    def draw(self, views: str) -> None:
        """Lets the engine draw other views, and waits until they are seen."""
        before = self.js("s.viewport.received.get(0)?.version ?? 0")
        self.js("s.set('views', a)", views)
        self.until("(s.viewport.received.get(0)?.version ?? 0) > a", before)
        self.until("s.viewport.resting")

    def loaded(self) -> Tab:
        self.until("s?.viewport.character()?.count > 0")
        return self

    def send(self, **message: Any) -> None:
        self.js("s.send(a)", message)

    def settle(self) -> None:
        """Stops time and waits until the page shows what the engine's newest picture is."""
        self.send(type="play", playing=False)
        self.until("s.state.playing === false")
        self.until(
            "s.source.fetch('api/skinned', {slot: 0})"
            ".then((r) => Number(r.headers.get('x-marrow-frame')) === s.shownFrame(0))"
        )

    def rest(self) -> None:
        """Waits until the page has nothing left to draw: the camera has come to rest, the picture is at its best."""
        self.until("s.viewport.resting")

    def pose(self) -> list[float]:
        """The skinning matrices that are on the screen."""
        return self.js("Array.from(s.viewport.character().matrices.slice(0, 12 * 20))")

    def difference_to_engine(self, method: str | None = None) -> float:
        """How far positions computed by GPU and engine are apart at most, over the character's size."""
        if method is not None:
            self.js("s.set('method', a)", method)
        self.settle()
        return self.js(
            """(async () => {
              const query = a ? {slot: 0, instance: 0, skinning: a} : {slot: 0, instance: 0};
              for (;;) {
                const answer = await s.source.fetch('api/skinned', query);
                const engine = new Float32Array(await answer.arrayBuffer());
                if (Number(answer.headers.get('x-marrow-frame')) !== s.shownFrame(0)) {
                  await new Promise((done) => setTimeout(done, 20));
                  continue;
                }
                const gpu = s.viewport.skinnedPositions(0, 0);
                if (gpu.length !== engine.length || !gpu.length) return Infinity;
                let worst = 0;
                for (let i = 0; i < gpu.length; i++) worst = Math.max(worst, Math.abs(gpu[i] - engine[i]));
                return worst / s.viewport.character().size;
              }
            })()""",
            method,
        )

    def close(self) -> None:
        self.context.close()
