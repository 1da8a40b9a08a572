"""Files that are written whole or not at all: `written` is how norch saves anything.

    .norch-<host>-<random>.tmp   the new file while it is written: in the folder of the old one, locked by its writer
    weights.safetensors          what it replaces, in one step, when it is complete and on the disk

A writer that is killed leaves its temporary file behind, without a lock: the next writer in the folder removes it.
"""

from __future__ import annotations

import errno
import fcntl
import io
import os
import re
import stat
import time
import zlib
from contextlib import contextmanager, suppress
from functools import partial
from typing import Iterator, Union

OpenFile = Union[io.RawIOBase, io.BufferedIOBase]
File = Union[str, "os.PathLike[str]", OpenFile]

_HOST = f"{zlib.crc32(os.uname().nodename.encode()):08x}"
_TEMPORARY = re.compile(r"\.norch-([0-9a-f]{8})-[0-9a-f]{16}\.tmp")
_DAY = 86400.0  # seconds
_CANNOT_SYNC = {errno.EACCES, errno.EPERM, errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EBADF, errno.EISDIR}


@contextmanager
def written(f: File, name: str) -> Iterator[OpenFile]:
    """A binary file to write to: the one given, or a new one that replaces the file at the path at the end.

    The new file has the mode, the owner and the access list of the old one, and nobody may read it who may not read the
    old one. If there is none, the umask decides. A link keeps its place, a pipe or a device is written to. On an
    exception, which may be the caller's, the old file is still there. `name` is the function that errors speak of.
    """
    if not isinstance(f, (str, os.PathLike)):
        check_open(f, name, "write")
        yield f
        if hasattr(f, "flush"):
            f.flush()  # others may read it by its path before it is closed
        return
    path = os.fsdecode(f)
    try:
        old = os.stat(path)
    except FileNotFoundError:
        old = None
    target = os.path.realpath(path) if os.path.islink(path) else path
    if not os.path.basename(target) or not _is_replaceable(target, old):
        with open(path, "wb") as file:
            yield file
        return
    folder = os.path.dirname(target) or os.curdir
    _remove_dead(folder)
    temporary = os.path.join(folder, f".norch-{_HOST}-{os.urandom(8).hex()}.tmp")
    try:
        with _created(temporary, 0o666 if old is None else 0o600) as file:
            yield file
            file.flush()
            if old is not None:
                _become_like(file.fileno(), target, old)
            os.fsync(file.fileno())
            os.replace(temporary, target)  # before the lock goes with the open file
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def check_open(f: object, name: str, method: str) -> None:
    """Raise TypeError unless f is a binary file with a method."""
    if isinstance(f, io.TextIOBase):
        raise TypeError(f"{name}: expected a binary file, got one opened for text; open it with mode '{method[0]}b'")
    if not hasattr(f, method):
        raise TypeError(f"{name}: expected a path or an open binary file, got {type(f).__name__}")


def _is_replaceable(path: str, old: os.stat_result | None) -> bool:
    """Whether a new file can take the place of what a path names. Raises PermissionError if that is read-only."""
    if old is None:
        return True
    if not stat.S_ISREG(old.st_mode) or not os.path.exists(path) or not os.path.samestat(os.stat(path), old):
        return False  # a pipe, a device, or a file without a name, as /dev/fd/3 may be
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    return True


def _created(path: str, mode: int) -> OpenFile:
    """A new file, open and locked while its writer lives."""
    while True:
        try:
            file = open(path, "xb", opener=partial(os.open, mode=mode))
        except OSError as error:  # nobody knows the temporary name
            missing = error.errno == errno.ENOENT
            text = "there is no such folder to write to; os.makedirs makes one" if missing else error.strerror
            raise OSError(error.errno, text, os.path.dirname(path)) from None
        with suppress(OSError):  # file systems without locks: nobody removes it there
            fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(file.fileno()).st_nlink:
            return file
        file.close()  # another writer took it for a dead one's before it was locked


def _become_like(descriptor: int, path: str, old: os.stat_result) -> None:
    """Give a new file the owner, the mode and the access list of an old one, or less access where that is refused."""
    mode = stat.S_IMODE(old.st_mode)
    for name in os.listxattr(path) if hasattr(os, "listxattr") else ():  # on Linux
        with suppress(OSError):
            os.setxattr(descriptor, name, os.getxattr(path, name))
    if old.st_uid != os.geteuid() or old.st_gid != os.fstat(descriptor).st_gid:
        try:
            os.fchown(descriptor, old.st_uid, old.st_gid)
        except OSError:
            try:
                os.fchown(descriptor, -1, old.st_gid)
            except OSError:
                mode &= ~stat.S_IRWXG  # those rights are of another group
    os.fchmod(descriptor, mode)


def _remove_dead(folder: str) -> None:
    """Remove the temporary files of writers that were killed. What may be alive stays: what another process has locked,
    and, because not every network file system passes locks on, another host's of the last day."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            found = _TEMPORARY.fullmatch(entry.name)
            if found and entry.is_file(follow_symlinks=False):
                with suppress(OSError):  # locked, gone, or another user's
                    _remove_if_dead(entry.path, found[1] == _HOST)


def _remove_if_dead(path: str, is_ours: bool) -> None:
    with open(os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "r+b", buffering=0) as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        status = os.fstat(file.fileno())
        if status.st_nlink and (is_ours or status.st_mtime < time.time() - _DAY):
            os.unlink(path)


def _sync_folder(folder: str) -> None:
    """Make the new name as durable as the content, if the system can; an error of the disk is raised."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC:
            raise
