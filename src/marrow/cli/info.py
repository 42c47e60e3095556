"""`marrow info`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from marrow.cli._errors import BAD_CALL, BAD_FILE, FINE, UsageError, show_error

if TYPE_CHECKING:
    from rich.tree import Tree

__all__ = ["info"]

_SHOWN, _SHOWN_DEPTH = 200, 60
_KIND_STYLE = {"info": "dim", "repaired": "yellow", "dropped": "yellow", "warning": "bold yellow"}


def info(
    files: Annotated[list[str], Parameter(negative=())],
    /,
    *,
    json: Annotated[bool, Parameter(negative=())] = False,
    show_all: Annotated[bool, Parameter(name="--all", negative=())] = False,
    allow_outside: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Show what is in a file: joints, meshes, materials, clips, and what the importer had to say.

    Parameters
    ----------
    files
        Files to look at, or names of samples.
    json
        Print a JSON list with one object per file; a file that cannot be read has an "error".
    show_all
        Show every joint, mesh, material and clip where there are many.
    allow_outside
        Let a file refer to others outside its own folder.
    """
    from marrow.cli._facts import facts_of
    from marrow.cli._files import open_character
    from marrow.errors import MarrowError

    code, found = FINE, []
    for file in files:
        try:
            facts = facts_of(open_character(file, allow_outside=allow_outside), file)
        except MarrowError as error:
            show_error(error)
            code = max(code, BAD_CALL if isinstance(error, UsageError) else BAD_FILE)
            found.append({"file": file, "error": str(error)})
            continue
        found.append(facts)
        if not json:
            _print(facts, sys.maxsize if show_all else _SHOWN)
    if json:
        from marrow.cli._output import print_json

        print_json(found)
    return code


def _print(facts: dict[str, Any], limit: int) -> None:
    from rich.text import Text
    from rich.tree import Tree

    from marrow.cli._output import bytes_text, console, shown

    facts = shown(facts)
    title = Text.assemble((facts["file"], "bold"), f"  {facts['format']}")
    if facts["bytes"] is not None:
        title.append(f", {bytes_text(facts['bytes'])}")
    if facts["size"] is not None:
        title.append(f", {' x '.join(f'{v:.3g}' for v in facts['size']['extent'])} m at rest")
    if facts["unit"] != 1:
        title.append(f", a unit of the file is {facts['unit']:.4g} m", "yellow")
    if facts["facing"]["axis"] not in (None, "+z"):
        title.append(f", looks along {facts['facing']['axis']}", "yellow")
    tree = Tree(title, guide_style="dim")
    if facts["avatar"]:
        _add_avatar(tree, facts["avatar"])
    _add_skeleton(tree, facts["skeleton"], limit)
    _add_meshes(tree, facts, limit)
    if len(facts["levels"]) > 1:
        branch = tree.add(_head("levels of detail", len(facts["levels"])))
        for level in facts["levels"]:
            branch.add(Text(_level_line(level)))
    if facts["materials"]:
        branch = tree.add(_head("materials", len(facts["materials"])))
        for material in facts["materials"][:limit]:
            branch.add(Text(_material_line(material)))
        _add_rest(branch, len(facts["materials"]), limit)
    if facts["images"]:
        branch = tree.add(_head("images", len(facts["images"])))
        for image in facts["images"][:limit]:
            branch.add(
                Text(f"{image['name'] or 'unnamed'}: {image['media_type']}, {bytes_text(image['bytes'])}")
            )
        _add_rest(branch, len(facts["images"]), limit)
    if facts["variants"]:
        tree.add(Text.assemble(_head("variants", len(facts["variants"])), f": {_listed(facts['variants'])}"))
    for kind in ("cameras", "lights"):
        if facts[kind]:
            tree.add(Text.assemble(_head(kind, len(facts[kind])), f": {_listed(facts[kind])}"))
    branch = tree.add(_head("clips", len(facts["clips"])))
    for clip in facts["clips"][:limit]:
        branch.add(Text(_clip_line(clip)))
    _add_rest(branch, len(facts["clips"]), limit)
    if facts["report"]:
        branch = tree.add(_head("report", len(facts["report"])))
        for line in facts["report"][:limit]:
            place = f"{line['place']}: " if line["place"] else ""
            branch.add(
                Text.assemble((line["kind"], _KIND_STYLE[line["kind"]]), f": {place}{line['message']}")
            )
        _add_rest(branch, len(facts["report"]), limit)
    console().print(tree)


def _head(name: str, count: int) -> Any:
    from rich.text import Text

    return Text.assemble((name, "bold cyan"), f"  {count}")


def _add_avatar(tree: Tree, avatar: dict[str, Any]) -> None:
    from rich.text import Text

    authors = avatar["authors"] if isinstance(avatar["authors"], list) else []
    named = f"{avatar['name'] or 'unnamed'} by {', '.join(map(str, authors)) or 'nobody'}"
    branch = tree.add(Text.assemble(("avatar", "bold cyan"), f"  VRM {avatar['version'] or ''}: {named}"))
    branch.add(Text(f"licence: {avatar['license'] or 'none'}"))
    branch.add(Text(f"{avatar['bones']} bones of a body"))
    if avatar["expressions"]:
        branch.add(Text(f"{len(avatar['expressions'])} expressions: {_listed(avatar['expressions'])}"))


