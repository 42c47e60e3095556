"""Files that browsers send: one or several, whole or broken, characters or motion for the one that is open."""

import http.client
import json
import threading
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from studio_world import TOKEN, fresh, serving, small_actor, small_character, upload

import marrow as mw
from marrow.errors import FormatError
from marrow.studio import loading, uploads
from marrow.studio.answers import MAX_UPLOAD_FILES, PARCEL_TYPE
from marrow.studio.loading import arrive
from marrow.studio.parcel import Parcel, ParcelSource, _key
from marrow.studio.protocol import TOKEN_HEADER
from surroundings import HANG_SECONDS, repeats


@pytest.fixture(scope="module")
def served():
    with serving() as found:
        yield found


@pytest.fixture
def site(served):
    return fresh(served, small_actor())


@pytest.fixture
def glb(tmp_path):
    file = tmp_path / "other.glb"
    mw.save(small_character(seed=11), file)
    return file.read_bytes()


def test_an_uploaded_file_is_shown_to_everyone(site, glb):
    with site.page() as page:
        answer = upload(site, glb)
        assert (answer.status, answer.json) == (
            200,
            {"name": "other.glb", "slot": 0, "error": None, "offer": None, "kind": "character"},
        )
        changed = page.wait("changed")
        assert (changed["slot"], changed["present"], changed["kept"]) == (0, True, False)
        assert site.request("/api/character/0").json["name"] == "other"
        page.frame()


def test_a_second_file_is_compared_and_closed(site, glb):
    with site.page() as page:
        assert upload(site, glb, slot=1).status == 200
        page.wait("changed", slot=1)
        page.frame(slot=1)
        page.send("close", slot=1)
        page.wait("changed", slot=1, present=False)
        page.wait("state", slots=[0])


def test_a_marrow_file_is_known_by_its_content(site, tmp_path):
    file = tmp_path / "x.marrow"
    mw.save(small_character(seed=5), file)
    assert upload(site, file.read_bytes(), name="x.marrow").status == 200
    assert site.request("/api/export.glb").status == 200


def test_a_bvh_has_a_body_made_of_its_bones(tmp_path):
    file = tmp_path / "x.bvh"
    mw.save(small_character(), file, clip="wave")
    with serving() as site:
        assert upload(site, file.read_bytes(), name="x.bvh").status == 200
        (body,) = site.request("/api/character/0").json["meshes"]
        assert body["name"] == "stand-in" and body["vertices"] > 0


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"", "empty.glb"),
        (b"glTF" + bytes(40), "broken.glb"),
        (b"not a character at all", "notes.txt"),
        (b"HIERARCHY\nROOT", "cut.bvh"),
        (b"Kaydara FBX Binary  \x00\x1a\x00" + bytes(100), "cut.fbx"),
        (b'{"asset":{"version":"2.0"},"buffers":[{"uri":"/etc/passwd","byteLength":4}]}', "reach.gltf"),
        (b'{"asset":{"version":"2.0"},"buffers":[{"uri":"../../secret.bin","byteLength":4}]}', "reach.gltf"),
    ],
)
def test_a_broken_file_is_refused_and_the_old_one_stays(site, data, name):
    with site.page() as page:
        answer = upload(site, data, name=name)
        assert answer.status in (200, 422)
        if answer.status == 422:
            assert (
                answer.json["error"].startswith(f"{name}: ") and "marrow-upload" not in answer.json["error"]
            )
            assert site.request("/api/character/0").json["name"] == "arm"
        page.frame()


def test_an_oversized_file_is_refused_before_and_while_it_comes(glb):
    with serving(small_actor(), max_upload_bytes=1000) as site:
        assert upload(site, glb).status == 413
        chunks = iter([b"x" * 600, b"x" * 600])
        assert upload(site, chunks).status == 413
        assert site.request("/api/character/0").json["name"] == "arm"


def test_who_listens_only_after_sending_all_hears_why_a_file_is_refused():
    with serving(small_actor(), max_upload_bytes=1000) as site:
        answer = upload(site, b"x" * (16 << 20))  # More than lies in the buffers between.
        assert answer.status == 413 and "at most" in answer.json["error"]


