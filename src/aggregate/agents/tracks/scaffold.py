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

_SLUG_CHARACTERS: Final = 40  # of an id's name, part of file names beside a date and a ticket
_REGISTER: Final = "# Project Tracks\n"
_PHASE: Final = """\
## Phase 1

- [ ] Task: Research the question
- [ ] Task: Answer the question
"""
_LOOK: Final = "Find what in the files bears on this question, with paths, and what speaks against:"
_TICKETS: Final = """\
# Each ticket is a worker's job. All keys that it may have:
{keys}

[[tickets]]
id = "research"
title = "Research the question"
prompt = {research}
collect_into = "$findings"

[[tickets]]
id = "answer"
title = "Answer the question"
prompt = {answer}
depends_on = ["$findings"]
"""


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
    prompts = [f"{_LOOK}\n\n{question}", f"Answer from the findings:\n\n{question}"]
    research, answer = (tomlkit.string(each, multiline=True).as_string() for each in prompts)
    keys = f"{', '.join(Ticket.model_fields)}."
    comment = "\n".join(wrap(keys, 100, initial_indent="# ", subsequent_indent="# "))
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
        "plan.md": f"# Plan: {title}\n\n{_PHASE}",
        "metadata.json": json.dumps(metadata, indent=2, ensure_ascii=False) + "\n",
        "tickets.toml": _TICKETS.format(keys=comment, research=research, answer=answer),
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
