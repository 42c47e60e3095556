"""The session: what messages do to what is played, without any network."""

import numpy as np
import pytest
from studio_world import small_actor, small_character, small_graph

import marrow as mw
from marrow.errors import MarrowError, UnknownNameError, ValidationError
from marrow.graph import Graph, Parameter
from marrow.studio import protocol as p
from marrow.studio.actor import Origin, StudioActor, _rings
from marrow.studio.assets import MorphWeights, describe, influences
from marrow.studio.code import python_code
from marrow.studio.curves import curves
from marrow.studio.session import Session


@pytest.fixture
def clips():
    session = Session()
    session.put(small_actor())
    return session


@pytest.fixture
def graph():
    session = Session()
    session.put(small_actor(graph=True))
    return session


def matrices(session, slot=0):
    session.look()
    return session.pictures[slot].matrices.copy()


def expected(character, clip, time):
    pose = character.clips[clip].sample(time)
    return mw.skinning_matrices(character, character.skeleton.to_model(pose))


def test_first_clip_plays_when_a_character_comes(clips):
    assert clips.main.clip == "wave" and clips.moving
    clips.tick(0.05)
    assert clips.main.time == pytest.approx(0.05)


def test_pictures_are_the_skinning_matrices_of_the_clip(clips):
    clips.apply(p.Seek(0.3))
    np.testing.assert_allclose(matrices(clips)[0], expected(clips.main.character, "wave", 0.3), atol=1e-5)


def test_morph_targets_follow_the_clip(clips):
    clips.apply(p.Seek(0.3))
    clips.look()
    pose = clips.main.character.clips["wave"].sample(0.3)
    np.testing.assert_allclose(clips.pictures[0].targets[0], pose.morphs, atol=1e-5)


def test_time_stands_still_when_paused(clips):
    clips.apply(p.Play(False))
    clips.tick(0.1)
    assert clips.main.time == 0 and not clips.moving


def test_a_long_pause_of_the_machine_does_not_jump(clips):
    clips.tick(30.0)
    assert clips.main.time == pytest.approx(0.1)


def test_speed_and_direction(clips):
    clips.apply(p.SetSpeed(-2.0))
    clips.apply(p.Seek(0.5))
    clips.tick(0.1)
    assert clips.main.time == pytest.approx(0.3)


def test_a_clip_that_does_not_loop_stops_at_its_end_and_starts_over(clips):
    clips.apply(p.SetLoop(False))
    clips.apply(p.Seek(0.95))
    clips.tick(0.1)
    assert clips.main.time == pytest.approx(1.0)
    assert not clips.playing and not clips.moving
    clips.apply(p.Play(True))
    assert clips.main.time == 0 and clips.moving


def test_steps_land_on_frames_and_pause(clips):
    clips.apply(p.Seek(0.52))
    clips.apply(p.Step(1))
    assert clips.main.time == pytest.approx(0.55) and not clips.playing  # the clip has 20 frames a second
    clips.apply(p.Step(-12))
    assert clips.main.time == pytest.approx(0.95)  # round to the end, as it loops


def test_switching_clips(clips):
    clips.apply(p.PickClip("bend"))
    assert (clips.state().clip, clips.state().duration) == ("bend", 0.5)
    with pytest.raises(UnknownNameError, match="did you mean 'bend'"):
        clips.apply(p.PickClip("bent"))
    assert clips.main.clip == "bend"


def test_a_crowd_grows_around_the_first_and_keeps_time(clips):
    clips.tick(0.1)
    clips.tick(0.1)
    clips.apply(p.SetCount(30))
    clips.tick(0.0)
    clips.look()
    picture = clips.pictures[0]
    assert picture.matrices.shape[0] == 30 and clips.main.time == pytest.approx(0.2)
    np.testing.assert_array_equal(picture.matrices[0], picture.matrices[29])
    places = picture.placements[:, :, 3]
    np.testing.assert_array_equal(places[0], 0)
    gaps = np.linalg.norm(places[:, None] - places[None], axis=-1) + 9 * np.eye(30)
    assert gaps.min() > 0.05


def test_rings_stay_when_the_crowd_grows():
    np.testing.assert_array_equal(_rings(2000)[:9], _rings(9))
    assert len(np.unique(_rings(2000), axis=0)) == 2000


def test_a_spread_crowd_is_out_of_step(clips):
    clips.apply(p.SetCount(5))
    clips.apply(p.Spread(True))
    clips.tick(0.01)
    moved = matrices(clips)
    assert np.abs(moved[1] - moved[2]).max() > 1e-3
    np.testing.assert_allclose(moved[0], moved[4], atol=1e-6)


