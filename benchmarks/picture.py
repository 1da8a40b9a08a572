"""Draws the ratios of run.py, a bar for each peer of each row, and those of wide.py, a heat map."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

COLORS = {"torch": "#d1603d", "numpy": "#4d77a5", "magnetron": "#7d9f58"}


def draw(results: list[dict[str, Any]], path: str) -> None:
    """A panel for each number of threads, drawn into `path` (its ending says how: .svg, .png)."""
    try:
        import matplotlib
    except ImportError:
        print("no picture: matplotlib is not installed (pip install matplotlib)")
        return
    matplotlib.use("Agg")  # draws into the file, without a screen
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "norch"  # the same picture is the same file
    tallest = max(len(result["rows"]) for result in results)
    figure, panels = pyplot.subplots(
        1, len(results), figsize=(7.5 * len(results), 1.5 + 0.36 * tallest), squeeze=False, layout="constrained"
    )
    for panel, result in zip(panels[0], results):
        bars(panel, result)
    versions = ", ".join(f"{name} {version}" for name, version in results[0]["versions"].items())
    figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    figure.suptitle(f"The peer's time over norch's: right of 1, norch is faster\n{versions}; {results[0]['processor']}")
    figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)
    print(f"picture: {path}")


def bars(panel: Any, result: dict[str, Any]) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    peers = [name for name in result["versions"] if name != "norch"]
    height = 0.8 / max(1, len(peers))
    for number, name in enumerate(peers):
        places, ratios = [], []
        for place, row in enumerate(result["rows"]):
            if name in row["ratios"]:
                places.append(place - 0.4 + (number + 0.5) * height)
                ratios.append(row["ratios"][name][0])
        panel.barh(places, [r - 1 for r in ratios], height, left=1, color=COLORS[name], label=name)
    for place, row in enumerate(result["rows"]):
        if row["aim"] is not None:
            panel.plot([row["aim"]] * 2, [place - 0.42, place + 0.42], color="black", linewidth=1.2)
    panel.plot([], [], color="black", linewidth=1.2, label="aim beside torch")
    panel.axvline(1, color="black", linewidth=0.6)
    panel.set_xscale("log")
    panel.xaxis.set_major_locator(FixedLocator([0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50]))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.set_yticks(range(len(result["rows"])), [row["row"] for row in result["rows"]])
    panel.set_ylim(len(result["rows"]) - 0.4, -0.6)
    panel.grid(axis="x", color="#dddddd", linewidth=0.6)
    panel.set_axisbelow(True)
    panel.spines[["top", "right"]].set_visible(False)
    threads = result["threads"]
    panel.set_title(f"{threads} thread{'s' if threads > 1 else ''}")


# ---- The heat map of wide.py -----------------------------------------------------------------------------------------

TALLEST = 90  # rows of a panel


def heat_map(ratios: dict[str, dict[str, float]], path: str) -> None:
    """A row for each operation and a column for each size, layout or pass; drawn into `path` (.svg or .png)."""
    try:
        import matplotlib
    except ImportError:
        print("no picture: matplotlib is not installed (pip install matplotlib)")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm

    matplotlib.rcParams.update({"svg.hashsalt": "norch", "svg.fonttype": "none"})
    panels = list(parts(ratios))
    tallest = max(len(lines) for lines, _ in panels)
    widths = [len(columns) + 12 for _, columns in panels]  # of which 12 for the names
    figure, axes = pyplot.subplots(
        1,
        len(panels),
        figsize=(0.16 * sum(widths), 2 + 0.16 * tallest),
        width_ratios=widths,
        squeeze=False,
        layout="constrained",
    )
    colors = LinearSegmentedColormap.from_list("ratio", [COLORS["torch"], "#f6f6f2", COLORS["numpy"]])
    colors.set_bad("#ffffff00")
    for panel, (lines, columns) in zip(axes[0], panels):
        table = [[math.log2(ratios[line].get(column, math.nan)) for column in columns] for line in lines]
        table += [[math.nan] * len(columns)] * (tallest - len(lines))
        drawn = panel.imshow(table, cmap=colors, norm=TwoSlopeNorm(0, -2, 2), aspect="auto", interpolation="nearest")
        panel.set_yticks(range(len(lines)), [line[:52] for line in lines], fontsize=5)
        panel.set_xticks(range(len(columns)), columns, fontsize=5, rotation=90)
        panel.xaxis.tick_top()
        panel.tick_params(length=0)
        panel.spines[:].set_visible(False)
    bar = figure.colorbar(drawn, ax=axes, location="bottom", shrink=0.3, aspect=40, extend="both", pad=0.01)
    bar.set_ticks(range(-2, 3), labels=["0.25", "0.5", "1", "2", "4"])
    bar.set_label("torch's time over norch's (above 1: norch is faster)")
    figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)
    print(f"picture: {path}")


def parts(ratios: dict[str, dict[str, float]]) -> Iterator[tuple[list[str], list[str]]]:
    """The rows of a panel and their columns: rows with the same columns stand together, TALLEST at most."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for line, columns in ratios.items():
        kind = tuple(dict.fromkeys(column.split()[0] for column in columns))  # sizes, or the passes
        groups.setdefault(kind, []).append(line)
    for lines in groups.values():
        columns = list(dict.fromkeys(column for line in lines for column in ratios[line]))
        for start in range(0, len(lines), TALLEST):
            yield lines[start : start + TALLEST], columns