def test_names_of_uploads_are_only_labels(site, glb):
    for name in ("../../etc/passwd.glb", "C:\\evil\\x.glb", "\x00.glb", "a" * 500 + ".glb", ""):
        answer = upload(site, glb, name=name)
        assert answer.status == 200
        assert "/" not in answer.json["name"] and "\\" not in answer.json["name"]
        assert len(answer.json["name"]) <= 100


def test_files_queue_and_nobody_who_watches_waits(site, glb, monkeypatch):
    entered, go_on = threading.Event(), threading.Event()
    real = loading.arrive

    def held(*arguments):
        entered.set()
        assert go_on.wait(HANG_SECONDS)
        return real(*arguments)

    monkeypatch.setattr(loading, "arrive", held)
    answers = []
    senders = [threading.Thread(target=lambda: answers.append(upload(site, glb))) for _ in range(3)]
    for sender in senders:
        sender.start()
    assert entered.wait(HANG_SECONDS)
    with site.page() as page:
        page.frame()  # nobody waits for a file being read
        while site.studio.jobs.waiting < 3:
            page.frame()
    go_on.set()
    for sender in senders:
        sender.join()
    assert [answer.status for answer in answers] == [200, 200, 200]


def begin_upload(connection):
    """Sends half of a file."""
    connection.putrequest("POST", "/api/upload?name=a.glb")
    connection.putheader(TOKEN_HEADER, TOKEN)
    connection.putheader("Content-Length", "1000")
    connection.endheaders(b"half")


def test_stalled_uploads_keep_nobody_waiting(site, glb, monkeypatch):
    monkeypatch.setattr(uploads, "STALLED_SECONDS", 0.01)
    stalled = []
    for _ in range(uploads.RECEIVING + 2):
        connection = http.client.HTTPConnection("127.0.0.1", site.port)
        begin_upload(connection)
        stalled.append(connection)
    assert upload(site, glb).status == 200
    for connection in stalled:
        connection.close()


def test_an_upload_of_which_nothing_comes_is_given_up(site, monkeypatch):
    monkeypatch.setattr(uploads, "SILENCE_SECONDS", 0.01)
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=HANG_SECONDS)
    begin_upload(connection)
    answer = connection.getresponse()
    assert answer.status == 408 and b"too long" in answer.read()
    connection.close()


def test_an_upload_that_breaks_off_leaves_nothing(site):
    connection = http.client.HTTPConnection("127.0.0.1", site.port)
    begin_upload(connection)
    connection.close()
    with site.page() as page:
        page.frame()
        while site.studio.jobs.waiting:
            page.frame()
    assert site.request("/api/character/0").json["name"] == "arm"


# -- several files ----------------------------------------------------------------------------------------------
def packed(files):
    """The body of an upload of several files, `{name: bytes}` or pairs."""
    pairs = list(files.items() if isinstance(files, dict) else files)
    names = [{"name": name, "size": len(data)} for name, data in pairs]
    manifest = json.dumps({"files": names}).encode()
    return len(manifest).to_bytes(4, "little") + manifest + b"".join(data for _, data in pairs)


def send_parcel(site, files, slot=0):
    body = files if isinstance(files, bytes) else packed(files)
    return upload(site, body, name="", slot=slot, headers={"Content-Type": PARCEL_TYPE})


@pytest.fixture
def gltf(tmp_path):
    """A glTF with its buffer and a picture in a folder, as `{name: bytes}`."""
    mw.save(small_character(seed=11), tmp_path / "hero.gltf")
    text = json.loads((tmp_path / "hero.gltf").read_text())
    text["images"] = [{"uri": "textures/skin%20one.png"}]
    return {
        "hero.gltf": json.dumps(text).encode(),
        text["buffers"][0]["uri"]: (tmp_path / text["buffers"][0]["uri"]).read_bytes(),
        "textures/skin one.png": b"\x89PNG\r\n\x1a\npicture",
    }


