"""Git repositories with commits written by a test."""

from collections.abc import Mapping
from pathlib import Path

from tests.project.repository import git


class Repository:
    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        git(root, "init", "-q")

    def write(self, files: Mapping[str, str]) -> None:
        for path, text in files.items():
            place = self.root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")

    def commit(self, message: str, files: Mapping[str, str]) -> str:
        """Write files, commit everything, and return the commit's id."""
        self.write(files)
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "--allow-empty", "--allow-empty-message", "-m", message)
        head = (self.root / ".git/HEAD").read_text(encoding="utf-8").removeprefix("ref: ").strip()
        branch = self.root / ".git" / head
        return branch.read_text(encoding="utf-8").strip() if branch.is_file() else head
