"""What docs/lod.md says about levels at run time is true."""

from pathlib import Path

import marrow as mw
from surroundings import needed

PAGE = Path(__file__).parents[2] / "docs" / "lod.md"


def test_code_on_the_page_runs():
    text = PAGE.read_text(encoding="utf-8").partition("## Choosing levels")[2]
    blocks = [block.partition("```")[0] for block in text.split("```python\n")[1:]]
    assert len(blocks) >= 2
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)
    crowd = names["crowd"]
    assert set(crowd.levels.tolist()) > {0, 1, 2} and names["surfaces"].triangles > 0


def test_code_about_making_levels_runs(tmp_path, monkeypatch):
    needed("meshoptimizer")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("builtins.print", lambda *_: None)
    text = PAGE.read_text(encoding="utf-8").partition("## Choosing levels")[0]
    names: dict[str, object] = {}
    for block in text.split("```python\n")[1:]:
        exec(block.partition("```")[0], names)
    hero = names["hero"]
    told = mw.lod.table(hero).splitlines()
    said = [line for line in text.splitlines() if line.lstrip()[:2] in ("0 ", "1 ", "2 ", "3 ")]
    assert [line.split()[1:4] for line in told[1:]] == [line.split()[1:4] for line in said]
    assert len(mw.load("hero.glb").levels) == 4
