"""MPI through mpi4py, which is loaded when the first group of several processes is made, never by `import norch`."""

from __future__ import annotations

import faulthandler
import os
import sys
from contextlib import contextmanager, suppress
from typing import Any, Callable, Iterator

# What launchers tell each process: how many there are, its number, and that among those of its machine.
SIZES = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")
RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID", "RANK")
LOCAL_RANKS = ("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID")

SHARED = ("/dev/shm/mpich_", "/dev/shm/ucx_shm_", "/dev/shm/sm_segment.")  # how MPIs name memory that ranks share
before_start: list[Callable[[float], None]] = []  # called with the limit: a launcher lets all ranks begin together
LONGEST = 1e6  # seconds: what a timer of the system takes
INSTALL = 'pip install "norch[distributed]" brings mpi4py and an MPI'


def told(names: tuple[str, ...], default: int) -> int:
    """The first of these environment variables that holds a number."""
    return next((int(os.environ[name]) for name in names if os.environ.get(name, "").isdigit()), default)


def launched_size() -> int:
    """How many processes the launcher says that it started; 1 without a launcher."""
    return max(told((name,), 1) for name in SIZES)


def processors() -> set[int]:
    """The numbers of those that this process may run on."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))


def is_available() -> bool:
    """Whether mpi4py and an MPI library are installed.

    >>> norch.distributed.is_available() in (True, False)
    True
    """
    try:
        return load() is not None
    except RuntimeError:
        return False


def load() -> Any:
    """The module mpi4py.MPI, which is not initialized by that. Raises RuntimeError if it or MPI is not installed."""
    if "mpi4py.MPI" not in sys.modules:
        try:
            import mpi4py

            mpi4py.rc.initialize = mpi4py.rc.finalize = False
        except ImportError:
            raise RuntimeError(f"several processes need the package mpi4py: {INSTALL}") from None
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise RuntimeError(f"mpi4py found no MPI library ({error}): {INSTALL}") from None
    return MPI


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """MPI_Init and MPI_Finalize wait for all ranks: after this time the process shows where it waits, and ends."""
    faulthandler.dump_traceback_later(min(seconds, LONGEST), exit=True, file=2)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def start(timeout: float) -> tuple[Any, Any, bool]:
    """mpi4py.MPI, a communicator of all ranks that is norch's own, and whether MPI was initialized here.

    Raises RuntimeError if the launcher belongs to another MPI than the library: then each rank believes to be alone.
    """
    MPI = load()
    first = not MPI.Is_initialized()
    library, expected = MPI.Get_library_version(), launched_size()
    # under Open MPI's mpirun an MPICH without PMIx does not believe to be alone, but ends the process in MPI_Init
    foreign = "OMPI_COMM_WORLD_SIZE" in os.environ and "PMI_SIZE" not in os.environ
    ends = expected > 1 and foreign and "MPICH" in library and "pmix" not in library
    for wait in before_start if first and not ends else []:
        wait(timeout)
    with deadline(timeout):
        if first and not ends:
            MPI.Init_thread(MPI.THREAD_MULTIPLE)
        if expected > 1 and (ends or MPI.COMM_WORLD.Get_size() == 1):
            library = library.split("\n")[0].strip(" \0")
            forget(shared_files("self"))  # which nobody will open, and no MPI_Finalize removes
            raise RuntimeError(
                f"the launcher started {expected} processes, but each is alone for the MPI library ({library}): mpirun "
                "belongs to another MPI. Use the mpirun of this library, or python -m norch.distributed.run"
            )
        comm = MPI.COMM_WORLD.Dup()
        if first:
            comm.Barrier()  # all have opened their shared memory, and a killed rank removes none
            forget(shared_files("self"))
        return MPI, comm, first


def forget(files: set[str]) -> None:
    """Remove the names of memory that ranks share."""
    for name in files:
        with suppress(OSError):  # another rank of this machine was faster
            os.unlink(name)


def shared_files(process: int | str) -> set[str]:
    """The files through which MPI shares a process's memory with other ranks."""
    try:
        with open(f"/proc/{process}/maps") as file:
            return {line.split(maxsplit=5)[5].strip() for line in file if any(kind in line for kind in SHARED)}
    except OSError:
        return set()
