"""Where a character looks: found in its body and its clips, and turned exactly."""

import json
import math

import numpy as np
import pytest

import marrow as mw
from marrow.cli.app import run
from marrow.errors import ValidationError
from marrow.io.lint import lint
from marrow.math import quaternion, transform
from marrow.motion.facing import facing_line

BODY = (
    ("Hips", -1, (0, 1, 0)), ("Spine", 0, (0, 0.2, 0)), ("Head", 1, (0, 0.4, 0)),
    ("LeftArm", 1, (0.17, 0.2, 0)), ("LeftForeArm", 3, (0.28, 0, 0)), ("LeftHand", 4, (0.25, 0, 0)),
    ("RightArm", 1, (-0.17, 0.2, 0)), ("RightForeArm", 6, (-0.28, 0, 0)), ("RightHand", 7, (-0.25, 0, 0)),
    ("LeftUpLeg", 0, (0.1, -0.05, 0)), ("LeftLeg", 9, (0, -0.42, 0)), ("LeftFoot", 10, (0, -0.42, 0)),
    ("RightUpLeg", 0, (-0.1, -0.05, 0)), ("RightLeg", 12, (0, -0.42, 0)), ("RightFoot", 13, (0, -0.42, 0)),
    ("LeftToes", 11, (0, -0.08, 0.12)), ("RightToes", 14, (0, -0.08, 0.12)),
)  # fmt: skip


def yaw(degrees: float) -> np.ndarray:
    half = math.radians(degrees) / 2
    return np.array([0, math.sin(half), 0, math.cos(half)])


def body(degrees=0.0, rows=BODY, clips=None, mirrored_names=False) -> mw.Character:
    """A body that looks `degrees` from +z towards +x, with clips that go so many metres ahead (negative: back)."""
    rest = mw.Pose.identity(len(rows))
    rest.translation[:] = [at for _, _, at in rows]
    rest.translation[:] = quaternion.rotate(yaw(degrees), rest.translation.astype(np.float64))
    names = [name for name, _, _ in rows]
    if mirrored_names:
        swap = {"Left": "Right", "Righ": "Left"}
        names = [
            swap[n[:4]] + n.removeprefix("Left").removeprefix("Right") if n[:4] in swap else n for n in names
        ]
    skeleton = mw.Skeleton(tuple(names), [parent for _, parent, _ in rows], rest)
    ahead = quaternion.rotate(yaw(degrees), np.array([0.0, 0, 1]))
    start = rest.translation[0].astype(np.float64)
    made = [
        mw.Clip(name, skeleton, [mw.Track(0, "translation", [0, 1], [start, start + far * ahead])])
        for name, far in (clips or {}).items()
    ]
    return mw.Character(skeleton, clips=made)


@pytest.mark.parametrize(
    ("degrees", "looks"),
    [(0, (0, 0, 1)), (180, (0, 0, -1)), (90, (1, 0, 0)), (-90, (-1, 0, 0)), (173, (0, 0, -1)),
     (45, (math.sqrt(0.5), 0, math.sqrt(0.5)))],
)  # fmt: skip
def test_a_body_looks_where_its_sides_and_toes_say(degrees, looks):
    who = body(degrees)
    np.testing.assert_allclose(who.facing, looks, atol=1e-6)
    assert who.facing_told == "its left and right, its toes"
    assert not who.facing.flags.writeable


def test_what_is_no_body_looks_nowhere_and_says_why():
    box = mw.Character(mw.Skeleton(("a", "b"), [-1, 0]))
    assert box.facing is None and "no body" in box.facing_told and facing_line(box) is None
    chain = mw.Character(mw.Skeleton(tuple("abcdefghij"), [-1, *range(9)]))
    assert "not known: its joints show no body" in facing_line(chain)


def test_a_body_that_lies_looks_nowhere():
    lying = body()
    rest = lying.skeleton.rest
    rest = rest.replace(rotation=rest.rotation.copy())
    rest.rotation[0] = [math.sin(math.pi / 4), 0, 0, math.cos(math.pi / 4)]
    who = mw.Character(mw.Skeleton(lying.skeleton.names, lying.skeleton.parents, rest))
    assert who.facing is None and "stands neither at rest nor in its clips" in facing_line(who)


