"""Opening a project to look into the database of its runs."""

from pathlib import Path

from aggregate.agents.tracks import unopened_database
from aggregate.cli.output import say
from aggregate.project.configuration import Project
from aggregate.prompt import open_project


def open_runs(config: Path, database: str) -> Project:
    """Return the project, and say on standard error if a database lies in it, which is not opened.

    Raises:
        ConfigError: The configuration cannot be used.
    """
    project = open_project(config)
    if notice := unopened_database(project, database):
        say(notice)
    return project
