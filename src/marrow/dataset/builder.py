"""`mw.dataset.build`: a plan, the shards that are missing, and the manifest once all are there."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from marrow import samples
from marrow.dataset import formats
from marrow.dataset.characters import character_at, character_digest
from marrow.dataset.common_joints import decided
from marrow.dataset.dataset import Dataset
from marrow.dataset.journal import FOLDER, ShardRecord, is_fresh, locked, read_record, record_name
from marrow.dataset.manifest import MANIFEST, finish, read_manifest
from marrow.dataset.plan import Shard, planned
from marrow.dataset.pool import run_tasks
from marrow.dataset.recipe import SPLITS, Recipe, digest_of, made, shares_of
from marrow.dataset.schema import Schema, schema_of
from marrow.dataset.shard_task import CALL, PLAN, ShardTask
from marrow.dataset.sources import SourceFile, found
from marrow.dataset.storage import BuildError, LocalStore, OutputError, Store, store_at
from marrow.display.progress import shown_progress
from marrow.errors import MarrowError, ValidationError, WrongTypeError, told_at_the_call
from marrow.model import Character, _validate
from marrow.motion.profile import as_profile
from marrow.printing import is_text, warn

__all__ = ["Progress", "build"]

PathLike = str | os.PathLike[str]
DEFAULT_FEATURES = ("rotations", "root_trajectory", "positions")
_SHARD = re.compile(r"[0-9a-f]{16}\.(parquet|tar|safetensors|npz|zarr)$")


@dataclass
class Progress:
    """How far a build is. `kept` sources were finished before; `seconds` is how long this build runs."""

    sources: int
    done: int = 0
    kept: int = 0
    failed: int = 0
    frames: int = 0
    seconds: float = 0.0
    source: str = ""

    @property
    def seconds_left(self) -> float | None:
        """By the rate so far; None as long as there is none."""
        new = self.done - self.kept
        return (self.sources - self.done) * self.seconds / new if new else None


@told_at_the_call
def build(
    sources: Any,
    out: PathLike,
    *,
    features: str | Sequence[str] = DEFAULT_FEATURES,
    rate: float = 30.0,
    character: PathLike | None = None,
    window: int | None = None,
    stride: int | None = None,
    mirror: bool = False,
    split: Any = (0.8, 0.1, 0.1),
    split_by: str = "source",
    clips: Sequence[str] | None = None,
    joints: Sequence[str] | None = None,
    skeletons: str = "same",
    euler_order: str = "zxy",
    contact_height: float | None = None,
    contact_speed: float | None = None,
    scale: float | None = None,
    calibration: str = "drop",
    springs: bool = True,
    format: str = "parquet",
    compression: str = "none",
    shard_mb: float = 8.0,
    workers: int | None = None,
    on: str | None = None,
    force: bool = False,
    allow_outside: bool = False,
    progress: Callable[[Progress], None] | Literal[False] | None = None,
) -> Dataset:
    """Makes training data of motion files, or goes on where an earlier call was interrupted.

    - `sources`: folders, patterns (`"mocap/**/*.bvh"`), files or URLs, one or several
    - `out`: a folder or a URL. What is finished there and still good is kept
    - `features`: names of `dataset.FEATURES`; `rate`: frames a second of all rows
    - `character`: a file (or sample) that all motion is retargeted to; without one all sources must have the same
      joints, or rows have their own number of them with `skeletons="any"`
    - `window` frames for each row, one every `stride` frames; without it a row is a whole clip
    - `mirror`: each clip also as in a mirror, where the rig allows
    - `split`: parts for training, validation and test. Each source goes where the hash of its name says
      (`split_by="folder"`: of its folder's name), so that more files move none of those that are there
    - `clips`, `joints`: names or patterns of those to take
    - `contact_height`, `contact_speed`: below both, in metres and metres a second, a foot stands (None: 0.05 and 0.2 for
      a leg of 0.85 m, growing with the leg)
    - `scale` multiplies all lengths of the sources; without it those of files with another unit (BVH, people of a
      wrong size) are made metres by the size of the body
    - `calibration`: a T-pose before the motion, as capture software writes it, is left out; `"keep"` keeps it
    - `springs`: hair and clothes swing that the sources have springs for (VRM)
    - `format`: parquet, webdataset, safetensors, npz or zarr; `shard_mb`: megabytes of sources in one file, about
    - `workers`: local processes (None: one for each processor; 0: none); `on`: `"ray"` or `"ray://HOST:PORT"`
    - `force` builds all anew; `progress` is called now and then: left out, a call that takes long shows by itself how far
      it is, and with False nothing

    The same sources and options give the same bytes, whoever worked on them and however often that was interrupted.
    """
    recipe = made(
        features, rate=rate, window=window, stride=stride, mirror=mirror, clips=clips, joints=joints, skeletons=skeletons,
        euler_order=euler_order, contact_height=contact_height, contact_speed=contact_speed, scale=scale,
        calibration=calibration, springs=springs, format=format, compression=compression, allow_outside=allow_outside,
    )  # fmt: skip
    shares = shares_of(split)
    _validate.one_of("build", "split_by", split_by, ("source", "folder"))
    shard_bytes = int(1e6 * _validate.number("build", "shard_mb", shard_mb, low=0, above=True))
    if workers is not None:
        _validate.integer("build", "workers", workers, low=0)
    libraries = formats.libraries(recipe.format)
    # A name that is no UTF-8 does not travel; nobody opens those.
    files = [msgspec.structs.replace(f, path=f.name) if f.problem else f for f in found(sources)]
    onto, name, digest = _character(character, recipe)
    store = store_at(out)
    _check_folder(store)
    with locked(store):
        schema = _schema(store, recipe, onto, files)
        number = recipe.digest(schema.digest(), digest, name, libraries)
        shards = planned(files, number, shares, by=split_by, shard_bytes=max(shard_bytes, 1))
        _sweep(store)
        records = (
            {}
            if _validate.flag("build", "force", force)
            else {s.key: read_record(store, s.key) for s in shards}
        )
        todo = [s for s in shards if not is_fresh(store, s, records.get(s.key))]
        work = _Build(
            store, recipe, schema, libraries, character if character is None else os.fspath(character), digest
        )
        if todo or _is_other(store, number, shards):
            store.remove(MANIFEST)  # from here to the end this is no finished data set
            with shown_progress("data set", False if progress is not None else None) as step:
                tell = progress or (lambda state: step(state.done, state.sources))
                work.run(shards, todo, records, number, workers, on, tell)
            _clear(store, shards)
            finish(
                store, recipe, schema, shards, libraries=libraries, split=shares, split_by=split_by, character=name,
                character_sha256=digest,
            )  # fmt: skip
            store.write(PLAN, msgspec.json.encode({"plan": _plan_number(number, shards)}))
    done = Dataset(store)
    _warn_of_empty_splits(done, len(files))
    return done


def _warn_of_empty_splits(done: Dataset, sources: int) -> None:
    """A small set may have no source whose name falls into a part that was asked for."""
    empty = [
        split
        for split, share in zip(SPLITS, done.manifest.split)
        if share > 0 and not done.manifest.splits[split].sources
    ]
    if empty:
        warn(
            f"build: {' and '.join(empty)} {'is' if len(empty) == 1 else 'are'} empty: {sources} "
            f"source{'s' if sources > 1 else ''} and parts of {', '.join(f'{s:.3g}' for s in done.manifest.split)}, by the "
            "hash of each name; take more sources, or larger parts (split=0.5,0.5)"
        )


def _character(given: PathLike | None, recipe: Recipe) -> tuple[Character | None, str | None, str]:
    """The character, what it is called in the manifest, and the SHA-256 of its file."""
    if given is None:
        return None, None, ""
    if not isinstance(given, (str, os.PathLike)):
        raise WrongTypeError(f"build.character: expected a path, got {_validate.shown(given)}")
    path = os.fspath(given)
    if "://" not in path and path not in samples.NAMES and not os.path.exists(path):
        raise ValidationError(f"build.character: {path}: no such file, and no sample of that name")
    source, character = character_at(path, recipe)
    if source is None:
        return character, path, ""
    as_profile("auto", character)  # one that is wrong is told before anything is read
    return character, source.path.name, character_digest(source, path)


def _schema(store: Store, recipe: Recipe, onto: Character | None, files: Sequence[SourceFile]) -> Schema:
    """By the character, or by what most sources have."""
    if onto is not None:
        return schema_of(recipe, onto)
    if recipe.skeletons == "any":
        return schema_of(recipe, None)
    return decided(store, recipe, files)


def _check_folder(store: Store) -> None:
    """Nobody's other files are in the way, and there is a place to write to."""
    if not isinstance(store, LocalStore):
        return
    if not is_text(store.url):
        raise ValidationError(f"{store.url}: the name of the folder is not UTF-8; name another one")
    if store.folder.exists() and not store.folder.is_dir():
        raise ValidationError(f"{store.url}: is a file, not a folder")
    if store.names("") and not store.path(FOLDER).is_dir():
        raise ValidationError(
            f"{store.url}: the folder holds other files; name one that is empty or does not exist"
        )


def _sweep(store: Store) -> None:
    """Deletes what was begun and will not be finished."""
    if isinstance(store, LocalStore):
        for folder in ("", FOLDER, *SPLITS):
            store.sweep(folder)


def _plan_number(number: str, shards: Sequence[Shard]) -> str:
    return digest_of([number, [s.key for s in shards]])


def _is_other(store: Store, number: str, shards: Sequence[Shard]) -> bool:
    """Whether the manifest is missing or describes another plan."""
    plan = store.read(PLAN)
    if plan is None or store.read(MANIFEST) is None:
        return True
    try:
        read_manifest(store)
        known = msgspec.json.decode(plan).get("plan")
    except (MarrowError, msgspec.MsgspecError, AttributeError):
        return True
    return bool(known != _plan_number(number, shards))


@dataclass
class _Build:
    store: Store
    recipe: Recipe
    schema: Schema
    libraries: dict[str, str]
    character: str | None
    character_sha256: str

    def run(
        self,
        shards: Sequence[Shard],
        todo: Sequence[Shard],
        records: dict[str, ShardRecord | None],
        number: str,
        workers: int | None,
        on: str | None,
        progress: Callable[[Progress], None],
    ) -> None:
        plan = _plan_number(number, shards)
        self.store.write(PLAN, msgspec.json.encode({"plan": plan}))
        for shard in todo:
            self.store.remove(record_name(shard.key))
        # The largest first: at the end nobody waits long for the last one.
        order = sorted(todo, key=lambda s: (-s.size, s.key))
        tasks = [
            msgspec.to_builtins(
                ShardTask(
                    self.store.url,
                    plan,
                    self.recipe,
                    self.schema,
                    shard,
                    self.libraries,
                    self._place(),
                    self.character_sha256,
                )
            )
            for shard in order
        ]
        kept = {s.key for s in shards} - {s.key for s in todo}
        state = Progress(sum(len(s.sources) for s in shards))
        for shard in shards:
            record = records.get(shard.key)
            if shard.key in kept and record is not None:
                state.kept += len(record.sources)
                state.failed += sum(bool(s.error) for s in record.sources)
        state.done = state.kept
        began = time.perf_counter()

        def tell(index: int, what: dict[str, Any]) -> None:
            state.seconds = time.perf_counter() - began
            if "source" in what:
                state.source = what["source"]
            else:
                state.done += 1
                state.frames += what["frames"]
                state.failed += bool(what["error"])
            progress(state)

        outcomes = run_tasks(CALL, tasks, workers=workers, on=on, tell=tell)
        try:
            for outcome in outcomes:
                if outcome.failure is not None:
                    kind = OutputError if outcome.failure.kind == "OutputError" else BuildError
                    raise kind(outcome.failure.message)
        except BaseException:
            outcomes.close()  # type: ignore[attr-defined]
            _sweep(self.store)  # workers that were stopped could not tidy up
            raise

    def _place(self) -> str | None:
        if self.character is None or "://" in self.character or not os.path.exists(self.character):
            return self.character
        return os.path.abspath(self.character)


def _clear(store: Store, shards: Sequence[Shard]) -> None:
    """Deletes what earlier plans left: shards and records that no longer belong to the data set."""
    mine = {s.key for s in shards}
    for name in store.names(FOLDER):
        key, _, suffix = name.partition(".")
        if suffix == "json" and key not in mine and len(key) == 16:
            store.remove(f"{FOLDER}/{name}")
    for split in SPLITS:
        for name in store.names(split):
            if _SHARD.match(name) and name.partition(".")[0] not in mine:
                store.remove(f"{split}/{name}")
        for name in store.names(split):
            record = read_record(store, name.partition(".")[0]) if _SHARD.match(name) else None
            if record is not None and record.file != f"{split}/{name}":
                store.remove(f"{split}/{name}")
