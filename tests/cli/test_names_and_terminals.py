"""Names in files never speak to the terminal: every command shows their control characters escaped, piped or not."""

from __future__ import annotations

import io
import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import marrow as mw
from marrow.cli.app import app, run
from marrow.errors import FormatError, MarrowError, UnknownNameError
from marrow.printing import logger, one_line, printable
from marrow.report import ReportLine

# A title for the window, a colour that Rich has no use for, a cleared screen by C1, a backspace, the end of a line, text
# turned round, a line and a paragraph separator, a bell, Rich's markup, a line of its own.
EVIL = (
    "\x1b]0;owned\x07\x1b[8mgone\x9b2J\x08\x7f\r\u202eback\u2066\u2028\u2029\x85[bold red]x[/]:smile:\nFORGED"
)
CLIP = f"Rise{EVIL}"
FORBIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def hero() -> mw.Character:
    """A small character all of whose names are evil. It needs no repair, and gets some."""
    skeleton = mw.Skeleton(
        tuple(f"{name}{EVIL}" for name in ("hips", "spine", "head")),
        [-1, 0, 1],
        mw.Pose.identity(3, 1).replace(translation=np.array([[0, 1, 0], [0, 0.5, 0], [0, 0.5, 0]], "f4")),
        (f"smile{EVIL}",),
        (mw.Socket(f"hand{EVIL}", 1),),
    )
    bind = np.zeros((3, 3, 4), "f4")
    bind[:, [0, 1, 2], [0, 1, 2]] = 1
    bind[:, 1, 3] = [-1, -1.5, -2]
    x, y = np.meshgrid(np.linspace(0, 1, 5), np.linspace(1, 3, 5))
    corners = np.stack([x, y, 0.1 * np.sin(9 * x)], -1).reshape(-1, 3).astype("f4")
    at = np.arange(25).reshape(5, 5)
    a, b, c, d = at[:-1, :-1], at[:-1, 1:], at[1:, :-1], at[1:, 1:]
    mesh = mw.Mesh(
        f"body{EVIL}",
        corners,
        np.concatenate([np.stack(t, -1).reshape(-1, 3) for t in ((a, b, c), (b, d, c))]),
        joints=np.tile([0, 1, 2], (25, 1)),
        weights=np.tile(np.float32([0.5, 0.25, 0.25]), (25, 1)),
        joint_list=[0, 1, 2],
        inverse_bind=bind,
        uvs=(corners[:, :2],),
        sections=(mw.Section(0, 32, 0, f"front{EVIL}"),),
        morph_targets=(mw.MorphTarget(f"smile{EVIL}", 0, corners * 0.1),),
    )
    times = np.array([0, 0.5, 1], "f4")
    up = np.array([[0, 1, 0], [0.2, 1.2, 0], [0.4, 1, 0]], "f4")
    tracks = [
        mw.Track(0, "translation", times, up),
        mw.Track(0, "morph", times, [[0], [1], [0]]),
        mw.Track(1, "translation", times, up / 2),
    ]
    clips = [
        mw.Clip(
            f"{name}{EVIL}",
            skeleton,
            tracks,
            events=[mw.Event(0.5, f"step{EVIL}")],
            curves=[mw.model.Curve(f"look{EVIL}", times, times)],
        )
        for name in ("Rise", "Sink")
    ]
    image = mw.model.Image(f"skin{EVIL}", "image/png", b"no picture")
    material = mw.Material(f"cloth{EVIL}", base_color_texture=mw.model.Texture(0))
    return mw.Character(skeleton, (mesh,), clips, (material,), (image,), name=f"hero{EVIL}")


BVH = f"""HIERARCHY
ROOT hips{EVIL[:23]}
{{
OFFSET 0 0 0
CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
End Site
{{
OFFSET 0 1 0
}}
}}
MOTION
Frames: 2
Frame Time: 0.5
0 0 0 0 0 0
1 0 0 0 90 0
"""


