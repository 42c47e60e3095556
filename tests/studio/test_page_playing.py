"""A character that is played on the page: keys steer it, and the camera goes along."""

from browser import Tab

import marrow as mw
from player_world import stilts


def test_keys_walk_where_the_camera_looks_and_it_follows(browser):
    player = mw.Controller(stilts(1.2))
    with mw.view(player, port=0, browser=False) as view:
        tab = Tab(browser, view.url, width=720, height=480).loaded()
        tab.until("s.state?.playable && s.state.mode === 'graph'")
        assert tab.js("s.player.stick.hidden")  # there is a keyboard
        looks = tab.js(
            "(() => { const {camera, controls} = s.viewport;"
            " const l = [controls.target.x - camera.position.x, controls.target.z - camera.position.z];"
            " const n = Math.hypot(...l); return [l[0] / n, l[1] / n, controls.target.x, controls.target.z]; })()"
        )
        tab.page.keyboard.down("w")
        ahead = "(s.viewport.controls.target.x - a[2]) * a[0] + (s.viewport.controls.target.z - a[3]) * a[1]"
        tab.until(f"{ahead} > 0.8", looks)  # the camera has gone along, where it looked
        tab.page.keyboard.up("w")
        gone = player.place[[0, 2]] @ looks[:2]
        assert gone > 0.8
        tab.page.keyboard.press("Space")  # jumps, and does not stop time
        assert tab.js("s.state.playing")
        assert tab.errors == []