def test_character_without_clips_rests():
    session = Session()
    session.put(small_actor(clips=False))
    assert not session.moving and session.state().clip is None
    session.apply(p.Seek(1.0))
    np.testing.assert_allclose(
        matrices(session)[0, :5, :, :3], np.broadcast_to(np.eye(3), (5, 3, 3)), atol=1e-5
    )


def test_nothing_to_show_is_said_in_words():
    session = Session()
    assert session.look() == [] and not session.moving
    with pytest.raises(ValidationError, match="drop a file"):
        session.apply(p.Play(True))


# -- graphs -----------------------------------------------------------------------------------------------------
def test_a_graph_runs_at_once_and_parameters_move_the_pose(graph):
    assert graph.state().mode == "graph"
    assert graph.parameters == {"x": 0.0, "y": 0.0, "nod": 0.0, "calm": False}
    graph.tick(0.05)
    before = matrices(graph)
    graph.apply(p.SetParameter("x", 1.0))
    graph.tick(0.0001)
    assert np.abs(matrices(graph) - before).max() > 1e-2
    assert graph.state().parameters["x"] == 1.0


def test_parameters_are_checked(graph):
    for message, words in (
        (p.SetParameter("z", 1.0), "no parameter called 'z'"),
        (p.SetParameter("x", (1.0, 2.0, 3.0)), "takes a number"),
        (p.SetParameter("x", float("nan")), "takes a number"),
        (p.SetParameter("hello", 1.0), "no parameter called 'hello'"),
        (p.Fire("x"), "no trigger called 'x'"),
    ):
        with pytest.raises(MarrowError, match=words):
            graph.apply(message)
    graph.apply(p.SetParameter("x", 7.0))
    graph.apply(p.SetParameter("calm", 1.0))
    assert graph.parameters["x"] == 1.0 and graph.parameters["calm"] is True


def test_a_trigger_changes_the_state_and_history(graph):
    graph.tick(0.1)
    first = graph.live()
    assert [m.state for m in first.machines] == ["move"] and first.entered[0].state == "move"
    graph.apply(p.Fire("hello"))
    graph.tick(0.05)
    graph.tick(0.05)
    live = graph.live()
    (machine,) = live.machines
    assert (machine.state, machine.source) == ("greet", "move") and 0 < machine.progress < 1
    assert [h.state for h in graph.narrator.history] == ["move", "greet"]
    info = graph.main.graph_info
    shown = dict(zip([n.path for n in info.nodes], live.weights))
    greet = next(n for n in info.machines[0].nodes if "greet" in n)
    assert 0 < shown[greet] < 1 and shown["root"] == 1


def test_live_is_quiet_while_nothing_changes(graph):
    graph.tick(0.1)
    assert graph.live() is not None
    graph.tick(0.1)
    assert graph.live() is None


def test_a_graph_has_no_timeline(graph):
    with pytest.raises(ValidationError, match="no timeline"):
        graph.apply(p.Seek(0.1))
    with pytest.raises(ValidationError, match="forward"):
        graph.apply(p.Step(-1))
    graph.apply(p.Step(2))
    assert graph.clock == pytest.approx(2 / 60) and not graph.playing


def test_changing_between_clips_and_graph(graph):
    graph.apply(p.SetParameter("x", 0.5))
    graph.apply(p.PickClip("bend"))
    assert graph.mode == "clip"
    with pytest.raises(ValidationError, match="not running"):
        graph.apply(p.SetParameter("x", 0.1))
    graph.apply(p.SetMode("graph"))
    assert graph.mode == "graph" and graph.main.animator["x"][0] == 0.5


def test_no_graph_no_graph_mode(clips):
    with pytest.raises(ValidationError, match="has no graph"):
        clips.apply(p.SetMode("graph"))


def test_a_crowd_of_a_graph_spreads_its_parameters(graph):
    graph.apply(p.SetParameter("x", 0.5))
    graph.apply(p.SetCount(20))
    graph.apply(p.Spread(True))
    graph.tick(0.01)
    values = graph.main.animator["x"]
    assert values.shape == (20,) and values.std() > 0.05 and values[0] == values[-1] == 0.5
    graph.apply(p.SetCount(1))
    graph.tick(0.01)
    assert graph.main.count == 1 and graph.main.animator["x"][0] == 0.5


def test_a_crowd_keeps_its_states_when_it_grows(graph):
    graph.apply(p.Fire("hello"))
    graph.tick(0.05)
    graph.apply(p.SetCount(3))
    graph.tick(0.01)
    assert graph.main.animator.state() == ["greet", "move", "move"]


