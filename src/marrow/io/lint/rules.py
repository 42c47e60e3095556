"""`RULES`: all rules, each with what `mend` does about what it finds; `lint` runs them, `mend` does what is safe."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from marrow.errors import UnknownNameError, WrongTypeError
from marrow.io.lint import character_rules as whole
from marrow.io.lint import clip_rules as clips
from marrow.io.lint import level_rules as levels
from marrow.io.lint import mesh_rules as meshes
from marrow.io.lint import motion_rules as motion
from marrow.io.lint import repairs, spring_rules
from marrow.io.lint.finding import SEVERITIES, Finding
from marrow.io.lint.joint_repairs import leave_out_joints
from marrow.io.lint.rule import LintRule, Mending, by_hand
from marrow.model import Character, _validate
from marrow.report import Report, ReportBuilder

__all__ = ["RULES", "RULE_NAMES", "Mended", "lint", "mend"]

_LOADED = Mending(
    "what the importer warns of or leaves out, it does not know better", repairs.keep_what_loading_did
)
_APPLY = "applying a scale changes the rig: clips and other meshes were made for this one"
_LEVELS = "which levels there are is yours to decide: marrow lod makes them anew"

RULES: tuple[LintRule, ...] = (
    LintRule(
        whole.import_report,
        {
            "import": _LOADED,
            "weight-sums": _LOADED,
            "missing-tangents": _LOADED,
            "constraint-circle": by_hand("which of them should go, the artist knows"),
            "unweighted-vertices": by_hand("which joints they should follow, nobody but the artist knows"),
        },
    ),
    LintRule(whole.nothing_there, {"empty": by_hand("there is nothing to mend")}),
    # What follows, and what tells where it looks, goes by the motion alone: this is mended first.
    LintRule(
        motion.calibration_poses,
        {
            "calibration-frame": Mending(
                "too little motion would be left of the clip", repairs.cut_calibration_frames
            )
        },
    ),
    LintRule(meshes.not_finite, {"not-finite": by_hand("nobody knows where these vertices belong")}),
    LintRule(
        meshes.influence_counts,
        {"influences": by_hand("fewer influences move vertices; how many are allowed, the engine says")},
    ),
    LintRule(
        meshes.weight_sums,
        {"weight-sums": Mending("they cannot be made to sum to 1", repairs.normalize)},
    ),
    LintRule(
        meshes.degenerate_triangles,
        {"degenerate-triangles": by_hand("a morph or a pose may open them")},
    ),
    LintRule(
        meshes.missing_attributes,
        {
            "missing-normals": by_hand("which edges are sharp, the artist knows"),
            "missing-uvs": by_hand("how the texture lies on it, the artist knows"),
        },
    ),
    LintRule(
        meshes.missing_tangents,
        {"missing-tangents": Mending("there are no normals or UVs to make them from", repairs.make_tangents)},
    ),
    LintRule(
        spring_rules.idle_springs,
        {"idle-springs": by_hand("what should swing, the artist knows")},
    ),
    LintRule(
        spring_rules.nested_colliders,
        {"nested-colliders": by_hand("the outer one decides: which of them was meant, the artist knows")},
    ),
    LintRule(
        whole.duplicate_names,
        {"duplicate-names": by_hand("clips and graphs may find these joints by their names")},
    ),
    LintRule(
        whole.rest_scale,
        {
            "zero-scale": by_hand("how large it should be, nobody knows"),
            "negative-scale": by_hand(_APPLY),
            "uneven-scale": by_hand(_APPLY),
        },
    ),
    LintRule(
        whole.unused_joints,
        {
            "unused-joints": Mending(
                "clips move them, programs may look for them, or things may be attached there", leave_out_joints, True
            )
        },
    ),
    LintRule(
        whole.units,
        {"units": Mending("its size is not that of a person, so nothing tells the unit", repairs.to_metres, True)},
    ),
    LintRule(
        whole.facing,
        {"facing": Mending("where it looks is not known, or it cannot be turned exactly", repairs.face_forward, True)},
    ),
    LintRule(clips.empty_clips, {"empty-clip": by_hand("a graph may name it")}),
    LintRule(clips.unkeyed_joints, {"unkeyed-joints": by_hand("whether they should move, the animator knows")}),
    LintRule(
        clips.doubled_tracks,
        {"doubled-tracks": Mending("they could not be told apart", repairs.one_track_each)},
    ),
    LintRule(
        clips.constant_tracks,
        {"constant-tracks": Mending("their keys tell how long the clip is", repairs.one_key_each)},
    ),
    LintRule(
        clips.scale_tracks,
        {"scale-tracks": by_hand("whether scale is animated, the engine says")},
    ),
    LintRule(motion.long_clips, {"long-clip": by_hand("where to cut it, or which times are wrong, is not known")}),
    LintRule(
        motion.loop_seams,
        {
            "loop-seam": Mending(
                "its keys are cubic; marrow clip loop closes it with keys at every frame", repairs.close_seams, True
            )
        },
    ),
    LintRule(motion.foot_slide, {"foot-slide": by_hand("feet may be meant to slide; planting them bends the legs")}),
    LintRule(motion.pops, {"pop": by_hand("a jump may be meant: look at it")}),
    LintRule(motion.frozen_tracks, {"frozen-track": by_hand("standing still may be meant: look at it")}),
    LintRule(
        motion.bounds_far_away,
        {"far-from-rest": by_hand("for which body the clip was made is not known; marrow retarget fits it")},
    ),
    LintRule(
        motion.root_contract,
        {"root-contract": by_hand("which joint shall travel, the game decides")},
    ),
    LintRule(
        motion.gait_phase,
        {"gait-phase": by_hand("a clip that begins elsewhere is another clip to those who play it by time")},
    ),
    LintRule(
        levels.level_figures,
        {
            "level-saves-nothing": by_hand(_LEVELS),
            "level-not-measured": by_hand("measured errors change when levels are switched: mw.lod.measured does it"),
            "level-order": by_hand(_LEVELS),
            "level-screen-size": by_hand(_LEVELS),
        },
    ),
    LintRule(
        levels.level_meshes,
        {
            "not-finite": by_hand("nobody knows where these vertices belong"),
            "weight-sums": Mending("they cannot be made to sum to 1", repairs.normalize),
            "level-empty": by_hand(_LEVELS),
        },
    ),
)  # fmt: skip
RULE_NAMES: tuple[str, ...] = tuple(dict.fromkeys(name for rule in RULES for name in rule.mending))
"""The ids that findings have."""


def lint(character: Character) -> list[Finding]:
    """Everything all rules find, the worst first. Lengths are in metres, whatever the unit of the file is."""
    character = character.in_metres()
    found = [_told(rule, finding, character) for rule in RULES for finding in rule.find(character)]
    return sorted(found, key=lambda finding: SEVERITIES.index(finding.severity))


def _told(rule: LintRule, finding: Finding, character: Character) -> Finding:
    if rule.find is whole.import_report:  # it knows which lines are about what was put right
        return finding
    mending = rule.mending[finding.rule]
    if mending.repair is None:
        return finding
    return replace(finding, mended=not mending.declines or bool(mending.repair(character, [finding])[1]))


class Mended(NamedTuple):
    """A character after `mend`, and what was done: lines of the kind `repaired`. Other lines are what is left to a
    person, the worst first, each with the reason."""

    character: Character
    report: Report


def mend(character: Character, *, skip: str | Iterable[str] = ()) -> Mended:
    """Does what `marrow check` lists and what is safe: weights that sum to 1, missing tangents, metres, facing +Z, tracks
    that are doubled or never change, joints that nothing needs, calibration frames, seams of loops. Vertices stay where
    they were at every moment of every clip, but for what was wrong; a second time nothing is changed.

    `skip` names rules whose findings stay as they are.
    """
    _validate.instance("mend", "character", character, Character)
    left_alone = _names(skip)
    report = ReportBuilder()
    if character.unit != 1 and "units" not in left_alone:
        report.add("repaired", "file", f"its unit of {character.unit:g} m was made metres [units]")
        character = character.in_metres()
    for rule in RULES:
        found: list[Finding] | None = None
        for name, mending in rule.mending.items():
            if mending.repair is None or name in left_alone:
                continue
            found = list(rule.find(character)) if found is None else found
            same = [finding for finding in found if finding.rule == name]
            if same:
                character, done = mending.repair(character, same)
                for place, words in done:
                    report.add("repaired", place, f"{words} [{name}]")
    for finding, reason in _left(character, left_alone):
        kind = "info" if finding.severity == "info" else "warning"
        report.add(kind, finding.place, f"{finding.message} [{finding.rule}]: {reason}")  # type: ignore[arg-type]
    return Mended(character, report.build())


def _left(character: Character, skip: set[str]) -> list[tuple[Finding, str]]:
    """What is still found, and why it was left. What the importer says and needs nothing done is not among it."""
    out = []
    for rule in RULES:
        for finding in rule.find(character):
            if finding.rule == "import" and finding.severity == "info":
                continue
            reason = "it was to be skipped" if finding.rule in skip else rule.mending[finding.rule].reason
            out.append((finding, reason))
    return sorted(out, key=lambda each: SEVERITIES.index(each[0].severity))


def _names(skip: str | Iterable[str]) -> set[str]:
    if not isinstance(skip, Iterable):
        raise WrongTypeError(f"mend: skip: expected names of rules, got {_validate.shown(skip)}")
    names = [skip] if isinstance(skip, str) else list(skip)
    for name in names:
        if name not in RULE_NAMES:
            raise UnknownNameError("rule", name, RULE_NAMES)
    return set(names)
