"""What is told of the package, against what is there."""

import re
import tomllib
from glob import glob
from pathlib import Path

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
TEXTS = [
    *sorted((ROOT / "src").rglob("*.py")),
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "README.md",
]


def test_every_extra_that_is_told_of_exists() -> None:
    """Where an error or a page says what to install, there is such an extra."""
    named = {
        extra.strip()
        for path in TEXTS
        for extras in re.findall(
            r"(?:manual-slop|'\.)\[([a-z, ]+)\]", path.read_text(encoding="utf-8")
        )
        for extra in extras.split(",")
    }
    assert named <= PROJECT["optional-dependencies"].keys()
    assert {"agents", "ai", "languages", "mcp", "panel", "sandbox"} <= named


def test_the_licences_of_all_files_are_published() -> None:
    """Our own licence, and that of each folder of files that others have written, as hatchling looks for them."""
    published = {
        Path(path)
        for pattern in PROJECT["license-files"]
        for path in glob(str(ROOT / pattern))  # noqa: PTH207 - "**" is one folder to it
    }
    assert ROOT / "LICENSE" in published
    for path in (ROOT / "src").rglob("*"):
        if re.search(r"(^|\.)(licen[cs]e|copying|notice)(\.|$)", path.name, re.IGNORECASE):
            assert path in published


def test_the_versions_of_python_go_together() -> None:
    """The classifiers begin with the lowest version that is allowed and have no gap."""
    minors = [
        int(line.rpartition(".")[2])
        for line in PROJECT["classifiers"]
        if re.search(r":: 3\.\d+$", line)
    ]
    assert minors == list(range(minors[0], minors[-1] + 1))
    assert PROJECT["requires-python"] == f">=3.{minors[0]}"
    assert PYPROJECT["tool"]["ruff"]["target-version"] == f"py3{minors[0]}"
