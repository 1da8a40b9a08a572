"""What saving does to the file system: who may read a file, in which order it reaches the disk, what a kill leaves."""

from __future__ import annotations

import ast
import contextlib
import errno
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from subprocess import PIPE

import pytest
from concurrently import in_threads

import norch
from norch import files

VALUE = {"weight": norch.arange(1000)}
IS_ROOT = os.geteuid() == 0


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """The current folder, empty."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def no_umask():
    before = os.umask(0)
    yield
    os.umask(before)


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def temporaries():
    return [name for name in os.listdir() if files._TEMPORARY.fullmatch(name)]


def is_saved(path):
    return norch.load(path)["weight"].equal(VALUE["weight"])


def run_python(code):
    environment = {**os.environ, "PYTHONPATH": str(Path(norch.__file__).parents[1])}
    return subprocess.Popen([sys.executable, "-c", code], env=environment, stdin=PIPE, stdout=PIPE, text=True)


# ---- Who may read it -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o666, 0o200])
def test_the_temporary_file_of_an_old_one_is_its_writer_s_alone(mode, no_umask, monkeypatch):
    norch.save(VALUE, "secret")
    os.chmod("secret", mode)
    modes, replace = [], os.replace

    def looked_at(*arguments):
        modes.append(mode_of(arguments[0]))
        return replace(*arguments)

    monkeypatch.setattr(os, "replace", looked_at)
    with files.written("secret", "save") as file:
        file.write(b"weights")
        file.flush()
        (temporary,) = temporaries()
        modes.append(mode_of(temporary))
    assert modes == [0o600, mode] and mode_of("secret") == mode and os.listdir() == ["secret"]


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o027, 0])
def test_the_umask_decides_over_a_new_file(mask):
    before = os.umask(mask)
    try:
        with files.written("new", "save") as file:
            file.write(b"weights")
            (temporary,) = temporaries()
            assert mode_of(temporary) & ~(0o666 & ~mask) == 0
        assert mode_of("new") == 0o666 & ~mask
    finally:
        os.umask(before)


@pytest.mark.skipif(not IS_ROOT, reason="only root can give files away")
def test_a_file_keeps_its_owner():
    norch.save(VALUE, "theirs")
    os.chown("theirs", 1234, 2345)
    os.chmod("theirs", 0o4640)
    norch.save(VALUE, "theirs")
    status = os.stat("theirs")
    assert (status.st_uid, status.st_gid, mode_of("theirs")) == (1234, 2345, 0o4640)


def test_the_rights_of_a_group_go_if_the_group_cannot_be_kept(monkeypatch):
    norch.save(VALUE, "shared")
    os.chmod("shared", 0o664)
    status = list(os.stat("shared"))
    status[stat.ST_GID] += 1

    def refused(*arguments):
        raise PermissionError

    monkeypatch.setattr(os, "fchown", refused)
    with open("new", "wb") as file:
        files._become_like(file.fileno(), "shared", os.stat_result(status))
    assert mode_of("new") == 0o604


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="this system has no os.setxattr")
def test_a_file_keeps_its_attributes():
    norch.save(VALUE, "old")
    try:
        os.setxattr("old", "user.origin", b"a run")
    except OSError:
        pytest.skip("this file system has no attributes")
    norch.save(VALUE, "old")
    assert os.getxattr("old", "user.origin") == b"a run"


# ---- In which order it reaches the disk ------------------------------------------------------------------------------


def test_content_mode_name_and_folder_reach_the_disk_in_this_order(monkeypatch):
    norch.save(VALUE, "weights")
    calls = []

    def record(name):
        real = getattr(os, name)

        def recorded(*arguments, **options):
            result = real(*arguments, **options)
            kind = "folder" if name == "fsync" and stat.S_ISDIR(os.fstat(arguments[0]).st_mode) else ""
            size = os.fstat(arguments[0]).st_size if name == "fsync" and not kind else 0
            calls.append((name, kind or size))
            return result

        monkeypatch.setattr(os, name, recorded)

    for name in ("fchmod", "fsync", "replace"):
        record(name)
    norch.save(VALUE, "weights")
    assert calls == [("fchmod", 0), ("fsync", os.path.getsize("weights")), ("replace", 0), ("fsync", "folder")]


@pytest.mark.parametrize("culprit", ["open", "fchmod", "fsync", "replace"])
def test_a_call_that_fails_leaves_the_old_file_and_no_other(monkeypatch, culprit):
    norch.save(VALUE, "weights")

    def fails(*arguments, **options):
        raise OSError(28, "the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(os, culprit, fails)
        with pytest.raises(OSError, match="disk is full"):
            norch.save(norch.ones(3), "weights")
    assert os.listdir() == ["weights"] and is_saved("weights")


def test_nothing_else_in_norch_opens_files_to_write():
    """But for files that have no name, between processes, and the memory that ranks share (distributed/board.py)."""
    found = []
    for path in sorted(Path(norch.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("open", "io.open", "os.open", "Path.open"):
                modes = [argument.value for argument in node.args[1:] if isinstance(argument, ast.Constant)]
                if len(node.args) > 1 and not set(modes) & {"r", "rb"}:
                    found.append(path.name)
            elif isinstance(node, ast.Attribute) and node.attr in ("write_text", "write_bytes"):
                found.append(path.name)
    assert set(found) == {"files.py", "board.py"}


# ---- What a path can name --------------------------------------------------------------------------------------------


class AsPath:
    def __init__(self, path):
        self.path = path

    def __fspath__(self):
        return self.path


NAMES = ["w", "./w", "a" * 255, "\U0001f600" * 63, "ü\n ", b"\xff".decode(errors="surrogateescape")]


@pytest.mark.parametrize("path", [*NAMES, Path("w"), AsPath("w"), AsPath(b"w")])
def test_names(path):
    for _ in range(2):
        norch.save(VALUE, path)
        assert is_saved(path) and len(os.listdir()) == 1


def test_links(here):
    os.mkdir("elsewhere")
    os.symlink("elsewhere/weights", "link")
    os.symlink("link", "chain")
    for name in ("chain", "link"):
        norch.save(VALUE, name)
        assert os.path.islink(name) and not os.path.islink("elsewhere/weights") and is_saved("elsewhere/weights")
    assert sorted(os.listdir()) == ["chain", "elsewhere", "link"] and os.listdir("elsewhere") == ["weights"]
    os.symlink("round", "round")
    with pytest.raises(OSError, match="round"):
        norch.save(VALUE, "round")
    assert os.path.islink("round")


@pytest.mark.parametrize(
    "path, error",
    [
        ("", FileNotFoundError),
        ("new/", IsADirectoryError),
        (".", IsADirectoryError),
        ("no folder/w", FileNotFoundError),
    ],
)
def test_what_is_no_file(path, error):
    with pytest.raises(error):
        norch.save(VALUE, path)
    assert os.listdir() == []


def test_a_file_is_no_folder():
    norch.save(VALUE, "w")
    for path in ("w/", "w/x"):
        with pytest.raises(NotADirectoryError):
            norch.save(VALUE, path)
    assert is_saved("w")


def test_a_pipe_and_devices():
    os.mkfifo("pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append(Path("pipe").read_bytes()))
    reader.start()
    norch.save(VALUE, "pipe")
    reader.join(timeout=60)
    norch.save(VALUE, "w")
    assert read == [Path("w").read_bytes()] and stat.S_ISFIFO(os.stat("pipe").st_mode)
    norch.save(VALUE, os.devnull)
    assert not stat.S_ISREG(os.stat(os.devnull).st_mode)
    if os.path.exists("/dev/full"):
        with pytest.raises(OSError, match="No space left"):
            norch.save(VALUE, "/dev/full")


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="this system has no /dev/fd")
def test_descriptors_as_paths(here):
    with open("named", "w+b") as named, open("gone", "w+b") as gone:
        os.unlink("gone")
        norch.save(VALUE, f"/dev/fd/{named.fileno()}")
        norch.save(VALUE, f"/dev/fd/{gone.fileno()}")
        gone.seek(0)
        assert is_saved("named") and is_saved(gone) and os.listdir() == ["named"]


READ_ONLY = """
import os, sys, norch
if os.geteuid() == 0:
    os.setuid(65534)