def test_clips_that_travel_confirm_and_what_disagrees_is_not_believed():
    assert "where its clips go" in body(180, clips={"walk": 3.0}).facing_told
    no_toes = [row for row in BODY if "Toes" not in row[0]]
    walks_back = body(180, no_toes, {"walk": -3.0})
    assert walks_back.facing is None
    assert walks_back.facing_told == "what tells it disagrees: its left and right -z, where its clips go +z"
    steps_back = body(180, no_toes, {"walk_back": -3.0, "idle": 0.0})
    assert steps_back.facing.tolist() == [0, 0, -1]
    with_toes = body(0, clips={"walk": 3.0}, mirrored_names=True)
    assert with_toes.facing.tolist() == [0, 0, 1] and with_toes.facing_told == "its toes, where its clips go"


def test_what_walks_on_four_legs_looks_from_its_hind_legs_to_its_front_legs():
    rows = [
        ("root", -1, (0, 0, 0)), ("j0", 0, (0, 0.6, -0.4)), ("j1", 1, (0, 0, 0.4)), ("j2", 2, (0, 0, 0.4)),
        ("j3", 3, (0, 0.2, 0.2)), ("j4", 4, (0, 0, 0.15)),
    ]  # fmt: skip
    for x in (1, -1):
        for at in (1, 3):
            n = len(rows)
            rows += [
                (f"k{n}", at, (0.12 * x, 0, 0)),
                (f"k{n + 1}", n, (0, -0.3, 0)),
                (f"k{n + 2}", n + 1, (0, -0.28, 0)),
            ]
    for degrees, looks in ((0, (0, 0, 1)), (180, (0, 0, -1)), (90, (1, 0, 0))):
        np.testing.assert_allclose(body(degrees, rows).facing, looks, atol=1e-6)


def test_animals_whose_body_is_not_found_look_from_tail_to_head():
    rows = [
        ("Root", -1, (0, 1, 0)), ("Tail1", 0, (0, 0, 0.5)), ("Head", 0, (0, 0.1, -0.6)), ("WingA", 0, (0.3, 0, 0)),
        ("WingB", 0, (-0.3, 0, 0)),
    ]  # fmt: skip
    assert body(0, rows).facing.tolist() == [0, 0, -1]


def skinned(degrees: float) -> mw.Character:
    """A body in a skin, with a morph, a socket, a level of detail and a clip that moves everything."""
    who = body(degrees)
    skeleton, rng = who.skeleton, np.random.default_rng(3)
    J = len(skeleton)
    skeleton = mw.Skeleton(
        skeleton.names, skeleton.parents, skeleton.rest.replace(morphs=np.zeros(1, np.float32)), ("smile",),
        (mw.Socket("grip", 5, [0.1, 0, 0.02], [0, 0.6, 0, 0.8]),),
    )  # fmt: skip
    inverse = np.linalg.inv(
        np.concatenate([skeleton.rest_model, np.tile([[[0, 0, 0, 1]]], (J, 1, 1))], axis=1)
    )[:, :3]
    V = 3 * J
    mesh = mw.Mesh(
        "skin",
        positions=np.repeat(skeleton.rest_model[..., 3], 3, axis=0) + rng.normal(0, 0.05, (V, 3)),
        triangles=np.arange(V).reshape(-1, 3), joints=(np.repeat(np.arange(J), 3)[:, None] + [0, 1]) % J,
        weights=np.tile([0.7, 0.3], (V, 1)), joint_list=np.arange(J), inverse_bind=inverse,
        normals=np.tile([0, 0, 1.0], (V, 1)),
        morph_targets=(mw.MorphTarget("smile", 0, rng.normal(0, 0.1, (V, 3))),),
    )  # fmt: skip
    times = np.linspace(0, 1, 6)
    turns = quaternion.normalize(np.add(rng.normal(0, 0.2, (J, 6, 4)), [0, 0, 0, 1]))
    tracks = [mw.Track(j, "rotation", times, turns[j]) for j in range(J)]
    tracks += [mw.Track(0, "translation", times, rng.normal(0, 1, (6, 3)))]
    tracks += [mw.Track(2, "scale", times, rng.uniform(0.5, 1.5, (6, 1)).repeat(3, 1))]
    tracks += [mw.Track(0, "morph", times, rng.uniform(0, 1, (6, 1)))]
    clip = mw.Clip("all", skeleton, tracks)
    level = mw.Level((mesh,), mw.Lod.of((mesh,), J, error=0.01, mean_error=0.001))
    return mw.Character(skeleton, (mesh,), [clip], name="who", reduced=(level,))