def test_a_gltf_comes_with_its_buffer_and_pictures(site, gltf):
    answer = send_parcel(site, gltf)
    assert (answer.status, answer.json["name"]) == (200, "hero.gltf")
    assert site.request("/api/character/0").json["name"] == "hero"
    assert site.request("/api/image/0/0").body.endswith(b"picture")


def test_a_dropped_folder_keeps_its_paths(site, gltf):
    inside = {f"assets/v2/{name}": data for name, data in gltf.items()}
    assert send_parcel(site, {"assets/readme.txt": b"hello", **inside}).status == 200
    assert site.request("/api/image/0/0").body.endswith(b"picture")


def test_files_picked_without_their_folders_are_found_by_name(site, gltf):
    flat = {Path(name).name.upper() if name.endswith("png") else name: data for name, data in gltf.items()}
    assert send_parcel(site, flat).status == 200
    assert site.request("/api/image/0/0").body.endswith(b"picture")


def test_two_pictures_of_one_name_are_told_apart_by_their_folders(site, gltf):
    more = {"old/skin one.png": b"\x89PNG\r\n\x1a\nold", **gltf}
    assert send_parcel(site, more).status == 200
    assert site.request("/api/image/0/0").body.endswith(b"picture")


def test_what_is_missing_is_said(site, gltf):
    binary = next(name for name in gltf if name.endswith(".bin"))
    data = gltf.pop(binary)
    answer = send_parcel(site, gltf)
    assert answer.status == 422 and binary in answer.json["error"] and "no such file" in answer.json["error"]
    del gltf["textures/skin one.png"]
    assert send_parcel(site, {**gltf, binary: data}).status == 200
    report = site.request("/api/character/0").json["report"]
    assert any("is not there" in line["message"] for line in report), report


def test_a_character_and_its_motions_come_together(site, tmp_path):
    mw.save(small_character().replace(clips=[]), tmp_path / "hero.glb")
    mw.save(small_character(), tmp_path / "wave.bvh", clip="wave")
    files = {name: (tmp_path / name).read_bytes() for name in ("wave.bvh", "hero.glb")}
    assert send_parcel(site, files).json["name"] == "hero.glb"
    info = site.request("/api/character/0").json
    assert info["name"] == "hero" and info["meshes"] and len(info["clips"]) == 1
    assert "clips=['wave.bvh']" in site.request("/api/code").body.decode()


HOSTILE = [
    "../../../../tmp/evil.glb",
    "/etc/cron.d/evil.glb",
    "C:\\evil\\x.glb",
    "a\x00b.glb",
    "....//....//x.glb",
    "nul.glb",
    "x.glb/",
    "",
    " ",
    "\u202egnp.glb",
    "a" * 900 + ".glb",
]


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_are_only_labels(site, glb, name):
    answer = send_parcel(site, [(name, glb), (name, b"again"), (name.upper(), b"")])
    assert answer.status in (200, 422)
    assert (
        "/" not in answer.json["name"]
        and "\x00" not in answer.json["name"]
        and len(answer.json["name"]) <= 100
    )


def test_nothing_but_what_came_can_be_referred_to(site, gltf, tmp_path):
    secret = tmp_path / "secret.bin"
    secret.write_bytes(b"\0" * 100_000)
    document = json.loads(gltf["hero.gltf"])
    for uri in (
        str(secret),
        f"../{secret.name}",
        f"file://{secret}",
        "../" * 12 + str(secret)[1:],
        "0.gltf\x00",
    ):
        document["buffers"][0]["uri"] = uri
        answer = send_parcel(site, {"hero.gltf": json.dumps(document).encode()})
        assert answer.status == 422, uri


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff\xff\xff\xff",
        b"\x02\x00\x00\x00{}",
        b"\x05\x00\x00\x00hello",
        packed([("a.glb", b"x")])[:-1],
        packed([(f"{k}.glb", b"") for k in range(MAX_UPLOAD_FILES + 1)]),
        b"\x2c\x00\x00\x00" + b'{"files":[{"name":"a.glb","size":-5}]}      ',
    ],
)
def test_parcels_that_are_none_are_refused_in_words(site, body):
    answer = send_parcel(site, body)
    assert answer.status in (413, 422) and answer.json["error"]
    assert site.request("/api/character/0").json["name"] == "arm"


