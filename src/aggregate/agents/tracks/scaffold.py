"""A new track from a question: its files, without asking a model."""

import json
import re
from datetime import datetime
from pathlib import Path
from textwrap import wrap
from typing import Final

import tomlkit

from aggregate.agents.tracks.tickets import Ticket
from aggregate.agents.tracks.track import FOLDER, TRACK_ID, TRACKS, timestamp
from aggregate.base.disk import confined, exclusive_access, project_root, read_text, replace_text
from aggregate.base.errors import TrackError
from aggregate.base.text import heading_text

_SLUG_CHARACTERS: Final = 40
"""Of a name in a track's id, which is part of file names, beside a date and a ticket."""
_COMMENT_CHARACTERS: Final = 98  # of a line behind its mark: 100 in all, as in most projects
_REGISTER: Final = "# Project Tracks\n"


def new_track(folder: Path, name: str, *, time: datetime, question: str = "") -> Path:
    """Write a track's files and its entry in ``tracks.md``, and return its ``tickets.toml``.

    Its id is made of the name, a few words, and the date; it is to answer the question, by default the name.
    """
    slug = re.sub(r"[^\w]+", "_", name.lower()).strip("_")[:_SLUG_CHARACTERS].rstrip("_")
    track_id = f"{slug}_{time:%Y%m%d}"
    if not slug or not TRACK_ID.fullmatch(track_id):
        raise TrackError(f"{name!r} has no letter that an id could begin with: give another name")
    root = Path(project_root(folder))
    track = confined(folder / FOLDER / "tracks" / track_id, root)
    if track.exists():
        raise TrackError(f"{track}: there is such a track: give another name")
    question = question or name
    title, now = heading_text(name), timestamp(time)
    tickets = _tickets_for(question)
    tasks = "\n".join(f"- [ ] Task: {ticket['title']}" for ticket in tickets)
    metadata = {
        "track_id": track_id,
        "type": "chore",
        "status": "new",
        "created_at": now,
        "updated_at": now,
        "description": name,
    }
    texts = {
        "spec.md": f"# Specification: {title}\n\n## Overview\n\n{question}\n",
        "plan.md": f"# Plan: {title}\n\n## Phase 1\n\n{tasks}\n",
        "metadata.json": json.dumps(metadata, indent=2, ensure_ascii=False) + "\n",
        "tickets.toml": _toml(tickets),
    }
    for file_name, text in texts.items():
        replace_text(confined(track / file_name, root), text)
    link = f"./tracks/{track_id}/"
    register = confined(folder / FOLDER / TRACKS, root)
    with exclusive_access(register):
        before = read_text(register) if register.exists() else _REGISTER
        entry = f"---\n\n- [ ] **Track: {title}**\n*Link: [{link}]({link})*\n"
        replace_text(register, f"{before.rstrip()}\n\n{entry}")
    return track / "tickets.toml"


def _tickets_for(question: str) -> list[dict[str, object]]:
    look = "Find what in the files bears on this question, with paths, and what speaks against:"
    return [
        {
            "id": "research",
            "title": "Research the question",
            "prompt": f"{look}\n\n{question}",
            "collect_into": "$findings",
        },
        {
            "id": "answer",
            "title": "Answer the question",
            "prompt": f"Answer from the findings:\n\n{question}",
            "depends_on": ["$findings"],
        },
    ]


def _toml(tickets: list[dict[str, object]]) -> str:
    tables = tomlkit.aot()
    for ticket in tickets:
        table = tomlkit.table()
        table.update(ticket)
        table["prompt"] = tomlkit.string(str(ticket["prompt"]), multiline=True)
        tables.append(table)
    document = tomlkit.document()
    document.add(tomlkit.comment("Each ticket is a worker's job. All keys that it may have:"))
    for line in wrap(f"{', '.join(Ticket.model_fields)}.", _COMMENT_CHARACTERS):
        document.add(tomlkit.comment(line))
    document["tickets"] = tables
    return tomlkit.dumps(document)
