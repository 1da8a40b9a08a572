"""Models from the internet: norch downloads nothing, and says so."""

from __future__ import annotations

import builtins
import os
import re
from typing import Any, NoReturn
from urllib.parse import urlparse as urlparse

try:  # which programs take from here
    from tqdm import tqdm  # type: ignore[import-untyped]
except ImportError:
    from .utils.resume import Progress as tqdm  # noqa: F401, N813

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # of a hash in the name of a file


def load(*_: Any, **__: Any) -> NoReturn:
    """Raise RuntimeError: a hub's models are programs for PyTorch.

    >>> state = norch.nn.Linear(2, 1).state_dict()  # build the model in norch, and load its weights from a file
    """
    raise RuntimeError(
        "norch downloads nothing, and a hub's models are programs for PyTorch: build the model in norch and load its "
        "weights from a file, model.load_state_dict(norch.load(path))"
    )


def load_state_dict_from_url(url: str = "", *_: Any, **__: Any) -> NoReturn:
    """Raise RuntimeError: norch downloads nothing.

    >>> norch.save(norch.nn.Linear(2, 1).state_dict(), "weights.safetensors")
    >>> state = norch.load("weights.safetensors")
    """
    raise RuntimeError(f"norch downloads nothing: fetch {url or 'the file'} yourself and call norch.load(path)")


def get_dir() -> str:
    """The folder where PyTorch keeps what it downloads, in which files fetched by other programs may lie.

    >>> import os
    >>> os.path.basename(norch.hub.get_dir())
    'hub'
    """
    return _dir[0] if _dir else os.path.join(_get_torch_home(), "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Have `get_dir` name another folder.

    >>> norch.hub.set_dir("models/hub")
    >>> norch.hub.get_dir()
    'models/hub'
    """
    _dir[:] = [os.path.expanduser(d)]


def _get_torch_home() -> str:
    cache = os.getenv("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.getenv("TORCH_HOME", os.path.join(cache, "torch")))


_dir: builtins.list[str] = []
help = list = load
download_url_to_file = load_url = load_state_dict_from_url