for path in ("file", "folder/file"):
    try:
        norch.save(norch.ones(3), path)
    except PermissionError as error:
        print(error.filename)
"""


def test_read_only_files_and_folders(here):
    os.chmod(here, 0o777)
    for folder in (here, *list(here.parents)[:2]):
        os.chmod(folder, 0o777 if folder == here else 0o755)
    os.mkdir("folder")
    for path, mode in (("file", 0o444), ("folder/file", 0o666)):
        norch.save(VALUE, path)
        os.chmod(path, mode)
    os.chmod("folder", 0o555)
    process = run_python(READ_ONLY)
    assert process.communicate(timeout=120)[0].split() == ["file", "folder"]
    assert is_saved("file") and is_saved("folder/file")


# ---- What a kill leaves ----------------------------------------------------------------------------------------------

SAVE_FOR_EVER = """
import sys, norch
value = {"weight": norch.zeros(300_000)}
print("ready", flush=True)
while True:
    norch.save(value, "weights")
"""

HOLD = """
import sys
from norch import files
with files.written("weights", "save") as file:
    print("ready", flush=True)
    sys.stdin.read()
    file.write(b"late")
"""


def test_what_killed_writers_leave_is_removed_by_the_next(rng):
    left = 0
    for _ in range(8):
        process = run_python(SAVE_FOR_EVER)
        process.stdout.readline()
        time.sleep(rng.random() * 0.1)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        left += len(temporaries())
        assert len(temporaries()) <= 1
        assert not os.path.exists("weights") or norch.load("weights")["weight"].shape == [300_000]
    norch.save(VALUE, "another")
    assert temporaries() == [] and left > 0


def test_the_file_of_a_living_writer_stays():
    with run_python(HOLD) as writer:
        writer.stdout.readline()
        writer.send_signal(signal.SIGSTOP)
        norch.save(VALUE, "weights")
        assert is_saved("weights") and len(temporaries()) == 1
        writer.send_signal(signal.SIGCONT)
        writer.communicate("")
    assert Path("weights").read_bytes() == b"late" and temporaries() == []


def test_another_host_s_file_stays_for_a_day_and_what_is_no_temporary_for_ever():
    theirs, ours = f".norch-{'0' * 8}-{'1' * 16}.tmp", f".norch-{files._HOST}-{'2' * 16}.tmp"
    old = f".norch-{'0' * 8}-{'3' * 16}.tmp"
    kept = [".norch-notes.tmp", "norch.tmp", f".norch-{files._HOST}-{'4' * 16}.tmp.bak"]
    for name in (theirs, ours, old, *kept):
        Path(name).touch()
    os.utime(old, (0, 0))
    os.symlink(kept[0], f".norch-{files._HOST}-{'5' * 16}.tmp")
    os.mkfifo(f".norch-{files._HOST}-{'6' * 16}.tmp")
    norch.save(VALUE, "weights")
    special = [f".norch-{files._HOST}-{digit * 16}.tmp" for digit in "56"]
    assert sorted(os.listdir()) == sorted([theirs, "weights", *kept, *special])


def test_the_host_is_in_the_name():
    assert files._HOST == f"{files.zlib.crc32(socket.gethostname().encode()):08x}"


def test_a_writer_whose_file_is_taken_before_it_is_locked_makes_another(monkeypatch):
    real, taken = files.fcntl.flock, []

    def flock(file, how):
        if not taken and how == files.fcntl.LOCK_EX:
            taken.append(file.name)
            os.unlink(file.name)
        real(file, how)

    monkeypatch.setattr(files.fcntl, "flock", flock)
    norch.save(VALUE, "weights")
    assert len(taken) == 1 and is_saved("weights") and os.listdir() == ["weights"]


def test_a_file_system_without_locks(monkeypatch):
    def flock(*arguments):
        raise OSError("no locks here")

    monkeypatch.setattr(files.fcntl, "flock", flock)
    Path(f".norch-{files._HOST}-{'0' * 16}.tmp").touch()
    norch.save(VALUE, "weights")
    assert is_saved("weights") and len(os.listdir()) == 2


def test_threads_and_processes_that_save_into_one_folder():
    others = [run_python(SAVE_FOR_EVER) for _ in range(2)]
    for process in others:
        process.stdout.readline()
    failures = []

    def work(number):
        try:
            for i in range(20):
                norch.save(VALUE, f"{number}-{i % 2}")
        except BaseException as error:
            failures.append(error)

    in_threads(4, work)
    assert all(process.poll() is None for process in others)
    for process in others:
        process.kill()
        process.communicate()
    norch.save(VALUE, "last")
    assert not failures and temporaries() == []
    assert all(is_saved(f"{number}-{i}") for number in range(4) for i in range(2))


def test_a_drawing_is_written_so_too():
    drawing = norch.draw_graph(norch.ones(2, requires_grad=True).sum())
    drawing.save("graph.dot")
    os.chmod("graph.dot", 0o600)
    drawing.save("graph.dot")
    assert mode_of("graph.dot") == 0o600 and Path("graph.dot").read_text(encoding="utf-8").startswith("digraph")


@pytest.mark.parametrize(("number", "is_told"), [(errno.EIO, True), (errno.ENOSPC, True), (errno.EINVAL, False)])
def test_an_error_of_the_disk_is_told_when_the_folder_is_synced(number, is_told, tmp_path, monkeypatch):
    synced = os.fsync

    def fsync(file):
        if stat.S_ISDIR(os.fstat(file).st_mode):
            raise OSError(number, os.strerror(number))
        synced(file)

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OSError) if is_told else contextlib.nullcontext():
        norch.save(norch.ones(2), tmp_path / "x")
    assert norch.load(tmp_path / "x").tolist() == [1.0, 1.0] and len(os.listdir(tmp_path)) == 1
