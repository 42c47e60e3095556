"""The subcommands, and what happens to the errors they end in."""

from __future__ import annotations

import errno
import importlib.util
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cyclopts import App, CycloptsError

from marrow._version import __version__
from marrow.cli._errors import BAD_CALL, BAD_FILE, FINE, INTERRUPTED, UsageError, note, quietly, show_error
from marrow.errors import MarrowError, MissingFileError, UnknownNameError, ValidationError
from marrow.printing import guarded

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["app", "run"]


def _examples(lines: str) -> str:
    return "Example:\n" + "\n".join(f"  {line}" for line in lines.splitlines())


app = App(
    name="marrow",
    help="Load, check, convert and bake rigged characters: glTF, FBX, BVH, USD.",
    version=__version__,
    help_epilogue=_examples(
        "marrow info fox.glb\nmarrow convert hero.fbx hero.glb\nmarrow check hero.glb --strict"
    )
    + "\n\nEvery command takes --quiet (-q): errors, and what was asked for, are all that is printed."
    "\n\nExit codes: 0 fine, 1 the file is bad, 2 the call is wrong.",
    help_format="plaintext",
    suppress_keyboard_interrupt=False,
)
_COMMANDS = {
    "info": (
        "Show what is in a file: joints, meshes, materials, clips, and what the importer had to say.",
        "marrow info fox.glb\nmarrow info clips/*.fbx --json",
    ),
    "check": (
        "Find what a technical artist would want to mend before a character ships.\n\n"
        "Every finding has a severity (error, warning, info), the rule that made it and a remedy. "
        "The exit code is 1 when there are errors; with --strict also when there are warnings. "
        "What matters comes first; the rest is counted, and shown with --all.",
        "marrow check hero.fbx\nmarrow check characters/*.glb --strict",
    ),
    "mend": (
        "Do what check lists and what is safe: marrow mend IN OUT.\n\n"
        "Weights, missing tangents, units, facing, doubled and constant tracks, unused joints, calibration frames, seams "
        "of loops. Vertices stay where they were in every clip, but for what was wrong. It says each thing it did, and "
        "what it left to you and why.",
        "marrow mend hero.fbx hero.glb\nmarrow mend hero.glb mended.glb --skip facing unused-joints",
    ),
    "convert": (
        "Convert a character to .glb, .gltf, .fbx, .usda, .usdc, .usdz, .bvh, .obj, .ply or .marrow.",
        "marrow convert hero.fbx hero.glb --clips-from walk.fbx run.fbx\n"
        "marrow convert hero.glb walk.bvh --clip Walk --rate 30",
    ),
    "retarget": (
        "Put the motion of files on a character, whatever their joints are called: marrow retarget MOTION... CHARACTER.\n\n"
        "Bones are matched by name and shape (--show prints the map, --save-map writes it to be edited), rest poses "
        "aligned, travel scaled by the length of the legs, and feet that were planted stay planted.",
        "marrow retarget walk.bvh run.fbx hero.glb -o hero_moves.glb\n"
        "marrow retarget mocap/*.bvh hero.glb -o out/ --report --max-drift 0.01\n"
        "marrow retarget dance.fbx hero.glb --show",
    ),
    "lod": (
        "Make levels of detail, or show those of a file.\n\n"
        "Vertices are chosen so that the character bends well in its own clips; joints go that move the surface least. The "
        "table says what each level has and how far its surface is off, at worst and on average, over all clips.",
        "marrow lod hero.glb -o hero_lods.glb\n"
        "marrow lod hero.glb -o hero_lods.glb --triangles 0.5 0.1 --joints 40 20 --influences 4 2 --keep head\n"
        "marrow lod hero.glb -o hero_lods.marrow --error 0.002 0.01 0.03\nmarrow lod hero_lods.glb",
    ),
    "bake": (
        "Write vertices, joint positions or skinning matrices over time, for other tools and learning.\n\n"
        "OUT.npz holds arrays called CLIP/vertices, CLIP/times and so on, with the triangles, parents and "
        "joint_names; those of several files lie below FILE/. Any other OUT is a folder "
        "that gets one safetensors file per clip of every "
        "file, and an index.json that lists them.",
        "marrow bake hero.fbx -o hero.npz --clip Run --rate 30\n"
        "marrow bake clips/*.fbx -o dataset/ --what joints",
    ),
    "bake-runtime": (
        "Bake a character, and a graph that moves it, for the runtimes that need no Python: pages and engines.\n\n"
        "The .mrt file is read by the web runtime (npm) and by libmarrow (C), which give the same bits as Python. What "
        "they cannot run, such as functions of Python's, is an error that says where in the graph it stands.",
        "marrow bake-runtime hero.glb --graph hero.json -o hero.mrt\n"
        "marrow bake-runtime mannequin --graph mannequin -o mannequin.mrt --no-skins",
    ),
    "view": (
        "Open the studio: see, scrub and steer a character in the browser.",
        "marrow view fox.glb\nmarrow view hero.fbx --graph hero.json\nmarrow view before.fbx --compare after.glb",
    ),
    "export": (
        "Write a page that shows a character without a server: one HTML file.\n\n"
        "It is the studio's page with everything in it: clips to scrub, the graph with its sliders, pads and triggers, "
        "levels of detail, a crowd to try. It opens from a disk or any web space, and fetches nothing.",
        "marrow export hero.glb -o hero.html\nmarrow export hero.glb --graph walk.json -o hero.html\n"
        "marrow export mannequin -o mannequin.html --count 20",
    ),
    "play": (
        "Play a character: it stands, walks, runs, turns and jumps where it is steered.\n\n"
        "Its graph is made from the clips that names and measures tell. A body on two legs without clips gets the "
        "mannequin's; what was found is printed. W A S D walk, Shift runs, Space jumps; so do a gamepad, "
        "and a finger on the page.",
        "marrow play hero.glb\nmarrow play hero.glb --window\n"
        "marrow play hero.glb --graph hero.json --character hero_moves.glb",
    ),
    "render": (
        "Draw a picture or a video of a character.\n\n"
        "The suffix of the output says which: .png, .jpg, .webp; .mp4, .webm, .mkv, .mov, .gif, .apng. The camera stands "
        "where all is seen, and follows what travels. It runs in software where there is no GPU.",
        "marrow render hero.fbx -o hero.png\nmarrow render hero.fbx -o walk.mp4 --clip Walk --camera side\n"
        "marrow render mannequin -o crowd.png --clip walk --crowd 500 --camera 30,25\n"
        "marrow render mannequin -o run.webm --graph mannequin --set speed=3.5 --duration 4\n"
        "marrow render hero.glb -o spin.gif --turntable --size 480 --transparent",
    ),
    "sheet": (
        "Put clips x times, or many files, into one picture.\n\n"
        "One file shows its clips, moments of each from left to right; several files, or a folder, a picture each. What "
        "cannot be read takes one place, with the reason in it.",
        "marrow sheet hero.fbx -o clips.png\nmarrow sheet characters/ -o all.png --size 160x200\n"
        "marrow sheet hero.glb -o run.png --clip Run --times 10 --camera side",
    ),
    "samples": ("List the built-in characters; their names work wherever a file does.", "marrow samples"),
    "gpu": (
        "List the GPUs marrow can compute on, the best first.",
        "marrow gpu\nMARROW_GPU=1 marrow gpu",
    ),
    "bench": ("Measure marrow on this machine, next to whatever else is installed.", "marrow bench io"),
}


