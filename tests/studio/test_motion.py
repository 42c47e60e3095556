"""Motion dropped on a character, graphs dropped or made of its clips, and what can be looked at of a character."""

import json

import numpy as np
import pytest
from studio_world import serving, small_actor, small_character, small_graph, upload

import marrow as mw
from marrow.graph.description import to_json
from marrow.graph.layer_poses import layer_poses, pose_of
from marrow.studio import protocol as p
from marrow.studio.actor import Origin, StudioActor
from marrow.studio.checks import check
from marrow.studio.code import python_code
from marrow.studio.curves import bounds, keys
from marrow.studio.numbers import joint_numbers
from marrow.studio.ready import gaits, labels, ready_graph
from marrow.studio.session import Session
from marrow.studio.shown import clip_box, hidden, rest_box_shown


@pytest.fixture(scope="module")
def hero():
    return mw.samples.mannequin()


@pytest.fixture(scope="module")
def walk(hero, tmp_path_factory):
    """The mannequin's walk as motion capture has it: other names, other rest rotations, no mesh."""
    names = tuple(n.replace("thigh", "UpLeg").replace("calf", "LowLeg") for n in hero.skeleton.names)
    file = tmp_path_factory.mktemp("motion") / "walk.bvh"
    bones = mw.Skeleton(
        names, hero.skeleton.parents, hero.skeleton.rest, morph_names=hero.skeleton.morph_names
    )
    clip = hero.clips["walk"].replace(skeleton=bones)
    mw.save(mw.Character(bones, (), [clip]), file, clip="walk")
    return file.read_bytes()


@pytest.fixture
def site(hero, tmp_path, monkeypatch):
    monkeypatch.setattr("platformdirs.user_data_path", lambda *_, **__: tmp_path)
    with serving(StudioActor(hero, 0, Origin("sample", "mannequin"))) as found:
        yield found


def test_motion_of_other_joints_goes_through_retargeting_with_its_map(site, walk, hero):
    with site.page() as page:
        answer = upload(site, walk, name="walk.bvh").json
        offer = answer["offer"]
        assert (answer["kind"], offer["kind"]) == ("motion", "retarget")
        rows = {row["chain"]: row for row in offer["map"]["rows"]}
        assert rows["left_leg"]["target"] == ["thigh_l", "calf_l", "foot_l"]
        assert set(offer["map"]["target_joints"]) == set(hero.skeleton.names) and not offer["map"]["saved"]
        number = offer["number"]
        page.send("settle", offer=number, how="beside")
        page.wait("changed", slot=1)
        state = page.wait("state", slots=[0, 1])
        added = state["clip"]
        assert added == site.studio.session.main.clip and added not in hero.clips
        # A body with the mannequin's own proportions does what it does.
        made = site.studio.session.main.character.clips[added]
        right = hero.skeleton.to_model(hero.clips["walk"].sample(0.4))
        feet = [hero.skeleton.index(j) for j in ("foot_l", "foot_r", "hand_l", "head")]
        off = np.abs(hero.skeleton.to_model(made.sample(0.4))[feet, :, 3] - right[feet, :, 3])
        assert off.max() < 0.02
        # The map is edited: its clips take the place of those before; it is kept for the next time.
        text = site.request("/api/map.json", offer=number)
        assert text.headers["content-disposition"].endswith('"map.json"')
        edited = text.json
        del edited["chains"]["left_arm"]
        refused = site.request("/api/map", verb="POST", body=json.dumps(edited).encode(), offer=number)
        assert refused.status == 400 and refused.json["error"]
        edited = text.json
        del edited["chains"]["head"]
        answer = site.request("/api/map", verb="POST", body=json.dumps(edited).encode(), offer=number)
        assert answer.status == 200 and answer.json["clips"] == [added] and answer.json["map"]["saved"]
        assert "skate" in answer.json["quality"][0]
        assert list(site.studio.session.main.character.clips) == [*hero.clips, added]
        head = hero.skeleton.index("head")
        again = site.studio.session.main.character.clips[added]
        assert not [t for t in again.tracks if t.target == head and t.path == "rotation"]
        for wrong in (b"{", b"[]", b'{"format":"x"}', b"\xff\xff"):
            assert site.request("/api/map", verb="POST", body=wrong, offer=number).status == 400
        assert site.request("/api/map", offer=99).status == 404
        assert site.request("/api/map", offer="x").status == 404
        assert site.request("/api/map", verb="POST", offer=number, how="now").status == 400
    second = upload(site, walk, name="walk.bvh").json["offer"]
    assert second["map"]["saved"] and "head" not in [row["chain"] for row in second["map"]["rows"]]
    answer = upload(site, json.dumps(text.json).encode(), name="map.json").json
    assert answer["kind"] == "map" and "head" in [row["chain"] for row in answer["offer"]["map"]["rows"]]


