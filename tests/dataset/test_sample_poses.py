"""Rows as poses again, and `marrow dataset show`."""

import numpy as np
import pytest
from motion_files import body, motion
from PIL import Image

import builders
import marrow as mw
from marrow.cli.app import run
from marrow.dataset import film_strips
from marrow.dataset.sample_poses import joint_positions, sample_character
from marrow.errors import NoAdapterError, ValidationError

ROTATIONS = ("rotations", "rotations_6d", "rotations_axis_angle", "rotations_euler")
FRAMES = np.array([0, 3, 9])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A data set built for a character with a mesh, and the character."""
    folder = tmp_path_factory.mktemp("samples")
    skeleton = body()
    (folder / "in").mkdir()
    for k in range(2):
        mw.save(
            mw.Character(skeleton, clips=[motion(skeleton, k, 40, rate=30.0)]), folder / "in" / f"{k}.marrow"
        )
    rig = body(1.2)
    puppet = mw.Character(rig, meshes=(builders.mesh(np.random.default_rng(1), rig, 60),), name="puppet")
    mw.save(puppet, folder / "puppet.marrow")
    features = [*ROTATIONS, "translations", "positions", "root_trajectory", "contacts", "vertices"]
    out = mw.dataset.build(
        folder / "in", folder / "out", features=features, window=12, split=1, workers=0, format="npz",
        character=folder / "puppet.marrow",
    )  # fmt: skip
    assert not out.manifest.failed
    return folder, out, mw.load(folder / "puppet.marrow", cache=False)


def only(row, *features):
    return {k: v for k, v in row.items() if not isinstance(v, np.ndarray) or k in features}


@pytest.mark.parametrize("more", ["translations", "positions", "root_trajectory"])
@pytest.mark.parametrize("rotation", ROTATIONS)
def test_rows_move_the_mesh_as_the_build_did(made, rotation, more):
    _, found, puppet = made
    row = found["train"][1]
    who = sample_character(found, only(row, rotation, more), FRAMES, puppet)
    (clip,) = who.clips.values()
    got = mw.skin(who, clip.sample(FRAMES / row["rate"])).positions
    np.testing.assert_allclose(got, row["vertices"][FRAMES], atol=2e-4)


def test_places_of_joints_with_and_without_positions(made):
    _, found, puppet = made
    row = found["train"][0]
    for features in (["positions"], ["rotations", "translations"], ["rotations_6d", "root_trajectory"]):
        places, parents = joint_positions(found, only(row, *features), FRAMES)
        np.testing.assert_allclose(places, row["positions"][FRAMES], atol=1e-4)
        assert parents == puppet.skeleton.parents.tolist()
    bare = sample_character(found, only(row, "positions"), FRAMES, puppet)
    assert not bare.meshes  # positions say nothing of how joints turn
    with pytest.raises(ValidationError, match="--features positions"):
        joint_positions(found, only(row, "vertices"), FRAMES)


def test_joints_in_another_order_are_where_they_should_be(tmp_path):
    """Rows have the order of the first file, skeletons each their own."""
    skeleton = body()
    order = [0, 1, *range(3, len(skeleton)), 2]
    turned = mw.Skeleton(
        tuple(skeleton.names[j] for j in order),
        np.array([-1 if (p := skeleton.parents[j]) < 0 else order.index(p) for j in order], np.int32),
        skeleton.rest.replace(
            **{n: getattr(skeleton.rest, n)[order] for n in ("translation", "rotation", "scale")}
        ),
    )
    for name, rig in (("a", skeleton), ("b", turned)):
        mw.save(mw.Character(rig, clips=[motion(rig, 5, 12, rate=30.0)]), tmp_path / f"{name}.marrow")
    files = [tmp_path / "a.marrow", tmp_path / "b.marrow"]
    found = mw.dataset.build(
        files, tmp_path / "out", features="rotations translations positions", split=1, workers=0, format="npz"
    )
    rows = {row["source"]: row for row in found["train"]}
    row = rows["b.marrow"]
    who = sample_character(found, only(row, "rotations", "translations"), FRAMES)
    assert who.skeleton.names == turned.names
    model = who.skeleton.to_model(next(iter(who.clips.values())).sample(FRAMES / row["rate"]))[..., 3]
    back = [turned.names.index(name) for name in found.schema.joints]
    np.testing.assert_allclose(model[:, back], row["positions"][FRAMES], atol=1e-4)


def test_show_draws_meshes_skeletons_or_stick_figures(made, tmp_path, monkeypatch, capsys):
    folder, _, _ = made
    drawn = []

    def pictures(who, times, *, clip, size, view=None):
        """In place of the renderer, whose pictures have tests of their own."""
        drawn.append((bool(who.meshes), view, len(times)))
        return (mw.Frame(np.full((size[1], size[0], 4), 200, np.uint8)) for _ in times)

    monkeypatch.setattr("marrow.pictures.picture.render_moments", pictures)

    def show(name, *words):
        code = run(["dataset", "show", str(folder / "out"), "-o", name, "--count", "3", *words])
        return code, capsys.readouterr()

    monkeypatch.chdir(tmp_path)
    code, said = show("bones.png")
    assert code == 0 and "puppet.marrow" in said.err and "--character" in said.err
    assert drawn == [(False, None, 6)] * 3
    assert Image.open("bones.png").width == 6 * (film_strips.SIZE[0] + 4) + 4
    drawn.clear()
    assert show("mesh.png", "--character", str(folder / "puppet.marrow"))[0] == 0
    assert drawn == [(True, None, 6)] * 3
    drawn.clear()
    monkeypatch.chdir(folder)  # found by its name
    code, said = show(str(tmp_path / "found.png"))
    assert code == 0 and not said.err and drawn[0][0]
    monkeypatch.chdir(tmp_path)
    mw.save(mw.samples.lizard().replace(clips=()), "puppet.marrow")  # another of that name
    code, said = show("other.png")
    assert code == 0 and "not the file" in said.err
    code, said = show("wrong.png", "--character", "lizard")
    assert code != 0 and "joints" in said.err and len(said.err.splitlines()) == 1
    assert show("wrong.blend")[0] == 2

    def fails(*words, **options):
        raise NoAdapterError("no adapter here")

    monkeypatch.setattr("marrow.pictures.picture.render_moments", fails)
    code, said = show("sticks.png", "--character", str(folder / "puppet.marrow"))
    assert code == 0 and "stick figures" in said.err and "no adapter here" in said.err
    assert Image.open("sticks.png").width == 3 * 320
