"""What ``run --watch`` asks for each time, the files that it depends on, and the names that changes are told by."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from aggregate.base.disk import is_inside
from aggregate.project.configuration import Project, global_config_path
from aggregate.prompt import Request, files_of_sections

if TYPE_CHECKING:
    from aggregate.prompt import ComposedPrompt


class AskedAgain:
    """What is asked for, as the configuration is now.

    Args:
        project: Returns the project, read anew.
        request: Returns what it asks for.
    """

    def __init__(
        self, project: Callable[[], Project], request: Callable[[Project], Request]
    ) -> None:
        self._project = project
        self._request = request
        self.config = Path()

    def request(self) -> Request:
        """Return what is asked for now.

        Raises:
            AggregateError: The configuration cannot be used.
        """
        project = self._project()
        self.config = project.path or project.folder / "manual_slop.toml"
        return self._request(project)

    def files(self, request: Request, stream: "ComposedPrompt | None" = None) -> list[str]:
        """Return the files that count wherever they lie: of the configuration, the discussion, beads, the prompt."""
        paths = [os.path.abspath(path) for path in (self.config, global_config_path())]
        paths += files_of_sections(self.config, request)
        for row in stream.rows if stream else ():
            paths.append(os.path.abspath(os.path.join(request.base_dir, row.path)))
        return paths


def watched_root(request: Request) -> str:
    """Return the folder that holds the configuration and the files, without links."""
    folders = [os.path.realpath(folder) for folder in (request.shown_from, request.base_dir)]
    try:
        common = os.path.commonpath(folders)
    except ValueError:  # two drives
        return folders[1]
    return common if common in folders else folders[1]


def names_of_changes(paths: Iterable[str], request: Request, known: Iterable[str]) -> list[str]:
    """Return changed files as a reader knows them: relative to the project where they lie in it, git's own last.

    Left out are folders, since what has come with one is named itself, and what came and went between two prompts,
    such as a file that an editor writes before it moves it over another.

    Args:
        paths: What has changed, absolute.
        request: What was asked for.
        known: Absolute paths of the files that the prompt before depended on.
    """
    root, known = watched_root(request), set(known)
    files = [path for path in paths if not Path(path).is_dir()]
    present = [path for path in files if path in known or os.path.lexists(path)]
    names = [
        os.path.relpath(path, root).replace(os.sep, "/") if is_inside(path, root) else path
        for path in present or files
    ]
    return sorted(names, key=lambda name: ".git" in Path(name).parts)
