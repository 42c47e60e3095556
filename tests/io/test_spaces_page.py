"""The page of names and spaces: its code runs, and the shader's formula on its arrays is what marrow skins."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

import marrow as mw
from marrow.io.axes import WORLDS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "spaces.md"


def test_the_recipe_skins_as_marrow_does() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    mesh, entry, rows, crowd = (names[n] for n in ("mesh", "entry", "rows", "crowd"))
    points = np.concatenate([mesh.positions, np.ones((mesh.vertex_count, 1), np.float32)], axis=1)
    for instance in range(2):
        sums = np.zeros((mesh.vertex_count, 3))
        for k in range(mesh.influences):
            three = rows[instance][3 * entry[:, k, None] + np.arange(3)]
            sums += mesh.weights[:, k, None] * np.einsum("vij,vj->vi", three, points)
        hero = names["hero"].replace(meshes=names["hero"].meshes[:1])
        expected = mw.skin(hero, crowd.pose[instance]).positions
        np.testing.assert_allclose(sums, expected, atol=1e-5)


def test_the_table_of_spaces_is_what_converted_does() -> None:
    text = PAGE.read_text()
    for name, words in (
        ("unreal", "| Unreal | Z | X | left | cm |"),
        ("unity", "| Unity | Y | Z | left | m |"),
    ):
        space = WORLDS[name]
        assert words in text
        assert (
            words
            == f"| {name.title()} | {space.up.upper()} | {space.forward.upper()} | {space.handedness} | "
            + ("cm |" if space.metres == 0.01 else "m |")
        )
