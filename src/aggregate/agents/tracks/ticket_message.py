"""What stands behind a worker's context: the instructions of its role, unless they go first, and its task."""

from collections.abc import Sequence

from aggregate.agents.tracks.tickets import Ticket
from aggregate.base.text import fence, heading_text, leaves_open

INSTRUCTIONS = "## Instructions"


def task_message(ticket: Ticket, *, track: str = "", spec: str = "", instructions: str = "") -> str:
    """Return the last message to a worker; the ticket's own words end it.

    Args:
        ticket: Whose task.
        track: What its track is about.
        spec: The path of the track's specification, as the context shows it; ``""`` for none.
        instructions: Of its persona, where they do not go before the context.
    """
    if leaves_open(instructions):  # the task would stand in it
        instructions = fence(instructions, "text")
    parts = [INSTRUCTIONS, instructions] if instructions else []
    parts.append(f"## Task: {heading_text(ticket.name)}")
    if spec:
        what = f'the track "{heading_text(track)}"' if track else "a track"
        parts.append(f"This is one ticket of {what}; {_code(spec)} above says what it is for.")
    if ticket.focus_files:
        parts.append(f"In focus, shown in full above: {_listed(ticket.focus_files)}.")
    parts.append(ticket.prompt.strip())
    return "\n\n".join(parts)


def plain_task(ticket: Ticket) -> str:
    """Return the ticket's own words, as files are chosen for them and goals are made of them."""
    return "\n\n".join(part for part in (ticket.title.strip(), ticket.prompt.strip()) if part)


def _listed(paths: Sequence[str]) -> str:
    return ", ".join(map(_code, paths))


def _code(path: str) -> str:
    return f"`{heading_text(path)}`"
