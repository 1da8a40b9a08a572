"""Rewrites the parts of a .cu file that are not C++, for the emulator: launches and shared memory.

    python translate.py norch/csrc/cuda.cu build/cuda-emu/translated

`kernel<<<grid, block, bytes, stream>>>(x, y)` becomes `emulator::launch("kernel", kernel, grid, ...)(x, y)`, and a
`__shared__` variable becomes a reference to the block's own copy. All .cuh files in the folder cuda/ beside the .cu
file are rewritten with it, into the folder named last. Lines stay where they are, so that messages point at the source.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

# The text before <<<: a name, qualified or not, with template arguments that may nest.
NAME = re.compile(r"[\w:]+$")
STATIC = re.compile(r"(?<!\w)__shared__\s+(?:__align__\(\d+\)\s+)?([^;{}=()]+?)\b(\w+)((?:\s*\[[^\]]*\])+|)\s*;")
DYNAMIC = re.compile(r"extern\s+__shared__\s+(?:__align__\(\d+\)\s+)?([\w\s]+?)\s+(\w+)\[\]\s*;")


def start_of_kernel(text: str) -> int:
    """Where the kernel's name begins that ends at the end of `text`."""
    end = len(text.rstrip())
    if text[end - 1] == ">":
        depth = 0
        while True:
            end -= 1
            depth += {">": 1, "<": -1}.get(text[end], 0)
            if depth == 0:
                break
    name = NAME.search(text[:end])
    if name is None:
        raise SystemExit(f"no kernel before <<< in: {text[-80:]}")
    return name.start()


def rewrite_launches(source: str) -> str:
    done, rest = "", source
    while "<<<" in rest:
        before, _, rest = rest.partition("<<<")
        configuration, _, rest = rest.partition(">>>")
        at = start_of_kernel(before)
        # a generic lambda, since template arguments may be left to be deduced; [=] for pointers to kernels
        name = before[at:].partition("<")[0].strip()
        kernel = f"[=](const auto&... arguments) {{ {before[at:]}(arguments...); }}"
        done += f'{before[:at]}::emulator::launch("{name}", {kernel}, {configuration})'
    return done + rest


def rewrite_shared(source: str) -> str:
    source = DYNAMIC.sub(r"\1* \2 = static_cast<\1*>(::emulator::dynamic_shared());", source)
    return STATIC.sub(
        r"typedef \1\2_type\3; static char \2_key; "
        r"\2_type& \2 = *static_cast<\2_type*>(::emulator::shared(&\2_key, sizeof(\2_type)));",
        source,
    )


def translate(path: Path) -> str:
    return f'#line 1 "{path}"\n' + rewrite_launches(rewrite_shared(path.read_text(encoding="utf-8")))


def main() -> None:
    source, folder = Path(sys.argv[1]), Path(sys.argv[2])
    (folder / "cuda").mkdir(parents=True, exist_ok=True)
    for part in sorted(source.parent.glob("cuda/*.cuh")):
        (folder / "cuda" / part.name).write_text(translate(part), encoding="utf-8")
    (folder / f"{source.stem}.cpp").write_text(translate(source), encoding="utf-8")


if __name__ == "__main__":
    main()
