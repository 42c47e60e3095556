"""Every format, read without marrow, and the same rows from all of them."""

import json
import tarfile

import numpy as np
import pytest
from motion_files import bytes_of

from marrow import dataset
from marrow.dataset.formats.parquet import arrow_schema
from marrow.errors import FormatError, MarrowError, OutOfRangeError, UnknownNameError, ValidationError
from surroundings import needed

OPTIONS = {
    "features": "rotations positions contacts events text",
    "joints": "!*_end",
    "workers": 0,
    "rate": 15,
}
NAMES = ("parquet", "webdataset", "safetensors", "npz", "zarr")


@pytest.fixture(scope="module")
def made(clips, tmp_path_factory):
    """The same corpus in all formats, as windows and as whole clips."""
    needed("pyarrow") and needed("zarr")
    folder = tmp_path_factory.mktemp("formats")
    found = {}
    for name in NAMES:
        for window in (8, None):
            place = folder / f"{name}-{window}"
            found[name, window] = dataset.build(
                clips, place, format=name, window=window, split=(0.7, 0.3), **OPTIONS
            )
    return found


def plain(row):
    return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in row.items()}


@pytest.mark.parametrize("window", [8, None])
def test_all_formats_hold_the_same_rows(made, window):
    first = made["parquet", window]
    assert len(first["train"]) > 20 and len(first["validation"])
    for name in NAMES[1:]:
        other = made[name, window]
        for split in ("train", "validation", "test"):
            assert [plain(r) for r in other[split]] == [plain(r) for r in first[split]], name
        assert other.statistics.keys() == first.statistics.keys()
        assert (other.store.folder / "statistics.json").read_bytes() == (
            first.store.folder / "statistics.json"
        ).read_bytes()


def test_parquet_read_with_plain_arrow(made):
    pa = needed("pyarrow")
    table = needed("pyarrow.parquet").read_table(made["parquet", 8].store.folder / "train")
    kind = table.schema.field("rotations").type
    assert kind == pa.fixed_shape_tensor(pa.float32(), [8, 19, 4], dim_names=["frame", "joint", "2"])
    rows = {r["id"]: r for r in made["parquet", 8]["train"]}
    tensors = table.column("rotations").combine_chunks()
    values = (tensors.chunk(0) if isinstance(tensors, pa.ChunkedArray) else tensors).to_numpy_ndarray()
    assert values.shape == (len(rows), 8, 19, 4)
    for name, value in zip(table.column("id").to_pylist(), values):
        np.testing.assert_array_equal(value, rows[name]["rotations"])
    assert json.loads(table.schema.metadata[b"marrow"])["joints"][0] == "hips"


def test_parquet_of_whole_clips_has_canonical_variable_tensors(made):
    pq = needed("pyarrow.parquet")
    split = made["parquet", None]["train"]
    table = pq.read_table(split.files[0])
    field = table.schema.field("positions")
    known = getattr(field.type, "extension_name", None)  # None where this Arrow has no such type of its own
    assert (known or field.metadata[b"ARROW:extension:name"].decode()) == "arrow.variable_shape_tensor"
    about = (
        arrow_schema(made["parquet", None].schema).field("positions").metadata[b"ARROW:extension:metadata"]
    )
    assert json.loads(about) == {"dim_names": ["frame", "joint", "2"], "uniform_shape": [None, 19, 3]}
    for row, stored in zip(split, table.to_pylist()):
        values = np.array(stored["positions"]["data"], np.float32).reshape(stored["positions"]["shape"])
        np.testing.assert_array_equal(values, row["positions"])
        assert stored["positions"]["shape"][0] == stored["frames"] and stored["text"] == row["text"]


def test_tar_read_with_plain_tarfile(made):
    split = made["webdataset", 8]["train"]
    expected = list(split)
    keys: dict[str, dict[str, bytes]] = {}
    for file in split.files:
        with tarfile.open(file) as tar:
            for member in tar:
                assert member.mtime == 0 and member.uid == 0
                key, _, rest = member.name.partition(".")
                keys.setdefault(key, {})[rest] = tar.extractfile(member).read()
    assert len(keys) == len(expected)
    for found, row in zip(keys.values(), expected):
        assert json.loads(found["json"])["id"] == row["id"]
        start = found["rotations.npy"].index(b"\n") + 1
        np.testing.assert_array_equal(
            np.frombuffer(found["rotations.npy"][start:], "<f4"), row["rotations"].ravel()
        )