for _name, (_help, _lines) in _COMMANDS.items():
    _module = _name.replace("-", "_")
    if importlib.util.find_spec(f"marrow.cli.{_module}") is None:
        continue
    app.command(f"marrow.cli.{_module}:{_module}", name=_name, help=_help, help_epilogue=_examples(_lines))

_graph = App(
    name="graph",
    help="Check and draw animation graphs.",
    help_epilogue=_examples("marrow graph check hero.json hero.glb\nmarrow graph show hero.json"),
)
_graph.command(
    "marrow.cli.graph:check",
    name="check",
    help="Find mistakes in a graph file, and what a character lacks to run it.",
    help_epilogue=_examples("marrow graph check hero.json\nmarrow graph check hero.json hero.glb"),
)
_graph.command(
    "marrow.cli.graph:show",
    name="show",
    help="Draw a graph as text, or as a picture.",
    help_epilogue=_examples("marrow graph show hero.json\nmarrow graph show hero.json --svg hero.svg"),
)
app.command(_graph)

_clip = App(
    name="clip",
    help="Edit the clips of a file: marrow clip TOOL IN OUT. Without --clip a tool works on every clip.",
    help_epilogue=_examples(
        "marrow clip trim take.fbx walk.glb --clip Take --start 1.2 --end 2.4\n"
        "marrow clip loop walk.glb walk_loop.glb --window 0.2\nmarrow clip mirror hero.glb hero_m.glb --clip TurnLeft"
    ),
)
for _name, _help in {
    "trim": "Keep the piece between two times.",
    "cut": "Cut named pieces out of a take: NAME=START:END ...",
    "split": "Split at an event, at times, or where nothing moves.",
    "join": "One clip after another, blended.",
    "loop": "Let clips end as they begin.",
    "in-place": "Take out the way over the ground.",
    "travel": "Add a steady way over the ground.",
    "reverse": "Backwards.",
    "retime": "Faster, slower, or a given length.",
    "resample": "A key at each of so many frames a second.",
    "rename": "Give clips other names: OLD=NEW ...",
    "mirror": "Change sides.",
    "run": "Run a graph and keep what it does as a clip.",
    "additive": "What clips do beyond a pose.",
    "smooth": "Take out what trembles.",
    "fill": "Bridge keys that are no numbers.",
    "contacts": "Events where feet come down and leave.",
    "keep": "Keep the tracks of these joints alone.",
    "strip": "Leave out the tracks of these joints.",
    "reduce": "Fewer keys, within an error in metres on the skin.",
    "compress": "Pack clips into a tenth to a fiftieth of their room, within an error on the skin.",
}.items():
    _clip.command(f"marrow.cli.clip:{_name.replace('-', '_')}", name=_name, help=_help)
