"""Objects between a DataLoader and its workers: over a socket, each in a file that exists only in memory.

The file holds a pickle of the object without its tensors, then the bytes of the tensors, which the receiver reads
straight into new tensors. The length of the pickle and the file's descriptor go through the socket, so the sender does
not wait for the receiver, no named file can be left behind, and the limits of /dev/shm do not apply. (Both sides are
one forked program, so the pickle is trusted.)
"""

from __future__ import annotations

import io
import os
import pickle
import socket
import tempfile
from typing import Any

from ...functions.serialization import read_tensor, write_all, write_elements
from ...tensor import Tensor
from ...types import DTYPES


class _Pickler(pickle.Pickler):
    """Leaves tensors out of the pickle and collects them in a list."""

    def __init__(self, text: io.BytesIO):
        super().__init__(text, pickle.HIGHEST_PROTOCOL)
        self.tensors: list[Tensor] = []
        self._end = 0

    def persistent_id(self, value: object) -> tuple[int, list[int], int, int, bool] | None:
        if not isinstance(value, Tensor):
            return None
        if value.is_cuda:
            raise RuntimeError("a worker made a tensor on a CUDA device; move batches there in the main process")
        if value.grad_fn is not None:
            raise RuntimeError("a worker made a tensor that is part of a graph, which cannot be sent: detach() it")
        begin, self._end = self._end, self._end + value.nbytes
        self.tensors.append(value)
        return value.dtype.number, list(value.shape), begin, self._end, value.requires_grad


class _Unpickler(pickle.Unpickler):
    """Reads each tensor from the file, in which the tensors' bytes begin at `data`."""

    def __init__(self, text: bytearray, file: io.RawIOBase, data: int):
        super().__init__(io.BytesIO(text))
        self._file, self._data = file, data

    def persistent_load(self, description: Any) -> Tensor:
        number, shape, begin, end, requires_grad = description
        tensor = read_tensor(self._file, self._data, DTYPES[number], shape, begin, end)
        return tensor.requires_grad_() if requires_grad else tensor


def _memory_file() -> Any:
    """A file without a name, in memory if the system can."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("norch-batch"), "w+b", buffering=0)
    return tempfile.TemporaryFile(buffering=0)


def send(channel: socket.socket, value: object) -> None:
    """Send an object, its tensors as bytes. Raises what pickling raises; then nothing was sent."""
    text = io.BytesIO()
    pickler = _Pickler(text)
    pickler.dump(value)
    with _memory_file() as file:
        write_all(file, text.getbuffer())
        for tensor in pickler.tensors:
            write_elements(file, tensor)
        file.seek(0)
        socket.send_fds(channel, [text.tell().to_bytes(8, "little")], [file.fileno()])


def receive(channel: socket.socket) -> Any:
    """The next object. Raises EOFError if the other side has closed."""
    try:
        message, descriptors, _, _ = socket.recv_fds(channel, 8, 1)
    except ConnectionResetError:
        descriptors = []
    if not descriptors:
        raise EOFError("the other side has closed")
    with os.fdopen(descriptors[0], "rb", buffering=0) as file:
        text = bytearray(int.from_bytes(message, "little"))
        rest = memoryview(text)
        while rest:
            count = file.readinto(rest)
            if not count:
                raise EOFError("the other side sent less than it said")
            rest = rest[count:]
        return _Unpickler(text, file, len(text)).load()
