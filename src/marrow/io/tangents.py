"""Tangents for meshes that need them and have none, as MikkTSpace defines them.

Normal maps are baked against Morten Mikkelsen's tangent space, so glTF asks readers to rebuild exactly that
one. In his scheme vertices of equal position, normal and UV count as one; the triangles around such a vertex
fall into groups, connected by shared edges and of one UV orientation; the tangent of a group is the mean of
its triangles' tangents, each laid into the vertex's plane and weighted by the triangle's angle there.
Triangles without UV area join any group and add nothing; triangles without extent take what their neighbours
have.

A mesh keeps its vertex order here, so a vertex that would have to be split between groups takes those of the
orientation that covers more of the angle around it, and the count of such vertices is reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError
from marrow.math.counting import bincount
from marrow.math.elementary import dot
from marrow.model import Character, Material, Mesh
from marrow.model._asset import twin
from marrow.model._validate import owned
from marrow.report import ReportBuilder

__all__ = ["Tangents", "compute_tangents", "generate_tangents", "with_tangents"]

Array = NDArray[Any]
_TINY = np.float32(np.finfo(np.float32).tiny)
# Textures of extensions that are laid by tangents.
_TANGENT_SLOTS = (
    ("KHR_materials_clearcoat", "clearcoatNormalTexture"),
    ("KHR_materials_anisotropy", "anisotropyTexture"),
)
# Odd constants without structure (digits of pi), one for each of a vertex's eight numbers.
_MIX = np.array(
    [
        0x243F6A8885A308D3,
        0x13198A2E03707345,
        0xA4093822299F31D1,
        0x082EFA98EC4E6C89,
        0x452821E638D01377,
        0xBE5466CF34E90C6D,
        0xC0AC29B7C97C50DD,
        0x3F84D5B5B5470917,
    ],
    np.uint64,
)


@dataclass(frozen=True)
class Tangents:
    """`values (V, 4)` with the handedness in `w`, how many vertices would have to be `split` because
    triangles of both UV orientations meet in them, and how many are `undefined`: no triangle around them has
    a usable UV area, so any direction in their plane was taken."""

    values: Array
    split: int
    undefined: int


def with_tangents(character: Character) -> Character:
    """The character with tangents on every mesh whose material has a normal texture and whose file had
    none. One of a coat above the surface counts too: programs that show it need them."""
    if all(_tangent_uv_set(m) is None for m in character.materials):
        return character
    meshes = (*character.meshes, *(mesh for level in character.reduced for mesh in level.meshes))
    if all(mesh.tangents is not None or _normal_map_uv_set(mesh, character) is None for mesh in meshes):
        return character
    report = ReportBuilder()
    known: dict[tuple[int, ...], Tangents] = {}  # one mesh may hang below many nodes

    def completed(mesh: Mesh) -> Mesh:
        uv_set = None if mesh.tangents is not None else _normal_map_uv_set(mesh, character)
        if uv_set is None:
            return mesh
        place = f"mesh {mesh.name!r}"
        if mesh.normals is None or uv_set >= len(mesh.uvs):
            what = "normals" if mesh.normals is None else f"UV set {uv_set}"
            report.add("warning", place, f"has a normal texture, but no {what} to make tangents from")
            return mesh
        surface = (mesh.positions, mesh.normals, mesh.uvs[uv_set], mesh.triangles)
        key = tuple(map(id, surface))
        if key not in known:
            known[key] = compute_tangents(*surface)
            owned(known[key].values)
        made = known[key]
        report.add("info", place, "tangents were generated (MikkTSpace)")
        if made.split:
            report.add(
                "warning", place, f"{made.split} vertices join surfaces that need tangents of their own"
            )
        if made.undefined:
            report.add("warning", place, f"{made.undefined} vertices have no UV area to define a tangent")
        return twin(mesh, tangents=made.values)

    changed = character.with_meshes(completed)
    lines = report.build()
    return twin(changed, report=character.report + lines) if len(lines) else character


def generate_tangents(mesh: Mesh, *, uv_set: int = 0) -> Mesh:
    """The mesh with tangents made from its normals and one of its UV sets; tangents it already has are
    replaced."""
    if mesh.normals is None:
        raise ValidationError(f"Mesh({mesh.name!r}): tangents need normals, and it has none")
    if not 0 <= uv_set < len(mesh.uvs):
        raise ValidationError(
            f"Mesh({mesh.name!r}): UV set {uv_set} does not exist; there are {len(mesh.uvs)}"
        )
    made = compute_tangents(mesh.positions, mesh.normals, mesh.uvs[uv_set], mesh.triangles)
    return mesh.replace(tangents=made.values)


def compute_tangents(
    positions: ArrayLike, normals: ArrayLike, uvs: ArrayLike, triangles: ArrayLike
) -> Tangents:
    """Tangents of `positions (V, 3)`, unit `normals (V, 3)`, `uvs (V, 2)` and `triangles (F, 3)`.

    UVs are glTF's, with V pointing down the image. The handedness `w` is made for normal maps whose green
    axis points up the image: the bitangent is `cross(normal, tangent) * w`. MikkTSpace itself takes V to
    point up, so its sign is the opposite of this one.
    """
    p, n, uv = (np.asarray(a, np.float32) for a in (positions, normals, uvs))
    faces = np.asarray(triangles, np.int64).reshape(-1, 3)
    total, side, split = np.zeros((len(p), 3)), np.full(len(p), -1.0), np.zeros(len(p), bool)
    welded = _weld(p, n, uv)
    # x, y and z apart, (3, 3, F): sums over them are then additions of long rows.
    corners = np.ascontiguousarray(faces.T)
    place = _at_corners(p, corners)
    # Triangles with two corners in one place have no angles.
    pinched = _same_place(place, 0, 1) | _same_place(place, 1, 2) | _same_place(place, 2, 0)
    if pinched.any():
        faces = faces[~pinched]
        corners = np.ascontiguousarray(faces.T)
        place = _at_corners(p, corners)
    if len(faces):
        direction, orientation, flat = _face_tangents(place, _at_corners(uv, corners))
        angle, share = _corner_shares(place, _at_corners(n, corners), direction, flat)
        if flat.any() or int(welded.max()) + 1 < len(p):
            links = _links(welded[faces])
            orientation = _adopted_orientation(orientation, flat, links)
            group = _groups(len(faces), links, orientation)
            # Corners in file order from here on.
            summed = _scatter(group, share.transpose(0, 2, 1).reshape(3, -1), 3 * len(faces))
            total, side, split = _by_group(len(p), faces, group, orientation, flat, angle.T.ravel(), summed)
        else:
            total, side, split = _by_orientation(len(p), faces, orientation, angle, share)
    total, side = _from_twins(total, side, welded)
    length = np.sqrt(dot(total, total))
    undefined = length < 1e-12
    values = np.empty((len(p), 4), np.float32)
    values[:, :3] = total / np.where(undefined, 1, length)[:, None]
    if undefined.any():
        values[undefined, :3] = _any_perpendicular(n[undefined])
    values[:, 3] = -side
    return Tangents(values, int(split.sum()), int(undefined.sum()))


def _normal_map_uv_set(mesh: Mesh, character: Character) -> int | None:
    for section in mesh.sections:
        if section.material is not None:
            uv_set = _tangent_uv_set(character.materials[section.material])
            if uv_set is not None:
                return uv_set
    return None


def _tangent_uv_set(material: Material) -> int | None:
    """The texture coordinates that the tangents of a material's surface follow; None where it needs none."""
    if material.normal_texture is not None:
        return material.normal_texture.uv_set
    for name, slot in _TANGENT_SLOTS:
        body = material.extensions.get(name)
        info = body.get(slot) if isinstance(body, dict) else None
        uv_set = info.get("texCoord", 0) if isinstance(info, dict) else None
        if isinstance(uv_set, int) and uv_set >= 0:
            return uv_set
    return None