def test_the_graph_is_described_for_drawing(graph):
    info = graph.main.graph_info
    paths = [n.path for n in info.nodes]
    assert paths[0] == "root" and len(set(paths)) == len(paths)
    assert all(n.parent in paths for n in info.nodes[1:])
    assert info.machines[0].states == ["move", "greet"] and info.machines[0].initial == "move"
    assert {t.when[0] for t in info.machines[0].transitions} == {"hello", "elapsed >= 5"}
    (space,) = info.blend_spaces
    assert (space.x, space.y) == ("x", "y") and len(space.points) == 4 and len(space.triangles) == 2
    assert all(point.node in paths for point in space.points)
    (mask,) = info.masks
    assert mask.weights == [0, 0, 0, 0, 1]
    nod = next(q for q in info.parameters if q.name == "nod")
    assert nod.range == (0.0, 1.0) and nod.type == "float"
    assert {c for n in info.nodes if (c := n.clip)} == {"wave", "bend"}


def test_sliders_reach_past_where_a_place_is_by_default():
    far = Graph("wave", {"aim": Parameter("vector", (0.0, 1.6, 3.0)), "near": Parameter("vector")})
    actor = StudioActor(small_character(), 0, Origin("python", ""), graph=far)
    assert [q.range for q in actor.graph_info.parameters] == [(-4.5, 4.5), (-2.0, 2.0)]


def test_live_weights_are_the_blend_space_weights(graph):
    graph.apply(p.SetParameter("x", 0.25))
    graph.tick(0.1)
    live = graph.live()
    paths = [n.path for n in graph.main.graph_info.nodes]
    points = graph.main.graph_info.blend_spaces[0].points
    shown = {(q.x, q.y): live.weights[paths.index(q.node)] for q in points}
    assert shown[0, 0] == pytest.approx(0.75) and shown[1, 0] == pytest.approx(0.25)


# -- comparing --------------------------------------------------------------------------------------------------
def test_the_second_character_plays_along(clips):
    clips.tick(0.1)
    clips.put(small_actor(1, seed=9))
    clips.apply(p.PickClip("bend"))
    clips.apply(p.Seek(0.2))
    assert clips.actors[1].clip == "bend" and clips.actors[1].time == pytest.approx(0.2)
    np.testing.assert_allclose(
        matrices(clips, 1)[0], expected(clips.actors[1].character, "bend", 0.2), atol=1e-5
    )
    clips.apply(p.SetCount(4))
    clips.tick(0.0)
    assert clips.actors[1].count == 4 and clips.state().slots == [0, 1]
    clips.remove(1)
    assert clips.state().slots == [0]


def test_two_graphs_share_their_parameters(graph):
    graph.put(small_actor(1, graph=True))
    graph.apply(p.SetParameter("x", 0.75))
    assert graph.actors[1].animator["x"][0] == 0.75


# -- assets -----------------------------------------------------------------------------------------------------
def blob_array(asset, info):
    dtype = np.dtype(info.dtype)
    count = int(np.prod(info.shape))
    assert info.offset % 16 == 0
    return np.frombuffer(asset.blob, dtype, count, info.offset).reshape(info.shape)


def test_buffers_hold_the_character():
    character = small_character()
    asset = describe(character, 0, None)
    for mesh, info in zip(character.meshes, asset.info.meshes):
        get = {name: blob_array(asset, buffer) for name, buffer in info.buffers.items()}
        np.testing.assert_array_equal(get["positions"], mesh.positions)
        np.testing.assert_array_equal(get["triangles"], mesh.triangles)
        np.testing.assert_allclose(get["weights"].sum(axis=1), 1, atol=1e-6)
        assert (np.diff(get["weights"], axis=1) <= 0).all()
        for k, target in enumerate(mesh.morph_targets):
            np.testing.assert_array_equal(get["morph_positions"][k], target.positions)
    assert asset.info.buffer_bytes == len(asset.blob)
    assert asset.info.morph_weights == 2 and asset.info.palette == len(character.palette)
    np.testing.assert_array_equal(
        blob_array(asset, asset.info.buffers["inverse_bind"]), character.palette.inverse_bind
    )


def test_skinning_by_the_buffers_alone_gives_the_engines_positions():
    character = small_character()
    asset = describe(character, 0, None)
    pose = character.clips["wave"].sample(0.37)
    palette = mw.skinning_matrices(character, character.skeleton.to_model(pose))
    parts = []
    for info in asset.info.meshes:
        get = {name: blob_array(asset, buffer) for name, buffer in info.buffers.items()}
        points = get["positions"].astype(np.float64)
        if info.morph_targets:
            weights = pose.morphs[[t.weight for t in info.morph_targets]]
            points = points + np.einsum("t,tvc->vc", weights, get["morph_positions"])
        blended = np.einsum("vk,vkij->vij", get["weights"], palette[get["joints"]])
        parts.append(np.einsum("vij,vj->vi", blended[..., :3], points) + blended[..., 3])
    np.testing.assert_allclose(np.concatenate(parts), mw.skin(character, pose).positions, atol=1e-5)


