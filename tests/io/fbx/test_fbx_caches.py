"""Geometry caches beside an FBX file: `.pc2`, `.mc` and `.mcx` with their `.xml`."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from handmade import SQUARE, Fbx

import marrow as mw
from marrow.errors import FormatError
from marrow.io import vertex_motion
from marrow.io.point_cache import read_point_cache

MOMENTS = np.random.default_rng(4).normal(size=(5, 4, 3)).astype(np.float32)
SEAMS = [[0, 1, 2], [0, 2, 3]]


def cached(file: str, channel: str = "sheet", unit: float = 100.0, begin: float | None = None) -> Fbx:
    """A square whose vertices are in a cache, and its four corners under a node 10 to the right."""
    fbx = Fbx(unit=unit)
    geometry = fbx.mesh(fbx.node("sheet", "Mesh", t=(10, 0, 0)), SQUARE, SEAMS)
    rows = f'P: "ChannelName", "KString", "", "", "{channel}"'
    deformer = fbx.add(
        "Deformer", "Deformer::VertexCacheDeformer", "VertexCacheDeformer", f"\nProperties70: {{\n{rows}\n}}"
    )
    rows = f'P: "CacheFileName", "KString", "", "", "{file}"'
    cache = fbx.add("Cache", "Cache::c", "", f"\nVersion: 100\nProperties70: {{\n{rows}\n}}")
    fbx.connect(deformer, geometry)
    fbx.connect(cache, deformer)
    if begin is not None:
        layer = fbx.stack("Take", begin, begin + 1)
        fbx.curve(
            layer, fbx.node("other", "LimbNode"), "Lcl Translation", "d|X", [(begin, 0.0), (begin + 1, 1.0)]
        )
    return fbx


def pc2(points: np.ndarray, start: float = 0.0, rate: float = 1.0) -> bytes:
    head = struct.pack("<12siiffi", b"POINTCACHE2", 1, points.shape[1], start, rate, len(points))
    return head + points.astype("<f4").tobytes()


def iff(points: np.ndarray, times: list[int], channel: str, wide: bool, double: bool = False) -> bytes:
    """Maya's own file: a group for each moment, with its time, the channel's name, and the points."""

    def chunk(tag: bytes, body: bytes) -> bytes:
        pad = -len(body) % (8 if wide else 4)
        head = tag + (struct.pack(">iq", 0, len(body)) if wide else struct.pack(">i", len(body)))
        return head + body + bytes(pad)

    def group(kind: bytes, body: bytes) -> bytes:
        size = struct.pack(">iq", 0, len(body) + 4) if wide else struct.pack(">i", len(body) + 4)
        return (b"FOR8" if wide else b"FOR4") + size + kind + body

    out = group(b"CACH", chunk(b"VRSN", b"0.1\0"))
    for time, moment in zip(times, points):
        body = chunk(b"TIME", struct.pack(">i", time)) + chunk(b"CHNM", b"sheet_normals\0")
        body += chunk(b"SIZE", struct.pack(">i", len(moment))) + chunk(
            b"FVCA", np.ones_like(moment).astype(">f4").tobytes()
        )
        body += chunk(b"CHNM", channel.encode() + b"\0") + chunk(b"SIZE", struct.pack(">i", len(moment)))
        body += chunk(b"DVCA" if double else b"FVCA", moment.astype(">f8" if double else ">f4").tobytes())
        out += group(b"MYCH", body)
    return out


def xml(kind: str, form: str, first: int, last: int) -> bytes:
    return (
        f'<?xml version="1.0"?>\n<Autodesk_Cache_File>\n<cacheType Type="{kind}" Format="{form}"/>\n'
        f'<time Range="{first}-{last}"/>\n<cacheTimePerFrame TimePerFrame="200"/>\n<Channels>\n'
        '<channel0 ChannelName="sheet" ChannelType="FloatVectorArray" ChannelInterpretation="positions"/>\n'
        "</Channels>\n</Autodesk_Cache_File>\n"
    ).encode()


def played(character: mw.Character, clip: str, times: np.ndarray) -> np.ndarray:
    """The corners over time, in the order of the square's control points."""
    mesh = character.meshes[0]
    surface = mw.skin(character, character.clips[clip].sample(times)).positions - np.array(
        [10, 0, 0], np.float32
    )
    # The square has no seams: its vertices are its control points, in the order of its triangles.
    order = [int(np.flatnonzero(mesh.triangles.ravel() == v)[0]) for v in range(mesh.vertex_count)]
    control = [np.ravel(SEAMS)[i] for i in order]
    out = np.empty((len(times), 4, 3))
    out[:, control] = surface
    return out


def expected(times: np.ndarray, rate: float = 30.0) -> np.ndarray:
    at = np.clip(np.asarray(times) * rate, 0, len(MOMENTS) - 1)
    low = np.minimum(at.astype(int), len(MOMENTS) - 2)
    part = (at - low)[:, None, None]
    return MOMENTS[low] * (1 - part) + MOMENTS[low + 1] * part


TIMES = np.linspace(0, 0.2, 23)