def test_the_profile_is_edited_and_the_result_is_shown(site, walk, hero):
    """Its arm stays as it rests, at once; what does not fit is told and changes nothing."""
    with site.page():
        offer = upload(site, walk, name="walk.bvh").json["offer"]
        number = offer["number"]
        profile = json.loads(offer["map"]["profile"])
        assert profile["chains"]["left_arm"]["joints"] == ["upperarm_l", "lowerarm_l", "hand_l"]
        profile["chains"]["left_arm"]["fk"] = 0.0

        def post(data):
            body = data if isinstance(data, bytes) else json.dumps(data).encode()
            return site.request("/api/profile", verb="POST", body=body, offer=number)

        answer = post(profile)
        assert answer.status == 200 and json.loads(answer.json["map"]["profile"]) == profile
        (added,) = answer.json["clips"]
        arm = hero.skeleton.index("upperarm_l")

        def moved():
            turns = site.studio.session.main.character.clips[added].sample([0.0, 0.3, 0.6]).rotation[:, arm]
            return np.abs(turns - turns[0]).max()

        assert moved() < 1e-5
        for wrong in (b"{", b"[]", {**profile, "version": 3}, {**profile, "chains": {"spine": {"ik": 1}}}):
            refused = post(wrong)
            assert refused.status == 400 and refused.json["error"]
        assert site.request("/api/profile.json", offer=number).json == profile
        profile["chains"]["left_arm"]["fk"] = 1.0
        assert post(profile).json["clips"] == [added] and moved() > 0.01
    profile["root"] = "in place"
    dropped = upload(site, json.dumps(profile).encode(), name="hero.retarget.json").json
    assert dropped["kind"] == "profile" and json.loads(dropped["offer"]["map"]["profile"]) == profile


def test_files_that_are_neither_graph_nor_map_are_refused(site):
    for data in (b"{", b"[]", b"{}", b'{"format": "marrow bone map"}', b"\xff" * 20, b"[" * 100_000):
        answer = upload(site, data, name="x.json")
        assert answer.status == 422 and answer.json["error"].startswith("x.json: "), data[:20]


# -- graphs -----------------------------------------------------------------------------------------------------
def test_a_dropped_graph_runs():
    with serving(small_actor()) as site, site.page() as page:
        assert site.request("/api/character/0").json["graph"] is None
        answer = upload(site, to_json(small_graph()).encode(), name="moves.json").json
        assert (answer["kind"], answer["error"]) == ("graph", None)
        assert page.wait("state", mode="graph")["parameters"]["x"] == 0.0
        assert site.request("/api/character/0").json["graph"]["name"] == "small"
        assert "mw.load_graph('moves.json')" in site.request("/api/code").body.decode()
        unfit = to_json(mw.samples.locomotion_graph()).encode()
        answer = upload(site, unfit, name="other.json")
        assert answer.status == 422 and "there is no clip" in answer.json["error"]
        page.frame()


def test_a_dropped_graph_reads_no_other_file(tmp_path, monkeypatch):
    mw.graph.save_graph(small_graph(), tmp_path / "secret.json")
    monkeypatch.chdir(tmp_path)
    text = json.dumps({"marrow_graph": 1, "root": {"node": "SubGraph", "file": "secret.json"}})
    with serving(small_actor()) as site:
        answer = upload(site, text.encode(), name="evil.json")
        assert answer.status == 422 and "only be found beside a file" in answer.json["error"]


def test_clips_of_standing_walking_and_running_make_a_graph(hero):
    bare = hero.replace(
        clips=[hero.clips[n].renamed(f"hero|{n}") for n in ("walk_back", "run", "idle", "walk")]
    )
    assert gaits(bare) == {"idle": "hero|idle", "walk": "hero|walk", "run": "hero|run"}
    with serving(StudioActor(bare, 0, Origin("python", ""))) as site, site.page() as page:
        info = site.request("/api/character/0").json
        assert (
            info["graph_offer"] == "'hero|idle', 'hero|walk' and 'hero|run' make a graph that goes by speed"
        )
        assert [c["label"] for c in info["clips"]] == ["walk_back", "run", "idle", "walk"]
        page.send("mode", value="graph")
        assert "--graph FILE" in page.wait("error")["message"]
        page.send("ready_graph")
        page.wait("state", mode="graph", graph=True)
        assert site.request("/api/character/0").json["graph"]["blend_spaces"][0]["x"] == "speed"
        names: dict = {}
        code = site.request("/api/code").body.decode().replace("...  # ", "character  # ")
        exec(code.replace("mw.view(animator)", ""), {"character": bare} | names)
    speeds = [point.at for point in ready_graph(bare).root.source.points]
    assert speeds[0] == 0.0 and speeds == sorted(speeds) and 1.0 < speeds[1] < 2.5 < speeds[2] < 6.0


