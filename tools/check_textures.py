"""KTX2 textures against decoders that are not ours: `python tools/check_textures.py [FILE.ktx2 ...]`.

Random blocks (and the files named) are decoded by marrow and by others, pixel for pixel: Basis Universal by three.js's
transcoder in Node,
ASTC by Arm's encoder, ETC2 and BC by texture2ddecoder (`pip install astc-encoder-py texture2ddecoder zstandard`).
Prints the hash of each
picture, which the tests hold marrow to.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import ktx2_files as made  # noqa: E402
from marrow.io.images import Undecodable  # noqa: E402
from marrow.io.ktx2 import decode_ktx2, read_container  # noqa: E402

Array = NDArray[Any]
SCRIPT = """
const fs = require("fs"), [, , library, ...files] = process.argv;
require(library)({ wasmBinary: fs.readFileSync(library.replace(/c?js$/, "wasm")) }).then((basis) => {
  basis.initializeBasis();
  for (const name of files) {
    const file = new basis.KTX2File(new Uint8Array(fs.readFileSync(name)));
    if (!file.isValid() || !file.startTranscoding()) continue;
    const out = new Uint8Array(file.getImageTranscodedSizeInBytes(0, 0, 0, 13));
    if (file.transcodeImage(out, 0, 0, 0, 13, 0, -1, -1)) fs.writeFileSync(name + ".rgba", out);
    file.close(); file.delete();
  }
});
"""


def by_three(files: list[bytes], library: Path) -> list[Array | None]:
    """Pixels by the transcoder that three.js ships."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        for suffix in ("js", "wasm"):
            name = "basis.cjs" if suffix == "js" else "basis.wasm"
            (here / name).write_bytes((library / f"basis_transcoder.{suffix}").read_bytes())
        (here / "run.cjs").write_text(SCRIPT)
        names = [here / f"{k}.ktx2" for k in range(len(files))]
        for name, data in zip(names, files):
            name.write_bytes(data)
        subprocess.run(["node", here / "run.cjs", here / "basis.cjs", *names], check=True)
        found: list[Array | None] = []
        for name, data in zip(names, files):
            out = Path(f"{name}.rgba")
            head = read_container(data)
            found.append(
                np.fromfile(out, np.uint8).reshape(head.height, head.width, 4) if out.is_file() else None
            )
        return found


def by_arm(data: bytes, size: tuple[int, int], srgb: bool) -> Array:
    import astc_encoder as arm

    head = read_container(data)
    at, length = head.levels[0]
    profile = arm.ASTCProfile.LDR_SRGB if srgb else arm.ASTCProfile.LDR
    config = arm.ASTCConfig(profile, *size, 1, 60, arm.ASTCConfigFlags.USE_DECODE_UNORM8)
    image = arm.ASTCImage(arm.ASTCType.U8, head.width, head.height, 1)
    arm.ASTCContext(config).decompress(data[at : at + length], image, arm.ASTCSwizzle.from_str("RGBA"))
    pixels = np.array(np.frombuffer(image.data, np.uint8).reshape(head.height, head.width, 4))
    # Blocks that the format does not allow are magenta with us, as the specification wants it, and white there.
    wrong = (decode_ktx2(data) == (255, 0, 255, 255)).all(-1) & (pixels == 255).all(-1)
    pixels[wrong] = (255, 0, 255, 255)
    return pixels


def by_texture2d(data: bytes, decoder: str) -> Array:
    import texture2ddecoder

    head = read_container(data)
    at, length = head.levels[0]
    raw = getattr(texture2ddecoder, decoder)(data[at : at + length], head.width, head.height)
    return np.frombuffer(raw, np.uint8).reshape(head.height, head.width, 4)[..., [2, 1, 0, 3]]


def told(name: str, ours: Array, theirs: Array | None) -> bool:
    if theirs is None:
        print(f"{name}: the other decoder does not read it")
        return True
    # The colour of what is not there at all is nobody's business.
    clear = (ours[..., 3] == 0) & (theirs[..., 3] == 0)
    wrong = int(((ours != theirs).any(-1) & ~clear).sum()) if ours.shape == theirs.shape else ours.size
    print(
        f"{name}: {wrong} of {ours.shape[0] * ours.shape[1]} pixels differ; {hashlib.sha256(ours).hexdigest()[:16]}"
    )
    return not wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--basis", type=Path, default=ROOT / "web/node_modules/three/examples/jsm/libs/basis")
    chosen = parser.parse_args()
    good = True
    basis = [
        made.random_uastc(),
        *(made.random_etc1s(w, h, s, alpha=a)[0] for s, (w, h, a) in enumerate(made.ETC1S)),
    ]
    names = ["uastc", *(f"etc1s {k}" for k in range(len(made.ETC1S)))]
    for path in chosen.files:
        basis.append(path.read_bytes())
        names.append(path.name)
    readable = []
    for name, data in zip(names, basis):
        try:
            readable.append((name, data, decode_ktx2(data, 1 << 15)))
        except Undecodable as error:
            print(f"{name}: {error}")
    pictures = by_three([data for _, data, _ in readable], chosen.basis)
    for (name, _, ours), theirs in zip(readable, pictures):
        good &= told(name, ours, theirs)
    for size in made.SIZES:
        for srgb in (False, True):
            data = made.random_astc(size, srgb)
            good &= told(
                f"astc {size[0]}x{size[1]}{' srgb' * srgb}", decode_ktx2(data), by_arm(data, size, srgb)
            )
    for format, octets, decoder in made.ETC2:
        data = made.random_etc2(format, octets)
        good &= told(f"etc2 {format}", decode_ktx2(data), by_texture2d(data, decoder))
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
