"""The connection between the launcher and each rank, through which either learns that the other ended, and how.

A rank says hello with its number and process id, then "failed: why" or "done". What ends without either has died. A
rank whose launcher is gone ends too. Of ranks on several machines, which share no board, the launcher asks each where
it is when one fails, so that it can name the one that is elsewhere, or stopped.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import selectors
import signal
import socket
import threading
import time
from collections import Counter
from contextlib import suppress
from typing import Any, Callable

from .mpi import forget, shared_files

VARIABLE = "NORCH_WATCH"  # host:port:token, in which the launcher tells where it listens
HIGH = 1000  # a file number above those that MPI opens, below the usual limit of 1,024
PATIENCE = 0.3  # seconds in which the rank that failed first is found among those that fail because of it
ASKED, ALL_START = b"?", b"!"  # what the launcher says
ANSWERS = 1.0  # seconds in which ranks on other machines answer
CLEANED = 0.1  # seconds in which a rank's neighbours learn that the launcher is gone, too


class Watch:
    """The launcher's side. `address` is "127.0.0.1", or for several machines this one's name ("": as it is known)."""

    def __init__(self, ranks: int, address: str) -> None:
        self.ranks, self._done, self._here = ranks, set[int](), address == "127.0.0.1"
        self._token = secrets.token_hex(16)
        self._server = socket.create_server((address if self._here else "", 0), backlog=ranks + 8)
        host = address or socket.getfqdn()
        self.environment = {VARIABLE: f"{host}:{self._server.getsockname()[1]}:{self._token}"}
        self._waker, self._woken = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._server, selectors.EVENT_READ)
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._known: dict[socket.socket, dict[str, Any]] = {}  # connection -> what its rank said
        self._buffers: dict[socket.socket, bytes] = {}
        self._failed: list[tuple[int, str]] = []
        self._places: dict[int, tuple[str, int]] = {}  # what ranks called last, and its number
        self._waiting = 0  # ranks that are about to start MPI

    def wake(self) -> None:
        """Let `until` ask again whether it is over."""
        try:
            self._waker.send(b".")
        except OSError:
            pass

    def until(self, over: Callable[[], bool]) -> str | None:
        """Wait until all ranks are done, which gives None, one failed, which gives a sentence, or it is over."""
        deadline: float | None = None
        while len(self._done) < self.ranks:
            ended = over()
            if (self._failed or ended) and deadline is None:
                deadline = time.monotonic() + (PATIENCE if self._here else ANSWERS)
                if not self._here:  # on one machine ranks know from their board who is elsewhere
                    self._tell(ASKED)
            if deadline is not None and time.monotonic() >= deadline:
                break
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            for key, _ in self._selector.select(left):
                self._read(key.fileobj)
        if len(self._done) == self.ranks:
            return None
        return self._first()

    def _first(self) -> str | None:
        """The failure that came first; an error of a rank's own goes before what may follow from another's."""
        if not self._failed:
            return None
        own = [(rank, text) for rank, text in self._failed if text and "DistBackendError" not in text]
        rank, text = (own or self._failed)[0]
        apart = None if own or not text or self._here else self._apart()
        return apart or f"rank {rank} {text or 'ended without a word (killed, or by os._exit)'}"

    def _tell(self, what: bytes) -> None:
        for connection in self._known:
            with suppress(OSError):
                connection.send(what)

    def _apart(self) -> str | None:
        """The first rank that called something else than most, or not as often, or that does not answer."""
        answers = sorted(self._places.items())
        silent = sorted({said["rank"] for said in self._known.values()} - set(self._places))
        if not answers:
            return None
        usual = Counter(what for _, (what, _) in answers).most_common(1)[0][0]
        number = Counter(count for _, (what, count) in answers if what == usual).most_common(1)[0][0]
        rank, (what, count) = max(answers, key=lambda answer: 2 * (answer[1][0] != usual) + (answer[1][1] != number))
        if (what, count) != (usual, number):
            first = f"rank {rank} called {what} as its collective {count}"
        elif silent:
            first = f"rank {silent[0]} does not answer"
        else:
            return None
        where = next(rank for rank, place in answers if place == (usual, number))
        return f"{first}, but rank {where} called {usual} as its collective {number}"

    def _read(self, connection: Any) -> None:
        if connection is self._server:
            accepted, _ = self._server.accept()
            self._selector.register(accepted, selectors.EVENT_READ)
            self._buffers[accepted] = b""
            return
        try:
            content = connection.recv(65536)
        except OSError:
            content = b""
        if connection is self._woken:
            return
        *lines, self._buffers[connection] = (self._buffers[connection] + content).split(b"\n")
        for line in lines:
            self._hear(connection, line)
            if connection not in self._buffers:  # it was turned away
                return
        if not content:
            rank = self._known.pop(connection, {}).get("rank")
            self._close(connection)
            if rank is not None and rank not in self._done:
                self._failed.append((rank, ""))

    def _close(self, connection: socket.socket) -> None:
        self._selector.unregister(connection)
        self._buffers.pop(connection)
        connection.close()

    def _hear(self, connection: socket.socket, line: bytes) -> None:
        try:
            said = json.loads(line)
        except ValueError:
            said = {}
        if connection not in self._known:  # a stray process does not know the token
            if secrets.compare_digest(str(said.get("token")), self._token):
                self._known[connection] = said
            else:
                self._close(connection)
            return
        rank = self._known[connection]["rank"]
        if "failed" in said:
            self._failed.append((rank, said["failed"]))
        if "starts" in said:
            self._waiting += 1
            if self._waiting == self.ranks:
                self._tell(ALL_START)
        if "place" in said:
            self._places[rank] = tuple(said["place"])
        if "done" in said:
            self._done.add(rank)

    def kill(self, number: signal.Signals) -> None:
        """Send a signal to the ranks of this machine that are connected: a stopped one hears nothing else."""
        living = [said["pid"] for said in self._known.values()] if self._here else []
        names = {name for pid in living for name in shared_files(pid)}
        for pid in living:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        forget(names)

    def close(self) -> None:
        """Close all connections, at which ranks of other machines end."""
        for connection in [*self._buffers, self._server, self._waker, self._woken]:
            connection.close()
        self._selector.close()


def _closed_first(connection: socket.socket) -> socket.socket:
    """The connection under a high number: of a killed process Linux closes the highest first.

    So the launcher sees which rank died before mpirun can see it and kill the others.
    """
    with suppress(OSError):  # fewer files are allowed
        high = fcntl.fcntl(connection, fcntl.F_DUPFD_CLOEXEC, HIGH)
        connection.close()
        return socket.socket(fileno=high)
    return connection


class Connection:
    """A rank's side: None from `made` without a launcher."""

    def __init__(self, connection: socket.socket, place: Callable[[], Any]) -> None:
        self._socket, self._place, self._all_start = connection, place, threading.Event()

    @classmethod
    def made(cls, rank: int, place: Callable[[], Any] = str) -> Connection | None:
        """Connect to the launcher that the environment names; it may ask for this rank's place."""
        where = os.environ.get(VARIABLE)
        if not where:
            return None
        host, port, token = where.rsplit(":", 2)
        connection = cls(_closed_first(socket.create_connection((host, int(port)), timeout=30)), place)
        connection._socket.settimeout(None)
        connection._say(token=token, rank=rank, pid=os.getpid())
        threading.Thread(target=connection._answer, daemon=True).start()
        return connection

    def _say(self, **content: Any) -> None:
        try:
            self._socket.sendall(json.dumps(content).encode() + b"\n")
        except OSError:
            pass

    def start_together(self, limit: float) -> None:
        """Wait until all ranks are about to start MPI: in MPI_Init none would see that another failed before.

        Raises RuntimeError if they are not within `limit` seconds.
        """
        self._say(starts=True)
        if not self._all_start.wait(min(limit, threading.TIMEOUT_MAX)):
            raise RuntimeError(f"not all ranks called init_process_group within {limit:g} s")

    def failed(self, why: str) -> None:
        """Tell that this rank failed."""
        self._say(failed=why)

    def done(self) -> None:
        """Tell that this rank is at its end, and where it left the others."""
        self._say(done=True, place=self._place())

    def _answer(self) -> None:
        """Do what the launcher says, and end with it."""
        with suppress(OSError):
            while said := self._socket.recv(1):
                if said == ALL_START:
                    self._all_start.set()
                else:
                    self._say(place=self._place())
        forget(shared_files("self"))
        time.sleep(CLEANED)
        os._exit(1)