def _add_skeleton(tree: Tree, skeleton: dict[str, Any], limit: int) -> None:
    from rich.text import Text

    names, parents = skeleton["names"], skeleton["parents"]
    branch = tree.add(_head("joints", len(names)))
    nodes: dict[int, Tree] = {}
    depth: list[int] = []
    for j, (name, parent) in enumerate(zip(names[:limit], parents)):
        depth.append(depth[parent] + 1 if parent >= 0 else 0)
        if depth[j] < _SHOWN_DEPTH:
            nodes[j] = nodes.get(parent, branch).add(Text(name))
        else:  # below one that is as far to the right as lines go: beside it, with its depth
            nodes[j] = nodes[parent]
            nodes[j].add(Text.assemble(name, (f"  {depth[j] + 1} deep", "dim")))
    _add_rest(branch, len(names), limit)
    if skeleton["morphs"]:
        tree.add(Text.assemble(_head("morphs", len(skeleton["morphs"])), f": {_listed(skeleton['morphs'])}"))
    if skeleton["sockets"]:
        branch = tree.add(_head("sockets", len(skeleton["sockets"])))
        for socket in skeleton["sockets"]:
            branch.add(Text(f"{socket['name']} on {socket['joint']}"))


def _add_rest(branch: Tree, count: int, limit: int) -> None:
    from rich.text import Text

    if count > limit:
        branch.add(Text(f"... and {count - limit:,} more (--all shows them)", "dim"))


def _add_meshes(tree: Tree, facts: dict[str, Any], limit: int) -> None:
    from rich.text import Text

    if not facts["meshes"]:
        tree.add(_head("meshes", 0))
        return
    head = _head("meshes", len(facts["meshes"]))
    head.append(f": {facts['vertices']:,} vertices, {facts['triangles']:,} triangles")
    branch = tree.add(head)
    for mesh in facts["meshes"][:limit]:
        hidden = "" if mesh["visible"] else ", hidden"
        node = branch.add(
            Text.assemble(
                (mesh["name"] or "unnamed", "bold"),
                f"  {mesh['vertices']:,} vertices, {mesh['triangles']:,} triangles{hidden}",
            )
        )
        spread = ", ".join(f"{k}: {n:,}" for k, n in mesh["influences"].items())
        node.add(
            Text(f"{mesh['joints']} joints, {mesh['skinning']} skinning; vertices by influences: {spread}")
        )
        has = [k for k in ("normals", "tangents", "colors") if mesh[k]]
        has += [f"{mesh['uv_sets']} UV set{'s' if mesh['uv_sets'] != 1 else ''}"] if mesh["uv_sets"] else []
        node.add(Text(", ".join(has) or "no normals, no UVs"))
        if mesh["morph_targets"]:
            node.add(Text(f"{len(mesh['morph_targets'])} morph targets: {_listed(mesh['morph_targets'])}"))
        for section in mesh["sections"][:limit]:
            label = f"section {section['name']}".strip()
            node.add(
                Text(f"{label}: {section['triangles']:,} triangles, material {section['material'] or 'none'}")
            )
        _add_rest(node, len(mesh["sections"]), limit)
    _add_rest(branch, len(facts["meshes"]), limit)


def _level_line(level: dict[str, Any]) -> str:
    off = "as it is" if not level["level"] else "not measured"
    if level["level"] and level["error"] is not None:
        off = (
            f"off by {1000 * level['error']:.3g} mm at worst, {1000 * level['mean_error']:.3g} mm on average"
        )
    size = (
        "" if level["screen_size"] is None else f", below {level['screen_size']:.3g} of the picture's height"
    )
    return (
        f"{level['level']}: {level['triangles']:,} triangles, {level['joints']} joints, "
        f"{level['influences']} influences, {level['sections']} sections; {off}{size}"
    )


def _listed(names: list[str], most: int = 8) -> str:
    more = f", ... ({len(names) - most} more)" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _material_line(material: dict[str, Any]) -> str:
    color = ", ".join(f"{c:.3g}" for c in material["base_color"])
    parts = [f"{material['name'] or 'unnamed'}: color ({color})"]
    parts.append(f"metallic {material['metallic']:.3g}, roughness {material['roughness']:.3g}")
    parts += [material["alpha_mode"]] if material["alpha_mode"] != "opaque" else []
    parts += ["double-sided"] if material["double_sided"] else []
    parts += ["unlit"] if material["unlit"] else []
    parts += [f"textures: {', '.join(material['textures'])}"] if material["textures"] else []
    return "; ".join(parts)


def _clip_line(clip: dict[str, Any]) -> str:
    rate = f" at {clip['rate']:.4g} keys/s" if clip["rate"] else ""
    moves = f"{clip['joints']} joints" + (f" and {clip['morphs']} morphs" if clip["morphs"] else "")
    events = f", {len(clip['events'])} events" if clip["events"] else ""
    events += f", {len(clip['curves'])} curves" if clip["curves"] else ""
    additive = ", additive" if clip["additive"] else ""
    if clip["packed"]:
        packed = clip["packed"]
        additive += f", packed {packed['ratio']:.1f} : 1, off by {packed['error'] * 1000:.3f} mm at most"
    return f"{clip['name']}: {clip['duration']:.3f} s{rate}, {moves}, {clip['keys']:,} keys{events}{additive}"
