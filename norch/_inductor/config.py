"""Settings that change nothing, as those of `norch._dynamo`."""

from .._dynamo.config import __getattr__ as __getattr__
