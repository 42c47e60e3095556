"""`RetargetProfile`: what retargeting is to know of a character, as a file that lies beside it.

A profile says which joints are which chain, the pose in which bodies are compared, and how motion goes onto the character:
chain by chain (FK, IK, stretch, poles, pins), for root, feet, hands and face, and otherwise for single clips. It is JSON
that people edit; every field may be left out.
"""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta

from marrow.errors import ValidationError, WrongTypeError, file_error, told_at_the_call
from marrow.model import Character
from marrow.model._asset import Replaceable
from marrow.model._validate import shown
from marrow.motion.bone_map import RetargetError
from marrow.motion.contact_weights import ContactWeights

__all__ = [
    "ENDING", "ChainProfile", "ClipProfile", "ContactProfile", "GivenProfile", "RetargetPose", "RetargetProfile",
    "as_profile", "profile_file",
]  # fmt: skip

FORMAT, VERSION, ENDING = "marrow retarget profile", 1, ".retarget.json"
MOST_BYTES = 1 << 20
Share = Annotated[float, Meta(ge=0, le=1)]
Degrees = Annotated[float, Meta(ge=-180, le=180)]
RootMode = Literal["travel", "in place", "hips to root"]


class _Part(
    msgspec.Struct, Replaceable, frozen=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True
):
    """A part of a profile: data that compares and prints; every field is of its kind."""

    def __post_init__(self) -> None:
        for info in msgspec.structs.fields(type(self)):
            value = getattr(self, info.name)
            try:
                made = msgspec.convert(_plain(value), info.type)
            except (ValueError, TypeError, AttributeError, RecursionError) as error:
                message, _, where = str(error).partition(" - at `$")
                place = f"{type(self).__name__}.{info.name}{where.rstrip('`')}"
                raise ValidationError(f"{place}: {message}, got {shown(value)}") from None
            if made is not value:
                msgspec.structs.force_setattr(self, info.name, made)


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


class ChainProfile(_Part, frozen=True):
    """How motion goes onto one chain; what is None is as it always was.

    - `joints`: its joints from the body outwards, instead of those that are found; none at all: there is no such chain
    - `fk`: how much of the source's turning it takes, from 0 (it stays as it rests) to 1
    - `ik`: how far the end of an arm or a leg goes to where the source's is, 0 to 1
    - `stretch`: how much longer its bones may become where `ik` or `pin` needs it; 0.05 is 5 %
    - `pole_degrees`: how far elbow or knee is turned about the line from shoulder to hand, or from hip to foot: outwards
      where it is positive
    - `pin`: a joint that its end stays with, as both rest: the hand at the handle of a weapon
    """

    joints: tuple[str, ...] | None = None
    fk: Share | None = None
    ik: Share | None = None
    stretch: Share | None = None
    pole_degrees: Degrees | None = None
    pin: str | None = None

    def over(self, other: ChainProfile) -> ChainProfile:
        """This one, with what it leaves out as in another."""
        said = {name: value for name in self.__struct_fields__ if (value := getattr(self, name)) is not None}
        return other.replace(**said)

    @property
    def moves(self) -> bool:
        """Whether the chain moves otherwise than it always did."""
        return self.fk not in (None, 1) or bool(self.ik or self.pole_degrees or self.pin)


class RetargetPose(_Part, frozen=True):
    """The pose in which the character is compared with others: that of rest, the pose its mesh was bound in (`of="bind"`),
    or a moment of one of its clips; then `turns_degrees`, by joint: about the x, y and z axes of the character, in this
    order, with all that hangs from the joint."""

    of: Literal["rest", "bind"] = "rest"
    clip: str | None = None
    time: Annotated[float, Meta(ge=0)] = 0.0
    turns_degrees: dict[str, tuple[Degrees, Degrees, Degrees]] = {}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.clip is None and self.time:
            raise ValidationError("RetargetPose.time: is a moment of a clip: name the clip")
        if self.clip is not None and self.of != "rest":
            raise ValidationError("RetargetPose: a pose is given by `of` or `clip`, not by both")


