"""The page of all public names of the package; what is said of each comes from its docstring."""

from collections.abc import Mapping

import aggregate

HEAD = """# Python names

Every public name of `aggregate`, from its signature and docstring. How they go together: [Python](../python.md).
"""

AREAS: Mapping[str, tuple[str, ...]] = {
    "Composing a prompt": (
        "prompt",
        "project.configuration",
        "base.monitor",
        "project.files",
        "base.tokens",
        "code.views",
    ),
    "What a prompt is asked for": (
        "base.values.request",
        "base.values.decisions",
    ),
    "Files, presets, slices": (
        "code.anchors",
        "base.values.files",
        "project.presets",
    ),
    "Prompts and their parts": ("base.values.prompt",),
    "Sending": ("sending", "base.values.models"),
    "Sub-agents and their results": (
        "agents.results",
        "agents.subagents",
        "base.values.results",
    ),
    "Goals, tools, tracks": ("agents.goals", "agents.tracks", "agents.tools"),
    "Errors": ("base.errors",),
    "The command line": ("cli",),
}
"""Under which heading a name stands, by the start of the module that it comes from."""


def python_reference() -> str:
    """Return the page, with a directive for each name that mkdocstrings replaces by what the docstring says."""
    homes = _homes()
    sections = [HEAD]
    for area, starts in AREAS.items():
        names = sorted(name for name, home in homes.items() if _is_in(home, starts))
        directives = "\n\n".join(f"::: aggregate.{name}" for name in names)
        sections.append(f"## {area}\n\n{directives}\n")
    return "\n".join(sections)


def _homes() -> Mapping[str, str]:
    """Return the module that each public name comes from."""
    return aggregate._HOME_BY_NAME


def unplaced_names() -> list[str]:
    """Return the public names that no area takes, or more than one."""
    homes = _homes()
    counts = {
        name: sum(_is_in(home, starts) for starts in AREAS.values()) for name, home in homes.items()
    }
    return sorted(name for name, count in counts.items() if count != 1)


def _is_in(home: str, starts: tuple[str, ...]) -> bool:
    module = home.removeprefix("aggregate.") + "."
    return any(module.startswith(f"{start}.") for start in starts)
