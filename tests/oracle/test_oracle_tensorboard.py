"""SummaryWriter writes the same file of norch's tensors as of torch's."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("tensorboardX")
from tensorboardX.proto.event_pb2 import Event  # noqa: E402

import norch  # noqa: E402
from norch.utils.tensorboard import SummaryWriter  # noqa: E402

torch = pytest.importorskip("torch")

RNG = np.random.RandomState(0)
IMAGE, VALUES = RNG.rand(3, 5, 7).astype("float32"), RNG.randn(50).astype("float32")

ADDED = {
    "loss": lambda w, lib: w.add_scalar("loss", lib.tensor(1.5, requires_grad=True) / 2, 3),
    "bfloat16": lambda w, lib: w.add_scalar("loss", lib.tensor([0.5], dtype=lib.bfloat16).float(), 3),
    "several": lambda w, lib: w.add_histogram("weights", lib.from_numpy(VALUES), global_step=1),
    "an image": lambda w, lib: w.add_image("first", img_tensor=lib.from_numpy(IMAGE), global_step=2),
    "hyperparameters": lambda w, lib: w.add_hparams({"lr": 0.1}, {"loss": lib.tensor(2.0)}, name="run", global_step=1),
}


def events(folder: Path):
    found = []
    for path in sorted(folder.rglob("events*")):
        data = path.read_bytes()
        while data:
            (length,) = struct.unpack("<Q", data[:8])
            event = Event.FromString(data[12 : 12 + length])
            event.wall_time, data = 0, data[16 + length :]
            found.append(event)
    return found


@pytest.mark.parametrize("name", ADDED)
def test_tensors_are_written_as_torchs(tmp_path, name):
    for lib in (torch, norch):
        with SummaryWriter(log_dir=str(tmp_path / lib.__name__)) as writer:
            ADDED[name](writer, lib)
    written = events(tmp_path / "norch")
    assert len(written) > 1 and list(map(str, written)) == list(map(str, events(tmp_path / "torch")))


def test_values_in_dicts_and_16_bits(tmp_path):
    with SummaryWriter(log_dir=str(tmp_path)) as writer:
        writer.add_scalars("losses", {"a": norch.tensor(0.25), "b": norch.tensor(0.5, dtype=norch.bfloat16)}, 1)
    assert sorted(v.simple_value for event in events(tmp_path) for v in event.summary.value) == [0.25, 0.5]