def test_a_joint_listed_twice_counts_once():
    bones = mw.Skeleton(("a", "b"), [-1, 0])
    mesh = mw.Mesh(
        "m",
        np.zeros((1, 3)),
        np.zeros((0, 3), int),
        joints=[[0, 1, 1]],
        weights=[[0.4, 0.3, 0.3]],
        joint_list=[0, 1],
        inverse_bind=np.tile(np.eye(3, 4), (2, 1, 1)),
    )
    joints, weights = influences(mesh, mw.Character(bones, (mesh,)).palette.mesh_slots[0])
    assert joints.tolist() == [[1, 0]]
    np.testing.assert_allclose(weights, [[0.6, 0.4]], atol=1e-6)


def test_in_betweens_become_target_weights():
    bones = mw.Skeleton(("a",), [-1], morph_names=("open",))
    half = mw.MorphTarget("half", 0, np.ones((1, 3)), full_weight=0.5)
    full = mw.MorphTarget("full", 0, np.ones((1, 3)))
    mesh = mw.Mesh.rigid("m", np.zeros((1, 3)), np.zeros((0, 3), int), 0, morph_targets=(half, full))
    weights = MorphWeights(mw.Character(bones, (mesh,)))
    np.testing.assert_allclose(weights.of(np.array([[0.25], [0.75]])), [[0.5, 0], [0.5, 0.5]])


def test_curves_are_those_of_the_clip():
    character = small_character()
    found = curves(character, "wave", 2)
    pose = character.clips["wave"].sample(np.array(found.times))
    assert len(found.times) == 21
    np.testing.assert_allclose(found.translation, pose.translation[:, 2], atol=1e-6)
    np.testing.assert_allclose(np.abs((np.array(found.rotation) * pose.rotation[:, 2]).sum(1)), 1, atol=1e-5)
    assert np.abs(np.diff(found.euler, axis=0)).max() <= 180


# -- code -------------------------------------------------------------------------------------------------------
def test_the_code_reproduces_the_moment(clips, tmp_path):
    file = tmp_path / "arm.glb"
    mw.save(clips.main.character, file)
    session = Session()
    session.put(StudioActor(mw.load(file, cache=False), 0, Origin("file", str(file))))
    session.apply(p.PickClip("bend"))
    session.apply(p.Seek(0.25))
    names: dict = {}
    exec(python_code(session).replace("mw.view(animator)", ""), names)
    np.testing.assert_allclose(names["animator"].matrices, matrices(session)[0], atol=1e-5)


def test_the_code_of_a_graph_runs(tmp_path):
    mw.save(small_character(), tmp_path / "arm.glb")
    mw.graph.save_graph(small_graph(), tmp_path / "arm.json")
    session = Session()
    origin = Origin("file", str(tmp_path / "arm.glb"), str(tmp_path / "arm.json"))
    session.put(StudioActor(mw.load(tmp_path / "arm.glb", cache=False), 0, origin, graph=small_graph()))
    session.apply(p.SetParameter("x", 0.5))
    session.tick(1 / 60)
    names: dict = {}
    exec(python_code(session).replace("mw.view(animator)", ""), names)
    np.testing.assert_allclose(names["animator"].matrices, matrices(session)[0], atol=1e-5)


def test_the_code_of_a_graph_replays_its_time_and_triggers(tmp_path):
    mw.save(small_character(), tmp_path / "arm.glb")
    mw.graph.save_graph(small_graph(), tmp_path / "arm.json")
    session = Session()
    origin = Origin("file", str(tmp_path / "arm.glb"), str(tmp_path / "arm.json"))
    session.put(StudioActor(mw.load(tmp_path / "arm.glb", cache=False), 0, origin, graph=small_graph()))
    session.apply(p.SetParameter("nod", 0.4))
    for frame in range(50):
        if frame == 38:
            session.apply(p.Fire("hello"))
        session.tick(1 / 60)
    names: dict = {}
    exec(python_code(session).replace("mw.view(animator)", ""), names)
    assert names["animator"].state() == "greet"
    np.testing.assert_allclose(names["animator"].matrices, matrices(session)[0], atol=1e-5)


def test_a_parameter_changes_the_pose_even_when_time_stands_still(graph):
    graph.tick(0.05)
    graph.apply(p.Play(False))
    before = matrices(graph)
    graph.apply(p.SetParameter("x", 1.0))
    assert np.abs(matrices(graph) - before).max() > 1e-2 and not graph.moving


def test_the_code_of_a_graph_sets_what_differs(graph):
    graph.apply(p.SetParameter("x", 0.5))
    graph.apply(p.SetCount(7))
    code = python_code(graph)
    assert "animator['x'] = 0.5" in code and "count=7" in code and "'y'" not in code
    compile(code, "code", "exec")
