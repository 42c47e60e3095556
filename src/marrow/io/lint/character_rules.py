"""Rules about the skeleton, its size, where it looks, and the importer's report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from marrow.io.lint.finding import Finding, listed
from marrow.io.lint.rest_bounds import idle_joints, rest_box
from marrow.model import Character
from marrow.motion.facing import facing_line
from marrow.report import ReportLine

__all__ = [
    "duplicate_names",
    "facing",
    "import_report",
    "nothing_there",
    "rest_scale",
    "units",
    "unused_joints",
]

# A person is 1.8 m; what is beyond these is a unit gone wrong more often than a giant or a flea.
HUGE_METRES, TINY_METRES = 30.0, 0.03


def import_report(character: Character) -> Iterator[Finding]:
    """What the importer repaired, dropped or warned of."""
    for line in character.report:
        if line.place == "facing":  # has a rule of its own
            continue
        words = line.message
        rule, severity, remedy = "import", "info", ""
        if "sum to" in words:
            rule, remedy = (
                "weight-sums",
                "normalise the weights in the tool that wrote the file; marrow did on loading",
            )
        elif "without weights" in words or "no weights" in words:
            rule, remedy = (
                "unweighted-vertices",
                "paint weights for them; they follow the mesh's own node for now",
            )
        elif "tangents were generated" in words:
            rule, remedy = (
                "missing-tangents",
                "export tangents, so that every engine uses those of the normal map",
            )
        elif line.place == "constraints" and "in a circle" in words:
            rule, remedy = (
                "constraint-circle",
                "let one of these joints look at something that none of the others moves",
            )
        if line.kind != "info":
            severity = "warning"
        remedy = remedy or _REPORT_REMEDY[line.kind]
        yield Finding(
            rule, severity, line.place or "file", words, remedy, mended=was_put_right(line)  # type: ignore[arg-type]
        )  # fmt: skip


def was_put_right(line: ReportLine) -> bool:
    """Whether what a line of the importer tells is right in a file that is written afterwards."""
    unsure = "without weights" in line.message or "no weights" in line.message
    return (line.kind == "repaired" and not unsure) or "tangents were generated" in line.message


_REPORT_REMEDY = {
    "info": "nothing needs to be done",
    "repaired": "mend it in the tool that wrote the file",
    "dropped": "what is named here is not in the character; leave it out, or bake it before the export",
    "warning": "look at it in the tool that wrote the file",
}


def nothing_there(character: Character) -> Iterator[Finding]:
    """A file with nothing in it that marrow reads."""
    if not len(character.skeleton) and not character.meshes and not character.clips:
        yield Finding(
            "empty",
            "warning",
            "file",
            "it holds no joints, no meshes and no clips",
            "export what it should hold; an exporter may have been told to write a selection, and nothing was selected",
        )


def duplicate_names(character: Character) -> Iterator[Finding]:
    """Joint names that occur twice: clips, masks and sockets find joints by name."""
    twice = [name for name, count in Counter(character.skeleton.names).items() if count > 1]
    if twice:
        yield Finding(
            "duplicate-names",
            "warning",
            "skeleton",
            f"{len(twice)} joint names occur more than once: {listed(twice)}",
            "rename them; the first joint of a name is the one that is found by it",
            joints=tuple(twice),
        )


def rest_scale(character: Character) -> Iterator[Finding]:
    """Scale of joints at rest that engines handle differently."""
    skeleton = character.skeleton
    scale = np.asarray(skeleton.rest.scale, np.float64)
    negative = (scale < 0).any(axis=1)
    zero = (scale == 0).any(axis=1)
    size = np.abs(scale)
    uneven = ~zero & (np.ptp(size, axis=1) > 1e-3 * size.max(axis=1, initial=0))
    for mask, rule, severity, what, remedy in (
        (
            zero,
            "zero-scale",
            "error",
            "scaled to nothing",
            "give it a scale; nothing below it can be seen or unscaled",
        ),
        (
            negative,
            "negative-scale",
            "warning",
            "mirrored",
            "apply the scale in the modelling tool before rigging",
        ),
        (
            uneven,
            "uneven-scale",
            "warning",
            "scaled unevenly",
            "apply the scale; engines without shear will differ",
        ),
    ):
        names = [skeleton.names[j] for j in np.flatnonzero(mask)]
        if names:
            count = f"{len(names)} joint{'s are' if len(names) > 1 else ' is'} {what} at rest"
            said = f"{count}: {listed(names)}"
            yield Finding(rule, severity, "skeleton", said, remedy, joints=tuple(names))  # type: ignore[arg-type]


def unused_joints(character: Character) -> Iterator[Finding]:
    """Joints that move nothing: no mesh follows them or anything below them."""
    skeleton = character.skeleton
    if not character.meshes:
        return
    names = [skeleton.names[j] for j in np.flatnonzero(idle_joints(character))]
    if names:
        yield Finding(
            "unused-joints",
            "info",
            "skeleton",
            f"{len(names)} joints move no vertex: {listed(names)}",
            "leave them out of the export, or give them a socket if things are attached there",
            joints=tuple(names),
        )


def units(character: Character) -> Iterator[Finding]:
    """A character of a size no character has."""
    box = rest_box(character)
    if box is None:
        return
    extent = float((box[1] - box[0]).max())
    if extent > HUGE_METRES:
        yield Finding(
            "units",
            "warning",
            "file",
            f"it is {extent:.4g} m large; the unit is likely wrong",
            "load it with scale=0.01 (marrow convert --scale 0.01), or export in metres",
        )
    elif 0 < extent < TINY_METRES:
        yield Finding(
            "units",
            "warning",
            "file",
            f"it is {extent:.3g} m large; the unit is likely wrong",
            "load it with scale=100 (marrow convert --scale 100), or export in metres",
        )


def facing(character: Character) -> Iterator[Finding]:
    """A character that does not look along +Z, or of which nothing tells where it looks."""
    line = facing_line(character)
    if line is not None:
        known = character.facing is not None
        yield Finding(
            "facing",
            "warning" if known else "info",
            "file",
            line.partition("; load it")[0],
            "load it with facing='+z' (marrow convert --facing +z), or export it looking along +Z"
            if known
            else "look at it: code that moves it, and cameras by name, take it to look along +Z",
        )