app.command(_clip)

_dataset = App(
    name="dataset",
    help="Make training data of motion files, on one machine or many; look at it, check it.",
    help_epilogue=_examples(
        "marrow dataset build mocap/ -o out --rate 30 --features rotations_6d positions contacts --window 64\n"
        "marrow dataset info out\nmarrow dataset show out -o samples.png"
    ),
)
for _name, (_help, _lines) in {
    "build": (
        "Make training data of motion files: marrow dataset build SOURCES... -o OUT.\n\n"
        "The same command goes on where it was interrupted, and builds anew just what changed. The exit code is 1 when a "
        "source could not be used, or when there are no rows.",
        "marrow dataset build mocap/ -o out --character hero.glb --features rotations_6d positions contacts --mirror\n"
        'marrow dataset build "clips/**/*.fbx" -o out --window 64 --stride 16 --format webdataset --workers 8\n'
        "marrow dataset build s3://bucket/mocap -o s3://bucket/out --on ray",
    ),
    "info": ("Show what a data set holds.", "marrow dataset info out\nmarrow dataset info out --failed"),
    "check": ("Read all of a data set and say what is wrong.", "marrow dataset check out"),
    "show": ("Draw random samples on one sheet.", "marrow dataset show out -o samples.png --count 16"),
    "features": ("List what rows can hold.", "marrow dataset features"),
}.items():
    _dataset.command(f"marrow.cli.dataset:{_name}", name=_name, help=_help, help_epilogue=_examples(_lines))
app.command(_dataset)

