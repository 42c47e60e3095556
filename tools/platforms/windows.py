"""Python for Windows (x86-64) under wine, from packages of PyPI and this machine's own standard library.

Panda3D's wheel carries Python's own library and extension modules, for programs that are shipped with it. The
interpreter around them is five lines of C. wine 8 lacks C's functions of complex numbers, which NumPy calls when it
is imported: NumPy's files are told to look for them in a library made here.
"""

from __future__ import annotations

import shutil
import sys
import sysconfig
import zipfile
from pathlib import Path

from platforms.binaries import inspect
from platforms.foreign import LAB, PYTHON, Foreign, Missing, called, packages, unpacked, zig

__all__ = ["bare", "python"]

NAME, TRIPLE = "windows-x86_64", "x86_64-windows-gnu"
SHORT = PYTHON.replace(".", "")
WINE = ("/usr/lib/wine/wine64", "/usr/bin/wine64", "/usr/bin/wine")

INTERPRETER = """
#define FROM(type) __declspec(dllimport) type
FROM(int) Py_Main(int, unsigned short **);
FROM(unsigned short *) GetCommandLineW(void);
FROM(unsigned short **) CommandLineToArgvW(unsigned short *, int *);
FROM(void) ExitProcess(unsigned);
void start(void) { int n; unsigned short **w = CommandLineToArgvW(GetCommandLineW(), &n); ExitProcess(Py_Main(n, w)); }
"""
MATHS = ("api-ms-win-crt-math-l1-1-0.dll", "marrow-crt-math-for-wine-8.dll")
COMPLEX = """
typedef struct { float real, imag; } Single;
typedef struct { double real, imag; } Double;
double atan2(double, double), hypot(double, double);
"""
for _letter, _type, _complex in (
    ("f", "float", "Single"),
    ("", "double", "Double"),
    ("l", "double", "Double"),
):
    for _name, _value in (
        ("creal", "z.real"), ("cimag", "z.imag"), ("carg", "atan2(z.imag, z.real)"), ("cabs", "hypot(z.real, z.imag)"),
    ):  # fmt: skip
        COMPLEX += f"__declspec(dllexport) {_type} {_name}{_letter}({_complex} z) {{ return {_value}; }}\n"
OWN = {f"{name}{letter}" for name in ("creal", "cimag", "carg", "cabs") for letter in ("f", "", "l")}
LOADED = "int DllMainCRTStartup(void *module, unsigned reason, void *reserved) { return 1; }\nint _fltused;\n"


def python() -> Foreign:
    """Its Python, with marrow's wheel and what it needs."""
    return bare(unpacked(NAME))


def bare(*folders: Path) -> Foreign:
    """Its Python, with what marrow needs, and these folders in place of a wheel."""
    wine = next((w for w in WINE if Path(w).exists()), None)
    if wine is None:
        raise Missing("wine is not installed: apt-get install wine64")
    folder = LAB / NAME / "python"
    if not (folder / "python.exe").is_file():
        shutil.rmtree(folder, ignore_errors=True)
        _install(folder)
    site = packages(NAME, "win_amd64")
    _repair(site, folder, Path(wine))
    paths = [_windows(path) for path in (*folders, site)]
    environment = {
        "WINEPREFIX": str(LAB / NAME / "wine"),
        "WINEDEBUG": "-all",
        "WINEDLLOVERRIDES": "mscoree=;mshtml=;winex11.drv=",
        "DISPLAY": "",
        "PYTHONPATH": ";".join(paths),
    }
    return Foreign(NAME, [wine, str(folder / "python.exe")], environment, "Z:")


def _windows(path: Path) -> str:
    return "Z:" + str(path).replace("/", "\\")


def _install(folder: Path) -> None:
    made = folder.with_name("fetched")
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "-q",
        "--no-deps",
        "--only-binary=:all:",
        "-d",
        str(made),
    ]
    called([*command, "--platform", "win_amd64", "--python-version", PYTHON, "panda3d"])
    (folder / "DLLs").mkdir(parents=True)
    (wheel,) = made.glob("panda3d-*.whl")
    library = f"python{SHORT}.dll"
    with zipfile.ZipFile(wheel) as files:
        for name in files.namelist():
            if name.startswith("deploy_libs/") and name.endswith((".dll", ".pyd")) and "api-ms" not in name:
                file = name.partition("/")[2]
                place = folder if file.lower().startswith(("python", "vcruntime")) else folder / "DLLs"
                (place / file).write_bytes(files.read(name))
    left_out = shutil.ignore_patterns("site-packages", "test", "lib-dynload", "__pycache__", "config-*")
    shutil.copytree(sysconfig.get_path("stdlib"), folder / "Lib", ignore=left_out)
    names = [n for n in inspect((folder / library).read_bytes()).exports if n.startswith(("Py", "_Py"))]
    _forwarding(folder, "python3.dll", f"python{SHORT}", names, "")
    _import_library(folder, library, ["Py_Main"])
    _import_library(folder, "kernel32.dll", ["GetCommandLineW", "ExitProcess"])
    _import_library(folder, "shell32.dll", ["CommandLineToArgvW"])
    (folder / "python.c").write_text(INTERPRETER)
    libraries = [f"{stem}.a" for stem in (f"python{SHORT}", "kernel32", "shell32")]
    flags = ["-nostdlib", "-Wl,--entry,start", "-Wl,--subsystem,console"]
    zig("cc", "-target", TRIPLE, "-O1", "python.c", *libraries, *flags, "-o", "python.exe", folder=folder)


def _import_library(folder: Path, library: str, names: list[str]) -> None:
    stem = Path(library).stem
    (folder / f"{stem}.def").write_text(f"LIBRARY {library}\nEXPORTS\n" + "\n".join(names) + "\n")
    zig("dlltool", "-m", "i386:x86-64", "-d", f"{stem}.def", "-l", f"{stem}.a", "-D", library, folder=folder)


def _forwarding(folder: Path, library: str, other: str, names: list[str], code: str) -> None:
    """A library that has nothing but another's functions, and those of `code`."""
    (folder / "library.c").write_text(code + LOADED)
    (folder / "library.def").write_text(
        f"LIBRARY {library}\nEXPORTS\n" + "".join(f"{n}={other}.{n}\n" for n in sorted(names))
    )
    flags = ["-shared", "-nostdlib", "-Wl,--entry,DllMainCRTStartup"]
    inputs = ["library.c", "library.def"]
    if code:
        _import_library(folder, "ucrtbase.dll", ["atan2", "hypot"])
        inputs.append("ucrtbase.a")
    zig("cc", "-target", TRIPLE, "-O1", "-fno-builtin", *inputs, *flags, "-o", library, folder=folder)


def _repair(site: Path, folder: Path, wine: Path) -> None:
    """Has NumPy find functions of complex numbers."""
    theirs, ours = (name.encode() for name in MATHS)
    files = [file for file in site.glob("numpy/**/*.pyd") if theirs in file.read_bytes()]
    if not files:
        return
    wanted = frozenset().union(*(inspect(file.read_bytes()).imports for file in files))
    (library,) = list(Path("/usr/lib").glob("*/wine/x86_64-windows/ucrtbase.dll"))[:1] or [wine]
    there = inspect(library.read_bytes()).exports
    _forwarding(folder, MATHS[1], "ucrtbase", sorted((wanted & there) - OWN), COMPLEX)
    for file in files:
        file.write_bytes(file.read_bytes().replace(theirs, ours))
