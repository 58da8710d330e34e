"""Building small projects for tests: one line each."""

from pathlib import Path
from textwrap import dedent


def project(folder: Path, files: dict[str, str]) -> Path:
    """Write ``files`` (relative path to text, dedented) below ``folder`` and return it."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(dedent(text).encode())
    return folder
