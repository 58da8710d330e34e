"""What ``run --watch`` calls the files that have changed."""

from pathlib import Path

from aggregate.cli.watched_run import names_of_changes
from aggregate.prompt import open_project, request_for
from tests.projects import project


def test_sources_are_named_before_files_of_git(tmp_path: Path) -> None:
    """Paths are relative to the project, git's own come last, and folders are not named."""
    root = project(tmp_path / "demo", {"manual_slop.toml": "", "src/z.py": "", ".git/index": ""})
    request = request_for(open_project(root / "manual_slop.toml"))
    outside = project(tmp_path, {"other.toml": ""}) / "other.toml"
    changed = [f"{root}/.git/index", f"{root}/src", f"{root}/src/z.py", str(outside)]
    assert names_of_changes(changed, request, []) == ["src/z.py", str(outside), ".git/index"]


def test_what_came_and_went_between_two_prompts_is_not_named(tmp_path: Path) -> None:
    """A file that an editor moves over another is left out; one that was deleted is named; alone it is named too."""
    root = project(tmp_path, {"manual_slop.toml": "", "a.py": ""})
    request = request_for(open_project(root / "manual_slop.toml"))
    changed = [f"{root}/{name}" for name in (".a.py.swp", "a.py", "gone.py")]
    assert names_of_changes(changed, request, [f"{root}/gone.py"]) == ["a.py", "gone.py"]
    assert names_of_changes(changed[:1], request, []) == [".a.py.swp"]
