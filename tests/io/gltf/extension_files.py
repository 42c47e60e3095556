"""One small file for every KHR and EXT extension, and what becomes of it: the table of docs/gltf.md is made here.

python tests/io/gltf/extension_files.py      writes the table anew
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np
from maker import Maker, load, one_triangle

import marrow as mw
from marrow.errors import FormatError

PAGE = Path(__file__).resolve().parents[3] / "docs/gltf.md"
BEGIN, END = "<!-- extensions -->\n", "<!-- /extensions -->\n"
BODIES: dict[str, dict[str, Any]] = {
    "KHR_materials_anisotropy": {"anisotropyStrength": 0.5},
    "KHR_materials_clearcoat": {"clearcoatFactor": 0.5},
    "KHR_materials_diffuse_transmission": {"diffuseTransmissionFactor": 0.5},
    "KHR_materials_dispersion": {"dispersion": 0.5},
    "KHR_materials_emissive_strength": {"emissiveStrength": 2.0},
    "KHR_materials_ior": {"ior": 1.4},
    "KHR_materials_iridescence": {"iridescenceFactor": 0.5},
    "KHR_materials_pbrSpecularGlossiness": {"glossinessFactor": 0.5},
    "KHR_materials_sheen": {"sheenColorFactor": [0.5, 0.5, 0.5]},
    "KHR_materials_specular": {"specularFactor": 0.5},
    "KHR_materials_transmission": {"transmissionFactor": 0.5},
    "KHR_materials_unlit": {},
    "KHR_materials_volume": {"thicknessFactor": 0.5},
    "KHR_materials_volume_scatter": {"multiscatterColor": [0.5, 0.5, 0.5]},
}
NODES: dict[str, Any] = {
    "KHR_node_hoverability": {"hoverable": False},
    "KHR_node_selectability": {"selectable": False},
    "KHR_node_visibility": {"visible": False},
}


def on(kind: str, index: int, name: str, body: Any, root: Any = None) -> Callable[[Maker], None]:
    """An extension on an object of a file, and on the file itself where `root` is given."""

    def put(maker: Maker) -> None:
        maker.document[kind][index].setdefault("extensions", {})[name] = body
        if root is not None:
            maker.document.setdefault("extensions", {})[name] = root

    return put


def _audio(maker: Maker) -> None:
    view = maker.view(b"sound!!!")
    maker.document["extensions"] = {
        "KHR_audio_emitter": {
            "audio": [{"mimeType": "audio/mpeg", "bufferView": view}],
            "sources": [{"audio": 0, "autoPlay": True}],
            "emitters": [{"type": "positional", "sources": [0]}],
        }
    }
    maker.document["nodes"][0]["extensions"] = {"KHR_audio_emitter": {"emitter": 0}}


def _metadata(maker: Maker) -> None:
    table = {"class": "c", "count": 2, "properties": {"height": {"values": maker.view(b"\0\1\2\3\4\5\6\7")}}}
    schema = {"classes": {"c": {"properties": {"height": {"type": "SCALAR", "componentType": "FLOAT32"}}}}}
    maker.document["extensions"] = {"EXT_structural_metadata": {"schema": schema, "propertyTables": [table]}}


def _physics(maker: Maker) -> None:
    on(
        "nodes",
        0,
        "KHR_physics_rigid_bodies",
        {"collider": {"geometry": {"shape": 0, "node": 0}}},
        {"physicsMaterials": []},
    )(maker)


def _image_light(maker: Maker) -> None:
    maker.add("images", {"uri": "data:image/png;base64,", "mimeType": "image/png"})
    light = {"irradianceCoefficients": [[0.0] * 3] * 9, "specularImages": [[0] * 6], "specularImageSize": 1}
    on("scenes", 0, "EXT_lights_image_based", {"light": 0}, {"lights": [light]})(maker)


def _pointer(maker: Maker) -> None:
    times, values = maker.accessor([[0.0], [1.0]], min=[0.0], max=[1.0]), maker.accessor([[0.0], [1.0]])
    target = {
        "path": "pointer",
        "extensions": {
            "KHR_animation_pointer": {"pointer": "/materials/0/pbrMetallicRoughness/roughnessFactor"}
        },
    }
    sampler = {"input": times, "output": values}
    maker.add("animations", {"channels": [{"sampler": 0, "target": target}], "samplers": [sampler]})


def _texture(name: str) -> Callable[[Maker], None]:
    def put(maker: Maker) -> None:
        maker.add("images", {"uri": "data:image/png;base64,iVBORw0KGgo=", "mimeType": "image/png"})
        maker.add("textures", {"extensions": {name: {"source": 0}}})
        maker.document["materials"][0]["pbrMetallicRoughness"] = {"baseColorTexture": {"index": 0}}

    return put


def _transform(name: str, body: Any) -> Callable[[Maker], None]:
    def put(maker: Maker) -> None:
        maker.add("images", {"uri": "data:image/png;base64,iVBORw0KGgo=", "mimeType": "image/png"})
        maker.add("textures", {"source": 0})
        info = {"index": 0, "extensions": {name: body}}
        maker.document["materials"][0]["pbrMetallicRoughness"] = {"baseColorTexture": info}

    return put


def _primitive(name: str, body: Any, root: Any = None) -> Callable[[Maker], None]:
    def put(maker: Maker) -> None:
        maker.document["meshes"][0]["primitives"][0].setdefault("extensions", {})[name] = body
        if root is not None:
            maker.document["extensions"] = {name: root}

    return put


def _splats(maker: Maker) -> None:
    primitive = maker.document["meshes"][0]["primitives"][0]
    primitive["mode"] = 0
    primitive["attributes"]["KHR_gaussian_splatting:ROTATION"] = maker.accessor([[0, 0, 0, 1]] * 3)
    primitive["extensions"] = {
        "KHR_gaussian_splatting": {"kernel": "ellipse", "colorSpace": "srgb_rec709_display"}
    }


def _instancing(maker: Maker) -> None:
    places = maker.accessor([[0, 0, 0], [1, 0, 0]])
    on("nodes", 0, "EXT_mesh_gpu_instancing", {"attributes": {"TRANSLATION": places}})(maker)


def _quantized(maker: Maker) -> None:
    primitive = maker.document["meshes"][0]["primitives"][0]
    primitive["attributes"]["POSITION"] = maker.accessor([[0, 0, 0], [127, 0, 0], [0, 127, 0]], np.int8)


def _manifold(maker: Maker) -> None:
    on(
        "meshes",
        0,
        "EXT_mesh_manifold",
        {"manifoldPrimitive": {"indices": maker.indices([0, 1, 2]), "mode": 4}},
    )(maker)


def _light(maker: Maker) -> None:
    on("nodes", 0, "KHR_lights_punctual", {"light": 0}, {"lights": [{"type": "point", "intensity": 3.0}]})(
        maker
    )


FILES: dict[str, Callable[[Maker], None]] = {
    **{name: on("materials", 0, name, body) for name, body in BODIES.items()},
    **{name: on("nodes", 0, name, body) for name, body in NODES.items()},
    "KHR_animation_pointer": _pointer,
    "KHR_audio_emitter": _audio,
    "KHR_gaussian_splatting": _splats,
    "KHR_implicit_shapes": lambda m: m.document.update(
        extensions={"KHR_implicit_shapes": {"shapes": [{"type": "sphere", "sphere": {"radius": 1.0}}]}}
    ),
    "KHR_interactivity": lambda m: m.document.update(
        extensions={"KHR_interactivity": {"graphs": [{"nodes": [], "value": "/nodes/0/translation"}]}}
    ),
    "KHR_lights_punctual": _light,
    "KHR_materials_variants": lambda m: m.document.update(
        extensions={"KHR_materials_variants": {"variants": [{"name": "day"}]}}
    ),
    "KHR_mesh_quantization": _quantized,
    "KHR_physics_rigid_bodies": _physics,
    "KHR_techniques_webgl": lambda m: m.document.update(
        extensions={"KHR_techniques_webgl": {"programs": [], "shaders": [], "techniques": []}}
    ),
    "KHR_texture_basisu": _texture("KHR_texture_basisu"),
    "KHR_texture_transform": _transform("KHR_texture_transform", {"offset": [0.5, 0.0]}),
    "KHR_xmp": lambda m: m.document.update(extensions={"KHR_xmp": {"packets": [{"dc:title": "t"}]}}),
    "KHR_xmp_json_ld": lambda m: m.document.update(
        extensions={"KHR_xmp_json_ld": {"packets": [{"dc:title": "t"}]}}
    ),
    "EXT_instance_features": on(
        "nodes", 0, "EXT_instance_features", {"featureIds": [{"featureCount": 2, "attribute": 0}]}
    ),
    "EXT_lights_ies": on("nodes", 0, "EXT_lights_ies", {"light": 0}, {"lights": [{"uri": "lamp.ies"}]}),
    "EXT_lights_image_based": _image_light,
    "EXT_mesh_features": _primitive(
        "EXT_mesh_features", {"featureIds": [{"featureCount": 2, "attribute": 0}]}
    ),
    "EXT_mesh_gpu_instancing": _instancing,
    "EXT_mesh_manifold": _manifold,
    "EXT_mesh_primitive_edge_visibility": _primitive("EXT_mesh_primitive_edge_visibility", {"visibility": 0}),
    "EXT_mesh_primitive_restart": on("meshes", 0, "EXT_mesh_primitive_restart", {"primitiveGroups": []}),
    "EXT_structural_metadata": _metadata,
    "EXT_texture_avif": _texture("EXT_texture_avif"),
    "EXT_texture_webp": _texture("EXT_texture_webp"),
    "EXT_textureInfo_constant_lod": _transform("EXT_textureInfo_constant_lod", {"repetitions": 2}),
}
PACKED = {
    "EXT_meshopt_compression": "packs vertices and keys: `pip install 'marrow-engine[meshopt]'`",
    "KHR_meshopt_compression": "packs vertices and keys: `pip install 'marrow-engine[meshopt]'`",
    "KHR_draco_mesh_compression": "packs meshes: `pip install 'marrow-engine[draco]'`",
}
"""Used where their package is installed; tests/io/gltf/test_gltf_packing.py holds them."""


def file_with(name: str, *, required: bool = False) -> bytes:
    """A small file with an extension."""
    maker = one_triangle(NORMAL=[[0, 0, 1]] * 3, _FEATURE_ID_0=[[0], [1], [1]])
    maker.document["meshes"][0]["primitives"][0]["material"] = 0
    maker.document["materials"] = [{"name": "paint"}]
    FILES[name](maker)
    maker.document["extensionsUsed"] = [name]
    if required:
        maker.document["extensionsRequired"] = [name]
    return maker.glb()


def document_of(glb: bytes) -> Any:
    """The JSON of a GLB."""
    return json.loads(glb[20 : 20 + int.from_bytes(glb[12:16], "little")])


def found_in(value: Any, name: str, into: list[Any]) -> list[Any]:
    """All that an extension says anywhere in a document."""
    for key, inner in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        if key == name:
            into.append(inner)
        found_in(inner, name, into)
    return into


def fate(name: str) -> tuple[str, str, bytes]:
    """What becomes of an extension, what becomes of a file that requires it, and the file that is written."""
    character = load(file_with(name))
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mw.save(character, Path(folder) / "again.glb")
        again = (Path(folder) / "again.glb").read_bytes()
    told = [line for line in character.report if name in line.message]
    written = found_in(document_of(again), name, [])
    if any(line.kind == "dropped" for line in told):
        what = "dropped with a line"
    elif told and all("kept for other programs" in line.message for line in told):
        what = "kept" if written else "lost"
    else:
        what = "used"
    try:
        load(file_with(name, required=True))
        required = "read"
    except FormatError as error:
        if name not in str(error):
            raise
        required = "refused"
    return what, required, again


def table() -> str:
    """The rows of docs/gltf.md."""
    rows = {name: fate(name)[:2] for name in FILES}
    rows |= dict.fromkeys(PACKED, ("used", "read"))
    lines = ["| extension | in a file | where the file requires it |", "| --- | --- | --- |"]
    for name in sorted(rows):
        what, required = rows[name]
        more = f" ({PACKED[name]})" if name in PACKED else ""
        lines.append(f"| `{name}` | {what}{more} | {required} |")
    return "\n".join(lines) + "\n"


def on_the_page() -> str:
    """The rows as docs/gltf.md has them."""
    found = re.search(re.escape(BEGIN) + "(.*?)" + re.escape(END), PAGE.read_text(), re.DOTALL)
    return found[1] if found else ""


if __name__ == "__main__":
    page = PAGE.read_text()
    PAGE.write_text(page.replace(BEGIN + on_the_page() + END, BEGIN + table() + END))