class ContactProfile(_Part, frozen=True):
    """How much of a motion's contacts is kept, from 0, not at all, to 1: `feet` that stand; `hands` that meet, touch the
    body or lean on the ground; `body`, which does not sink into the ground with trunk, head and knees."""

    feet: Share = 1.0
    hands: Share = 1.0
    body: Share = 1.0

    @property
    def weights(self) -> ContactWeights:
        return ContactWeights(self.feet, self.hands, self.body)


class ClipProfile(_Part, frozen=True):
    """What is otherwise for some clips; what is None is as for all."""

    root: RootMode | None = None
    contacts: bool | Literal["auto"] | None = None
    hands: bool | Literal["auto"] | None = None
    contact_weights: ContactProfile | None = None
    chains: dict[str, ChainProfile] = {}

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, chain in self.chains.items():
            if chain.joints is not None:
                raise ValidationError(f"ClipProfile.chains.{name}.joints: joints are the same for all clips")


class RetargetProfile(_Part, frozen=True):
    """How motion goes onto a character, and from it: see `mw.retarget_profile`.

    - `pose`: the pose in which it is compared with other bodies; None: what is found
    - `chains`: by the names that bone maps have (`hips`, `spine`, `head`, `left_arm`, `left_leg`, `left_index`, ...); other
      names, such as `tail`, pair chains that both profiles name
    - `root`: the motion travels (`"travel"`), stays where it begins (`"in place"`), or its way over the ground goes from
      the hips to the root joint (`"hips to root"`)
    - `contacts`, `hands`, `scale`: as in `mw.retarget`, which overrules them
    - `contact_weights`: how much of the contacts of feet, hands and body is kept
    - `morphs`: names of morphs of other faces and what they are called here
    - `clips`: what is otherwise for clips of a name; `*` and `?` stand for anything, and the last that fits counts
    """

    pose: RetargetPose | None = None
    chains: dict[str, ChainProfile] = {}
    root: RootMode = "travel"
    contacts: bool | Literal["auto"] = "auto"
    hands: bool | Literal["auto"] = "auto"
    contact_weights: ContactProfile | None = None
    scale: Annotated[float, Meta(gt=0, le=1e9)] | None = None
    morphs: dict[str, str] = {}
    clips: dict[str, ClipProfile] = {}

    # -- what it says ---------------------------------------------------------------------------------------------
    def for_clip(self, name: str) -> RetargetProfile:
        """The profile as it is for a clip: what `clips` says of it put in."""
        out = self
        for pattern, other in self.clips.items():
            if not fnmatchcase(name, pattern):
                continue
            said = {
                field: value
                for field in ("root", "contacts", "hands", "contact_weights")
                if (value := getattr(other, field)) is not None
            }
            chains = {n: c.over(out.chains.get(n, ChainProfile())) for n, c in other.chains.items()}
            out = out.replace(**said, chains={**out.chains, **chains})
        return out.replace(clips={}) if self.clips else out

    @property
    def moves(self) -> bool:
        """Whether it asks for other turns than those of the source, of any clip: then no copy is exact."""
        chains = [*self.chains.values(), *(c for other in self.clips.values() for c in other.chains.values())]
        return self.pose is not None or self.scale is not None or any(c.moves for c in chains)

    # -- files ----------------------------------------------------------------------------------------------------
    def to_json(self) -> str:
        """The profile as text, to be edited and read back by `from_json`."""
        plain = {"format": FORMAT, "version": VERSION, **msgspec.to_builtins(self)}
        return msgspec.json.format(msgspec.json.encode(plain), indent=2).decode()

    @classmethod
    def from_json(cls, text: str | bytes, *, place: str = "the profile") -> RetargetProfile:
        """A profile from text that `to_json` wrote and a person may have changed."""
        try:
            data = msgspec.json.decode(
                text.encode() if isinstance(text, str) else text.removeprefix(b"\xef\xbb\xbf")
            )
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise RetargetError(f"{place}: is not JSON: {error}") from None
        return cls.from_data(data, place=place)

    @classmethod
    def from_data(cls, data: Any, *, place: str = "the profile") -> RetargetProfile:
        """A profile from what its JSON holds."""
        if not isinstance(data, Mapping) or data.get("format") != FORMAT:
            raise RetargetError(f'{place}: is no retarget profile; it must have "format": "{FORMAT}"')
        if data.get("version") != VERSION or isinstance(data.get("version"), bool):
            raise RetargetError(
                f"{place}: version {data.get('version')!r} is not known here; {VERSION} is: save it anew, or update marrow"
            )
        plain = {key: value for key, value in data.items() if key not in ("format", "version")}
        try:
            return msgspec.convert(plain, cls)
        except (msgspec.ValidationError, RecursionError) as error:
            message, _, where = str(error).partition(" - at `$")
            raise RetargetError(f"{place}: {_named(plain, where, cls) or 'profile'}: {message}") from None

    @told_at_the_call
    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes `to_json` to a file, which takes its place when it is whole."""
        target = Path(path)
        part = target.with_name(f".{target.name}.part")
        try:
            part.write_bytes(f"{self.to_json()}\n".encode())
            part.replace(target)
        except OSError as error:
            raise file_error(error, "cannot be written", path) from None
        except UnicodeEncodeError:
            raise RetargetError(f"{path}: the name of a joint is no text that a file can hold") from None

    @classmethod
    @told_at_the_call
    def load(cls, path: str | os.PathLike[str]) -> RetargetProfile:
        """Reads what `save` wrote."""
        try:
            with open(path, "rb") as file:
                data = file.read(MOST_BYTES + 1)
        except OSError as error:
            raise file_error(error, "cannot be read", path) from None
        except ValueError as error:
            raise RetargetError(f"{path!r}: cannot be read: {error}") from None
        if len(data) > MOST_BYTES:
            raise RetargetError(f"{path}: is larger than 1 MiB: that is no retarget profile")
        return cls.from_json(data, place=str(path))


def _named(plain: Mapping[str, Any], where: str, kind: type) -> str:
    """A place that was refused, with the names of chains, clips and joints that `[...]` stands for."""
    tokens = re.findall(r"\[\.\.\.\]|\[\d+\]|[^.\[\]`]+", where)
    node = data = copy.deepcopy(plain)
    out = ""
    for token in tokens:
        key: Any = int(token[1:-1]) if token[1:-1].isdigit() and token[0] == "[" else token
        if token == "[...]":
            key = _refused(data, node, kind)
        out += token if isinstance(key, int) else f".{key}"
        node = node[key]
    return out.strip(".")


def _refused(data: Mapping[str, Any], node: dict[str, Any], kind: type) -> str:
    """Which entry of a part of some data is refused; it stays alone."""
    entries = dict(node)
    for key, value in entries.items():
        node.clear()
        node[key] = value
        try:
            msgspec.convert(data, kind)
        except msgspec.ValidationError:
            return key
    return "..."


GivenProfile = RetargetProfile | Mapping[str, Any] | str | os.PathLike[str] | None


def profile_file(character: str | os.PathLike[str]) -> Path:
    """Where the profile of a character's file lies: `hero.retarget.json` beside `hero.glb`."""
    path = Path(character)
    return path.with_name(path.stem + ENDING)


def as_profile(given: GivenProfile, body: object) -> tuple[RetargetProfile | None, str]:
    """A profile as it was given (as such, as plain data, as the path of a file; `"auto"`: what lies beside the file that
    `body` was loaded from; None: none), and where it comes from."""
    if given is None:
        return None, ""
    if isinstance(given, RetargetProfile):
        return given, "the profile"
    if isinstance(given, str) and given == "auto":
        file = _beside(body)
        return (None, "") if file is None else (RetargetProfile.load(file), file.name)
    if isinstance(given, Mapping):
        return RetargetProfile.from_data(given), "the profile"
    if not isinstance(given, (str, os.PathLike)):
        raise WrongTypeError(
            f"profile: expected a RetargetProfile, a dictionary, a path, 'auto' or None, got {type(given).__name__}"
        )
    return RetargetProfile.load(given), str(given)


def _beside(body: object) -> Path | None:
    if not isinstance(body, Character) or not body.source or "://" in body.source:
        return None
    try:
        file = profile_file(body.source)
        return file if file.is_file() else None
    except (OSError, ValueError):
        return None
