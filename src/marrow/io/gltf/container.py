"""From the bytes of a `.glb` or `.gltf` to its checked JSON document and binary chunk."""

from __future__ import annotations

import re
import struct
from typing import Any

import msgspec

from marrow.errors import FormatError
from marrow.io.gltf import limits
from marrow.io.gltf.schema import Document
from marrow.report import ReportBuilder

__all__ = ["parse"]

MAGIC = b"glTF"
JSON_CHUNK, BIN_CHUNK = 0x4E4F534A, 0x004E4942

# Understood in full, or safe to ignore because they change nothing marrow keeps.
SUPPORTED = {
    "EXT_meshopt_compression",
    "EXT_texture_avif",
    "EXT_mesh_gpu_instancing",
    "EXT_texture_webp",
    "KHR_animation_pointer",
    "KHR_draco_mesh_compression",
    "KHR_lights_punctual",
    "KHR_materials_emissive_strength",
    "KHR_materials_pbrSpecularGlossiness",
    "KHR_materials_unlit",
    "KHR_materials_variants",
    "KHR_mesh_quantization",
    "KHR_meshopt_compression",
    "KHR_node_visibility",
    "MSFT_lod",
    "KHR_texture_basisu",
    "KHR_texture_transform",
    "VRM",
    "VRMC_node_constraint",
    "VRMC_springBone",
    "VRMC_springBone_extended_collider",
    "VRMC_vrm",
    "VRMC_vrm_animation",
}
# Not used; files that require them have all the geometry and motion without.
HARMLESS = {
    "EXT_mesh_features",
    "EXT_structural_metadata",
    "KHR_audio_emitter",
    "KHR_implicit_shapes",
    "KHR_interactivity",
    "KHR_node_hoverability",
    "KHR_node_selectability",
    "KHR_physics_rigid_bodies",
    "KHR_xmp",
    "KHR_xmp_json_ld",
}
# Mending numbers one by one is slow, and only small exporters need it.
MAX_LOOSE_VALUES = 200_000

_decoder = msgspec.json.Decoder(Document)


def parse(
    data: bytes | memoryview, path: object, report: ReportBuilder
) -> tuple[Document, memoryview | None]:
    """The document of a file and the binary chunk of a GLB."""
    view = memoryview(data)
    if bytes(view[:4]) == MAGIC:
        text, chunk = _split_glb(view, path, report)
    else:
        text, chunk = view[3:] if bytes(view[:3]) == b"\xef\xbb\xbf" else view, None
    document = _decode(text, path, report)
    _check_version(document, path)
    _check_extensions(document, path)
    return document, chunk


def _split_glb(view: memoryview, path: object, report: ReportBuilder) -> tuple[memoryview, memoryview | None]:
    if len(view) < 20:
        raise FormatError(f"is cut off: a GLB starts with 20 bytes, this has {len(view)}", path=path)
    version, length = struct.unpack_from("<II", view, 4)
    if version != 2:
        raise FormatError(f"is GLB version {version}; marrow reads version 2", path=path)
    if length > len(view):
        raise FormatError(f"is cut off: it says it has {length} bytes, there are {len(view)}", path=path)
    if length < len(view):
        report.add("warning", "", f"{len(view) - length} bytes after the end of the GLB were not read")
    text: memoryview | None = None
    chunk: memoryview | None = None
    offset = 12
    while offset + 8 <= length:
        size, kind = struct.unpack_from("<II", view, offset)
        start, end = offset + 8, offset + 8 + size
        if end > length:
            raise FormatError(
                f"a chunk of {size} bytes reaches past the end", path=path, place=f"byte {offset}"
            )
        if text is None:
            if kind != JSON_CHUNK:
                raise FormatError("the first chunk is not JSON", path=path, place=f"byte {offset}")
            text = view[start:end]
        elif kind == BIN_CHUNK and chunk is None:
            chunk = view[start:end]
        offset = end + (-end % 4)
    if text is None:
        raise FormatError("has no JSON chunk", path=path)
    return text, chunk