@pytest.mark.parametrize("degrees", [180, 90, 45])
def test_every_vertex_at_every_moment_is_the_turned_original(degrees):
    before = skinned(degrees)
    after = before.turned_to("+z")
    np.testing.assert_allclose(after.facing, [0, 0, 1], atol=1e-6)
    assert "was turned to +z" in str(after.report)
    times = np.linspace(0, 1, 10)
    back = quaternion.conjugate(yaw(degrees))
    for a, b in zip(before.levels, after.levels):
        old, new = (mw.skin(c, c.clips["all"].sample(times)) for c in (a, b))
        np.testing.assert_allclose(
            new.positions, quaternion.rotate(back, old.positions.astype(np.float64)), atol=1e-6
        )
        np.testing.assert_allclose(
            new.normals, quaternion.rotate(back, old.normals.astype(np.float64)), atol=2e-6
        )
    grips = []
    for who in (before, after):
        solo = mw.Animator(who)
        solo.play("all")
        solo.update(0.4)
        grips.append(solo.socket("grip")[:, 3].astype(np.float64))
    np.testing.assert_allclose(grips[1], quaternion.rotate(back, grips[0]), atol=1e-6)


def test_a_turn_by_quarters_changes_no_digit_and_back_is_where_it_was():
    before = skinned(180)
    there = before.turned_to("+z")
    assert there.turned_to("-z") == before and there != before
    assert before.turned_to("-z") is before


def test_only_level_axes_can_be_looked_along_and_uneven_scale_is_refused_between_them():
    with pytest.raises(ValidationError, match="level axis"):
        body().turned_to("y")
    with pytest.raises(ValidationError, match="expected an axis"):
        body().turned_to("forward")
    who = body(45)
    rest = who.skeleton.rest.replace(scale=np.tile([1, 2, 1], (len(who.skeleton), 1)))
    uneven = mw.Character(mw.Skeleton(who.skeleton.names, who.skeleton.parents, rest))
    with pytest.raises(ValidationError, match="scaled unevenly"):
        uneven.turned_to("+z")


def test_who_looks_nowhere_stays_and_the_report_says_so():
    box = mw.Character(mw.Skeleton(("a",), [-1]))
    kept = box.turned_to("+z")
    assert kept == box and "it stays as it is" in str(kept.report) and kept.report[0].kind == "warning"


def test_loading_tells_and_turns(tmp_path):
    path = tmp_path / "who.glb"
    mw.save(skinned(180), path)
    plain = mw.load(path, cache=False)
    (line,) = [line for line in plain.report if line.place == "facing"]
    assert line.kind == "info" and "it looks along -z, not +z" in line.message
    turned = mw.load(path, facing="+z", cache=False)
    assert (
        turned.facing.tolist() == [0, 0, 1]
        and [x for x in turned.report if "looks along -z" in x.message] == []
    )
    mw.save(turned, tmp_path / "turned.glb")
    assert not [x for x in mw.load(tmp_path / "turned.glb", cache=False).report if x.place == "facing"]
    found = [f for f in lint(plain) if f.rule == "facing"]
    assert [f.severity for f in found] == ["warning"] and "facing='+z'" in found[0].remedy
    assert not [f for f in lint(turned) if f.rule == "facing"]


