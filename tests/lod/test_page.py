"""What docs/lod.md says about levels at run time is true."""

from pathlib import Path

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
