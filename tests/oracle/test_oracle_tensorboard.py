"""SummaryWriter beside torch's: TensorBoard reads the same values from both files."""

from __future__ import annotations

import io
import math
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")

from torch.utils.tensorboard import SummaryWriter as Theirs  # noqa: E402

import norch  # noqa: E402
from norch.utils.tensorboard import SummaryWriter as Ours  # noqa: E402

LIBRARIES = {torch: Theirs, norch: Ours}
RNG = np.random.RandomState(0)
IMAGE = RNG.rand(3, 5, 7).astype("float32")
IMAGES = RNG.rand(10, 1, 4, 6).astype("float32")
VALUES = np.concatenate([RNG.randn(50), [0.0, 1e-13, 3.0, 3.0]]).astype("float32")
LABELS = RNG.randint(0, 2, 40)
CHANCES = RNG.rand(40).astype("float32")

ADDED = {
    "scalars": lambda w, lib: [w.add_scalar("loss/train", lib.tensor(1.5) / (i + 1), i) for i in range(3)],
    "numbers": lambda w, lib: [w.add_scalar("lr", 0.1, 2**40, walltime=5.0), w.add_scalar("n", np.float64(2))],
    "text": lambda w, lib: w.add_text("notes", "| a | b |\n über", 3),
    "histogram": lambda w, lib: w.add_histogram("weights", lib.from_numpy(VALUES), 1),
    "bins": lambda w, lib: w.add_histogram("weights", VALUES, 1, bins=7),
    "one value": lambda w, lib: w.add_histogram("weights", lib.ones(3), bins="tensorflow"),
    "image": lambda w, lib: w.add_image("first", lib.from_numpy(IMAGE), 2),
    "gray": lambda w, lib: w.add_image("gray", lib.from_numpy(IMAGE)[0], dataformats="HW"),
    "bytes": lambda w, lib: w.add_image("bytes", (IMAGE.transpose(1, 2, 0) * 255).astype("uint8"), dataformats="HWC"),
    "images": lambda w, lib: w.add_images("many", lib.from_numpy(IMAGES).repeat(1, 3, 1, 1), 1),
    "curve": lambda w, lib: w.add_pr_curve("pr", lib.from_numpy(LABELS), lib.from_numpy(CHANCES), 1, num_thresholds=20),
    "purged": lambda w, lib: w.add_scalar("x", 1, 1),
}


def read(folder: Path):
    found = accumulator.EventAccumulator(str(folder), dict.fromkeys(accumulator.DEFAULT_SIZE_GUIDANCE, 0))
    found.Reload()
    rows = []
    for kind in ("scalars", "histograms", "images", "tensors"):
        for tag in found.Tags()[kind]:
            rows += [(kind, tag, event) for event in getattr(found, kind.capitalize())(tag)]
    return rows


def plain(kind, event):
    """What TensorBoard shows of an event."""
    if kind == "scalars":
        return [event.value]
    if kind == "images":
        from PIL import Image

        return np.asarray(Image.open(io.BytesIO(event.encoded_image_string)).convert("RGB")).ravel()
    if kind == "histograms":
        h = event.histogram_value
        return [h.min, h.max, h.num, h.sum, h.sum_squares, *h.bucket_limit, *h.bucket]
    return [*event.tensor_proto.float_val, *(ord(c) for text in event.tensor_proto.string_val for c in text.decode())]


@pytest.mark.parametrize("name", ADDED)
def test_tensorboard_reads_the_same(name, tmp_path):
    found = []
    for lib, writer in LIBRARIES.items():
        folder = tmp_path / lib.__name__
        with writer(folder, **({"purge_step": 5} if name == "purged" else {})) as w:
            ADDED[name](w, lib)
        found.append(read(folder))
    assert len(found[0]) == len(found[1]) >= 1
    for (kind, tag, wanted), (ours, our_tag, got) in zip(*found):
        assert (kind, tag, wanted.step) == (ours, our_tag, got.step)
        np.testing.assert_allclose(plain(kind, got), plain(kind, wanted), rtol=1e-5, atol=1 if kind == "images" else 0)


def test_several_curves_and_settings_have_folders(tmp_path):
    found = []
    for lib, writer in LIBRARIES.items():
        folder = tmp_path / lib.__name__
        with writer(folder) as w:
            w.add_scalars("loss", {"train": lib.tensor(1.0), "test": 2.0}, 4)
            settings = {"lr": 0.1, "name": "net", "on": True, "none": None, "n": 3}
            w.add_hparams(settings, {"accuracy": lib.tensor(0.5)}, run_name="run")
        found.append({path.parent.relative_to(folder): read(path.parent) for path in folder.rglob("events*")})
    assert sorted(found[0]) == sorted(found[1]) and len(found[0]) == 4
    for folder, rows in found[0].items():
        assert [(k, t, e.value) for k, t, e in rows if k == "scalars"] == [
            (k, t, e.value) for k, t, e in found[1][folder] if k == "scalars"
        ]


def test_settings_are_read_back(tmp_path):
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    found = []
    for lib, writer in LIBRARIES.items():
        folder = tmp_path / lib.__name__
        with writer(folder) as w:
            w.add_hparams({"lr": 0.1, "name": "net", "n": 3}, {"accuracy": 0.5}, run_name="run")
        data = accumulator.EventAccumulator(str(folder / "run"))
        data.Reload()
        contents = data.PluginTagToContent("hparams")
        found.append([HParamsPluginData.FromString(contents[tag]) for tag in sorted(contents)])
    for wanted, got in zip(*found):
        assert got == wanted


def test_points_are_written_as_torch_writes_them(tmp_path):
    from google.protobuf import text_format
    from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

    rows, images = RNG.randn(5, 3).round(2), RNG.rand(5, 3, 4, 4).astype("float32")
    for lib, writer in LIBRARIES.items():
        with writer(tmp_path / lib.__name__) as w:
            points = lib.from_numpy(rows)
            w.add_embedding(points, metadata=[*"abcde"], label_img=lib.from_numpy(images), global_step=2, tag="words")
            w.add_embedding(points, metadata=[(i, -i) for i in range(5)], metadata_header=["x", "y"])
    for name in ("00002/words/tensors.tsv", "00002/words/metadata.tsv", "00000/default/metadata.tsv"):
        assert (tmp_path / "norch" / name).read_text() == (tmp_path / "torch" / name).read_text()
    configs = [(tmp_path / lib / "projector_config.pbtxt").read_text() for lib in ("norch", "torch")]
    ours, theirs = (text_format.Parse(text, ProjectorConfig()) for text in configs)
    assert ours == theirs and len(ours.embeddings) == 2


def test_figures_are_drawn(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure = plt.figure(figsize=(1, 1), dpi=20)
    figure.gca().plot([1, 2])
    with Ours(tmp_path) as w:
        w.add_figure("curve", figure, 1)
    [(kind, tag, event)] = read(tmp_path)
    assert (kind, tag, event.width, event.height) == ("images", "curve", 20, 20)
    assert plain(kind, event).min() < 200 < plain(kind, event).max() and math.isfinite(event.wall_time)
