"""What a project is called in a database of runs."""

from aggregate.project.configuration import Project


def project_name(project: Project) -> str:
    """Return what a project's runs stand under in a database."""
    return project.config.project.name or project.folder.resolve().name