def _at_corners(values: Array, corners: Array) -> Array:
    """The values `(V, C)` at `corners (3, F)`, as `(C, 3, F)`."""
    return np.ascontiguousarray(values.T).take(corners, axis=1)


def _same_place(place: Array, a: int, b: int) -> Array:
    x, y, z = place[:, a] == place[:, b]
    return x & y & z


def _weld(p: Array, n: Array, uv: Array) -> Array:
    """One number for all vertices of equal position, normal and UV, `(V,)`."""
    rows = np.ascontiguousarray(np.concatenate([p, n, uv], axis=1) + np.float32(0))  # -0 equals 0
    # Sorting by one hash is several times quicker than by eight columns; should two rows ever share it, by
    # columns.
    mixed = np.zeros(len(rows), np.uint64)
    for column, factor in zip(rows.view(np.uint32).T, _MIX):
        mixed += column * factor
    mixed ^= mixed >> np.uint64(29)
    order = np.argsort(mixed)
    hashes = mixed[order]
    same_hash = hashes[1:] == hashes[:-1]
    if not same_hash.any():
        return np.arange(len(rows))
    same = (rows[order[1:]] == rows[order[:-1]]).all(axis=1)
    if (same_hash & ~same).any():
        order = np.lexsort(rows.T)
        same = (rows[order[1:]] == rows[order[:-1]]).all(axis=1)
    welded = np.zeros(len(rows), np.int64)
    welded[order[1:]] = np.cumsum(~same)
    return welded


