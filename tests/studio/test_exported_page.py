"""Pages without a server, in a real browser, from a disk and with the network off: they play, steer and show what
the studio shows."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import Tab, coarse_mannequin
from PIL import Image

import marrow as mw
from builders import rotations
from marrow.graph import BlendSpace1D, Graph, Parameter
from marrow.studio.page import document

NO_FUSED = "WebAssembly.validate = () => false;"
"""A browser without relaxed SIMD."""


class LocalTab(Tab):
    """A page that was exported, opened where there is no network."""

    def __init__(self, browser: Any, file: Path, *, script: str = "", **size: int) -> None:
        super().__init__(browser, "about:blank", **size)
        self.requests: list[str] = []
        self.context.set_offline(True)
        if script:
            self.context.add_init_script(script)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(file.as_uri())

    def settle(self) -> None:
        self.send(type="play", playing=False)
        self.until("s.state.playing === false")
        self.rest()

    def matrices(self) -> np.ndarray:
        found = self.js("Array.from(s.viewport.character().matrices)")
        return np.array(found, np.float32).reshape(-1, 3, 4)

    def picture(self) -> np.ndarray:
        """What is drawn, as RGB."""
        self.rest()
        data = self.page.locator("canvas").first.screenshot()
        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), np.int16)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "hero.html"
    mw.export_page(coarse_mannequin(), file, graph=mw.samples.mannequin_graph())
    return file


@pytest.fixture(scope="module")
def local(browser: Any, exported: Path) -> Iterator[LocalTab]:
    tab = LocalTab(browser, exported)
    tab.loaded()
    tab.js("s.set('shadows', false)")
    yield tab
    assert tab.errors == []
    assert len(tab.requests) == 1, "nothing is fetched"
    tab.close()


def test_sliders_pads_and_triggers_move_the_character(local):
    assert local.js("s.state.mode") == "graph" and local.js("s.state.playing")
    local.settle()
    before = local.matrices()
    pad = local.page.locator(".pad canvas, .pad").first
    box = pad.bounding_box()
    local.page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 0.2 * box["height"])
    assert local.until("s.state.parameters.speed > 1") and np.abs(local.matrices() - before).max() < 1
    local.js("s.advance(0.5)")
    assert np.abs(local.matrices() - before).max() > 0.05, "it walks"
    slider = local.page.get_by_role("slider", name="Upper").first
    slider.focus()
    local.page.keyboard.press("End")
    assert local.until("s.state.parameters.upper === 1")
    local.page.get_by_role("button", name="Fire jump").click()
    local.js("s.advance(0.1)")
    assert local.until("s.live.machines.some((m) => m.state === 'jump')")
    assert local.js("s.history.some((entry) => entry.state === 'jump')")
    assert local.js("Object.values(s.weights).some((w) => w > 0 && w < 1)"), "the graph shows what it mixes"
    local.send(type="parameter", name="speed", value=0)
    local.send(type="parameter", name="upper", value=0)


def test_clips_are_scrubbed_stepped_and_looked_into(local):
    local.page.get_by_role("radio", name="Clips").click()
    local.page.locator("[data-clip='walk']").click()
    assert local.until("s.state.mode === 'clip' && s.state.clip === 'walk'")
    local.settle()
    ruler = local.page.get_by_role("slider", name="Time in the clip")
    box = ruler.bounding_box()
    local.page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    assert local.until(
        "Math.abs(s.state.time - 0.45) < 0.03 && Math.abs(s.viewport.character().time - 0.45) < 0.03"
    )
    before = local.js("s.state.time")
    local.page.keyboard.press("ArrowRight")
    assert local.until("s.state.time > a[0] + 1e-4 && s.viewport.character().time === s.state.time", [before])
    assert local.js("Math.abs(s.state.time * s.state.rate % 1 - 0.5) > 0.4999"), "on a frame"
    local.js("s.select(3)")
    curves = local.js("s.source.json('api/curves', {slot: 0, clip: 'walk', joint: 3})")
    walk = mw.samples.mannequin().clips["walk"]
    pose = walk.sample(np.array(curves["times"]))
    np.testing.assert_allclose(curves["translation"], pose.translation[:, 3], atol=1e-4)
    assert (np.abs((np.array(curves["rotation"]) * pose.rotation[:, 3]).sum(axis=1)) > 1 - 1e-6).all()
    numbers = local.js("s.source.json('api/joint', {slot: 0, joint: 3, instance: 0})")
    now = walk.skeleton.to_model(walk.sample(local.js("s.state.time")))[3]
    np.testing.assert_allclose(np.reshape(numbers["model"], (3, 4)), now, atol=2e-3)
    local.js("s.select(-1)")


def test_the_picture_is_the_studios(local, browser, studio):
    """The same page at the same moment of a clip."""
    other = Tab(browser, studio.url).loaded()
    other.js("s.set('shadows', false)")
    for tab in (local, other):
        tab.send(type="mode", value="clip")
        tab.send(type="clip", name="run")
        tab.send(type="play", playing=False)
        tab.send(type="seek", time=0.3)
        tab.until("s.state.clip === 'run' && Math.abs(s.state.time - 0.3) < 1e-6")
        tab.until("Math.abs(s.viewport.character().time - 0.3) < 1e-3")
        tab.js("s.viewport.frame(true)")
    apart = np.abs(local.matrices() - LocalTab.matrices(other))
    assert 0 < apart.max() < 2e-3, "but for how clips are packed"
    mine, theirs = local.picture(), LocalTab.picture(other)
    assert mine.shape == theirs.shape
    differs = (np.abs(mine - theirs).max(axis=2) > 12).mean()
    assert differs < 2e-3, f"{differs:.2%} of the pixels"
    other.close()


def test_a_crowd_has_levels_and_travels(browser, tmp_path):
    whole = mw.samples.mannequin()
    mw.export_page(whole.replace(clips=(whole.clips["walk"],)), tmp_path / "crowd.html", count=12)
    tab = LocalTab(browser, tmp_path / "crowd.html", width=480)
    tab.loaded()
    assert tab.until("s.viewport.character().count === 12")
    tab.send(type="level", value=2)
    tab.until(
        "s.viewport.character().levels.length === 12 && s.viewport.character().levels.every((l) => l === 2)"
    )
    tab.send(type="count", value=1)
    tab.send(type="travel", on=True)
    tab.send(type="play", playing=False)
    tab.js("s.advance(5.0)")
    way = tab.js("Math.hypot(s.viewport.character().placements[3], s.viewport.character().placements[11])")
    walk = whole.clips["walk"]
    from marrow.studio.travel import carrier, ways

    if carrier(walk) is not None:
        each = np.linalg.norm(ways(walk, carrier(walk), np.array([walk.duration]))[0][:, 3])
        assert way == pytest.approx(each * int(5.0 / walk.duration), rel=0.25)
    tab.page.set_viewport_size({"width": 390, "height": 844})
    assert tab.errors == [] and len(tab.requests) == 1
    tab.close()


def test_without_relaxed_simd_it_is_the_same_to_the_bit_and_says_so(browser, local, exported):
    strict = LocalTab(browser, exported, script=NO_FUSED, width=480)
    strict.loaded()
    assert strict.page.get_by_text("no fused multiply-add").is_visible()
    for tab in (local, strict):
        tab.send(type="mode", value="clip")
        tab.send(type="clip", name="run")
        tab.send(type="play", playing=False)
        tab.send(type="seek", time=0.2)
        tab.until("s.state.clip === 'run' && Math.abs(s.viewport.character().time - 0.2) < 1e-3")
        tab.rest()
    assert local.matrices().tobytes() == strict.matrices().tobytes()
    assert strict.errors == []
    strict.close()


HOSTILE = (
    "</script><script>window.pwned = 1</script>",
    "<img src=x onerror='window.pwned = 1'>",
    "<!--<script>window.pwned = 1//",
    "\"'><svg onload=window.pwned=1>",
    "javascript:window.pwned=1\u2028\u2029\x00]]>",
)


def hostile_character() -> mw.Character:
    rng = np.random.default_rng(5)
    rest = mw.Pose(rng.normal(0, 0.3, (5, 3)), rotations(rng, (5,)), np.ones((5, 3)))
    bones = mw.Skeleton(
        HOSTILE, [-1, 0, 1, 2, 0], rest, morph_names=(HOSTILE[1],), sockets=(mw.Socket(HOSTILE[0], 3),)
    )
    shape = mw.MorphTarget(HOSTILE[0], 0, rng.normal(size=(24, 3)))
    image = mw.Image(
        HOSTILE[0], "image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg' onload='window.pwned=1'/>"
    )
    plain = mw.Image(HOSTILE[1], "image/png", b"</script><script>window.pwned=1</script>")
    material = mw.Material(HOSTILE[1], base_color_texture=mw.Texture(0), normal_texture=mw.Texture(1))
    mesh = mw.Mesh(
        HOSTILE[0], rng.normal(size=(24, 3)), rng.integers(0, 24, (30, 3)), joints=rng.integers(0, 5, (24, 1)),
        weights=np.ones((24, 1)), joint_list=np.arange(5), inverse_bind=np.tile(np.eye(3, 4), (5, 1, 1)),
        uvs=(rng.random((24, 2)),), morph_targets=(shape,), sections=(mw.Section(0, 30, 0, HOSTILE[3]),),
    )  # fmt: skip
    event = mw.Event(0.2, HOSTILE[1], payload=HOSTILE[0])
    clips = [
        mw.Clip(name, bones, [mw.Track(k, "translation", [0, 1], rng.normal(size=(2, 3)))], events=(event,))
        for k, name in enumerate(HOSTILE)
    ]
    return mw.Character(
        bones, meshes=(mesh,), clips=clips, materials=(material,), images=(image, plain), name=HOSTILE[0]
    )


def test_nothing_of_a_hostile_file_is_run(browser, tmp_path):
    steered = Graph(
        BlendSpace1D.of("way", {0.0: HOSTILE[0], 1.0: HOSTILE[2]}),
        parameters={"way": Parameter("float", 0.0, range=(0, 1))},
        name=HOSTILE[0],
    )
    file = tmp_path / "hostile.html"
    made = mw.export_page(hostile_character(), file, graph=steered)
    assert any("left out" in line for line in made.notes)
    text = file.read_text(encoding="utf-8")
    assert len(re.findall(r"<script\b", text)) == text.count("</script>")
    assert "pwned" not in text.replace("&lt;", "<").split("<title>")[1].split("</title>")[1]
    tab = LocalTab(browser, file)
    tab.loaded()
    tab.page.evaluate(
        "window.refused = []; "
        "document.addEventListener('securitypolicyviolation', (e) => refused.push(e.violatedDirective))"
    )
    for name in ("View", "Rig", "Steer", "Crowd", "Info", "Clips", "Joints", "Timeline", "Graph"):
        tab.page.get_by_role("tab", name=name, exact=True).click()
    tab.js("s.select(0)")
    tab.js("s.toggleView('skeleton')")
    tab.send(type="mode", value="clip")
    tab.settle()
    assert tab.page.locator("h1.title").inner_text() == tab.js("s.characters[0].name")
    assert tab.page.evaluate("window.pwned") is None
    # Nor what somebody tries in the page itself.
    tab.page.evaluate(
        """() => {
          const script = document.createElement('script');
          script.textContent = 'window.pwned = 2';
          document.body.append(script);
          const image = new Image();
          image.src = 'https://example.com/track.png';
          return fetch('https://example.com/').catch(() => {});
        }"""
    )
    tab.until("window.refused.length >= 3")
    assert tab.page.evaluate("window.pwned") is None
    assert {d.split("-")[0] for d in tab.page.evaluate("refused")} == {"script", "img", "connect"}
    tab.close()


def test_the_mannequin_with_its_clips_and_graph_is_at_most_2_mb(tmp_path):
    made = mw.export_page("mannequin", tmp_path / "mannequin.html")
    assert made.bytes == (tmp_path / "mannequin.html").stat().st_size <= 2_000_000
    assert sum(made.parts.values()) == made.bytes
    assert made.motion_error < 1e-3 and made.position_error < 1e-4
    with pytest.raises(mw.errors.ValidationError, match=r"more than max_bytes=1,000: "):
        mw.export_page(
            "mannequin", tmp_path / "other.html", max_bytes=1000, clips=["idle"], graph=Graph("idle")
        )
    assert not (tmp_path / "other.html").exists()


def test_the_scripts_that_may_run_are_those_of_the_page():
    text, sizes = document.document("a & b <c>", {"info": b"x"})
    assert "<title>a &amp; b &lt;c&gt; · marrow</title>" in text and set(sizes) == {
        "program",
        "info",
        "markup",
    }
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)[1]
    assert "unsafe-inline" not in policy.split("style-src")[0] and "connect-src 'none'" in policy
    assert policy.count("sha256-") == 2