class World:
    """The files of the test, in a folder whose name is evil too."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / f"folder{EVIL.replace('/', '')}"
        self.folder.mkdir()
        for suffix in ("glb", "marrow"):
            mw.save(hero(), self / f"hero.{suffix}")
        (self / "walk.bvh").write_text(BVH, "utf-8")
        (self / "broken.glb").write_bytes((self / "hero.glb").read_bytes()[:200])
        for name, parameter in (("graph", "speed"), ("odd", f"speed{EVIL}")):
            parameters = {parameter: mw.graph.Parameter("float", 1.0)}
            graph = mw.graph.Graph(mw.graph.ClipNode(CLIP), name=f"graph{EVIL}", parameters=parameters)
            mw.graph.save_graph(graph, self / f"{name}.json")
        bad = json.loads((self / "graph.json").read_text())
        bad["root"] = {"type": f"Nothing{EVIL}", f"field{EVIL}": 1}
        (self / "bad.json").write_text(json.dumps(bad))

    def __truediv__(self, name: str) -> Path:
        return self.folder / name


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MARROW_CACHE", str(tmp_path_factory.mktemp(f"cache{EVIL.replace('/', '')}")))
        yield World(tmp_path_factory.mktemp("names"))


COMMANDS = """
info hero.glb hero.marrow walk.bvh broken.glb
info hero.glb --json
check hero.glb walk.bvh broken.glb
check hero.glb --json
check hero.glb broken.glb --html page.html --no-pictures -f
mend hero.glb out.glb -f --all
play hero.glb --graph played.json -f
mend hero.glb out.glb -f --json
convert hero.glb out.glb -f
convert hero.marrow out.gltf -f
convert hero.glb out.usda -f
convert hero.glb out.bvh --clip CLIP -f
convert hero.glb out.obj -f
convert hero.glb out.ply -f
convert hero.glb none.xyz
convert hero.glb walk.bvh broken.glb many --to glb -f
convert hero.glb clip.glb --clip CLIP -f
convert hero.glb clip.glb --clip EVIL -f
retarget hero.glb hero.marrow -o moved.glb -f
retarget hero.glb hero.marrow --show
retarget hero.glb hero.marrow -o moved.glb -f --report --save-map map.json
retarget walk.bvh hero.glb -o moved.glb -f
lod hero.glb -o lods.glb --triangles 0.5 --influences 2 -f
lod hero.glb
bake hero.glb -o baked.npz -f
bake hero.glb -o baked -f
clip trim hero.glb c.glb --end 0.5 -f
clip trim hero.glb c.glb --clip EVIL -f
clip cut hero.glb c.glb EVIL=0:0.5 -f
clip split hero.glb c.glb --event EVIL -f
clip join hero.glb c.glb CLIP CLIP -f
clip loop hero.glb c.glb -f
clip in-place hero.glb c.glb -f
clip travel hero.glb c.glb --velocity 0 0 1 -f
clip reverse hero.glb c.glb -f
clip retime hero.glb c.glb --speed 2 -f
clip resample hero.glb c.glb --rate 10 -f
clip rename hero.glb c.glb EVIL=x -f
clip mirror hero.glb c.glb -f
clip run hero.glb c.glb --graph graph.json --seconds 0.5 -f
clip additive hero.glb c.glb -f
clip smooth hero.glb c.glb -f
clip fill hero.glb c.glb -f
clip contacts hero.glb c.glb -f
clip keep hero.glb c.glb --joint EVIL -f
clip strip hero.glb c.glb --joint EVIL -f
clip reduce hero.glb c.glb -f
clip compress hero.glb c.marrow -f
matching build hero.glb --clip EVIL -o m.motion -f
matching show hero.marrow
dataset build walk.bvh broken.glb hero.glb -o data --workers 0 --format npz
dataset info data --report
dataset info data --failed --json
dataset check data
dataset show data -o missing/data.png
dataset features
render hero.glb -o hero.png --clip EVIL
render hero.glb -o hero.png --view EVIL
sheet hero.glb -o sheet.png --clip EVIL
sheet hero.glb walk.bvh broken.glb -o none.xyz
view broken.glb --no-browser --window
view hero.glb --clip EVIL
graph check graph.json hero.glb
graph check bad.json
graph check odd.json hero.glb
graph check graph.json walk.bvh
graph show graph.json
graph show graph.json --svg graph.svg
export hero.glb -o hero.html --clip EVIL
export hero.glb -o hero.html --graph bad.json
export hero.glb -o missing/hero.html
bake-runtime hero.glb -o hero.mrt -f
bake-runtime hero.glb --graph odd.json -o hero.mrt -f
bake-runtime hero.glb --graph bad.json -o hero.mrt -f
cache info
cache info --json
cache clear
samples EVIL
gpu EVIL
bench EVIL
EVIL
""".strip().splitlines()


def words(line: str, world: World) -> list[str]:
    out = []
    for word in line.split(" "):
        is_file = re.fullmatch(r"[\w-]+\.(?!5)\w+|data|baked|many", word) is not None
        out.append(str(world / word) if is_file else word.replace("EVIL", EVIL).replace("CLIP", CLIP))
    return out


@pytest.mark.parametrize("line", COMMANDS)
def test_no_command_lets_a_name_speak(line: str, world: World, capfd: pytest.CaptureFixture[str]) -> None:
    code = run(words(line, world))
    out, err = capfd.readouterr()
    assert code in (0, 1, 2)
    for text in (out, err):
        assert not FORBIDDEN.findall(text), ascii(text)
        assert "a fault inside marrow" not in text
        assert not re.search("^FORGED", text, re.MULTILINE)
    if "--json" in line and not code:
        json.loads(out)


def test_every_command_is_tried() -> None:
    def named(group: object, before: str = "") -> Iterator[str]:
        for name in group:  # type: ignore[attr-defined]
            if not name.startswith("-"):
                inner = group[name]  # type: ignore[index]
                below = list(named(inner, f"{before}{name} "))
                yield from below or [f"{before}{name}"]

    assert [c for c in named(app) if not any(line.startswith(c) for line in COMMANDS)] == []


def test_json_has_the_names_as_they_are(world: World, capfd: pytest.CaptureFixture[str]) -> None:
    run(["info", str(world / "hero.marrow"), "--json"])
    (found,) = json.loads(capfd.readouterr().out)
    assert found["clips"][0]["name"] == f"Rise{EVIL}"
    assert found["skeleton"]["names"][0] == f"hips{EVIL}"
    assert found["file"] == str(world / "hero.marrow")


def test_names_are_shown_escaped_not_left_out(world: World, capfd: pytest.CaptureFixture[str]) -> None:
    run(["info", str(world / "hero.glb")])
    out = capfd.readouterr().out
    for kind in ("hips", "smile", "hand", "body", "front", "cloth", "skin", "Rise"):
        assert f"{kind}{one_line(EVIL)}" in out
    assert "\\x1b]0;owned\\x07" in out
    assert "[bold red]x[/]:smile:" in out


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    "line",
    ["info hero.glb", "check hero.glb", "info broken.glb walk.bvh", "lod hero.glb", "graph show graph.json"],
)
def test_on_a_terminal_only_the_styles_are_ours(
    line: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    out, err = Terminal(), Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    run(words(line, world))
    text = out.getvalue() + err.getvalue()
    assert "\x1b[8m" not in text
    assert "\x1b[" in text or line.startswith("graph")
    assert not FORBIDDEN.findall(re.sub(r"\x1b\[[0-9;]*m", "", text)), ascii(text)


def test_the_whole_program_piped(world: World) -> None:
    """With all that Python prints beside: warnings, letters the encoding does not have."""
    command = [
        sys.executable,
        "-m",
        "marrow",
        "info",
        str(world / "hero.glb"),
        str(world / "missing\x1b.glb"),
    ]
    done = subprocess.run(command, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 2
    assert not re.findall(rb"[\x00-\x08\x0b-\x1f\x7f-\xff]", done.stdout + done.stderr)


def test_a_page_of_findings_holds_text_alone(world: World) -> None:
    page = world / "findings.html"
    run(
        [
            "check",
            str(world / "hero.glb"),
            str(world / "broken.glb"),
            "--html",
            str(page),
            "--no-pictures",
            "-f",
        ]
    )
    text = page.read_text("utf-8")
    assert not FORBIDDEN.findall(text.replace("\n", ""))
    HTMLParser().feed(text)
    assert "\\x1b]0;owned" in text


def test_a_drawn_graph_is_whole_xml(world: World) -> None:
    assert run(["graph", "show", str(world / "graph.json"), "--svg", str(world / "drawn.svg")]) == 0
    root = ElementTree.fromstring((world / "drawn.svg").read_text("utf-8"))
    assert any("\\x1b]0;owned" in (t.text or "") for t in root.iter("{http://www.w3.org/2000/svg}text"))


def test_errors_and_report_lines_say_names_escaped() -> None:
    for error in (
        MarrowError(f"joint {EVIL}"),
        FormatError(f"joint {EVIL}", path=Path(EVIL), place=EVIL, remedy=EVIL),
        UnknownNameError("joint", EVIL, [EVIL]),
        UnknownNameError("joint", "x", [EVIL] * 30),
    ):
        assert not FORBIDDEN.findall(str(error))
        assert not FORBIDDEN.findall(f"{error}")
    line = ReportLine("info", f"mesh {EVIL}", f"says {EVIL}\nand more")
    assert not FORBIDDEN.findall(str(line))
    assert "\n" not in str(line)
    assert ReportLine(line.kind, line.place, line.message) == line


def test_warnings_say_names_escaped(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="position channels") as told:
        mw.save(hero(), tmp_path / "hero.bvh", clip=CLIP)
    assert not any(FORBIDDEN.findall(str(w.message)) for w in told)
    assert told[0].filename == __file__


def test_log_lines_and_their_tracebacks_say_names_escaped(caplog: pytest.LogCaptureFixture) -> None:
    log = logger("marrow.studio")
    try:
        raise ValueError(f"joint {EVIL}")
    except ValueError:
        log.exception("no %s", EVIL)
    record = caplog.records[-1]
    text = logging.Formatter("%(message)s").format(record)
    assert "\\x1b]0;owned" in text
    assert not FORBIDDEN.findall(text)


def test_warnings_and_log_lines_are_made_in_one_place() -> None:
    """`marrow.printing` shows names in them escaped."""
    root = Path(mw.__file__).parent
    found = [
        str(file.relative_to(root))
        for file in root.rglob("*.py")
        if re.search(r"warnings\.warn\(|getLogger\(", file.read_text("utf-8"))
    ]
    assert found == ["printing.py"]


def test_letters_of_people_stay() -> None:
    assert (
        printable("한글 Ünï 日本\u3000語 👩\u200d💻 naïve\n\tnext")
        == "한글 Ünï 日本\u3000語 👩\u200d💻 naïve\n\tnext"
    )
    assert printable("\udcff\x1b\U000e0041") == "\\xff\\x1b\\U000e0041"
    assert one_line("a\nb\tc") == "a\\nb\\tc"
