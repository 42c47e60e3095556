"""The machines that compiled kernels are made for: an operating system and a kind of processor each, and how files are linked there.

Whatever holds kernels for one of them, an extension module or a library, is made of object code (`build.kernel_objects`) and linked
(`build.link`) by what stands here, on any machine.
"""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass

__all__ = ["MODULE_TARGETS", "TARGETS", "BuildTarget", "target_here"]


@dataclass(frozen=True)
class BuildTarget:
    """A kind of machine: its name here, LLVM's and zig's, the processor levels that code is made for, the best last, and the
    platform that a wheel for it names."""

    name: str
    triple: str
    zig: str
    levels: tuple[str, ...]
    wheel: str = ""

    @property
    def system(self) -> str:
        """`linux`, `windows`, `macos` or `wasm`."""
        return self.name.partition("-")[0]

    @property
    def long_bits(self) -> int:
        """How wide C's `long` is."""
        return 32 if self.system in ("windows", "wasm") else 64

    def module_name(self, level: str) -> str:
        """The file of an extension module with the kernels of a level."""
        return f"_{level}.pyd" if self.system == "windows" else f"_{level}.abi3.so"

    def library_name(self, name: str) -> str:
        """The file of a library that other programs load."""
        if self.system == "windows":
            return f"{name}.dll"
        if self.system == "wasm":
            return f"{name}.wasm"
        return f"lib{name}.dylib" if self.system == "macos" else f"lib{name}.so"

    def link_flags(self, file: str, *, libc: bool = False) -> list[str]:
        """What the linker is told to make a shared library `file`; `libc` for one that uses C's library.

        Nothing of the machine that links goes into the file, so the same objects give the same bytes.
        """
        bare = [] if libc else ["-nostdlib"]
        if self.system == "macos":
            # Python's functions are looked up in the process. Every library there depends on the system's, and has a name.
            named = f"-Wl,-install_name,@rpath/{file}"
            return ["-shared", "-nostdlib", "-lSystem", "-Wl,-undefined,dynamic_lookup", "-Wl,-x", named]
        if self.system == "windows":
            entry = [] if libc else ["-Wl,--entry,DllMainCRTStartup"]
            return ["-shared", *bare, "-Wl,-s", *entry, "-Wl,-Brepro"]
        if self.system == "wasm":
            return [*bare, "-Wl,--no-entry", "-Wl,-s"]
        # No number of this build, and no lazy binding: what is missing is found when the file is loaded.
        return ["-shared", *bare, "-Wl,-s", "-Wl,--hash-style=gnu", "-Wl,-z,now", "-Wl,--build-id=none"]


def _linux(processor: str) -> str:
    """Modules ask for no library and for no version of a symbol, so both of Linux's C libraries load them."""
    return ".".join(f"{kind}_{processor}" for kind in ("manylinux_2_17", "manylinux2014", "musllinux_1_2"))


TARGETS = {
    target.name: target
    for target in (
        BuildTarget("linux-x86_64", "x86_64-unknown-linux-gnu", "x86_64-linux-gnu.2.17", ("v3", "v4"), _linux("x86_64")),
        BuildTarget("linux-aarch64", "aarch64-unknown-linux-gnu", "aarch64-linux-gnu.2.17", ("arm64",), _linux("aarch64")),
        BuildTarget("windows-x86_64", "x86_64-pc-windows-gnu", "x86_64-windows-gnu", ("v3", "v4"), "win_amd64"),
        BuildTarget("windows-arm64", "aarch64-pc-windows-gnu", "aarch64-windows-gnu", ("arm64",), "win_arm64"),
        # No Mac of this processor with AVX-512 is sold any more.
        BuildTarget("macos-x86_64", "x86_64-apple-macosx10.13.0", "x86_64-macos.10.13", ("v3",), "macosx_10_13_x86_64"),
        BuildTarget("macos-arm64", "arm64-apple-macosx11.0.0", "aarch64-macos.11.0", ("arm64",), "macosx_11_0_arm64"),
        BuildTarget("wasm", "wasm32-unknown-unknown", "wasm32-freestanding", ("wasm",)),
    )
}  # fmt: skip
"""Every machine that kernels can be compiled for, from any other."""
MODULE_TARGETS = tuple(name for name, target in TARGETS.items() if target.wheel)
"""Those that have Python's extension modules, and wheels."""

_SYSTEMS = {"win32": "windows", "darwin": "macos"}
_PROCESSORS = {"amd64": "x86_64", "arm64": "aarch64"}


def target_here() -> BuildTarget:
    """The machine at hand; one that the table does not have is built for as it is (`host`)."""
    system = _SYSTEMS.get(sys.platform, "linux")
    machine = platform.machine().lower()
    wanted = _PROCESSORS.get(machine, machine)
    for target in TARGETS.values():
        named = target.name.partition("-")[2]
        if target.system == system and _PROCESSORS.get(named, named) == wanted:
            return target
    return BuildTarget(f"{system}-{machine}", "", "native", ("host",))
