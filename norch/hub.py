"""Models from the internet: norch downloads nothing, and says so."""

from __future__ import annotations

from typing import Any, NoReturn


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


help = list = load
download_url_to_file = load_url = load_state_dict_from_url
