"""Readers in processes of their own: whatever one does, the caller gets an answer or an error in words, and
nothing keeps running. The readers here are modules written by the tests."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from marrow.errors import FormatError, MissingExtraError, ResourceLimitError
from marrow.io import reader_process, reader_worker
from marrow.io.reader_process import Reader, ask

READER = """
import os
from marrow.errors import FormatError

def prepare():
    {prepare}

def answer(data, options):
    {answer}
"""


class Readers:
    """Makes readers of source code."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.count = folder, 0

    def __call__(self, answer: str, prepare: str = "pass", **options: object) -> Reader:
        self.count += 1
        name = f"reader_{os.getpid()}_{self.count}"
        (self.folder / f"{name}.py").write_text(READER.format(answer=answer, prepare=prepare))
        return Reader("TEST", name, "test-package", "testing", **options)  # type: ignore[arg-type]


@pytest.fixture
def readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Readers]:
    monkeypatch.syspath_prepend(str(tmp_path))
    yield Readers(tmp_path)
    reader_process.end_all()


def answer_of(reader: Reader, data: bytes = b"abc", **options: object) -> bytes:
    return ask(reader, data, options, size=len(data), path=Path("file.test"))


posix = pytest.mark.skipif(os.name != "posix", reason="needs signals and limits")


def test_an_answer_comes_back_whole(readers: Readers) -> None:
    reader = readers("return data[::-1] * options['times']")
    big = bytes(range(256)) * 20_000
    assert answer_of(reader, big, times=3) == big[::-1] * 3
    assert answer_of(reader, b"", times=1) == b""


@pytest.mark.skipif(not reader_worker._SPLITS, reason="one process for each file here")
def test_one_process_serves_many_files_each_in_a_worker_of_its_own(readers: Readers) -> None:
    reader = readers("return f'{os.getppid()} {os.getpid()}'.encode()")
    seen = [answer_of(reader).split() for _ in range(4)]
    assert len({server for server, _ in seen}) == 1
    assert len({worker for _, worker in seen}) == 4


def test_what_one_file_does_is_unknown_to_the_next(readers: Readers) -> None:
    reader = readers("import json; json.mark = getattr(json, 'mark', 0) + 1; return str(json.mark).encode()")
    assert [answer_of(reader) for _ in range(3)] == [b"1"] * 3


@posix
@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT])
def test_a_crash_is_an_error_and_the_next_file_is_read(readers: Readers, number: int) -> None:
    reader = readers("os.kill(os.getpid(), options['number']) if options['number'] else None; return b'well'")
    assert answer_of(reader, number=0) == b"well"
    with pytest.raises(
        FormatError, match=rf"file.test: made the TEST reader crash \({signal.Signals(number).name}"
    ):
        answer_of(reader, number=int(number))
    assert answer_of(reader, number=0) == b"well"


@posix
def test_a_crash_in_the_middle_of_an_answer_is_an_error(readers: Readers) -> None:
    reader = readers(
        "import marrow.io.reader_worker as w; w._send = lambda out, kind, payload: "
        "(os.write(out, w.REPLY_HEAD.pack(kind, 1000) + b'half'), os.abort()); return b'x'"
    )
    with pytest.raises(FormatError, match="crash"):
        answer_of(reader)


@posix
def test_a_hang_is_an_error(readers: Readers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_process, "BASE_SECONDS", 1)
    with pytest.raises(ResourceLimitError, match="more than 1 seconds"):
        answer_of(readers("while True: pass"))


def test_sleeping_forever_is_an_error(readers: Readers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_process, "wall_limit", lambda seconds: 0.5)
    with pytest.raises(ResourceLimitError, match="within"):
        answer_of(readers("import time; time.sleep(10_000)"))


@posix
def test_too_much_memory_is_an_error(readers: Readers) -> None:
    reader = readers("return b'well' if len(data) < 4 else bytes(bytearray(3 << 30)[:5])")
    with pytest.raises(ResourceLimitError, match="memory"):
        answer_of(reader, b"12345")
    assert answer_of(reader) == b"well"


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("os._exit(3)", "exit code 3"),
        ("raise FormatError('is odd', place='here', remedy='mend it')", r"here: is odd \(mend it\)"),
        ("raise RuntimeError('odd')", "does not fit together: RuntimeError: odd"),
        ("return {}['x']", "does not fit together"),
        (
            "print('noise' * 100_000); os.write(2, b'x' * 1_000_000); raise ValueError('after noise')",
            "after noise",
        ),
    ],
)
def test_any_other_end_is_an_error(readers: Readers, answer: str, says: str) -> None:
    with pytest.raises(FormatError, match=says):
        answer_of(readers(answer))


