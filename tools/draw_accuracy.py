"""Draw docs/img/accuracy.svg from the tables of docs/accuracy.md: RMSE by number of games, for each effort.

.venv/bin/python tools/draw_accuracy.py
"""

from __future__ import annotations

import re
from pathlib import Path

from skilloscope.report.charts import COLOURS, STYLE, pyplot, svg_text

PAGE = Path(__file__).resolve().parents[1] / "docs" / "accuracy.md"
ROW = re.compile(r"\| `(\w+)` \| (\d+) \| \d+ \| (\d+) \|")


def main() -> None:
    """Write the figure."""
    parts = PAGE.read_text(encoding="utf-8").split("## ")[1:3]
    plt = pyplot()
    with plt.rc_context(fname=STYLE):
        figure, panels = plt.subplots(1, 2, figsize=(7.5, 3.2), sharey=True)
        for axes, part in zip(panels, parts, strict=True):
            lines: dict[str, list[tuple[int, int]]] = {}
            for effort, games, rmse in ROW.findall(part):
                lines.setdefault(effort, []).append((int(games), int(rmse)))
            for colour, marker, (effort, points) in zip(COLOURS, "os^", lines.items(), strict=False):
                axes.plot(*zip(*points, strict=True), marker=marker, color=colour, label=effort)
            axes.axhline(345, color="#888888", linestyle="--", linewidth=1)
            axes.set_xscale("log")
            axes.set_xticks([games for games, _ in points], [str(games) for games, _ in points])
            axes.minorticks_off()
            axes.set_title(part.splitlines()[0], fontsize=10, loc="left")
            axes.set_xlabel("games")
        panels[0].set_ylabel("RMSE, Elo")
        panels[0].set_ylim(bottom=0)
        panels[1].legend(fontsize=9)
        text = svg_text(figure)
    title = "RMSE of Elo by number of games for three efforts; dashed: a constant guess"
    text = text.replace(">", f"><title>{title}</title>", 1)
    (PAGE.parent / "img" / "accuracy.svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
