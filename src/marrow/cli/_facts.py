"""What `marrow info` knows of a character, as plain data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.lint.rest_bounds import rest_box
from marrow.model import Character, Clip, Material, Mesh

__all__ = ["facts_of", "format_of", "levels_of"]

Array = NDArray[Any]


def facts_of(character: Character, file: str | Path) -> dict[str, Any]:
    """Everything `marrow info --json` prints of one file."""
    skeleton = character.skeleton
    box = rest_box(character.in_metres())
    path = Path(file)
    return {
        "file": str(file),
        "format": format_of(path),
        "bytes": path.stat().st_size if path.is_file() else None,
        "name": character.name,
        "size": None if box is None else _size(*box),
        "unit": character.unit,
        "facing": _facing(character),
        "skeleton": {
            "joints": len(skeleton),
            "depth": int(skeleton.depth.max(initial=0)),
            "names": list(skeleton.names),
            "parents": skeleton.parents.tolist(),
            "morphs": list(skeleton.morph_names),
            "sockets": [{"name": s.name, "joint": skeleton.names[s.joint]} for s in skeleton.sockets],
        },
        "vertices": character.vertex_count,
        "triangles": character.triangle_count,
        "avatar": _avatar(character),
        "variants": list(character.variants),
        "cameras": [c.name for c in character.cameras],
        "lights": [light.name for light in character.lights],
        "meshes": _meshes(character),
        "levels": levels_of(character),
        "materials": [_material(material, character) for material in character.materials],
        "images": [
            {"name": i.name, "media_type": i.media_type, "bytes": len(i.data)} for i in character.images
        ],
        "clips": [_clip(clip) for clip in character.clips.values()],
        "report": [{"kind": l.kind, "place": l.place, "message": l.message} for l in character.report],
    }


def _facing(character: Character) -> dict[str, Any]:
    """Where it looks, and what told that."""
    from marrow.motion.facing import axis_name

    direction, told = character.facing, character.facing_told
    if direction is None:
        return {"direction": None, "axis": None, "told": told}
    return {"direction": direction.tolist(), "axis": axis_name(direction), "told": told}


def _avatar(character: Character) -> dict[str, Any] | None:
    """What a VRM says of itself; None for any other file."""
    if not character.vrm:
        return None
    meta = character.vrm.get("meta")
    meta = meta if isinstance(meta, dict) else {}
    return {
        "version": character.vrm.get("version"),
        "name": meta.get("name"),
        "authors": meta.get("authors"),
        "license": meta.get("otherLicenseUrl") or meta.get("licenseUrl"),
        "bones": len(character.skeleton.bones),
        "expressions": list(character.vrm.get("expressions") or {}),
    }


def levels_of(character: Character) -> list[dict[str, Any]]:
    """The figures of every level of detail, errors in metres; level 0 is the character itself."""
    figures = (
        "triangles",
        "vertices",
        "joints",
        "influences",
        "sections",
        "error",
        "mean_error",
        "relative_error",
    )
    return [
        {"level": k, **{name: getattr(lod, name) for name in (*figures, "screen_size", "hysteresis")}}
        for k, lod in enumerate([character.lod, *(level.lod for level in character.reduced)])
    ]


def _size(low: Array, high: Array) -> dict[str, list[float]]:
    return {"min": low.tolist(), "max": high.tolist(), "extent": (high - low).tolist()}


def format_of(path: Path) -> str:
    """The name of a file's format; `sample` for a built-in character."""
    if not path.is_file():
        return "sample"
    from marrow.io import registry

    with path.open("rb") as file:
        head = file.read(1 << 16)
    return registry.identify(head, path).name


def _meshes(character: Character) -> list[dict[str, Any]]:
    influences: dict[int, Array] = {}  # many nodes may show one mesh
    found = []
    for mesh in character.meshes:
        if id(mesh.weights) not in influences:
            counts = np.bincount(mesh.influence_counts) if mesh.vertex_count else np.zeros(0, int)
            influences[id(mesh.weights)] = counts
        found.append(_mesh(mesh, character, influences[id(mesh.weights)]))
    return found


def _mesh(mesh: Mesh, character: Character, counts: Array) -> dict[str, Any]:
    return {
        "name": mesh.name,
        "vertices": mesh.vertex_count,
        "triangles": mesh.triangle_count,
        "sections": [
            {
                "name": s.name,
                "triangles": s.count,
                "material": None if s.material is None else character.materials[s.material].name,
            }
            for s in mesh.sections
        ],
        "influences": {int(k): int(n) for k, n in enumerate(counts) if n},
        "joints": len(mesh.joint_list),
        "skinning": mesh.skinning,
        "node": character.skeleton.names[mesh.node] if mesh.node >= 0 else None,
        "morph_targets": [t.name for t in mesh.morph_targets],
        "uv_sets": len(mesh.uvs),
        "normals": mesh.normals is not None,
        "tangents": mesh.tangents is not None,
        "colors": mesh.colors is not None,
        "visible": mesh.visible,
    }


def _material(material: Material, character: Character) -> dict[str, Any]:
    return {
        "name": material.name,
        "base_color": list(material.base_color),
        "metallic": material.metallic,
        "roughness": material.roughness,
        "emissive": list(material.emissive),
        "alpha_mode": material.alpha_mode,
        "double_sided": material.double_sided,
        "unlit": material.unlit,
        "textures": {slot: character.images[t.image].name for slot, t in material.textures.items()},
    }


def _clip(clip: Clip) -> dict[str, Any]:
    table = clip.tracks.table
    return {
        "name": clip.name,
        "duration": clip.duration,
        "rate": clip.rate or _key_rate(clip),
        "tracks": len(clip.tracks),
        "keys": int(table["keys"].sum()),
        "joints": len(set(table["target"][table["path"] != 3].tolist())),
        "morphs": len(set(table["target"][table["path"] == 3].tolist())),
        "events": [{"time": e.time, "name": e.name} for e in clip.events],
        "curves": [c.name for c in clip.curves],
        "additive": clip.additive,
        "packed": None
        if clip.packed is None
        else {
            "bytes": clip.packed.nbytes,
            "ratio": clip.packed.ratio,
            "error": clip.packed.error,
            "limit": clip.packed.limit,
        },
    }


def _key_rate(clip: Clip) -> float | None:
    """What `clip.key_rate` says, without waking the animation layer, which takes as long as all the rest."""
    table, times = clip.tracks.table, clip.tracks.times.astype(np.float64)
    if not len(table):
        return None
    longest = table[int(np.argmax(table["keys"]))]
    own = times[longest["time_start"] : longest["time_start"] + longest["keys"]]
    if len(own) < 2 or own[-1] <= own[0]:
        return None
    rate = (len(own) - 1) / float(own[-1] - own[0])
    frames = times * rate
    if not 1 <= rate <= 1000 or float(np.abs(frames - np.rint(frames)).max()) > 0.02:
        return None
    return round(rate) if abs(rate - round(rate)) < 0.01 else round(rate, 3)