def test_clips_that_make_no_graph_say_how_to_get_one():
    with serving(small_actor()) as site, site.page() as page:
        info = site.request("/api/character/0").json
        assert info["graph_offer"] is None and "--graph FILE" in info["graph_hint"]
        page.send("ready_graph")
        assert "make no graph" in page.wait("error")["message"]


def test_prefixes_that_all_share_are_cut():
    assert labels(["Armature|walk", "Armature|run"]) == ["walk", "run"]
    assert labels(["walk_left", "walk_right"]) == ["left", "right"]
    assert labels(["walk", "walking"]) == ["walk", "walking"] and labels([]) == []
    assert labels(["a|x", "a|x|"]) == ["a|x", "a|x|"], "they stay apart"
    assert labels(["Armature|mixamo.com"]) == ["mixamo.com"] and labels(["|"]) == ["|"]


@pytest.mark.parametrize("many", [False, True])
def test_the_code_of_a_graph_replays_what_was_set_when_it_was(tmp_path, many):
    mw.save(small_character(), tmp_path / "arm.glb")
    mw.graph.save_graph(small_graph(), tmp_path / "arm.json")
    session = Session()
    origin = Origin("file", str(tmp_path / "arm.glb"), str(tmp_path / "arm.json"))
    session.put(StudioActor(mw.load(tmp_path / "arm.glb", cache=False), 0, origin, graph=small_graph()))
    rng = np.random.default_rng(4)
    for frame in range(90):
        if many or frame % 30 == 5:
            session.apply(p.SetParameter("x", float(rng.random())))
        if frame == 40:
            session.apply(p.Fire("hello"))
        if frame == 60:
            session.apply(p.SetParameter("x", 0.0))  # a change that only the pose remembers
        session.tick(1 / 60)
    code = python_code(session)
    assert ("steering = [" in code) == many
    names: dict = {}
    exec(code.replace("mw.view(animator)", ""), names)
    np.testing.assert_allclose(names["animator"].matrices, session.look()[0].matrices[0], atol=1e-4)
    assert names["animator"].state() == "greet"


def test_what_was_steered_long_ago_is_where_it_begins(monkeypatch):
    from marrow.studio import actor

    monkeypatch.setattr(actor, "MOST_CHANGES", 3)
    steered = actor.Steered({"x": 0.0})
    for k in range(8):
        steered.note(float(k), "x", k / 10)
        steered.note(k + 0.001, "x", k / 10 + 0.01)  # dragged: the same picture
    assert len(steered.changes) == 3 and steered.first == {"x": pytest.approx(0.41)}


# -- what can be looked at --------------------------------------------------------------------------------------
def test_cameras_beside_a_body_are_neither_drawn_nor_framed():
    bones = small_character().skeleton
    names = (*bones.names, "Producer Front", "Camera01", "Camera01.Target", "camera_bone")
    rest = [
        np.concatenate([getattr(bones.rest, f), np.zeros((4, w))])
        for f, w in (("translation", 3), ("rotation", 4))
    ]
    rest[1][5:, 3] = 1
    rest[0][5:8] = 900.0
    scale = np.ones((9, 3))
    skeleton = mw.Skeleton(names, [*bones.parents.tolist(), -1, -1, -1, 3], mw.Pose(*rest, scale))
    info = mw.Character(skeleton, ())
    shown = hidden(info)
    assert [h.name for h in shown] == list(names[5:]) and {h.kind for h in shown} == {"joint"}
    assert np.abs(rest_box_shown(info)).max() < 10
    with serving(StudioActor(info, 0, Origin("python", ""))) as site:
        described = site.request("/api/character/0").json
        assert [j["helper"] for j in described["joints"]] == [False] * 5 + [True] * 4
        assert len(described["hidden"]) == 4 and np.abs(described["bounds"]).max() < 10


def test_hidden_meshes_are_said_and_never_leave_nothing():
    character = small_character()
    veiled = character.replace(meshes=(character.meshes[0].replace(visible=False), character.meshes[1]))
    assert [(h.kind, h.name, h.index) for h in hidden(veiled)] == [("mesh", "body", 0)]
    assert not np.allclose(rest_box_shown(veiled), rest_box_shown(character))
    none = character.replace(meshes=tuple(m.replace(visible=False) for m in character.meshes))
    np.testing.assert_allclose(rest_box_shown(none), rest_box_shown(character))