def _decode(text: memoryview, path: object, report: ReportBuilder) -> Document:
    raw = bytes(text)
    limits.limit(len(raw), limits.MAX_JSON_BYTES, "bytes of JSON", path)
    # Brackets and commas bound what decoding allocates. No text has more of them than letters.
    if len(raw) > min(limits.MAX_JSON_OBJECTS, limits.MAX_JSON_VALUES):
        brackets = raw.count(b"{") + raw.count(b"[")
        limits.limit(brackets, limits.MAX_JSON_OBJECTS, "JSON objects and arrays", path)
        limits.limit(raw.count(b","), limits.MAX_JSON_VALUES, "JSON values", path)
    # Padding is spaces by the standard and zero bytes in files of some exporters.
    raw = raw.rstrip(b"\0 \t\r\n")
    try:
        return _decoded(raw, path)
    except UnicodeDecodeError:
        report.add("repaired", "", "its text is not UTF-8; letters that could not be read were replaced")
        return _decoded(raw.decode("utf-8", "replace").encode(), path)


def _decoded(raw: bytes, path: object) -> Document:
    try:
        return _decoder.decode(raw)
    except RecursionError:
        raise FormatError("its JSON is nested too deeply", path=path) from None
    except msgspec.ValidationError as error:
        return _decode_loosely(raw, str(error), path)
    except msgspec.DecodeError as error:
        raise FormatError(f"is not glTF: {error}", path=path) from None


def _decode_loosely(raw: bytes, problem: str, path: object) -> Document:
    """A second try for exporters that write whole numbers as `4.0`."""
    try:
        if raw.count(b",") > MAX_LOOSE_VALUES:
            raise msgspec.ValidationError(problem)
        return msgspec.convert(_whole_numbers(msgspec.json.decode(raw)), Document)
    except RecursionError:
        raise FormatError("its JSON is nested too deeply", path=path) from None
    except msgspec.MsgspecError:
        message, _, place = problem.partition(" - at ")
        place = re.sub(r"^\$\.?", "", place.strip("`"))
        raise FormatError(_sentence(message), path=path, place=place) from None


_WORDS = {
    "array": "a list",
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "object": "an object in braces",
    "null": "nothing",
}


def _sentence(problem: str) -> str:
    """What msgspec says of a value of the wrong kind, in words."""

    def words(kinds: str) -> str:
        return " or ".join(_WORDS.get(kind.strip(), kind.strip()) for kind in kinds.split("|"))

    found = re.fullmatch(
        r"Expected `([^`]*)`(?:( >= | <= | of length )(\S+))?(?:, got `([^`]*)`)?", problem.strip()
    )
    if found:
        bound = {" >= ": " of at least ", " <= ": " of at most ", " of length ": " of length ", None: ""}[
            found[2]
        ]
        wanted = f"should be {words(found[1])}{bound}{found[3] or ''}"
        return f"{wanted}, and is {words(found[4])}" if found[4] else wanted
    missing = re.fullmatch(r"Object missing required field `([^`]*)`", problem.strip())
    if missing:
        return f"lacks {missing[1]!r}"
    return f"{problem[:1].lower()}{problem[1:]}"


def _whole_numbers(value: Any) -> Any:
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, list):
        return [_whole_numbers(v) for v in value]
    if isinstance(value, dict):
        mended = {k: _whole_numbers(v) for k, v in value.items()}
        # These two stay undecoded in the schema.
        if "extras" in mended:
            mended["extras"] = msgspec.Raw(msgspec.json.encode(mended["extras"]))
        if isinstance(mended.get("extensions"), dict):
            mended["extensions"] = {
                k: msgspec.Raw(msgspec.json.encode(v)) for k, v in mended["extensions"].items()
            }
        return mended
    return value


def _check_version(document: Document, path: object) -> None:
    asset = document.asset
    if not asset.version.startswith("2."):
        raise FormatError(
            f"is glTF {asset.version!r}; marrow reads 2.0", path=path, remedy="export it again as glTF 2.0"
        )
    if asset.minVersion not in (None, "2.0"):
        raise FormatError(f"needs a reader of glTF {asset.minVersion!r}; marrow reads 2.0", path=path)


def _check_extensions(document: Document, path: object) -> None:
    known = SUPPORTED | HARMLESS
    unknown = [e for e in document.extensionsRequired if e not in known and not _is_only_looks(e)]
    if unknown:
        names = ", ".join(unknown)
        raise FormatError(
            f"requires {names}, which marrow does not understand",
            path=path,
            place="extensionsRequired",
            remedy="export it without",
        )
    limits.limit(len(document.extensionsUsed), limits.MAX_LISTED, "extensions", path)


def _is_only_looks(extension: str) -> bool:
    """Whether an extension concerns materials, textures and lights alone."""
    words = extension.partition("_")[2].split("_")
    return words[0] in ("materials", "material", "texture", "textures", "lights", "packing")