def write(folder: Path, kind: str) -> str:
    """A cache of one kind in `folder`; the name of the file an FBX refers to."""
    ticks = [200 * k for k in range(len(MOMENTS))]
    if kind == "pc2":
        (folder / "c.pc2").write_bytes(pc2(MOMENTS))
        return "c.pc2"
    if kind == "frames":
        (folder / "c.xml").write_bytes(xml("OneFilePerFrame", "mcc", 0, ticks[-1]))
        for k, tick in enumerate(ticks):
            (folder / f"cFrame{k}.mc").write_bytes(iff(MOMENTS[k : k + 1], [tick], "sheet", False))
        return "c.xml"
    wide = kind == "mcx"
    (folder / "c.xml").write_bytes(xml("OneFile", "mcx" if wide else "mcc", 0, ticks[-1]))
    (folder / f"c.{'mcx' if wide else 'mc'}").write_bytes(iff(MOMENTS, ticks, "sheet", wide, double=not wide))
    return "c.xml"


@pytest.mark.parametrize("kind", ["pc2", "mc", "mcx", "frames"])
def test_a_cache_moves_every_vertex(kind: str, tmp_path: Path) -> None:
    file = write(tmp_path, kind)
    (tmp_path / "x.fbx").write_bytes(cached(file).text())
    character = mw.load(tmp_path / "x.fbx", cache=False)
    assert "5 moments" in str(character.report)
    (clip,) = character.clips.values()
    np.testing.assert_allclose(played(character, clip.name, TIMES), expected(TIMES), atol=1e-5)


def test_a_clip_that_begins_within_the_cache_begins_there(tmp_path: Path) -> None:
    write(tmp_path, "pc2")
    (tmp_path / "x.fbx").write_bytes(cached("c.pc2", begin=0.05).text())
    character = mw.load(tmp_path / "x.fbx", cache=False)
    np.testing.assert_allclose(played(character, "Take", TIMES), expected(TIMES + 0.05), atol=1e-5)
    assert character.clips["Take"].duration == pytest.approx(1.0)


def test_lengths_of_a_cache_are_those_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "c.pc2").write_bytes(pc2(MOMENTS))
    fbx = cached("C:\\\\somewhere\\\\else\\\\c.pc2", unit=1.0)
    (tmp_path / "x.fbx").write_bytes(fbx.text())
    character = mw.load(tmp_path / "x.fbx", cache=False)
    where = mw.skin(character, character.clips[0].sample(0.0)).positions
    assert np.abs(where - np.array([0.1, 0, 0])).max() == pytest.approx(
        np.abs(MOMENTS[0]).max() / 100, rel=1e-5
    )


def test_it_survives_glb_and_marrow(tmp_path: Path) -> None:
    (tmp_path / "x.fbx").write_bytes(cached(write(tmp_path, "pc2")).text())
    character = mw.load(tmp_path / "x.fbx", cache=False)
    for name in ("x.glb", "x.marrow"):
        mw.save(character, tmp_path / name)
        again = mw.load(tmp_path / name, cache=False)
        clip = next(iter(again.clips))
        np.testing.assert_allclose(
            mw.skin(again, again.clips[clip].sample(TIMES)).positions,
            mw.skin(character, character.clips[0].sample(TIMES)).positions,
            atol=1e-5,
        )


def test_too_much_is_thinned_out_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vertex_motion, "MAX_BYTES", 2 * 12 * 4 * 3)
    (tmp_path / "x.fbx").write_bytes(cached(write(tmp_path, "pc2")).text())
    character = mw.load(tmp_path / "x.fbx", cache=False)
    assert "one moment of 2" in str(character.report)
    kept = np.array([0, 2, 4]) / 30
    np.testing.assert_allclose(played(character, "cache", kept), expected(kept), atol=1e-5)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (None, "not there"),
        (b"", "no geometry cache"),
        (pc2(MOMENTS)[:-1], "bytes"),
        (pc2(MOMENTS[:, :3]), "3 points"),
        (struct.pack("<12siiffi", b"POINTCACHE2", 1, 1 << 30, 0, 1, 1 << 30), "at most"),
        (struct.pack("<12siiffi", b"POINTCACHE2", 1, -5, 0, 1, 3), "no points"),
        (b"FOR4" + struct.pack(">i", 8) + b"CACHTIME" + struct.pack(">i", 1 << 30), "cut short"),
    ],
)
def test_a_damaged_cache_costs_itself_alone(data: bytes | None, says: str, tmp_path: Path) -> None:
    if data is not None:
        (tmp_path / "c.pc2").write_bytes(data)
    (tmp_path / "x.fbx").write_bytes(cached("c.pc2").text())
    character = mw.load(tmp_path / "x.fbx", cache=False)
    assert says in str(character.report)
    assert len(character.meshes) == 1 and not character.clips


def test_bytes_of_any_kind_are_a_cache_or_an_error() -> None:
    rng = np.random.default_rng(11)
    whole = iff(MOMENTS, [0, 200, 400, 600, 800], "sheet", True)
    for seed in (whole, iff(MOMENTS, [0, 1, 2, 3, 4], "sheet", False), pc2(MOMENTS)):
        for _ in range(150):
            data = bytearray(seed)
            for _ in range(rng.integers(1, 6)):
                data[rng.integers(len(data))] = rng.integers(256)
            cut = bytes(data[: rng.integers(1, len(data) + 1)])
            try:
                cache = read_point_cache("c", "sheet", 30.0, lambda _, cut=cut: cut)
            except FormatError:
                continue
            assert cache.points.ndim == 3 and len(cache.times) == len(cache.points)
