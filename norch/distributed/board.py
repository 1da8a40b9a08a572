"""The board: memory that the ranks of one machine share, where each notes which collective it is in.

The launcher (run.py) makes it. A rank compares its own note with those of the others, so that ranks that call different
collectives, or one with different shapes, are found where MPI would mix up their bytes; and after a timeout it can say
who is missing. It is a help, not a part of the computation: without a launcher there is none.
"""

from __future__ import annotations

import mmap
import os
from struct import Struct
from zlib import crc32

ROWS = 64  # of the last collectives; one rank may be ahead of another by less
TEXT = 160  # bytes of a description

VARIABLE = "NORCH_BOARD"  # in which the launcher tells the path


def size_of(ranks: int) -> int:
    """The bytes of a board: for each row a number of each rank, then the ranks' descriptions."""
    return 8 * ROWS * ranks + TEXT * ranks


class Board:
    """The board of `ranks` processes, over a file that the launcher has."""

    def __init__(self, path: str, rank: int, ranks: int) -> None:
        with open(path, "r+b") as file:
            self._memory = memoryview(mmap.mmap(file.fileno(), size_of(ranks)))
        self._numbers = self._memory[: 8 * ROWS * ranks].cast("q")
        self._row = Struct(f"{ranks}q").unpack_from
        self._texts = self._memory[8 * ROWS * ranks :]
        self.rank, self.ranks = rank, ranks
        self._others = [other for other in range(ranks) if other != rank]
        self._noted, self._check = b"", 0  # this rank's description, and a number for it

    @classmethod
    def found(cls, rank: int, ranks: int) -> Board | None:
        """The launcher's board; None without one, and where it lies on another machine."""
        path = os.environ.get(VARIABLE)
        if not path or ranks == 1:
            return None
        try:
            return cls(path, rank, ranks)
        except OSError:
            return None

    def note(self, number: int, description: bytes) -> int | None:
        """This rank calls its collective of that number; the result is `differing`'s."""
        if description is not self._noted:
            start = TEXT * self.rank
            self._texts[start : start + TEXT] = description
            self._noted, self._check = description, crc32(description)
        self._numbers[number % ROWS * self.ranks + self.rank] = number << 32 | self._check
        return self.differing(number)

    def differing(self, number: int) -> int | None:
        """A rank that calls something else as its collective of that number; None if all that came so far agree."""
        row = self._row(self._memory, 8 * self.ranks * (number % ROWS))
        mine = row[self.rank]
        if row.count(mine) == self.ranks:
            return None
        for other in self._others:
            if row[other] != mine and row[other] >> 32 == number:
                return other
        return None

    def missing(self, number: int) -> list[int]:
        """The ranks that have not called their collective of that number."""
        latest = [max(self._numbers[rank :: self.ranks].tolist()) >> 32 for rank in range(self.ranks)]
        return [rank for rank in self._others if latest[rank] < number]

    def text(self, rank: int) -> str:
        """What a rank called last; empty before its first collective."""
        return bytes(self._texts[TEXT * rank : TEXT * (rank + 1)]).rstrip(b"\0 ").decode(errors="replace")
