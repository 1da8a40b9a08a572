"""One rank: what the launcher (run.py) starts. It runs the script, and tells the launcher how that ended."""

from __future__ import annotations

import os
import runpy
import sys
import time
import traceback
from typing import Any, NoReturn

from . import mpi
from .group import abort, destroy_process_group, place_of_this_rank
from .output import prefixed
from .watch import Connection

HANDED_OVER = 3  # seconds in which the launcher ends a rank that failed


def main() -> None:
    """Run the script or module of the command line as rank RANK."""
    rank = mpi.told(mpi.RANKS, 0)
    os.environ["RANK"] = str(rank)
    size = mpi.told(("LOCAL_WORLD_SIZE",), 1)
    os.environ["LOCAL_RANK"] = str(mpi.told(mpi.LOCAL_RANKS, rank % size))
    os.environ.setdefault("GROUP_RANK", str(rank // size))
    connection = Connection.made(rank, place_of_this_rank)
    if connection is not None:
        mpi.before_start.append(connection.start_together)
    flush = prefixed(f"[rank {rank}] ")
    try:
        status = _run(sys.argv[1:])
        if status:
            _fail(connection, flush, f"ended with status {status}", status)
        destroy_process_group()
    except BaseException as error:
        text = "".join(traceback.format_exception_only(type(error), error)).strip()
        traceback.print_exception(type(error), error, _of_script(error.__traceback__))
        _fail(connection, flush, f"raised {text}", 1)
    if connection is not None:
        flush()
        connection.done()


def _run(arguments: list[str]) -> int:
    """Run the script as Python does, and return its exit status."""
    module = arguments[0] == "-m"
    sys.argv = arguments[1:] if module else arguments
    try:
        if module:
            sys.path[0] = os.getcwd()
            runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
            runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            return ended.code or 0
        print(ended.code, file=sys.stderr)
        return 1
    return 0


def _of_script(trace: Any) -> Any:
    """The traceback without the frames of this file and of runpy."""
    inner = trace
    while inner is not None and inner.tb_frame.f_code.co_filename in (__file__, runpy.__file__, "<frozen runpy>"):
        inner = inner.tb_next
    return inner or trace


def _fail(connection: Connection | None, flush: Any, why: str, status: int) -> NoReturn:
    flush()
    if connection is not None:
        connection.failed(why)
        time.sleep(HANDED_OVER)  # the launcher ends all; mpirun, which forgets their shared memory, would be faster
    else:
        abort(status)
    os._exit(status if 0 < status < 256 else 1)  # not through MPI_Finalize, which waits for the others


if __name__ == "__main__":
    main()