def _face_tangents(place: Array, coordinate: Array) -> tuple[Array, Array, Array]:
    """Direction of growing U `(3, F)`, whether the UVs keep the triangle's orientation, and which have no UV
    area.

    In float32, as the original works, so that borderline triangles fall on the same side.
    """
    d1, d2 = place[:, 1] - place[:, 0], place[:, 2] - place[:, 0]
    (s21, t21), (s31, t31) = coordinate[:, 1] - coordinate[:, 0], coordinate[:, 2] - coordinate[:, 0]
    with np.errstate(over="ignore", invalid="ignore"):
        area = s21 * t31 - t21 * s31
        along_u, along_v = t31 * d1 - t21 * d2, s21 * d2 - s31 * d1
        length_u, length_v = np.sqrt(_dot(along_u, along_u)), np.sqrt(_dot(along_v, along_v))
        usable = (np.abs(area) > _TINY) & np.isfinite(length_u) & np.isfinite(length_v)
        safe = np.where(usable, np.abs(area), 1)
        usable &= (length_u / safe > _TINY) & (length_v / safe > _TINY)
        signed = np.where(area > 0, length_u, -length_u)
        direction = np.where(usable, along_u / np.where(usable, signed, 1), 0)
    return direction, area > 0, ~usable


def _links(corners: Array) -> tuple[Array, Array]:
    """Pairs of half-edges `3 * face + k` (from corner k to the next) that run along one edge in opposite
    directions.

    Where more than two triangles meet in an edge, the k-th of one direction goes with the k-th of the other.
    """
    begin, end = corners.ravel(), corners[:, [1, 2, 0]].ravel()
    edge = np.minimum(begin, end) * (corners.max() + 1) + np.maximum(begin, end)
    back = begin > end
    order = np.argsort(2 * edge + back, kind="stable")
    sorted_edge, sorted_back = edge[order], back[order]
    same = (sorted_edge[1:] == sorted_edge[:-1]) & (sorted_back[1:] == sorted_back[:-1])
    if same.any():
        starts = np.concatenate([[True], ~same])
        rank = np.arange(len(order)) - np.flatnonzero(starts)[np.cumsum(starts) - 1]
        # Sorted by edge and rank, the two halves of a pair stand side by side, the forward one first.
        again = np.lexsort((sorted_back, rank, sorted_edge))
        order, sorted_edge, rank = order[again], sorted_edge[again], rank[again]
        at = np.flatnonzero((sorted_edge[1:] == sorted_edge[:-1]) & (rank[1:] == rank[:-1]))
    else:
        at = np.flatnonzero(sorted_edge[1:] == sorted_edge[:-1])
    return order[at], order[at + 1]


def _adopted_orientation(orientation: Array, flat: Array, links: tuple[Array, Array]) -> Array:
    """Triangles without UV area take the orientation of the first neighbour that has one, step by step."""
    if not flat.any():
        return orientation
    a, b = links[0] // 3, links[1] // 3
    a, b = np.concatenate([a, b]), np.concatenate([b, a])
    touching = flat[a]
    a, b = a[touching], b[touching]
    orientation, unknown = orientation.copy(), flat.copy()
    while True:
        useful = unknown[a] & ~unknown[b]
        if not useful.any():
            return orientation
        nearest = np.full(len(flat), len(flat))
        np.minimum.at(nearest, a[useful], b[useful])
        found = np.flatnonzero(nearest < len(flat))
        orientation[found] = orientation[nearest[found]]
        unknown[found] = False


