"""The pool of worker threads inside the extension module, in LLVM's language: it runs kernels over ranges, chunk by chunk.

A *job* is a row of 64-bit words (`JOB`): a kernel, its frame, the words of the frame in which a chunk's range is written, the range.
Threads take chunks by an atomic counter; the calling thread is worker 0 and works too, on the frame itself. Every other worker has a
copy of the frame, made here, with some words of its own (`own`). No Python runs in workers and none of them ever holds the GIL.

One call at a time has the workers. A caller who finds them busy runs its job alone, so that nobody waits for another's job and no two
jobs mix. `state` says all that workers need to know: how many of them are at work (16 bits), whether a job is open to join (one
bit), and its number. A job's words are read only by those who have joined it, and the caller returns when none is left inside.
Idle workers spin for some hundred microseconds, then sleep on a lock each. All that is asked of Python are its locks and its way to
start a thread, which belong to the stable ABI; threads end with the process.
"""

from __future__ import annotations

from marrow.kernels.language.pool_text import TEXT

__all__ = ["HEAD", "JOB", "MOST_WORKERS", "WORDS", "buffer_length", "pool_code"]

JOB = (
    "kernel",  # its number in the module
    "frame",  # the address of worker 0's
    "size",  # of a frame, in words
    "copies",  # the address of frames for the others, each `size` words up to whole cache lines
    "own",  # how many words of a frame differ from worker to worker
    "own_at",  # the address of their numbers
    "own_values",  # the address of their values, a row a worker, from worker 1 on
    "first",  # the words that take a chunk's range
    "last",
    "worker",  # the word that takes the worker's number, -1 for none
    "chunk",  # the word that takes the chunk's number, -1 for none
    "begin",  # the whole range
    "end",
    "step",  # of a chunk
    "workers",  # that may work at it
    "results",  # the address of a row for each chunk: worker, then what the kernel returned; 0 for none
    "results_at",  # the word of a frame where that begins
    "results_count",
)
"""The words of a job, in order."""
WORDS = len(JOB)
HEAD = 1
"""Words before the first job: how many there are."""
MOST_WORKERS = 128
_SPINS = 4000
_AT = {name: k for k, name in enumerate(JOB)}

# The state: workers inside, whether the job is open, its number.
_INSIDE, _OPEN, _NUMBER = 0xFFFF, 1 << 16, 17


def _field(name: str) -> str:
    """Loads a word of `%job` into a value of the same name."""
    return (
        f"%{name}.at = getelementptr i64, ptr %job, i64 {_AT[name]}\n"
        f"  %{name} = load i64, ptr %{name}.at, align 8"
    )


def _pause(triple: str) -> tuple[str, str]:
    """How a processor is told that a thread spins, and the declaration of that."""
    if triple.startswith(("x86_64", "amd64")):
        return "call void @llvm.x86.sse2.pause()", "declare void @llvm.x86.sse2.pause()"
    if triple.startswith(("aarch64", "arm64")):
        return "call void @llvm.aarch64.hint(i32 1)", "declare void @llvm.aarch64.hint(i32)"
    return "fence seq_cst", ""


def _long(triple: str) -> str:
    """C's `long`, the number of a thread."""
    return "i32" if "windows" in triple or triple.startswith("wasm32") else "i64"


def buffer_length(word: str) -> str:
    """Loads the length of a buffer `%view` into `%bytes`; `word` is as wide as an address."""
    at, widened = (16, "") if word == "i64" else (8, "\n  %bytes = zext i32 %bytes.here to i64")
    return f"%place = getelementptr i8, ptr %view, i64 {at}\n  %bytes{'.here' if widened else ''} = load {word}, ptr %place{widened}"


def pool_code(kernels: list[tuple[str, int]], triple: str, malformed: str, word: str = "i64") -> str:
    """The text of the pool for kernels (name and words of a frame); `malformed` is the message for a job that cannot be, `word` the
    whole number as wide as an address."""
    table = ", ".join(f"%Code {{ ptr @{name}, i64 {size} }}" for name, size in kernels)
    pause, declared = _pause(triple)
    text = TEXT
    for name in JOB:
        text = text.replace(f"[[{name}]]", _field(name))
    for key, value in {
        "KERNELS": str(len(kernels)), "TABLE": table, "PAUSE": pause, "DECLARED": declared, "SPINS": str(_SPINS),
        "MOST": str(MOST_WORKERS), "INSIDE": str(_INSIDE), "OPEN": str(_OPEN), "CLOSED": str(~_OPEN),
        "QUIET": str(_INSIDE | _OPEN), "NUMBER": str(_NUMBER), "WORDS": str(WORDS), "HEAD": str(HEAD),
        "SIZE": str(_AT["size"]), "MALFORMED": malformed, "LONG": _long(triple), "LENGTH": buffer_length(word),
    }.items():  # fmt: skip
        text = text.replace(f"<<{key}>>", value)
    return text
