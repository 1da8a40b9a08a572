"""The version of norch, and of the PyTorch whose interface it copies."""

from __future__ import annotations

from typing import Any

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "interface", "release"]

release = "0.1.0"  # of norch: pyproject.toml reads this line, without importing norch
interface = "2.13.0"
cuda = hip = None
debug = False
git_version = "unknown"


def _parts(version: Any) -> tuple[int, ...]:
    """ "2.13.0+cpu", or (2, 13), as numbers."""
    words = version.split("+")[0].split(".") if isinstance(version, str) else version
    numbers = []
    for word in words:
        digits = "".join(c for c in str(word) if c.isdigit())
        if not digits:
            break
        numbers.append(int(digits))
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


class Version(str):
    """A version as text, which `<` and `>=` compare by its numbers.

    norch's begins with that of PyTorch whose interface it copies: scripts ask for it to learn what they may call.

    >>> norch.__version__ >= "2.1", norch.__version__ >= (2, 1), norch.__version__ < "1.10"
    (True, True, False)
    """

    def __lt__(self, other: Any) -> bool:
        return _parts(self) < _parts(other)

    def __le__(self, other: Any) -> bool:
        return _parts(self) <= _parts(other)

    def __gt__(self, other: Any) -> bool:
        return _parts(self) > _parts(other)

    def __ge__(self, other: Any) -> bool:
        return _parts(self) >= _parts(other)


__version__ = Version(f"{interface}+norch{release}")
