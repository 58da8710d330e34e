"""The pages that are tested."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [
    *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md"))),
    "README.md",
]
"""All pages of ``docs/``, and the read-me."""
