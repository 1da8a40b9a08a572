"""Checkpoints: everything a training run needs to continue as if it had never stopped. And progress bars."""

from __future__ import annotations

import importlib
import random
from collections.abc import Iterable, Iterator
from typing import Any, Generic, TypeVar

from ..functions.generator import Generator, get_rng_state, set_rng_state
from ..functions.serialization import File, load, save
from ..given import given

Item = TypeVar("Item")

RANDOM = "random_state"


def save_checkpoint(f: File, **state: object) -> None:
    """Write models, optimizers, schedulers, generators and plain values to a file, and the state of random numbers.

        save_checkpoint("run.norch", model=model, optimizer=optimizer, scheduler=scheduler, epoch=epoch, losses=losses)

    An object with a `state_dict` is saved as that, a Generator as its state, and other values as `norch.save` takes
    them. `random_state` holds norch's generator and Python's `random`, from which parameters are drawn. A file at that
    path is replaced only when everything is written. `norch.load(f)["model"]` is the model's state_dict. Raises
    ValueError if a value has the reserved name "random_state".

    >>> model = nn.Linear(2, 1)
    >>> optimizer = optim.SGD(model.parameters(), lr=0.1)
    >>> norch.utils.save_checkpoint("run.norch", model=model, optimizer=optimizer, epoch=3)
    >>> norch.utils.load_checkpoint("run.norch", model=model, optimizer=optimizer)["epoch"]
    3
    """
    if RANDOM in state:
        raise ValueError(f"save_checkpoint: the name {RANDOM} is reserved: choose another")
    content = {name: _state_of(value) for name, value in state.items()}
    save({**content, RANDOM: {"norch": get_rng_state(), "python": random.getstate()}}, f, pickle_module=None)


def load_checkpoint(
    f: File, *, map_location: str | dict[str, str] | None = None, restore_random: bool = True, **targets: object
) -> dict[str, Any]:
    """Load a checkpoint's states into `targets`, and return the other values in it.

        rest = load_checkpoint("run.norch", model=model, optimizer=optimizer, scheduler=scheduler)
        for epoch in range(rest["epoch"] + 1, epochs): ...

    Each target takes the state saved under its name; states without a target are returned. Random numbers continue
    where they were, unless `restore_random` is False. Raises ValueError if a name is not in the file, before anything
    is changed, and what `load_state_dict` raises if a state does not fit.

    >>> model = nn.Linear(2, 1)
    >>> norch.utils.save_checkpoint("run.norch", model=model, epoch=3)
    >>> norch.utils.load_checkpoint("run.norch", model=nn.Linear(2, 1))
    {'epoch': 3}
    """
    content = load(f, map_location)
    if not isinstance(content, dict) or RANDOM not in content:
        raise ValueError(f"load_checkpoint: {f} is not a checkpoint; norch.load reads other files")
    states = _random_states(f, content.pop(RANDOM))
    missing = [name for name in targets if name not in content]
    if missing:
        raise ValueError(f"load_checkpoint: {f} has no {', '.join(missing)}, only {', '.join(map(str, content))}")
    for name, target in targets.items():
        _restore(name, target, content.pop(name))
    if restore_random:
        set_rng_state(states[0])
        random.setstate(states[1])
    return content


def _random_states(f: File, states: Any) -> tuple[Any, Any]:
    """The states of norch's generator and of Python's, which must fit them."""
    try:
        norch, python = states["norch"].cpu(), states["python"]
        Generator().set_state(norch)
        random.Random().setstate(python)
    except Exception as error:  # what a damaged file holds can fail in any way
        raise ValueError(f"load_checkpoint: {f} holds no valid states of random numbers: {error}") from None
    return norch, python


def _state_of(value: object) -> object:
    if isinstance(value, Generator):
        return value.get_state()
    return value.state_dict() if hasattr(value, "state_dict") else value


def _restore(name: str, target: object, state: Any) -> None:
    if isinstance(target, Generator):
        target.set_state(state.cpu())
    elif hasattr(target, "load_state_dict"):
        target.load_state_dict(state)
    else:
        raise TypeError(f"load_checkpoint: {name} is {given(target)}, which has no load_state_dict")


# ---- Progress --------------------------------------------------------------------------------------------------------


def progress(iterable: Iterable[Item], **options: object) -> Progress[Item]:
    """The iterable with a progress bar if tqdm is installed; otherwise with tqdm's methods, which then do nothing.

    `options` are tqdm's, such as `desc="epoch 1"`, `leave=False`, `total=100`.

    >>> sum(norch.utils.progress(range(5), disable=True))
    10
    """
    try:
        tqdm = importlib.import_module("tqdm")
    except ImportError:
        return Progress(iterable)
    return tqdm.tqdm(iterable, **options)


class Progress(Generic[Item]):
    """An iterable with the methods of a progress bar, which show nothing.

    >>> with norch.utils.resume.Progress(total=2, desc="nothing is shown") as bar:
    ...     bar.update(1)
    >>> sum(norch.utils.resume.Progress([1, 2]))
    3
    """

    def __init__(self, iterable: Iterable[Item] = (), *_: object, **__: object):
        self.iterable = iterable

    def __enter__(self) -> Progress[Item]:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __iter__(self) -> Iterator[Item]:
        return iter(self.iterable)

    def __len__(self) -> int:
        return len(self.iterable)  # type: ignore[arg-type]  # TypeError if it has none, as from len(iterable)

    def update(self, *_: object, **__: object) -> None:
        """Nothing."""

    set_description = set_postfix = set_postfix_str = refresh = close = update