def test_columns_read_with_numpy_safetensors_and_zarr(made):
    safetensors = needed("safetensors.numpy")
    zarr = needed("zarr")
    for window in (8, None):
        rows = [r["positions"] for r in made["npz", window]["train"]]
        loaders = {
            "npz": np.load,
            "safetensors": safetensors.load_file,
            "zarr": lambda f: zarr.open_group(f, mode="r"),
        }
        for name, load in loaders.items():
            parts = [load(f) for f in made[name, window]["train"].files]
            found = np.concatenate([np.asarray(p["positions"][:]) for p in parts])
            np.testing.assert_array_equal(found, np.stack(rows) if window else np.concatenate(rows))
            if window is None:
                ends = [np.diff(np.asarray(p["offsets"][:])) for p in parts]
                assert np.concatenate(ends).tolist() == [len(r) for r in rows]


@pytest.mark.parametrize("name", NAMES)
def test_the_same_bytes_in_another_folder(made, clips, tmp_path, name):
    again = dataset.build(
        clips, tmp_path / "deeper" / "out", format=name, window=8, split=(0.7, 0.3), **OPTIONS
    )
    assert bytes_of(again.store.folder) == bytes_of(made[name, 8].store.folder)


def test_rows_of_any_shape(clips, tmp_path):
    import marrow as mw

    mw.save(mw.samples.lizard(), tmp_path / "lizard.marrow")
    sources = [clips / "actor0", tmp_path / "lizard.marrow"]
    found = {
        name: dataset.build(
            sources,
            tmp_path / name,
            features="rotations morphs",
            skeletons="any",
            split=1,
            workers=0,
            format=name,
            rate=5,
        )
        for name in NAMES
    }
    first = [plain(r) for r in found["parquet"]["train"]]
    assert {np.shape(r["rotations"])[1] for r in first} >= {19, len(mw.samples.lizard().skeleton)}
    for name in NAMES[1:]:
        assert [plain(r) for r in found[name]["train"]] == first
    skeletons = found["npz"].skeletons
    for row in found["npz"]["train"]:
        assert len(skeletons[row["skeleton"]]["joints"]) == row["rotations"].shape[1]


def test_reading_by_number_and_by_feature(made):
    split = made["parquet", 8]["train"]
    assert split[-1]["id"] == split[len(split) - 1]["id"] and len(split[2:5]) == 3
    assert split.array("contacts").shape == (len(split), 8, 4)
    assert set(split.row(0, ["id", "positions"])) == {"id", "positions"}
    assert set(split.row(0, "id")) == {"id"} and next(split.shard_rows(0, "id")).keys() == {"id"}
    assert len(made["npz", None]["train"].array("positions")) == len(made["npz", None]["train"])
    with pytest.raises(OutOfRangeError, match="there is no row"):
        split[len(split)]
    with pytest.raises(UnknownNameError, match="rotations"):
        split.array("rotation")
    with pytest.raises(UnknownNameError, match="validation"):
        made["npz", 8]["valid"]


def test_torch_rows_and_streams(made):
    torch = needed("torch")
    found = made["parquet", 8]
    split = found["train"]
    loader = torch.utils.data.DataLoader(split.torch(["positions"], normalize=True), batch_size=4)
    values = torch.cat([batch["positions"] for batch in loader]).double()
    assert values.shape[0] == len(split)
    mean, std = values.mean(dim=(0, 1)), values.std(dim=(0, 1), correction=0)
    moving = torch.from_numpy(found.statistics["positions"].std > 1e-8)
    assert mean.abs().max() < 1e-4 and (std[moving] - 1).abs().max() < 1e-3
    whole = sorted(r["positions"].numpy().tobytes() for r in split.torch(["positions"]))
    stream = split.torch_stream(["positions"], shuffle=16, seed=3)
    first = [r["positions"].numpy().tobytes() for r in stream]
    stream.set_epoch(1)
    loader = torch.utils.data.DataLoader(stream, batch_size=None, num_workers=2)
    second = [r["positions"].numpy().tobytes() for r in loader]
    assert sorted(first) == sorted(second) == whole and first != second
    assert first == [
        r["positions"].numpy().tobytes() for r in split.torch_stream(["positions"], shuffle=16, seed=3)
    ]
    parts = [r for rank in range(3) for r in split.torch_stream(["contacts"], rank=rank, world=3)]
    assert len(parts) == len(split)
    with pytest.raises(ValidationError, match="rank"):
        split.torch_stream(rank=2, world=2)


def test_a_folder_that_is_no_data_set(tmp_path, clips):
    with pytest.raises(FormatError, match="no data set"):
        dataset.open(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ValidationError, match="holds other files"):
        dataset.build(clips, tmp_path, workers=0)
    with pytest.raises(MarrowError, match="no such file or folder"):
        dataset.build(tmp_path / "nothing", tmp_path / "out", workers=0)
