"""PyTorch's counter of floating-point operations, which norch cannot run: its operations ask nobody before they run."""

from __future__ import annotations

from typing import Any, NoReturn


class FlopCounterMode:
    """A counter that programs make and read, and that has counted nothing, as `with` raises NotImplementedError.

    >>> counter = norch.utils.flop_counter.FlopCounterMode(display=False)
    >>> counter.get_total_flops(), counter.get_flop_counts()
    (0, {})
    """

    def __init__(
        self, mods: Any = None, depth: int = 2, display: bool = True, custom_mapping: dict[Any, Any] | None = None
    ) -> None:
        self.depth, self.display, self.mods = depth, display, mods

    def get_total_flops(self) -> int:
        """The operations that were counted: 0."""
        return 0

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """Those of each module and kind: none."""
        return {}

    def __enter__(self) -> NoReturn:
        raise NotImplementedError(
            "norch does not have torch.utils.flop_counter: an operation asks nobody before it runs"
        )

    def __exit__(self, *exception: object) -> None: ...
