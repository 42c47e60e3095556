"""Where real characters look, and one graph for rigs of other names."""

from pathlib import Path

import numpy as np
import pytest

import marrow as mw
from marrow.graph import Graph, LayerBlend, LookAt, TwoBoneIK, load_graph, save_graph
from marrow.math import quaternion, transform

LOOKS = {
    "Soldier.glb": "-z", "CesiumMan.glb": "+z", "RiggedFigure.glb": "+z", "BrainStem.glb": "+z", "Fox.glb": "+z",
    "voxel_avatar.vrm": "+z", "cmu_walk.bvh": "+z",
}  # fmt: skip


def place_of(name: str, corpus: Path, motion: Path) -> Path:
    return corpus / name if (corpus / name).is_file() else motion / name


@pytest.mark.parametrize(("name", "axis"), LOOKS.items())
def test_real_characters_look_where_they_are_seen_to(name, axis, corpus, motion):
    from marrow.motion.facing import axis_name

    who = mw.load(place_of(name, corpus, motion))
    assert axis_name(who.facing) == axis
    assert [
        line.message.startswith("it looks along -z") for line in who.report if line.place == "facing"
    ] == ([True] if axis == "-z" else [])


def test_soldier_turned_is_soldier_turned_in_every_vertex(corpus):
    before, after = (mw.load(corpus / "Soldier.glb", facing=axis) for axis in (None, "+z"))
    for clip in ("Run", "Walk"):
        times = np.linspace(0, before.clips[clip].duration, 10)
        old, new = (mw.skin(who, who.clips[clip].sample(times)).positions for who in (before, after))
        np.testing.assert_allclose(new, old * [-1, 1, -1], atol=1e-6)
    assert after.facing.tolist() == [0, 0, 1] and after.turned_to("-z") == before


def test_one_graph_file_drives_a_mannequin_a_mixamo_figure_and_a_vrm(corpus, motion, tmp_path):
    graph = LayerBlend("walk", "wave", joints=("@spine",))
    graph = LookAt(graph, {"@neck": 0.5, "@head": 1.0}, "gaze", limit=1.2)
    graph = Graph(
        TwoBoneIK(graph, "@left_hand", "reach"),
        {"gaze": mw.graph.Parameter("vector"), "reach": mw.graph.Parameter("vector")},
    )
    save_graph(graph, tmp_path / "one.json")
    mannequin = mw.samples.mannequin()
    wave = [mannequin.clips[name] for name in ("walk", "wave")]
    for file in (None, corpus / "Soldier.glb", motion / "voxel_avatar.vrm"):
        who = mannequin if file is None else mw.load(file).replace(clips=())
        if file is not None:
            who = who.replace(clips=[mw.retarget(clip, onto=who) for clip in wave])
        one = mw.Animator(who, load_graph(tmp_path / "one.json"))
        skeleton, ahead = who.skeleton, who.facing
        rest = skeleton.rest_model.astype(np.float64)
        shoulder, hand = (rest[skeleton.index(part), :, 3] for part in ("@left_upper_arm", "@left_hand"))
        reach = shoulder + 0.8 * np.linalg.norm(hand - shoulder) * ahead
        gaze = rest[skeleton.index("@head"), :, 3] + 4 * quaternion.rotate([0, 0.2, 0, np.sqrt(0.96)], ahead)
        one["reach"], one["gaze"] = reach, gaze
        one.update(0.3)
        model = one.model_matrices.astype(np.float64)
        np.testing.assert_allclose(model[skeleton.index("@left_hand"), :, 3], reach, atol=2e-3)
        head = skeleton.index("@head")
        turn = [transform.decompose(m[head])[1] for m in (model, rest)]
        face = quaternion.rotate(quaternion.multiply(turn[0], quaternion.conjugate(turn[1])), ahead)
        wanted = gaze - model[head, :, 3]
        assert float(face @ wanted) / np.linalg.norm(wanted) > 0.999