def test_all_files_together_are_bounded(glb):
    with serving(small_actor(), max_upload_bytes=2000) as site:
        assert send_parcel(site, [("a.glb", b"x" * 1500), ("b.bin", b"x" * 1500)]).status == 413
        lies = json.dumps({"files": [{"name": "a.glb", "size": 10**12}]}).encode()
        assert send_parcel(site, len(lies).to_bytes(4, "little") + lies).status == 413


@settings(max_examples=repeats(60), deadline=None)
@given(st.text(max_size=60))
def test_no_name_climbs_out_of_its_parcel(name):
    assert not {"", ".", ".."} & set(_key(name).split("/")) or _key(name) == ""


# -- motion for the character that is open ----------------------------------------------------------------------
@pytest.fixture
def motion(tmp_path):
    """Motion of the small character's joints, without a mesh."""
    mw.save(small_character(seed=8), tmp_path / "stroll.bvh", clip="bend")
    return (tmp_path / "stroll.bvh").read_bytes()


def test_motion_for_the_open_character_is_offered_and_added(site, motion):
    with site.page() as page:
        answer = upload(site, motion, name="stroll.bvh").json
        assert answer["offer"]["character"] == "arm" and len(answer["offer"]["clips"]) == 1
        assert len(site.request("/api/character/0").json["clips"]) == 2, "nothing has changed yet"
        page.send("settle", offer=answer["offer"]["number"], how="add")
        page.wait("changed", slot=0)
        info = site.request("/api/character/0").json
        names = [clip["name"] for clip in info["clips"]]
        assert info["name"] == "arm" and info["meshes"] and len(names) == 3
        page.wait("state", clip=names[2])
        page.frame()


def test_offered_motion_may_be_opened_by_itself_or_dropped(site, motion):
    with site.page() as page:
        first = upload(site, motion, name="stroll.bvh").json["offer"]["number"]
        page.ask("settle", offer=first, how="drop")
        page.send("settle", offer=first, how="add")
        assert "no longer at hand" in page.wait("error")["message"]
        second = upload(site, motion, name="stroll.bvh").json["offer"]["number"]
        page.send("settle", offer=second, how="open")
        page.wait("changed", slot=0)
        assert site.request("/api/character/0").json["name"] == "stroll"


def test_motion_for_somebody_else_is_opened_by_itself(site, tmp_path):
    bones = mw.Skeleton(("a", "b"), [-1, 0])
    track = mw.Track(1, "rotation", np.array([0.0, 1.0]), np.array([[0, 0, 0, 1.0], [0, 1.0, 0, 0]]))
    mw.save(mw.Character(bones, (), [mw.Clip("spin", bones, [track])]), tmp_path / "x.bvh", clip="spin")
    assert upload(site, (tmp_path / "x.bvh").read_bytes(), name="x.bvh").json["offer"] is None
    assert site.request("/api/character/0").json["name"] == "x"


def test_a_parcel_leaves_nothing_behind(glb):
    with Parcel(1 << 20) as parcel:
        with parcel._create("a.glb") as file:
            file.write(glb)
        folder = parcel.files[0].path.parent
        assert arrive(parcel).character.vertex_count > 0
    assert not folder.exists()


@pytest.mark.parametrize(
    "reference",
    ["Textures/Skin.PNG", "textures\\skin.png", "..\\maps\\skin.png", "C:\\work\\hero\\skin.png", "skin.png"],
)
def test_textures_are_found_however_an_fbx_names_them(reference):
    with Parcel(1 << 20) as parcel:
        for name, data in (("hero/a.fbx", b"fbx"), ("hero/Textures/Skin.PNG", b"pixels")):
            with parcel._create(name) as file:
                file.write(data)
        source = ParcelSource(parcel, parcel.files[0])
        assert source.neighbour(reference) == b"pixels"
        with pytest.raises(FormatError, match="no such file"):
            source.neighbour("other.png")
        assert source.references == {reference: b"pixels", "other.png": None}