_matching = App(
    name="matching",
    help="Make motion databases, from which characters choose what they play; look at what they have motion for.",
    help_epilogue=_examples(
        "marrow matching build mocap/ --character hero.glb -o hero.motion\nmarrow matching show hero.motion -o hero.png"
    ),
)
_matching.command(
    "marrow.cli.matching:build",
    name="build",
    help="Make a motion database: marrow matching build SOURCES... -o OUT.motion.\n\n"
    "Motion of other bodies is retargeted to the character. What cannot be used is left out, with a note.",
    help_epilogue=_examples(
        "marrow matching build mocap/ --character hero.glb -o hero.motion\n"
        'marrow matching build hero.glb -o hero.motion --clip "walk*" "run*" idle --mirror\n'
        'marrow matching build mocap/ --character hero.glb -o hero.motion --tags "*sneak*=sneak" "*zombie*=zombie"'
    ),
)
_matching.command(
    "marrow.cli.matching:show",
    name="show",
    help="Show what a motion database has motion for: speeds and turns, holes, and what choices cost.",
    help_epilogue=_examples("marrow matching show hero.motion\nmarrow matching show hero.motion -o hero.png"),
)
app.command(_matching)

_cache = App(
    name="cache",
    help="Look at the cache of imported files, or empty it.",
    help_epilogue=_examples("marrow cache info\nmarrow cache clear"),
)
_cache.command(
    "marrow.cli.cache:info",
    name="info",
    help="Show where the cache is and how full.\n\nMARROW_CACHE sets the folder, or turns the cache off with "
    "'off'; MARROW_CACHE_LIMIT sets its size: bytes, or 500MB, or 2GiB.",
    help_epilogue=_examples("marrow cache info --json"),
)
_cache.command(
    "marrow.cli.cache:clear",
    name="clear",
    help="Remove every entry of the cache.",
    help_epilogue=_examples("marrow cache clear"),
)
app.command(_cache)


_QUIET = ("--quiet", "-q")


def run(arguments: Sequence[str]) -> int:
    """Runs one command line and returns its exit code: 0 fine, 1 the file is bad, 2 the call is wrong."""
    warnings.showwarning = lambda message, *_, **__: note(message)
    own, quiet = _without_quiet(list(arguments))
    with guarded(), quietly(quiet):
        return _run(own)


def _without_quiet(arguments: list[str]) -> tuple[list[str], bool]:
    """The arguments without `--quiet`, which every command takes, and whether it was there."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    own = [argument for argument in arguments[:end] if argument not in _QUIET]
    return own + arguments[end:], len(own) < end


def _run(arguments: list[str]) -> int:
    try:
        result = app(
            arguments,
            console=_help_console(arguments),
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )
        sys.stdout.flush()
        return result if isinstance(result, int) else FINE
    except CycloptsError as error:
        show_error(f"{error} (see marrow --help)")
        return BAD_CALL
    except (UsageError, UnknownNameError, ValidationError) as error:
        show_error(error)
        return BAD_CALL
    except MarrowError as error:
        show_error(error)
        # A file that is not there is a wrong call where the call names it, else the fault of the file that needs it.
        named = isinstance(error, MissingFileError) and error.filename in arguments
        return BAD_CALL if named else BAD_FILE
    except KeyboardInterrupt:
        show_error("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has seen enough; keep Python from complaining about it when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE
    except MemoryError as error:
        # Whatever could be foreseen is an error of marrow's own, with its numbers.
        show_error(f"this needs more memory than there is{f': {error}' if str(error) else ''}")
        return BAD_FILE
    except Exception as error:
        if (
            isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG
        ):  # pathlib asks the system and passes it on
            show_error(f"{error.filename}: {error.strerror}")
            return BAD_CALL
        if os.environ.get("MARROW_TRACEBACK"):
            traceback.print_exc()
        show_error(
            f"a fault inside marrow: {type(error).__name__}: {error} "
            "(MARROW_TRACEBACK=1 shows where; please report it)"
        )
        return BAD_FILE


def _help_console(arguments: list[str]) -> Console | None:
    """What help is printed on, with colours on a terminal; None where none is asked for, since it takes time to load."""
    if len(arguments) > 1 and not {"--help", "-h"} & set(arguments):
        return None
    from marrow.cli._console import NameSafeConsole

    return NameSafeConsole()
