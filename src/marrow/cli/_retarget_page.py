"""How good retargeted clips are, as a page that needs nothing else: `marrow retarget --html`."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field

from marrow.cli._html import escape
from marrow.motion.quality_figures import Figure

__all__ = ["ClipEntry", "FileEntry", "motion_page", "verdict_of"]

_WORDS = {"good": "within its limit", "look": "worth a look", "bad": "a fault people see"}
_STYLE = """
:root { --ink: #20242a; --faint: #68707a; --paper: #f6f7f9; --card: #fff; --line: #e2e5e9;
        --good: #2b8a3e; --look: #b35900; --bad: #c22030 }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e6ea; --faint: #9aa2ac; --paper: #16181b; --card: #1f2226;
        --line: #33373d; --good: #63c174; --look: #eaa54a; --bad: #ff7783 } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto;
       max-width: 76rem; padding: 1.5rem }
h1 { font-size: 1.5rem; margin: 0 0 .2rem } h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem } h3 { margin: 1.6rem 0 .6rem }
p { margin: .3rem 0 } .faint, li { color: var(--faint) } ul { margin: .3rem 0; padding-left: 1.2rem }
.clip { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1rem 1.2rem; margin: 1rem 0 }
.clip > h3 { margin: 0 0 .4rem; font-size: 1.05rem }
.badge { font-size: .8rem; font-weight: 600; padding: .1rem .6rem; border-radius: 1rem; margin-left: .5rem;
         border: 1px solid currentColor }
.good { color: var(--good) } .look { color: var(--look) } .bad { color: var(--bad) }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(20rem, 1fr)); gap: .9rem; margin-top: .8rem }
.card { border: 1px solid var(--line); border-left: 4px solid; border-radius: 8px; padding: .6rem .8rem }
.card .name { color: var(--faint); font-size: .85rem } .card .value { font-size: 1.35rem; font-weight: 600 }
.card .more { color: var(--faint); font-size: .85rem }
img { display: block; width: 100%; border-radius: 6px; margin-top: .5rem }
"""


@dataclass
class ClipEntry:
    """One clip: its figures, pictures (WebP) by their moments, and a strip of all of it. `note` where it has no figures."""

    name: str
    figures: Sequence[Figure] = ()
    pictures: dict[tuple[str, float], bytes] = field(default_factory=dict)
    strip: bytes | None = None
    note: str = ""


@dataclass
class FileEntry:
    """A file with motion: what was said of it, and its clips; or the error that kept it."""

    file: str
    lines: Sequence[str] = ()
    clips: list[ClipEntry] = field(default_factory=list)
    error: str = ""


def verdict_of(clip: ClipEntry) -> str:
    """The worst verdict of its figures."""
    found = {figure.verdict for figure in clip.figures}
    return next((v for v in ("bad", "look") if v in found), "good")


def motion_page(target: str, files: Sequence[FileEntry]) -> str:
    """The whole page."""
    clips = [clip for entry in files for clip in entry.clips if clip.figures]
    counts = {v: sum(verdict_of(c) == v for c in clips) for v in _WORDS}
    told = ", ".join(
        f"<span class='{v}'>{counts[v]} with {words}</span>"
        for v, words in (("bad", "faults people see"), ("look", "something worth a look"))
        if counts[v]
    )
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<title>Motion on {escape(target)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>Motion on {escape(target)}</h1>",
        f"<p>{len(clips)} clip{'' if len(clips) == 1 else 's'} measured on the skin: "
        f"{told or 'all within the limits'}.</p>",
        "<p class='faint'>Left the motion, right the result at the same moment. Lengths are metres of the character; "
        "limits are those of a person's size, grown with the legs.</p>",
    ]
    for entry in files:
        parts.append(f"<h2>{escape(entry.file)}</h2>")
        if entry.error:
            parts.append(f"<p class='bad'>{escape(entry.error)}</p>")
        if entry.lines:
            parts.append("<ul>" + "".join(f"<li>{escape(line)}</li>" for line in entry.lines) + "</ul>")
        parts += [_clip(clip) for clip in entry.clips]
    return "".join(parts) + "</body></html>\n"


def _clip(clip: ClipEntry) -> str:
    if not clip.figures:
        return f"<section class='clip'><h3>{escape(clip.name)}</h3><p class='faint'>{escape(clip.note)}</p></section>"
    verdict = verdict_of(clip)
    parts = [
        f"<section class='clip'><h3>{escape(clip.name)}<span class='badge {verdict}'>{_WORDS[verdict]}</span></h3>"
    ]
    if clip.note:
        parts.append(f"<p class='faint'>{escape(clip.note)}</p>")
    if clip.strip is not None:
        parts.append(_image(clip.strip, "the motion above, the result below"))
    parts.append("<div class='grid'>")
    order = {"bad": 0, "look": 1, "good": 2}
    for figure in sorted(clip.figures, key=lambda f: order[f.verdict]):
        when = "" if figure.at is None else f"at {figure.at:.2f} s, "
        picture = None if figure.at is None else clip.pictures.get((figure.name, figure.at))
        parts.append(
            f"<div class='card {figure.verdict}'><div class='name'>{escape(figure.name)}</div>"
            f"<div class='value'>{escape(figure.value)}</div>"
            f"<div class='more'>{when}limit {escape(figure.limit)}</div>"
            + ("" if picture is None else _image(picture, f"{figure.name} {when}"))
            + "</div>"
        )
    return "".join(parts) + "</div></section>"


def _image(data: bytes, words: str) -> str:
    coded = base64.b64encode(data).decode()
    return f"<img alt='{escape(words)}' src='data:image/webp;base64,{coded}'>"
