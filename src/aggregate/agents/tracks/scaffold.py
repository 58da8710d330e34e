"""A new track from a question or a specification: its files, without asking a model."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from textwrap import wrap
from typing import Final

import tomlkit

from aggregate.agents.tracks.tickets import Ticket
from aggregate.agents.tracks.track import FOLDER, TRACK_ID, TRACKS, lines_outside_fences, timestamp
from aggregate.base.disk import confined, exclusive_access, project_root, read_text, replace_text
from aggregate.base.errors import TrackError
from aggregate.base.text import cut, heading_text

MOST_TASKS: Final = 40
"""Tickets that a specification gives: a longer one is a list of something else."""
_SLUG_CHARACTERS: Final = 40
"""Of a name in a track's id, which is part of file names, beside a date and a ticket."""
_TITLE_CHARACTERS: Final = 80
"""Of a ticket's title: one line."""
_HEADING: Final = re.compile(r"##\s+(?P<text>.*?)\s*#*\s*")
_ITEM: Final = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX~]\]\s+)?(?P<text>\S.*)")
_REQUIRED: Final = ("functional requirements", "requirements", "tasks", "acceptance criteria")
"""The sections whose items are what is to be done, the first that has any; the Conductor's own names."""
_COMMENT_CHARACTERS: Final = 98
"""Of a line behind its mark: 100 in all, as in most projects."""
_REGISTER: Final = "# Project Tracks\n"


@dataclass(frozen=True, slots=True)
class PlannedTicket:
    """A ticket of a new track."""

    title: str
    prompt: str
    ticket_id: str = ""
    depends_on: tuple[str, ...] = ()
    collect_into: str = ""


def new_track(
    folder: Path, name: str, *, time: datetime, question: str = "", spec: str = ""
) -> Path:
    """Write a track's files and its entry in ``tracks.md``, and return its ``tickets.toml``.

    Args:
        folder: The project's.
        name: What the track is about, in a few words; its id is made of them and the date.
        time: Now.
        question: What the track is to answer, where there is no specification.
        spec: A specification in markdown.

    Raises:
        TrackError: No id can be made of the name, or there is such a track.
        OutputError: A file cannot be written, or would lie outside of the project.
    """
    slug = re.sub(r"[^\w]+", "_", name.lower()).strip("_")[:_SLUG_CHARACTERS].rstrip("_")
    track_id = f"{slug}_{time:%Y%m%d}"
    if not slug or not TRACK_ID.fullmatch(track_id):
        raise TrackError(f"{name!r} has no letter that an id could begin with: give another name")
    root = Path(project_root(folder))
    track = confined(folder / FOLDER / "tracks" / track_id, root)
    if track.exists():
        raise TrackError(f"{track}: there is such a track: give another name")
    tickets = tickets_of_spec(spec) if spec else tickets_of_question(question or name)
    title = heading_text(name)
    texts = {
        "spec.md": spec or f"# Specification: {title}\n\n## Overview\n\n{question or name}\n",
        "plan.md": _plan(title, tickets),
        "metadata.json": _metadata(track_id, name, timestamp(time)),
        "tickets.toml": _tickets(tickets),
    }
    for file_name, text in texts.items():
        replace_text(confined(track / file_name, root), text)
    _register(confined(folder / FOLDER / TRACKS, root), track_id, title)
    return track / "tickets.toml"


def tickets_of_question(question: str) -> list[PlannedTicket]:
    """Return a ticket that looks, and one that answers from what was seen."""
    return [
        PlannedTicket(
            "Research the question",
            f"Find what in the files bears on this question, with paths, and what speaks against:\n\n{question}",
            "research",
            collect_into="$findings",
        ),
        PlannedTicket(
            "Answer the question",
            f"Answer from the findings:\n\n{question}",
            "answer",
            ("$findings",),
        ),
    ]


def tickets_of_spec(spec: str) -> list[PlannedTicket]:
    """Return a ticket for each thing that a specification requires, and one that sums them up.

    These are the items of its requirements, or else its sections; one without either is one ticket.
    """
    tasks = _required(spec)
    if len(tasks) > MOST_TASKS:
        raise TrackError(
            f"the specification requires {len(tasks)} things, and a track begins with at most {MOST_TASKS}: split it"
        )
    planned = [
        PlannedTicket(
            cut(" ".join(task.split()), _TITLE_CHARACTERS),
            f"Work on this requirement of the specification:\n\n{task}",
            f"task_{i}",
            collect_into="$findings",
        )
        for i, task in enumerate(tasks, 1)
    ]
    end = "Sum up what was found for each requirement, what is missing, and what contradicts each other."
    return [*planned, PlannedTicket("Sum up", end, "summary", ("$findings",))]


def _required(spec: str) -> list[str]:
    sections: dict[str, list[str]] = {}
    heading = ""
    for _offset, line in lines_outside_fences(spec):
        if match := _HEADING.fullmatch(line):
            heading = match["text"]
            sections.setdefault(heading, [])
        elif match := _ITEM.fullmatch(line):
            sections.setdefault(heading, []).append(match["text"])
    for name in _REQUIRED:
        for heading, items in sections.items():
            if heading.lower() == name and items:
                return items
    return [heading for heading in sections if heading] or [spec.strip()]


def _plan(title: str, tickets: Sequence[PlannedTicket]) -> str:
    tasks = "\n".join(f"- [ ] Task: {ticket.title}" for ticket in tickets)
    return f"# Plan: {title}\n\n## Phase 1\n\n{tasks}\n"


def _metadata(track_id: str, name: str, time: str) -> str:
    data = {
        "track_id": track_id,
        "type": "chore",
        "status": "new",
        "created_at": time,
        "updated_at": time,
        "description": name,
    }
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _tickets(tickets: Sequence[PlannedTicket]) -> str:
    tables = tomlkit.aot()
    for ticket in tickets:
        table = tomlkit.table()
        table["id"] = ticket.ticket_id
        table["title"] = ticket.title
        table["prompt"] = tomlkit.string(ticket.prompt, multiline="\n" in ticket.prompt)
        if ticket.collect_into:
            table["collect_into"] = ticket.collect_into
        if ticket.depends_on:
            table["depends_on"] = list(ticket.depends_on)
        tables.append(table)
    document = tomlkit.document()
    document.add(tomlkit.comment("Each ticket is a worker's job. All keys that it may have:"))
    keys = ", ".join(Ticket.model_fields)
    for line in wrap(f"{keys}.", _COMMENT_CHARACTERS):
        document.add(tomlkit.comment(line))
    document["tickets"] = tables
    return tomlkit.dumps(document)


def _register(path: Path, track_id: str, title: str) -> None:
    """Add the track at the end of ``tracks.md``; what stands there stays."""
    link = f"./tracks/{track_id}/"
    with exclusive_access(path):
        before = read_text(path) if path.exists() else _REGISTER
        entry = f"---\n\n- [ ] **Track: {title}**\n*Link: [{link}]({link})*\n"
        replace_text(path, f"{before.rstrip()}\n\n{entry}")
