"""Which database a project's runs are kept in."""

from pathlib import Path

from aggregate.agents.tracks.durable.database import SQLITE, database_url
from aggregate.base.disk import state_folder
from aggregate.project.configuration import Project

DATABASE = "conductor.sqlite"
"""Where runs are kept by default, in the project's state folder."""


def locate_database(project: Project, database: str) -> str:
    """Return the URL of ``database``, or of the one in the user's state folder where none is named.

    Raises:
        StateError: It is neither SQLite nor Postgres.
    """
    return database_url(database or str(state_folder(project.folder) / DATABASE))


def database_exists(url: str) -> bool:
    """Return whether there is a database to look into: asking about runs makes no file."""
    return not url.startswith(SQLITE) or Path(url.removeprefix(SQLITE)).is_file()
