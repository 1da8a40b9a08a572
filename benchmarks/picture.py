"""Draws the ratios of run.py: a bar for each peer of each row, from 1 to the right where norch is faster."""

from __future__ import annotations

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
