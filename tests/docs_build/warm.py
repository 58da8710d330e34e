"""What the commands of pages load and compile besides, once for all copies of the process that they run in."""

from importlib import import_module
from pathlib import Path

from aggregate import ViewMode
from aggregate.base import ViewRequest
from aggregate.code.views import render
from aggregate.ranking.files import analyse

_PROJECT = Path(__file__).parents[2] / "docs/examples/ferry"

for module in (
    "aggregate.cli.init_check_preset",
    "aggregate.agents.tracks.service",
    "genai_prices.data",  # which sending loads
):
    import_module(module)

for path in ("src/ferry/retry.py", "web/progress.ts", "README.md"):
    text = (_PROJECT / path).read_text(encoding="utf-8")
    analyse(path, text)
    for mode in (ViewMode.SKELETON, ViewMode.OUTLINE, ViewMode.SUMMARY):
        render(ViewRequest(path, text, mode))