def test_the_box_of_a_clip_is_around_all_it_does(hero):
    low, high = clip_box(hero, "run")
    for time in np.linspace(0, hero.clips["run"].duration, 9):
        at = mw.skin(hero, hero.clips["run"].sample(time), normals=False, tangents=False).positions
        assert (at.min(axis=0) > low - 0.05).all() and (at.max(axis=0) < high + 0.05).all()
    told = bounds(hero, "run")
    assert told.low == tuple(low.tolist()) and bounds(hero, None).clip is None
    still = bounds(mw.Character(mw.Skeleton((), []), ()), None)
    assert still.low == still.high == (0.0, 0.0, 0.0)


def test_keys_are_those_of_the_file():
    character = small_character()
    told = keys(character, "wave", [1, 3])
    times = [round(0.1 * k, 6) for k in range(11)]
    assert [j.joint for j in told.joints] == [1, 3]
    np.testing.assert_allclose(told.joints[0].translation, times, atol=1e-6)
    assert told.joints[1].translation == [] and len(told.joints[1].rotation) == 11 and len(told.morphs) == 11
    assert [j.joint for j in keys(character, "wave", []).joints] == [0, 1, 2, 3, 4]
    with serving(small_actor()) as site:
        assert site.request("/api/keys", clip="wave", joints="1,3").json["joints"][1]["joint"] == 3
        for wrong in ("x", "1,,2", "-1", "1;2", "9" * 30):
            assert site.request("/api/keys", clip="wave", joints=wrong).status == 400
        assert site.request("/api/keys", clip="no").status == 404
        assert site.request("/api/bounds", clip="no").status == 404


def test_each_line_of_a_check_leads_to_what_it_is_about():
    character = small_character()
    body = character.meshes[0]
    weights = body.weights.copy()
    weights[7, 0] += 5e-4
    scaled = mw.Track(2, "scale", np.array([0.0, 1.0]), np.array([[1, 1, 1], [1, 2.0, 1]]))
    clip = mw.Clip("it's", character.skeleton, [scaled])
    odd = character.replace(meshes=(body.replace(weights=weights), character.meshes[1]), clips=[clip])
    lines = {line.rule: line for line in check(odd).lines}
    sums = lines["weight-sums"]
    assert (sums.mesh, sums.vertices) == (0, [7])
    scale = lines["scale-tracks"]
    assert (scale.clip, odd.skeleton.names[scale.joint]) == ("it's", "lower")
    assert lines["degenerate-triangles"].mesh in (0, 1)
    with serving(StudioActor(odd, 0, Origin("python", ""))) as site:
        assert len(site.request("/api/check").json["lines"]) == len(check(odd).lines)


def test_a_joint_before_and_after_each_layer():
    actor = small_actor(graph=True)
    actor.animator["nod"] = 0.6
    for _ in range(7):
        actor.animator.update(1 / 30)
    head, hand = (actor.character.skeleton.index(n) for n in ("head", "hand"))
    told = joint_numbers(actor, head, 0)
    (layer,) = told.layers
    assert (layer.node, layer.title) == ("root", "LayerBlend")
    assert np.abs(np.subtract(layer.before.rotation, layer.after.rotation)).max() > 1e-3
    np.testing.assert_allclose(layer.after.rotation, told.local.rotation, atol=1e-6)
    other = joint_numbers(actor, hand, 0).layers[0]
    np.testing.assert_allclose(other.before.rotation, other.after.rotation, atol=1e-6)
    # By itself the base is what the graph would show without the layer.
    twin = mw.Animator(small_character(), small_graph())
    for _ in range(7):
        twin.update(1 / 30)
    np.testing.assert_allclose(
        layer.before.rotation, np.reshape(twin.pose.rotation, (-1, 4))[head], atol=1e-5
    )
    pose = pose_of(actor.animator, 0)
    np.testing.assert_allclose(pose.rotation, np.reshape(actor.animator.pose.rotation, (-1, 4)), atol=1e-6)
    model = actor.character.skeleton.to_model(pose)[head]
    np.testing.assert_allclose(told.model, model.ravel(), atol=1e-6)


def test_looking_at_layers_changes_nothing(hero):
    """Programs keep poses for later (inertia, saved poses): running parts of them must not."""
    one, two = (mw.Animator(hero, mw.samples.mannequin_graph(), count=3) for _ in range(2))
    for animator in (one, two):
        animator["upper"], animator["speed"] = 0.7, 1.5
    for k in range(24):
        if k == 6:
            one["crouch"] = two["crouch"] = True
        one.update(1 / 30)
        two.update(1 / 30)
        found = layer_poses(one, k % 3)
        assert all(np.isfinite(layer.after.rotation).all() for layer in found)
        np.testing.assert_array_equal(one.matrices, two.matrices)


def test_numbers_over_the_wire(site):
    assert len(site.request("/api/joint", joint=3).json["model"]) == 12
    assert site.request("/api/joint", joint=999).status == 404
    assert site.request("/api/joint", joint=1, instance=5).status == 404
