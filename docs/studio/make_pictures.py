"""Makes the pictures of docs/studio.md: opens a studio in Chromium and photographs its panels.

    python docs/studio/make_pictures.py [scene]

Needs Debian's `chromium`, `pip install playwright pillow` and a built page.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

import marrow as mw

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / folder) for folder in ("tests/studio", "tests", "examples")]

from browser import Tab, chromium  # noqa: E402
from third_person_game import post  # noqa: E402


def main() -> None:
    with chromium() as browser:
        if "scene" not in sys.argv[1:]:
            with mw.view("mannequin", browser=False) as view:
                tab = Tab(browser, view.url, width=1280, height=720).loaded()
                for name, prepare in PICTURES.items():
                    prepare(tab)
                    save(tab, name)
                tab.close()
        with mw.view(scene(), browser=False) as view:
            tab = Tab(browser, view.url, width=1280, height=720).loaded()
            tab.until("s.state.slots.every((i) => s.viewport.character(i)?.count > 0)")
            tab.page.wait_for_timeout(1300)
            tab.send(type="play", playing=False)
            save(tab, "scene")
            tab.close()


def scene() -> mw.Scene:
    """A walker with a staff, a crowd behind it, lizards and posts around it."""
    hero, crowd = (
        mw.samples.mannequin(),
        mw.Animator(mw.samples.mannequin(), mw.samples.mannequin_graph(), count=4),
    )
    crowd["speed"] = [0.0, 1.0, 2.2, 3.4]
    walker = mw.Actor(hero, clip="walk")
    return mw.Scene(
        walker,
        mw.Actor(crowd, transforms=[at_place(2.0 * k - 3, -2.0) for k in range(4)]),
        mw.Actor(mw.samples.lizard(), clip="walk", transforms=[at_place(1.0, 1.2), at_place(-1.2, 1.0)]),
        mw.Actor(post(), transforms=[at_place(x, 2.0) for x in (-3.0, -2.0, 2.0, 3.0)]),
        mw.Actor(post(0.05, 0.5), parent=walker, socket="hand_l_grip"),
    )


def at_place(x: float, z: float) -> np.ndarray:
    place = np.eye(3, 4)
    place[[0, 2], 3] = x, z
    return place


def save(tab: Tab, name: str) -> None:
    """A palette of 255 colours keeps the repository small and is hardly seen."""
    tab.page.wait_for_timeout(700)
    tab.rest()
    picture = Image.open(io.BytesIO(tab.page.screenshot())).convert("RGB")
    picture.quantize(255, dither=Image.Dither.NONE).save(HERE / f"{name}.png", optimize=True)
    print(f"{name}.png {(HERE / f'{name}.png').stat().st_size // 1000} kB")


def at(tab: Tab, clip: str, time: float, **options: bool | str) -> None:
    """Stands still in a clip with these options and no others."""
    tab.send(type="mode", value="clip")
    tab.send(type="clip", name=clip)
    for name in ("skeleton", "names", "axes", "sockets", "heat", "path", "bounds"):
        options.setdefault(name, False)
    for name, value in {"theme": "dark", "compare": "off", **options}.items():
        tab.js("s.set(a[0], a[1])", [name, value])
    tab.send(type="play", playing=False)
    tab.send(type="seek", time=time)
    tab.until("s.state.clip === a && !s.state.playing", clip)
    tab.until("Math.abs(s.viewport.character().time - a) < 0.02", time)


def pick(tab: Tab, joint: str) -> None:
    tab.js("s.select(s.characters[0].joints.findIndex((j) => j.name === a))", joint)


def show(tab: Tab, *names: str) -> None:
    for name in names:
        tab.page.get_by_role("tab", name=name, exact=True).click()


def viewport(tab: Tab) -> None:
    at(tab, "walk", 0.3)


def light(tab: Tab) -> None:
    at(tab, "wave", 1.2, theme="light", skeleton=True, names=True)


def timeline(tab: Tab) -> None:
    at(tab, "run", 0.35, skeleton=True, path=True)
    pick(tab, "foot_l")
    show(tab, "Joints")
    tab.page.locator(".curve-value").first.wait_for()


def keys(tab: Tab) -> None:
    at(tab, "walk", 0.35)
    for joint in ("foot_l", "foot_r", "calf_l", "calf_r"):
        tab.js("s.selectAlso(s.characters[0].joints.findIndex((j) => j.name === a))", joint)
        tab.page.wait_for_timeout(300)
    tab.send(type="range", start=0.2, end=0.7)
    tab.page.get_by_role("radio", name="Keys", exact=True).click()
    tab.page.locator(".dope-name").first.wait_for()


def rig(tab: Tab) -> None:
    tab.send(type="range", start=None, end=None)
    tab.page.get_by_role("radio", name="Curves", exact=True).click()
    at(tab, "wave", 1.2)
    pick(tab, "hand_l")
    show(tab, "Rig")
    tab.page.get_by_role("radio", name="By hand").click()
    tab.page.get_by_role("radio", name="Reach").click()


def effectors(tab: Tab) -> None:
    at(tab, "idle", 0.5)
    tab.page.get_by_role("radio", name="Effectors").click()
    places = {"pelvis": (0.03, 0.76, -0.1), "hand_l": (0.4, 0.62, 0.4), "hand_r": (-0.68, 1.52, 0.2)}
    for name, place in places.items():
        joint = tab.js("s.characters[0].joints.findIndex((j) => j.name === a)", name)
        tab.send(type="effector", joint=joint, place=place)
    pick(tab, "hand_l")
    tab.until("s.state.effectors.length === 5")


def weights(tab: Tab) -> None:
    tab.send(type="reset_effectors")
    tab.page.get_by_role("radio", name="Played").click()
    show(tab, "View")
    at(tab, "attack", 0.5, heat=True)
    pick(tab, "upperarm_r")


def compare(tab: Tab) -> None:
    at(tab, "attack", 0.55, compare="skinning")
    pick(tab, "hand_r")
    tab.js("s.viewport.frame(true)")


def graph(tab: Tab) -> None:
    at(tab, "idle", 0.0)
    tab.js("s.select(-1)")
    tab.send(type="mode", value="graph")
    tab.send(type="play", playing=True)
    tab.send(type="parameter", name="speed", value=2.2)
    tab.send(type="parameter", name="strafe", value=0.2)
    tab.until("s.live?.values?.speed > 2")
    tab.send(type="play", playing=False)
    show(tab, "Clips")


def trigger(tab: Tab) -> None:
    tab.send(type="play", playing=True)
    tab.send(type="parameter", name="speed", value=1.2)
    tab.page.get_by_role("button", name="Fire jump").click()
    tab.page.locator(".state.active[data-state='jump']").wait_for()
    tab.page.wait_for_timeout(300)
    tab.send(type="play", playing=False)


def crowd(tab: Tab) -> None:
    at(tab, "walk", 0.0)
    show(tab, "Crowd")
    tab.send(type="spread", on=True)
    tab.send(type="count", value=300)
    tab.send(type="play", playing=True)
    tab.until("s.viewport.character().count === 300 && s.viewport.character().time > 0.5")
    # The numbers of a crowd in motion stay beside the picture it ends with, in which more are drawn in full.
    tab.until("[...document.querySelectorAll('.figures b')].every((b) => Number(b.textContent) > 0)")
    tab.js(
        """(() => {
          const figures = document.querySelector('.figures'), {slots, camera, controls} = s.viewport;
          figures.replaceWith(figures.cloneNode(true));
          slots[0].crowd.allowed = 20;
          camera.position.lerp(controls.target, 0.33);
        })()"""
    )
    tab.send(type="play", playing=False)
    tab.until("!s.state.playing")


def help_card(tab: Tab) -> None:
    tab.send(type="count", value=1)
    tab.until("s.viewport.character().count === 1")
    at(tab, "wave", 1.2)
    tab.page.keyboard.press("?")


def tablet(tab: Tab) -> None:
    tab.page.keyboard.press("Escape")
    tab.page.set_viewport_size({"width": 820, "height": 1100})
    tab.page.get_by_role("button", name="Show settings").click()
    show(tab, "View")
    tab.page.wait_for_timeout(1500)


PICTURES: dict[str, Callable[[Tab], None]] = {
    "viewport": viewport,
    "light": light,
    "timeline": timeline,
    "keys": keys,
    "rig": rig,
    "effectors": effectors,
    "weights": weights,
    "compare": compare,
    "graph": graph,
    "trigger": trigger,
    "crowd": crowd,
    "help": help_card,
    "tablet": tablet,
}

if __name__ == "__main__":
    main()
