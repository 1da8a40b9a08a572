"""What became of the checks of one entry of a database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from translation import Lacking, Missing

import norch

# Forms that differ everywhere by decision, which do not count as failures
BY_DESIGN = {"repr": "modules are printed as in the article, with their parameters"}


@dataclass
class Failure:
    form: str
    call: str
    reason: str

    def __str__(self) -> str:
        return f"[{self.form}] {self.call}\n        {self.reason}"


@dataclass
class Report:
    """The checks of one operation, module or optimizer."""

    name: str
    passed: int = 0
    failures: list[Failure] = field(default_factory=list)
    lacking: Counter[str] = field(default_factory=Counter)  # what norch has not at all -> how many samples need it
    missing: str = ""  # the name, if norch has no counterpart

    @property
    def status(self) -> str:
        if self.missing:
            return "missing"
        if any(failure.form not in BY_DESIGN for failure in self.failures):
            return "failing"
        return "passing" if self.passed else "lacking"

    def note(self, form: str, call: Callable[[], str], check: Callable[[], str | None]) -> bool:
        """Run a check, which gives the difference or raises; whether it passed."""
        reason: str | None
        try:
            reason = check()
        except Lacking as lack:
            self.lacking[str(lack)] += 1
            return False
        except Missing as missing:
            reason = f"norch has no {str(missing).removeprefix('norch.')}"
        except Exception as error:
            reason = named_error(error)
        if reason:
            self.failures.append(Failure(form, call(), reason))
        else:
            self.passed += 1
        return not reason


def outcome(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """The result of a call, or the exception that it raised."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return error


def raises(expected: Exception, call: Callable[[], Any], named: type = Exception) -> str | None:
    """What is wrong if a call does not raise what torch raises; the type that the database names will do too."""
    kinds = tuple(kind for kind in type(expected).__mro__ if kind.__module__ == "builtins")[:1]
    try:
        got = call()
    except (Lacking, Missing):
        raise
    except Exception as error:
        if isinstance(error, kinds) or (named is not Exception and isinstance(error, named)):
            return None
        return f"raises {named_error(error)}\n        torch raises {named_error(expected)}"
    shown = tuple(got.shape) if isinstance(got, norch.Tensor) else type(got).__name__
    return f"gives {shown}, torch raises {named_error(expected)}"


def named_error(error: Exception) -> str:
    """The type of an error and the start of its message, which torch continues with pages of dispatch tables."""
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:300]}"
