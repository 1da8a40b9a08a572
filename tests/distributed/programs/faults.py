"""A rank does something wrong: argument 1 says what, and the last rank is the one. Argument 2: a folder to write to."""

import os
import resource
import signal
import socket
import sys
import time
from pathlib import Path

import norch
import norch.distributed as dist
from norch import nn
from norch.distributed.checkpoint import save_checkpoint
from norch.nn.parallel import DistributedDataParallel
from norch.utils.data import DataLoader, Dataset

case, folder = sys.argv[1:]
me = os.environ["RANK"] == str(int(os.environ["WORLD_SIZE"]) - 1)


def tell_time():
    """From here on the test counts the seconds."""
    Path(folder, "time").write_text(str(time.monotonic()))


def launcher():
    return int(os.environ["NORCH_BOARD"].split("/")[2])


if case == "import" and me:
    tell_time()
    import no_such_module  # noqa: F401

dist.init_process_group(timeout=60)
model = DistributedDataParallel(nn.Linear(8, 8))
optimizer = norch.optim.SGD(model.parameters(), lr=0.01)


def step(x=None):
    optimizer.zero_grad()
    model(norch.randn(4, 8) if x is None else x).sum().backward()
    optimizer.step()


class Data(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        if me and i == 5:
            tell_time()
            raise OSError("sample 5 is damaged")
        return norch.ones(8)


def spoil(*_):
    raise ArithmeticError("this one")


step()
dist.group.WORLD.timeout = 2  # not before: on a busy machine some ranks start seconds after others
if me and case != "loader":
    tell_time()
if case == "loader":
    for batch in DataLoader(Data(), batch_size=2, num_workers=1):
        step(batch)
elif case in ("interrupt", "no launcher"):
    if me:
        os.kill(launcher(), signal.SIGINT if case == "interrupt" else signal.SIGKILL)
    time.sleep(60)
elif case == "full disk":  # as far as rank 0, which writes, can see
    save_checkpoint(f"{folder}/run.norch", epoch=1)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    save_checkpoint(f"{folder}/run.norch", epoch=2, much=norch.ones(100_000))
elif me:
    if case == "forward":
        model.module.register_forward_hook(spoil)
    elif case == "backward":
        model.module.bias.register_hook(spoil)
    elif case == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif case == "crashes":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif case == "stopped":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif case == "slow":
        time.sleep(1)
    elif case == "stray":  # a process that is no rank
        host, port, _ = os.environ["NORCH_WATCH"].split(":")
        stray = socket.create_connection((host, int(port)))
        stray.sendall(b'{"token": "guessed", "rank": 0, "pid": 1}\n{"failed": "all is lost"}\nnonsense\n')
    elif case == "leaves":
        sys.exit(0)
    elif case == "status 3":
        sys.exit(3)
    elif case == "vanishes":
        os._exit(0)
    elif case == "one more":
        step()
    elif case == "shape":
        dist.all_reduce(norch.ones(1000))
    elif case == "dtype":
        dist.all_reduce(norch.ones(10, dtype=norch.float64))
    elif case == "operation":
        dist.broadcast(norch.ones(10))
    elif case == "memory":
        norch.ones(2**46)
    elif case == "model":
        DistributedDataParallel(nn.Linear(8, 9))
if case in ("shape", "dtype", "operation"):
    dist.all_reduce(norch.ones(10))
if case == "model":
    DistributedDataParallel(nn.Linear(8, 8))
step()
step()
