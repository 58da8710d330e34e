"""What a session shows at one moment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from aggregate.panel.composing import ComposedDraft
from aggregate.panel.draft_state import DraftState
from aggregate.panel.prompt_data import CacheMarks
from aggregate.prompt import ResolvedFile


@dataclass(frozen=True, slots=True)
class View:
    """What the page sees at one moment; replaced as a whole.

    Attributes:
        composed: The last prompt that could be composed.
        revision: What it is of.
        error: Why the newest draft cannot be composed, ``""`` where it can.
        marks: What a cache does with it.
        listed: All files that could enter.
    """

    composed: ComposedDraft | None = None
    revision: int = 0
    error: str = ""
    marks: CacheMarks = field(default_factory=CacheMarks)
    listed: Mapping[str, ResolvedFile] = field(default_factory=dict)


class SessionState(NamedTuple):
    """A session at one moment, whatever other threads do meanwhile.

    Attributes:
        revision: Its revision.
        edited: The draft and its file.
        view: What was composed last.
        unsaved: The edits that were not saved when the panel ended last, in a sentence.
    """

    revision: int
    edited: DraftState
    view: View
    unsaved: str
