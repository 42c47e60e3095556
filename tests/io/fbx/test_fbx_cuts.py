"""Half a file is no file: an ASCII FBX file that was cut off is refused, or its report says what is missing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from handmade import flag

import marrow as mw
from marrow.errors import FormatError
from marrow.io.fbx.completeness import check_complete

FLAG = flag().text().replace(b"Connections:  {\n", b"Connections:  {\n;a comment, { and a \"\n") + (
    b"Takes:  {\nCurrent: \"\"\n}\n"
)  # fmt: skip
OLDER = b"""; FBX 6.1.0 project file
FBXHeaderExtension:  {
    FBXVersion: 6100
}
Creator: "a {hand}; no machine"
Objects:  {
    Model: "Model::a", "Limb" {
    }
}
Connections:  {
    Connect: "OO", "Model::a", "Model::Scene"
}
Takes:  {
}
Version5:  {
}
"""
OLDEST = b"""; FBX 5.8.0 project file
FBXHeaderExtension:  {
    FBXVersion: 5800
}
Model: "a" {
}
Takes:  {
}
Settings:  {
}
"""


def said(data: bytes) -> str:
    try:
        return "; ".join(map(str, check_complete(data)))
    except FormatError as error:
        return str(error)


@pytest.mark.parametrize("whole", [FLAG, OLDER, OLDEST], ids=["7400", "6100", "5800"])
def test_every_cut_is_seen_and_a_whole_file_is_not(whole: bytes) -> None:
    assert not said(whole) and not said(whole.rstrip() + b"\n; a last word {")
    last = whole.rstrip().rfind(b"}")
    cuts = {*range(0, last, 7), *(m.end() for m in re.finditer(rb"(?m)^\}", whole)), last} - {last + 1}
    silent = [cut for cut in sorted(cuts) if not said(whole[:cut])]
    assert not silent


@pytest.mark.parametrize(
    ("whole", "before", "says"),
    [
        (FLAG, b"Objects:", "after section 'GlobalSettings': there is no section 'Objects'"),
        (FLAG, b"Connections:", "after section 'Objects': nothing says what belongs together"),
        (FLAG, b"Takes:", "^info: file: ends after section 'Connections' and has no section 'Takes'"),
        (FLAG, b", { and", "^Connections: the file ends inside this section: 1 brace is not closed"),
        (OLDER, b"hand}", "inside a text in quotes"),
        (OLDER, b"Takes:", "^warning: file: ends after section 'Connections': motion and settings are missing"),
        (OLDER, b"Version5:", "^warning: file: ends after section 'Takes': settings are missing"),
        (OLDEST, b"Takes:", "^warning: .* after section 'Model': models, motion and settings may be missing"),
    ],
)  # fmt: skip
def test_what_is_missing_is_named(whole: bytes, before: bytes, says: str) -> None:
    assert re.search(says, said(whole[: whole.index(before)]))


@pytest.mark.parametrize("before", [b"Connections:", b", { and"])
def test_half_a_file_does_not_load(before: bytes, tmp_path: Path) -> None:
    path = tmp_path / "half.fbx"
    path.write_bytes(FLAG[: FLAG.index(before)])
    with pytest.raises(FormatError, match=r"half\.fbx: .*Connections.*cut off"):
        mw.load(path, cache=False)


def test_what_loads_without_its_last_section_says_so(tmp_path: Path) -> None:
    path = tmp_path / "nearly.fbx"
    path.write_bytes(FLAG[: FLAG.index(b"Takes:")])
    assert "no section 'Takes'" in str(mw.load(path, cache=False).report)