def _groups(face_count: int, links: tuple[Array, Array], orientation: Array) -> Array:
    """The group of each corner `(3 F,)`: corners at one vertex, joined across edges whose triangles agree."""
    agree = orientation[links[0] // 3] == orientation[links[1] // 3]
    a, b = links[0][agree], links[1][agree]
    # Half-edge a runs from corner a to its next; b runs the other way: a's begin meets b's end.
    following = np.array([1, 2, 0])
    next_a, next_b = a - a % 3 + following[a % 3], b - b % 3 + following[b % 3]
    left, right = np.concatenate([a, next_a]), np.concatenate([next_b, b])
    label = np.arange(3 * face_count)
    while True:
        la, lb = label[left], label[right]
        differ = la != lb
        if not differ.any():
            return label
        np.minimum.at(label, np.maximum(la, lb)[differ], np.minimum(la, lb)[differ])
        while (label[label] != label).any():
            label = label[label]


def _corner_shares(place: Array, normal: Array, direction: Array, flat: Array) -> tuple[Array, Array]:
    """The angle of each corner `(3, F)` and its share `(3, 3, F)` in the tangent: angle times direction in
    the plane."""

    def in_plane(v: Array) -> Array:
        v = v - normal * _dot(normal, v)
        length = np.sqrt(_dot(v, v))
        v /= np.where(length > _TINY, length, np.float32(1))
        return v

    edges = [place[:, (k + 1) % 3] - place[:, k] for k in range(3)]
    after = in_plane(np.stack(edges, axis=1))
    before = in_plane(-np.stack([edges[2], edges[0], edges[1]], axis=1))
    angle = _arccos(np.clip(_dot(before, after), -1, 1))
    share = in_plane(np.broadcast_to(direction[:, None], place.shape))
    return angle, share * np.where(flat, np.float32(0), angle)


# Abramowitz and Stegun 4.4.46: arccos(x) = sqrt(1 - x) P(x) for 0 <= x <= 1, off by at most 2e-8.
_ARCCOS = (
    -0.0012624911,
    0.0066700901,
    -0.0170881256,
    0.0308918810,
    -0.0501743046,
    0.0889789874,
    -0.2145988016,
    1.5707963050,
)


def _arccos(x: Array) -> Array:
    """Angles that weigh corners: exact to float32, from additions, products and roots alone, so that every machine
    finds the same bits. `math.elementary` has the exact one, which takes four times as long.
    """
    near = np.abs(x)
    total = np.full_like(near, _ARCCOS[0])
    for factor in _ARCCOS[1:]:
        total *= near
        total += x.dtype.type(factor)
    total *= np.sqrt(1 - near)
    return np.where(x < 0, x.dtype.type(np.pi) - total, total)


def _dot(a: Array, b: Array) -> Array:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _by_orientation(
    count: int, faces: Array, orientation: Array, angle: Array, share: Array
) -> tuple[Array, Array, Array]:
    """`_by_group` for meshes without twins: as every vertex then adds up all its groups of one orientation,
    it does not matter which corners are connected."""
    key = (2 * faces.T + orientation).ravel()
    coverage = bincount(key, angle.ravel() + 1e-9, minlength=2 * count).reshape(count, 2)
    summed = _scatter(key, share.reshape(3, -1), 2 * count).reshape(count, 2, 3)
    winner = coverage[:, 1] > coverage[:, 0]
    total = np.where(winner[:, None], summed[:, 1], summed[:, 0])
    both = (coverage[:, 0] > 0) & (coverage[:, 1] > 0)
    return total, np.where(winner, 1.0, -1.0), both


def _by_group(
    count: int, faces: Array, group: Array, orientation: Array, flat: Array, angle: Array, summed: Array
) -> tuple[Array, Array, Array]:
    """For every vertex the tangent (not yet of unit length), its side (+1 or -1) and whether it should be
    split."""
    vertex, facing = faces.ravel(), np.repeat(orientation, 3)
    # Flat triangles have a say only where there are no others.
    weight = np.where(np.repeat(flat, 3), 1e-9, 1) * (angle + 1e-9)
    coverage = bincount(2 * vertex + facing, weight, minlength=2 * count).reshape(count, 2)
    winner = coverage[:, 1] > coverage[:, 0]
    # Each pair of a vertex and a group that meets in it, once.
    pair_vertex, pair_group = np.divmod(np.unique(vertex * len(group) + group), len(group))
    agrees = orientation[pair_group // 3] == winner[pair_vertex]
    total = _scatter(pair_vertex[agrees], summed[pair_group[agrees]].T, count)
    has_direction = summed[pair_group].any(axis=1)
    split = np.zeros(count, bool)
    split[pair_vertex[~agrees & has_direction]] = True
    return total, np.where(winner, 1.0, -1.0), split


def _scatter(index: Array, vectors: Array, count: int) -> Array:
    """The sum of the `vectors (3, ...)` of each index, `(count, 3)`."""
    return np.stack([bincount(index, row, minlength=count) for row in vectors], axis=1)


def _from_twins(total: Array, side: Array, welded: Array) -> tuple[Array, Array]:
    """Vertices of triangles without extent take the tangent of a vertex equal to them that has one."""
    empty = ~total.any(axis=1)
    if not empty.any() or empty.all():
        return total, side
    giver = np.full(int(welded.max()) + 1, -1)
    have = np.flatnonzero(~empty)[::-1]
    giver[welded[have]] = have
    from_ = giver[welded[empty]]
    took = np.flatnonzero(empty)[from_ >= 0]
    total[took], side[took] = total[from_[from_ >= 0]], side[from_[from_ >= 0]]
    return total, side


def _any_perpendicular(normals: Array) -> Array:
    """Unit vectors at right angles to the normals: along X where that is possible."""
    x = np.array([1, 0, 0], np.float64)
    n = normals.astype(np.float64)
    along = x - n * n[:, :1]
    steep = np.linalg.norm(along, axis=1) < 1e-3
    along[steep] = np.array([0, 1, 0]) - n[steep] * n[steep, 1:2]
    length = np.linalg.norm(along, axis=1, keepdims=True)
    return along / np.where(length > 0, length, 1)