def test_a_library_that_is_not_there_names_the_extra(readers: Readers) -> None:
    with pytest.raises(MissingExtraError, match=r"test-package.*\[testing\]"):
        answer_of(readers("return b''", prepare="import there_is_no_such_library"), b"x" * 1_000_000)


def test_a_reader_that_cannot_prepare_says_why(readers: Readers) -> None:
    with pytest.raises(FormatError, match="TEST reader failed: ValueError: no luck"):
        answer_of(readers("return b''", prepare="raise ValueError('no luck')"))


def test_a_reader_that_cannot_start_is_an_error(readers: Readers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    with pytest.raises(FormatError, match="could not be started"):
        answer_of(readers("return b''"))


def test_a_process_that_went_while_idle_is_replaced(readers: Readers) -> None:
    reader = readers("return str(os.getpid()).encode()")
    first = answer_of(reader)
    server = reader_process._idle[reader][0]
    server.process.stdin.close()  # as if it had been idle for too long
    server.process.wait()
    assert answer_of(reader) != first


def test_threads_are_answered_each_by_its_own(readers: Readers) -> None:
    reader = readers("return data + options['who'].encode()")
    found: dict[int, bytes] = {}

    def work(i: int) -> None:
        found[i] = answer_of(reader, bytes([i]) * 100_000, who=str(i))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {i: bytes([i]) * 100_000 + str(i).encode() for i in range(6)}


@posix
def test_a_forked_process_starts_readers_of_its_own(readers: Readers) -> None:
    reader = readers("return str(os.getppid()).encode()")
    first = answer_of(reader)
    read_end, write_end = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(write_end, answer_of(reader))
            reader_process.end_all()
        finally:
            os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        theirs = pipe.read()
    os.waitpid(child, 0)
    assert theirs not in (b"", first)
    assert answer_of(reader) == first


@posix
@pytest.mark.parametrize("waits", ["to be read", "for an answer"])
def test_a_fork_while_another_thread_waits_goes_on(readers: Readers, tmp_path: Path, waits: str) -> None:
    """Locks that other threads hold stay locked in a forked process: none may be asked for there."""
    gate, mark = str(tmp_path / "gate"), str(tmp_path / "mark")
    os.mkfifo(gate)
    waiting = f"os.path.exists({mark!r}) or (open({mark!r}, 'w').close(), open({gate!r}, 'rb').read())"
    early = waits == "to be read"
    reader = readers(f"{'' if early else waiting}; return b'well'".lstrip("; "), waiting if early else "pass")
    found: list[bytes] = []
    thread = threading.Thread(target=lambda: found.append(answer_of(reader, bytes(3_000_000))))
    thread.start()
    while not os.path.exists(mark) or not reader_process._reader_of:
        pass
    (server,) = reader_process._reader_of
    while early and select.select([], [server.process.stdin], [], 0)[1]:
        pass  # until the pipe is full
    read_end, write_end = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(write_end, answer_of(reader))
            reader_process.end_all()
        finally:
            os._exit(0)
    os.close(write_end)
    seen = os.read(read_end, 10) if select.select([read_end], [], [], 10.0)[0] else b"it hangs"
    os.close(read_end)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    open(gate, "wb").close()
    thread.join()
    assert seen == b"well"
    assert found == [b"well"]


def test_one_that_left_before_it_was_asked_is_replaced_once(readers: Readers, tmp_path: Path) -> None:
    """A caller that was held up between starting a process and asking it may find that it has given up waiting."""
    mark = tmp_path / "mark"
    leaves = f"seen = os.path.exists({str(mark)!r}); open({str(mark)!r}, 'w').close(); seen or os._exit(0)"
    assert answer_of(readers("return b'well'", prepare=leaves)) == b"well"
    with pytest.raises(FormatError, match="exit code 0"):
        answer_of(readers("return b''", prepare="os._exit(0)"))


@posix
def test_a_fork_after_a_reader_died_is_quiet_and_reads(
    readers: Readers, capfd: pytest.CaptureFixture[str]
) -> None:
    reader = readers("os.abort() if options['dies'] else None; return b'well'")
    with pytest.raises(FormatError, match="crash"):
        answer_of(reader, dies=True)
    assert not reader_process._reader_of, "what has ended is not kept"
    assert answer_of(reader, dies=False) == b"well"
    reader_process._idle[reader][0].close()  # as one whose pipes are closed already
    child = os.fork()
    if not child:
        code = 1
        try:
            code = 0 if answer_of(reader, dies=False) == b"well" else 2
            reader_process.end_all()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert capfd.readouterr().err == ""


tells_of_stops = pytest.mark.skipif(
    not hasattr(os, "waitid") or not reader_worker._SPLITS,
    reason="stopped processes look like busy ones here",
)


@tells_of_stops
def test_a_process_that_was_stopped_while_idle_is_replaced(
    readers: Readers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_process, "LOOK_SECONDS", 0.01)
    reader = readers("return str(os.getppid()).encode()")
    first = answer_of(reader)
    os.kill(int(first), signal.SIGSTOP)
    second = answer_of(reader)
    assert second != first
    assert answer_of(reader) == second


@tells_of_stops
def test_a_worker_that_is_stopped_is_tried_again_once(readers: Readers, tmp_path: Path) -> None:
    often = "import marrow.io.reader_worker as w; w.LOOK_SECONDS = 0.01"
    reader = readers(
        f"seen = os.path.exists(options['mark']); open(options['mark'], 'w').close();"
        f"os.kill(os.getpid(), {int(signal.SIGSTOP)}) if options['always'] or not seen else None; return b'well'",
        prepare=often,
    )
    assert answer_of(reader, mark=str(tmp_path / "mark"), always=False) == b"well"
    with pytest.raises(ResourceLimitError, match=r"TEST reader was stopped from outside.* twice"):
        answer_of(reader, mark=str(tmp_path / "mark"), always=True)


def test_a_small_file_is_not_waited_for_longer_than_a_minute() -> None:
    assert reader_process.wall_limit(reader_process.BASE_SECONDS) <= 60


def is_gone(pid: int) -> bool:
    """Waits for a process that is about to end; a hang here would be the failure."""
    while True:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        with open(f"/proc/{pid}/stat") as file:
            if file.read().rpartition(")")[2].split()[0] == "Z":
                return True


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
@pytest.mark.parametrize(
    "how", ["returns", "is killed while idle", "is killed at work", "is interrupted at work"]
)
def test_nothing_runs_on_when_the_caller_ends(readers: Readers, how: str) -> None:
    """Server and worker go, whether the caller leaves in order or is killed."""
    sleeps = how.endswith("at work")
    reader = readers(
        f"os.write(options['tell'], f'{{os.getppid()}} {{os.getpid()}}'.encode());"
        f"import time; {'time.sleep(10_000);' if sleeps else ''} return b''"
    )
    told, tell = os.pipe()
    code = (
        "import sys, os, json, signal; from pathlib import Path; from marrow.io import reader_process;"
        # Who runs the tests in the background may have told all below it to pass over interrupts.
        "signal.signal(signal.SIGINT, signal.default_int_handler);"
        f"tell = {tell};"
        "start = reader_process.subprocess.Popen;"
        "reader_process.subprocess.Popen = lambda *a, **k: start(*a, pass_fds=[tell], **k);"
        f"reader = reader_process.Reader('TEST', {reader.module!r}, '', '');"
        "reader_process.ask(reader, b'', {'tell': tell}, size=0, path=Path('x'));"
        + ("" if how == "returns" else "os.write(tell, b' idle'); sys.stdin.read()")
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, sys.path))}
    caller = subprocess.Popen(
        [sys.executable, "-c", code], pass_fds=[tell], stdin=subprocess.PIPE, env=environment
    )
    os.close(tell)
    text = os.read(told, 100)
    if how == "is killed while idle":
        while not text.endswith(b"idle"):
            text += os.read(told, 100)
    if how == "is interrupted at work":
        caller.send_signal(signal.SIGINT)
    elif how != "returns":
        caller.kill()
    caller.communicate()
    if how == "is interrupted at work":
        assert caller.returncode == -signal.SIGINT
    server, at_work = map(int, text.split()[:2])
    assert is_gone(server) and is_gone(at_work)
    os.close(told)
