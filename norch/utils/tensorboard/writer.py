"""SummaryWriter: values of a training run in files that TensorBoard shows."""

from __future__ import annotations

import itertools
import math
import os
import re
import socket
import time
from typing import Any, BinaryIO, Mapping, Sequence

from ...functions.creation import tensor
from ...functions.searching import searchsorted
from ...given import given, warn
from ...methods.interop import as_tensor
from ...tensor import Tensor
from ...types import float64, shown, uint8
from .records import double, doubles, integer, message, plugin, png, record, single

__all__ = ["SummaryWriter"]

_number = itertools.count()  # of the files of this process


class SummaryWriter:
    """Writes events into a file of `log_dir`, by default runs/<time>_<host><comment>; each is there at once.

    Values may be tensors, arrays or numbers. What is not here, as videos and sound, `tensorboardX` writes.

    >>> from norch.utils.tensorboard import SummaryWriter
    >>> with SummaryWriter("runs/first") as writer:
    ...     for step in range(3):
    ...         writer.add_scalar("loss", norch.tensor(1.0) / (step + 1), step)
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str] | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        if not log_dir:
            log_dir = os.path.join("runs", f"{time.strftime('%b%d_%H-%M-%S')}_{socket.gethostname()}{comment}")
        self.log_dir = os.fspath(log_dir)
        self.filename_suffix = filename_suffix
        self._file: BinaryIO | None = None
        self._parts: dict[str, SummaryWriter] = {}  # of `add_scalars`, by their folders
        self._embeddings: list[str] = []
        self._write(message(3, "brain.Event:2"), None, None)
        if purge_step is not None:  # TensorBoard forgets what an earlier run wrote from there on
            self._write(message(7, integer(1, 1)), purge_step, None)

    def _write(self, fields: bytes, step: int | None, walltime: float | None) -> None:
        if self._file is None:  # the first, or one after `close`
            os.makedirs(self.log_dir, exist_ok=True)
            name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}.{next(_number)}"
            self._file = open(os.path.join(self.log_dir, name + self.filename_suffix), "wb")
        now = double(1, time.time() if walltime is None else walltime)
        self._file.write(record(now + (b"" if step is None else integer(2, int(step))) + fields))
        self._file.flush()

    def _add(self, tag: str, value: bytes, step: int | None, walltime: float | None) -> None:
        self._write(message(5, message(1, message(1, tag), value)), step, walltime)

    def get_logdir(self) -> str:
        """The folder of the files."""
        return self.log_dir

    def flush(self) -> None:
        """Do nothing: what is added is in the file."""

    def close(self) -> None:
        """Close the files. What is added later goes to a new one."""
        for writer in self._parts.values():
            writer.close()
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- What is added ----------------------------------------------------------------------------------------------

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """A number: a point of the curve `tag`."""
        self._add(tag, single(2, float(scalar_value)), global_step, walltime)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: Mapping[str, Any],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Numbers for several curves of one picture, each in a folder of its own."""
        for tag, value in tag_scalar_dict.items():
            folder = f"{self.log_dir}/{main_tag.replace('/', '_')}_{tag}"
            if folder not in self._parts:
                self._parts[folder] = SummaryWriter(folder, filename_suffix=self.filename_suffix)
            self._parts[folder].add_scalar(main_tag, value, global_step, walltime)

    def add_text(
        self, tag: str, text_string: str, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """A text, in Markdown."""
        shape = message(2, message(2, integer(1, 1)))
        value = plugin("text") + message(8, integer(1, 7), shape, message(8, str(text_string)))
        self._add(f"{tag}/text_summary", value, global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: int | None = None,
        bins: str | int = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """How values are distributed: `bins` is a number of bins, or "tensorflow", ten for each factor of 2.6.

        Other names are those of NumPy's rules; here they give 1 + log2(n) bins. Raises ValueError for no values.
        """
        x = _on_cpu(values).to(float64).reshape(-1)
        x = x[x.isfinite()]
        if not x.numel():
            raise ValueError("add_histogram: the input has no element")
        low, high = x.min().item(), x.max().item()
        if bins == "tensorflow":
            edges = _EDGES
        else:
            count = bins if isinstance(bins, int) else 1 + math.ceil(math.log2(x.numel()))
            width = (high - low or 1.0) / count
            edges = [low + width * i for i in range(count)] + [max(high, low + width * count)]
        places = searchsorted(tensor(edges, dtype=float64), x, right=True) - 1
        places = places[(places >= 0) & (x <= edges[-1])].clamp(max=len(edges) - 2)
        counts = places.bincount(minlength=len(edges) - 1).tolist()
        used = [i for i, count in enumerate(counts) if count] or [0]
        counts = [0, *counts[used[0] : used[-1] + 1]]  # its right limit is the left limit of the first
        limits = edges[used[0] : used[-1] + 2]
        sums = double(3, x.numel()) + double(4, x.sum().item()) + double(5, (x * x).sum().item())
        found = double(1, low) + double(2, high) + sums + doubles(6, limits) + doubles(7, counts)
        self._add(tag, message(5, found), global_step, walltime)

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """An image of floats from 0 to 1, or of uint8: its dimensions are channels, height and width, or "HWC", "HW".

        Four dimensions, as "NCHW", are several images, drawn side by side. Raises ShapeError for another number of
        dimensions.
        """
        pixels = _pixels(_on_cpu(img_tensor), dataformats.upper())
        height, width, channels = pixels.shape
        rows = [bytes(row) for row in pixels.reshape(height, -1).tolist()]
        sizes = integer(1, height) + integer(2, width) + integer(3, channels)
        self._add(tag, message(4, sizes, message(4, png(rows, width, channels))), global_step, walltime)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Several images, in rows of eight."""
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_figure(
        self, tag: str, figure: Any, global_step: int | None = None, close: bool = True, walltime: float | None = None
    ) -> None:
        """A figure of matplotlib, or a list of them."""
        for each in figure if isinstance(figure, list) else [figure]:
            each.canvas.draw()
            view: Any = memoryview(each.canvas.buffer_rgba())
            drawn = tensor(list(view.tobytes()), dtype=uint8).reshape(view.shape)
            self.add_image(tag, drawn, global_step, walltime, "HWC")
            if close:
                each.clear()

    def add_graph(self, model: Any, input_to_model: Any = None, verbose: bool = False, **_: Any) -> None:
        """Warn: norch has no graph of a model to show here; `norch.draw_graph` draws that of a result."""
        warn("add_graph writes nothing: norch runs the Python, and has no graph of a model", UserWarning)

    def add_pr_curve(
        self,
        tag: str,
        labels: Any,
        predictions: Any,
        global_step: int | None = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Precision and recall of predicted probabilities, for labels of 0 and 1, at thresholds from 0 to 1."""
        count = min(num_thresholds, 127)
        truth = _on_cpu(labels).to(float64).reshape(-1)
        bins = (_on_cpu(predictions).to(float64).reshape(-1) * (count - 1)).floor().long()
        share = 1.0 if weights is None else _on_cpu(weights).to(float64).reshape(-1)
        tp, fp = (bins.bincount(w * share, minlength=count).flip(0).cumsum(0).flip(0) for w in (truth, 1 - truth))
        tn, fn = fp[0] - fp, tp[0] - tp
        curves = [tp, fp, tn, fn, tp / (tp + fp).clamp(min=1e-7), tp / (tp + fn).clamp(min=1e-7)]
        shape = message(2, message(2, integer(1, 6)), message(2, integer(1, count)))
        numbers = b"".join(single(5, value) for curve in curves for value in curve.tolist())
        value = plugin("pr_curves", integer(2, count)) + message(8, integer(1, 1), shape, numbers)
        self._add(tag, value, global_step, walltime)

    def add_hparams(
        self,
        hparam_dict: Mapping[str, Any],
        metric_dict: Mapping[str, Any],
        hparam_domain_discrete: Any = None,
        run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:
        """The settings of a run and what it reached, in a folder of their own. Raises TypeError for what is no dict."""
        for name, given_dict in (("hparam_dict", hparam_dict), ("metric_dict", metric_dict)):
            if not isinstance(given_dict, dict):
                raise TypeError(f"add_hparams: {name} is {given(given_dict)}, expected a dict")
        settings, start = b"", b""
        for name, value in hparam_dict.items():
            if isinstance(value, bool):
                kind, field = 2, integer(4, value)
            elif isinstance(value, (int, float, Tensor)):
                kind, field = 3, double(2, float(value))
            elif value is None:
                continue
            else:
                kind, field = 1, message(3, str(value))
            settings += message(4, message(1, name), integer(4, kind))
            start += message(1, message(1, name), message(2, field))
        metrics = b"".join(message(5, message(1, message(2, name))) for name in metric_dict)
        parts = {"experiment": (2, settings + metrics), "session_start_info": (3, start)}
        parts["session_end_info"] = 4, integer(1, 1)  # success
        with SummaryWriter(os.path.join(self.log_dir, run_name or str(time.time()))) as writer:
            for tag, (number, content) in parts.items():
                writer._add(f"_hparams_/{tag}", plugin("hparams", message(number, content)), None, None)
            for name, value in metric_dict.items():
                writer.add_scalar(name, value, global_step)

    def add_embedding(
        self,
        mat: Any,
        metadata: Sequence[Any] | None = None,
        label_img: Any = None,
        global_step: int | None = None,
        tag: str = "default",
        metadata_header: Sequence[str] | None = None,
    ) -> None:
        """Rows of numbers, as points, with labels and images of them. Raises ValueError for counts that differ."""
        rows = _on_cpu(mat)
        if rows.ndim != 2 or (metadata is not None and len(metadata) != len(rows)):
            labels = "" if metadata is None else f", and {len(metadata)} labels"
            raise ValueError(f"add_embedding: given a matrix of shape {list(rows.shape)}{labels}, expected [N, D]")
        step = f"{global_step or 0:05d}"
        folder = f"{step}/{re.sub(r'[^-/.A-Za-z0-9_]', '_', tag)}"
        os.makedirs(os.path.join(self.log_dir, folder), exist_ok=True)

        def path(name: str) -> str:
            return os.path.join(self.log_dir, folder, name)

        entry = f'tensor_name: "{tag}:{step}"\ntensor_path: "{folder}/tensors.tsv"\n'
        with open(path("tensors.tsv"), "w") as file:
            file.writelines("\t".join(map(str, row)) + "\n" for row in rows.tolist())
        if metadata is not None:
            columns = [metadata_header, *metadata] if metadata_header else [[label] for label in metadata]
            with open(path("metadata.tsv"), "w") as file:
                file.writelines("\t".join(map(str, each)) + "\n" for each in columns)
            entry += f'metadata_path: "{folder}/metadata.tsv"\n'
        if label_img is not None:
            images = _on_cpu(label_img)
            grid = _pixels(images, "NCHW", math.ceil(math.sqrt(len(images))))
            with open(path("sprite.png"), "wb") as sprite:
                pixel_rows = [bytes(row) for row in grid.reshape(grid.shape[0], -1).tolist()]
                sprite.write(png(pixel_rows, grid.shape[1], grid.shape[2]))
            sizes = "".join(f"  single_image_dim: {size}\n" for size in (images.shape[3], images.shape[2]))
            entry += f'sprite {{\n  image_path: "{folder}/sprite.png"\n{sizes}}}\n'
        self._embeddings.append(f"embeddings {{\n{entry}}}\n")
        with open(os.path.join(self.log_dir, "projector_config.pbtxt"), "w") as file:
            file.writelines(self._embeddings)


def _edges() -> list[float]:
    """TensorFlow's limits of bins: each is a tenth larger than the one before it."""
    positive = [1e-12]
    while positive[-1] < 1e20:
        positive.append(positive[-1] * 1.1)
    return [*(-x for x in reversed(positive[:-1])), 0.0, *positive[:-1]]


_EDGES = _edges()


def _on_cpu(value: Any) -> Tensor:
    return as_tensor(value).detach().cpu()


def _pixels(image: Tensor, dims: str, columns: int = 8) -> Tensor:
    """The image as uint8 [H, W, C]; several side by side."""
    if len(dims) != image.ndim or not {"H", "W"} <= set(dims) <= set("NCHW") or len(set(dims)) != len(dims):
        found = f"shape {list(image.shape)} and dataformats {shown(dims)}"
        raise ValueError(f"add_image: given {found}, expected a letter for each dimension")
    for missing in {"N", "C"} - set(dims):
        image, dims = image.unsqueeze(0), missing + dims
    image = image.permute([dims.index(name) for name in "NCHW"])
    if image.dtype is not uint8:
        image = (image.float() * 255).clamp(0, 255).to(uint8)
    count, channels, height, width = image.shape
    columns = min(columns, count)
    rows = -(-count // columns)
    canvas = image.new_zeros(rows * columns, channels, height, width)
    canvas[:count] = image
    grid = canvas.reshape(rows, columns, channels, height, width).permute(0, 3, 1, 4, 2)
    return grid.reshape(rows * height, columns * width, channels)
