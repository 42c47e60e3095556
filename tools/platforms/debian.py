"""Programs of Debian for another processor, fetched and unpacked into a folder: nothing is installed, and no right is
needed."""

from __future__ import annotations

import shutil
from pathlib import Path

from platforms.foreign import LAB, Missing, called

__all__ = ["unpack"]


def unpack(architecture: str, *names: str) -> Path:
    """The folder with these packages (without what they depend on), fetched where they are not there yet."""
    folder = LAB / f"debian-{architecture}"
    missing = [name for name in names if not (folder / "fetched" / name).is_file()]
    if not missing:
        return folder
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise Missing(
            "packages of another processor are fetched by apt-get and dpkg-deb, as Debian and Ubuntu have them"
        )
    state, made = folder / "apt", folder / "fetched"
    for place in (state / "lists" / "partial", state / "cache" / "archives" / "partial", made):
        place.mkdir(parents=True, exist_ok=True)
    (state / "status").touch()
    settings = {
        "APT::Architecture": architecture, "APT::Architectures": architecture, "Dir::State": str(state),
        "Dir::State::lists": str(state / "lists"), "Dir::State::status": str(state / "status"),
        "Dir::Cache": str(state / "cache"), "APT::Sandbox::User": "",
    }  # fmt: skip
    apt = ["apt-get", "-qq", *(f"-o{key}={value}" for key, value in settings.items())]
    called([*apt, "update"])
    called([*apt, "download", *missing], cwd=made)
    for file in sorted(made.glob("*.deb")):
        called(["dpkg-deb", "-x", str(file), str(folder / "root")])
        file.rename(made / file.name.partition("_")[0])
    return folder
