"""What motion capture brings with it: other units, a calibration pose, a take without a name."""

from __future__ import annotations

from pathlib import Path

from marrow.model import Character

__all__ = ["named_take", "without_surprises"]

IN_METRES = ("glTF", "USD")
"""Formats whose lengths are metres."""


def without_surprises(
    character: Character, source: str, calibration: str | None, format_name: str = ""
) -> tuple[Character, list[str]]:
    """The character without calibration poses where `calibration` is "drop", and lines about what is not as one expects:
    its unit, a size that no person has, and calibration poses that nobody decided about (None)."""
    lines = [f"{source}: {words}" for words in _about_size(character, format_name)]
    if calibration == "keep" or not character.clips:
        return character, lines
    from marrow.motion.calibration import calibration_frames, cut_calibration

    if calibration == "drop":
        cut = [cut_calibration(clip) for clip in character.clips.values()]
        told = [f"{source}: clip {clip.name!r}: {words}" for clip, words in cut if words]
        return (character.replace(clips=tuple(c for c, _ in cut)) if told else character), lines + told
    for clip in character.clips.values():
        if frames := calibration_frames(clip):
            what = "frame is" if frames == 1 else f"{frames} frames are"
            lines.append(
                f"{source}: clip {clip.name!r}: the first {what} a calibration pose that the body jumps out of; "
                "--calibration drop leaves it out (--calibration keep: no note)"
            )
    return character, lines


def _about_size(character: Character, format_name: str) -> list[str]:
    from marrow.motion.rig import find_rig
    from marrow.motion.sizes import height_of, unit_of, wrong_unit

    unit = character.unit
    if unit != 1:
        height, metric = height_of(character.skeleton), format_name in IN_METRES
        words = f"a unit is {unit:.4g} m, told by the size of the body, and numbers are written as they are"
        if metric and height:
            words += f": in {format_name} it is {height:.3g} m tall"
        elif metric:
            words += f", which {format_name} takes for metres"
        return [f"{words}; --units metres makes metres"]
    if find_rig(character.skeleton).kind != "humanoid" or unit_of(character.skeleton) in (None, 1.0):
        return []
    height = height_of(character.skeleton)
    words = "its size is not a person's" + (f": {height:.3g} m tall" if height else "")
    known = wrong_unit(character.skeleton)
    if known is None:
        return [f"{words}; --scale makes another size"]
    return [f"{words}; --scale {known:g} makes it {height * known:.3g} m" if height else words]


def named_take(character: Character, source: str) -> Character:
    """A take that its file cannot name (BVH) under the name of the file."""
    if Path(source).suffix.lower() != ".bvh" or "clip_0" not in character.clips:
        return character
    from marrow.io.clips import free_name
    from marrow.printing import as_text

    name = free_name(as_text(Path(source).stem), set(character.clips) - {"clip_0"})
    clips = [c.replace(name=name) if c.name == "clip_0" else c for c in character.clips.values()]
    return character.replace(clips=tuple(clips))
