"""Checkpoints: all that a training run needs to go on as if it had never stopped."""

from __future__ import annotations

import importlib
import random
from collections.abc import Iterable
from typing import Any

RANDOM = "random_state"


def save_checkpoint(f: Any, **state: Any) -> None:
    """Write models, optimizers, schedulers, generators and plain values to a file, and the state of random numbers.

        save_checkpoint("run.norch", model=model, optimizer=optimizer, scheduler=scheduler, epoch=epoch, losses=losses)

    What has a `state_dict` is kept as that, a Generator as its state, and the rest as it is: what `norch.save`
    takes. `random_state` holds norch's generator and Python's `random`, from which parameters are drawn. A path is
    replaced only once everything is written. `norch.load(f)["model"]` is the model's state_dict. Raises ValueError
    for a name that it keeps to itself.

    >>> model = nn.Linear(2, 1)
    >>> optimizer = optim.SGD(model.parameters(), lr=0.1)
    >>> norch.utils.save_checkpoint("run.norch", model=model, optimizer=optimizer, epoch=3)
    >>> norch.utils.load_checkpoint("run.norch", model=model, optimizer=optimizer)["epoch"]
    3
    """
    from norch import get_rng_state
    from norch.functions.serialization import save

    if RANDOM in state:
        raise ValueError(f"save_checkpoint keeps the {RANDOM} itself: choose another name")
    content = {name: _state_of(value) for name, value in state.items()}
    save({**content, RANDOM: {"norch": get_rng_state(), "python": random.getstate()}}, f)


def load_checkpoint(f: Any, *, map_location: Any = None, restore_random: bool = True, **targets: Any) -> dict[str, Any]:
    """Put a checkpoint's states back, and return the values in it that were no target.

        rest = load_checkpoint("run.norch", model=model, optimizer=optimizer, scheduler=scheduler)
        for epoch in range(rest["epoch"] + 1, epochs): ...

    Each target takes the state saved under its name; states without a target (a model alone is wanted) are among what
    is returned. Random numbers go on where they were, unless `restore_random` is False. Raises ValueError where a name
    is not in the file, before anything is changed, and what `load_state_dict` raises where a state does not fit.

    >>> model = nn.Linear(2, 1)
    >>> norch.utils.save_checkpoint("run.norch", model=model, epoch=3)
    >>> norch.utils.load_checkpoint("run.norch", model=nn.Linear(2, 1))
    {'epoch': 3}
    """
    from norch import set_rng_state
    from norch.functions.serialization import load

    content = load(f, map_location)
    if not isinstance(content, dict) or RANDOM not in content:
        raise ValueError(f"load_checkpoint: {f} is not a checkpoint; norch.load reads other files")
    states = content.pop(RANDOM)
    missing = [name for name in targets if name not in content]
    if missing:
        raise ValueError(f"load_checkpoint: {f} has no {', '.join(missing)}, only {', '.join(map(str, content))}")
    for name, target in targets.items():
        _restore(name, target, content.pop(name))
    if restore_random:
        set_rng_state(states["norch"].cpu())
        random.setstate(states["python"])
    return content


def _state_of(value: Any) -> Any:
    from norch.functions.generator import Generator

    if isinstance(value, Generator):
        return value.get_state()
    return value.state_dict() if hasattr(value, "state_dict") else value


def _restore(name: str, target: Any, state: Any) -> None:
    from norch.functions.generator import Generator

    if isinstance(target, Generator):
        target.set_state(state.cpu())
    elif hasattr(target, "load_state_dict"):
        target.load_state_dict(state)
    else:
        raise TypeError(f"load_checkpoint: {name} is a {type(target).__name__}, which has no load_state_dict")


# ---- Progress --------------------------------------------------------------------------------------------------------


def progress(iterable: Iterable[Any], **options: Any) -> Any:
    """The iterable with a progress bar, where tqdm is installed; without, the iterable with tqdm's methods for nothing.

    `options` are tqdm's, such as `desc="epoch 1"`, `leave=False`, `total=100`.

    >>> sum(norch.utils.progress(range(5), disable=True))
    10
    """
    try:
        tqdm = importlib.import_module("tqdm")
    except ImportError:
        return _Plain(iterable)
    return tqdm.tqdm(iterable, **options)


class _Plain:
    """An iterable that takes what is shown beside a bar, and shows nothing."""

    def __init__(self, iterable: Iterable[Any]):
        self.iterable = iterable

    def __iter__(self) -> Any:
        return iter(self.iterable)

    def __len__(self) -> int:
        return len(self.iterable)  # type: ignore[arg-type]  # as of the iterable: not all have one

    def update(self, *_: Any, **__: Any) -> None:
        """Nothing."""

    set_description = set_postfix = set_postfix_str = refresh = close = update
