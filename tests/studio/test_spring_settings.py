"""Springs in the studio: chains and colliders are drawn, settings move live, and stay where the actor plays on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from studio_world import small_character

import marrow as mw
from marrow.errors import MarrowError
from marrow.scene.views import parse_views
from marrow.studio import protocol as p
from marrow.studio.actor import Origin, StudioActor
from marrow.studio.code import python_code
from marrow.studio.drawings import ViewRequest
from marrow.studio.session import Session

SPRINGS = {
    "springs": [
        {"name": "arm", "joints": [{"node": n, "stiffness": 0.5} for n in ("upper", "lower", "hand")]},
        {"name": "nothing", "joints": []},
    ],
    "colliders": [{"node": "head", "shape": {"sphere": {"radius": 0.2}}}],
}


def swinging() -> mw.Character:
    return small_character().replace(vrm={"version": "1.0", "springBone": SPRINGS})


@pytest.fixture
def session() -> Session:
    made = Session()
    made.put(StudioActor(swinging(), 0, Origin("sample", "arm")))
    return made


def test_settings_are_told_and_move_live(session: Session) -> None:
    state = session.state()
    assert [(s.name, s.joints, s.stiffness) for s in state.springs] == [("arm", 2, 0.5)]
    assert state.wind == (0, 0, 0)
    assert session.main is not None
    animator = session.main.animator
    session.apply(p.SetSpring("arm", stiffness=2.0, drag=0.9))
    session.apply(p.SetSpring("", limit=0.5))
    session.apply(p.SetWind((1.0, 0.0, 2.0)))
    assert session.main.animator is animator, "it goes on"
    chain = animator.springs["arm"]
    assert (chain.stiffness, chain.drag, chain.limit) == (2.0, 0.9, 0.5)
    assert session.state().wind == (1, 0, 2)
    session.apply(p.SetCount(3))  # another animator, the same settings
    session.apply(p.PickClip("wave" if "wave" in session.main.character.clips else None))
    assert session.main.animator.springs["arm"].stiffness == 2.0
    assert session.main.animator.springs.wind.tolist() == [1, 0, 2]
    code = python_code(session)
    assert "animator.springs['arm'].set(stiffness=2, drag=0.9, limit=0.5)" in code
    assert "animator.springs.wind = (1, 0, 2)" in code
    session.apply(p.ResetSprings())
    assert session.state().springs[0].stiffness == 0.5 and session.state().wind == (0, 0, 0)
    assert "springs" not in python_code(session)


def test_chains_and_colliders_are_drawn_as_they_are_set(session: Session) -> None:
    request = ViewRequest(parse_views("springs"))

    def lines() -> int:
        session.look()
        drawn = session.pictures[0].drawing(request, None).drawing
        assert drawn.notes == []
        return sum(len(part[0]) for part in drawn.parts)

    before = lines()
    assert before > 0
    session.apply(p.SetSpring("arm", radius=0.1))
    assert lines() > before, "balls around the tails"


def test_mistakes_are_told(session: Session) -> None:
    with pytest.raises(MarrowError, match="arm"):
        session.apply(p.SetSpring("leg", stiffness=1.0))
    bare = Session()
    bare.put(StudioActor(small_character(), 0, Origin("sample", "arm")))
    assert bare.state().springs == []
    for message in (p.SetSpring("", stiffness=1.0), p.SetWind((1.0, 0.0, 0.0))):
        with pytest.raises(MarrowError, match="nothing swings"):
            bare.apply(message)
    bare.apply(p.ResetSprings())


def test_sliders_of_the_page_move_springs(small: Any) -> None:
    _, tab = small(swinging(), width=1120)
    tab.page.get_by_role("tab", name="Rig").click()
    tab.page.get_by_role("slider", name="Stiffness of arm").fill("3")
    tab.page.get_by_role("slider", name="Wind X").fill("2")
    tab.until("Math.abs(s.state.springs[0].stiffness - 3) < 0.01 && s.state.wind[0] === 2")
    tab.page.get_by_role("button", name="Draw chains and colliders").click()
    tab.until("s.viewport.received.get(0)?.floats('line_start').length > 0")
    tab.page.get_by_role("button", name="Set springs as the file").click()
    tab.until("s.state.springs[0].stiffness === 0.5 && s.state.wind[0] === 0")
    assert np.isclose(
        float(tab.page.get_by_role("slider", name="Stiffness of arm").input_value()), 0.5, atol=0.01
    )