def test_the_commands_tell_and_turn(tmp_path, capsys):
    path = tmp_path / "who.glb"
    mw.save(skinned(180), path)
    assert run(["info", str(path), "--json"]) == 0
    (facts,) = json.loads(capsys.readouterr().out)
    assert facts["facing"] == {"direction": [0, 0, -1], "axis": "-z", "told": "its left and right, its toes"}
    assert run(["info", str(path)]) == 0 and "looks along -z" in capsys.readouterr().out
    assert run(["convert", str(path), str(tmp_path / "turned.glb"), "--facing", "+z"]) == 0
    assert mw.load(tmp_path / "turned.glb", cache=False).facing.tolist() == [0, 0, 1]
    assert run(["convert", str(path), str(tmp_path / "x.glb"), "--facing", "up"]) == 2


def test_an_animator_is_put_where_it_looks_along_a_direction():
    for degrees in (0, 180, 45):
        crowd = mw.Animator(body(degrees), count=2)
        crowd.root.set([[1, 0, 0], [2, 0, 0]], facing=[[1, 0, 0], [0, 5, -2]])
        np.testing.assert_allclose(crowd.root.facing, [[1, 0, 0], [0, 0, -1]], atol=1e-6)
        assert crowd.root.translation.tolist() == [[1, 0, 0], [2, 0, 0]]
    one = mw.Animator(body(180))
    assert one.root.facing.tolist() == [0, 0, -1]
    with pytest.raises(ValidationError, match="one of them"):
        one.root.set(rotation=[0, 0, 0, 1], facing=[0, 0, 1])
    with pytest.raises(ValidationError, match="straight up"):
        one.root.set(facing=[0, 1, 0])


@pytest.mark.parametrize("degrees", [0, 180])
def test_a_head_looks_at_its_target_with_its_face(degrees):
    who = body(degrees, clips={"idle": 0.0})
    ahead = who.facing
    target = 3 * quaternion.rotate(yaw(40), ahead.astype(np.float64)) + [0, 1.6, 0]
    one = mw.Animator(who, mw.Graph(mw.graph.LookAt("idle", {"@head": 1.0}, tuple(target))))
    one.update(0.1)
    head = transform.decompose(one.socket("Head").astype(np.float64))
    at_rest = transform.decompose(who.skeleton.rest_model[2].astype(np.float64))
    face = quaternion.rotate(
        quaternion.multiply(head[1], quaternion.conjugate(at_rest[1])), ahead.astype(np.float64)
    )
    wanted = target - head[0]
    np.testing.assert_allclose(face, wanted / np.linalg.norm(wanted), atol=1e-4)


def test_the_studio_is_told_where_its_camera_begins():
    from marrow.studio.assets import describe

    assert describe(body(180), 0, None).info.facing == pytest.approx(math.pi)
    assert describe(body(90), 0, None).info.facing == pytest.approx(math.pi / 2)


def test_a_row_of_characters_looks_one_way():
    from marrow.scene.actor_state import actor_states
    from marrow.scene.timed_scene import timed_scene_of

    row = timed_scene_of([body(0), body(180), body(90)])
    looks = [s.world[0, :, :3] @ s.actor.character.facing for s in actor_states(row.scene)]
    np.testing.assert_allclose(looks, [[0, 0, 1]] * 3, atol=1e-6)
    own = mw.Animator(body(180))
    timed_scene_of([own, body(0)])
    assert own.root.facing.tolist() == [0, 0, -1]  # the user's own stays as it is


def test_cameras_by_name_see_the_face_in_a_scene_of_ones_own_unless_it_was_turned_there():
    from marrow.scene.timed_scene import timed_scene_of

    back = body(180)
    turned = mw.Animator(back)
    turned.root.set(facing=[0, 0, 1])
    half_turn = transform.compose(np.zeros(3), yaw(180), np.ones(3))
    for scene, angle in (
        (mw.Scene(back), math.pi),
        (mw.Scene(mw.Animator(back, count=2), mw.Actor(back)), math.pi),
        (mw.Scene(back, body(0)), 0.0),
        (mw.Scene(mw.Actor(back, transforms=half_turn)), 0.0),
        (mw.Scene(turned), 0.0),
    ):
        assert timed_scene_of(scene).facing == pytest.approx(angle)
