"""Makes strides.html: which byte an element of a view is. norch makes every view, and the page shows them.

The views of twelve numbers that up to DEPTH operations reach: shape, strides, offset and memory of each; and where an
operation is refused, what norch says.
"""

from __future__ import annotations

import json

from frame import number, page

import norch

OPERATIONS = {
    ".T": lambda t: t.T,
    "[1:]": lambda t: t[1:],
    "[:, 1:]": lambda t: t[:, 1:],
    "[:, ::2]": lambda t: t[:, ::2],
    "[1]": lambda t: t[1],
    "[:1]": lambda t: t[:1],
    ".expand(4, -1)": lambda t: t.expand(4, -1),
    ".view(2, 6)": lambda t: t.view(2, 6),
    ".view(12)": lambda t: t.view(12),
    ".contiguous()": lambda t: t.contiguous(),
}
DEPTH = 3


def description(t: norch.Tensor) -> dict:
    return {
        "shape": list(t.shape),
        "strides": list(t.stride()),
        "offset": t.storage_offset(),
        "contiguous": t.is_contiguous(),
        "memory": [number(value) for value in t.storage().tolist()],
        "bytes": t.element_size(),
    }


def views() -> list[dict]:
    """Every view, x first. `next` gives for each operation the number of the view that it makes, or an error."""
    x = norch.arange(12, dtype=norch.float32).view(3, 4)
    tensors, found = [x], [description(x)]
    places = {json.dumps(found[0]): 0}
    for _ in range(DEPTH):
        end = len(found)
        first = next(i for i, view in enumerate(found) if "next" not in view)
        for place in range(first, end):
            following = {}
            for name, operation in OPERATIONS.items():
                try:
                    result = operation(tensors[place])
                except (RuntimeError, IndexError, ValueError) as error:
                    following[name] = f"{type(error).__name__}: {error}"
                    continue
                if result.numel() == 0 or result.ndim == 0:
                    following[name] = f"The result has shape {list(result.shape)}: there is no t[i] to look at."
                    continue
                new = description(result)
                key = json.dumps(new)
                if key not in places:
                    places[key] = len(found)
                    tensors.append(result)
                    found.append(new)
                following[name] = places[key]
            found[place]["next"] = following
    return found


def draw() -> str:
    return page("strides", "Which byte is t[i, j]?", views())
