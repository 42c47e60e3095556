"""Fetches the real files of the tests from where they are published: `make corpus`, or `python fetch.py [FOLDER]`.

`manifest.json` names each file, its address at one commit, its SHA-256 and its licence. The folder is MARROW_CORPUS, or
`~/.cache/marrow-corpus`. A file that is there and right is kept, so a fetch that was broken off goes on; another of its
name is an error, never overwritten. MARROW_CORPUS_MIRROR is a folder or an address that stands for
`https://raw.githubusercontent.com/` (`owner/repository/commit/path` below it), for machines that reach no network.

Needs nothing but Python.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import struct
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlparse

HERE = Path(__file__).resolve().parent
PUBLIC = "https://raw.githubusercontent.com/"
TIMEOUT = 60.0
REMEDY = (
    "Check the network (HTTPS_PROXY names a proxy) and run it again: it goes on where it was. Without a network, set "
    "MARROW_CORPUS_MIRROR to a folder of the same files, or MARROW_CORPUS to a corpus that is there"
)


class FetchError(Exception):
    """What could not be fetched, why, and what to do."""


def corpus_folder() -> Path:
    """Where the files go, and where the tests look for them."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("MARROW_CORPUS") or Path(home) / "marrow-corpus")


def read_manifest() -> list[dict[str, Any]]:
    files: list[dict[str, Any]] = json.loads((HERE / "manifest.json").read_text(encoding="utf-8"))["files"]
    return files


def place_of(folder: Path, name: str) -> Path:
    """Where a file of the manifest is. The folder `motion` may also stand beside the others."""
    beside = folder.parent / name
    return (
        beside
        if name.startswith("motion/") and not (folder / name).exists() and beside.is_file()
        else folder / name
    )


def fetch_all(files: list[dict[str, Any]], folder: Path, *, mirror: str = "") -> int:
    """Fetches what is not there; answers with how many files were fetched."""
    fetched = 0
    for number, file in enumerate(files, 1):
        path = place_of(folder, file["name"])
        if path.exists():
            if digest(path.read_bytes()) != file["sha256"]:
                raise FetchError(
                    f"{path} is another file than the tests know: move it away, or choose another folder"
                )
            continue
        print(f"[{number}/{len(files)}] {file['name']}, {file['bytes'] / 1e6:.2f} MB", flush=True)
        data = fetch_one(file, mirror)
        try:
            write_whole(path, data)
        except OSError as error:
            raise FetchError(f"{path} cannot be written: {error.strerror or error}") from None
        fetched += 1
    return fetched


def fetch_one(file: dict[str, Any], mirror: str = "") -> bytes:
    """The bytes of a file, checked. A `.gltf` with `parts` beside it becomes one GLB."""
    if "parts" not in file:
        data = download(file["url"], mirror)
        return checked(data, file["sha256"], file["url"])
    parts = {}
    for name, wanted in file["parts"].items():
        address = urljoin(file["url"], name)
        parts[name] = checked(download(address, mirror), wanted, address)
    return checked(packed(parts), file["sha256"], f"{file['name']}, packed")


def download(url: str, mirror: str = "") -> bytes:
    address = url
    if mirror:
        rest = url.removeprefix(PUBLIC)
        if "://" not in mirror or mirror.startswith("file://"):
            base = Path(unquote(urlparse(mirror).path) if "://" in mirror else mirror)
            try:
                return (base / unquote(rest)).read_bytes()
            except OSError as error:
                raise FetchError(
                    f"the mirror has no {base / unquote(rest)}: {error.strerror or error}"
                ) from None
        address = mirror.rstrip("/") + "/" + rest
    try:
        with urllib.request.urlopen(address, timeout=TIMEOUT) as answer:
            data: bytes = answer.read()
            return data
    except urllib.error.HTTPError as error:
        raise FetchError(f"{address}: the server says {error.code} {error.reason}. {REMEDY}") from None
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise FetchError(f"{address}: {getattr(error, 'reason', error)}. {REMEDY}") from None


def checked(data: bytes, wanted: str, what: str) -> bytes:
    if digest(data) != wanted:
        raise FetchError(
            f"{what}: {len(data):,} bytes with the SHA-256 {digest(data)} came, expected {wanted}"
        )
    return data


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def packed(parts: dict[str, bytes]) -> bytes:
    """One GLB of a glTF file, which stands first, and the buffers and images that it names."""
    gltf = json.loads(next(iter(parts.values())))
    body, starts = b"", []
    for buffer in gltf["buffers"]:
        starts.append(len(body))
        body += parts[buffer["uri"]]
        body += b"\0" * (-len(body) % 4)
    for view in gltf["bufferViews"]:
        start = starts[view["buffer"]]
        if start or "byteOffset" in view:
            view["byteOffset"] = start + view.get("byteOffset", 0)
        view["buffer"] = 0
    for image in gltf.get("images", []):
        name = image.pop("uri")
        gltf["bufferViews"].append({"buffer": 0, "byteOffset": len(body), "byteLength": len(parts[name])})
        image |= {"bufferView": len(gltf["bufferViews"]) - 1, "mimeType": f"image/{Path(name).suffix[1:]}"}
        body += parts[name]
        body += b"\0" * (-len(body) % 4)
    gltf["buffers"] = [{"byteLength": len(body)}]
    text = json.dumps(gltf, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    chunks = (
        struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(body), 0x004E4942) + body
    )
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def write_whole(path: Path, data: bytes) -> None:
    """A whole file or none: written beside its place, then renamed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        try:
            file.write(data)
            file.close()
            os.chmod(file.name, 0o644)
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def main(arguments: list[str]) -> int:
    folder, files = Path(arguments[0]) if arguments else corpus_folder(), read_manifest()
    try:
        fetched = fetch_all(files, folder, mirror=os.environ.get("MARROW_CORPUS_MIRROR", ""))
    except FetchError as error:
        print(f"marrow corpus: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nmarrow corpus: broken off; run it again to go on", file=sys.stderr)
        return 130
    size = sum(file["bytes"] for file in files) / 1e6
    print(f"{len(files)} files, {size:.0f} MB, {fetched} of them fetched now, in {folder}")
    print("Each has the licence of its author (tests/corpus/manifest.json): for tests, not to be passed on")
    if not arguments and not os.environ.get("MARROW_CORPUS"):
        print("The tests find them there by themselves; MARROW_CORPUS names another folder")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
